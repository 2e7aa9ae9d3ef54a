/* step_begins.c - looks back from a backward for the forward that made what it frees.
 *
 * Between two steps lie the rest of the one before, forwards that no backward follows, and the
 * copies of the next batch.  A step begins with the last of these. */
#include "analysis/snapshot/steps/step_begins.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/step_pairs.h"
#include "analysis/snapshot/steps/step_sources.h"
#include "analysis/snapshot/steps/step_stacks.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"

/* The allocs before a step's first backward, as positions: [gap, low) belong to what came before,
 * the step's forward begins at `start`.  What lies before `head` stands behind the update in the
 * program, so the step before made it. */
struct region {
    uint32_t gap, head, low, start, backward;
};

struct finder {
    const struct step_trace *t;
    struct region *region; /* of each step */
    uint32_t steps;
    bool beside_cut; /* of two steps the first was begun before the recording */
    uint32_t *stamp; /* of each stack_id, the last number it was seen under */
    uint32_t stamps;
    uint32_t *call;       /* of each stack_id: a number for its module call */
    uint32_t *call_stamp; /* of each of these: 1 + the step that it was seen beside last */
    struct step_order order;
};

static bool is_forward(const struct step_trace *t, uint32_t position)
{
    return t->phases->of_stack[t->stack[position]] == t->forward_phase;
}

static uint64_t module_call(const struct step_trace *t, uint32_t position)
{
    return t->stacks.module_call[t->stack[position]];
}

static bool is_copy(const struct step_trace *t, uint32_t position)
{
    return t->phases->of_stack[t->stack[position]] == PHASE_DATA;
}

/* Native frames tell what is copied from what is computed; without them anything may be. */
static bool may_be_copied(const struct step_trace *t, uint32_t position)
{
    return t->phases->python_only || (t->tokens->of_stack[t->stack[position]] & TOKEN_TO_COPY) != 0;
}

/* Memory that may be a batch: what is made outside of modules and is still there in the forward. */
static bool is_batch(const struct step_trace *t, uint32_t position, uint32_t start)
{
    uint8_t phase = t->phases->of_stack[t->stack[position]];
    uint32_t event = t->alloc_event[position];
    return phase == PHASE_OTHER && t->forward_phase != PHASE_OTHER &&
           t->r->events.size[t->first + event] > SCALAR_BYTES_MAX && start < t->allocs &&
           t->freed[position] > t->alloc_event[start];
}

/* The first request of the forward whose memory the backward frees; NO_ROW: none. */
static uint32_t first_saved(const struct step_trace *t, const struct step_pair *pair,
                            const struct region *g)
{
    for (uint32_t i = g->gap; i < g->backward; i++)
        if (is_forward(t, i) && t->freed[i] >= pair->first_backward &&
            t->freed[i] <= pair->last_backward)
            return i;
    return NO_ROW;
}

/* The last request of a forward in [begin, end) positions, or NO_ROW. */
static uint32_t last_forward(const struct step_trace *t, uint32_t begin, uint32_t end)
{
    for (uint32_t i = end; i-- > begin;)
        if (is_forward(t, i))
            return i;
    return NO_ROW;
}

/* Where the run of requests begins that one call of a module makes, up to position `at`. */
static uint32_t run_begin(const struct step_trace *t, uint32_t at, uint32_t gap)
{
    uint64_t call = module_call(t, at);
    while (at > gap && is_forward(t, at - 1) && module_call(t, at - 1) == call)
        at--;
    return at;
}

uint32_t step_forward_begin(const struct step_trace *t, const struct step_pair *pair)
{
    struct region g = { .gap = step_position(t, pair->gap_event),
                        .backward = step_position(t, pair->first_backward) };
    uint32_t at = first_saved(t, pair, &g);
    if (at == NO_ROW)
        at = last_forward(t, g.gap, g.backward);
    if (at == NO_ROW)
        return g.backward;
    /* Without modules all else is work of the program's own, and no run of it a call. */
    return t->forward_phase == PHASE_FORWARD ? run_begin(t, at, g.gap) : at;
}

/* Behind the last request that the program comes to after the update of the step before: there its
 * loop went round.  The update tells it of loops in which it follows the forward. */
