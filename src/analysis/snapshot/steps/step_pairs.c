/* step_pairs.c - a walk over the intervals of phases, then over what tells of updates. */
#include "analysis/snapshot/steps/step_pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

/* One thing that tells of an update. */
struct update {
    uint32_t event;
    uint32_t allocs;
    stack_id stack;
};

/* In the order of events. */
struct updates {
    struct update *at;
    uint32_t count;
};

static bool is_backward(uint8_t phase)
{
    return phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE;
}

static enum vrs_status find_pairs(const struct step_trace *t, struct step_pairs *pairs,
                                  struct vrs_error *err)
{
    const struct phases *p = t->phases;
    pairs->at = arena_array(t->scratch, struct step_pair, p->intervals);
    if (pairs->at == NULL)
        return vrs_no_memory(err);
    bool forward = false;
    for (uint32_t i = 0; i < p->intervals; i++) {
        const struct phase_interval *one = &p->interval[i];
        forward |= one->phase == t->forward_phase;
        if (!is_backward(one->phase))
            continue;
        if (pairs->count == 0 || forward)
            pairs->at[pairs->count++] =
                (struct step_pair){ .first_backward = one->first_event, .headless = !forward };
        pairs->at[pairs->count - 1].last_backward = one->last_event;
        forward = false;
    }
    return VRS_OK;
}

static bool freed_by_backward(const struct step_trace *t, uint32_t position)
{
    uint32_t event = t->freed[position];
    return event < t->events &&
           is_backward(t->phases->of_stack[t->r->events.stack[t->first + event]]);
}

/* How many of the pair's allocs in the backward are not freed by one: where native frames are not
 * recorded, such a free has no frames. */
static void count_survivors(const struct step_trace *t, struct step_pair *pair)
{
    uint32_t end = step_position(t, pair->last_backward + 1);
    for (uint32_t i = step_position(t, pair->first_backward); i < end; i++)
        pair->survivors +=
            is_backward(t->phases->of_stack[t->stack[i]]) && !freed_by_backward(t, i);
}

static enum vrs_status marked_updates(const struct step_trace *t, struct updates *ret,
                                      struct vrs_error *err)
{
    const struct mark_events *m = t->marks;
    ret->at = arena_array(t->scratch, struct update, m->count);
    if (ret->at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t row = m->order[i];
        if (m->event[row] != NO_ROW && t->r->marks.stage[row] == STAGE_END &&
            mark_name_starts(mark_name(t->r, row), S("Optimizer.step#")))
            ret->at[ret->count++] = (struct update){ .event = m->event[row] };
    }
    return VRS_OK;
}

static enum vrs_status allocating_updates(const struct step_trace *t, struct updates *ret,
                                          struct vrs_error *err)
{
    const struct phases *p = t->phases;
    ret->at = arena_array(t->scratch, struct update, p->intervals);
    if (ret->at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < p->intervals; i++) {
        const struct phase_interval *one = &p->interval[i];
        if (one->phase == PHASE_OPTIMIZER)
            ret->at[ret->count++] =
                (struct update){ one->last_event, one->allocs, one->first_stack };
    }
    return VRS_OK;
}

/* Of each run of frees by zero_grad the last. */
static bool zero_grad_updates(const struct step_trace *t, struct updates *ret)
{
    const struct recording *r = t->r;
    VEC(struct update) found = { .max = UINT32_MAX };
    bool running = false, made = true;
    for (uint32_t i = 0; i < t->events && made; i++) {
        uint8_t action = r->events.action[t->first + i];
        stack_id stack = { r->events.stack[t->first + i] };
        bool freed = action == ACTION_FREE_REQUESTED || action == ACTION_FREE_COMPLETED;
        if (freed && (t->tokens->of_stack[stack.n] & TOKEN_ZERO_GRAD) != 0) {
            if (!running)
                made = vec_push(&found, ((struct update){ .stack = stack }));
            if (made)
                found.at[found.len - 1].event = i;
            running = true;
        }
        running = running && action != ACTION_ALLOC;
    }
    ret->count = found.len;
    ret->at = made ? arena_array(t->scratch, struct update, found.len) : NULL;
    for (uint32_t i = 0; ret->at != NULL && i < found.len; i++)
        ret->at[i] = found.at[i];
    vec_free(&found);
    return ret->at != NULL;
}

/* Where an update is told of only now and then (an optimizer's state is made once) it ends no
 * steps: more pairs then follow the last of it than ever stood before one. */
static bool ends_steps(const struct step_pairs *pairs, const struct updates *updates)
{
    uint32_t next = 0, behind = 0, most = 0;
    for (uint32_t i = 0; i < updates->count; i++) {
        for (; next < pairs->count && pairs->at[next].first_backward < updates->at[i].event; next++)
            behind++;
        most = behind > most ? behind : most;
        behind = 0;
    }
    return updates->count != 0 && pairs->count - next <= most;
}

