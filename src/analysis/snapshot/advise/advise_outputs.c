/* advise_outputs.c - values that are kept beyond their use: outputs, graphs, inputs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_limits.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/table.h"

int64_t advise_step_end(const struct study *s, int64_t event)
{
    int64_t step = steps_at(&s->steps, event);
    if (step < 0)
        return s->steps.count > 0 ? s->steps.boundary[0].event : (int64_t)s->events;
    if (step + 1 < (int64_t)s->steps.count)
        return s->steps.boundary[step + 1].event;
    return step < (int64_t)s->steps.count ? (int64_t)s->steps.end_event + 1 : (int64_t)s->events;
}

/* One more of those that hold memory at the peak. */
static void count_held(struct advising *a, const struct lifetime *l, struct largest *largest)
{
    a->now.bytes += l->bytes;
    advise_event(a, l->birth);
    largest_take(largest, l->bytes, l->alloc_stack);
}

/* Outputs that outlive their step. */
bool advise_retained_output(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!s->categories.retained[i] || l->birth < 0 || s->steps.count == 0 ||
            s->categories.of[i] == CATEGORY_KV_CACHE)
            continue;
        int64_t end = advise_step_end(s, l->birth);
        if (!advise_remove(a, i, end, l->freed, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event) || end > a->peak_event)
            continue;
        count_held(a, l, &largest);
    }
    if (a->now.bytes == 0)
        return advise_silent(a, "no output of an earlier step is alive at the peak");
    return advise_site(a, largest.stack);
}

/* What a kept graph keeps: the values that outlive their step, unless those are little beside what
 * is seen to grow.  A forward of training has lines in common with it, which then do not grow. */
static bool take_graph(struct advising *a)
{
    const struct study *s = a->s;
    uint64_t kept = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        int64_t end =
            s->categories.retained[i] && l->birth >= 0 ? advise_step_end(s, l->birth) : -1;
        if (end < 0 || l->freed <= end)
            continue;
        kept += lifetime_alive(l, a->peak_event) && end <= a->peak_event ? l->bytes : 0;
        if (!advise_remove(a, i, end, l->freed, l->bytes))
            return false;
    }
    if (kept > a->now.bytes / 2) {
        a->now.bytes = kept;
        return true;
    }
    a->removals.len = 0;
    a->now.saving_bytes = a->now.bytes;
    a->now.source = SAVING_ESTIMATED;
    return true;
}

/* The leak of kind graph that grows most; the slope of every such one over the steps seen. */
bool advise_graph_kept(struct advising *a)
{
    const struct leaks *g = a->in->leaks;
    if (g == NULL || g->steps.steps.count < KEPT_STEPS_LEAST)
        return advise_silent(a, "fewer than four steps");
    for (uint32_t i = 0; i < g->sites; i++) {
        const struct leak_site *site = &g->site[i];
        if (site->class != LEAK_CLASS_LEAK || site->kind != LEAK_GRAPH || site->slope_bytes <= 0)
            continue;
        if (a->now.bytes == 0 && !advise_site(a, site->site.stack))
            return false;
        for (uint32_t k = 0; k < site->survivors; k++)
            advise_event(a, site->survivor[k].event);
        a->now.bytes += (uint64_t)site->slope_bytes * (g->moments - 1);
    }
    if (a->now.bytes == 0)
        return advise_silent(a, "no graph is kept from step to step");
    return take_graph(a);
}

/* Frees that Python's collector made; what only looks like it is not told. */
bool advise_collector(struct advising *a)
{
    const struct gc_hint *hint = a->in->leaks == NULL ? NULL : &a->in->leaks->gc_hint;
    if (hint == NULL || hint->kind == NULL)
        return advise_silent(a, "no free comes from Python's garbage collector");
    if (hint->confidence == CONFIDENCE_LOW)
        return advise_silent(
            a, "some frees look like the garbage collector's, but no stack proves it");
    a->now.bytes = hint->bytes;
    advise_event(a, hint->first_event);
    advise_event(a, hint->last_event);
    return true;
}

/* What categories calls an input is gone soon; a copy to the device that nothing else explains may
 * be one that is early. */
static bool is_input(const struct study *s, uint32_t i)
{
    if (s->categories.of[i] != CATEGORY_UNKNOWN)
        return s->categories.of[i] == CATEGORY_INPUT;
    uint32_t stack = s->lifetimes.at[i].alloc_stack.n;
    uint8_t phase = s->phases.of_stack[stack];
    bool copied = (s->tokens->of_stack[stack] & TOKEN_COPY) != 0 && phase == PHASE_OTHER;
    return copied || phase == PHASE_DATA;
}

/* May it wait in a queue of batches?  An input, or what no category is known of: without native
 * frames a copy to the device is that. */
static bool may_wait(const struct study *s, uint32_t i)
{
    uint32_t stack = s->lifetimes.at[i].alloc_stack.n;
    return is_input(s, i) || (stack != 0 && s->categories.of[i] == CATEGORY_UNKNOWN &&
                              s->phases.of_stack[stack] == PHASE_OTHER);
}

