/* operators.h - the table of operators, by the trees of host events that it is given. */
#ifndef VRS_ANALYSIS_TRACE_TABLES_OPERATORS_H
#define VRS_ANALYSIS_TRACE_TABLES_OPERATORS_H

#include <stdbool.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/arena.h"

/* Fills op, merged and self_cpu_ns.  False when out of memory.  Python frames that are in the trees
 * have no rows: they only take the time of what they call from what is around them. */
bool operators_make(const struct trace_study *s, const struct forest *trees, struct arena *arena,
                    struct tables *ret);

/* The trees that the framework builds, which have Python frames among the others. */
bool framework_trees(const struct trace_study *s, struct arena *arena, struct forest *ret);

#endif
