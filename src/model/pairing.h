/* pairing.h - pairs alloc and free events into allocations. */
#ifndef VRS_MODEL_PAIRING_H
#define VRS_MODEL_PAIRING_H

#include <stdint.h>

#include "base/fail.h"
#include "model/recording.h"

/* What pairing saw of one device, beside the allocations it made; kept in columns of devices. */
struct pairing_counts {
    uint64_t orphan_frees;  /* free_completed at an address the trace does not hold live */
    uint64_t double_allocs; /* alloc at an address the trace holds live */
    /* Reserved bytes that the trace returns and did not obtain before.  0 where the device is
     * anchored at its end: there the reserved curve needs no such floor. */
    uint64_t returned_unobtained_bytes;
};

/* Fills recording->allocations, the devices' runs of them and the devices' counts.
 *
 * An event without an address has no identity: it opens and ends nothing.  The final blocks take
 * part only where they are the end of this trace: on an anchored device, or one without events.
 * An alloc at an address that is still open ends the older allocation at that event.
 * Cost: one hash step an event. */
enum vrs_status pair_allocations(struct recording *r, struct vrs_error *err) MUST_CHECK;

#endif
