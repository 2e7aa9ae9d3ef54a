/* gc_hint.c - runs of frees without an alloc between them. */
#include "analysis/snapshot/leaks/gc_hint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

/* A run is a burst when it frees so much that is so old.  RUNS_MIN: fewer have no spacing to
 * speak of. */
enum { RUN_FREES_MIN = 16, RUNS_MIN = 3 };

struct run {
    uint32_t first_event, last_event;
    uint64_t bytes, count;
    stack_id stack; /* of the first alloc */
    bool several;   /* stacks of allocs */
    bool old;       /* all lived through a whole step */
    bool collected; /* some free stands under the collector's frames */
};

typedef VEC(struct run) run_vec;

static bool collector_seen(const struct study *s)
{
    for (uint32_t i = 1; i < s->r->code.stacks.rows.len; i++)
        if ((s->tokens->of_stack[i] & TOKEN_COLLECTOR) != 0)
            return true;
    return false;
}

static void add_free(const struct study *s, struct run *run, uint32_t event, uint32_t allocation)
{
    const struct lifetime *l = &s->lifetimes.at[allocation];
    if (run->count == 0) {
        run->first_event = event;
        run->stack = l->alloc_stack;
        run->old = true;
    }
    run->last_event = event;
    run->count++;
    run->bytes += l->bytes;
    run->several |= l->alloc_stack.n != run->stack.n;
    run->collected |= (s->tokens->of_stack[l->free_stack.n] & TOKEN_COLLECTOR) != 0;
    if (!run->old)
        return;
    int64_t born = l->birth < 0 ? -1 : steps_at(&s->steps, l->birth);
    run->old = born + 1 < steps_at(&s->steps, event);
}

/* The run of at least `least` events without an alloc that begins first, from event `*begin` on;
 * false: none.  Looked for from its last event backwards, since most are shorter. */
static bool next_run(const struct study *s, uint32_t least, uint32_t *begin, uint32_t *ret_end)
{
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    while (s->events - *begin >= least) {
        uint32_t from = *begin + least;
        while (from > *begin && action[from - 1] != ACTION_ALLOC)
            from--;
        if (from > *begin) {
            *begin = from;
            continue;
        }
        uint32_t end = *begin + least;
        while (end < s->events && action[end] != ACTION_ALLOC)
            end++;
        *ret_end = end;
        return true;
    }
    return false;
}

/* Adds the frees in [event, end) as one run, if they are at least so many. */
static bool take_run(const struct study *s, uint32_t event, uint32_t end, uint32_t least,
                     run_vec *to)
{
    const uint32_t *freed = s->lifetimes.freed_at;
    uint32_t frees = 0;
    for (uint32_t i = event; i < end; i++)
        frees += freed[i] != NO_ROW;
    if (frees < least)
        return true;
    struct run run = { .count = 0 };
    for (uint32_t i = event; i < end; i++)
        if (freed[i] != NO_ROW)
            add_free(s, &run, i, freed[i]);
    return vec_push(to, run);
}

/* Short runs matter only where the collector itself is seen. */
static bool find_runs(const struct study *s, run_vec *to)
{
    uint32_t least = collector_seen(s) ? 1 : RUN_FREES_MIN;
    for (uint32_t begin = 0, end; next_run(s, least, &begin, &end); begin = end)
        if (!take_run(s, begin, end, least, to))
            return false;
    return true;
}

static bool is_burst(const struct study *s, const struct run *run)
{
    int64_t peak = s->curves.of[CURVE_REQUESTED].peak_bytes;
    return s->steps.count != 0 && run->count >= RUN_FREES_MIN && run->several && run->old &&
           peak > 0 && run->bytes >= (uint64_t)peak / 100;
}

/* Distances whose spread is more than half of their mean: variance * 4 > mean^2. */
static bool irregular(const run_vec *runs)
{
    double sum = 0, squares = 0;
    uint32_t gaps = runs->len < 2 ? 0 : runs->len - 1;
    for (uint32_t i = 0; i < gaps; i++) {
        double gap = (double)runs->at[i + 1].first_event - (double)runs->at[i].first_event;
        sum += gap;
        squares += gap * gap;
    }
    double mean = gaps == 0 ? 0 : sum / gaps;
    return runs->len >= RUNS_MIN && (squares / gaps - mean * mean) * 4 > mean * mean;
}

static void take_largest(const run_vec *runs, const char *kind, enum confidence confidence,
                         struct gc_hint *ret)
{
    const struct run *best = &runs->at[0];
    for (uint32_t i = 1; i < runs->len; i++)
        if (runs->at[i].bytes > best->bytes)
            best = &runs->at[i];
    *ret = (struct gc_hint){ kind,        best->first_event, best->last_event,
                             best->bytes, best->count,       confidence };
}

/* Keeps the runs that `collected` says. */
static void keep_runs(const struct study *s, bool collected, run_vec *runs)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < runs->len; i++) {
        struct run run = runs->at[i];
        if (collected ? run.collected : is_burst(s, &run))
            runs->at[kept++] = run;
    }
    runs->len = kept;
}

enum vrs_status gc_hint_find(const struct study *s, struct gc_hint *ret, struct vrs_error *err)
{
    run_vec runs = { .max = UINT32_MAX };
    *ret = (struct gc_hint){ .kind = NULL };
    bool found = find_runs(s, &runs), collected = false;
    for (uint32_t i = 0; i < runs.len; i++)
        collected |= runs.at[i].collected;
    keep_runs(s, collected, &runs);
    if (collected)
        take_largest(&runs, "collector_frames", CONFIDENCE_MEDIUM, ret);
    else if (irregular(&runs))
        take_largest(&runs, "runs_of_frees", CONFIDENCE_LOW, ret);
    vec_free(&runs);
    return found ? VRS_OK : vrs_no_memory(err);
}
