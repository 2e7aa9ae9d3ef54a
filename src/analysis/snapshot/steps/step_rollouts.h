/* step_rollouts.h - updates that go through what was made before the first of them, as epochs over
 * a rollout do: together they are one step.
 *
 * The program plays or samples before an update, and what it made is there until the last of the
 * updates that follow without a batch of their own.  A validation leaves nothing that later steps
 * train on. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_ROLLOUTS_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_ROLLOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/step_stacks.h"

/* Of the updates whose first pairs are those rows of `pairs`: writes whether each goes on with what
 * the one before it went through.  False where the program does no such thing. */
bool step_rollouts_find(const struct step_trace *t, const struct step_order *order,
                        const struct step_pairs *pairs, const uint32_t *first_pair,
                        uint32_t updates, bool *goes_on);

#endif
