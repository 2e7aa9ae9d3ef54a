/* advise_join.c - what several rules say together: one fix for a cause, and the joint saving. */
#include "analysis/snapshot/advise/advise_join.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"

static int by_allocation(const void *a, const void *b)
{
    const struct removal *x = a, *y = b;
    if (x->allocation != y->allocation)
        return x->allocation < y->allocation ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* One fix for a cause: of rules that claim the same bytes at the same line the one that saves more
 * speaks. */

/* Bytes of the allocations that both would take away, each by its largest removal; both lists are
 * sorted by allocation. */
static uint64_t common_bytes(const removal_vec *x, const removal_vec *y)
{
    uint64_t bytes = 0;
    uint32_t i = 0, k = 0;
    while (i < x->len && k < y->len) {
        uint32_t left = x->at[i].allocation, right = y->at[k].allocation;
        if (left != right || left == NO_ROW) {
            i += left <= right;
            k += right < left;
            continue;
        }
        uint64_t most = 0;
        for (; i < x->len && x->at[i].allocation == left; i++)
            most = x->at[i].bytes > most ? x->at[i].bytes : most;
        uint64_t other = 0;
        for (; k < y->len && y->at[k].allocation == left; k++)
            other = y->at[k].bytes > other ? y->at[k].bytes : other;
        bytes += most < other ? most : other;
    }
    return bytes;
}

static bool is_same_cause(const struct rule_answer *x, const struct rule_answer *y)
{
    const struct advice *a = &x->advice, *b = &y->advice;
    if (!a->has_site || !b->has_site || !str_equal(a->site.culprit, b->site.culprit) ||
        !str_equal(a->site.owner, b->site.owner))
        return false;
    uint64_t smaller = common_bytes(&x->removals, &x->removals);
    uint64_t other = common_bytes(&y->removals, &y->removals);
    smaller = other < smaller ? other : smaller;
    return smaller > 0 && common_bytes(&x->removals, &y->removals) >= smaller / 2;
}

/* What grows without end, before what is large; else the one that saves more; of such that save
 * about as much the one that mends the cause. */
static bool is_better(const struct rule_answer *x, const struct advice_entry *first,
                      const struct rule_answer *y, const struct advice_entry *second)
{
    uint64_t left = x->advice.saving_bytes, right = y->advice.saving_bytes;
    if (first->severity != second->severity)
        return first->severity < second->severity;
    if (first->at_root != second->at_root)
        return first->at_root ? left >= percent_of(right, ABOUT_PERCENT)
                              : percent_of(left, ABOUT_PERCENT) > right;
    return left >= right;
}

static void drop_double(struct rule_answer *answer, uint32_t answers)
{
    for (uint32_t i = 0; i < answers; i++)
        if (answer[i].clause == NULL && answer[i].removals.len > 1)
            qsort(answer[i].removals.at, answer[i].removals.len, sizeof *answer[i].removals.at,
                  by_allocation);
    for (uint32_t i = 0; i < answers; i++) {
        for (uint32_t k = i + 1; k < answers && answer[i].clause == NULL; k++) {
            if (answer[k].clause != NULL || !is_same_cause(&answer[i], &answer[k]))
                continue;
            bool first = is_better(&answer[i], &advice_entries[i], &answer[k], &advice_entries[k]);
            answer[first ? k : i].clause = "another rule names the same bytes at the same line";
        }
    }
}

/* The line to act at. */

/* Does one line of the user's hold most of the peak, and stand for several lines below it? */
static enum vrs_status is_hiding(const struct advising *a, str culprit, bool *ret,
                                 struct vrs_error *err)
{
    const struct study *s = a->s;
    uint64_t all = 0, under = 0;
    str owner = { NULL, 0 };
    bool several = false;
    for (uint32_t i = 0; i < a->alive.len; i++) {
        const struct lifetime *l = &s->lifetimes.at[a->alive.at[i]];
        struct stack_names names;
        TRY(naming_of(s->naming, l->alloc_stack, &names, err));
        all += l->bytes;
        if (!str_equal(names.culprit, culprit))
            continue;
        under += l->bytes;
        several = several || (owner.ptr != NULL && !str_equal(owner, names.owner));
        owner = names.owner;
    }
    *ret = several && under > percent_of(all, HIDING_PERCENT);
    return VRS_OK;
}

static enum vrs_status choose_line(const struct advising *a, const struct advice_entry *entry,
                                   struct advice *advice, struct vrs_error *err)
{
    if (!advice->has_site || str_equal(advice->site.culprit, advice->site.owner))
        return VRS_OK;
    advice->at_owner = entry->at_owner;
    return advice->at_owner ? VRS_OK : is_hiding(a, advice->site.culprit, &advice->at_owner, err);
}

/* The joint saving. */

typedef VEC(int64_t) edge_vec;

static int by_event(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The most that one of `count` removals takes from an allocation between two events. */
static uint64_t most_between(const struct removal *r, uint32_t count, int64_t from, int64_t to)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (r[i].from <= from && to <= r[i].to && r[i].bytes > most)
            most = r[i].bytes;
    return most;
}

/* Removals from one allocation: its bytes go once.  Pieces between the events at which some removal
 * begins or ends take their place.  `edge` is for these events. */
static bool take_once(const struct removal *r, uint32_t count, edge_vec *edge, removal_vec *to)
{
    edge->len = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!vec_push(edge, r[i].from) || !vec_push(edge, r[i].to))
            return false;
    qsort(edge->at, edge->len, sizeof *edge->at, by_event);
    for (uint32_t i = 0; i + 1 < edge->len; i++) {
        int64_t from = edge->at[i], until = edge->at[i + 1];
        uint64_t bytes = most_between(r, count, from, until);
        struct removal piece = { from, until, bytes, r->allocation };
        if (from < until && bytes > 0 && !vec_push(to, piece))
            return false;
    }
    return true;
}

