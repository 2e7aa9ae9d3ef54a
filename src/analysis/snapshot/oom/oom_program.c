/* oom_program.c - what the program needs beside a request that failed, by what it did before. */
#include "analysis/snapshot/oom/oom_program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

enum {
    /* Free memory in pieces is a cause only where it is at least this part of what is in use. */
    FREE_PERCENT = 5,
    /* A leak explains it where what is left lasts for less than this part of the steps so far, at
     * least one: the program would have run out as good as then. */
    LEAK_PART = 10
};

const char *const oom_lack_names[OOM_LACKS] = {
    [OOM_LACK_NONE] = "none", [OOM_LACK_LEAK] = "leak",       [OOM_LACK_STATE] = "optimizer_state",
    [OOM_LACK_NEXT] = "next", [OOM_LACK_FREE] = "free_share",
};

static uint64_t known_sum(uint64_t a, uint64_t b)
{
    return a == UNKNOWN_U64 || b == UNKNOWN_U64 || a + b < a ? UNKNOWN_U64 : a + b;
}

/* Growth. */

static bool grows(const struct leak_site *site)
{
    /* A cache of keys and values is meant to grow while a text is read. */
    return (site->class == LEAK_CLASS_LEAK || site->class == LEAK_CLASS_SUSPECT) &&
           site->slope_bytes > 0 && site->category != CATEGORY_KV_CACHE;
}

static void find_growth(const struct study *s, const struct leaks *leaks, struct oom_program *p)
{
    /* What merely repeats itself may be one loop that fills a buffer. */
    if (s->steps.source == STEPS_PERIOD)
        return;
    p->growth_sure = p->growth_in_each = true;
    for (uint32_t i = 0; leaks != NULL && i < leaks->sites; i++) {
        const struct leak_site *site = &leaks->site[i];
        if (!grows(site))
            continue;
        p->growth_bytes += (uint64_t)site->slope_bytes;
        p->growth_sure &= site->class == LEAK_CLASS_LEAK;
        p->growth_in_each &= site->every_steps == 1;
        if (p->grows == NULL || site->slope_bytes > p->grows->slope_bytes)
            p->grows = site;
    }
}

static bool leak_explains(const struct study *s, const struct oom_program *p)
{
    double steps = s->steps.count > LEAK_PART ? (double)s->steps.count / LEAK_PART : 1;
    return p->grows != NULL && (double)p->left_bytes < steps * (double)p->growth_bytes;
}

/* The first step of an optimizer. */

/* Of one size: tensors that have gradients, state made in this step, state that is older. */
struct of_size {
    uint64_t bytes;
    uint64_t parameters, gradients, state, older;
};

static int by_size(const void *a, const void *b)
{
    const struct of_size *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The first alloc of the optimizer's interval at the event; -1: the request is not its own. */
static int64_t optimizer_since(const struct study *s, const struct oom_moment *at)
{
    uint32_t i = phases_at(&s->phases, at->event);
    if (!s->phases.known || at->stack.n == 0 || i == NO_ROW ||
        s->phases.of_stack[at->stack.n] != PHASE_OPTIMIZER ||
        s->phases.interval[i].phase != PHASE_OPTIMIZER)
        return -1;
    return s->phases.interval[i].first_event;
}

/* What is alive at the event, a row for each size; how many rows. */
static uint32_t count_sizes(const struct study *s, int64_t event, int64_t since, struct of_size *of)
{
    uint32_t rows = 0, kept = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *life = &s->lifetimes.at[i];
        if (!lifetime_alive(life, event) || life->bytes == 0)
            continue;
        bool state = s->categories.of[i] == CATEGORY_OPTIMIZER_STATE;
        of[rows++] = (struct of_size){ .bytes = life->bytes,
                                       .parameters = s->categories.of[i] == CATEGORY_PARAMETER,
                                       .gradients = s->categories.of[i] == CATEGORY_GRADIENT,
                                       .state = state && life->birth >= since,
                                       .older = state && life->birth < since };
    }
    if (rows > 1)
        qsort(of, rows, sizeof *of, by_size);
    for (uint32_t i = 0; i < rows; i++) {
        if (kept == 0 || of[kept - 1].bytes != of[i].bytes) {
            of[kept++] = of[i];
            continue;
        }
        of[kept - 1].parameters += of[i].parameters;
        of[kept - 1].gradients += of[i].gradients;
        of[kept - 1].state += of[i].state;
        of[kept - 1].older += of[i].older;
    }
    return kept;
}

