/* memory.h - what the allocators of a trace had in use, device by device. */
#ifndef VRS_ANALYSIS_TRACE_MEMORY_MEMORY_H
#define VRS_ANALYSIS_TRACE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"

struct memory_row {
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

/* Everything is taken from `arena`. */
enum vrs_status memory_make(const struct trace_study *s, struct arena *arena, struct memory *ret,
                            struct vrs_error *err) MUST_CHECK;

#endif
