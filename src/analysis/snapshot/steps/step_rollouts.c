/* step_rollouts.c - looks at what lies between an update and the forward of the next one. */
#include "analysis/snapshot/steps/step_rollouts.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_begins.h"
#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/step_stacks.h"
#include "model/ids.h"

/* One might be what a program does once before it trains. */
enum { ROLLOUTS_MIN = 2 };

/* What lies before the forward of an update, as positions [gap, start). */
struct before {
    uint32_t gap, start;
    uint32_t last_backward; /* event: the last of the update's own */
    bool plays;             /* a forward of another call, which stands before the update */
};

static uint64_t size_of(const struct step_trace *t, uint32_t position)
{
    return t->r->events.size[t->first + t->alloc_event[position]];
}

static struct before look_before(const struct step_trace *t, const struct step_order *order,
                                 const struct step_pairs *pairs, const uint32_t *first_pair,
                                 uint32_t updates, uint32_t i)
{
    const struct step_pair *pair = &pairs->at[first_pair[i]];
    uint32_t next = i + 1 < updates ? first_pair[i + 1] : pairs->count;
    struct before b = { .gap = step_position(t, pair->gap_event),
                        .start = step_forward_begin(t, pair),
                        .last_backward = pairs->at[next - 1].last_backward };
    stack_id update = pairs->at[next - 1].update_stack;
    uint64_t own = b.start < t->allocs ? t->stacks.module_call[t->stack[b.start]] : 0;
    for (uint32_t k = b.gap; k < b.start && !b.plays && update.n != 0; k++)
        b.plays = t->phases->of_stack[t->stack[k]] == PHASE_FORWARD &&
                  t->stacks.module_call[t->stack[k]] != own &&
                  step_is_before(order, t->stack[k], update);
    return b;
}

/* What was asked for in [gap, start) and is still there at an event. */
static uint64_t kept_until(const struct step_trace *t, const struct before *b, uint32_t event)
{
    uint64_t kept = 0;
    for (uint32_t k = b->gap; k < b->start; k++)
        kept += size_of(t, k) > SCALAR_BYTES_MAX && t->freed[k] > event ? size_of(t, k) : 0;
    return kept;
}

/* May the update's batch be a part of what is kept?  It is not where it comes from the host; where
 * native frames do not tell that, it may be none of its own. */
static bool takes_of_kept(const struct step_trace *t, const struct before *b, uint64_t kept)
{
    uint64_t own = 0;
    for (uint32_t k = b->gap; k < b->start; k++) {
        uint8_t phase = t->phases->of_stack[t->stack[k]];
        bool copy = phase == PHASE_DATA || (t->tokens->of_stack[t->stack[k]] & TOKEN_TO_COPY) != 0;
        if (size_of(t, k) <= SCALAR_BYTES_MAX || t->freed[k] <= t->alloc_event[b->start])
            continue;
        if (copy || (t->phases->python_only && phase == PHASE_OTHER))
            return false;
        own += phase == PHASE_OTHER ? size_of(t, k) : 0;
    }
    return own <= kept;
}

bool step_rollouts_find(const struct step_trace *t, const struct step_order *order,
                        const struct step_pairs *pairs, const uint32_t *first_pair,
                        uint32_t updates, bool *goes_on)
{
    struct before rollout = { .start = 0 };
    uint32_t rollouts = 0, more = 0;
    /* Without modules nothing shows what is played. */
    if (t->forward_phase != PHASE_FORWARD)
        return false;
    for (uint32_t i = 0; i < updates; i++) {
        struct before b = look_before(t, order, pairs, first_pair, updates, i);
        if (b.start == t->allocs)
            return false;
        goes_on[i] = !b.plays;
        if (b.plays) {
            rollout = b;
            rollouts++;
            continue;
        }
        /* Those before the first rollout go on with one that is older than the recording. */
        if (rollouts == 0)
            continue;
        uint64_t kept = kept_until(t, &rollout, b.last_backward);
        if (kept == 0 || !takes_of_kept(t, &b, kept))
            return false;
        more++;
    }
    return rollouts >= ROLLOUTS_MIN && more != 0;
}
