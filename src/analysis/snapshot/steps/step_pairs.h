/* step_pairs.h - forwards with their backward, the pieces that training steps are made of. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_PAIRS_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/steps/step_sources.h"
#include "base/fail.h"
#include "model/ids.h"

/* What tells that parameters were updated. */
enum update_evidence {
    UPDATES_UNSEEN,     /* nothing does: each pair is taken for a step */
    UPDATES_REBORN,     /* gradients are made anew after some that were added to */
    UPDATES_ZERO_GRAD,  /* gradients are freed by zero_grad */
    UPDATES_ALLOCATING, /* the optimizer asks for memory each time */
    UPDATES_MARKED,     /* annotations around it */
};

/* The backward of a pair goes up to the next forward that has one; what lies between two backwards
 * is the gap of the second. */
struct step_pair {
    uint32_t gap_event; /* the first event behind the backward before, and the update after it */
    uint32_t first_backward, last_backward; /* events of its allocs */
    bool headless;                          /* its forward is older than the recording */
    bool updated;           /* by evidence between its backward and the next one's */
    stack_id update_stack;  /* of the first of that evidence that has one */
    uint32_t update_event;  /* of the last of it that comes before the next forward */
    uint32_t update_allocs; /* of the optimizer */
    uint32_t survivors;     /* allocs of the backward that none frees */
};

struct step_pairs {
    struct step_pair *at;
    uint32_t count;
    enum update_evidence evidence;
};

/* `marked`: by the optimizer's annotations alone, if there are any. */
enum vrs_status step_pairs_make(const struct step_trace *t, bool marked, struct step_pairs *ret,
                                struct vrs_error *err) MUST_CHECK;

#endif
