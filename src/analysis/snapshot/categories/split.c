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
    CLEAR_SIZES = 3,        /* where others disagree, so many sizes that agree */
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

/* A gradient of one parameter: not the buffer of all that some trainers make beforehand. */
static bool is_gradient(const struct split_input *in, uint32_t i)
{
    token_set made = in->tokens->of_stack[in->lifetimes->at[i].alloc_stack.n];
    return in->category[i] == CATEGORY_GRADIENT && (made & TOKEN_INIT) == 0;
}

/* The event at which the gradients alive are largest; *ret_bytes 0: there are none. */
static enum vrs_status gradient_peak(const struct split_input *in, struct arena *scratch,
                                     int64_t *ret_event, uint64_t *ret_bytes, struct vrs_error *err)
{
    uint32_t gradients = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        gradients += is_gradient(in, i);
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
        if (!is_gradient(in, i))
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

/* Gradients that hooks step as they come never live together: those that one backward bears. */
struct borne {
    uint32_t *pass; /* of each interval: how many forwards began before */
    uint32_t largest;
    uint64_t bytes; /* of the gradients born in that */
};

static bool is_borne(const struct split_input *in, const struct borne *b, uint32_t i)
{
    return is_gradient(in, i) && in->interval[i] != NO_ROW &&
           b->pass[in->interval[i]] == b->largest;
}

/* The pass that bears most bytes of gradients. */
static enum vrs_status largest_borne(const struct split_input *in, struct arena *scratch,
                                     struct borne *ret, struct vrs_error *err)
{
    uint32_t intervals = in->phases->intervals, pass = 0;
    uint64_t *bytes = arena_array(scratch, uint64_t, (size_t)intervals + 1);
    *ret = (struct borne){ .pass = arena_array(scratch, uint32_t, intervals) };
    if (bytes == NULL || ret->pass == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < intervals; i++) {
        pass += in->phases->interval[i].phase == PHASE_FORWARD;
        ret->pass[i] = pass;
    }
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        if (!is_gradient(in, i) || in->interval[i] == NO_ROW)
            continue;
        pass = ret->pass[in->interval[i]];
        if (pass == 0) /* none is known to have begun: there may be many */
            continue;
        bytes[pass] += in->lifetimes->at[i].bytes;
        if (bytes[pass] <= ret->bytes)
            continue;
        ret->bytes = bytes[pass];
        ret->largest = pass;
    }
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

/* What an optimizer makes with one line in one go through its parameters; NO_ROW: nothing. */
struct going {
    uint32_t interval;
    stack_id stack;
};

/* The one of most bytes.  Allocations seen stand in the order of their intervals. */
static enum vrs_status largest_going(const struct split_input *in, struct arena *scratch,
                                     struct going *ret, struct vrs_error *err)
{
    uint64_t *bytes = arena_array(scratch, uint64_t, in->stacks), most = 0;
    uint32_t *interval = arena_array(scratch, uint32_t, in->stacks);
    *ret = (struct going){ .interval = NO_ROW };
    if (bytes == NULL || interval == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        uint32_t stack = in->lifetimes->at[i].alloc_stack.n;
        if (in->category[i] != CATEGORY_OPTIMIZER_TEMP || in->interval[i] == NO_ROW)
            continue;
        if (interval[stack] != in->interval[i])
            bytes[stack] = 0;
        interval[stack] = in->interval[i];
        bytes[stack] += in->lifetimes->at[i].bytes;
        if (bytes[stack] <= most)
            continue;
        most = bytes[stack];
        *ret = (struct going){ in->interval[i], { stack } };
    }
    return VRS_OK;
}

static bool began_backward(const struct split_input *in, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        if (in->phases->interval[i].phase == PHASE_BACKWARD)
            return true;
    return false;
}

enum vrs_status split_multiset(const struct split_input *in, struct arena *arena,
                               struct arena *scratch, struct split *ret, struct vrs_error *err)
{
    struct split s = { .multiset = NULL };
    int64_t event = 0;
    uint64_t bytes = 0, accumulated = 0;
    uint32_t busiest = NO_ROW, members = 0;
    struct going going = { .interval = NO_ROW };
    struct borne borne;
    TRY(gradient_peak(in, scratch, &event, &bytes, err));
    TRY(largest_borne(in, scratch, &borne, err));
    TRY(busiest_interval(in, scratch, &busiest, &accumulated, err));
    bool *member = arena_array(scratch, bool, in->lifetimes->count);
    if (member == NULL)
        return vrs_no_memory(err);
    if (bytes == 0 && busiest == NO_ROW)
        TRY(largest_going(in, scratch, &going, err));
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        const struct lifetime *l = &in->lifetimes->at[i];
        if (bytes != 0 && borne.bytes / 2 >= bytes)
            member[i] = is_borne(in, &borne, i);
        else if (bytes != 0)
            member[i] = is_gradient(in, i) && lifetime_alive(l, event);
        else if (busiest != NO_ROW)
            member[i] = accumulated_in(in, i) == busiest;
        else
            member[i] = going.interval != NO_ROW && in->interval[i] == going.interval &&
                        l->alloc_stack.n == going.stack.n;
        member[i] = member[i] && l->bytes != 0;
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
    s.by_optimizer = going.interval != NO_ROW;
    /* Where a backward bears no gradient before an optimizer runs, there were gradients already. */
    s.accumulated = accumulated > s.multiset_bytes / 2 ||
                    (going.interval != NO_ROW && began_backward(in, going.interval));
    *ret = s;
    return VRS_OK;
}

/* What of the memory older than the recording is counted as copies: at first what lives on to the
 * end or is replaced by an optimizer, then also what is freed by others than the engine. */
enum counted { COUNTED_SURVIVORS, COUNTED_FREED_TOO, COUNTED };

/* May it be a copy: does no rule say that it is something else? */
static bool may_be_copy(const struct split_input *in, uint32_t i, enum counted counted)
{
    const uint32_t open = 1u << CATEGORY_UNKNOWN | 1u << CATEGORY_PERSISTENT |
                          1u << CATEGORY_PARAMETER | 1u << CATEGORY_BUFFER |
                          1u << CATEGORY_GRADIENT | 1u << CATEGORY_OPTIMIZER_STATE;
    const struct lifetime *l = &in->lifetimes->at[i];
    if ((open >> in->category[i] & 1) == 0)
        return false;
    if (l->requested >= in->events || in->replaced[i])
        return true;
    /* Gradients that are freed are known already. */
    if (counted == COUNTED_SURVIVORS || in->category[i] == CATEGORY_GRADIENT)
        return false;
    uint8_t phase = PHASE_OTHER;
    uint32_t interval = phases_at(in->phases, l->requested);
    if (in->freed_by[i].n != 0)
        phase = in->phases->of_stack[in->freed_by[i].n];
    else if (interval != NO_ROW)
        phase = in->phases->interval[interval].phase;
    return phase != PHASE_BACKWARD && phase != PHASE_RECOMPUTE;
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
    uint32_t sizes;
};

static int by_times(const void *a, const void *b)
{
    const struct fit *x = a, *y = b;
    return (x->times > y->times) - (x->times < y->times);
}

/* 95 of 100 parts, without a product that overflows. */
static bool nearly_all(const struct split *s, uint64_t bytes)
{
    uint64_t part = s->multiset_bytes / 100;
    return bytes != 0 && bytes >= s->multiset_bytes - part * (100 - AGREEMENT_PERCENT);
}

/* Who has to agree: all but those of which there is more, or most. */
enum agreed { AGREED_BY_ALL, AGREED_BY_MOST, AGREED };

/* How often the multiset fits; 0 where sizes disagree.  A size of which there is more has other
 * tensors too, frozen weights or outputs that are kept: it does not contradict what most sizes say.
 * One of which there is less had no gradient: something else that outlived a backward has its size.
 */
static uint32_t fits(const struct split *s, const uint32_t *found, enum agreed strict,
                     struct fit *fit)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < s->sizes; i++)
        if (found[i] != 0 && found[i] % s->multiset[i].count == 0)
            fit[len++] = (struct fit){ found[i] / s->multiset[i].count,
                                       s->multiset[i].bytes * s->multiset[i].count, 1 };
    if (len > 1)
        qsort(fit, len, sizeof *fit, by_times);
    struct fit best = { 0, 0, 0 };
    for (uint32_t i = 0; i < len; i++) {
        if (i > 0 && fit[i].times == fit[i - 1].times) {
            fit[i].bytes += fit[i - 1].bytes;
            fit[i].sizes += fit[i - 1].sizes;
        }
        if (fit[i].bytes > best.bytes)
            best = fit[i];
    }
    if (nearly_all(s, best.bytes))
        return (uint32_t)best.times;
    uint64_t rest = s->multiset_bytes - best.bytes;
    if (best.sizes < CLEAR_SIZES)
        return 0;
    if (strict == AGREED_BY_MOST)
        return best.bytes / 3 >= rest / 2 ? (uint32_t)best.times : 0;
    if (best.bytes / 2 < rest)
        return 0;
    uint64_t more = 0;
    for (uint32_t i = 0; i < s->sizes; i++)
        if (found[i] / s->multiset[i].count > best.times ||
            (found[i] / s->multiset[i].count == best.times && found[i] % s->multiset[i].count != 0))
            more += s->multiset[i].bytes * s->multiset[i].count;
    return nearly_all(s, best.bytes + more) ? (uint32_t)best.times : 0;
}

