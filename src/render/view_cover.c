/* view_cover.c - one pass over the events: the curves in columns, and the figures of some states.
 */
#include <stdlib.h>

#include "analysis/curves.h"
#include "render/view.h"

struct cover_column {
    uint32_t state; /* with the most requested bytes, the earliest */
    int64_t requested, reserved;
};

struct covering {
    const struct study *s;
    struct cover_column *column;
    uint32_t columns;
    struct view_device *to;
};

/* Bytes below zero, in a file that lies, are shown as none. */
static uint64_t number(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

static uint64_t cover_state(const void *from, uint32_t row)
{
    return ((const struct covering *)from)->column[row].state;
}

static uint64_t cover_requested(const void *from, uint32_t row)
{
    return number(((const struct covering *)from)->column[row].requested);
}

static uint64_t cover_reserved(const void *from, uint32_t row)
{
    return number(((const struct covering *)from)->column[row].reserved);
}

static void note_checks(struct view_device *to, uint32_t state, int64_t requested, int64_t reserved)
{
    for (uint32_t i = 0; i < to->checks; i++)
        if (to->check[i].state == state) {
            to->check[i].requested_bytes = requested;
            to->check[i].reserved_bytes = reserved;
            to->check[i].reserved_known = to->start_known;
        }
}

/* What was reserved and what was free when a request failed were on the card together.  Sums of
 * hostile sizes are no capacity. */
static void note_capacity(struct view_device *to, const struct recording *r, uint32_t row,
                          uint64_t reserved)
{
    uint64_t left = r->events.address[row];
    if (r->events.action[row] != ACTION_OOM || left == UNKNOWN_U64 || reserved > VIEW_NUMBER_MOST ||
        left > VIEW_NUMBER_MOST - reserved)
        return;
    if (to->capacity_bytes == UNKNOWN_U64 || reserved + left > to->capacity_bytes)
        to->capacity_bytes = reserved + left;
}

static void walk(struct covering *c)
{
    const struct recording *r = c->s->r;
    uint32_t first = r->devices.first_event[c->s->device], column = 0;
    uint64_t states = c->to->states;
    uint64_t requested = (uint64_t)c->s->curves.of[CURVE_REQUESTED].start_bytes;
    uint64_t reserved = (uint64_t)c->s->curves.of[CURVE_RESERVED].start_bytes;
    for (uint32_t state = 0; state < states; state++) {
        if (state > 0) {
            uint32_t row = first + state - 1;
            uint64_t size = known_or_0(r->events.size[row]);
            requested += requested_change(r, row);
            reserved += action_obtains(r->events.action[row])   ? size
                        : action_returns(r->events.action[row]) ? -size
                                                                : 0;
            note_capacity(c->to, r, row, reserved);
        }
        if (column < c->columns && state == (column + (uint64_t)1) * states / c->columns)
            column++;
        struct cover_column *to = &c->column[column];
        bool begins = state == column * states / c->columns;
        if (begins || (int64_t)requested > to->requested)
            *to = (struct cover_column){ state, (int64_t)requested, (int64_t)reserved };
        note_checks(c->to, state, (int64_t)requested, (int64_t)reserved);
    }
}

static void add_check(struct view_device *to, uint32_t state)
{
    for (uint32_t i = 0; i < to->checks; i++)
        if (to->check[i].state == state)
            return;
    if (to->checks < VIEW_CHECKS && state < to->states)
        to->check[to->checks++] = (struct view_check){ .state = state };
}

static int by_state(const void *a, const void *b)
{
    const struct view_check *x = a, *y = b;
    return (x->state > y->state) - (x->state < y->state);
}

/* The ends, the peak's ends, the ooms, and others spread over the recording. */
static void choose_checks(const struct study *s, struct view_device *to)
{
    const struct curve *requested = &s->curves.of[CURVE_REQUESTED];
    uint32_t first = s->r->devices.first_event[s->device];
    add_check(to, 0);
    add_check(to, (uint32_t)(requested->peak_event + 1));
    add_check(to, (uint32_t)(requested->peak_last_event + 1));
    add_check(to, to->states - 1);
    for (uint32_t i = 0; i < s->events && to->checks < VIEW_CHECKS / 2; i++)
        if (s->r->events.action[first + i] == ACTION_OOM)
            add_check(to, i + 1);
    for (uint32_t i = 1; i < VIEW_CHECKS; i++)
        add_check(to, (uint32_t)((uint64_t)i * to->states / VIEW_CHECKS));
    qsort(to->check, to->checks, sizeof *to->check, by_state);
}

static void count_live(const struct study *s, struct view_device *to)
{
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        for (uint32_t c = 0; c < to->checks; c++)
            to->check[c].live +=
                lifetime_alive(&s->lifetimes.at[i], (int64_t)to->check[c].state - 1);
}

enum vrs_status view_cover(const struct study *s, struct view_blocks *blocks,
                           struct view_device *ret, struct vrs_error *err)
{
    static const struct view_column columns[] = {
        { "state", VIEW_U32, VIEW_DELTA, "state", cover_state },
        { "requested", VIEW_U64, VIEW_ZIGZAG, "byte", cover_requested },
        { "reserved", VIEW_U64, VIEW_ZIGZAG, "byte", cover_reserved },
    };
    struct covering c = { .s = s, .to = ret };
    struct view_table *table = &ret->table[VIEW_COVER_TABLE];
    c.columns = ret->states < VIEW_COVER ? ret->states : VIEW_COVER;
    c.column = arena_array(s->scratch, struct cover_column, c.columns);
    if (c.column == NULL)
        return vrs_no_memory(err);
    choose_checks(s, ret);
    walk(&c);
    count_live(s, ret);
    uint64_t older = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        older += s->lifetimes.at[i].birth < 0 ? s->lifetimes.at[i].bytes : 0;
    ret->adjust_bytes = (int64_t)((uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes - older);
    table->rows = c.columns;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        TRY(view_pack(blocks, &columns[i], &c, c.columns, &table->column[table->columns++], err));
    return VRS_OK;
}
