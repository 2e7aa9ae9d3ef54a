/* phases.h - which part of training an alloc belongs to: data, forward, backward, optimizer.
 *
 * A phase is a property of the alloc's stack, found once for each distinct stack; intervals are
 * runs of it over the allocs of a device in the order of events.  A run of a few allocs of no
 * phase lies within the interval before it, and is counted there where that one goes on. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_PHASES_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/steps/mark_events.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

enum phase {
    PHASE_OTHER,
    PHASE_INIT,
    PHASE_DATA,
    PHASE_FORWARD,
    PHASE_RECOMPUTE, /* forward again inside backward: checkpointing */
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
    PHASE_ZERO_GRAD,
    PHASES
};
extern const char *const phase_names[PHASES];

struct phase_interval {
    uint8_t phase;        /* enum phase */
    uint32_t first_event; /* its first and last alloc */
    uint32_t last_event;
    uint32_t allocs;
    uint64_t alloc_bytes;
    stack_id first_stack, largest_stack; /* of its first and its largest alloc */
    uint64_t largest_bytes;
};

struct phases {
    bool known;        /* the recording has stacks, or annotations that name phases */
    bool python_only;  /* no native frames: what has no frames ran on a thread of autograd */
    uint8_t *of_stack; /* enum phase of an alloc with that stack_id, annotations aside */
    struct phase_interval *interval;
    uint32_t intervals;
    uint32_t by_stack, by_annotation; /* allocs whose phase came from which source */
    uint32_t annotation_agrees;       /* of by_annotation: where the stack says the same */
};

/* Phases of a device, whose marks are given; in `arena`. */
enum vrs_status phases_make(const struct recording *r, uint32_t device, const struct tokens *tokens,
                            const struct mark_events *marks, struct arena *arena,
                            struct phases *ret, struct vrs_error *err) MUST_CHECK;

/* Does a mark say which phase the work inside it is? */
bool mark_names_phase(const struct recording *r, uint32_t mark);

/* The interval at an event: the last that begins at or before it; NO_ROW: none. */
uint32_t phases_at(const struct phases *p, int64_t event);

/* The phase that a backward follows: a module's call shows a forward, or where none is called it
 * is what is no phase's otherwise. */
uint8_t phases_forward(const struct phases *p);

#endif
