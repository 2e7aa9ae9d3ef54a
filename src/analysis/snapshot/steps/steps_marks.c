/* steps_marks.c - steps that somebody marked: by number, or by the optimizer that ends them. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

/* One end of a marked span, in the order of events. */
struct tick {
    uint32_t event;
    uint32_t label; /* string_id */
    bool start;
};

struct ticks {
    struct tick *at;
    uint32_t count;
};

/* "step 3", "Iteration#12": a word for a step, separators, digits. */
static bool names_step(str name)
{
    static const char *const words[] = { "ProfilerStep", "iteration", "iter", "step" };
    size_t digits = name.len;
    while (digits > 0 && is_digit(name.ptr[digits - 1]))
        digits--;
    if (digits == name.len)
        return false;
    str word = mark_name_trim((str){ name.ptr, digits });
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mark_name_is(word, str_from(words[i])))
            return true;
    return false;
}

static str label_text(const struct step_trace *t, uint32_t label)
{
    return mark_name_trim(strings_text(&t->r->code.strings, (string_id){ label }));
}

/* Marks that name steps. */
static enum vrs_status ticks_of_marks(const struct step_trace *t, struct ticks *ret,
                                      struct vrs_error *err)
{
    const struct marks *marks = &t->r->marks;
    struct mark_events m = *t->marks;
    struct ticks ticks = { arena_array(t->scratch, struct tick, m.count), 0 };
    if (ticks.at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m.count; i++) {
        uint32_t row = m.order[i];
        if (m.event[row] != NO_ROW && names_step(label_text(t, marks->name[row])))
            ticks.at[ticks.count++] =
                (struct tick){ m.event[row], marks->name[row], marks->stage[row] == STAGE_START };
    }
    *ret = ticks;
    return VRS_OK;
}

/* Events of the user's own: START or END is the function of their one frame, the label its file.
 * Where no label names a step, those with the first label do. */
static enum vrs_status ticks_of_events(const struct step_trace *t, struct ticks *ret,
                                       struct vrs_error *err)
{
    const struct recording *r = t->r;
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->events; i++)
        count += r->events.action[t->first + i] == ACTION_USER_DEFINED;
    struct ticks all = { arena_array(t->scratch, struct tick, count), 0 };
    if (all.at == NULL)
        return vrs_no_memory(err);
    bool named = false;
    for (uint32_t i = 0; i < t->events && all.count < count; i++) {
        if (r->events.action[t->first + i] != ACTION_USER_DEFINED)
            continue;
        stack_id stack = { r->events.stack[t->first + i] };
        struct frame frame = frames_get(&r->code.frames, stacks_frame(&r->code.stacks, stack));
        bool start = mark_name_is(strings_text(&r->code.strings, frame.name), S("START"));
        all.at[all.count++] = (struct tick){ i, frame.file.n, start };
        named |= names_step(label_text(t, frame.file.n));
    }
    ret->at = all.at;
    ret->count = 0;
    uint32_t label = all.count == 0 ? 0 : all.at[0].label;
    for (uint32_t i = 0; i < all.count; i++)
        if (named ? names_step(label_text(t, all.at[i].label)) : all.at[i].label == label)
            ret->at[ret->count++] = all.at[i];
    return VRS_OK;
}

/* Pairs starts with the ends of the same label; a span that overlaps the one before is left out. */
static enum vrs_status cut_at_spans(const struct step_trace *t, const struct ticks *ticks,
                                    struct step_cuts *ret, struct vrs_error *err)
{
    struct step_cuts cuts = { .begin = arena_array(t->scratch, uint32_t, ticks->count),
                              .end_is_boundary = true,
                              .similarity_ratio = -1 };
    if (cuts.begin == NULL)
        return vrs_no_memory(err);
    const struct tick *open = NULL;
    uint32_t free_from = 0;
    for (uint32_t i = 0; i < ticks->count; i++) {
        const struct tick *tick = &ticks->at[i];
        if (tick->start && open == NULL && tick->event >= free_from) {
            open = tick;
        } else if (!tick->start && open != NULL && tick->label == open->label) {
            if (tick->event > open->event) {
                cuts.begin[cuts.count++] = open->event;
                cuts.end_event = tick->event - 1;
                free_from = tick->event;
            }
            open = NULL;
        }
    }
    cuts.open_event = open == NULL ? 0 : open->event;
    *ret = cuts;
    return VRS_OK;
}

enum vrs_status steps_by_marks(const struct step_trace *t, struct step_cuts *ret,
                               struct vrs_error *err)
{
    struct ticks ticks = { .count = 0 };
    TRY(ticks_of_marks(t, &ticks, err));
    TRY(cut_at_spans(t, &ticks, ret, err));
    if (ret->count != 0)
        return VRS_OK;
    TRY(ticks_of_events(t, &ticks, err));
    return cut_at_spans(t, &ticks, ret, err);
}

/* The first interval of a phase that ends in [from, to) events, or NO_ROW. */
static uint32_t phase_between(const struct phases *p, enum phase phase, uint32_t from, uint32_t to)
{
    uint32_t i = phases_at(p, from);
    for (i = i == NO_ROW ? 0 : i; i < p->intervals && p->interval[i].first_event < to; i++)
        if (p->interval[i].phase == phase && p->interval[i].last_event >= from)
            return i;
    return NO_ROW;
}

/* Did the program compute between two events?  Two optimizers after one backward end one step. */
static bool computes_between(const struct step_trace *t, uint32_t from, uint32_t to)
{
    return t->phases->by_stack == 0 || phase_between(t->phases, PHASE_FORWARD, from, to) != NO_ROW;
}

/* The first alloc at or after each end of an optimizer: frees that follow it belong to its step. */
static enum vrs_status optimizer_ends(const struct step_trace *t, uint32_t **ret, uint32_t *count,
                                      struct vrs_error *err)
{
    struct mark_events m = *t->marks;
    uint32_t *end = arena_array(t->scratch, uint32_t, m.count), ends = 0;
    if (end == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m.count; i++) {
        uint32_t row = m.order[i];
        str name = label_text(t, t->r->marks.name[row]);
        if (m.event[row] == NO_ROW || t->r->marks.stage[row] != STAGE_END ||
            !mark_name_starts(name, S("Optimizer.step#")))
            continue;
        uint32_t position = step_position(t, m.event[row]);
        uint32_t event = position < t->allocs ? t->alloc_event[position] : t->events;
        if (position == 0)
            continue;
        if (ends != 0 && !computes_between(t, end[ends - 1], event))
            ends--;
        end[ends++] = event;
    }
    *ret = end;
    *count = ends;
    return VRS_OK;
}

enum vrs_status steps_by_optimizer(const struct step_trace *t, struct step_cuts *ret,
                                   struct vrs_error *err)
{
    uint32_t *end = NULL, ends = 0;
    struct step_pairs pairs;
    TRY(optimizer_ends(t, &end, &ends, err));
    if (ends != 0 && t->pairs->count != 0) {
        TRY(step_pairs_make(t, true, &pairs, err));
        return steps_by_cycles(t, &pairs, ret, err);
    }
    struct step_cuts cuts = { .begin = arena_array(t->scratch, uint32_t, ends),
                              .similarity_ratio = -1 };
    if (cuts.begin == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i + 1 < ends; i++)
        cuts.begin[cuts.count++] = end[i];
    if (ends != 0) {
        cuts.end_event = end[ends - 1] - 1;
        cuts.end_is_boundary = end[ends - 1] < t->events;
    }
    *ret = cuts;
    return VRS_OK;
}
