/* cover.c - one pass over the events: the curves in columns, and the figures of some states. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/page/column.h"
#include "render/page/page.h"

struct covering {
    const struct study *s;
    struct page_span *span;
    uint32_t spans;
    struct page_device *to;
};

/* Bytes below zero, in a file that lies, are shown as none. */
static uint64_t number(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

static uint64_t cover_state(const void *from, uint32_t row)
{
    return ((const struct page_draft *)from)->span[row].state;
}

static uint64_t cover_requested(const void *from, uint32_t row)
{
    return number(((const struct page_draft *)from)->span[row].requested);
}

static uint64_t cover_reserved(const void *from, uint32_t row)
{
    return number(((const struct page_draft *)from)->span[row].reserved);
}

/* Sums wrap, in a file that lies. */
static void step(const struct recording *r, uint32_t row, struct page_span *now)
{
    uint64_t size = known_or_0(r->events.size[row]), reserved = (uint64_t)now->reserved;
    now->requested = (int64_t)((uint64_t)now->requested + (uint64_t)requested_change(r, row));
    if (action_obtains(r->events.action[row]))
        now->reserved = (int64_t)(reserved + size);
    else if (action_returns(r->events.action[row]))
        now->reserved = (int64_t)(reserved - size);
}

/* Where a span begins. */
static uint32_t edge(const struct covering *c, uint32_t span)
{
    return (uint32_t)((uint64_t)span * c->to->states / c->spans);
}

/* What was reserved and what was free when a request failed were on the card together.  Sums of
 * hostile sizes are no capacity. */
static void note_capacity(struct page_device *to, const struct recording *r, uint32_t row,
                          uint64_t reserved)
{
    uint64_t left = r->events.address[row];
    if (r->events.action[row] != ACTION_OOM || left == UNKNOWN_U64 || reserved > PAGE_NUMBER_MOST ||
        left > PAGE_NUMBER_MOST - reserved)
        return;
    if (to->capacity_bytes == UNKNOWN_U64 || reserved + left > to->capacity_bytes)
        to->capacity_bytes = reserved + left;
}

static void walk(struct covering *c)
{
    const struct recording *r = c->s->r;
    struct page_device *to = c->to;
    uint32_t first = r->devices.first_event[c->s->device], span = 0, check = 0;
    uint32_t next = edge(c, 1);
    struct page_span now = {
        .requested = c->s->curves.of[CURVE_REQUESTED].start_bytes,
        .reserved = c->s->curves.of[CURVE_RESERVED].start_bytes,
    };
    c->span[0] = now;
    for (uint32_t state = 0; state < to->states; state++) {
        if (state > 0) {
            step(r, first + state - 1, &now);
            note_capacity(to, r, first + state - 1, (uint64_t)now.reserved);
        }
        now.state = state;
        if (state == next) {
            c->span[++span] = now;
            next = edge(c, span + 1);
        }
        if (now.requested > c->span[span].requested)
            c->span[span] = now;
        if (check < to->checks && to->check[check].state == state) {
            to->check[check].requested_bytes = now.requested;
            to->check[check].reserved_bytes = now.reserved;
            to->check[check++].reserved_known = to->start_known;
        }
    }
}

static void add_check(struct page_device *to, uint32_t state)
{
    for (uint32_t i = 0; i < to->checks; i++)
        if (to->check[i].state == state)
            return;
    if (to->checks < PAGE_CHECKS && state < to->states)
        to->check[to->checks++] = (struct page_check){ .state = state };
}

static int by_state(const void *a, const void *b)
{
    const struct page_check *x = a, *y = b;
    return (x->state > y->state) - (x->state < y->state);
}

void page_sort_checks(struct page_check *check, uint32_t checks)
{
    qsort(check, checks, sizeof *check, by_state);
}

/* The ends, the peak's ends, the ooms, and others spread over the recording. */
static void choose_checks(const struct study *s, struct page_device *to)
{
    const struct curve *requested = &s->curves.of[CURVE_REQUESTED];
    uint32_t first = s->r->devices.first_event[s->device];
    add_check(to, 0);
    add_check(to, (uint32_t)(requested->peak_event + 1));
    add_check(to, (uint32_t)(requested->peak_last_event + 1));
    add_check(to, to->states - 1);
    for (uint32_t i = 0; i < s->events && to->checks < PAGE_CHECKS / 2; i++)
        if (s->r->events.action[first + i] == ACTION_OOM)
            add_check(to, i + 1);
    for (uint32_t i = 1; i < PAGE_CHECKS; i++)
        add_check(to, (uint32_t)((uint64_t)i * to->states / PAGE_CHECKS));
    page_sort_checks(to->check, to->checks);
}

/* Which check is the first whose event is not before `event`. */
static uint32_t check_from(const struct page_check *check, uint32_t checks, int64_t event)
{
    uint32_t place;
    SORTED_FIND(place, checks, (int64_t)check[place].state - 1 < event);
    return place;
}

void page_count_live(const struct study *s, struct page_check *check, uint32_t checks)
{
    uint64_t born[PAGE_CHECKS + 1] = { 0 }, freed[PAGE_CHECKS + 1] = { 0 }, live = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->freed <= l->birth)
            continue;
        born[check_from(check, checks, l->birth)]++;
        freed[check_from(check, checks, l->freed)]++;
    }
    for (uint32_t i = 0; i < checks; i++)
        check[i].live = live += born[i] - freed[i];
}

/* What a window is taken from later. */
static void keep(const struct covering *c)
{
    struct page_draft *draft = c->to->draft;
    draft->span = c->span;
    draft->spans = c->spans;
    memcpy(draft->check, c->to->check, sizeof draft->check);
    draft->checks = c->to->checks;
}

enum vrs_status page_cover(const struct study *s, struct page_chunks *chunks,
                           struct page_device *ret, struct vrs_error *err)
{
    static const struct page_column columns[] = {
        { "state", PAGE_U32, PAGE_DELTA, "state", cover_state, PAGE_NEEDED },
        { "requested", PAGE_U64, PAGE_ZIGZAG, "byte", cover_requested, PAGE_NEEDED },
        { "reserved", PAGE_U64, PAGE_ZIGZAG, "byte", cover_reserved, PAGE_NEEDED },
    };
    struct page_table *table = &ret->table[PAGE_COVER_TABLE];
    struct covering c = { .s = s, .to = ret };
    c.spans = ret->states < PAGE_COVER ? ret->states : PAGE_COVER;
    c.span = arena_array(s->scratch, struct page_span, c.spans);
    if (c.span == NULL)
        return vrs_no_memory(err);
    choose_checks(s, ret);
    walk(&c);
    page_count_live(s, ret->check, ret->checks);
    ret->peak_state = (uint32_t)(s->curves.of[CURVE_REQUESTED].peak_event + 1);
    keep(&c);
    table->rows = c.spans;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!page_queue(chunks, table, &columns[i], ret->draft))
            return vrs_no_memory(err);
    return VRS_OK;
}
