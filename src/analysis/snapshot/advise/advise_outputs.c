/* advise_outputs.c - values that are kept beyond their use: generations, outputs, inputs.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/table.h"
#include "model/ids.h"

/* Two generations of one value. */

struct alive {
    uint32_t site, allocation;
    uint64_t bytes;
    int64_t birth;
};

static int by_site(const void *a, const void *b)
{
    const struct alive *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->birth != y->birth)
        return x->birth < y->birth ? -1 : 1;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

static struct alive *alive_at_peak(const struct advising *a, uint32_t *ret_len)
{
    const struct study *s = a->s;
    uint32_t len = 0;
    struct alive *at = arena_array(s->scratch, struct alive, a->alive.len);
    for (uint32_t k = 0; at != NULL && k < a->alive.len; k++) {
        uint32_t i = a->alive.at[k];
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->birth >= 0 && l->alloc_stack.n != 0)
            at[len++] = (struct alive){ a->sites.of[i], i, l->bytes, l->birth };
    }
    if (at != NULL && len > 1)
        qsort(at, len, sizeof *at, by_site);
    *ret_len = len;
    return at;
}

int64_t advise_step_end(const struct study *s, int64_t event)
{
    int64_t step = steps_at(&s->steps, event);
    if (step < 0)
        return s->steps.count > 0 ? s->steps.boundary[0].event : (int64_t)s->events;
    if (step + 1 < (int64_t)s->steps.count)
        return s->steps.boundary[step + 1].event;
    return step < (int64_t)s->steps.count ? (int64_t)s->steps.end_event + 1 : (int64_t)s->events;
}

struct generations {
    const struct alive *at; /* what is alive at the peak, by site, size and age */
    uint32_t alive;
    uint32_t *pair; /* those that are the older of two, as rows of `at`, in that order */
    uint32_t pairs;
    uint32_t *newest;         /* of each pair: the allocation of its site and size seen last */
    bool *site_has, *leaking; /* of each site: a pair; it grows without end */
    bool *taken;              /* of each allocation: it is among the removals */
};

static bool remove_one(struct advising *a, struct generations *g, uint32_t i, int64_t from,
                       bool counts)
{
    const struct lifetime *l = &a->s->lifetimes.at[i];
    g->taken[i] = true;
    a->now.bytes += counts && lifetime_alive(l, a->peak_event) ? l->bytes : 0;
    return advise_remove(a, i, from, l->freed, l->bytes);
}

/* What goes within a few events of an older generation was kept alive by it: tensors saved for its
 * backward, of the same step. */
static bool remove_saved(struct advising *a, struct generations *g, uint32_t older, int64_t from,
                         bool counts)
{
    const struct study *s = a->s;
    const struct lifetime *old = &s->lifetimes.at[older];
    int64_t step = steps_at(&s->steps, old->birth);
    int64_t begin = old->freed - SAVED_WITHIN_EVENTS < 0 ? 0 : old->freed - SAVED_WITHIN_EVENTS;
    for (int64_t e = begin; e <= old->freed + SAVED_WITHIN_EVENTS && e < (int64_t)s->events; e++) {
        uint32_t i = s->lifetimes.freed_at[e];
        if (i == NO_ROW || g->taken[i] || s->lifetimes.at[i].birth < 0 ||
            (advise_freed_by(a, i) & TOKEN_SAVED) == 0 ||
            steps_at(&s->steps, s->lifetimes.at[i].birth) != step)
            continue;
        if (!remove_one(a, g, i, from, counts))
            return false;
    }
    return true;
}

/* Are these two of one site and size and of steps that follow one another, the older freed only
 * after the younger was made? */
static bool is_pair(const struct advising *a, uint32_t older, uint32_t younger)
{
    const struct study *s = a->s;
    const struct lifetime *x = &s->lifetimes.at[older], *y = &s->lifetimes.at[younger];
    return x->bytes == y->bytes && x->freed > y->birth && x->freed < a->first_oom &&
           s->categories.of[older] != CATEGORY_INPUT &&
           steps_at(&s->steps, y->birth) == steps_at(&s->steps, x->birth) + 1;
}

/* The pair of this allocation's site and size; NO_ROW: it is of none. */
static uint32_t pair_of(const struct generations *g, uint32_t site, uint64_t bytes)
{
    uint32_t low = 0, high = g->site_has[site] ? g->pairs : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct alive *x = &g->at[g->pair[middle]];
        if (x->site < site || (x->site == site && x->bytes < bytes))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = g->site_has[site] && low < g->pairs && g->at[g->pair[low]].site == site &&
                 g->at[g->pair[low]].bytes == bytes;
    return found ? low : NO_ROW;
}

