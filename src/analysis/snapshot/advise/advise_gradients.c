/* advise_gradients.c - gradients that live too long, or twice. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"

static token_set alloc_tokens(const struct advising *a, uint32_t i)
{
    return a->s->tokens->of_stack[a->s->lifetimes.at[i].alloc_stack.n];
}

/* The interval after the one that an event lies in. */
static uint32_t interval_after(const struct phases *p, int64_t event)
{
    uint32_t at = phases_at(p, event);
    return at == NO_ROW ? 0 : at + 1;
}

/* The last event of the last optimizer interval that ends before `event`; -1: none in the
 * recording. */
static int64_t optimizer_end_before(const struct advising *a, int64_t event)
{
    const struct phases *p = &a->s->phases;
    uint32_t i = a->optimizer_before[interval_after(p, event)];
    if (i != NO_ROW && p->interval[i].last_event >= event)
        i = a->optimizer_before[i];
    return i == NO_ROW ? -1 : (int64_t)p->interval[i].last_event;
}

static bool forward_between(const struct advising *a, int64_t from, int64_t to)
{
    const struct phases *p = &a->s->phases;
    uint32_t i = a->next_forward[interval_after(p, from)];
    return i != NO_ROW && p->interval[i].first_event < to;
}

/* Does a whole backward run between two events?  It adds to gradients that it finds. */
static bool backward_between(const struct advising *a, int64_t from, int64_t to)
{
    const struct phases *p = &a->s->phases;
    uint32_t i = a->next_backward[interval_after(p, from)];
    return i != NO_ROW && (int64_t)p->interval[i].last_event < to;
}

/* When the gradient was no longer needed: after the optimizer; of one that asks for no memory, when
 * the next forward begins. */
static int64_t needed_until(const struct advising *a, const struct lifetime *l)
{
    const struct phases *p = &a->s->phases;
    int64_t end = optimizer_end_before(a, l->freed);
    if (end > l->birth || l->birth < 0)
        return end;
    uint32_t i = a->next_forward[interval_after(p, l->birth)];
    return i == NO_ROW ? l->freed : (int64_t)p->interval[i].first_event - 1;
}

/* Gradients older than a recording that has forwards and no backward: they are there for nothing,
 * unless a backward behind the recording is to add to them. */
static bool find_stale(struct advising *a, struct largest *largest, uint64_t *ret_count)
{
    const struct study *s = a->s;
    if (a->backward_seen || a->optimizer_seen || a->next_forward[0] == NO_ROW)
        return true;
    int64_t forward = s->phases.interval[a->next_forward[0]].first_event;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (s->categories.of[i] != CATEGORY_GRADIENT || l->birth >= 0 || l->freed <= forward)
            continue;
        a->now.bytes += l->bytes;
        largest_take(largest, l->bytes, l->alloc_stack);
        ++*ret_count;
        if (!advise_remove(a, i, l->birth, l->freed, l->bytes))
            return false;
    }
    a->now.confidence = CONFIDENCE_MEDIUM;
    a->now.text = "{bytes} of gradients older than the recording stay alive through the forward: "
                  "unless the next backward is to add to them, call "
                  "optimizer.zero_grad(set_to_none=True) before the forward.";
    return true;
}

/* Gradients of a step, alive in the forward of the next, freed by zero_grad after it. */
bool advise_grad_late_zero(struct advising *a)
{
    const struct study *s = a->s;
    uint64_t gradients = 0;
    bool added = false;
    int64_t first = INT64_MAX, last = -1;
    struct largest largest = { 0 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        bool late = s->categories.of[i] == CATEGORY_GRADIENT && l->freed < a->first_oom &&
                    (advise_freed_by(a, i) & TOKEN_ZERO_GRAD) != 0;
        int64_t from = late ? needed_until(a, l) : -1;
        if (!late || !forward_between(a, from, l->freed))
            continue;
        if (backward_between(a, from, l->freed)) {
            added = true;
            continue;
        }
        a->now.bytes += l->bytes;
        largest_take(&largest, l->bytes, l->free_stack);
        gradients++;
        first = l->requested < first ? l->requested : first;
        last = l->requested > last ? l->requested : last;
        if (!advise_remove(a, i, from, l->freed, l->bytes))
            return false;
    }
    if (a->now.bytes == 0 && !find_stale(a, &largest, &gradients))
        return false;
    if (a->now.bytes == 0)
        return advise_silent(
            a, added ? "gradients that live through a forward are added to by the next backward"
                     : "no gradient lives through a forward and is then cleared");
    if (last >= 0) {
        advise_event(a, first);
        advise_event(a, last);
    }
    advise_condition(a, "gradients", (double)gradients, 1);
    return advise_site(a, largest.stack);
}

