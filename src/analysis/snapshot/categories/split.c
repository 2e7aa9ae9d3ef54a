/* split.c - the multiset of gradients, and how often it fits into older memory. */
#include "analysis/snapshot/categories/split.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/table.h"

enum {
    AGREEMENT_PERCENT = 95, /* of the multiset's bytes must fit equally often */
    BUFFER_BYTES = 1 << 20  /* a block left over is a buffer up to here */
};

static int by_size(const void *a, const void *b)
{
    const struct size_count *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Sorts rows by size and adds up those of one size; how many are left. */
static uint32_t join_sizes(struct size_count *at, uint32_t len)
{
    uint32_t kept = 0;
    if (len > 1)
        qsort(at, len, sizeof *at, by_size);
    for (uint32_t i = 0; i < len; i++) {
        if (kept > 0 && at[kept - 1].bytes == at[i].bytes)
            at[kept - 1].count += at[i].count;
        else
            at[kept++] = at[i];
    }
    return kept;
}

/* The event at which the gradients alive are largest; *ret_bytes 0: there are none. */
static enum vrs_status gradient_peak(const struct split_input *in, struct arena *scratch,
                                     int64_t *ret_event, uint64_t *ret_bytes, struct vrs_error *err)
{
    uint32_t gradients = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        gradients += in->category[i] == CATEGORY_GRADIENT;
    *ret_bytes = 0;
    *ret_event = -1;
    if (gradients == 0)
        return VRS_OK;
    /* delta[i + 1] is what event i changes; sums may wrap, and come out right where they fit. */
    struct arena_mark mark = arena_mark(scratch);
    uint64_t *delta = arena_array(scratch, uint64_t, (size_t)in->events + 2);
    if (delta == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        const struct lifetime *l = &in->lifetimes->at[i];
        if (in->category[i] != CATEGORY_GRADIENT)
            continue;
        delta[l->birth + 1] += l->bytes;
        delta[l->freed + 1] -= l->bytes;
    }
    uint64_t sum = 0;
    for (int64_t i = -1; i < in->events; i++) {
        sum += delta[i + 1];
        if (sum > *ret_bytes && sum <= INT64_MAX) {
            *ret_bytes = sum;
            *ret_event = i;
        }
    }
    arena_release(scratch, mark);
    return VRS_OK;
}

/* Freed under AccumulateGrad, the interval of its free; NO_ROW: not so. */
static uint32_t accumulated_in(const struct split_input *in, uint32_t i)
{
    const struct lifetime *l = &in->lifetimes->at[i];
    bool added = l->birth >= 0 && l->requested < in->events &&
                 (in->tokens->of_stack[in->freed_by[i].n] & TOKEN_ACCUMULATE) != 0;
    return added ? phases_at(in->phases, l->requested) : NO_ROW;
}

/* The interval in which most bytes are added to gradients in place; NO_ROW: none.  A gradient that
 * is freed there because a copy of it was made was not added to anything. */
static enum vrs_status busiest_interval(const struct split_input *in, struct arena *scratch,
                                        uint32_t *ret, uint64_t *ret_bytes, struct vrs_error *err)
{
    uint64_t *freed = arena_array(scratch, uint64_t, in->phases->intervals);
    uint64_t *made = arena_array(scratch, uint64_t, in->phases->intervals);
    if (freed == NULL || made == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        const struct lifetime *l = &in->lifetimes->at[i];
        uint32_t interval = accumulated_in(in, i);
        if (interval != NO_ROW)
            freed[interval] += l->bytes;
        if (in->interval[i] != NO_ROW &&
            (in->tokens->of_stack[l->alloc_stack.n] & TOKEN_ACCUMULATE) != 0)
            made[in->interval[i]] += l->bytes;
    }
    *ret = NO_ROW;
    *ret_bytes = 0;
    for (uint32_t i = 0; i < in->phases->intervals; i++)
        if (freed[i] > made[i] && freed[i] - made[i] > *ret_bytes) {
            *ret = i;
            *ret_bytes = freed[i] - made[i];
        }
    return VRS_OK;
}

enum vrs_status split_multiset(const struct split_input *in, struct arena *arena,
                               struct arena *scratch, struct split *ret, struct vrs_error *err)
{
    struct split s = { .multiset = NULL };
    int64_t event = 0;
    uint64_t bytes = 0, accumulated = 0;
    uint32_t busiest = NO_ROW, members = 0;
    TRY(gradient_peak(in, scratch, &event, &bytes, err));
    TRY(busiest_interval(in, scratch, &busiest, &accumulated, err));
    bool *member = arena_array(scratch, bool, in->lifetimes->count);
    if (member == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        member[i] = bytes != 0 ? in->category[i] == CATEGORY_GRADIENT &&
                                     lifetime_alive(&in->lifetimes->at[i], event)
                               : busiest != NO_ROW && accumulated_in(in, i) == busiest;
        member[i] = member[i] && in->lifetimes->at[i].bytes != 0;
        members += member[i];
    }
    s.multiset = arena_array(arena, struct size_count, members);
    if (s.multiset == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        if (!member[i])
            continue;
        s.multiset[s.sizes++] = (struct size_count){ in->lifetimes->at[i].bytes, 1 };
        s.multiset_bytes += in->lifetimes->at[i].bytes;
    }
    s.sizes = join_sizes(s.multiset, s.sizes);
    s.accumulated = accumulated > s.multiset_bytes / 2;
    *ret = s;
    return VRS_OK;
}

/* May what is older than the recording be a copy: does no rule say that it is something else? */
static bool may_be_copy(const struct split_input *in, uint32_t i)
{
    const uint32_t open = 1u << CATEGORY_UNKNOWN | 1u << CATEGORY_PERSISTENT |
                          1u << CATEGORY_PARAMETER | 1u << CATEGORY_BUFFER |
                          1u << CATEGORY_GRADIENT | 1u << CATEGORY_OPTIMIZER_STATE;
    return (open >> in->category[i] & 1) != 0;
}

/* Sizes of the multiset may stand doubled or halved where precision is mixed. */
enum scale { SCALE_ONE, SCALE_DOUBLE, SCALE_HALF, SCALES };

static uint64_t scaled(uint64_t bytes, enum scale scale)
{
    if (scale == SCALE_DOUBLE)
        return bytes <= UINT64_MAX / 2 ? bytes * 2 : 0;
    return scale == SCALE_HALF ? bytes / 2 : bytes;
}

/* The row of the multiset that a size belongs to under a scale; NO_ROW: none. */
static uint32_t find_row(const struct split *s, enum scale scale, uint64_t bytes)
{
    uint32_t row;
    SORTED_FIND(row, s->sizes, scaled(s->multiset[row].bytes, scale) < bytes);
    bool found = row < s->sizes && scaled(s->multiset[row].bytes, scale) == bytes;
    return found && bytes != 0 ? row : NO_ROW;
}

struct fit {
    uint64_t times, bytes;
};

static int by_times(const void *a, const void *b)
{
    const struct fit *x = a, *y = b;
    return (x->times > y->times) - (x->times < y->times);
}

/* How often the multiset fits; 0 where sizes disagree. */
static uint32_t fits(const struct split *s, const uint32_t *found, struct fit *fit)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < s->sizes; i++)
        if (found[i] != 0 && found[i] % s->multiset[i].count == 0)
            fit[len++] = (struct fit){ found[i] / s->multiset[i].count,
                                       s->multiset[i].bytes * s->multiset[i].count };
    if (len > 1)
        qsort(fit, len, sizeof *fit, by_times);
    struct fit best = { 0, 0 };
    for (uint32_t i = 0; i < len; i++) {
        if (i > 0 && fit[i].times == fit[i - 1].times)
            fit[i].bytes += fit[i - 1].bytes;
        if (fit[i].bytes > best.bytes)
            best = fit[i];
    }
    /* 95 of 100 parts, without a product that overflows. */
    uint64_t part = s->multiset_bytes / 100;
    bool agreed = best.bytes >= s->multiset_bytes - part * (100 - AGREEMENT_PERCENT);
    return best.bytes != 0 && agreed ? (uint32_t)best.times : 0;
}