/* Are there parameters of that size? */
static bool is_of_parameter(const struct of_size *of, uint32_t rows, uint64_t bytes)
{
    uint32_t low = 0;
    for (uint32_t high = rows; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (of[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows && of[low].bytes == bytes && of[low].parameters > 0;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* How many lines make state in turn, a tensor for each parameter; 0: they do not take turns. */
static uint32_t lines_in_turn(const struct study *s, const struct oom_moment *at, int64_t since,
                              const struct of_size *of, uint32_t rows, uint32_t *stack)
{
    uint32_t count = 0, lines = 0, least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *life = &s->lifetimes.at[i];
        if (lifetime_alive(life, at->event) && life->birth >= since &&
            s->categories.of[i] == CATEGORY_OPTIMIZER_STATE &&
            is_of_parameter(of, rows, life->bytes))
            stack[count++] = life->alloc_stack.n;
    }
    if (count > 1)
        qsort(stack, count, sizeof *stack, by_number);
    for (uint32_t i = 0, end; i < count; i = end, lines++) {
        for (end = i; end < count && stack[end] == stack[i];)
            end++;
        least = end - i < least ? end - i : least;
        most = end - i > most ? end - i : most;
    }
    return lines > 0 && most - least <= 1 ? lines : 0;
}

/* The state of a parameter is so many tensors of its size: the most that any has yet. */
static uint64_t most_tensors(const struct of_size *of, uint32_t rows)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t each =
            of[i].parameters == 0 ? 0 : (of[i].state + of[i].parameters - 1) / of[i].parameters;
        most = each > most ? each : most;
    }
    return most;
}

static enum vrs_status find_state(const struct study *s, const struct oom_moment *at,
                                  struct oom_program *p, struct vrs_error *err)
{
    int64_t since = optimizer_since(s, at);
    if (since < 0)
        return VRS_OK;
    struct of_size *of = arena_array(s->scratch, struct of_size, s->lifetimes.count);
    uint32_t *stack = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    if (of == NULL || stack == NULL)
        return vrs_no_memory(err);
    uint32_t rows = count_sizes(s, at->event, since, of);
    uint64_t gradients = 0, older = 0, stated = 0;
    for (uint32_t i = 0; i < rows; i++)
        gradients += of[i].gradients;
    /* State belongs to what has a gradient; where those are unknown, to every parameter. */
    for (uint32_t i = 0; gradients > 0 && i < rows; i++)
        of[i].parameters = of[i].gradients;
    uint64_t each = most_tensors(of, rows), left = 0;
    uint32_t lines = lines_in_turn(s, at, since, of, rows, stack);
    each = lines > each ? lines : each;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t due = each * of[i].parameters;
        p->parameters += of[i].parameters;
        older += of[i].parameters > 0 ? of[i].older : 0;
        stated += of[i].state < due ? of[i].state : due;
        left += of[i].state < due ? (due - of[i].state) * of[i].bytes : 0;
    }
    /* A later step finds the state that an earlier one made. */
    if (each == 0 || older * 2 >= p->parameters)
        return VRS_OK;
    p->stated = stated / each;
    p->state_left_bytes = left;
    return VRS_OK;
}

/* Earlier steps. */

uint32_t oom_allocs_of(const struct study *s, stack_id stack, int64_t begin, int64_t end)
{
    const struct events *e = &s->r->events;
    uint32_t count = 0, first = s->r->devices.first_event[s->device];
    for (int64_t i = begin; i < end; i++)
        count += e->action[first + i] == ACTION_ALLOC && e->stack[first + i] == stack.n;
    return count;
}

