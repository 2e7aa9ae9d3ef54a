/* figures.h - figures of one device that no curve has. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_FIGURES_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_FIGURES_H

#include "allocator/replay/prove.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

/* How many stacks, the empty one aside, its events, blocks and segments name. */
enum vrs_status distinct_stacks(const struct recording *r, uint32_t device, struct arena *scratch,
                                uint64_t *ret, struct vrs_error *err) MUST_CHECK;

/* Requested bytes of the final blocks that wait to be freed; UNKNOWN_U64 where the final state was
 * not read whole. */
uint64_t pending_bytes(const struct recording *r, uint32_t device);

/* Bytes alive after `event` (-1: the start) that no event of the recording made. */
uint64_t old_bytes(const struct recording *r, uint32_t device, int64_t event);

/* Bytes of the blocks alive after `event`: active, until the free is completed, and allocated,
 * until it is requested.  Both UNKNOWN_U64 where nothing was to be replayed. */
struct block_bytes {
    uint64_t active, allocated;
};
struct block_bytes block_bytes_at(const struct recording *r, const struct proof *proof,
                                  uint32_t device, int64_t event);

/* Microseconds from the device's first event to `event` (from 0); UNKNOWN_U64: not known. */
uint64_t micros_after_first(const struct recording *r, uint32_t device, int64_t event);

#endif