uint32_t advise_size_of_model(const struct categories *c, uint64_t bytes)
{
    uint32_t low = 0, high = c->multiset_entries;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->multiset[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->multiset_entries && c->multiset[low].bytes == bytes ? low : NO_ROW;
}

/* Within a backward a gradient is needed once what is added to it is made: of each size as many are
 * as the model has parameters. */
static bool remove_until_made(struct advising *a, uint32_t begin)
{
    const struct study *s = a->s;
    const struct categories *c = &s->categories;
    uint32_t *left = arena_array(s->scratch, uint32_t, c->multiset_entries);
    uint32_t now = NO_ROW;
    if (left == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t at = l->birth < 0 ? NO_ROW : phases_at(&s->phases, l->birth);
        if (at == NO_ROW || at < begin || s->phases.interval[at].phase != PHASE_BACKWARD)
            continue;
        for (uint32_t k = 0; at != now && k < c->multiset_entries; k++)
            left[k] = c->multiset[k].count;
        now = at;
        uint32_t entry = advise_size_of_model(c, l->bytes);
        if (entry == NO_ROW || left[entry] == 0)
            continue;
        left[entry]--;
        if (!advise_remove(a, NO_ROW, s->phases.interval[at].first_event, l->birth, l->bytes))
            return false;
    }
    return true;
}

/* The span in which gradients are needed: from the begin of a backward to the end of the optimizer
 * after it.  What is outside goes into the removals, from interval `begin` on. */
static bool remove_outside(struct advising *a, uint32_t begin, uint64_t bytes)
{
    const struct phases *p = &a->s->phases;
    int64_t from = begin == 0 ? -1 : (int64_t)p->interval[begin - 1].last_event;
    for (uint32_t i = begin; i < p->intervals; i++) {
        if (p->interval[i].phase == PHASE_BACKWARD &&
            !advise_remove(a, NO_ROW, from, p->interval[i].first_event, bytes))
            return false;
        if (p->interval[i].phase == PHASE_BACKWARD || p->interval[i].phase == PHASE_OPTIMIZER)
            from = p->interval[i].last_event;
    }
    return advise_remove(a, NO_ROW, from, (int64_t)a->s->events, bytes) &&
           remove_until_made(a, begin);
}

/* What happens to gradients, by backward interval. */
struct accumulating {
    bool cleared, views;
    uint64_t *added; /* of each interval: freed there after it was added to a gradient */
    /* Of each interval: of gradients made before it and there after it.  While gradients are looked
     * at, what is more than in the interval before. */
    uint64_t *stood;
    uint64_t *made; /* of each interval: of gradients that it allocates and leaves behind */
    stack_id where;
    uint32_t first; /* interval of the first backward that adds */
};

/* A gradient that a backward makes and that outlives it. */
static bool is_born(const struct advising *a, uint32_t i, uint32_t interval)
{
    const struct study *s = a->s;
    const struct phase_interval *v = &s->phases.interval[interval];
    return s->categories.of[i] == CATEGORY_GRADIENT && v->phase == PHASE_BACKWARD &&
           s->lifetimes.at[i].freed > (int64_t)v->last_event;
}

/* A gradient that is there before and after a backward is added to in it. */
static void add_standing(const struct advising *a, const struct lifetime *l, struct accumulating *g)
{
    const struct phases *p = &a->s->phases;
    uint32_t begin = l->birth < 0 ? 0 : interval_after(p, l->birth), end;
    SORTED_FIND(end, p->intervals, (int64_t)p->interval[end].last_event < l->freed);
    if (begin >= end)
        return;
    g->stood[begin] += l->bytes;
    g->stood[end] -= l->bytes;
}

static void look_at_gradients(struct advising *a, struct accumulating *g)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        token_set alloc = alloc_tokens(a, i), freed = advise_freed_by(a, i);
        bool gradient = s->categories.of[i] == CATEGORY_GRADIENT;
        uint32_t born = phases_at(&s->phases, l->birth), died = phases_at(&s->phases, l->freed);
        /* Of a gradient that is stolen from an operator the alloc is the operator's. */
        if (l->origin == ORIGIN_TRACED && born != NO_ROW &&
            ((alloc & TOKEN_ACCUMULATE) != 0 || is_born(a, i, born)))
            g->made[born] += l->bytes;
        if (gradient && (l->freed < a->first_oom || l->freed == (int64_t)s->events))
            add_standing(a, l, g);
        g->cleared = g->cleared || (gradient && (freed & TOKEN_ZERO_GRAD) != 0);
        g->views = g->views || (alloc & TOKEN_REDUCER) != 0;
        /* What is added to a gradient dies in the backward that made it. */
        if (l->freed >= a->first_oom || (freed & TOKEN_ACCUMULATE) == 0 || died == NO_ROW)
            continue;
        if (died < g->first) {
            g->first = died;
            g->where = l->free_stack;
        }
        advise_event(a, l->freed);
        g->added[died] += l->bytes;
    }
    for (uint32_t i = 0; i < s->phases.intervals; i++)
        g->stood[i + 1] += g->stood[i];
}

