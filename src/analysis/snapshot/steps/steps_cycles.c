/* steps_cycles.c - steps as cycles of phases: forward, backward, optimizer. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "base/arena.h"
#include "base/fail.h"

/* A step in the making. */
struct cycle {
    uint32_t begin;
    uint32_t pairs; /* a forward with its backward */
    bool forward;   /* one whose backward is still to come */
    bool optimizer;
    bool ended; /* a forward now would begin another step */
};

static bool is_phase_of_end(uint8_t phase)
{
    return phase == PHASE_OPTIMIZER || phase == PHASE_ZERO_GRAD;
}

/* Where an optimizer allocates only now and then (its state, once) it ends no steps: more pairs
 * then follow the last one than ever stood before one. */
static bool optimizer_ends_steps(const struct phases *p)
{
    uint32_t pairs = 0, most = 0;
    bool forward = false, seen = false;
    for (uint32_t i = 0; i < p->intervals; i++) {
        uint8_t phase = p->interval[i].phase;
        if (phase == PHASE_FORWARD)
            forward = true;
        if (phase == PHASE_BACKWARD && forward) {
            pairs++;
            forward = false;
        }
        if (phase == PHASE_OPTIMIZER) {
            seen = true;
            most = pairs > most ? pairs : most;
            pairs = 0;
        }
    }
    return seen && pairs <= most;
}

/* Takes the next interval; true when it begins another step than the one in `*c`. */
static bool cycle_take(struct cycle *c, const struct phase_interval *interval, bool by_optimizer)
{
    uint8_t phase = interval->phase;
    if (phase == PHASE_FORWARD) {
        if (c->ended)
            return true;
        if (!c->forward && c->pairs == 0 && !c->optimizer)
            c->begin = interval->first_event;
        c->forward = true;
    } else if (phase == PHASE_BACKWARD) {
        if (c->forward)
            c->pairs++;
        c->forward = false;
        c->ended |= !by_optimizer && c->pairs != 0;
    } else if (is_phase_of_end(phase) && c->pairs != 0) {
        c->optimizer |= phase == PHASE_OPTIMIZER;
        c->ended |= c->optimizer || !by_optimizer;
    }
    return false;
}

static bool cycle_complete(const struct cycle *c, bool by_optimizer)
{
    return c->pairs != 0 && (c->optimizer || !by_optimizer);
}

/* The first and the last step may be cut; leaves out what is shorter than the others. */
static enum vrs_status leave_out_cut(const struct step_trace *t, struct step_cuts *cuts,
                                     struct vrs_error *err)
{
    uint32_t *length = arena_array(t->scratch, uint32_t, cuts->count);
    uint32_t *inner = arena_array(t->scratch, uint32_t, cuts->count);
    if (length == NULL || inner == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < cuts->count; i++) {
        bool last = i + 1 == cuts->count;
        uint32_t end = last ? cuts->end_event + 1 : cuts->begin[i + 1];
        length[i] = inner[i] = step_position(t, end) - step_position(t, cuts->begin[i]);
    }
    if (cuts->count < 3)
        return VRS_OK;
    uint32_t median = step_median(inner + 1, cuts->count - 2);
    if (!step_is_whole(length[cuts->count - 1], median)) {
        cuts->count--;
        cuts->end_event = cuts->begin[cuts->count] - 1;
        cuts->end_is_boundary = true;
    }
    if (!step_is_whole(length[0], median)) {
        cuts->begin++;
        cuts->count--;
    }
    return VRS_OK;
}

enum vrs_status steps_by_phases(const struct step_trace *t, struct step_cuts *ret,
                                struct vrs_error *err)
{
    const struct phases *p = t->phases;
    struct step_cuts cuts = { .begin = arena_array(t->scratch, uint32_t, p->intervals),
                              .similarity_ratio = -1 };
    if (cuts.begin == NULL)
        return vrs_no_memory(err);
    bool by_optimizer = optimizer_ends_steps(p);
    struct cycle c = { .begin = 0 };
    for (uint32_t i = 0; i < p->intervals; i++) {
        if (!cycle_take(&c, &p->interval[i], by_optimizer))
            continue;
        cuts.begin[cuts.count++] = c.begin;
        cuts.end_event = p->interval[i].first_event - 1;
        cuts.end_is_boundary = true;
        c = (struct cycle){ .begin = 0 };
        cycle_take(&c, &p->interval[i], by_optimizer);
    }
    if (cycle_complete(&c, by_optimizer)) {
        cuts.begin[cuts.count++] = c.begin;
        cuts.end_event = t->events - 1;
        cuts.end_is_boundary = false;
    }
    *ret = cuts;
    return leave_out_cut(t, ret, err);
}