/* Every older generation of those sites and sizes, over all steps. */
static bool remove_generations(struct advising *a, struct generations *g)
{
    const struct study *s = a->s;
    g->taken = arena_array(s->scratch, bool, s->lifetimes.count);
    if (g->taken == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t pair = l->birth < 0 ? NO_ROW : pair_of(g, a->sites.of[i], l->bytes);
        if (pair == NO_ROW)
            continue;
        uint32_t older = g->newest[pair];
        g->newest[pair] = i;
        if (older == NO_ROW || g->taken[older] || !is_pair(a, older, i))
            continue;
        int64_t from = advise_step_end(s, s->lifetimes.at[older].birth);
        bool counts =
            l->birth <= a->peak_event && lifetime_alive(&s->lifetimes.at[older], a->peak_event);
        if (!remove_one(a, g, older, from, counts) || !remove_saved(a, g, older, from, counts))
            return false;
    }
    return true;
}

/* Two alive at the peak, and no third of their site and size. */
static bool are_two(const struct alive *at, uint32_t len, uint32_t i)
{
    const struct alive *x = &at[i], *y = &at[i + 1];
    bool third = (i > 0 && at[i - 1].site == x->site && at[i - 1].bytes == x->bytes) ||
                 (i + 2 < len && at[i + 2].site == y->site && at[i + 2].bytes == y->bytes);
    return x->site == y->site && x->bytes == y->bytes && !third;
}

/* Sites that leaks names: what each step adds is no generation of the step before. */
static bool find_leaking(const struct advising *a, struct generations *g)
{
    const struct study *s = a->s;
    const struct leaks *leaks = a->in->leaks;
    bool *stack = arena_array(s->scratch, bool, s->r->code.stacks.rows.len);
    g->leaking = arena_array(s->scratch, bool, a->sites.sites);
    if (stack == NULL || g->leaking == NULL)
        return false;
    for (uint32_t i = 0; leaks != NULL && i < leaks->sites; i++)
        if (leaks->site[i].class == LEAK_CLASS_LEAK)
            stack[leaks->site[i].site.stack.n] = true;
    stack[0] = false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (stack[s->lifetimes.at[i].alloc_stack.n])
            g->leaking[a->sites.of[i]] = true;
    return true;
}

static void find_pairs(struct advising *a, struct generations *g, struct largest *largest)
{
    const struct study *s = a->s;
    const struct alive *at = g->at;
    for (uint32_t i = 0; i + 1 < g->alive; i++) {
        if (at[i].bytes < a->floor_bytes || !are_two(at, g->alive, i) || g->leaking[at[i].site] ||
            !is_pair(a, at[i].allocation, at[i + 1].allocation))
            continue;
        g->site_has[at[i].site] = true;
        g->newest[g->pairs] = NO_ROW;
        g->pair[g->pairs++] = i;
        const struct lifetime *l = &s->lifetimes.at[at[i].allocation];
        if (!largest_take(largest, at[i].bytes, l->alloc_stack))
            continue;
        a->now.at_events = 0;
        advise_event(a, at[i].birth);
        advise_event(a, at[i + 1].birth);
        advise_event(a, l->freed);
    }
}

static bool judge_generations(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    struct generations g = { 0 };
    g.at = alive_at_peak(a, &g.alive);
    g.pair = arena_array(s->scratch, uint32_t, g.alive);
    g.newest = arena_array(s->scratch, uint32_t, g.alive);
    g.site_has = arena_array(s->scratch, bool, a->sites.sites);
    if (g.at == NULL || g.pair == NULL || g.newest == NULL || g.site_has == NULL ||
        !find_leaking(a, &g))
        return false;
    find_pairs(a, &g, &largest);
    if (g.pairs > 0 && !remove_generations(a, &g))
        return false;
    if (a->now.bytes == 0)
        return advise_silent(a, "no line has values of two steps alive at the peak");
    return advise_site(a, largest.stack);
}

bool advise_two_generations(struct advising *a)
{
    if (a->s->steps.count < 2)
        return advise_silent(a, "fewer than two steps");
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge_generations(a);
    arena_release(a->s->scratch, mark);
    return ok;
}

/* One more of those that hold memory at the peak. */
static void count_held(struct advising *a, const struct lifetime *l, struct largest *largest)
{
    a->now.bytes += l->bytes;
    advise_event(a, l->birth);
    largest_take(largest, l->bytes, l->alloc_stack);
}

/* Outputs that outlive their step. */
bool advise_retained_output(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!s->categories.retained[i] || l->birth < 0 || s->steps.count == 0)
            continue;
        int64_t end = advise_step_end(s, l->birth);
        if (!advise_remove(a, i, end, l->freed, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event) || end > a->peak_event)
            continue;
        count_held(a, l, &largest);
    }
    if (a->now.bytes == 0)
        return advise_silent(a, "no output of an earlier step is alive at the peak");
    return advise_site(a, largest.stack);
}