/* What is still to be given out of one size. */
struct quota {
    uint32_t parameter, gradient, state, copy;
};

/* An optimizer keeps no more tensors for a parameter, AMSGrad aside. */
enum { STATES_MOST = 2 };

static uint32_t *quota_of(struct quota *q, enum category category)
{
    return category == CATEGORY_PARAMETER         ? &q->parameter
           : category == CATEGORY_GRADIENT        ? &q->gradient
           : category == CATEGORY_OPTIMIZER_STATE ? &q->state
                                                  : &q->copy;
}

static void add_bytes(struct split *s, enum category category, uint64_t bytes)
{
    uint64_t *to = category == CATEGORY_PARAMETER         ? &s->parameter_bytes
                   : category == CATEGORY_GRADIENT        ? &s->gradient_bytes
                   : category == CATEGORY_OPTIMIZER_STATE ? &s->optimizer_state_bytes
                                                          : &s->parameter_copy_bytes;
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

/* How the multiset was found to fit. */
struct fitting {
    enum scale scale;
    enum counted counted;
};

/* The row of what may be a copy; NO_ROW: none. */
static uint32_t row_of(const struct split_input *in, const struct split *s, struct fitting fitting,
                       uint32_t i)
{
    if (!may_be_copy(in, i, fitting.counted))
        return NO_ROW;
    return find_row(s, fitting.scale, in->lifetimes->at[i].bytes);
}

/* First what is known, then the rest in its order. */
static void hand_out(const struct split_input *in, struct fitting fitting, struct quota *quota,
                     bool several, struct split *s)
{
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k], row = row_of(in, s, fitting, i);
        enum category known = known_copy(in, i);
        if (row != NO_ROW && known != CATEGORY_UNKNOWN)
            give(in, s, &quota[row], i, known);
    }
    static const enum category order[] = { CATEGORY_PARAMETER, CATEGORY_GRADIENT,
                                           CATEGORY_OPTIMIZER_STATE, CATEGORY_PARAMETER_COPY };
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        uint32_t row = s->in_copy[i] ? NO_ROW : row_of(in, s, fitting, i);
        if (row == NO_ROW)
            continue;
        for (size_t c = 0; c < sizeof order / sizeof *order && !s->in_copy[i]; c++)
            give(in, s, &quota[row], i, order[c]);
        s->undecided[i] = several;
    }
}

