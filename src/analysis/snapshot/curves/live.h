/* live.h - the allocations alive at one event, and what each of them is. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_LIVE_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

struct live {
    uint32_t allocation;
    uint32_t group; /* for the caller */
    int64_t born;   /* index of its alloc in the device's trace; -1: older */
    uint64_t bytes; /* requested; 0 where unknown */
    stack_id stack; /* of the alloc, else of the block it survives in */
};

struct live_set {
    struct live *at;
    uint32_t len;
    uint64_t bytes;
};

/* Alive after event `at_event` of the device (-1: at its start): asked for at or before it and
 * not completely freed by then.  In `arena`, in the order of the allocations. */
enum vrs_status live_at(const struct recording *r, uint32_t device, int64_t at_event,
                        struct arena *arena, struct live_set *ret,
                        struct vrs_error *err) MUST_CHECK;

/* Whether a device has an allocation, alive at any time, whose stack is not known. */
bool live_lacks_stacks(const struct recording *r, uint32_t device);

/* Bytes alive after `event` (-1: the start) that no event of the recording made; `ret_unknown` of
 * them have no stack. */
uint64_t old_bytes(const struct recording *r, uint32_t device, int64_t event,
                   uint64_t *ret_unknown);

/* How many stacks, the empty one aside, the events, blocks and segments of a device name. */
enum vrs_status distinct_stacks(const struct recording *r, uint32_t device, struct arena *scratch,
                                uint64_t *ret, struct vrs_error *err) MUST_CHECK;

/* Row of streams. */
uint32_t allocation_stream(const struct recording *r, uint32_t allocation);

/* The final segments of a device by address. */
struct segment_index {
    uint32_t *row;
    uint32_t len;
};

enum vrs_status segment_index_make(const struct recording *r, uint32_t device, struct arena *arena,
                                   struct segment_index *ret, struct vrs_error *err) MUST_CHECK;

/* The final segment that holds an address, or NO_ROW. */
uint32_t segment_index_at(const struct recording *r, const struct segment_index *index,
                          uint64_t address);

/* Its event's pool, else that of the final segment at its address; id 0: not known. */
pool_id allocation_pool(const struct recording *r, const struct segment_index *index,
                        uint32_t allocation);

#endif
