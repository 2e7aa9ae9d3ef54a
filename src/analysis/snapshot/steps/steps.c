/* steps.c - tries the sources of steps in their order. */
#include "analysis/snapshot/steps/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/step_stacks.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "model/recording.h"

const char *const step_source_names[STEP_SOURCES] = {
    [STEPS_NONE] = "none",
    [STEPS_MARKS] = "marks",
    [STEPS_OPTIMIZER] = "optimizer_marks",
    [STEPS_PHASES] = "phases",
    [STEPS_ANNOTATIONS] = "annotations",
    [STEPS_PERIOD] = "periodicity",
};

const char *const step_kind_names[STEP_KINDS] = { [STEP_TRAINING] = "step", [STEP_PASS] = "pass" };

/* Fewer say less than another source that finds more. */
enum { STEPS_MIN = 2 };

uint32_t step_position(const struct step_trace *t, uint32_t event)
{
    uint32_t at;
    SORTED_FIND(at, t->allocs, t->alloc_event[at] < event);
    return at;
}

/* Which event is an alloc cannot be guessed: each is written down, and the next one over it unless
 * it is. */
static bool trace_make(struct step_trace *t)
{
    const uint8_t *action = t->r->events.action + t->first;
    const uint32_t *stack = t->r->events.stack + t->first;
    uint32_t allocs = 0, position = 0;
    uint64_t live = 0;
    for (uint32_t i = 0; i < t->events; i++)
        allocs += action[i] == ACTION_ALLOC;
    size_t room = (size_t)allocs + 1;
    t->allocs = allocs;
    t->alloc_event = arena_array(t->scratch, uint32_t, room);
    t->live_before = arena_array(t->scratch, int64_t, room);
    t->stack = arena_array(t->scratch, uint32_t, room);
    t->freed = arena_array(t->scratch, uint32_t, room);
    if (t->alloc_event == NULL || t->live_before == NULL || t->stack == NULL || t->freed == NULL)
        return false;
    for (uint32_t i = 0; i < t->events; i++) {
        t->alloc_event[position] = i;
        t->stack[position] = stack[i];
        t->live_before[position] = (int64_t)live;
        position += action[i] == ACTION_ALLOC;
        live += requested_change(t->r, t->first + i);
    }
    t->change = live;
    for (uint32_t i = 0; i < allocs; i++)
        t->freed[i] = UINT32_MAX;
    position = 0;
    for (uint32_t i = 0; i < t->lifetimes->count; i++) {
        const struct lifetime *l = &t->lifetimes->at[i];
        if (l->birth < 0)
            continue;
        /* Most come in the order of their allocs. */
        if (position == allocs || t->alloc_event[position] != (uint32_t)l->birth)
            position = step_position(t, (uint32_t)l->birth);
        t->freed[position++] = (uint32_t)l->requested;
    }
    return true;
}

/* Does the recording show that anything is trained? */
static bool is_trained(const struct step_trace *t)
{
    const struct phases *p = t->phases;
    for (uint32_t i = 0; i < p->intervals; i++)
        if (p->interval[i].phase == PHASE_BACKWARD || p->interval[i].phase == PHASE_RECOMPUTE ||
            p->interval[i].phase == PHASE_OPTIMIZER || p->interval[i].phase == PHASE_ZERO_GRAD)
            return true;
    return false;
}

/* Walks the requested curve over the steps: what is alive before each, their peaks and valleys.
 * A valley is looked for in the states after the step's events, the last one included. */
