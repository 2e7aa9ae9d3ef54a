/* advise_optimizer.c - the optimizer's temporaries, its copies, its state. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/bytes.h"
#include "base/table.h"
#include "model/ids.h"

static uint64_t peak_of(const struct advising *a, enum category category)
{
    const struct study *s = a->s;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < a->alive.len; i++)
        if (s->categories.of[a->alive.at[i]] == category)
            bytes += s->lifetimes.at[a->alive.at[i]].bytes;
    return bytes;
}

static uint64_t alive_of(const struct advising *a, enum category category, int64_t event)
{
    const struct study *s = a->s;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (s->categories.of[i] == category && lifetime_alive(&s->lifetimes.at[i], event))
            bytes += s->lifetimes.at[i].bytes;
    return bytes;
}

static bool peak_in_optimizer(const struct advising *a)
{
    uint32_t at = phases_at(&a->s->phases, a->peak_event);
    return at != NO_ROW && a->s->phases.interval[at].phase == PHASE_OPTIMIZER;
}

static uint64_t largest_parameter(const struct categories *c)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < c->multiset_entries; i++)
        largest = c->multiset[i].bytes > largest ? c->multiset[i].bytes : largest;
    return largest;
}

/* The stack of the largest temporary at the peak, and how optimizers there work. */
static token_set temporaries(const struct advising *a, struct largest *largest)
{
    const struct study *s = a->s;
    token_set tokens = 0;
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        if (s->categories.of[a->alive.at[i]] != CATEGORY_OPTIMIZER_TEMP)
            continue;
        tokens |= s->tokens->of_stack[l->alloc_stack.n];
        largest_take(largest, l->bytes, l->alloc_stack);
    }
    return tokens;
}

/* All temporaries but `rest` of so many bytes, off each alike: the next peak bounds the saving. */
static bool remove_temporaries(struct advising *a, uint64_t bytes, uint64_t rest)
{
    const struct study *s = a->s;
    uint64_t permille = rest < bytes ? (bytes - rest) / (bytes / 1000 + 1) : 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        bool multi = (s->tokens->of_stack[l->alloc_stack.n] & TOKEN_MULTI_TENSOR) != 0;
        if (s->categories.of[i] == CATEGORY_OPTIMIZER_TEMP && multi &&
            !advise_remove(a, i, l->birth, l->freed, l->bytes / 1000 * permille))
            return false;
    }
    return true;
}

/* Temporaries of all parameters at once, where one parameter at a time would do. */
bool advise_optimizer_foreach(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    uint64_t temporary = peak_of(a, CATEGORY_OPTIMIZER_TEMP);
    uint64_t parameters = peak_of(a, CATEGORY_PARAMETER);
    token_set tokens = temporaries(a, &largest);
    if (!peak_in_optimizer(a))
        return advise_silent(a, "the peak is not in the optimizer");
    if ((tokens & TOKEN_MULTI_TENSOR) == 0)
        return advise_silent(a, "the optimizer updates one parameter at a time, or is fused");
    uint64_t least = percent_of(parameters, FOREACH_PERCENT);
    advise_condition(a, "temporary_bytes", (double)temporary, (double)least);
    if (parameters == 0 || temporary < least)
        return advise_silent(a, "temporaries are less than half of the parameters");
    uint64_t copies = (temporary + parameters - 1) / parameters;
    uint64_t rest = largest_parameter(&s->categories) * copies;
    a->now.bytes = temporary;
    a->now.source = SAVING_ESTIMATED;
    advise_event(a, a->peak_event);
    return remove_temporaries(a, temporary, rest) && advise_site(a, largest.stack);
}

/* State or parameters made anew before the old ones die: the old ones, from when the new ones are
 * there. */
bool advise_optimizer_replace(struct advising *a)
{
    const struct study *s = a->s;
    if (!peak_in_optimizer(a))
        return advise_silent(a, "the peak is not in the optimizer");
    const struct phase_interval *v = &s->phases.interval[phases_at(&s->phases, a->peak_event)];
    uint64_t parameters = alive_of(a, CATEGORY_PARAMETER, (int64_t)v->first_event - 1);
    uint64_t state = alive_of(a, CATEGORY_OPTIMIZER_STATE, (int64_t)v->first_event - 1);
    uint64_t smaller = parameters < state ? parameters : state;
    uint64_t least = percent_of(smaller > 0 ? smaller : parameters + state, REPLACED_PERCENT);
    stack_id where = { 0 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        uint32_t old = s->categories.replaces[i];
        int64_t birth = s->lifetimes.at[i].birth;
        if (old-- == 0)
            continue;
        const struct lifetime *l = &s->lifetimes.at[old];
        if (!advise_remove(a, old, birth, l->freed, l->bytes))
            return false;
        if (birth < (int64_t)v->first_event || birth > (int64_t)v->last_event)
            continue;
        a->now.bytes += l->bytes;
        where = s->lifetimes.at[i].alloc_stack;
    }
    advise_condition(a, "replaced_bytes", (double)a->now.bytes, (double)least);
    if (a->now.bytes == 0 || a->now.bytes < least)
        return advise_silent(a, "the optimizer works in place");
    advise_event(a, a->peak_event);
    return advise_site(a, where);
}

/* State of twice the parameters and more, and the optimizer's side rules. */
bool advise_optimizer_heavy(struct advising *a)
{
    const struct training_need *e = a->in->training_need;
    if (e == NULL || e->inference || !e->term[TERM_S].known || !e->term[TERM_P].known ||
        e->term[TERM_P].bytes <= 0)
        return advise_silent(a, "optimizer state is not known");
    if (!e->optimizer_side)
        return advise_silent(a, "activations, not the optimizer, decide the need");
    double factor = (double)e->term[TERM_S].bytes / (double)e->term[TERM_P].bytes;
    advise_condition(a, "state_factor_ratio", factor, STATE_FACTOR);
    if (e->term[TERM_S].bytes / STATE_FACTOR < e->term[TERM_P].bytes)
        return advise_silent(a, "state is less than twice the parameters");
    a->now.bytes = (uint64_t)e->term[TERM_S].bytes;
    advise_event(a, e->term[TERM_S].event);
    return e->term[TERM_S].sites == 0 || advise_site(a, e->term[TERM_S].site[0].stack);
}
