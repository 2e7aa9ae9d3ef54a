/* growing.c - one walk over the allocations, with what is known of each stack so far. */
#include "analysis/snapshot/categories/growing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

/* So many passes, with so many of one size in each. */
enum { PASSES_LEAST = 4, TENSORS_LEAST = 2, SOUND_PERCENT = 90 };

/* Inputs are few: what a line asks for once for each parameter is none. */
enum { RECURS_MOST = 8 };

/* Allocations from one whose site is asked for to the one that is taken. */
enum { AHEAD = 12 };

/* What a stack asks for, in runs of one size. */
struct site {
    uint64_t bytes, grows_by; /* of the run; from run to run, 0: not known */
    uint32_t runs, tensors, sound;
    uint32_t of_run, fewest; /* tensors in the run, and in the shortest one before */
    uint32_t run;            /* first allocation of the run, plus 1 */
    uint32_t before;         /* of the run before: the one that the next follows, plus 1 */
    uint32_t latest;         /* allocation, plus 1 */
    uint32_t of_step;        /* how many of the stack lie before it in its step */
    int64_t step;            /* of the latest */
};

static void begin(struct site *site, uint32_t i, uint64_t bytes)
{
    *site = (struct site){ .bytes = bytes,
                           .runs = 1,
                           .of_run = 1,
                           .fewest = UINT32_MAX,
                           .run = i + 1,
                           .latest = site->latest,
                           .of_step = site->of_step,
                           .step = site->step };
}

static bool grew(const struct site *site)
{
    return site->runs >= PASSES_LEAST && site->fewest >= TENSORS_LEAST &&
           (uint64_t)site->sound * 100 >= (uint64_t)site->tensors * SOUND_PERCENT;
}

/* Notes the step of the next of a stack, and whether there was one of the stack a step before. */
static void note_step(struct site *site, int64_t step, uint32_t i, bool *recurs)
{
    bool first = site->latest == 0;
    if (!first && step == site->step + 1 && site->of_step < RECURS_MOST)
        recurs[i] = recurs[site->latest - 1] = true;
    site->of_step = !first && step == site->step ? site->of_step + 1 : 0;
    site->step = step;
}

/* Takes the next of a stack; `next` has of each allocation the next one of its stack, plus 1. */
static void take(struct site *site, const struct lifetime *at, const uint32_t *next, int64_t events,
                 uint32_t i)
{
    const struct lifetime *l = &at[i];
    if (site->runs == 0 || l->bytes < site->bytes) {
        begin(site, i, l->bytes);
        return;
    }
    if (l->bytes > site->bytes) {
        uint64_t by = l->bytes - site->bytes;
        /* The first run may be a prompt of any length. */
        if (site->runs > 2 && by != site->grows_by) {
            begin(site, i, l->bytes);
            return;
        }
        site->grows_by = by;
        site->fewest = site->of_run < site->fewest ? site->of_run : site->fewest;
        site->of_run = 0;
        site->bytes = l->bytes;
        site->runs++;
        site->before = site->run;
        site->run = i + 1;
    }
    site->of_run++;
    if (site->runs == 1)
        return;
    site->tensors++;
    if (site->before == 0)
        return;
    const struct lifetime *old = &at[site->before - 1];
    site->sound += old->bytes < l->bytes && old->requested > l->birth && old->requested < events;
    site->before = next[site->before - 1];
}

/* What is freed where the caches are that a stack made, and is older than they: the first of them.
 */
static enum vrs_status find_first(const struct lifetimes *lifetimes, const stack_id *freed_by,
                                  uint32_t stacks, struct arena *scratch,
                                  struct growing_sites *found, struct vrs_error *err)
{
    int32_t *since = arena_array(scratch, int32_t, stacks); /* of each stack of a free; 0: none */
    found->caches = arena_array(scratch, bool, lifetimes->count);
    if (since == NULL || found->caches == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < lifetimes->count; i++) {
        const struct lifetime *l = &lifetimes->at[i];
        found->caches[i] = l->birth >= 0 && found->stack[l->alloc_stack.n];
        int32_t *first = &since[freed_by[i].n];
        if (found->caches[i] && (*first == 0 || l->birth < *first))
            *first = l->birth;
    }
    since[0] = 0;
    for (uint32_t i = 0; i < lifetimes->count; i++) {
        const struct lifetime *l = &lifetimes->at[i];
        int32_t first = since[freed_by[i].n];
        if (first != 0 && l->birth < first && l->requested > first)
            found->caches[i] = true;
    }
    return VRS_OK;
}

enum vrs_status growing_find(const struct lifetimes *lifetimes, const struct steps *steps,
                             const stack_id *freed_by, uint32_t stacks, int64_t events,
                             struct arena *scratch, struct growing_sites *ret,
                             struct vrs_error *err)
{
    struct growing_sites found = { .stack = arena_array(scratch, bool, stacks),
                                   .recurs = arena_array(scratch, bool, lifetimes->count) };
    struct site *site = arena_array(scratch, struct site, stacks);
    uint32_t *next = arena_array(scratch, uint32_t, lifetimes->count);
    struct step_cursor cursor = { .steps = steps };
    bool any = false;
    if (found.stack == NULL || found.recurs == NULL || site == NULL || next == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < lifetimes->count; i++) {
        const struct lifetime *l = &lifetimes->at[i];
        struct site *of = &site[l->alloc_stack.n];
        /* Sites lie too far apart for the processor's cache; unasked, half of the time is waiting.
         */
        if (i + AHEAD < lifetimes->count)
            __builtin_prefetch(&site[l[AHEAD].alloc_stack.n]);
        if (l->birth < 0 || l->alloc_stack.n == 0)
            continue;
        if (of->latest != 0)
            next[of->latest - 1] = i + 1;
        note_step(of, step_cursor_at(&cursor, l->birth), i, found.recurs);
        take(of, lifetimes->at, next, events, i);
        of->latest = i + 1;
        if (grew(of))
            any = found.stack[l->alloc_stack.n] = true;
    }
    if (any)
        TRY(find_first(lifetimes, freed_by, stacks, scratch, &found, err));
    *ret = found;
    return VRS_OK;
}