static void measure(const struct step_trace *t, struct steps *s)
{
    uint32_t begins_most = s->count + s->unended, last = s->unended ? t->events - 1 : s->end_event;
    uint64_t live = (uint64_t)curve_at(t->r, t->device, CURVE_REQUESTED, t->events) - t->change;
    int64_t least = 0;
    struct step_boundary *b = NULL;
    for (uint32_t i = 0, next = 0; i < t->events && s->count != 0 && i <= last; i++) {
        bool begins = next < begins_most && s->boundary[next].event == i;
        if (begins) {
            b = &s->boundary[next++];
            b->live_bytes = (int64_t)live;
        }
        live += requested_change(t->r, t->first + i);
        if (i == s->end_event)
            s->end_bytes = (int64_t)live;
        if (b == NULL || i > b->end_event)
            continue;
        if (begins || (int64_t)live > b->peak_bytes) {
            b->peak_bytes = (int64_t)live;
            b->peak_event = i;
        }
        if (begins || (int64_t)live < least) {
            least = (int64_t)live;
            b->valley_event = i;
        }
    }
}

/* Pairs of forward and backward in one step: the upper median. */
static enum vrs_status count_micro_steps(const struct step_trace *t, struct steps *s,
                                         struct vrs_error *err)
{
    uint32_t *pairs = arena_array(t->scratch, uint32_t, s->count);
    if (pairs == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < t->pairs->count; i++) {
        int64_t step = steps_at(s, t->pairs->at[i].first_backward);
        if (step >= 0 && step < s->count && !t->pairs->at[i].headless)
            pairs[step]++;
    }
    s->micro_steps = step_median(pairs, s->count);
    return VRS_OK;
}

/* The step behind the last complete one, where one began: what a source saw of it, else all that
 * led to a request which failed. */
static void take_unended(const struct step_trace *t, const struct step_cuts *cuts, struct steps *s)
{
    const uint8_t *action = t->r->events.action + t->first;
    uint32_t begin = cuts->open_event;
    for (uint32_t i = cuts->end_event + 1; begin <= cuts->end_event && i < t->events; i++)
        if (action[i] == ACTION_OOM)
            begin = cuts->end_event + 1;
    s->unended = begin > cuts->end_event && begin < t->events;
    if (s->unended)
        s->boundary[s->count] = (struct step_boundary){
            .event = begin, .end_event = t->events - 1, .kind = (uint8_t)s->kind
        };
}

static enum vrs_status take_cuts(const struct step_trace *t, enum step_source source,
                                 const struct step_cuts *cuts, struct arena *arena, struct steps *s,
                                 struct vrs_error *err)
{
    s->boundary = arena_array(arena, struct step_boundary, (size_t)cuts->count + 1);
    s->pass = arena_array(arena, struct step_pass, cuts->passes);
    if (s->boundary == NULL || s->pass == NULL)
        return vrs_no_memory(err);
    s->source = source;
    s->kind = is_trained(t) || !t->phases->known ? STEP_TRAINING : STEP_PASS;
    s->count = cuts->count;
    s->end_event = cuts->end_event;
    s->end_is_boundary = cuts->end_is_boundary;
    s->low_confidence = cuts->low_confidence;
    for (uint32_t i = 0; i < cuts->count; i++) {
        uint32_t end = i + 1 < cuts->count ? cuts->begin[i + 1] - 1 : cuts->end_event;
        s->boundary[i].event = cuts->begin[i];
        s->boundary[i].end_event = cuts->end == NULL ? end : cuts->end[i];
        s->boundary[i].kind = (uint8_t)s->kind;
    }
    take_unended(t, cuts, s);
    for (; s->passes < cuts->passes; s->passes++)
        s->pass[s->passes] = cuts->pass[s->passes];
    measure(t, s);
    return count_micro_steps(t, s, err);
}

/* A last step that ran out of memory did not end as a step does. */
static void leave_out_failed(const struct step_trace *t, struct step_cuts *cuts)
{
    if (cuts->count == 0)
        return;
    for (uint32_t i = cuts->begin[cuts->count - 1]; i <= cuts->end_event; i++)
        if (t->r->events.action[t->first + i] == ACTION_OOM) {
            cuts->count--;
            cuts->open_event = cuts->begin[cuts->count];
            cuts->end_event = cuts->open_event == 0 ? 0 : cuts->open_event - 1;
            cuts->end_is_boundary = true;
            return;
        }
}