/* What one stack makes anew for each step, before its forward. */
struct queue {
    uint64_t bytes;
    int64_t first_step;      /* of the first; it may fill the queue */
    int64_t step;            /* of the last */
    int64_t distance;        /* steps from alloc to free, the same for all of them */
    uint32_t born, consumed; /* how many were made, and freed */
    bool broken;
};

static bool is_computed(const struct phase_interval *v)
{
    return v->phase != PHASE_OTHER && v->phase != PHASE_DATA;
}

/* Of each interval, and of what precedes the first, at one more than its number: does its end come
 * behind all that a step of training computes, and before the next forward?  What is made behind a
 * forward may be its output.  NULL when out of memory. */
static bool *find_between_steps(const struct phases *p, struct arena *arena)
{
    bool *between = arena_array(arena, bool, (size_t)p->intervals + 1), forward_next = true;
    if (between == NULL)
        return NULL;
    between[0] = true;
    for (uint32_t i = 0; i < p->intervals; i++)
        between[i + 1] =
            is_computed(&p->interval[i]) ? p->interval[i].phase != PHASE_FORWARD : between[i];
    for (uint32_t i = p->intervals; i-- > 0;) {
        between[i + 1] &= forward_next;
        if (is_computed(&p->interval[i]))
            forward_next = p->interval[i].phase == PHASE_FORWARD;
    }
    between[0] &= forward_next;
    return between;
}

static void queue_add(const struct advising *a, const bool *between, struct queue *q,
                      const struct lifetime *l)
{
    const struct steps *steps = &a->s->steps;
    int64_t step = steps_at(steps, l->birth), used = steps_at(steps, l->freed);
    uint32_t at = phases_at(&a->s->phases, l->birth);
    bool filling = q->born == 0 || (step == q->step && step == q->first_step);
    if (filling)
        *q = (struct queue){ .bytes = l->bytes, .first_step = step, .broken = q->broken };
    q->broken = q->broken || !between[at == NO_ROW ? 0 : at + 1] || q->bytes != l->bytes ||
                (!filling && step != q->step + 1);
    q->step = step;
    q->born++;
    if (l->freed >= (int64_t)a->s->events || used >= (int64_t)steps->count)
        return;
    q->broken = q->broken || (q->consumed > 0 && used - step != q->distance);
    q->distance = used - step;
    q->consumed++;
}

/* The size of what one stack makes before the forward of each step, and what is let go of after the
 * same number of steps, two or more: a queue of batches.  Of 0 bytes: there is none. */
static bool find_queue(const struct advising *a, struct queue *ret)
{
    const struct study *s = a->s;
    struct arena_mark mark = arena_mark(s->scratch);
    struct queue *of = arena_array(s->scratch, struct queue, s->r->code.stacks.rows.len);
    bool *between = find_between_steps(&s->phases, s->scratch);
    *ret = (struct queue){ .bytes = 0 };
    if (of == NULL || between == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t stack = l->alloc_stack.n;
        if (l->bytes >= a->floor_bytes && l->birth >= 0 && stack != 0 && may_wait(s, i))
            queue_add(a, between, &of[stack], l);
    }
    for (uint32_t i = 1; i < s->r->code.stacks.rows.len; i++)
        if (!of[i].broken && of[i].consumed >= QUEUED_LEAST && of[i].distance >= AHEAD_STEPS &&
            of[i].bytes > ret->bytes)
            *ret = of[i];
    arena_release(s->scratch, mark);
    return true;
}

static bool is_queued(const struct study *s, uint32_t i, const struct queue *q)
{
    return q->bytes != 0 && s->lifetimes.at[i].bytes == q->bytes && may_wait(s, i);
}

/* Batches that are on the device long before their step. */
bool advise_inputs_ahead(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    struct queue queue;
    if (s->steps.count <= AHEAD_STEPS)
        return advise_silent(a, "fewer than three steps");
    if (!find_queue(a, &queue))
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        bool queued = is_queued(s, i, &queue);
        if (!is_input(s, i) && !queued)
            continue;
        int64_t born = steps_at(&s->steps, l->birth), used = steps_at(&s->steps, l->freed);
        if (queued && l->freed == (int64_t)s->events)
            used = born + queue.distance;
        if (used - born < AHEAD_STEPS || (!queued && used >= (int64_t)s->steps.count))
            continue;
        /* One batch ahead is what prefetching is for. */
        int64_t soon = used <= (int64_t)s->steps.count ? s->steps.boundary[used - 1].event
                                                       : (int64_t)s->events;
        if (!advise_remove(a, i, l->birth, soon, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event) || soon <= a->peak_event)
            continue;
        count_held(a, l, &largest);
    }
    if (a->now.bytes == 0)
        return advise_silent(a, "no input is alive two steps before its use");
    return advise_site(a, largest.stack);
}
