/* advise_graphs.c - graphs that are recorded and never run backward.
 *
 * Where frees have frames of C++, what a graph saved is seen to be released.  Where they have those
 * of Python alone, a graph is known by what goes with it: a line outside of all modules lets values
 * go at once that several lines of a forward have made.  Without a graph no more than its outputs
 * would have lived on. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/table.h"
#include "model/recording.h"

struct dropping {
    const uint32_t *retaining; /* see first_retaining */
    const uint32_t *backward;  /* see next_backward */
    uint32_t *seen;            /* of each site: the number of the run that has it, from 1 */
    uint32_t runs;
    bool *dropped;               /* of each allocation */
    struct largest largest;      /* of those dropped */
    bool after_oom, used, again; /* some were passed over: see why_silent */
};

/* After the forward that an alloc is in: its interval, or its step where that ends before. */
static int64_t forward_end(const struct study *s, int64_t birth)
{
    uint32_t i = phases_at(&s->phases, birth);
    int64_t end = i == NO_ROW ? birth + 1 : (int64_t)s->phases.interval[i].last_event + 1;
    int64_t step = s->steps.count > 0 ? advise_step_end(s, birth) : end;
    return step < end ? step : end;
}

static bool drop(struct advising *a, struct dropping *d, uint32_t i, int64_t from)
{
    const struct lifetime *l = &a->s->lifetimes.at[i];
    if (l->freed < (int64_t)a->s->events) {
        a->now.bytes += l->bytes;
        advise_event(a, l->freed);
    }
    /* Of a graph older than the recording the line that lets it go is all that is known. */
    largest_take(&d->largest, l->bytes, l->alloc_stack.n != 0 ? l->alloc_stack : l->free_stack);
    return advise_remove(a, i, from, l->freed, l->bytes);
}

/* What a graph saved, released outside of the engine. */

/* Of each interval, and of what follows the last: the first backward from there on that does not
 * release what was saved for it.  It retains its graph, and what goes later was in use. */
static uint32_t *first_retaining(const struct study *s)
{
    const struct phases *p = &s->phases;
    bool *releases = arena_array(s->scratch, bool, p->intervals);
    uint32_t *first = arena_array(s->scratch, uint32_t, (size_t)p->intervals + 1);
    if (first == NULL)
        return NULL;
    for (uint32_t i = 0; releases != NULL && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        token_set freed = s->tokens->of_stack[l->free_stack.n];
        uint32_t at = (freed & TOKEN_SAVED) != 0 && (freed & TOKEN_ENGINE) != 0
                          ? phases_at(&s->phases, l->freed)
                          : NO_ROW;
        if (at != NO_ROW)
            releases[at] = true;
    }
    if (releases == NULL)
        return NULL;
    first[p->intervals] = NO_ROW;
    for (uint32_t i = p->intervals; i-- > 0;)
        first[i] = p->interval[i].phase == PHASE_BACKWARD && !releases[i] ? i : first[i + 1];
    return first;
}

/* Does a backward that retains its graph run while the allocation is alive? */
static bool is_retained(const struct study *s, const uint32_t *retaining, const struct lifetime *l)
{
    const struct phases *p = &s->phases;
    uint32_t at = phases_at(p, l->birth);
    uint32_t i = retaining[at == NO_ROW ? 0 : at + 1];
    return i != NO_ROW && (int64_t)p->interval[i].first_event < l->freed;
}

/* What a graph saved and released without the engine; of one older than the recording, too. */
static void drop_saved(const struct advising *a, struct dropping *d)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        token_set freed = advise_freed_by(a, i);
        if ((freed & TOKEN_SAVED) == 0 || (freed & (TOKEN_ENGINE | TOKEN_BACKWARD)) != 0)
            continue;
        if (l->freed >= a->first_oom)
            d->after_oom = true;
        else if (s->phases.of_stack[l->alloc_stack.n] == PHASE_RECOMPUTE)
            d->again = true;
        else if (is_retained(s, d->retaining, l))
            d->used = true;
        else
            d->dropped[i] = true;
    }
}

/* What goes with a graph, where releases are not seen. */

static bool releases_are_seen(const struct study *s)
{
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if ((s->tokens->of_stack[s->lifetimes.at[i].free_stack.n] & TOKEN_NATIVE) != 0)
            return true;
    return false;
}

