/* advise_kernels.c - what another kernel would not keep: losses and attention. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "model/frames.h"
#include "model/ids.h"

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

/* The logits that a loss is made of, and their gradients: of the size of the largest that the loss
 * makes, from a forward or in a backward whose operators are not seen. */
static bool is_logits(const struct advising *a, uint32_t i, uint64_t bytes)
{
    const struct study *s = a->s;
    const struct lifetime *l = &s->lifetimes.at[i];
    token_set tokens = s->tokens->of_stack[l->alloc_stack.n];
    uint8_t category = s->categories.of[i];
    bool one_use = category == CATEGORY_ACTIVATION || category == CATEGORY_TEMPORARY ||
                   category == CATEGORY_AUTOGRAD_DETAIL || category == CATEGORY_UNKNOWN;
    bool forward = s->phases.of_stack[l->alloc_stack.n] == PHASE_FORWARD;
    /* What is kept for longer than into the next step is another matter. */
    bool kept = s->categories.retained[i] &&
                steps_at(&s->steps, l->freed) - steps_at(&s->steps, l->birth) > 1;
    return l->bytes == bytes && l->birth >= 0 && one_use && !kept && (forward || tokens == 0);
}

/* A chunked loss has one chunk of all that at a time. */
static bool remove_chunks(struct advising *a, uint64_t logits)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        bool loss = (s->tokens->of_stack[l->alloc_stack.n] & TOKEN_LOSS) != 0;
        if (!loss && !is_logits(a, i, logits))
            continue;
        if (!advise_remove(a, i, l->birth, l->freed, l->bytes / LOSS_CHUNKS * (LOSS_CHUNKS - 1)))
            return false;
    }
    a->now.source = SAVING_ESTIMATED;
    return true;
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
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &a->s->lifetimes.at[a->alive.at[i]];
        bool loss = (a->s->tokens->of_stack[l->alloc_stack.n] & TOKEN_LOSS) != 0;
        a->now.bytes += !loss && is_logits(a, a->alive.at[i], largest.bytes) ? l->bytes : 0;
    }
    advise_event(a, a->peak_event);
    return remove_chunks(a, largest.bytes) && advise_site(a, largest.stack);
}

/* Attention written out: two products of batches around a softmax, in one function. */

struct written_out {
    string_id file, function;
    uint64_t bytes; /* of the largest softmax alive at the peak */
    struct largest largest;
};

static bool function_of(const struct advising *a, stack_id stack, string_id *ret_file,
                        string_id *ret_function)
{
    struct stack_names names;
    if (naming_of(a->s->naming, stack, &names, a->err) != VRS_OK)
        return false;
    const struct frames *f = &a->s->r->code.frames;
    *ret_file = (string_id){ f->file[names.owner_frame.n] };
    *ret_function = (string_id){ f->name[names.owner_frame.n] };
    return true;
}

/* The softmax that holds most at the peak; of losses it is none of attention's. */
static bool find_softmax(struct advising *a, struct written_out *w)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        token_set tokens = s->tokens->of_stack[l->alloc_stack.n];
        if ((tokens & TOKEN_SOFTMAX) != 0 && (tokens & (TOKEN_LOSS | TOKEN_ENGINE)) == 0)
            largest_take(&w->largest, l->bytes, l->alloc_stack);
    }
    w->bytes = w->largest.bytes;
    return w->bytes == 0 || function_of(a, w->largest.stack, &w->file, &w->function);
}

/* Scores, what is masked, scaled or dropped of them, in this type or a smaller one. */
static bool is_score(const struct written_out *w, uint64_t bytes)
{
    return bytes == w->bytes || bytes == w->bytes / 2 || bytes == w->bytes / 4 ||
           bytes == w->bytes * 2;
}

/* Of each stack whether it lies in the function; false when out of memory. */
static bool find_stacks(struct advising *a, const struct written_out *w, bool *in_function,
                        uint32_t *ret_products)
{
    const struct study *s = a->s;
    bool *seen = arena_array(s->scratch, bool, s->r->code.stacks.rows.len);
    if (seen == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        uint32_t stack = s->lifetimes.at[i].alloc_stack.n;
        bool product = (s->tokens->of_stack[stack] & TOKEN_PRODUCTS) != 0;
        string_id file, function;
        if (stack == 0 || seen[stack] || (!product && !is_score(w, s->lifetimes.at[i].bytes)))
            continue;
        seen[stack] = true;
        if (!function_of(a, (stack_id){ stack }, &file, &function))
            return false;
        in_function[stack] = file.n == w->file.n && function.n == w->function.n;
        *ret_products += in_function[stack] && product;
    }
    return true;
}

static bool judge_written_out(struct advising *a)
{
    const struct study *s = a->s;
    struct written_out w = { .bytes = 0 };
    uint32_t products = 0;
    bool *in_function = arena_array(s->scratch, bool, s->r->code.stacks.rows.len);
    if (in_function == NULL || !find_softmax(a, &w))
        return false;
    if (w.bytes == 0 || w.file.n == 0)
        return advise_silent(a, "no unfused attention is seen at the peak");
    if (!find_stacks(a, &w, in_function, &products))
        return false;
    bool native = (s->tokens->of_stack[w.largest.stack.n] & TOKEN_NATIVE) != 0;
    if (native && products < PRODUCTS_LEAST)
        return advise_silent(a, "a softmax at the peak has no two products around it");
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!in_function[l->alloc_stack.n] || !is_score(&w, l->bytes))
            continue;
        a->now.bytes += lifetime_alive(l, a->peak_event) ? l->bytes : 0;
        if (!advise_remove(a, i, l->birth, l->freed, l->bytes))
            return false;
    }
    if (!is_large(a, a->now.bytes))
        return advise_silent(a, "unfused attention holds less than 10 % of the peak");
    a->now.text = "{bytes} of the peak belong to attention that is written out at {line}: call "
                  "torch.nn.functional.scaled_dot_product_attention, which keeps no scores.";
    a->now.source = SAVING_ESTIMATED;
    advise_event(a, a->peak_event);
    return advise_site(a, w.largest.stack);
}

bool advise_attention_math(struct advising *a)
{
    token_set others;
    struct largest largest = { 0 };
    a->now.bytes = alive_under(a, TOKEN_MATH_ATTENTION, &others, &largest);
    if (a->now.bytes == 0) {
        struct arena_mark mark = arena_mark(a->s->scratch);
        bool ok = judge_written_out(a);
        arena_release(a->s->scratch, mark);
        return ok;
    }
    if (!is_large(a, a->now.bytes))
        return advise_silent(a, "unfused attention holds less than 10 % of the peak");
    advise_event(a, a->peak_event);
    return remove_under(a, TOKEN_MATH_ATTENTION, 1, 1) && advise_site(a, largest.stack);
}
