/* program.h - the program of one device: its events as operations that drive a machine.
 *
 * What stays the same whatever the allocator does: the order of events, sizes, streams, pools, and
 * which free ends which allocation.  A *slot* stands for a recorded address while it is held, so
 * that a machine with other addresses needs an array of slots and no look-up.  Read-only once
 * its start state is made, which adds the lanes of segments; many replays may share one. */
#ifndef VRS_ALLOCATOR_REPLAY_PROGRAM_H
#define VRS_ALLOCATOR_REPLAY_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/machine.h"
#include "allocator/replay/replay.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

/* Memory in use before the first event; its slot is its place in the program's array. */
struct start_block {
    uint64_t address, requested;
    uint64_t size;  /* UNKNOWN_U64: it ended in the trace, and only its request is known */
    uint32_t stack; /* of a block that lives to the end: stack_id */
    uint32_t order; /* among the device's allocations */
    bool waiting;   /* freed before the first event, completed after it */
    bool later;     /* while they are found: not the first life at its address */
};

/* Entries [first, last] of the trace that give memory back, one after the other. */
struct release_run {
    uint32_t first, last; /* events of the device, from 0 */
    uint8_t cause;        /* RUN_EMPTY_CACHE or RUN_RETRY */
    bool by_stack;        /* its stack says so; else the events around it make it likely */
};

struct program {
    const struct recording *r;
    uint32_t device;
    uint32_t first, events; /* rows of events; how many */
    uint32_t *slot;         /* of each event: allocs and frees; else NO_ROW */
    uint16_t *lane;         /* of each event: allocs and ooms */
    struct lane *lanes;
    uint32_t lane_count;
    uint32_t slots;
    struct start_block *start; /* by address */
    uint32_t starts;
    struct release_run *run;
    uint32_t runs;
};

/* Fills `ret` from a device; `*ret_refusal` says why it cannot be replayed; `ret` is
 * then of no use. */
enum vrs_status program_make(const struct recording *r, uint32_t device, struct arena *arena,
                             struct program *ret, enum replay_refusal *ret_refusal,
                             struct vrs_error *err) MUST_CHECK;

/* The pool of an event or segment as lanes number them: 0 is the default one. */
uint32_t pool_number(const struct recording *r, uint32_t pool_row);

/* The place of the first start block at or above an address; `starts` where there is none. */
uint32_t program_start_from(const struct program *p, uint64_t address);

/* Recorded reserved bytes before the first event. */
uint64_t program_reserved_start(const struct program *p);

/* How event `i` changes the recorded reserved bytes; wraps for what is given back. */
static inline uint64_t program_reserved_change(const struct program *p, uint32_t i)
{
    uint32_t row = p->first + i;
    uint8_t action = p->r->events.action[row];
    if (!action_obtains(action) && !action_returns(action))
        return 0;
    uint64_t size = known_or_0(p->r->events.size[row]);
    return action_returns(action) ? -size : size;
}

#endif
