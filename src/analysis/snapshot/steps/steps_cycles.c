/* steps_cycles.c - training steps: forwards and backwards up to where parameters are updated. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_begins.h"
#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_rollouts.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/step_stacks.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/code.h"
#include "model/frames.h"

/* More updates in one step of several optimizers are none that we know of. */
enum { UPDATES_IN_STEP_MAX = 16 };

/* A step in the making: a row of pairs, and what updated parameters behind them. */
struct cycle {
    uint32_t first_pair, pairs;
    bool updated;
    bool partial;         /* of optimizers that take turns not all are in it */
    uint64_t update_call; /* the place that called the update; 0: not known */
};

struct cycles {
    const struct step_trace *t;
    struct step_pairs pairs;
    struct cycle *at;
    uint32_t count;
};

static const struct step_pair *last_pair(const struct cycles *c, uint32_t cycle)
{
    return &c->pairs.at[c->at[cycle].first_pair + c->at[cycle].pairs - 1];
}

/* Is a pair's forward called by an optimizer whose step has begun before it?  The lines tell: what
 * the optimizer asked for last lies above the line that calls the closure.  So do the evaluations
 * of one line search. */
static bool goes_on_inside(const struct step_trace *t, const struct step_pair *pair)
{
    const struct frames *f = &t->r->code.frames;
    uint32_t gap = step_position(t, pair->gap_event);
    uint32_t backward = step_position(t, pair->first_backward);
    if (gap == 0 || backward == 0)
        return false;
    uint32_t before = t->stack[gap - 1];
    uint32_t asked = t->stacks.optimizer_step[before];
    uint32_t calls = t->stacks.optimizer_step[t->stack[backward - 1]];
    return t->phases->of_stack[before] == PHASE_OPTIMIZER && asked != 0 && calls != 0 &&
           f->name[asked] == f->name[calls] && f->file[asked] == f->file[calls] &&
           f->line[asked] < f->line[calls];
}

static enum vrs_status find_cycles(struct cycles *c, struct vrs_error *err)
{
    const struct step_pairs *pairs = &c->pairs;
    c->at = arena_array(c->t->scratch, struct cycle, pairs->count);
    if (c->at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct step_pair *pair = &pairs->at[i];
        bool ended = i == 0 || pairs->evidence == UPDATES_UNSEEN || pair[-1].updated;
        if (ended && (i == 0 || !goes_on_inside(c->t, pair)))
            c->at[c->count++] = (struct cycle){ .first_pair = i };
        struct cycle *last = &c->at[c->count - 1];
        last->pairs++;
        last->updated = pair->updated;
        if (pair->updated)
            last->update_call = c->t->stacks.update_call[pair->update_stack.n];
    }
    return VRS_OK;
}

/* How many updates at different places follow each other again and again; 1: no more than one. */
static uint32_t updates_in_step(const struct cycles *c)
{
    uint32_t known = c->count;
    while (known != 0 && !c->at[known - 1].updated)
        known--;
    for (uint32_t period = 1; period * 2 <= known && period <= UPDATES_IN_STEP_MAX; period++) {
        uint32_t same = 0;
        while (same + period < known && c->at[same].update_call == c->at[same + period].update_call)
            same++;
        if (same + period == known)
            return period;
    }
    return 1;
}

/* Of cycles that take turns the one whose update stands first in the program; where that one is
 * done several times in a row, the first of the row. */
static uint32_t first_in_program(const struct cycles *c, uint32_t period)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < period; i++)
        if (step_stacks_in_order(&c->t->r->code, c->t->tokens, last_pair(c, i)->update_stack,
                                 last_pair(c, first)->update_stack))
            first = i;
    for (uint32_t i = 0; i < period; i++) {
        uint32_t at = (first + period - i) % period, before = (at + period - 1) % period;
        if (c->at[before].update_call != c->at[at].update_call)
            return at;
    }
    return first;
}

