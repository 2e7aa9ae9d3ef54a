/* step_stacks.c - one pass over the stacks, callers first. */
#include "analysis/snapshot/steps/step_stacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "model/code.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

#define UPDATES (TOKEN_OPTIMIZER | TOKEN_ZERO_GRAD)

bool step_stacks_make(const struct code *code, const struct tokens *tokens, struct arena *arena,
                      struct step_stacks *ret)
{
    const struct stacks *s = &code->stacks;
    uint32_t count = s->rows.len;
    uint64_t *place = arena_array(arena, uint64_t, count);
    struct step_stacks made = {
        .module_call = arena_array(arena, uint64_t, count),
        .update_call = arena_array(arena, uint64_t, count),
        .optimizer_step = arena_array(arena, uint32_t, count),
    };
    if (place == NULL || made.module_call == NULL || made.update_call == NULL ||
        made.optimizer_step == NULL)
        return false;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t caller = s->caller[i], frame = s->frame[i];
        token_set own = tokens->of_frame[frame];
        uint64_t from = caller == 0 ? 1 : place[caller];
        str name = strings_text(&code->strings, (string_id){ code->frames.name[frame] });
        bool step = (tokens->of_stack[i] & TOKEN_OPTIMIZER) != 0 && str_equal(name, S("step"));
        place[i] = (own & TOKEN_PYTHON) != 0 ? hash_pair(from, frame) : from;
        made.module_call[i] = made.module_call[caller];
        if (made.module_call[i] == 0 && (own & TOKEN_MODULE) != 0)
            made.module_call[i] = from;
        made.update_call[i] = made.update_call[caller];
        if (made.update_call[i] == 0 && (own & UPDATES) != 0)
            made.update_call[i] = from;
        made.optimizer_step[i] = step ? frame : made.optimizer_step[caller];
    }
    *ret = made;
    return true;
}

/* The frames of Python in a stack. */
static uint32_t python_frames(const struct code *code, const struct tokens *tokens, uint32_t stack)
{
    uint32_t count = 0;
    for (; stack != 0; stack = code->stacks.caller[stack])
        count += (tokens->of_frame[code->stacks.frame[stack]] & TOKEN_PYTHON) != 0;
    return count;
}

/* The innermost frame of Python in a stack, which becomes the stack that calls it. */
static uint32_t pop(const struct code *code, const struct tokens *tokens, uint32_t *stack)
{
    uint32_t frame = 0;
    while (*stack != 0 && frame == 0) {
        uint32_t own = code->stacks.frame[*stack];
        frame = (tokens->of_frame[own] & TOKEN_PYTHON) != 0 ? own : 0;
        *stack = code->stacks.caller[*stack];
    }
    return frame;
}

bool step_stacks_in_order(const struct code *code, const struct tokens *tokens, stack_id first,
                          stack_id second)
{
    const struct frames *f = &code->frames;
    uint32_t a = first.n, b = second.n, parted_a = 0, parted_b = 0;
    uint32_t in_a = python_frames(code, tokens, a), in_b = python_frames(code, tokens, b);
    for (; in_a > in_b; in_a--)
        pop(code, tokens, &a);
    for (; in_b > in_a; in_b--)
        pop(code, tokens, &b);
    for (; in_a != 0; in_a--) {
        uint32_t frame_a = pop(code, tokens, &a), frame_b = pop(code, tokens, &b);
        if (frame_a != frame_b) {
            parted_a = frame_a;
            parted_b = frame_b;
        }
    }
    return parted_a != 0 && f->name[parted_a] == f->name[parted_b] &&
           f->file[parted_a] == f->file[parted_b] && f->line[parted_a] < f->line[parted_b];
}

bool step_order_make(const struct code *code, const struct tokens *tokens, struct arena *arena,
                     struct step_order *ret)
{
    uint32_t stacks = code->stacks.rows.len;
    *ret = (struct step_order){
        .code = code,
        .tokens = tokens,
        .asked = arena_array(arena, uint32_t, stacks),
        .before = arena_array(arena, bool, stacks),
        .behind = arena_array(arena, bool, stacks),
    };
    return ret->asked != NULL && ret->before != NULL && ret->behind != NULL;
}

static void ask(const struct step_order *o, uint32_t stack, stack_id update)
{
    stack_id own = { stack };
    if (o->asked[stack] == update.n)
        return;
    o->asked[stack] = update.n;
    o->before[stack] = step_stacks_in_order(o->code, o->tokens, own, update);
    o->behind[stack] = step_stacks_in_order(o->code, o->tokens, update, own);
}

bool step_is_before(const struct step_order *order, uint32_t stack, stack_id update)
{
    ask(order, stack, update);
    return update.n != 0 && order->before[stack];
}

bool step_is_behind(const struct step_order *order, uint32_t stack, stack_id update)
{
    ask(order, stack, update);
    return update.n != 0 && order->behind[stack];
}

uint32_t step_stacks_frame(const struct code *code, const struct tokens *tokens, stack_id stack,
                           uint32_t depth)
{
    uint32_t in = python_frames(code, tokens, stack.n), at = stack.n, frame = 0;
    for (; in > depth; in--)
        frame = pop(code, tokens, &at);
    return frame;
}

uint32_t step_stacks_parted(const struct code *code, const struct tokens *tokens, stack_id first,
                            stack_id second)
{
    uint32_t a = first.n, b = second.n, parted = UINT32_MAX;
    uint32_t in_a = python_frames(code, tokens, a), in_b = python_frames(code, tokens, b);
    if (in_a != in_b)
        parted = in_a < in_b ? in_a : in_b;
    for (; in_a > in_b; in_a--)
        pop(code, tokens, &a);
    for (; in_b > in_a; in_b--)
        pop(code, tokens, &b);
    for (; in_a != 0; in_a--)
        if (pop(code, tokens, &a) != pop(code, tokens, &b))
            parted = in_a - 1;
    return parted;
}