int64_t oom_nth_alloc(const struct study *s, stack_id stack, int64_t begin, int64_t end,
                      uint32_t nth)
{
    for (int64_t i = begin; i < end; i++)
        if (oom_allocs_of(s, stack, i, i + 1) > 0 && nth-- == 0)
            return i;
    return -1;
}

/* The most that requested bytes rise over events [begin, end), and not below 0. */
static uint64_t rise(const struct study *s, int64_t begin, int64_t end)
{
    uint32_t first = s->r->devices.first_event[s->device];
    int64_t bytes = 0, most = 0;
    for (int64_t i = begin; i < end; i++) {
        bytes = (int64_t)((uint64_t)bytes + requested_change(s->r, first + (uint32_t)i));
        most = bytes > most ? bytes : most;
    }
    return (uint64_t)most;
}

/* From the request's place in each earlier step to its place in the next one. */
static uint64_t most_needed_next(const struct study *s, const struct oom_moment *at)
{
    const struct steps *steps = &s->steps;
    int64_t step = steps->count == 0 ? -1 : steps_at(steps, at->event), place = -1;
    uint64_t most = UNKNOWN_U64;
    if (step <= 0 || at->stack.n == 0)
        return UNKNOWN_U64;
    int64_t begin =
        step < steps->count ? (int64_t)steps->boundary[step].event : (int64_t)steps->end_event + 1;
    uint32_t nth = oom_allocs_of(s, at->stack, begin, at->event);
    for (uint32_t k = 0; k <= step; k++) {
        int64_t from = k < steps->count ? (int64_t)steps->boundary[k].event : begin;
        int64_t to = k + 1 < steps->count ? (int64_t)steps->boundary[k + 1].event
                                          : (int64_t)steps->end_event + 1;
        int64_t next = k == step ? at->event : oom_nth_alloc(s, at->stack, from, to, nth);
        if (place >= 0 && next >= 0) {
            uint64_t needed = rise(s, place, next);
            most = most == UNKNOWN_U64 || needed > most ? needed : most;
        }
        place = next;
    }
    return most;
}

/* All of it. */

static uint64_t in_use(const struct oom_moment *at, const struct oom_figures *f)
{
    return at->live_bytes != UNKNOWN_U64 ? at->live_bytes : f->active;
}

static enum oom_lack lack_of(const struct study *s, const struct oom_moment *at,
                             const struct oom_figures *f, const struct oom_program *p)
{
    uint64_t live = in_use(at, f);
    if (leak_explains(s, p))
        return OOM_LACK_LEAK;
    if (p->state_left_bytes > p->free_bytes)
        return OOM_LACK_STATE;
    if (p->next_bytes != UNKNOWN_U64 && p->next_bytes > p->free_bytes)
        return OOM_LACK_NEXT;
    if (live != UNKNOWN_U64 && f->internal_free < percent_of(live, FREE_PERCENT))
        return OOM_LACK_FREE;
    return OOM_LACK_NONE;
}

enum vrs_status oom_program_ask(const struct study *s, const struct oom_moment *at,
                                const struct oom_figures *f, enum oom_verdict verdict,
                                struct oom_program *ret, struct vrs_error *err)
{
    struct oom_program p = { .asked = verdict == OOM_FRAGMENTATION, .next_bytes = UNKNOWN_U64 };
    *ret = p;
    if (!p.asked)
        return VRS_OK;
    p.free_bytes = known_sum(f->device_free, f->internal_free);
    p.left_bytes = p.free_bytes - f->request; /* the test holds: it is not less */
    if (at->event >= 0) {
        find_growth(s, at->leaks, &p);
        TRY(find_state(s, at, &p, err));
        p.next_bytes = most_needed_next(s, at);
    }
    uint64_t live = in_use(at, f);
    p.nearly_full = live != UNKNOWN_U64 && p.free_bytes < percent_of(live, FREE_PERCENT);
    p.lack = lack_of(s, at, f, &p);
    *ret = p;
    return VRS_OK;
}