/* Optimizers that take turns, as those of a GAN, make one step together. */
static void join_turns(struct cycles *c)
{
    uint32_t period = updates_in_step(c), count = 0, turns = 0;
    if (period < 2)
        return;
    uint32_t first = first_in_program(c, period);
    for (uint32_t i = 0; i < c->count; i++) {
        if (i == 0 || (i >= first && (i - first) % period == 0)) {
            c->at[count++] = c->at[i];
            turns = 0;
        } else {
            c->at[count - 1].pairs += c->at[i].pairs;
            c->at[count - 1].updated = c->at[i].updated;
        }
        c->at[count - 1].partial = ++turns != period;
    }
    c->count = count;
}

/* Updates that go through one rollout make one step together.  The first is cut where its rollout
 * is not seen, the last where it has fewer updates than any before it. */
static enum vrs_status join_rollouts(struct cycles *c, struct vrs_error *err)
{
    uint32_t *first_pair = arena_array(c->t->scratch, uint32_t, c->count);
    bool *goes_on = arena_array(c->t->scratch, bool, c->count);
    uint32_t count = 0, updates = 0, least = UINT32_MAX;
    struct step_order order;
    if (first_pair == NULL || goes_on == NULL ||
        !step_order_make(&c->t->r->code, c->t->tokens, c->t->scratch, &order))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->count; i++)
        first_pair[i] = c->at[i].first_pair;
    if (!step_rollouts_find(c->t, &order, &c->pairs, first_pair, c->count, goes_on))
        return VRS_OK;
    bool head_cut = goes_on[0];
    for (uint32_t i = 0; i < c->count; i++) {
        if (i != 0 && goes_on[i]) {
            c->at[count - 1].pairs += c->at[i].pairs;
            c->at[count - 1].updated = c->at[i].updated;
            c->at[count - 1].partial |= c->at[i].partial;
            updates++;
            continue;
        }
        if (count != 0 && (count > 1 || !head_cut) && updates < least)
            least = updates;
        c->at[count++] = c->at[i];
        updates = 1;
    }
    c->at[0].partial |= head_cut;
    c->at[count - 1].partial |= least != UINT32_MAX && updates < least;
    c->count = count;
    return VRS_OK;
}

/* The recording began inside the first step where its forward is not seen, or its backward frees
 * what is older: what a forward saved. */
static bool head_is_cut(const struct cycles *c)
{
    const struct step_trace *t = c->t;
    const struct step_pair *pair = &c->pairs.at[0];
    if (c->at[0].partial)
        return true;
    for (uint32_t i = 0; i < t->lifetimes->older_count; i++) {
        const struct lifetime *l = &t->lifetimes->at[t->lifetimes->older[i]];
        if (l->requested >= (int64_t)pair->first_backward &&
            l->requested <= (int64_t)pair->last_backward)
            return true;
    }
    return pair->headless;
}

static uint32_t backward_allocs(const struct step_trace *t, const struct step_pair *pair)
{
    return step_position(t, pair->last_backward + 1) - step_position(t, pair->first_backward);
}

/* Does nothing follow the update but what it frees? */
static bool ends_in_update(const struct step_trace *t, const struct step_pair *pair)
{
    return step_position(t, pair->update_event + 1) == t->allocs;
}

/* What the same optimizer asked for least in an update before the last one: one that makes its
 * state asks for more. */
static uint32_t least_update(const struct cycles *c)
{
    const uint64_t *call = c->t->stacks.update_call;
    uint64_t of_last = call[last_pair(c, c->count - 1)->update_stack.n];
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i + 1 < c->count; i++) {
        const struct step_pair *pair = last_pair(c, i);
        if (c->at[i].updated && call[pair->update_stack.n] == of_last &&
            pair->update_allocs < least)
            least = pair->update_allocs;
    }
    return least == UINT32_MAX ? 0 : least;
}

/* Was the recording over before the last step?  An update cut short asks for less than those
 * before it. */
