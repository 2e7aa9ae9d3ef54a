/* advise_copies.c - copies of the parameters: those that autocast keeps, and a second model. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/sorted.h"
#include "base/table.h"

struct casts {
    uint64_t *size;       /* of what may be parameters, sorted */
    int64_t *taken_until; /* the events that free the copies found last of a size, as a heap: the
                           * earliest stands where the size begins */
    uint32_t sizes;
};

static int by_bytes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Copies that autocast makes of parameters, half of their size, and keeps for the backward. */

/* What may be a parameter, by its size: alive from before the first step to the end. */
static uint32_t lasting_sizes(const struct advising *a, uint64_t *size)
{
    const struct study *s = a->s;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint8_t category = s->categories.of[i];
        bool lasts = l->freed == (int64_t)s->events &&
                     (category == CATEGORY_PARAMETER || category == CATEGORY_PERSISTENT ||
                      (category == CATEGORY_UNKNOWN && l->birth < 0));
        if (lasts)
            size[count++] = l->bytes;
    }
    if (count > 1)
        qsort(size, count, sizeof *size, by_bytes);
    return count;
}

/* The first of at least a size in a sorted list; `count`: none is. */
static uint32_t find_size(const uint64_t *size, uint32_t count, uint64_t bytes)
{
    uint32_t at;
    SORTED_FIND(at, count, size[at] < bytes);
    return at;
}

/* Puts another event in the place of the earliest one of a heap. */
static void replace_earliest(int64_t *heap, uint32_t len, int64_t event)
{
    uint32_t at = 0;
    for (uint32_t child = 1; child < len; child = 2 * at + 1) {
        child += child + 1 < len && heap[child + 1] < heap[child];
        if (heap[child] >= event)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = event;
}

/* Takes one of a size until it is freed: at one time there are no more copies than parameters.  The
 * copies are asked about in the order of their allocs, so what is free once stays so. */
static bool take_size(const struct casts *c, const struct lifetime *l)
{
    uint32_t at = find_size(c->size, c->sizes, 2 * l->bytes);
    if (at == c->sizes || c->size[at] != 2 * l->bytes || c->taken_until[at] > l->birth)
        return false;
    uint32_t end = at + find_size(c->size + at, c->sizes - at, 2 * l->bytes + 1);
    replace_earliest(c->taken_until + at, end - at, l->freed);
    return true;
}

/* Of a forward, and gone after it; where operators are seen, by autocast. */
static bool may_be_cast(const struct advising *a, uint32_t i)
{
    const struct study *s = a->s;
    const struct lifetime *l = &s->lifetimes.at[i];
    token_set tokens = s->tokens->of_stack[l->alloc_stack.n];
    bool seen = (tokens & TOKEN_NATIVE) != 0;
    return l->birth >= 0 && l->freed < (int64_t)s->events &&
           (seen ? (tokens & TOKEN_AUTOCAST) != 0
                 : s->phases.of_stack[l->alloc_stack.n] == PHASE_FORWARD);
}

/* Where operators are not seen, those of a forward that have half the sizes of most parameters. */
static bool judge_casts(struct advising *a, struct casts *c)
{
    const struct study *s = a->s;
    uint64_t cast = 0, lasting = 0;
    struct largest largest = { 0 };
    c->sizes = lasting_sizes(a, c->size);
    for (uint32_t i = 0; i < c->sizes; i++)
        lasting += c->size[i];
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!may_be_cast(a, i) || !take_size(c, l))
            continue;
        if (!advise_remove(a, i, l->birth, l->freed, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event))
            continue;
        cast += (s->tokens->of_stack[l->alloc_stack.n] & TOKEN_AUTOCAST) != 0 ? l->bytes : 0;
        a->now.bytes += l->bytes;
        largest_take(&largest, l->bytes, l->alloc_stack);
    }
    bool most = a->now.bytes > 0 && a->now.bytes >= percent_of(lasting / 2, CASTS_PERCENT) &&
                a->now.bytes >= percent_of(s->categories.multiset_bytes / 2, CASTS_PERCENT);
    if (cast == 0 && !most)
        return advise_silent(a,
                             "no copies that autocast makes of parameters are alive at the peak");
    a->now.source = SAVING_ESTIMATED;
    advise_event(a, a->peak_event);
    return advise_site(a, largest.stack);
}

bool advise_autocast_cache(struct advising *a)
{
    struct arena_mark mark = arena_mark(a->s->scratch);
    struct casts c = {
        .size = arena_array(a->s->scratch, uint64_t, a->s->lifetimes.count),
        .taken_until = arena_array(a->s->scratch, int64_t, a->s->lifetimes.count),
    };
    bool ok = c.size != NULL && c.taken_until != NULL && judge_casts(a, &c);
    arena_release(a->s->scratch, mark);
    return ok;
}

