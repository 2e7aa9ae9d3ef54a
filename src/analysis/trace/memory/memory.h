/* memory.h - what the allocators of a trace had in use, device by device. */
#ifndef VRS_ANALYSIS_TRACE_MEMORY_MEMORY_H
#define VRS_ANALYSIS_TRACE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/trace.h"

struct memory_row {
    uint32_t group; /* of struct memory_groups */
    int64_t device_type, device_number; /* TRACE_UNKNOWN */
    uint64_t events, allocs, frees;
    int64_t alloc_bytes, free_bytes;
    /* Each event tells the bytes in use; else the curve is what its sums give, as low as it can
     * be. */
    bool has_totals, is_lower_bound; /* the second where it has none */
    int64_t base, final, peak, peak_ns; /* bytes before, after, and at most; ns of the trace */
    int64_t peak_reserved;              /* with totals */
    uint64_t chain_breaks;              /* totals that the bytes do not explain */
    bool has_addresses;
    uint64_t free_without_alloc, alloc_on_live_address, alive_at_end;
    int64_t alive_at_end_bytes;
};

struct memory {
    struct memory_row *row; /* by the text "(type, number)" */
    uint32_t rows;
};

/* The instants of each device side by side, in the order of time. */
struct memory_groups {
    uint32_t *event, *first; /* the events of group g: event[first[g]] up to event[first[g + 1]] */
    uint32_t groups;
};

/* False when out of memory. */
bool memory_groups_make(const struct trace *t, struct arena *arena, struct memory_groups *ret);

/* Everything is taken from `arena`. */
enum vrs_status memory_make(const struct trace_study *s, struct arena *arena, struct memory *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