/* What is still to be given out of one size. */
struct quota {
    uint32_t parameter, gradient, state;
};

static uint32_t *quota_of(struct quota *q, enum category category)
{
    return category == CATEGORY_PARAMETER  ? &q->parameter
           : category == CATEGORY_GRADIENT ? &q->gradient
                                           : &q->state;
}

static void add_bytes(struct split *s, enum category category, uint64_t bytes)
{
    uint64_t *to = category == CATEGORY_PARAMETER  ? &s->parameter_bytes
                   : category == CATEGORY_GRADIENT ? &s->gradient_bytes
                                                   : &s->optimizer_state_bytes;
    *to += bytes;
}

/* What is known of a copy beforehand: by a rule, or because an optimizer replaces it. */
static enum category known_copy(const struct split_input *in, uint32_t i)
{
    enum category c = (enum category)in->category[i];
    if (c == CATEGORY_PARAMETER || c == CATEGORY_GRADIENT || c == CATEGORY_OPTIMIZER_STATE)
        return c;
    return in->replaced[i] ? CATEGORY_OPTIMIZER_STATE : CATEGORY_UNKNOWN;
}

static void give(const struct split_input *in, struct split *s, struct quota *q, uint32_t i,
                 enum category category)
{
    uint32_t *left = quota_of(q, category);
    if (*left == 0)
        return;
    --*left;
    s->of[i] = (uint8_t)category;
    s->in_copy[i] = true;
    add_bytes(s, category, in->lifetimes->at[i].bytes);
}