/* A second set of parameters that no step of the recording touches. */

static bool may_be_model(const struct advising *a, uint32_t i)
{
    const struct study *s = a->s;
    const struct lifetime *l = &s->lifetimes.at[i];
    uint8_t category = s->categories.of[i];
    return l->freed == (int64_t)s->events &&
           (category == CATEGORY_PARAMETER || category == CATEGORY_BUFFER ||
            category == CATEGORY_UNKNOWN || category == CATEGORY_PERSISTENT);
}

/* Takes one of a size of the model; false: none is left, or it has no such size. */
static bool take_of_model(const struct advising *a, uint32_t i, uint32_t *left)
{
    uint32_t entry = advise_size_of_model(&a->s->categories, a->s->lifetimes.at[i].bytes);
    if (entry == NO_ROW || left[entry] == 0)
        return false;
    left[entry]--;
    return true;
}

static void fill_model(const struct advising *a, uint32_t *left, uint32_t copies)
{
    const struct categories *c = &a->s->categories;
    for (uint32_t k = 0; k < c->multiset_entries; k++)
        left[k] = c->multiset[k].count * copies;
}

static bool claim(struct advising *a, uint32_t i, struct largest *largest)
{
    const struct lifetime *l = &a->s->lifetimes.at[i];
    a->now.bytes += l->bytes;
    largest_take(largest, l->bytes, l->alloc_stack);
    return advise_remove(a, i, l->birth, l->freed, l->bytes);
}

/* The model that is trained was made in the recording: whatever is older and has its sizes is of
 * another one, parameters as well as gradients and state. */
static bool claim_older(struct advising *a, uint32_t *left, struct largest *largest)
{
    const struct study *s = a->s;
    uint64_t made = 0, older = 0, whole = s->categories.multiset_bytes;
    fill_model(a, left, 1);
    for (uint32_t k = 0; k < a->alive.len; k++) {
        uint32_t i = a->alive.at[k];
        bool own = s->categories.of[i] == CATEGORY_PARAMETER && s->lifetimes.at[i].birth >= 0;
        made += own && take_of_model(a, i, left) ? s->lifetimes.at[i].bytes : 0;
    }
    if (made < percent_of(whole, COPY_PERCENT))
        return true;
    for (int round = 0; round < 2; round++) {
        fill_model(a, left, OLDER_COPIES_MOST);
        for (uint32_t k = 0; k < a->alive.len; k++) {
            const struct lifetime *l = &s->lifetimes.at[a->alive.at[k]];
            if (l->birth >= 0 || l->freed < (int64_t)s->events ||
                !take_of_model(a, a->alive.at[k], left))
                continue;
            older += round == 0 ? l->bytes : 0;
            if (round == 1 && !claim(a, a->alive.at[k], largest))
                return false;
        }
        if (older < percent_of(whole, COPY_PERCENT))
            return true;
    }
    return true;
}

/* The first of each size are the model's own. */
static bool claim_second(struct advising *a, uint32_t *left, struct largest *largest)
{
    const struct categories *c = &a->s->categories;
    fill_model(a, left, 2);
    for (uint32_t k = 0; k < a->alive.len; k++) {
        uint32_t i = a->alive.at[k];
        if (!may_be_model(a, i) || !take_of_model(a, i, left))
            continue;
        uint32_t entry = advise_size_of_model(c, a->s->lifetimes.at[i].bytes);
        if (left[entry] < c->multiset[entry].count && !claim(a, i, largest))
            return false;
    }
    return true;
}

static bool judge_model(struct advising *a, uint32_t *left)
{
    struct largest largest = { 0 };
    if (!claim_older(a, left, &largest))
        return false;
    if (a->now.bytes == 0 && !claim_second(a, left, &largest))
        return false;
    uint64_t least = percent_of(a->s->categories.multiset_bytes, COPY_PERCENT);
    advise_condition(a, "copy_bytes", (double)a->now.bytes, (double)least);
    if (a->now.bytes == 0 || a->now.bytes < least)
        return advise_silent(a,
                             "no second set of tensors with the sizes of the parameters is alive "
                             "over the whole recording");
    advise_event(a, a->peak_event);
    return advise_site(a, largest.stack);
}

bool advise_second_model(struct advising *a)
{
    if (a->s->categories.multiset_bytes == 0)
        return advise_silent(a, "no gradients were made, which would tell the sizes of parameters");
    struct arena_mark mark = arena_mark(a->s->scratch);
    uint32_t *left = arena_array(a->s->scratch, uint32_t, a->s->categories.multiset_entries);
    bool ok = left != NULL && judge_model(a, left);
    arena_release(a->s->scratch, mark);
    return ok;
}
