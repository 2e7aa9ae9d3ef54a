/* prove.h - replays a recording to learn the size of every block it ever had. */
#ifndef VRS_ALLOCATOR_REPLAY_PROVE_H
#define VRS_ALLOCATOR_REPLAY_PROVE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "allocator/replay/replay.h"
#include "base/fail.h"
#include "model/recording.h"

/* A recording of more events is not replayed unless asked to: it would add half as long again to
 * reading it. */
enum { PROVE_EVENTS_MAX = 200000 };

/* What a replay finds; the recording itself stays as it was read. */
struct proof {
    struct agreement *agreement; /* of each device: how well the model reproduces it */
    struct block_sizes block_sizes;
    bool rounded_only; /* sizes are recorded or rounded, none is replayed: no sum of them is told */
};

/* Fills block_sizes of a paired recording, and the agreement of each device, which the caller has
 * made room for.  A block has the size of the final block it is; else the one the model gives it,
 * where the model reproduces the device; else that of the rounded request.  Devices of more than
 * `events_max` events are refused as REFUSED_ASKED. */
enum vrs_status prove_recording(const struct recording *r, uint64_t events_max, struct proof *ret,
                                struct vrs_error *err) MUST_CHECK;

#endif