/* First what is known, then the rest in its order. */
static void hand_out(const struct split_input *in, enum scale scale, struct quota *quota,
                     bool several, struct split *s)
{
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        if (!may_be_copy(in, i))
            continue;
        uint32_t row = find_row(s, scale, in->lifetimes->at[i].bytes);
        enum category known = known_copy(in, i);
        if (row != NO_ROW && known != CATEGORY_UNKNOWN)
            give(in, s, &quota[row], i, known);
    }
    static const enum category order[] = { CATEGORY_PARAMETER, CATEGORY_GRADIENT,
                                           CATEGORY_OPTIMIZER_STATE };
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        if (!may_be_copy(in, i) || s->in_copy[i])
            continue;
        uint32_t row = find_row(s, scale, in->lifetimes->at[i].bytes);
        for (size_t c = 0; row != NO_ROW && c < sizeof order / sizeof *order && !s->in_copy[i]; c++)
            give(in, s, &quota[row], i, order[c]);
        s->undecided[i] = s->in_copy[i] && several;
    }
}

/* What no copy took, one by one. */
static void give_remainder(const struct split_input *in, struct split *s)
{
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        const struct lifetime *l = &in->lifetimes->at[i];
        if (!s->in_copy[i] && l->origin == ORIGIN_PRE_LIVE && l->bytes <= BUFFER_BYTES)
            s->of[i] = CATEGORY_BUFFER;
    }
}

/* Are gradients of an earlier step among what is older? */
static bool has_old_gradients(const struct split_input *in, const struct split *s, enum scale scale)
{
    if (s->accumulated)
        return true;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        if (in->category[i] == CATEGORY_GRADIENT &&
            find_row(s, scale, in->lifetimes->at[i].bytes) != NO_ROW)
            return true;
    }
    return false;
}

static void count_found(const struct split_input *in, const struct split *s, enum scale scale,
                        uint32_t *found)
{
    for (uint32_t i = 0; i < s->sizes; i++)
        found[i] = 0;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        uint32_t row = may_be_copy(in, i) ? find_row(s, scale, in->lifetimes->at[i].bytes) : NO_ROW;
        if (row != NO_ROW)
            found[row]++;
    }
}

enum vrs_status split_copies(const struct split_input *in, struct arena *arena,
                             struct arena *scratch, struct split *s, struct vrs_error *err)
{
    uint32_t *found = arena_array(scratch, uint32_t, s->sizes);
    struct fit *fit = arena_array(scratch, struct fit, s->sizes);
    struct quota *quota = arena_array(scratch, struct quota, s->sizes);
    s->of = arena_array(scratch, uint8_t, in->lifetimes->count);
    s->in_copy = arena_array(arena, bool, in->lifetimes->count);
    s->undecided = arena_array(scratch, bool, in->lifetimes->count);
    if (found == NULL || fit == NULL || quota == NULL || s->of == NULL || s->in_copy == NULL ||
        s->undecided == NULL)
        return vrs_no_memory(err);
    int scale = SCALE_ONE;
    for (; scale < SCALES && s->copies == 0; scale++) {
        count_found(in, s, (enum scale)scale, found);
        s->copies = fits(s, found, fit);
    }
    if (s->copies == 0)
        return VRS_OK;
    enum scale fitting = (enum scale)(scale - 1);
    bool gradients = has_old_gradients(in, s, fitting);
    for (uint32_t i = 0; i < s->sizes; i++) {
        uint64_t count = s->multiset[i].count, all = count * s->copies;
        /* A single copy whose gradients zero_grad frees is those gradients. */
        bool only = gradients && s->copies == 1 && !s->accumulated;
        quota[i].parameter = only ? 0 : (uint32_t)count;
        quota[i].gradient = only || (gradients && s->copies > 1) ? (uint32_t)count : 0;
        all = all < found[i] ? all : found[i];
        uint64_t first = (uint64_t)quota[i].parameter + quota[i].gradient;
        quota[i].state = all > first ? (uint32_t)(all - first) : 0;
    }
    hand_out(in, fitting, quota, s->copies > 1, s);
    give_remainder(in, s);
    return VRS_OK;
}
