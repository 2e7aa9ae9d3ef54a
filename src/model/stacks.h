/* stacks.h - every call stack of a recording, each stored once.
 *
 * A stack is a pair (the caller's stack, the innermost frame).  Stacks with common callers
 * share them, and two stacks are equal exactly when their ids are.  Id 0 is the empty stack.
 *
 * Invariant: a caller's id is smaller than its callee's.  One pass over the ids, upwards,
 * therefore sees callers first (propagate down); downwards, it sees callees first (sum up).
 *
 * Not locked: one thread builds, any number may read afterwards. */
#ifndef VRS_MODEL_STACKS_H
#define VRS_MODEL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/table.h"
#include "model/ids.h"

struct stacks {
    struct table rows;
    uint32_t *caller; /* stack_id */
    uint32_t *frame;  /* frame_id: the innermost */
    /* How a pair is found again: a stack that is not in the row after its caller's is in here.  A
     * new chain of frames therefore costs neither a look-up nor a slot. */
    struct idtab index;
};

extern const struct table_kind stacks_kind;

/* With row 0; false when out of memory, and then to be freed as well. */
bool stacks_init(struct stacks *s);
void stacks_free(struct stacks *s);

/* The stack that `frame` called from `caller` makes, old or new.  False when out of memory
 * or ids; `*ret` is then untouched. */
bool stacks_push(struct stacks *s, stack_id caller, frame_id frame, stack_id *ret);

/* The stack of `count` frames, innermost first, called from nothing.  False as above. */
bool stacks_push_all(struct stacks *s, const uint32_t *frame, uint32_t count, stack_id *ret);

static inline stack_id stacks_caller(const struct stacks *s, stack_id id)
{
    return (stack_id){ s->caller[id.n] };
}

static inline frame_id stacks_frame(const struct stacks *s, stack_id id)
{
    return (frame_id){ s->frame[id.n] };
}

/* Number of frames. */
uint32_t stacks_depth(const struct stacks *s, stack_id id);

/* Adds each stack's value to its caller's, so that self[] becomes total[], in place. */
void stacks_sum_up(const struct stacks *s, uint64_t *value);

#endif
