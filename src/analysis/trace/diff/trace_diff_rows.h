/* trace_diff_rows.h - times by name and step of two traces become rows of medians. */
#ifndef VRS_ANALYSIS_TRACE_DIFF_TRACE_DIFF_ROWS_H
#define VRS_ANALYSIS_TRACE_DIFF_TRACE_DIFF_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/diff/trace_diff.h"
#include "base/arena.h"
#include "base/radix_sort.h"
#include "model/strings.h"

/* What happened in the steps of a side: a time each. */
struct diff_times {
    struct radix_row *row; /* key: name and step; id: place in `ns` */
    int64_t *ns;
    uint32_t len;
};

/* Room for so many.  False when out of memory. */
bool diff_times_make(struct diff_times *t, uint32_t most, struct arena *arena);

/* Adds a time of a name, a number below 2^31, in a step. */
void diff_times_add(struct diff_times *t, uint32_t name, uint32_t step, int64_t ns);

/* The median and the deviation of `steps` values, of which those that are not 0 stand in `value`,
 * which is sorted. */
struct trace_diff_value diff_value_of(double *value, uint32_t count, uint32_t steps);

/* Status, change and verdict from both values. */
void diff_row_judge(struct trace_diff_row *row);

/* Rows of both sides by name, in order; their names are copied to `arena`.  False when out of
 * memory. */
bool diff_rows_make(struct diff_times side[2], const uint32_t steps[2],
                    const struct strings *names, struct arena *scratch, struct arena *arena,
                    struct trace_diff_table *ret);

#endif
