/* step_body.h - is what repeats itself a step, or a loop inside one?
 *
 * A loop lies inside a step when all it does was called by one module's forward, ran on the
 * threads of autograd, or is the optimizer going through parameters; and where the recording shows
 * a backward that it has no part in. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_BODY_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/step_sources.h"
#include "base/fail.h"
#include "model/stacks.h"

/* Zero but for `t`; the rest is made when it is first needed. */
struct step_body {
    const struct step_trace *t;
    struct stacks python; /* the stacks of the recording without native frames */
    bool python_made;
    uint32_t *python_of; /* of each stack_id, in `python`; NULL: not made */
    uint64_t *value;     /* of each row of `python` */
    bool *seen;          /* of each stack_id; false between uses */
};

/* What comes again and again, as positions of allocs: each begin, and the one behind each end. */
struct step_pieces {
    const uint32_t *begin, *end;
    uint32_t count;
};

/* Judges all the allocs of them together, then each by itself: several forwards are no step of
 * their own where each lies inside a call of a module.  `*refused_by` is the id of a rule, or
 * NULL. */
enum vrs_status step_body_judge(struct step_body *b, const struct step_pieces *pieces,
                                const char **refused_by, struct vrs_error *err) MUST_CHECK;

static inline bool step_body_made(const struct step_body *b)
{
    return b->python_of != NULL;
}

void step_body_free(struct step_body *b);

#endif