/* What no copy took, one by one: small ones are buffers, unless they are more than a copy: then
 * there are frozen weights among them. */
static void give_remainder(const struct split_input *in, struct split *s)
{
    uint64_t rest = 0;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        if (!s->in_copy[i] && in->lifetimes->at[i].origin == ORIGIN_PRE_LIVE &&
            in->lifetimes->at[i].bytes <= BUFFER_BYTES)
            rest += in->lifetimes->at[i].bytes;
    }
    if (rest > s->multiset_bytes)
        return;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        const struct lifetime *l = &in->lifetimes->at[i];
        if (!s->in_copy[i] && !s->undecided[i] && l->origin == ORIGIN_PRE_LIVE &&
            l->bytes <= BUFFER_BYTES)
            s->of[i] = CATEGORY_BUFFER;
    }
}

static void clear(const struct split *s, uint32_t *found)
{
    for (uint32_t i = 0; i < s->sizes; i++)
        found[i] = 0;
}

/* Gradients of an earlier step that zero_grad frees are a copy of their own, where all are there.
 */
static void take_out_gradients(const struct split_input *in, uint32_t *found, struct split *s)
{
    uint64_t bytes = 0;
    for (int pass = 0; pass < 2; pass++) {
        clear(s, found);
        for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
            uint32_t i = in->lifetimes->older[k];
            const struct lifetime *l = &in->lifetimes->at[i];
            if (in->category[i] != CATEGORY_GRADIENT || l->requested >= in->events)
                continue;
            uint32_t row = find_row(s, SCALE_ONE, l->bytes);
            if (row == NO_ROW || found[row]++ >= s->multiset[row].count)
                continue;
            bytes += pass == 0 ? l->bytes : 0;
            if (pass == 0)
                continue;
            s->in_copy[i] = true;
            s->of[i] = CATEGORY_GRADIENT;
            s->gradient_bytes += l->bytes;
        }
        if (!nearly_all(s, bytes))
            return;
    }
    s->copies++;
}