/* The leak of kind graph that grows most; the slope of every such one over the steps seen. */
bool advise_graph_kept(struct advising *a)
{
    const struct leaks *g = a->in->leaks;
    if (g == NULL || g->steps.steps.count < KEPT_STEPS_LEAST)
        return advise_silent(a, "fewer than four steps");
    for (uint32_t i = 0; i < g->sites; i++) {
        const struct leak_site *site = &g->site[i];
        if (site->class != LEAK_CLASS_LEAK || site->kind != LEAK_GRAPH || site->slope_bytes <= 0)
            continue;
        if (a->now.bytes == 0 && !advise_site(a, site->site.stack))
            return false;
        for (uint32_t k = 0; k < site->survivors; k++)
            advise_event(a, site->survivor[k].event);
        a->now.bytes += (uint64_t)site->slope_bytes * (g->moments - 1);
    }
    if (a->now.bytes == 0)
        return advise_silent(a, "no graph is kept from step to step");
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    return true;
}

/* Frees that Python's collector made; what only looks like it is not told. */
bool advise_collector(struct advising *a)
{
    const struct gc_hint *hint = a->in->leaks == NULL ? NULL : &a->in->leaks->gc_hint;
    if (hint == NULL || hint->kind == NULL)
        return advise_silent(a, "no free comes from Python's garbage collector");
    if (hint->confidence == CONFIDENCE_LOW)
        return advise_silent(
            a, "some frees look like the garbage collector's, but no stack proves it");
    a->now.bytes = hint->bytes;
    advise_event(a, hint->first_event);
    advise_event(a, hint->last_event);
    return true;
}

/* A cache that is copied into a larger one at every token. */

struct growing {
    uint64_t bytes; /* of the last one */
    uint64_t most;  /* old and new together, less the new, where that is largest */
    int32_t freed;  /* the last one; 0, at which nothing older can be alive: none yet */
    uint32_t times; /* in a row */
};

static void follow(struct advising *a, struct growing *g, const struct lifetime *now)
{
    bool grows = now->bytes > g->bytes && g->freed > now->birth && g->freed < (int64_t)a->s->events;
    uint64_t most = g->bytes > g->most ? g->bytes : g->most;
    *g = (struct growing){ now->bytes, grows ? most : 0, now->freed, grows ? g->times + 1 : 0 };
}

/* A cache in pages is not copied: what grows is its tables. */
static bool is_paged(const struct advising *a, uint32_t i)
{
    uint32_t stack = a->s->lifetimes.at[i].alloc_stack.n;
    return (a->s->tokens->of_stack[stack] & TOKEN_PAGED_CACHE) != 0;
}

bool advise_kv_prealloc(struct advising *a)
{
    const struct study *s = a->s;
    struct arena_mark mark = arena_mark(s->scratch);
    struct growing *site = arena_array(s->scratch, struct growing, a->sites.sites);
    if (site == NULL)
        return false;
    stack_id where = { 0 };
    uint32_t times = 0;
    bool paged = false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        struct growing *g = &site[a->sites.of[i]];
        if (s->lifetimes.at[i].birth < 0 || s->lifetimes.at[i].alloc_stack.n == 0)
            continue;
        follow(a, g, &s->lifetimes.at[i]);
        bool grows = g->times >= GROWS_LEAST;
        if (grows && is_paged(a, i)) {
            paged = true;
        } else if (grows && g->most > a->now.bytes) {
            a->now.bytes = g->most;
            a->now.at_events = 0;
            advise_event(a, s->lifetimes.at[i].birth);
            where = s->lifetimes.at[i].alloc_stack;
            times = g->times;
        }
    }
    arena_release(s->scratch, mark);
    if (a->now.bytes == 0)
        return advise_silent(
            a, paged ? "what grows belongs to a paged cache"
                     : "no site allocates ever larger copies while the old one is alive");
    advise_condition(a, "times", times, GROWS_LEAST);
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    return advise_site(a, where);
}

/* What categories calls an input is gone soon; a copy to the device that nothing else explains may
 * be one that is early. */
static bool is_input(const struct study *s, uint32_t i)
{
    if (s->categories.of[i] != CATEGORY_UNKNOWN)
        return s->categories.of[i] == CATEGORY_INPUT;
    uint32_t stack = s->lifetimes.at[i].alloc_stack.n;
    uint8_t phase = s->phases.of_stack[stack];
    bool copied = (s->tokens->of_stack[stack] & TOKEN_COPY) != 0 && phase == PHASE_OTHER;
    return copied || phase == PHASE_DATA;
}

/* Batches that are on the device long before their step. */
bool advise_inputs_ahead(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    if (s->steps.count <= AHEAD_STEPS)
        return advise_silent(a, "fewer than three steps");
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!is_input(s, i))
            continue;
        int64_t used = steps_at(&s->steps, l->freed);
        if (used >= (int64_t)s->steps.count || used - steps_at(&s->steps, l->birth) < AHEAD_STEPS)
            continue;
        /* One batch ahead is what prefetching is for. */
        int64_t soon = s->steps.boundary[used - 1].event;
        if (!advise_remove(a, i, l->birth, soon, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event) || soon <= a->peak_event)
            continue;
        count_held(a, l, &largest);
    }
    if (a->now.bytes == 0)
        return advise_silent(a, "no input is alive two steps before its use");
    return advise_site(a, largest.stack);
}
