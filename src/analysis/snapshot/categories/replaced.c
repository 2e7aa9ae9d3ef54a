/* replaced.c - sorts freed and new tensors by interval and size, compares equal ones. */
#include "analysis/snapshot/categories/replaced.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_match.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

/* An allocation on one side of an interval. */
struct side {
    uint32_t interval;
    bool old;
    uint64_t bytes;
    int64_t order; /* its alloc, or the free of an old one */
    uint32_t allocation;
};

static int by_interval_and_size(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    if (x->interval != y->interval)
        return x->interval < y->interval ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->old != y->old)
        return x->old < y->old ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

typedef VEC(struct side) side_list;

static bool add_sides(const struct lifetimes *lifetimes, const struct phases *phases,
                      int64_t events, const uint8_t *born, const uint32_t *interval,
                      const stack_id *freed_by, side_list *sides)
{
    for (uint32_t i = 0; i < lifetimes->count; i++) {
        const struct lifetime *l = &lifetimes->at[i];
        bool survivor = born[i] == PHASE_OPTIMIZER && interval[i] != NO_ROW &&
                        l->requested >= interval_end(phases, interval[i], events);
        if (survivor &&
            !vec_push(sides, (struct side){ interval[i], false, l->bytes, l->birth, i }))
            return false;
        if (freed_by[i].n == 0 || phases->of_stack[freed_by[i].n] != PHASE_OPTIMIZER ||
            l->requested >= events)
            continue;
        uint32_t at = phases_at(phases, l->requested);
        bool old = at != NO_ROW && phases->interval[at].phase == PHASE_OPTIMIZER &&
                   l->birth < (int64_t)phases->interval[at].first_event;
        if (old && !vec_push(sides, (struct side){ at, true, l->bytes, l->requested, i }))
            return false;
    }
    return true;
}

/* One interval and size: the new ones first, then the old. */
static void join_run(const struct side *side, uint32_t len, struct replaced *to)
{
    uint32_t new = 0;
    while (new < len && !side[new].old)
        new ++;
    if (2 * new != len)
        return;
    for (uint32_t i = 0; i < new; i++) {
        to->replaces[side[i].allocation] = side[new + i].allocation + 1;
        to->replaced[side[new + i].allocation] = true;
        to->bytes += side[i].bytes;
        to->count++;
    }
}

enum vrs_status replaced_make(const struct lifetimes *lifetimes, const struct phases *phases,
                              int64_t events, const uint8_t *born, const uint32_t *interval,
                              const stack_id *freed_by, struct arena *arena, struct arena *scratch,
                              struct replaced *ret, struct vrs_error *err)
{
    struct replaced made = {
        .replaces = arena_array(arena, uint32_t, lifetimes->count),
        .replaced = arena_array(scratch, bool, lifetimes->count),
    };
    side_list sides = { .max = UINT32_MAX };
    bool room = made.replaces != NULL && made.replaced != NULL &&
                add_sides(lifetimes, phases, events, born, interval, freed_by, &sides);
    if (room && sides.len > 1)
        qsort(sides.at, sides.len, sizeof *sides.at, by_interval_and_size);
    for (uint32_t first = 0, i = 1; room && i <= sides.len; i++) {
        const struct side *run = &sides.at[first];
        if (i < sides.len && sides.at[i].interval == run->interval &&
            sides.at[i].bytes == run->bytes)
            continue;
        join_run(run, i - first, &made);
        first = i;
    }
    vec_free(&sides);
    if (!room)
        return vrs_no_memory(err);
    *ret = made;
    return VRS_OK;
}