/* Gradients that live on are added to in place, or known by a rule. */
static bool has_old_gradients(const struct split_input *in, const struct split *s,
                              struct fitting fitting)
{
    uint64_t freed = 0;
    for (uint32_t i = 0; i < in->lifetimes->count; i++)
        if (in->category[i] == CATEGORY_GRADIENT && in->lifetimes->at[i].requested < in->events)
            freed += in->lifetimes->at[i].bytes;
    /* Added to in place and then freed, they are born again in each step. */
    if (s->accumulated && freed < s->multiset_bytes / 2)
        return true;
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t i = in->lifetimes->older[k];
        if (in->category[i] == CATEGORY_GRADIENT && row_of(in, s, fitting, i) != NO_ROW)
            return true;
    }
    return false;
}

/* An optimizer that makes its state in the recording had none before. */
static bool makes_state(const struct split_input *in, const struct split *s, enum scale scale,
                        uint32_t *made)
{
    uint64_t bytes = 0;
    clear(s, made);
    for (uint32_t i = 0; i < in->lifetimes->count; i++) {
        const struct lifetime *l = &in->lifetimes->at[i];
        if (l->birth < 0 || in->category[i] != CATEGORY_OPTIMIZER_STATE || in->replaces[i] != 0)
            continue;
        uint32_t row = find_row(s, scale, l->bytes);
        if (row != NO_ROW && made[row]++ < s->multiset[row].count)
            bytes += s->multiset[row].bytes;
    }
    return nearly_all(s, bytes);
}

