/* lifetime.h - one allocation in the numbers that analyses count in.
 *
 * Events are indices in the device's own trace: -1 is before the first, the number of events is
 * after the last ("never").  So `birth <= i && i < freed` says whether it is alive after event i.
 */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_LIFETIME_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_LIFETIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

enum lifetime_origin {
    ORIGIN_TRACED,    /* its alloc was seen */
    ORIGIN_PRE_FREED, /* only its free was seen: older than the recording */
    ORIGIN_PRE_LIVE,  /* only the final block was seen */
};

struct lifetime {
    uint64_t bytes;       /* requested; 0 where unknown */
    int32_t birth;        /* -1: older than the recording */
    int32_t requested;    /* its free was asked for */
    int32_t freed;        /* its free was completed */
    stack_id alloc_stack; /* of the alloc, else of the block it survives in; 0: unknown */
    stack_id free_stack;  /* of the request, else of the completion; 0: none */
    uint8_t origin;       /* enum lifetime_origin */
};

/* Lifetimes of a device's allocations, in their order; in `arena`. */
struct lifetimes {
    struct lifetime *at;
    uint32_t count;
    uint32_t *older; /* those that are older than the recording, ascending */
    uint32_t older_count;
    uint32_t *freed_at; /* of each event: which of them its free completes, or NO_ROW */
    uint32_t first;     /* row of allocations of the first */
};

/* A trace has fewer than 2^28 events (limits.c), so that their indices fit. */
enum vrs_status lifetimes_make(const struct recording *r, uint32_t device, struct arena *arena,
                               struct lifetimes *ret, struct vrs_error *err) MUST_CHECK;

static inline bool lifetime_alive(const struct lifetime *l, int64_t event)
{
    return l->birth <= event && event < l->freed;
}

#endif
