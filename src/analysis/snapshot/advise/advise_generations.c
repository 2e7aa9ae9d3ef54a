/* advise_generations.c - two generations of one value: the older is freed after the younger is
 * made.
 *
 * Within the recording they are of one line and size, in steps that follow one another.  What is
 * older than the recording has no line: what goes at once is then compared by its sizes with what
 * was made since. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/table.h"
#include "model/recording.h"

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

static bool judge_pairs(struct advising *a, struct largest *largest)
{
    const struct study *s = a->s;
    struct generations g = { 0 };
    g.at = alive_at_peak(a, &g.alive);
    g.pair = arena_array(s->scratch, uint32_t, g.alive);
    g.newest = arena_array(s->scratch, uint32_t, g.alive);
    g.site_has = arena_array(s->scratch, bool, a->sites.sites);
    if (g.at == NULL || g.pair == NULL || g.newest == NULL || g.site_has == NULL ||
        !find_leaking(a, &g))
        return false;
    find_pairs(a, &g, largest);
    return g.pairs == 0 || remove_generations(a, &g);
}

/* Generations older than the recording. */

/* An allocation and its size; of several sorted by size. */
struct sized {
    uint64_t bytes;
    uint32_t allocation;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

/* What a program lets go, not the engine, an optimizer or a sum of gradients. */
static bool is_let_go(const struct advising *a, uint32_t i)
{
    const struct lifetime *l = &a->s->lifetimes.at[i];
    return l->birth < 0 && l->alloc_stack.n == 0 && l->freed < a->first_oom &&
           (advise_freed_by(a, i) & (TOKEN_ENGINE | TOKEN_BACKWARD | TOKEN_ACCUMULATE |
                                     TOKEN_ZERO_GRAD | TOKEN_OPTIMIZER)) == 0;
}

/* What was seen to be born and is alive, as the events pass. */
struct youngers {
    uint32_t *at; /* allocations */
    uint32_t count;
    uint32_t next; /* allocation to look at */
    struct sized *room;
};

static bool youngers_make(const struct study *s, struct youngers *y)
{
    *y = (struct youngers){ .at = arena_array(s->scratch, uint32_t, s->lifetimes.count),
                            .room = arena_array(s->scratch, struct sized, s->lifetimes.count) };
    return y->at != NULL && y->room != NULL;
}

/* Goes on to those that are alive after an event.  Allocations stand in the order of their first
 * events. */
static void youngers_at(const struct study *s, struct youngers *y, int64_t event)
{
    uint32_t alive = 0;
    for (uint32_t i = 0; i < y->count; i++)
        if (s->lifetimes.at[y->at[i]].freed > event)
            y->at[alive++] = y->at[i];
    for (; y->next < s->lifetimes.count && s->lifetimes.at[y->next].birth <= event; y->next++)
        if (s->lifetimes.at[y->next].birth >= 0 && s->lifetimes.at[y->next].freed > event)
            y->at[alive++] = y->next;
    y->count = alive;
}

/* Bytes of the older ones for which a younger one of the same size is alive at an event. */
static uint64_t matched_bytes(const struct study *s, struct sized *older, uint32_t olders,
                              struct youngers *youngers, int64_t event)
{
    uint64_t bytes = 0;
    struct sized *younger = youngers->room;
    youngers_at(s, youngers, event);
    for (uint32_t i = 0; i < youngers->count; i++)
        younger[i] = (struct sized){ s->lifetimes.at[youngers->at[i]].bytes, youngers->at[i] };
    if (youngers->count > 1)
        qsort(younger, youngers->count, sizeof *younger, by_size);
    if (olders > 1)
        qsort(older, olders, sizeof *older, by_size);
    for (uint32_t i = 0, k = 0; i < olders && k < youngers->count;) {
        bool same = older[i].bytes == younger[k].bytes;
        bytes += same ? older[i].bytes : 0;
        bool less = older[i].bytes < younger[k].bytes;
        i += same || less;
        k += same || !less;
    }
    return bytes;
}

/* Older allocations that go at once: with no alloc between. */
struct run {
    uint32_t first; /* event of a free, of whatever; NO_ROW: none yet */
    uint32_t olders;
    uint64_t bytes;
    struct sized *older;
};

static bool judge_run(struct advising *a, const struct run *run, struct youngers *youngers,
                      struct largest *largest)
{
    const struct study *s = a->s;
    if (run->first == NO_ROW || run->bytes < a->floor_bytes)
        return true;
    uint64_t matched = matched_bytes(s, run->older, run->olders, youngers, (int64_t)run->first - 1);
    if (matched < percent_of(run->bytes, MATCHED_PERCENT))
        return true;
    for (uint32_t k = 0; k < run->olders; k++) {
        const struct lifetime *l = &s->lifetimes.at[run->older[k].allocation];
        a->now.bytes += lifetime_alive(l, a->peak_event) ? l->bytes : 0;
        if (largest_take(largest, l->bytes, l->free_stack)) {
            a->now.at_events = 0;
            advise_event(a, l->freed);
        }
        if (!advise_remove(a, run->older[k].allocation, -1, l->freed, l->bytes))
            return false;
    }
    return true;
}

/* Of each event: does it free something older that the program lets go? */
static bool *find_let_go(const struct advising *a)
{
    const struct study *s = a->s;
    bool *ret = arena_array(s->scratch, bool, s->events);
    for (uint32_t k = 0; ret != NULL && k < s->lifetimes.older_count; k++) {
        int32_t freed = s->lifetimes.at[s->lifetimes.older[k]].freed;
        if (freed < (int64_t)s->events)
            ret[freed] = is_let_go(a, s->lifetimes.older[k]);
    }
    return ret;
}

static bool judge_older(struct advising *a, struct largest *largest)
{
    const struct study *s = a->s;
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    const bool *let_go = find_let_go(a);
    struct youngers youngers;
    struct run run = { .first = NO_ROW,
                       .older = arena_array(s->scratch, struct sized, s->lifetimes.older_count) };
    if (let_go == NULL || run.older == NULL || !youngers_make(s, &youngers))
        return false;
    for (uint32_t e = 0; e < s->events; e++) {
        uint32_t i = s->lifetimes.freed_at[e];
        if (action[e] == ACTION_ALLOC) {
            if (!judge_run(a, &run, &youngers, largest))
                return false;
            run = (struct run){ .first = NO_ROW, .older = run.older };
        }
        if (i == NO_ROW)
            continue;
        run.first = run.first == NO_ROW ? e : run.first;
        if (!let_go[e])
            continue;
        uint64_t bytes = s->lifetimes.at[i].bytes;
        run.older[run.olders++] = (struct sized){ bytes, i };
        run.bytes += bytes;
    }
    return judge_run(a, &run, &youngers, largest);
}

static bool judge_generations(struct advising *a)
{
    struct largest pair = { 0 }, older = { 0 };
    if (!judge_pairs(a, &pair) || !judge_older(a, &older))
        return false;
    if (a->now.bytes == 0)
        return advise_silent(a, "nothing at the peak was replaced by a younger value of its size");
    if (pair.bytes >= older.bytes)
        return advise_site(a, pair.stack);
    a->now.text = "{bytes} older than the recording are freed at {line} only after the next round "
                  "has allocated its own: del the variable before that, or put the body of the "
                  "loop in a function, so that the old value is freed first.";
    return advise_site(a, older.stack);
}

bool advise_two_generations(struct advising *a)
{
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge_generations(a);
    arena_release(a->s->scratch, mark);
    return ok;
}
