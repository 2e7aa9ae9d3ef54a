/* start_state.h - the allocator as it stood before the first event of a trace.
 *
 * Only the end of a recording is known whole.  The trace is undone on it, last event first: first
 * for segments and mapped ranges, then each is laid out with the memory older than the trace.  The
 * sizes of blocks that ended inside the trace are not in the file; they are the smallest possible
 * ones, or what a rule of the allocator leaves as the only possibility. */
#ifndef VRS_ALLOCATOR_REPLAY_START_STATE_H
#define VRS_ALLOCATOR_REPLAY_START_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/replay/program.h"
#include "allocator/replay/replay.h"
#include "base/arena.h"
#include "base/fail.h"

/* One run of mapped memory. */
struct range {
    uint64_t address, size;
    uint32_t side;
    bool expandable;
};

struct ranges {
    struct range *at; /* by address */
    uint32_t count;
};

/* Memory of a device after `event` (-1: before the first), in `arena`: the trace is undone on the
 * final segments.  Of the program its recording, device, events and lanes are used, and the lanes
 * of segments are added to it.  `*ret_refusal` is REFUSED_INCONSISTENT where the final state and
 * the trace contradict. */
enum vrs_status ranges_at(struct program *p, const struct allocator_config *config, int64_t event,
                          struct arena *arena, struct ranges *ret, enum replay_refusal *ret_refusal,
                          struct vrs_error *err) MUST_CHECK;

struct start_state {
    const struct program *program;
    struct range *range; /* by address */
    uint32_t ranges;
    uint64_t *base;  /* of each side: where its first reservation begins, if below its ranges */
    uint64_t *size;  /* of each start block: known or inferred; a correction changes it */
    bool *inferred;  /* of each start block */
    bool *ambiguous; /* of those: up to 1 MiB more would have left the same traces */
    uint32_t inferences;
};

/* `*ret_refusal` is REFUSED_INCONSISTENT where the final state and the trace contradict. */
enum vrs_status start_state_make(struct program *p, const struct allocator_config *config,
                                 struct arena *arena, struct start_state *ret,
                                 enum replay_refusal *ret_refusal,
                                 struct vrs_error *err) MUST_CHECK;

/* Lays the state out in a fresh machine.  `block_of` has room for the program's slots: start blocks
 * get theirs, the others 0.  False when out of memory. */
bool start_state_build(const struct start_state *s, struct machine *m, uint32_t *block_of);

#endif
