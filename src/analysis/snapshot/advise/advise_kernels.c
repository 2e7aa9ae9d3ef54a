/* advise_kernels.c - what another kernel would not keep: losses, attention; and checkpointing. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/bytes.h"
#include "base/table.h"

/* What is alive at the peak and was made under some token; the stack of the largest. */
static uint64_t alive_under(struct advising *a, token_set wanted, token_set *ret_others,
                            struct largest *largest)
{
    const struct study *s = a->s;
    uint64_t bytes = 0;
    *ret_others = 0;
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        token_set tokens = s->tokens->of_stack[l->alloc_stack.n];
        *ret_others |= tokens;
        if ((tokens & wanted) == 0)
            continue;
        bytes += l->bytes;
        largest_take(largest, l->bytes, l->alloc_stack);
    }
    return bytes;
}

/* Removes a part of each such allocation, so that the saving is capped by the next peak. */
static bool remove_under(struct advising *a, token_set wanted, uint32_t part, uint32_t of)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        bool meant = (s->tokens->of_stack[l->alloc_stack.n] & wanted) != 0;
        if (meant && !advise_remove(a, i, l->birth, l->freed, l->bytes / of * part))
            return false;
    }
    a->now.source = SAVING_ESTIMATED;
    return true;
}

static bool is_large(struct advising *a, uint64_t bytes)
{
    advise_condition(a, "peak_ratio",
                     (double)bytes / (double)(a->peak_bytes > 0 ? a->peak_bytes : 1),
                     KERNEL_PERCENT / 100.0);
    return a->peak_bytes > 0 && bytes >= percent_of((uint64_t)a->peak_bytes, KERNEL_PERCENT);
}

bool advise_logits_loss(struct advising *a)
{
    token_set others;
    struct largest largest = { 0 };
    a->now.bytes = alive_under(a, TOKEN_LOSS, &others, &largest);
    if ((others & TOKEN_FUSED_LOSS) != 0)
        return advise_silent(a, "a fused loss is in use");
    if (!is_large(a, a->now.bytes))
        return advise_silent(a, "losses hold less than 10 % of the peak");
    advise_event(a, a->peak_event);
    return remove_under(a, TOKEN_LOSS, LOSS_CHUNKS - 1, LOSS_CHUNKS) &&
           advise_site(a, largest.stack);
}

bool advise_attention_math(struct advising *a)
{
    token_set others;
    struct largest largest = { 0 };
    a->now.bytes = alive_under(a, TOKEN_MATH_ATTENTION, &others, &largest);
    if (a->now.bytes == 0)
        return advise_silent(a, "no unfused attention at the peak");
    if (!is_large(a, a->now.bytes))
        return advise_silent(a, "unfused attention holds less than 10 % of the peak");
    advise_event(a, a->peak_event);
    return remove_under(a, TOKEN_MATH_ATTENTION, 1, 1) && advise_site(a, largest.stack);
}

/* The repeated block of the forward: the loop with the most repeats that was refused as a step. */
static const struct inner_loop *block_of_forward(const struct study *s)
{
    const struct inner_loop *best = NULL;
    for (uint32_t i = 0; i < s->steps.inners; i++) {
        const struct inner_loop *loop = &s->steps.inner[i];
        bool forward = s->phases.of_stack[loop->stack.n] == PHASE_FORWARD;
        if (forward && (best == NULL || loop->repeats > best->repeats))
            best = loop;
    }
    return best;
}

/* How many blocks one forward has: the most allocs at the loop's place in one interval. */
static uint32_t blocks_of(const struct study *s, const struct inner_loop *loop)
{
    uint32_t most = 0, count = 0, last = NO_ROW;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->birth < 0 || l->alloc_stack.n != loop->stack.n)
            continue;
        uint32_t at = phases_at(&s->phases, l->birth);
        count = at == last ? count + 1 : 1;
        last = at;
        most = count > most ? count : most;
    }
    return most;
}

static bool recomputes(const struct study *s)
{
    for (uint32_t i = 0; i < s->phases.intervals; i++)
        if (s->phases.interval[i].phase == PHASE_RECOMPUTE)
            return true;
    return false;
}

/* The largest activation alive at its maximum: an input that a block would still have to keep. */
static uint64_t largest_activation(const struct study *s, int64_t event)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (s->categories.of[i] == CATEGORY_ACTIVATION && lifetime_alive(l, event) &&
            l->bytes > largest)
            largest = l->bytes;
    }
    return largest;
}

/* What is saved comes off every activation alike, so that the next peak, in another phase, bounds
 * it. */
static bool remove_part(struct advising *a, uint64_t saved, uint64_t activations)
{
    const struct study *s = a->s;
    uint64_t permille = saved / (activations / 1000 + 1);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (s->categories.of[i] == CATEGORY_ACTIVATION &&
            !advise_remove(a, i, l->birth, l->freed, l->bytes / 1000 * permille))
            return false;
    }
    a->now.source = SAVING_ESTIMATED;
    return true;
}

/* Activations rule, and the forward repeats a block whose inputs are all that has to be kept. */
bool advise_checkpoint(struct advising *a)
{
    const struct training_need *e = a->in->training_need;
    const struct inner_loop *loop = block_of_forward(a->s);
    if (e == NULL || e->inference || !e->term[TERM_A].known)
        return advise_silent(a, "the recording shows no training");
    if (e->optimizer_side)
        return advise_silent(a, "the optimizer, not activations, decides the need");
    uint64_t activations = (uint64_t)e->term[TERM_A].bytes;
    advise_condition(a, "activation_ratio",
                     (double)activations / (double)(a->peak_bytes > 0 ? a->peak_bytes : 1),
                     ACTIVATION_PERCENT / 100.0);
    if (a->peak_bytes <= 0 || activations < percent_of((uint64_t)a->peak_bytes, ACTIVATION_PERCENT))
        return advise_silent(a, "activations are less than half of the peak");
    uint32_t blocks = loop == NULL ? 0 : blocks_of(a->s, loop);
    if (blocks < BLOCKS_LEAST)
        return advise_silent(a, "the forward repeats no layer four times");
    advise_condition(a, "blocks", blocks, BLOCKS_LEAST);
    if (recomputes(a->s))
        return advise_silent(a, "layers are recomputed already");
    uint64_t kept = activations / blocks + largest_activation(a->s, e->term[TERM_A].event) * blocks;
    a->now.bytes = activations;
    advise_event(a, e->term[TERM_A].event);
    return remove_part(a, activations > kept ? activations - kept : 0, activations) &&
           advise_site(a, loop->stack);
}
