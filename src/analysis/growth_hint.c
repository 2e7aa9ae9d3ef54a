/* growth_hint.c - runs of frees without an alloc between them. */
#include "analysis/growth_hint.h"

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

struct runs {
    struct run *at;
    uint32_t count;
};

/* The allocation that each completed free of the device ends, or NO_ROW. */
static uint32_t *frees_of(const struct study *s)
{
    uint32_t *of = arena_array(s->scratch, uint32_t, s->events);
    for (uint32_t i = 0; of != NULL && i < s->events; i++)
        of[i] = NO_ROW;
    for (uint32_t i = 0; of != NULL && i < s->lifetimes.count; i++)
        if (s->lifetimes.at[i].freed < (int64_t)s->events)
            of[s->lifetimes.at[i].freed] = i;
    return of;
}

static bool collector_seen(const struct study *s)
{
    for (uint32_t i = 1; i < s->r->stacks.rows.len; i++)
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
    int64_t born = l->birth < 0 ? -1 : steps_at(&s->steps, l->birth);
    run->old &= born + 1 < steps_at(&s->steps, event);
}

/* Where the run that begins at `event` ends: at the next alloc.  Counts the frees in it. */
static uint32_t run_end(const struct study *s, const uint32_t *of, uint32_t event, uint32_t *frees)
{
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    for (*frees = 0; event < s->events && action[event] != ACTION_ALLOC; event++)
        *frees += of[event] != NO_ROW;
    return event;
}

/* Runs of at least `least` frees; without room for them only counts them. */
static uint32_t take_runs(const struct study *s, const uint32_t *of, uint32_t least, struct run *to)
{
    uint32_t runs = 0, frees;
    for (uint32_t i = 0, end; i < s->events; i = end + 1) {
        end = run_end(s, of, i, &frees);
        if (frees < least)
            continue;
        if (to != NULL) {
            to[runs] = (struct run){ .count = 0 };
            for (uint32_t k = i; k < end; k++)
                if (of[k] != NO_ROW)
                    add_free(s, &to[runs], k, of[k]);
        }
        runs++;
    }
    return runs;
}

/* Short runs matter only where the collector itself is seen. */
static enum vrs_status find_runs(const struct study *s, struct runs *ret, struct vrs_error *err)
{
    uint32_t *of = frees_of(s), least = collector_seen(s) ? 1 : RUN_FREES_MIN;
    if (of == NULL)
        return vrs_no_memory(err);
    uint32_t count = take_runs(s, of, least, NULL);
    struct runs runs = { arena_array(s->scratch, struct run, count), count };
    if (runs.at == NULL)
        return vrs_no_memory(err);
    take_runs(s, of, least, runs.at);
    *ret = runs;
    return VRS_OK;
}

static bool is_burst(const struct study *s, const struct run *run)
{
    int64_t peak = s->curves.of[CURVE_REQUESTED].peak_bytes;
    return s->steps.count != 0 && run->count >= RUN_FREES_MIN && run->several && run->old &&
           peak > 0 && run->bytes >= (uint64_t)peak / 100;
}

/* Distances whose spread is more than half of their mean: variance * 4 > mean^2. */
static bool irregular(const struct runs *runs)
{
    double sum = 0, squares = 0;
    uint32_t gaps = runs->count < 2 ? 0 : runs->count - 1;
    for (uint32_t i = 0; i < gaps; i++) {
        double gap = (double)runs->at[i + 1].first_event - (double)runs->at[i].first_event;
        sum += gap;
        squares += gap * gap;
    }
    double mean = gaps == 0 ? 0 : sum / gaps;
    return runs->count >= RUNS_MIN && (squares / gaps - mean * mean) * 4 > mean * mean;
}

static void take_largest(const struct runs *runs, const char *kind, enum confidence confidence,
                         struct gc_hint *ret)
{
    const struct run *best = &runs->at[0];
    for (uint32_t i = 1; i < runs->count; i++)
        if (runs->at[i].bytes > best->bytes)
            best = &runs->at[i];
    *ret = (struct gc_hint){ kind,        best->first_event, best->last_event,
                             best->bytes, best->count,       confidence };
}

/* Keeps the runs that `wanted` says. */
static struct runs keep_runs(const struct study *s, const struct runs *all, bool collected)
{
    struct runs kept = { all->at, 0 };
    for (uint32_t i = 0; i < all->count; i++) {
        struct run run = all->at[i];
        if (collected ? run.collected : is_burst(s, &run))
            kept.at[kept.count++] = run;
    }
    return kept;
}

enum vrs_status gc_hint_find(const struct study *s, struct gc_hint *ret, struct vrs_error *err)
{
    struct runs all = { .count = 0 };
    TRY(find_runs(s, &all, err));
    *ret = (struct gc_hint){ .kind = NULL };
    bool collected = false;
    for (uint32_t i = 0; i < all.count; i++)
        collected |= all.at[i].collected;
    struct runs kept = keep_runs(s, &all, collected);
    if (collected)
        take_largest(&kept, "collector_frames", CONFIDENCE_MEDIUM, ret);
    else if (irregular(&kept))
        take_largest(&kept, "runs_of_frees", CONFIDENCE_LOW, ret);
    return VRS_OK;
}