static void count_found(const struct split_input *in, const struct split *s, struct fitting fitting,
                        uint32_t *found)
{
    clear(s, found);
    for (uint32_t k = 0; k < in->lifetimes->older_count; k++) {
        uint32_t row = row_of(in, s, fitting, in->lifetimes->older[k]);
        if (row != NO_ROW)
            found[row]++;
    }
}

/* The first way to count under which the multiset fits; how often, 0: under none. */
static uint32_t fit_copies(const struct split_input *in, const struct split *s, uint32_t *found,
                           struct fit *fit, struct fitting *ret)
{
    for (int agreed = 0; agreed < AGREED; agreed++)
        for (int counted = 0; counted < (agreed == AGREED_BY_ALL ? COUNTED : 1); counted++)
            for (int scale = 0; scale < SCALES; scale++) {
                *ret = (struct fitting){ (enum scale)scale, (enum counted)counted };
                count_found(in, s, *ret, found);
                uint32_t copies = fits(s, found, (enum agreed)agreed, fit);
                if (copies != 0)
                    return copies;
            }
    return 0;
}

/* One copy is the parameters, one the gradients if they are among them, two are state. */
static void fill_quota(const struct split *s, const uint32_t *found, uint32_t copies,
                       bool gradients, bool new_state, struct quota *quota)
{
    for (uint32_t i = 0; i < s->sizes; i++) {
        uint64_t count = s->multiset[i].count, whole = found[i] / copies;
        /* Fewer than the gradients of this size: not all of those were gradients. */
        count = whole != 0 && whole < count ? whole : count;
        uint64_t left = count * copies < found[i] ? count * copies : found[i];
        uint64_t parameter = left < count ? left : count;
        left -= parameter;
        uint64_t gradient = !gradients ? 0 : left < count ? left : count;
        left -= gradient;
        uint64_t most = new_state ? 0 : count * STATES_MOST;
        uint64_t state = left < most ? left : most;
        /* Beside an optimizer that makes its state anew, copies may be the state of one before it,
         * where they are no more than that: else another model is there. */
        uint64_t copy = new_state && left <= count * STATES_MOST ? 0 : left - state;
        quota[i] = (struct quota){ (uint32_t)parameter, (uint32_t)gradient, (uint32_t)state,
                                   (uint32_t)copy };
    }
}

enum vrs_status split_copies(const struct split_input *in, struct arena *arena,
                             struct arena *scratch, struct split *s, struct vrs_error *err)
{
    uint32_t *found = arena_array(scratch, uint32_t, s->sizes);
    struct fit *fit = arena_array(scratch, struct fit, s->sizes);
    struct quota *quota = arena_array(scratch, struct quota, s->sizes);
    struct fitting fitting = { SCALE_ONE, COUNTED_SURVIVORS };
    s->of = arena_array(scratch, uint8_t, in->lifetimes->count);
    s->in_copy = arena_array(arena, bool, in->lifetimes->count);
    s->undecided = arena_array(scratch, bool, in->lifetimes->count);
    if (found == NULL || fit == NULL || quota == NULL || s->of == NULL || s->in_copy == NULL ||
        s->undecided == NULL)
        return vrs_no_memory(err);
    uint32_t *made = arena_array(scratch, uint32_t, s->sizes);
    if (made == NULL)
        return vrs_no_memory(err);
    uint32_t copies = fit_copies(in, s, found, fit, &fitting);
    if (copies != 0) {
        s->copies = copies;
        bool gradients = has_old_gradients(in, s, fitting) && copies > 1;
        fill_quota(s, found, copies, gradients, makes_state(in, s, fitting.scale, made), quota);
        hand_out(in, fitting, quota, copies > 1, s);
    }
    take_out_gradients(in, found, s);
    if (copies != 0)
        give_remainder(in, s);
    if (copies == 0 && s->by_optimizer) {
        /* Nothing says that they are the sizes of all parameters. */
        s->sizes = 0;
        s->multiset_bytes = 0;
    }
    return VRS_OK;
}