/* Several rules may be about the same bytes. */
static bool take_all_once(const removal_vec *joint, removal_vec *to)
{
    edge_vec edge = { .max = UINT32_MAX };
    bool ok = true;
    if (joint->len > 1)
        qsort(joint->at, joint->len, sizeof *joint->at, by_allocation);
    for (uint32_t i = 0, count; ok && i < joint->len; i += count) {
        const struct removal *r = &joint->at[i];
        count = 1;
        while (r->allocation != NO_ROW && i + count < joint->len &&
               r[count].allocation == r->allocation)
            count++;
        ok = count == 1 ? vec_push(to, *r) : take_once(r, count, &edge, to);
    }
    vec_free(&edge);
    return ok;
}

static bool join(const struct advising *a, const removal_vec *joint, struct advise *ret)
{
    removal_vec once = { .max = UINT32_MAX };
    const removal_vec *removals = ret->joint_rules > 1 ? &once : joint;
    if (ret->joint_rules > 1 && !take_all_once(joint, &once)) {
        vec_free(&once);
        return false;
    }
    struct counterfactual_peak peak = { a->peak_bytes, a->peak_event };
    if (removals->len > 0)
        peak = counterfactual_without(a->c, removals->at, removals->len);
    vec_free(&once);
    ret->joint_peak_bytes = peak.bytes;
    ret->joint_peak_event = peak.event;
    /* Hostile sizes wrap. */
    ret->joint_saving_bytes = (int64_t)((uint64_t)a->peak_bytes - (uint64_t)peak.bytes);
    return true;
}

/* In the order of the rules; removals of those that speak go into `joint`. */
static enum vrs_status gather(const struct advising *a, struct rule_answer *answer,
                              removal_vec *joint, struct advise *ret, struct vrs_error *err)
{
    ret->advice = arena_array(a->s->keep, struct advice, advice_entry_count);
    ret->silent = arena_array(a->s->keep, struct advice_silence, advice_entry_count);
    if (ret->advice == NULL || ret->silent == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < advice_entry_count; i++) {
        if (answer[i].clause != NULL) {
            ret->silent[ret->silents++] =
                (struct advice_silence){ advice_entries[i].id, answer[i].clause };
            continue;
        }
        TRY(choose_line(a, &advice_entries[i], &answer[i].advice, err));
        ret->advice[ret->advices++] = answer[i].advice;
        ret->joint_rules += answer[i].removals.len > 0;
        for (uint32_t k = 0; k < answer[i].removals.len; k++)
            if (!vec_push(joint, answer[i].removals.at[k]))
                return vrs_no_memory(err);
    }
    return VRS_OK;
}

enum vrs_status advise_join(const struct advising *a, struct rule_answer *answer,
                            struct advise *ret, struct vrs_error *err)
{
    removal_vec joint = { .max = UINT32_MAX };
    drop_double(answer, advice_entry_count);
    enum vrs_status status = gather(a, answer, &joint, ret, err);
    if (status == VRS_OK && !join(a, &joint, ret))
        status = vrs_no_memory(err);
    vec_free(&joint);
    return status;
}
