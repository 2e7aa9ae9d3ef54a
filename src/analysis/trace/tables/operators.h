/* operators.h - the table of operators, by the trees of host events that it is given. */
#ifndef VRS_ANALYSIS_TRACE_TABLES_OPERATORS_H
#define VRS_ANALYSIS_TRACE_TABLES_OPERATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/arena.h"

/* Which calls are one row, where that is not all those of a name. */
struct operator_keys {
    const uint32_t *of; /* of each span of the trees that is listed; equal ones have one name */
    uint32_t keys;
};

/* Fills op, merged and self_cpu_ns, with a row for each key, or for each name where `by` is NULL.
 * False when out of memory.  Python frames that are in the trees have no rows: they only take the
 * time of what they call from what is around them. */
bool operators_make(const struct trace_study *s, const struct forest *trees,
                    const struct operator_keys *by, struct arena *arena, struct tables *ret);

/* The trees that the framework builds, which have Python frames among the others. */
bool framework_trees(const struct trace_study *s, struct arena *arena, struct forest *ret);

#endif
