/* memory_sums.h - what allocators gave and took in a stretch of time, on the host and on devices. */
#ifndef VRS_ANALYSIS_TRACE_TABLES_MEMORY_SUMS_H
#define VRS_ANALYSIS_TRACE_TABLES_MEMORY_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/trace.h"

/* Bytes given out less bytes given back. */
struct memory_sum {
    int64_t cpu, device;
};

/* The memory events of a trace in the order of time; `before[i]` is the sum of the first i. */
struct memory_sums {
    int64_t *time;
    struct memory_sum *before;
    uint32_t events;
};

/* False when out of memory. */
bool memory_sums_make(const struct trace *t, struct arena *arena, struct memory_sums *ret);

/* Of the events from one moment to another, both included, on whatever thread.  `*place` is where
 * the call before found its `from`, or 0: the search is short where this one comes soon behind. */
struct memory_sum memory_sums_between(const struct memory_sums *m, uint32_t *place, int64_t from,
                                      int64_t to);

void memory_sum_add(struct memory_sum *sum, struct memory_sum more);
struct memory_sum memory_sum_without(struct memory_sum sum, struct memory_sum less);

#endif