/* The first that finds two steps or more, else the first that finds one; what merely repeats itself
 * comes last, and makes no steps of a single one. */
static enum step_source choose(const struct step_cuts *cuts)
{
    for (int i = STEPS_MARKS; i <= STEPS_PHASES; i++)
        if (cuts[i].count >= STEPS_MIN)
            return (enum step_source)i;
    for (int i = STEPS_MARKS; i <= STEPS_PHASES; i++)
        if (cuts[i].count != 0)
            return (enum step_source)i;
    for (int i = STEPS_ANNOTATIONS; i < STEP_SOURCES; i++)
        if (cuts[i].count >= STEPS_MIN)
            return (enum step_source)i;
    return STEPS_NONE;
}

static enum vrs_status find_steps(struct step_trace *t, struct arena *arena, struct steps *s,
                                  struct vrs_error *err)
{
    struct step_cuts cuts[STEP_SOURCES] = { { .count = 0 } };
    struct inner_loops inner = { .at = arena_array(arena, struct inner_loop, INNER_LOOPS_MAX) };
    struct step_pairs pairs;
    if (inner.at == NULL || !trace_make(t) ||
        !step_stacks_make(&t->r->code, t->tokens, t->scratch, &t->stacks))
        return vrs_no_memory(err);
    t->forward_phase = phases_forward(t->phases);
    TRY(step_pairs_make(t, false, &pairs, err));
    t->pairs = &pairs;
    TRY(steps_by_marks(t, &cuts[STEPS_MARKS], err));
    TRY(steps_by_optimizer(t, &cuts[STEPS_OPTIMIZER], err));
    TRY(steps_by_cycles(t, &pairs, &cuts[STEPS_PHASES], err));
    bool found = false;
    for (int i = STEPS_MARKS; i <= STEPS_PHASES; i++)
        found |= cuts[i].count >= STEPS_MIN;
    TRY(steps_by_annotations(t, &cuts[STEPS_ANNOTATIONS], err));
    TRY(steps_by_period(t, found, &cuts[STEPS_PERIOD], &inner, err));
    s->inner = inner.at;
    s->inners = inner.count;
    s->similarity_median_ratio = cuts[STEPS_PERIOD].similarity_ratio;
    for (int i = STEPS_MARKS; i < STEP_SOURCES; i++) {
        leave_out_failed(t, &cuts[i]);
        s->agreement[i] = cuts[i].count;
    }
    enum step_source source = choose(cuts);
    return source == STEPS_NONE ? VRS_OK : take_cuts(t, source, &cuts[source], arena, s, err);
}

enum vrs_status steps_make(const struct steps_input *input, struct arena *arena, struct steps *ret,
                           struct vrs_error *err)
{
    struct arena scratch;
    struct step_trace t = {
        .r = input->r,
        .device = input->device,
        .first = input->r->devices.first_event[input->device],
        .events = input->r->devices.events[input->device],
        .tokens = input->tokens,
        .phases = input->phases,
        .marks = input->marks,
        .lifetimes = input->lifetimes,
        .scratch = &scratch,
    };
    struct steps s = { .similarity_median_ratio = -1 };
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = find_steps(&t, arena, &s, err);
    arena_free(&scratch);
    if (status == VRS_OK)
        *ret = s;
    return status;
}

int64_t step_cursor_at(struct step_cursor *c, int64_t event)
{
    const struct steps *s = c->steps;
    if (c->begun > 0 && s->boundary[c->begun - 1].event > event)
        SORTED_FIND(c->begun, s->count, s->boundary[c->begun].event <= event);
    while (c->begun < s->count && s->boundary[c->begun].event <= event)
        c->begun++;
    if (s->count != 0 && event > (int64_t)s->end_event)
        return s->count;
    return (int64_t)c->begun - 1;
}

int64_t steps_at(const struct steps *s, int64_t event)
{
    struct step_cursor c = { .steps = s };
    SORTED_FIND(c.begun, s->count, s->boundary[c.begun].event <= event);
    return step_cursor_at(&c, event);
}
