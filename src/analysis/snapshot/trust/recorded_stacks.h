/* recorded_stacks.h - which stacks a recording was told to keep. */
#ifndef VRS_ANALYSIS_SNAPSHOT_TRUST_RECORDED_STACKS_H
#define VRS_ANALYSIS_SNAPSHOT_TRUST_RECORDED_STACKS_H

#include <stdint.h>

#include "base/fail.h"
#include "model/recording.h"

/* Counts of allocs, or of the final blocks in use where there are no events. */
struct recorded_stacks {
    uint64_t without_stack;
    uint64_t with_native; /* their stack has a frame that is not Python */
    uint64_t python_only; /* their stack has none */
    uint64_t frees;       /* requested frees of allocs in the trace */
    uint64_t frees_same;  /* of those, carrying the very stack of the alloc */
};

enum vrs_status recorded_stacks_of(const struct recording *r, uint32_t device,
                                   struct recorded_stacks *ret, struct vrs_error *err) MUST_CHECK;

#endif
