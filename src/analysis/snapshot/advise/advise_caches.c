/* advise_caches.c - a cache that is copied into a larger one at every token.
 *
 * Growth is followed from one allocation to the one that takes its place: the first of its line
 * that is larger, was made while it was alive, and has taken no other's place.  So the layers of a
 * model, which share a line, each have a chain of their own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/table.h"

/* Allocations of one line that have not taken another's place yet, the oldest first. */
struct waiting {
    uint32_t first, last; /* allocations plus 1 */
    uint32_t times;       /* the longest chain of the line */
};

struct growth {
    uint32_t *born;  /* of each event: the allocation that it makes, or NO_ROW */
    uint32_t *next;  /* of each allocation: the next that waits at its line, plus 1 */
    uint32_t *times; /* of each: how many before it were smaller, each in the next one's place */
    uint32_t *successor; /* of each: what took its place; NO_ROW: nothing */
    struct waiting *line;
};

static bool growth_make(const struct advising *a, struct growth *g)
{
    const struct study *s = a->s;
    g->born = arena_array(s->scratch, uint32_t, s->events);
    g->next = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->times = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->successor = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->line = arena_array(s->scratch, struct waiting, a->sites.sites);
    if (g->born == NULL || g->next == NULL || g->times == NULL || g->successor == NULL ||
        g->line == NULL)
        return false;
    for (uint32_t e = 0; e < s->events; e++)
        g->born[e] = NO_ROW;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        g->successor[i] = NO_ROW;
        if (s->lifetimes.at[i].birth >= 0 && s->lifetimes.at[i].alloc_stack.n != 0)
            g->born[s->lifetimes.at[i].birth] = i;
    }
    return true;
}

static void wait_at_line(const struct advising *a, struct growth *g, uint32_t i)
{
    struct waiting *line = &g->line[a->sites.of[i]];
    if (line->last != 0)
        g->next[line->last - 1] = i + 1;
    else
        line->first = i + 1;
    line->last = i + 1;
}

/* Takes the allocation behind `before` (plus 1; 0: the first) out of those that wait. */
static void take_out(struct growth *g, struct waiting *line, uint32_t before)
{
    uint32_t *link = before == 0 ? &line->first : &g->next[before - 1];
    uint32_t taken = *link;
    *link = g->next[taken - 1];
    if (line->last == taken)
        line->last = before;
}

/* `i` is freed: what takes its place? */
static void follow(const struct advising *a, struct growth *g, uint32_t i)
{
    const struct lifetime *at = a->s->lifetimes.at;
    struct waiting *line = &g->line[a->sites.of[i]];
    uint32_t before = 0, looked = 0;
    for (uint32_t now = line->first; now != 0 && looked < WAITING_MOST; looked++) {
        const struct lifetime *l = &at[now - 1];
        uint32_t next = g->next[now - 1];
        bool gone = now - 1 == i || l->freed < at[i].freed;
        bool takes = !gone && l->birth > at[i].birth && l->bytes > at[i].bytes;
        if (gone || takes)
            take_out(g, line, before);
        else
            before = now;
        if (takes) {
            g->successor[i] = now - 1;
            g->times[now - 1] = g->times[i] + 1;
            line->times = g->times[now - 1] > line->times ? g->times[now - 1] : line->times;
            return;
        }
        now = next;
    }
}

/* A cache in pages is not copied: what grows is its tables. */
static bool is_paged(const struct advising *a, uint32_t i)
{
    uint32_t stack = a->s->lifetimes.at[i].alloc_stack.n;
    return (a->s->tokens->of_stack[stack] & TOKEN_PAGED_CACHE) != 0;
}

/* What is put together of old and new, or known to be a cache; where operators are not seen, what
 * grows in a program that trains nothing. */
static bool is_cache(const struct advising *a, uint32_t i)
{
    token_set tokens = a->s->tokens->of_stack[a->s->lifetimes.at[i].alloc_stack.n];
    return (tokens & (TOKEN_CONCATENATE | TOKEN_KV_CACHE | TOKEN_PAGED_CACHE)) != 0 ||
           a->s->categories.of[i] == CATEGORY_KV_CACHE ||
           ((tokens & TOKEN_NATIVE) == 0 && !a->backward_seen);
}

static void follow_all(const struct advising *a, struct growth *g)
{
    const struct study *s = a->s;
    for (uint32_t e = 0; e < s->events; e++) {
        uint32_t freed = s->lifetimes.freed_at[e];
        if (g->born[e] != NO_ROW)
            wait_at_line(a, g, g->born[e]);
        if (freed != NO_ROW && s->lifetimes.at[freed].birth >= 0 &&
            s->lifetimes.at[freed].alloc_stack.n != 0)
            follow(a, g, freed);
    }
}

/* Adds what is held twice at lines whose chains are long; how long the longest is. */
static bool sum_up(struct advising *a, const struct growth *g, struct largest *largest,
                   bool *ret_paged, uint32_t *ret_times)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        const struct waiting *line = &g->line[a->sites.of[i]];
        if (g->successor[i] == NO_ROW || line->times < GROWS_LEAST || !is_cache(a, i))
            continue;
        if (is_paged(a, i)) {
            *ret_paged = true;
            continue;
        }
        int64_t birth = s->lifetimes.at[g->successor[i]].birth;
        *ret_times = line->times > *ret_times ? line->times : *ret_times;
        if (largest_take(largest, l->bytes, l->alloc_stack)) {
            a->now.at_events = 0;
            advise_event(a, birth);
        }
        if (!advise_remove(a, i, birth, l->freed, l->bytes))
            return false;
    }
    return true;
}

static bool judge(struct advising *a, struct growth *g)
{
    struct largest largest = { 0 };
    bool paged = false;
    uint32_t times = 0;
    if (!growth_make(a, g))
        return false;
    follow_all(a, g);
    if (!sum_up(a, g, &largest, &paged, &times))
        return false;
    if (largest.bytes == 0)
        return advise_silent(a, paged
                                    ? "what grows belongs to a paged cache"
                                    : "no cache is copied into a larger one, eight times in a row");
    if (largest.bytes < a->floor_bytes / CACHE_SHARES)
        return advise_silent(a, "the cache that grows is small beside the peak");
    a->now.bytes = largest.bytes;
    a->now.source = SAVING_ESTIMATED;
    advise_condition(a, "times", times, GROWS_LEAST);
    return advise_site(a, largest.stack);
}

bool advise_kv_prealloc(struct advising *a)
{
    struct growth g = { 0 };
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge(a, &g);
    arena_release(a->s->scratch, mark);
    return ok;
}