static bool tail_is_cut(const struct cycles *c)
{
    const struct cycle *last = &c->at[c->count - 1];
    const struct step_pair *pair = last_pair(c, c->count - 1);
    if (last->partial)
        return true;
    if (last->updated && (c->pairs.evidence != UPDATES_ALLOCATING || c->count < 3))
        return false;
    if (last->updated)
        return ends_in_update(c->t, pair) && !step_is_whole(pair->update_allocs, least_update(c));
    if (c->count < 2 || c->pairs.evidence == UPDATES_ALLOCATING ||
        c->pairs.evidence == UPDATES_MARKED)
        return true;
    const struct cycle *before = &last[-1];
    return last->pairs < before->pairs ||
           !step_is_whole(backward_allocs(c->t, pair),
                          backward_allocs(c->t, last_pair(c, c->count - 2)));
}

/* What follows the last step, where that is whole. */
static struct step_rest find_rest(const struct cycles *c, uint32_t begin_event, bool tail_cut)
{
    const struct step_pair *pair = last_pair(c, c->count - 1);
    uint32_t end = pair->last_backward;
    if (pair->updated && pair->update_event > end)
        end = pair->update_event;
    return tail_cut ? (struct step_rest){ NO_ROW, false }
                    : step_rest_find(c->t, begin_event, pair, end);
}

/* Writes the steps down that are whole. */
static enum vrs_status cut_steps(const struct cycles *c, struct step_cuts *ret,
                                 struct vrs_error *err)
{
    const struct step_trace *t = c->t;
    uint32_t *first_pair = arena_array(t->scratch, uint32_t, c->count);
    struct step_cuts cuts = {
        .begin = arena_array(t->scratch, uint32_t, c->count),
        .end = arena_array(t->scratch, uint32_t, c->count),
        .pass = arena_array(t->scratch, struct step_pass, (size_t)c->count + 1),
        .similarity_ratio = -1,
    };
    struct step_begin *begin = NULL;
    if (first_pair == NULL || cuts.begin == NULL || cuts.end == NULL || cuts.pass == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->count; i++)
        first_pair[i] = c->at[i].first_pair;
    bool head = head_is_cut(c), tail = tail_is_cut(c);
    TRY(step_begins_make(t, &c->pairs, first_pair, c->count, head, &begin, err));
    struct step_rest rest = find_rest(c, begin[c->count - 1].event, tail);
    for (uint32_t i = 0; i < c->count; i++) {
        bool last = i + 1 == c->count;
        uint32_t next = last ? t->events : begin[i + 1].event;
        uint32_t pass = last ? NO_ROW : begin[i + 1].pass_event;
        if (last && rest.event != NO_ROW)
            next = rest.event;
        if (begin[i].pass_event != NO_ROW)
            cuts.pass[cuts.passes++] =
                (struct step_pass){ begin[i].pass_event, begin[i].event - 1 };
        if ((i == 0 && head) || (last && tail))
            continue;
        cuts.begin[cuts.count] = begin[i].event;
        cuts.end[cuts.count++] = (pass == NO_ROW ? next : pass) - 1;
        cuts.end_is_boundary = pass == NO_ROW && (!last || (rest.event != NO_ROW && !rest.pass));
    }
    if (rest.event != NO_ROW && rest.pass)
        cuts.pass[cuts.passes++] = (struct step_pass){ rest.event, t->events - 1 };
    cuts.end_event = cuts.count == 0 ? 0 : cuts.end[cuts.count - 1];
    if (tail)
        cuts.open_event = begin[c->count - 1].event;
    else if (rest.event != NO_ROW && !rest.pass)
        cuts.open_event = rest.event;
    *ret = cuts;
    return VRS_OK;
}

enum vrs_status steps_by_cycles(const struct step_trace *t, const struct step_pairs *pairs,
                                struct step_cuts *ret, struct vrs_error *err)
{
    struct cycles c = { .t = t, .pairs = *pairs };
    *ret = (struct step_cuts){ .similarity_ratio = -1 };
    if (pairs->count == 0)
        return VRS_OK;
    TRY(find_cycles(&c, err));
    join_turns(&c);
    TRY(join_rollouts(&c, err));
    return cut_steps(&c, ret, err);
}
