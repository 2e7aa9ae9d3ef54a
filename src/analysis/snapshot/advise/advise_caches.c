/* advise_caches.c - a cache that is copied into a larger one at every token.
 *
 * Growth is followed from one allocation to the one that takes its place: the last of its line
 * that is larger, was made while it was alive, and has taken no other's place.  So the layers of a
 * model, which share a line, each have a chain of their own.  What a cache of its final length
 * saves is the recorded peak without any of them, and with the last of each from the begin. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
    uint32_t *born;  /* of each event: the allocation of such a line that it makes, or NO_ROW */
    uint32_t *next;  /* of each allocation: the next that waits at its line, plus 1 */
    uint32_t *times; /* of each: how many before it were smaller, each in the next one's place */
    uint32_t *successor;   /* of each: what took its place; NO_ROW: nothing */
    uint32_t *predecessor; /* of each: whose place it took */
    struct waiting *line;
    bool *caches;         /* of each line: an allocation of it may be a cache */
    uint32_t *forerunner; /* of one generation: what its caches were before */
    uint32_t forerunners;
    uint64_t twice_bytes; /* of what is there twice at one time, at the most */
};

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

/* Notes the lines that make caches; *ret_any: there are some. */
static bool find_lines(const struct advising *a, struct growth *g, bool *ret_any)
{
    const struct study *s = a->s;
    *ret_any = false;
    g->caches = arena_array(s->scratch, bool, a->sites.sites);
    if (g->caches == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (s->lifetimes.at[i].birth >= 0 && s->lifetimes.at[i].alloc_stack.n != 0 &&
            is_cache(a, i))
            *ret_any = g->caches[a->sites.of[i]] = true;
    return true;
}

static bool growth_make(const struct advising *a, struct growth *g)
{
    const struct study *s = a->s;
    g->born = arena_array(s->scratch, uint32_t, s->events);
    g->next = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->times = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->successor = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->predecessor = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    g->line = arena_array(s->scratch, struct waiting, a->sites.sites);
    g->forerunner = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    if (g->born == NULL || g->next == NULL || g->times == NULL || g->successor == NULL ||
        g->predecessor == NULL || g->line == NULL || g->forerunner == NULL)
        return false;
    for (uint32_t e = 0; e < s->events; e++)
        g->born[e] = NO_ROW;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        g->successor[i] = g->predecessor[i] = NO_ROW;
        if (s->lifetimes.at[i].birth >= 0 && s->lifetimes.at[i].alloc_stack.n != 0 &&
            g->caches[a->sites.of[i]])
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

/* `i` is freed: what takes its place?  The youngest, since what a layer older than the recording
 * was copied into waits for ever. */
static void follow(const struct advising *a, struct growth *g, uint32_t i)
{
    const struct lifetime *at = a->s->lifetimes.at;
    struct waiting *line = &g->line[a->sites.of[i]];
    uint32_t before = 0, looked = 0, taker = 0, before_taker = 0;
    for (uint32_t now = line->first; now != 0 && looked < WAITING_MOST; looked++) {
        const struct lifetime *l = &at[now - 1];
        uint32_t next = g->next[now - 1];
        if (now - 1 == i || l->freed < at[i].freed) {
            take_out(g, line, before);
        } else {
            if (l->birth > at[i].birth && l->bytes > at[i].bytes) {
                taker = now;
                before_taker = before;
            }
            before = now;
        }
        now = next;
    }
    if (taker == 0)
        return;
    take_out(g, line, before_taker);
    g->successor[i] = taker - 1;
    g->predecessor[taker - 1] = i;
    g->times[taker - 1] = g->times[i] + 1;
    line->times = g->times[taker - 1] > line->times ? g->times[taker - 1] : line->times;
}

static void follow_all(const struct advising *a, struct growth *g)
{
    const struct study *s = a->s;
    for (uint32_t e = 0; e < s->events; e++) {
        uint32_t freed = s->lifetimes.freed_at[e];
        if (g->born[e] != NO_ROW)
            wait_at_line(a, g, g->born[e]);
        if (freed != NO_ROW && s->lifetimes.at[freed].birth >= 0 &&
            s->lifetimes.at[freed].alloc_stack.n != 0 && g->caches[a->sites.of[freed]])
            follow(a, g, freed);
    }
}

/* Does the allocation belong to a cache that is copied again and again? */
static bool is_grown(const struct advising *a, const struct growth *g, uint32_t i)
{
    const struct lifetime *l = &a->s->lifetimes.at[i];
    return l->birth >= 0 && l->alloc_stack.n != 0 && g->line[a->sites.of[i]].times >= GROWS_LEAST &&
           (g->successor[i] != NO_ROW || g->times[i] > 0) && is_cache(a, i) && !is_paged(a, i);
}

/* Caches that begin together: those of the layers of one model, made before the first of them
 * grows for the first time. */
struct generation {
    int64_t first_event, grown_event; /* its first cache is made, and takes a larger one's place */
    int64_t needed_from;              /* its caches are there from then on, in one way or another */
    uint64_t least_bytes;             /* of the caches as they begin */
};

/* Is something freed as soon as a cache has taken its place? */
static bool gives_place(const struct advising *a, const struct growth *g, int64_t freed)
{
    for (int64_t e = freed; e >= 0 && e >= freed - SAVED_WITHIN_EVENTS; e--)
        if (e < (int64_t)a->s->events && g->born[e] != NO_ROW && is_grown(a, g, g->born[e]))
            return true;
    return false;
}

/* What a cache was before it was copied for the first time: a part of what a projection made, or an
 * allocation older than the recording. */
static bool is_forerunner(const struct advising *a, const struct growth *g,
                          const struct generation *n, uint32_t i)
{
    const struct lifetime *l = &a->s->lifetimes.at[i];
    if (l->freed <= n->first_event || l->freed > n->grown_event || l->birth >= n->first_event ||
        is_grown(a, g, i))
        return false;
    return l->birth < 0 ? l->bytes >= n->least_bytes / 2 && gives_place(a, g, l->freed)
                        : a->s->categories.of[i] == CATEGORY_KV_CACHE;
}

/* What is there twice at one time, at the most. */
static uint64_t most_twice(const struct advising *a, const struct growth *g)
{
    const struct study *s = a->s;
    uint64_t now = 0, most = 0;
    for (uint32_t e = 0; e < s->events; e++) {
        uint32_t freed = s->lifetimes.freed_at[e];
        uint32_t made = g->born[e];
        if (freed != NO_ROW && g->successor[freed] != NO_ROW && is_grown(a, g, freed))
            now -= s->lifetimes.at[freed].bytes;
        if (made != NO_ROW && g->predecessor[made] != NO_ROW && is_grown(a, g, made))
            now += s->lifetimes.at[g->predecessor[made]].bytes;
        most = now > most ? now : most;
    }
    return most;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The forerunners of a generation, in the order of their allocs.  They go while it begins, so that
 * the frees of that time lead to them. */
static void find_forerunners(const struct advising *a, struct growth *g, const struct generation *n)
{
    g->forerunners = 0;
    for (int64_t e = n->first_event + 1; e <= n->grown_event; e++) {
        uint32_t freed = a->s->lifetimes.freed_at[e];
        if (freed != NO_ROW && is_forerunner(a, g, n, freed))
            g->forerunner[g->forerunners++] = freed;
    }
    if (g->forerunners > 1)
        qsort(g->forerunner, g->forerunners, sizeof *g->forerunner, by_number);
}

/* Takes away what a generation's caches were at first: all of what is older than the recording; of
 * what one layer projected, from when the next layer's is made, since nothing else keeps it. */
static bool remove_forerunners(struct advising *a, struct growth *g, struct generation *n)
{
    const struct study *s = a->s;
    const struct lifetime *before = NULL;
    int64_t apart = 0;
    find_forerunners(a, g, n);
    for (uint32_t k = 0; k < g->forerunners; k++) {
        uint32_t i = g->forerunner[k];
        const struct lifetime *l = &s->lifetimes.at[i];
        n->needed_from = l->birth < n->needed_from ? l->birth : n->needed_from;
        if (l->birth < 0) {
            if (!advise_remove(a, i, -1, l->freed, l->bytes))
                return false;
            /* What was before is not seen, and may have held as much. */
            a->now.at_most = true;
            a->most_saving_bytes = g->twice_bytes;
            continue;
        }
        uint32_t last = (uint32_t)(before == NULL ? i : before - s->lifetimes.at);
        apart = before == NULL ? 0 : l->birth - before->birth;
        if (before != NULL && !advise_remove(a, last, l->birth, before->freed, before->bytes))
            return false;
        before = l;
    }
    return before == NULL || apart == 0 ||
           advise_remove(a, (uint32_t)(before - s->lifetimes.at), before->birth + apart,
                         before->freed, before->bytes);
}

/* Of those that begin with a root, which is the first of them; the next generation's stand behind
 * what is looked at, since allocations are in the order of their allocs. */
static struct generation generation_of(const struct advising *a, const struct growth *g,
                                       uint32_t root)
{
    const struct study *s = a->s;
    struct generation n = { .first_event = s->lifetimes.at[root].birth,
                            .grown_event = s->lifetimes.at[g->successor[root]].birth,
                            .needed_from = s->lifetimes.at[root].birth,
                            .least_bytes = s->lifetimes.at[root].bytes };
    for (uint32_t i = root; i < s->lifetimes.count && s->lifetimes.at[i].birth <= n.grown_event;
         i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (g->times[i] == 0 && is_grown(a, g, i))
            n.least_bytes = l->bytes < n.least_bytes ? l->bytes : n.least_bytes;
    }
    return n;
}

/* As if each cache had been allocated at its final length, before its generation begins. */
static bool put_whole(struct advising *a, struct growth *g)
{
    const struct study *s = a->s;
    g->twice_bytes = most_twice(a, g);
    struct generation n = { .grown_event = -1 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!is_grown(a, g, i))
            continue;
        if (!advise_remove(a, i, l->birth, l->freed, l->bytes))
            return false;
        if (g->times[i] != 0)
            continue;
        if (l->birth > n.grown_event) {
            n = generation_of(a, g, i);
            if (!remove_forerunners(a, g, &n))
                return false;
        }
        uint32_t last = i;
        while (g->successor[last] != NO_ROW)
            last = g->successor[last];
        if (!advise_remove(a, NO_ROW, n.needed_from, s->lifetimes.at[last].freed,
                           -s->lifetimes.at[last].bytes))
            return false;
    }
    return true;
}

/* The largest that is held twice; how long the longest chain is. */
static void sum_up(struct advising *a, const struct growth *g, struct largest *largest,
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
        *ret_times = line->times > *ret_times ? line->times : *ret_times;
        if (largest_take(largest, l->bytes, l->alloc_stack)) {
            a->now.at_events = 0;
            advise_event(a, s->lifetimes.at[g->successor[i]].birth);
        }
    }
}

static bool judge(struct advising *a, struct growth *g)
{
    struct largest largest = { 0 };
    bool paged = false, any;
    uint32_t times = 0;
    if (!find_lines(a, g, &any) || (any && !growth_make(a, g)))
        return false;
    if (any) {
        follow_all(a, g);
        sum_up(a, g, &largest, &paged, &times);
    }
    if (largest.bytes == 0)
        return advise_silent(a, paged
                                    ? "what grows belongs to a paged cache"
                                    : "no cache is copied into a larger one, eight times in a row");
    if (largest.bytes < a->floor_bytes / CACHE_SHARES)
        return advise_silent(a, "the cache that grows is small beside the peak");
    a->now.bytes = largest.bytes;
    a->now.source = SAVING_ESTIMATED;
    advise_condition(a, "times", times, GROWS_LEAST);
    return put_whole(a, g) && advise_site(a, largest.stack);
}

bool advise_kv_prealloc(struct advising *a)
{
    struct growth g = { 0 };
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge(a, &g);
    arena_release(a->s->scratch, mark);
    return ok;
}