/* Of each interval, and of what follows the last: the first backward from there on. */
static uint32_t *next_backward(const struct study *s)
{
    const struct phases *p = &s->phases;
    uint32_t *next = arena_array(s->scratch, uint32_t, (size_t)p->intervals + 1);
    if (next == NULL)
        return NULL;
    next[p->intervals] = NO_ROW;
    for (uint32_t i = p->intervals; i-- > 0;) {
        uint8_t phase = p->interval[i].phase;
        next[i] = phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE ? i : next[i + 1];
    }
    return next;
}

/* Does a backward run between two events? */
static bool backward_between(const struct study *s, const uint32_t *backward, int64_t from,
                             int64_t to)
{
    const struct phases *p = &s->phases;
    uint32_t at = phases_at(p, from);
    if (at == NO_ROW)
        at = 0;
    else if ((int64_t)p->interval[at].last_event < from)
        at++;
    uint32_t i = backward[at];
    return i != NO_ROW && (int64_t)p->interval[i].first_event < to;
}

/* Values of one graph, made from `from` on and gone at `to`: has it been run backward?  A graph is
 * run in the step that made it; a backward of a later step is that of another. */
static bool was_run(const struct study *s, const uint32_t *backward, int64_t from, int64_t to)
{
    int64_t step = steps_at(&s->steps, from);
    bool known = step >= 0 && step < (int64_t)s->steps.count;
    return backward_between(s, backward, from, to) &&
           (!known ||
            backward_between(s, backward, s->steps.boundary[step].event, advise_step_end(s, from)));
}

/* A value of a forward that a line of Python lets go, outside of all modules. */
static bool goes_with_a_graph(const struct advising *a, uint32_t i)
{
    const struct study *s = a->s;
    const struct lifetime *l = &s->lifetimes.at[i];
    token_set freed = advise_freed_by(a, i);
    return l->birth >= 0 && s->phases.of_stack[l->alloc_stack.n] == PHASE_FORWARD &&
           s->categories.of[i] != CATEGORY_KV_CACHE && (freed & TOKEN_PYTHON) != 0 &&
           (freed & (TOKEN_MODULE | TOKEN_BACKWARD)) == 0;
}

/* Frees of one line, with no alloc between them: events `first` to `last`. */
static void drop_run(const struct advising *a, struct dropping *d, uint32_t first, uint32_t last)
{
    const struct study *s = a->s;
    int64_t begin = INT64_MAX;
    uint32_t places = 0;
    d->runs++;
    for (uint32_t e = first; e <= last; e++) {
        uint32_t i = s->lifetimes.freed_at[e];
        if (i == NO_ROW || !goes_with_a_graph(a, i))
            continue;
        int64_t birth = s->lifetimes.at[i].birth;
        begin = birth < begin ? birth : begin;
        places += d->seen[a->sites.of[i]] != d->runs;
        d->seen[a->sites.of[i]] = d->runs;
    }
    if (places < GRAPH_PLACES_LEAST)
        return;
    if (first >= a->first_oom) {
        d->after_oom = true;
        return;
    }
    if (was_run(s, d->backward, begin, first)) {
        d->used = true;
        return;
    }
    for (uint32_t e = first; e <= last; e++) {
        uint32_t i = s->lifetimes.freed_at[e];
        if (i != NO_ROW && goes_with_a_graph(a, i))
            d->dropped[i] = true;
    }
}

static void drop_runs(const struct advising *a, struct dropping *d)
{
    const struct study *s = a->s;
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    uint32_t first = NO_ROW, last = 0, line = 0;
    for (uint32_t e = 0; e < s->events; e++) {
        uint32_t i = s->lifetimes.freed_at[e];
        uint32_t at = i == NO_ROW ? 0 : s->lifetimes.at[i].free_stack.n;
        bool ends = action[e] == ACTION_ALLOC || (i != NO_ROW && at != line);
        if (first != NO_ROW && ends) {
            drop_run(a, d, first, last);
            first = NO_ROW;
        }
        if (i == NO_ROW)
            continue;
        first = first == NO_ROW ? e : first;
        last = e;
        line = at;
    }
    if (first != NO_ROW)
        drop_run(a, d, first, last);
}

/* What the last graph holds to the end of the recording: values of places that others are dropped
 * from, with no backward behind them, or none that others did not outlive. */
