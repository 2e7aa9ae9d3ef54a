/* step_begins.h - where a training step begins, and what passes without a backward before it. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_BEGINS_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_BEGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "base/fail.h"

/* Of one step. */
struct step_begin {
    uint32_t event;
    uint32_t
        pass_event; /* the first of forwards before it that no backward follows; NO_ROW: none */
};

/* The position at which the forward of a pair begins; that of its backward: none is seen. */
uint32_t step_forward_begin(const struct step_trace *t, const struct step_pair *pair);

/* Of the steps whose first pairs are those rows of `pairs`; in t->scratch.  `head_cut`: the first
 * was begun before the recording. */
enum vrs_status step_begins_make(const struct step_trace *t, const struct step_pairs *pairs,
                                 const uint32_t *first_pair, uint32_t steps, bool head_cut,
                                 struct step_begin **ret, struct vrs_error *err) MUST_CHECK;

/* What follows the last update up to the end of the recording. */
struct step_rest {
    uint32_t event; /* the first of a copy or forward; NO_ROW: none follows */
    bool pass; /* called from elsewhere than the forwards of the step before; else a step cut */
};

/* Behind an event, after a step that begins at another; `pair` is its last. */
struct step_rest step_rest_find(const struct step_trace *t, uint32_t begin_event,
                                const struct step_pair *pair, uint32_t event);

#endif
