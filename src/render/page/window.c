/* window.c - which allocations are alive in some states, and what is told of time beside them. */
#include "render/page/window.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "render/page/column.h"
#include "render/page/source.h"

bool page_is_windowed(const struct page_device *device)
{
    return device->first_state > 0 || device->last_state < device->states - 1;
}

struct page_window page_window_around(const struct page_device *d, uint32_t states)
{
    uint32_t peak = d->peak_state, first = peak < states / 2 ? 0 : peak - states / 2;
    if (states >= d->states)
        return (struct page_window){ 0, d->states - 1 };
    if (first > d->states - states)
        first = d->states - states;
    return (struct page_window){ first, first + states - 1 };
}

static bool is_alive(const struct page_source *from, uint32_t row, struct page_window w)
{
    uint64_t born = page_alloc_born(from, row), until = page_alloc_until(from, row);
    return born <= w.last && (until == 0 || born + until > w.first);
}

/* Those that are alive in a state of the window. */
static enum vrs_status take_allocations(struct page_device *d, struct page_window window,
                                        struct vrs_error *err)
{
    struct page_draft *draft = d->draft;
    struct arena *room = draft->source.s->scratch;
    uint32_t rows = 0;
    if (draft->held == NULL)
        draft->held = arena_array(room, uint32_t, d->allocations);
    if (draft->held_pool == NULL)
        draft->held_pool = arena_array(room, uint32_t, d->allocations);
    if (draft->held == NULL || draft->held_pool == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < d->allocations; i++) {
        if (!is_alive(&draft->source, i, window))
            continue;
        draft->held[rows] = draft->order[i];
        draft->held_pool[rows++] = draft->pool[i];
    }
    draft->source.order = draft->held;
    draft->source.pool = draft->held_pool;
    d->table[PAGE_ALLOC].rows = rows;
    return VRS_OK;
}

/* Steps between events outside the window become one at the next state of the cover.  The first
 * is 0, so that a column with one value has no more of them afterwards. */
static void join_steps(const struct page_device *d, struct page_window window, uint32_t *dt)
{
    const struct page_draft *draft = d->draft;
    uint64_t waiting = 0;
    uint32_t at = 0;
    for (uint32_t state = 1; state < d->states; state++) {
        uint32_t *step = &dt[state - 1];
        if (state > window.first && state <= window.last)
            continue;
        while (at < draft->spans && draft->span[at].state < state)
            at++;
        bool shown = (at < draft->spans && draft->span[at].state == state) || state == window.first;
        uint64_t more = *step == PAGE_STEP_UNKNOWN ? 0 : *step;
        /* More than one row holds: the row before is shown nowhere, and takes what waited. */
        if (waiting + more >= PAGE_STEP_UNKNOWN) {
            step[-1] = (uint32_t)waiting;
            waiting = 0;
        }
        waiting += more;
        *step = shown ? (uint32_t)waiting : 0;
        waiting -= *step;
    }
}

static enum vrs_status take_times(struct page_device *d, struct page_window window,
                                  struct vrs_error *err)
{
    struct page_draft *draft = d->draft;
    struct page_table *table = &d->table[PAGE_TIME];
    if (table->columns == 0)
        return VRS_OK;
    if (draft->step_room == NULL)
        draft->step_room = arena_array(draft->source.s->scratch, uint32_t, table->rows);
    if (draft->step_room == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < table->rows; i++)
        draft->step_room[i] = (uint32_t)table->column[0].column->value(draft, i);
    join_steps(d, window, draft->step_room);
    draft->step = draft->step_room;
    table->idle_before = window.first;
    table->idle_behind = d->states - 1 - window.last;
    table->idle_numbers = draft->spans; /* or fewer: some lie inside */
    return VRS_OK;
}

static bool has_check(const struct page_device *d, uint32_t state)
{
    for (uint32_t i = 0; i < d->checks; i++)
        if (d->check[i].state == state)
            return true;
    return false;
}

/* Those inside stay; the cover knows the curves at others.  It has no numbers below zero. */
static void take_checks(struct page_device *d, struct page_window window)
{
    const struct page_draft *draft = d->draft;
    uint32_t first = 0, last;
    d->checks = 0;
    for (uint32_t i = 0; i < draft->checks; i++)
        if (draft->check[i].state >= window.first && draft->check[i].state <= window.last)
            d->check[d->checks++] = draft->check[i];
    while (first < draft->spans && draft->span[first].state < window.first)
        first++;
    for (last = first; last < draft->spans && draft->span[last].state <= window.last;)
        last++;
    uint32_t wanted = PAGE_CHECKS - d->checks;
    for (uint32_t k = 0; k < wanted && last > first && d->checks < PAGE_CHECKS; k++) {
        const struct page_span *span =
            &draft->span[first + (uint32_t)((uint64_t)k * (last - first) / wanted)];
        if (has_check(d, span->state) || span->requested <= 0 || span->reserved <= 0)
            continue;
        d->check[d->checks++] = (struct page_check){
            .state = span->state,
            .requested_bytes = span->requested,
            .reserved_bytes = span->reserved,
            .reserved_known = d->start_known,
        };
    }
    page_sort_checks(d->check, d->checks);
    page_count_live(draft->source.s, d->check, d->checks);
}

/* All of the recording, as its tables had it when they were queued. */
static void take_whole(struct page_device *d)
{
    struct page_draft *draft = d->draft;
    struct page_table *time = &d->table[PAGE_TIME];
    draft->source.order = draft->order;
    draft->source.pool = draft->pool;
    draft->step = NULL;
    d->table[PAGE_ALLOC].rows = d->allocations;
    time->idle_before = time->idle_behind = time->idle_numbers = 0;
    d->first_state = 0;
    d->last_state = d->states - 1;
    d->checks = draft->checks;
    memcpy(d->check, draft->check, sizeof d->check);
}

enum vrs_status page_window_take(struct page_device *d, struct page_window window,
                                 struct vrs_error *err)
{
    take_whole(d);
    if (window.first == 0 && window.last == d->states - 1)
        return VRS_OK;
    TRY(take_allocations(d, window, err));
    TRY(take_times(d, window, err));
    take_checks(d, window);
    d->first_state = window.first;
    d->last_state = window.last;
    return VRS_OK;
}