static bool add_held(const struct advising *a, struct dropping *d)
{
    const struct study *s = a->s;
    bool *at_site = arena_array(s->scratch, bool, a->sites.sites);
    bool *outlives = arena_array(s->scratch, bool, a->sites.sites);
    if (at_site == NULL || outlives == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!d->dropped[i] || l->birth < 0)
            continue;
        at_site[a->sites.of[i]] = true;
        if (backward_between(s, d->backward, l->birth, l->freed))
            outlives[a->sites.of[i]] = true;
    }
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t site = a->sites.of[i];
        if (at_site[site] && l->birth >= 0 && l->freed == (int64_t)s->events &&
            (outlives[site] || !backward_between(s, d->backward, l->birth, l->freed)))
            d->dropped[i] = true;
    }
    return true;
}

/* Without a graph a value is gone once the next two that the graph saved are made: the operator
 * that takes it has its output by then. */
static bool drop_all(struct advising *a, struct dropping *d)
{
    const struct study *s = a->s;
    int64_t birth[KEPT_WITHOUT_GRAPH] = { 0 }; /* of those behind it, the nearest first */
    uint32_t behind = 0;
    for (uint32_t i = s->lifetimes.count; i-- > 0;) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!d->dropped[i])
            continue;
        int64_t end = l->birth < 0 ? -1 : forward_end(s, l->birth);
        int64_t from = behind < KEPT_WITHOUT_GRAPH || birth[KEPT_WITHOUT_GRAPH - 1] > end
                           ? end
                           : birth[KEPT_WITHOUT_GRAPH - 1];
        if (l->birth >= 0) {
            for (uint32_t k = KEPT_WITHOUT_GRAPH - 1; k > 0; k--)
                birth[k] = birth[k - 1];
            birth[0] = l->birth;
            behind++;
        }
        if (!drop(a, d, i, l->birth < 0 ? -1 : from))
            return false;
    }
    return true;
}

/* The most that dropped graphs hold at one time. */
static uint64_t most_at_once(const struct advising *a)
{
    const struct study *s = a->s;
    struct arena_mark mark = arena_mark(s->scratch);
    uint64_t *change = arena_array(s->scratch, uint64_t, (size_t)s->events + 2);
    uint64_t now = 0, most = 0;
    for (uint32_t i = 0; change != NULL && i < a->removals.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->removals.at[i].allocation];
        change[l->birth + 1] += l->bytes;
        change[l->freed + 1] -= l->bytes;
    }
    for (uint32_t e = 0; change != NULL && e < s->events + 2; e++) {
        now += change[e];
        most = now > most ? now : most;
    }
    arena_release(s->scratch, mark);
    return most;
}

static const char *why_silent(const struct dropping *d)
{
    if (d->after_oom)
        return "graphs are dropped without their backward only after an out-of-memory event";
    if (d->used)
        return "a backward ran while the graphs that are dropped were alive, and may have used "
               "them";
    if (d->again)
        return "the graphs that are dropped were recomputed for their backward";
    return "no graph is seen to be dropped without its backward";
}

static bool judge(struct advising *a, struct dropping *d)
{
    const struct study *s = a->s;
    d->retaining = first_retaining(s);
    d->backward = next_backward(s);
    d->seen = arena_array(s->scratch, uint32_t, a->sites.sites);
    if (d->retaining == NULL || d->backward == NULL || d->seen == NULL)
        return false;
    bool seen = releases_are_seen(s);
    if (seen)
        drop_saved(a, d);
    else
        drop_runs(a, d);
    if (!add_held(a, d) || !drop_all(a, d))
        return false;
    if (a->now.bytes == 0)
        return advise_silent(a, why_silent(d));
    uint64_t at_once = most_at_once(a);
    advise_condition(a, "dropped_bytes", (double)at_once, (double)a->floor_bytes);
    if (at_once < a->floor_bytes)
        return advise_silent(a, "the graphs that are dropped hold less than 1 % of the peak, or "
                                "less than 16 MiB");
    return advise_site(a, d->largest.stack);
}

bool advise_no_grad(struct advising *a)
{
    struct arena_mark mark = arena_mark(a->s->scratch);
    struct dropping d = {
        .dropped = arena_array(a->s->scratch, bool, a->s->lifetimes.count),
    };
    bool ok = d.dropped != NULL && judge(a, &d);
    arena_release(a->s->scratch, mark);
    return ok;
}
