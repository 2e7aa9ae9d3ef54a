/* leak_moments.c - boundaries of steps, and whether the recording ends as a step does. */
#include "analysis/snapshot/leaks/leak_moments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "model/recording.h"

/* MOMENTS_MIN: fewer show no trend.  TAIL_EVENTS: so many events before two points must be of the
 * same stacks; a free is two of them.  CYCLES_ASKED: a loop that ends in several ways, as one with
 * a validation now and then, ends in each of them within so many steps.  COUNTS_MOST: whole steps
 * are counted only where tails agree, and no more often than that. */
enum { MOMENTS_MIN = 3, TAIL_EVENTS = 8, CYCLES_ASKED = 8, COUNTS_MOST = 32 };

/* What is asked about the ends of steps. */
struct tails {
    const struct study *s;
    uint32_t *told; /* of each event: 1 + the last alloc or free before it; 0: there is none */
};

static bool is_told(uint8_t action)
{
    return action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
           action == ACTION_FREE_COMPLETED || action == ACTION_FREE;
}

/* Events of one stack do the same; without stacks those of one size. */
static bool are_alike(const struct study *s, uint32_t a, uint32_t b)
{
    const struct events *e = &s->r->events;
    uint32_t first = s->r->devices.first_event[s->device];
    if (e->action[first + a] != e->action[first + b])
        return false;
    return s->stacked ? e->stack[first + a] == e->stack[first + b]
                      : e->size[first + a] == e->size[first + b];
}

static enum vrs_status tails_make(const struct study *s, struct tails *ret, struct vrs_error *err)
{
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    *ret = (struct tails){ s, arena_array(s->scratch, uint32_t, s->events + 1u) };
    if (ret->told == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->events; i++)
        ret->told[i + 1] = is_told(action[i]) ? i + 1 : ret->told[i];
    return VRS_OK;
}

/* The last alloc or free before `end`, at or after `begin`; `end`: there is none. */
static uint32_t told_before(const struct tails *t, uint32_t begin, uint32_t end)
{
    return t->told[end] > begin ? t->told[end] - 1 : end;
}

/* Events like `of` in [begin, end). */
static uint32_t count_like(const struct study *s, uint32_t begin, uint32_t end, uint32_t of)
{
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; i++)
        count += are_alike(s, i, of);
    return count;
}

/* Whether the last events of [begin, end) are like those of [was_begin, was_end). */
static bool tails_agree(const struct tails *t, uint32_t begin, uint32_t end, uint32_t was_begin,
                        uint32_t was_end)
{
    uint32_t at = end, was = was_end;
    for (uint32_t k = 0; k < TAIL_EVENTS; k++) {
        uint32_t now = told_before(t, begin, at), then = told_before(t, was_begin, was);
        /* Both are shorter than that. */
        if (now == at && then == was)
            break;
        if (now == at || then == was || !are_alike(t->s, now, then))
            return false;
        at = now;
        was = then;
    }
    return at != end;
}

/* Whether one of the last steps ended as the recording would if `end` were its end. */
static bool is_run_through(const struct tails *t, uint32_t end, uint32_t *counts)
{
    const struct study *s = t->s;
    const struct steps *steps = &s->steps;
    uint32_t begin = steps->boundary[steps->count - 1].event;
    for (uint32_t k = 1; k <= CYCLES_ASKED && k < steps->count; k++) {
        const struct step_boundary *b = &steps->boundary[steps->count - 1 - k];
        if (!tails_agree(t, begin, end, b[0].event, b[1].event) || (*counts)++ >= COUNTS_MOST)
            continue;
        uint32_t last = told_before(t, begin, end);
        if (count_like(s, begin, end, last) == count_like(s, b[0].event, b[1].event, last))
            return true;
    }
    return false;
}

/* The end of the device's events, less frees behind the last alloc: those may make room for a step
 * that was not recorded.  Not before the last boundary. */
static uint32_t last_alloc_end(const struct study *s)
{
    const struct steps *steps = &s->steps;
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    uint32_t end = s->events, least = steps->boundary[steps->count - 1].event;
    while (end > least && action[end - 1] != ACTION_ALLOC)
        end--;
    return end;
}

/* Whether forwards that belong to no step stand between the last two: what follows a step is then
 * no point before the next one. */
static bool are_apart(const struct tails *t)
{
    const struct step_boundary *b = &t->s->steps.boundary[t->s->steps.count - 2];
    return told_before(t, b[0].end_event + 1, b[1].event) != b[1].event;
}

/* Adds the moment after the last step, where there is one. */
static void add_end(const struct tails *t, struct leak_moments *m)
{
    const struct study *s = t->s;
    uint32_t least = last_alloc_end(s), counts = 0;
    m->end_compares = true;
    for (uint32_t end = s->events; end >= least && end > 0; end--) {
        if (!is_run_through(t, end, &counts))
            continue;
        m->event[m->count++] = (int64_t)end - 1;
        return;
    }
    if (s->steps.end_is_boundary && (m->count < MOMENTS_MIN || !are_apart(t))) {
        m->event[m->count++] = s->steps.end_event;
        return;
    }
    if (m->count >= MOMENTS_MIN)
        return;
    m->end_compares = false;
    m->event[m->count++] = (int64_t)least - 1;
}

enum vrs_status leak_moments_find(const struct study *s, struct leak_moments *ret,
                                  struct vrs_error *err)
{
    struct tails tails;
    TRY(tails_make(s, &tails, err));
    struct leak_moments m = { arena_array(s->scratch, int64_t, s->steps.count + 1u), 0, true };
    if (m.event == NULL)
        return vrs_no_memory(err);
    for (uint32_t t = 0; t < s->steps.count; t++)
        m.event[m.count++] = (int64_t)s->steps.boundary[t].event - 1;
    add_end(&tails, &m);
    *ret = m;
    return VRS_OK;
}

uint32_t leak_moment_from(const struct leak_moments *m, int64_t event)
{
    uint32_t at;
    SORTED_FIND(at, m->count, m->event[at] < event);
    return at;
}