static uint32_t region_head(const struct finder *f, const struct step_pair *updated,
                            const struct region *g)
{
    const struct step_trace *t = f->t;
    stack_id update = updated->update_stack;
    if (update.n == 0 || g->start == g->backward ||
        !step_is_before(&f->order, t->stack[g->start], update))
        return g->gap;
    for (uint32_t i = g->start; i > g->gap; i--)
        if (step_is_behind(&f->order, t->stack[i - 1], update))
            return i;
    return g->gap;
}

/* A stack and the call of a module in it. */
struct called {
    uint64_t call;
    uint32_t stack;
};

static int by_call(const void *a, const void *b)
{
    const struct called *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Numbers the calls of modules, so that what is seen of each can be kept in an array. */
static bool number_calls(struct finder *f)
{
    uint32_t stacks = f->t->r->code.stacks.rows.len, calls = 0;
    struct called *called = arena_array(f->t->scratch, struct called, stacks);
    f->call = arena_array(f->t->scratch, uint32_t, stacks);
    f->call_stamp = arena_array(f->t->scratch, uint32_t, stacks);
    if (called == NULL || f->call == NULL || f->call_stamp == NULL)
        return false;
    for (uint32_t i = 0; i < stacks; i++)
        called[i] = (struct called){ f->t->stacks.module_call[i], i };
    if (stacks > 1)
        qsort(called, stacks, sizeof *called, by_call);
    for (uint32_t i = 0; i < stacks; i++) {
        calls += i > 0 && called[i].call != called[i - 1].call;
        f->call[called[i].stack] = calls;
    }
    return true;
}

/* Marks the calls of the forwards in the gap of another step, next to this one. */
static void mark_beside(const struct finder *f, uint32_t step)
{
    if (f->steps < 2)
        return;
    const struct region *g = &f->region[step + 1 < f->steps ? step + 1 : step - 1];
    for (uint32_t i = g->gap; i < g->backward; i++)
        if (is_forward(f->t, i))
            f->call_stamp[f->call[f->t->stack[i]]] = step + 1;
}

/* Does the program come to a request before the update, on its way round the loop? */
static bool is_before(const struct finder *f, uint32_t position, stack_id update)
{
    return step_is_before(&f->order, f->t->stack[position], update);
}

/* Is a forward called from where this alloc is, too, in the gap that was marked for the step?
 * Where the other step was cut it may only not be seen: what stands before the update is asked for
 * each time. */
static bool occurs_beside(const struct finder *f, uint32_t step, uint32_t position, stack_id update)
{
    return f->call_stamp[f->call[f->t->stack[position]]] == step + 1 ||
           (f->beside_cut && step != 0 && is_before(f, position, update));
}

/* Takes in forwards before it that other steps have, too, and that lead to it without a batch of
 * its own between: those of a frozen part.  With one they are those of a validation, unless the
 * program comes to them before the update in each step: then it plays or samples before it learns.
 */
static void take_frozen(const struct finder *f, uint32_t step, stack_id update)
{
    const struct step_trace *t = f->t;
    struct region *g = &f->region[step];
    bool batch = false;
    g->low = g->head;
    if (t->forward_phase != PHASE_FORWARD)
        return;
    mark_beside(f, step);
    for (uint32_t i = g->start; i > g->head; i--) {
        if (!is_forward(t, i - 1)) {
            batch |= is_copy(t, i - 1) || (may_be_copied(t, i - 1) && is_batch(t, i - 1, g->start));
            continue;
        }
        if (!occurs_beside(f, step, i - 1, update) ||
            (batch && (f->beside_cut || !is_before(f, i - 1, update))))
            break;
        i = run_begin(t, i - 1, g->head) + 1;
        g->start = i - 1;
    }
    uint32_t before = last_forward(t, g->head, g->start);
    g->low = before == NO_ROW ? g->head : before + 1;
}

/* The first of the copies before a forward whose like the step beside it has too, or where that
 * was cut, which the program comes to before the update. */
static uint32_t begin_with_data(struct finder *f, uint32_t step, stack_id update)
{
    const struct step_trace *t = f->t;
    const struct region *g = &f->region[step];
    if (f->steps < 2)
        return g->start;
    const struct region *beside = step + 1 < f->steps ? g + 1 : g - 1;
    f->stamps++;
    for (uint32_t i = beside->low; i < beside->start; i++)
        f->stamp[t->stack[i]] = f->stamps;
    for (uint32_t i = g->low; i < g->start; i++)
        if ((is_copy(t, i) || is_batch(t, i, g->start)) &&
            (f->stamp[t->stack[i]] == f->stamps ||
             (f->beside_cut && step != 0 && is_before(f, i, update))))
            return i;
    return g->start;
}

/* The first copy or forward of what lies between two steps, where there is a forward in it. */
static uint32_t pass_event(const struct step_trace *t, const struct region *g)
{
    if (last_forward(t, g->gap, g->low) == NO_ROW)
        return NO_ROW;
    uint32_t i = g->gap;
    while (!is_forward(t, i) && !is_copy(t, i))
        i++;
    return t->alloc_event[i];
}

/* Where stacks do not tell the forward, annotations do. */
static uint32_t annotated_begin(const struct step_trace *t, const struct step_pair *pair)
{
    const struct phases *p = t->phases;
    uint32_t first = phases_at(p, pair->gap_event);
    for (uint32_t i = first == NO_ROW ? 0 : first; i < p->intervals; i++)
        if (p->interval[i].phase == t->forward_phase &&
            p->interval[i].last_event >= pair->gap_event)
            return p->interval[i].first_event < pair->first_backward ? p->interval[i].first_event
                                                                     : pair->first_backward;
    return pair->first_backward;
}

/* The update before a step.  Of the first it is not there; its own is at the same place. */
static const struct step_pair *updated_before(const struct step_pairs *pairs,
                                              const uint32_t *first_pair, uint32_t steps,
                                              uint32_t step)
{
    uint32_t next = step != 0 ? first_pair[step] : steps > 1 ? first_pair[1] : pairs->count;
    return &pairs->at[next - 1];
}

enum vrs_status step_begins_make(const struct step_trace *t, const struct step_pairs *pairs,
                                 const uint32_t *first_pair, uint32_t steps, bool head_cut,
                                 struct step_begin **ret, struct vrs_error *err)
{
    struct finder f = {
        .t = t,
        .region = arena_array(t->scratch, struct region, steps),
        .steps = steps,
        .beside_cut = head_cut && steps == 2,
        .stamp = arena_array(t->scratch, uint32_t, t->r->code.stacks.rows.len),
    };
    struct step_begin *begin = arena_array(t->scratch, struct step_begin, steps);
    if (f.region == NULL || f.stamp == NULL || begin == NULL || !number_calls(&f) ||
        !step_order_make(&t->r->code, t->tokens, t->scratch, &f.order))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < steps; i++) {
        const struct step_pair *pair = &pairs->at[first_pair[i]];
        struct region *g = &f.region[i];
        g->gap = step_position(t, pair->gap_event);
        g->backward = step_position(t, pair->first_backward);
        g->start = step_forward_begin(t, pair);
        g->head = region_head(&f, updated_before(pairs, first_pair, steps, i), g);
    }
    for (uint32_t i = 0; i < steps; i++)
        take_frozen(&f, i, updated_before(pairs, first_pair, steps, i)->update_stack);
    for (uint32_t i = 0; i < steps; i++) {
        const struct region *g = &f.region[i];
        stack_id update = updated_before(pairs, first_pair, steps, i)->update_stack;
        begin[i].pass_event = pass_event(t, g);
        begin[i].event = g->start < g->backward ? t->alloc_event[begin_with_data(&f, i, update)]
                                                : annotated_begin(t, &pairs->at[first_pair[i]]);
    }
    *ret = begin;
    return VRS_OK;
}

struct step_rest step_rest_find(const struct step_trace *t, uint32_t begin_event,
                                const struct step_pair *pair, uint32_t event)
{
    struct region g = { .gap = step_position(t, event + 1), .low = t->allocs };
    struct step_rest rest = { .event = pass_event(t, &g), .pass = true };
    if (rest.event == NO_ROW)
        return rest;
    uint32_t first = g.gap;
    while (!is_forward(t, first))
        first++;
    uint32_t backward = step_position(t, pair->first_backward);
    for (uint32_t i = step_position(t, begin_event); i < backward; i++)
        rest.pass &= !is_forward(t, i) || module_call(t, i) != module_call(t, first);
    return rest;
}