/* The least that a backward adds, of those after the one that made the gradients; 0 where a later
 * one makes them anew. */
static uint64_t least_added(const struct advising *a, const struct accumulating *g,
                            uint32_t *ret_begin)
{
    uint64_t need = a->s->categories.multiset_bytes;
    const struct phases *p = &a->s->phases;
    uint64_t least = UINT64_MAX;
    bool first = true;
    *ret_begin = 0;
    for (uint32_t i = 0; i < p->intervals; i++) {
        if (p->interval[i].phase != PHASE_BACKWARD)
            continue;
        bool made = g->made[i] > percent_of(need, 100 - ACCUMULATED_PERCENT);
        if (made && !first)
            return 0;
        uint64_t added = g->stood[i] > g->added[i] ? g->stood[i] : g->added[i];
        if (made)
            *ret_begin = i + 1;
        else
            least = added < least ? added : least;
        first = false;
    }
    return least == UINT64_MAX ? 0 : least;
}

/* New gradients are added to old ones and freed, and the old ones never are. */
static bool judge_not_cleared(struct advising *a, struct accumulating *g)
{
    const struct study *s = a->s;
    uint64_t need = s->categories.multiset_bytes;
    uint32_t begin;
    if (!a->backward_seen)
        return advise_silent(a, "no backward in the recording");
    if (need == 0)
        return advise_silent(a, "no gradients of parameters are seen");
    look_at_gradients(a, g);
    uint64_t added = least_added(a, g, &begin), least = percent_of(need, ACCUMULATED_PERCENT);
    if (added < least)
        return advise_silent(a, "gradients are not accumulated in place");
    if (g->cleared)
        return advise_silent(a, "zero_grad frees gradients");
    if (s->steps.micro_steps > 1)
        return advise_silent(a, "gradients are accumulated over several backwards");
    if (g->views)
        return advise_silent(a, "gradients are views of buckets");
    if (a->backwards <= 1 && !a->optimizer_seen)
        return advise_silent(a, "one backward and no optimizer");
    if (need < a->floor_bytes)
        return advise_silent(a, "the gradients are less than 1 % of the peak, or than 16 MiB");
    a->now.bytes = need;
    advise_condition(a, "accumulated_bytes", (double)added, (double)least);
    if (a->now.at_events == 0)
        advise_event(a, (int64_t)a->s->phases.interval[begin == 0 ? 0 : begin - 1].last_event);
    return remove_outside(a, begin, need) && (g->where.n == 0 || advise_site(a, g->where));
}

bool advise_grad_not_cleared(struct advising *a)
{
    struct arena_mark mark = arena_mark(a->s->scratch);
    struct accumulating g = {
        .added = arena_array(a->s->scratch, uint64_t, a->s->phases.intervals),
        .stood = arena_array(a->s->scratch, uint64_t, (size_t)a->s->phases.intervals + 1),
        .made = arena_array(a->s->scratch, uint64_t, a->s->phases.intervals),
        .first = NO_ROW,
    };
    bool ok = g.added != NULL && g.stood != NULL && g.made != NULL && judge_not_cleared(a, &g);
    arena_release(a->s->scratch, mark);
    return ok;
}

static bool is_sharded(const struct advising *a)
{
    for (uint32_t i = 0; i < a->s->lifetimes.count; i++)
        if ((alloc_tokens(a, i) & (TOKEN_COMMUNICATION | TOKEN_REDUCER)) == TOKEN_COMMUNICATION)
            return true;
    return false;
}

/* Buckets of DDP beside the gradients they hold copies of, both alive at the peak. */
bool advise_bucket_view(struct advising *a)
{
    const struct study *s = a->s;
    uint64_t buckets = 0, gradients = 0;
    stack_id where = { 0 };
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        if ((alloc_tokens(a, a->alive.at[i]) & TOKEN_REDUCER) != 0) {
            buckets += l->bytes;
            where = l->alloc_stack;
        } else if (s->categories.of[a->alive.at[i]] == CATEGORY_GRADIENT) {
            gradients += l->bytes;
        }
    }
    if (buckets == 0)
        return advise_silent(a, "no reducer buckets at the peak");
    if (is_sharded(a))
        return advise_silent(a, "training is sharded");
    uint64_t least = percent_of(gradients, BUCKET_PERCENT);
    if (gradients == 0 || buckets < least)
        return advise_silent(a, "no second copy of the gradients beside the buckets");
    a->now.bytes = buckets < gradients ? buckets : gradients;
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    advise_event(a, a->peak_event);
    advise_condition(a, "bucket_bytes", (double)buckets, (double)least);
    return advise_site(a, where);
}
