/* leak_lengthened.c - compares what a place made in each step with what it made in the one before.
 */
#include "analysis/snapshot/leaks/leak_lengthened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leak_class.h"
#include "analysis/snapshot/leaks/leak_moments.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/growth.h"
#include "base/radix_sort.h"
#include "base/sorted.h"
#include "base/table.h"

/* Annotations and phases tell where a step of training ends; repetition alone may see a loop. */
static bool is_asked(const struct study *s)
{
    return s->stacked && s->steps.kind == STEP_TRAINING && s->steps.source != STEPS_PERIOD &&
           s->steps.count >= GROWTH_STEPS_MIN;
}

/* The first allocation at or after an event: they stand in the order of their allocs. */
static const struct lifetime *first_from(const struct study *s, int64_t event)
{
    const struct lifetimes *l = &s->lifetimes;
    uint32_t at;
    SORTED_FIND(at, l->count, l->at[at].birth < event);
    return at == l->count ? NULL : &l->at[at];
}

/* Do the steps before two moments begin with as large a request? */
static bool begin_alike(const struct study *s, const struct leak_moments *m, uint32_t moment)
{
    const struct lifetime *now = first_from(s, m->event[moment - 1] + 1);
    const struct lifetime *then = first_from(s, m->event[moment - 2] + 1);
    return now != NULL && then != NULL && now->bytes == then->bytes;
}

/* Rows of all that is made between moments: `key` its bytes, `first` the moment behind it, `id` the
 * allocation, and in `last` the latest free of it and of those before it that are alike. */
static enum vrs_status look_at_made(const struct study *s, const struct leak_moments *m,
                                    struct leak_made *made, struct vrs_error *err)
{
    const struct lifetimes *l = &s->lifetimes;
    struct radix_room room;
    uint32_t moment = 0;
    made->row = arena_array(s->scratch, struct radix_row, l->count);
    if (made->row == NULL || !radix_room_make(&room, l->count, s->scratch))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < l->count; i++) {
        const struct lifetime *one = &l->at[i];
        while (moment < m->count && one->birth >= m->event[moment])
            moment++;
        if (one->birth >= 0 && moment != 0)
            made->row[made->rows++] =
                (struct radix_row){ one->bytes, i, moment, (uint32_t)one->freed };
    }
    made->row = radix_sort(made->row, made->rows, &room);
    for (uint32_t i = 1; i < made->rows; i++) {
        struct radix_row *row = &made->row[i];
        if (row->key == row[-1].key && row->first == row[-1].first && row->last < row[-1].last)
            row->last = row[-1].last;
    }
    return VRS_OK;
}

static bool is_ahead(const struct radix_row *row, uint64_t bytes, uint32_t moment, uint32_t id)
{
    if (row->key != bytes)
        return row->key < bytes;
    return row->first != moment ? row->first < moment : row->id < id;
}

/* Did the step before a moment make so many bytes that are there when an allocation is made? */
static bool is_put_behind(const struct study *s, const struct leak_made *made, uint32_t newest,
                          uint64_t bytes, uint32_t moment)
{
    uint32_t at;
    SORTED_FIND(at, made->rows, is_ahead(&made->row[at], bytes, moment, newest));
    const struct radix_row *row = at == 0 ? NULL : &made->row[at - 1];
    return row != NULL && row->key == bytes && row->first == moment &&
           (int64_t)row->last > s->lifetimes.at[newest].birth;
}

/* How many stays from the first on begin with the same moment, and end with it. */
static uint32_t of_one_step(const struct radix_row *stay, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && stay[count].first == stay[0].first && stay[count].last == stay[0].first)
        count++;
    return count;
}

/* Does an old one go when the new one takes its place?  Before anything else is asked for, or,
 * where the graph of the step holds it, in the backward.  A result that is larger because of what
 * it was made from goes when its name is bound anew. */
static bool is_handed_over(const struct study *s, const struct lifetime *was, uint32_t newest)
{
    const struct lifetimes *l = &s->lifetimes;
    if (newest + 1 == l->count || l->at[newest + 1].birth > was->requested)
        return true;
    uint32_t at = phases_at(&s->phases, was->requested);
    return at != NO_ROW && s->phases.interval[at].phase == PHASE_BACKWARD;
}

/* By how much longer the allocations are that a step made in the place of those of the step before;
 * 0: they are none of these. */
static uint64_t longer_by(const struct study *s, const struct leak_made *made,
                          const struct radix_row *old, uint32_t each, uint32_t moment)
{
    const struct lifetime *l = s->lifetimes.at;
    const struct radix_row *new = old + each;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < each; i++) {
        const struct lifetime *was = &l[old[i].id], *is = &l[new[i].id];
        if (is->bytes <= was->bytes || was->requested < is->birth ||
            !is_handed_over(s, was, new[each - 1].id) ||
            !is_put_behind(s, made, new[i].id, is->bytes - was->bytes, moment))
            return 0;
        sum += is->bytes - was->bytes;
    }
    return sum;
}

enum vrs_status leak_lengthened(const struct study *s, const struct leak_moments *moments,
                                struct leak_made *made, const struct radix_row *stay,
                                uint32_t count, uint64_t *ret, struct vrs_error *err)
{
    uint32_t warm = leak_warm_up(s->steps.count), before = 0;
    uint64_t grown = 0;
    *ret = 0;
    if (!is_asked(s))
        return VRS_OK;
    for (; before < count && stay[before].first < warm; before++)
        if (stay[before].last >= warm)
            return VRS_OK;
    stay += before;
    count -= before;
    uint32_t each = of_one_step(stay, count);
    if (each == 0 || stay[0].first != warm || (uint64_t)each * (moments->count - warm) != count)
        return VRS_OK;
    if (made->row == NULL)
        TRY(look_at_made(s, moments, made, err));
    for (uint32_t t = warm + 1; t < moments->count; t++, stay += each) {
        uint64_t more = longer_by(s, made, stay, each, t);
        if (of_one_step(stay + each, each) != each || stay[each].first != t ||
            !begin_alike(s, moments, t) || more == 0 || (t > warm + 1 && more != grown))
            return VRS_OK;
        grown = more;
    }
    *ret = grown;
    return VRS_OK;
}