static void take_updates(struct step_pairs *pairs, const struct updates *updates)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        struct step_pair *pair = &pairs->at[i];
        bool last = i + 1 == pairs->count;
        uint32_t until = last ? UINT32_MAX : pair[1].first_backward;
        for (; next < updates->count && updates->at[next].event <= until; next++) {
            const struct update *update = &updates->at[next];
            if (update->event < pair->first_backward)
                continue;
            if (!pair->updated)
                pair->update_stack = update->stack;
            pair->updated = true;
            pair->update_event = update->event;
            pair->update_allocs += update->allocs;
        }
    }
}

/* An update lies before a pair whose gradients are made, not added to.  That says nothing where
 * only the first pair makes any: gradients may be set to zero and stay. */
static bool take_reborn(struct step_pairs *pairs)
{
    uint32_t most = 0, reborn = 0, grown = 0;
    for (uint32_t i = 0; i < pairs->count; i++)
        most = pairs->at[i].survivors > most ? pairs->at[i].survivors : most;
    for (uint32_t i = 1; i < pairs->count; i++) {
        bool born = pairs->at[i].survivors * 2 > most;
        grown += !born;
        reborn += born && pairs->at[i - 1].survivors * 2 <= most;
    }
    if (reborn == 0 || grown == 0)
        return false;
    for (uint32_t i = 1; i < pairs->count; i++)
        pairs->at[i - 1].updated = pairs->at[i].survivors * 2 > most;
    return true;
}

/* Which optimizer it was, an annotation does not say: its memory does, or that of gradients. */
static void take_stacks(struct step_pairs *pairs, const struct updates *updates)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        struct step_pair *pair = &pairs->at[i];
        uint32_t until = i + 1 < pairs->count ? pair[1].first_backward : UINT32_MAX;
        for (; next < updates->count && updates->at[next].event <= until; next++)
            if (updates->at[next].event > pair->first_backward && pair->update_stack.n == 0)
                pair->update_stack = updates->at[next].stack;
    }
}

static uint32_t count_updated(const struct step_pairs *pairs, const struct updates *updates)
{
    uint32_t count = 0, next = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint32_t until = i + 1 < pairs->count ? pairs->at[i + 1].first_backward : UINT32_MAX;
        bool updated = false;
        for (; next < updates->count && updates->at[next].event <= until; next++)
            updated |= updates->at[next].event > pairs->at[i].first_backward;
        count += updated;
    }
    return count;
}

/* The optimizer's memory tells more than that of gradients, unless it tells of fewer updates. */
static enum vrs_status find_updates(const struct step_trace *t, bool marked,
                                    struct step_pairs *pairs, struct vrs_error *err)
{
    struct updates marks = { .count = 0 }, made = { .count = 0 }, cleared = { .count = 0 };
    TRY(allocating_updates(t, &made, err));
    if (!zero_grad_updates(t, &cleared))
        return vrs_no_memory(err);
    if (marked) {
        TRY(marked_updates(t, &marks, err));
        pairs->evidence = UPDATES_MARKED;
        take_updates(pairs, &marks);
        take_stacks(pairs, ends_steps(pairs, &made) ? &made : &cleared);
        return VRS_OK;
    }
    bool by_made = ends_steps(pairs, &made), by_cleared = ends_steps(pairs, &cleared);
    if (by_made && (!by_cleared || count_updated(pairs, &made) >= count_updated(pairs, &cleared))) {
        pairs->evidence = UPDATES_ALLOCATING;
        take_updates(pairs, &made);
    } else if (by_cleared) {
        pairs->evidence = UPDATES_ZERO_GRAD;
        take_updates(pairs, &cleared);
    } else if (take_reborn(pairs)) {
        pairs->evidence = UPDATES_REBORN;
    }
    return VRS_OK;
}

/* A gap begins behind the backward before it, and behind an optimizer that follows that one
 * without a forward between. */
static void find_gaps(const struct step_trace *t, struct step_pairs *pairs)
{
    const struct phases *p = t->phases;
    uint32_t interval = 0;
    for (uint32_t i = 1; i < pairs->count; i++) {
        uint32_t gap = pairs->at[i - 1].last_backward + 1;
        for (; interval < p->intervals; interval++) {
            const struct phase_interval *one = &p->interval[interval];
            if (one->first_event < gap)
                continue;
            if (one->phase == t->forward_phase || one->first_event >= pairs->at[i].first_backward)
                break;
            if (one->phase == PHASE_OPTIMIZER || one->phase == PHASE_ZERO_GRAD)
                gap = one->last_event + 1;
        }
        pairs->at[i].gap_event = gap;
    }
}

enum vrs_status step_pairs_make(const struct step_trace *t, bool marked, struct step_pairs *ret,
                                struct vrs_error *err)
{
    struct step_pairs pairs = { .count = 0 };
    TRY(find_pairs(t, &pairs, err));
    for (uint32_t i = 0; i < pairs.count; i++)
        count_survivors(t, &pairs.at[i]);
    if (pairs.count != 0)
        TRY(find_updates(t, marked, &pairs, err));
    find_gaps(t, &pairs);
    *ret = pairs;
    return VRS_OK;
}
