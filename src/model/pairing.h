/* pairing.h - joins events into allocations. */
#ifndef VRS_MODEL_PAIRING_H
#define VRS_MODEL_PAIRING_H

#include "base/fail.h"
#include "model/recording.h"

/* What pairing saw of one device, beside the allocations it made. */
struct pairing_counts {
    uint64_t orphan_frees;  /* free_completed at an address the trace does not hold live */
    uint64_t double_allocs; /* alloc at an address the trace holds live */
};

/* Fills recording->allocations and the devices' runs of them.  Cost: one hash step an event. */
enum vrs_status pair_allocations(struct recording *r, struct vrs_error *err) MUST_CHECK;

#endif
