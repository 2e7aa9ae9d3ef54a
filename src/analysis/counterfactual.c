/* counterfactual.c - removals as differences, one pass for the new maximum. */
#include "analysis/counterfactual.h"

#include <string.h>

enum vrs_status counterfactual_make(const struct study *s, struct counterfactual *ret,
                                    struct vrs_error *err)
{
    struct counterfactual c = { .states = s->events + 1 };
    c.requested = arena_array(s->scratch, int64_t, c.states);
    c.reserved = arena_array(s->scratch, int64_t, c.states);
    c.change = arena_array(s->scratch, int64_t, (size_t)c.states + 1);
    if (c.requested == NULL || c.reserved == NULL || c.change == NULL)
        return vrs_no_memory(err);
    curves_draw(s->r, s->device, &s->curves, c.states, c.requested, c.reserved);
    *ret = c;
    return VRS_OK;
}

static uint32_t state_of(const struct counterfactual *c, int64_t event)
{
    if (event < -1)
        return 0;
    return event < (int64_t)c->states ? (uint32_t)(event + 1) : c->states;
}

/* Sums of a file that lies wrap. */
static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct counterfactual_peak counterfactual_without(struct counterfactual *c,
                                                  const struct removal *removal, uint32_t removals)
{
    memset(c->change, 0, ((size_t)c->states + 1) * sizeof *c->change);
    for (uint32_t i = 0; i < removals; i++) {
        if (removal[i].to <= removal[i].from)
            continue;
        uint32_t from = state_of(c, removal[i].from), to = state_of(c, removal[i].to);
        c->change[from] = add(c->change[from], -(int64_t)(removal[i].bytes & INT64_MAX));
        c->change[to] = add(c->change[to], (int64_t)(removal[i].bytes & INT64_MAX));
    }
    struct counterfactual_peak peak = { add(c->requested[0], c->change[0]), -1 };
    int64_t changed = c->change[0];
    for (uint32_t p = 1; p < c->states; p++) {
        changed = add(changed, c->change[p]);
        int64_t bytes = add(c->requested[p], changed);
        if (bytes > peak.bytes)
            peak = (struct counterfactual_peak){ bytes, (int64_t)p - 1 };
    }
    return peak;
}
