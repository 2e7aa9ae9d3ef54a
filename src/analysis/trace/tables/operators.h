/* operators.h - the table of operators. */
#ifndef VRS_ANALYSIS_TRACE_TABLES_OPERATORS_H
#define VRS_ANALYSIS_TRACE_TABLES_OPERATORS_H

#include <stdbool.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/arena.h"

/* Fills op, merged and self_cpu_ns.  False when out of memory. */
bool operators_make(const struct trace_study *s, struct arena *arena, struct tables *ret);

#endif
