/* counterfactual.c - removals as a difference array, one pass for the new maximum. */
#include "analysis/snapshot/study/counterfactual.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "base/arena.h"
#include "base/fail.h"

enum vrs_status counterfactual_make(const struct study *s, struct counterfactual *ret,
                                    struct vrs_error *err)
{
    struct counterfactual c = {
        .r = s->r,
        .first = s->r->devices.first_event[s->device],
        .states = s->events + 1,
        .start_bytes = s->curves.of[CURVE_REQUESTED].start_bytes,
    };
    c.change = arena_array(s->scratch, uint64_t, (size_t)c.states + 1);
    if (c.change == NULL)
        return vrs_no_memory(err);
    *ret = c;
    return VRS_OK;
}

static uint32_t state_of(const struct counterfactual *c, int64_t event)
{
    if (event < -1)
        return 0;
    return event < (int64_t)c->states ? (uint32_t)(event + 1) : c->states;
}

/* The states at which some removal begins or ends lie in [first, last]. */
struct changed {
    uint32_t first, last;
};

static void add(struct counterfactual *c, uint32_t state, uint64_t bytes, struct changed *changed)
{
    c->change[state] += bytes;
    changed->first = state < changed->first ? state : changed->first;
    changed->last = state > changed->last ? state : changed->last;
}

struct counterfactual_peak counterfactual_without(struct counterfactual *c,
                                                  const struct removal *removal, uint32_t removals)
{
    struct changed changed = { UINT32_MAX, 0 };
    for (uint32_t i = 0; i < removals; i++) {
        if (removal[i].to <= removal[i].from)
            continue;
        uint64_t bytes = removal[i].bytes;
        add(c, state_of(c, removal[i].from), -bytes, &changed);
        add(c, state_of(c, removal[i].to), bytes, &changed);
    }
    /* Sums of a file that lies wrap. */
    uint64_t bytes = (uint64_t)c->start_bytes + (changed.first == 0 ? c->change[0] : 0);
    struct counterfactual_peak peak = { (int64_t)bytes, -1 };
    for (uint32_t p = 1; p < c->states; p++) {
        bytes += requested_change(c->r, c->first + p - 1);
        if (p >= changed.first && p <= changed.last)
            bytes += c->change[p];
        if ((int64_t)bytes > peak.bytes)
            peak = (struct counterfactual_peak){ (int64_t)bytes, (int64_t)p - 1 };
    }
    for (uint32_t p = changed.first; p <= changed.last; p++)
        c->change[p] = 0;
    return peak;
}
