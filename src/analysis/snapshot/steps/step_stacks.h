/* step_stacks.h - where a stack was called from, as far as steps are told by it.
 *
 * Places are hashes of Python's frames, files, functions and lines: native frames between them
 * differ from call to call, as the interpreter learns. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_STACKS_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEP_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/code.h"
#include "model/ids.h"

/* Of each stack_id. */
struct step_stacks {
    uint64_t *module_call;    /* the place that calls the outermost module; 0: inside none */
    uint64_t *update_call;    /* that calls the outermost optimizer, or zero_grad; 0: inside none */
    uint32_t *optimizer_step; /* frame_id of the innermost `step` of an optimizer; 0: inside none */
};

/* In `arena`; false when out of memory. */
bool step_stacks_make(const struct code *code, const struct tokens *tokens, struct arena *arena,
                      struct step_stacks *ret) MUST_CHECK;

/* Does the first stack's line come before the second's in the function where both part?  False
 * where they part in two functions. */
bool step_stacks_in_order(const struct code *code, const struct tokens *tokens, stack_id first,
                          stack_id second);

/* The same of stacks and an update, for each stack as it was compared last: many allocs share one
 * stack. */
struct step_order {
    const struct code *code;
    const struct tokens *tokens;
    uint32_t *asked;       /* of each stack_id, the stack of the update; 0: none yet */
    bool *before, *behind; /* the answers */
};

/* In `arena`; false when out of memory. */
bool step_order_make(const struct code *code, const struct tokens *tokens, struct arena *arena,
                     struct step_order *ret) MUST_CHECK;

/* Does the stack's line come before the update's, or behind it?  Of no update, neither. */
bool step_is_before(const struct step_order *order, uint32_t stack, stack_id update);
bool step_is_behind(const struct step_order *order, uint32_t stack, stack_id update);

/* The frame of Python with so many others outside of it; 0: there are no more. */
uint32_t step_stacks_frame(const struct code *code, const struct tokens *tokens, stack_id stack,
                           uint32_t depth);

/* The same number of the outermost frame of Python in which two stacks differ; UINT32_MAX: in none.
 */
uint32_t step_stacks_parted(const struct code *code, const struct tokens *tokens, stack_id first,
                            stack_id second);

#endif
