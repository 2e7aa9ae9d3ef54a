/* diff_groups.c - rows in the order of their names, joined or compared with their neighbours. */
#include "analysis/snapshot/diff/diff_groups.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/diff/diff.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* A row in the order of names, then of owners, of operators, of rows. */
struct named {
    struct diff_row *row;
    uint32_t index;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = str_compare(x->row->name, y->row->name);
    if (order == 0)
        order = str_compare(x->row->owner, y->row->owner);
    if (order == 0)
        order = str_compare(x->row->operator_name, y->row->operator_name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static struct named *order_by_name(struct diff_row *row, uint32_t rows, struct arena *scratch)
{
    struct named *order = arena_array(scratch, struct named, rows);
    if (order == NULL)
        return NULL;
    for (uint32_t i = 0; i < rows; i++)
        order[i] = (struct named){ &row[i], i };
    if (rows > 1)
        qsort(order, rows, sizeof *order, by_name);
    return order;
}

/* A text that two rows have in common; else none. */
static str common(str a, str b)
{
    return a.ptr != NULL && b.ptr != NULL && str_equal(a, b) ? a : (str){ NULL, 0 };
}

/* What A calls a row that it has. */
static str name_in_a(const struct diff_row *row)
{
    return row->old_name.ptr != NULL ? row->old_name : row->name;
}

static void join_old_names(struct diff_row *to, const struct diff_row *from)
{
    if (from->of[0].count == 0)
        return;
    if (to->of[0].count == 0)
        to->old_name = from->old_name;
    else if (!str_equal(name_in_a(to), name_in_a(from)))
        to->old_name = (str){ NULL, 0 };
}

/* The stacks of the larger row of each side, whose figure so far is `largest`. */
static void join_stacks(struct diff_row *to, const struct diff_row *from, enum diff_weight weight,
                        uint64_t largest[2])
{
    bool taken[2] = { false, false };
    for (int side = 0; side < 2; side++) {
        uint64_t figure = diff_figure(weight, &from->of[side]);
        if (!from->has_stack[side] || (to->has_stack[side] && figure <= largest[side]))
            continue;
        to->has_stack[side] = taken[side] = true;
        to->stack[side] = from->stack[side];
        largest[side] = figure;
    }
    if (taken[0] || taken[1])
        to->same_stack = taken[0] && taken[1] && from->same_stack;
}

static void join(struct diff_row *to, const struct diff_row *from, enum diff_weight weight,
                 uint64_t largest[2])
{
    join_old_names(to, from);
    join_stacks(to, from, weight, largest);
    to->owner = common(to->owner, from->owner);
    to->operator_name = common(to->operator_name, from->operator_name);
    to->innermost = common(to->innermost, from->innermost);
    to->called_from = common(to->called_from, from->called_from);
    to->caller = common(to->caller, from->caller);
    to->stages_differ = to->stages_differ || to->stage != from->stage;
    if (from->score < to->score) {
        to->score = from->score;
        to->score_ratio = from->score_ratio;
    }
    for (int side = 0; side < 2; side++) {
        to->of[side].bytes += from->of[side].bytes;
        to->of[side].count += from->of[side].count;
        to->of[side].byte_events += from->of[side].byte_events;
    }
}

enum vrs_status diff_groups_join(struct diff_row *row, uint32_t *rows, enum diff_weight weight,
                                 struct arena *scratch, struct vrs_error *err)
{
    struct named *order = order_by_name(row, *rows, scratch);
    struct diff_row *joined = arena_array(scratch, struct diff_row, *rows);
    uint64_t largest[2] = { 0, 0 };
    uint32_t count = 0;
    if (order == NULL || joined == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < *rows; i++) {
        const struct diff_row *from = order[i].row;
        if (count > 0 && str_equal(joined[count - 1].name, from->name)) {
            join(&joined[count - 1], from, weight, largest);
            continue;
        }
        joined[count++] = *from;
        for (int side = 0; side < 2; side++)
            largest[side] = diff_figure(weight, &from->of[side]);
    }
    for (uint32_t i = 0; i < count; i++)
        row[i] = joined[i];
    *rows = count;
    return VRS_OK;
}

/* The end of the rows that have name, owner and operator in common. */
static uint32_t end_of_alike(const struct named *order, uint32_t rows, uint32_t from)
{
    const struct diff_row *first = order[from].row;
    uint32_t to = from + 1;
    while (to < rows && str_equal(order[to].row->name, first->name) &&
           str_equal(order[to].row->owner, first->owner) &&
           str_equal(order[to].row->operator_name, first->operator_name))
        to++;
    return to;
}

/* What tells rows apart that share all that. */
static void mark_alike(const struct named *order, uint32_t from, uint32_t to)
{
    bool innermost = false, called_from = false;
    for (uint32_t i = from + 1; i < to; i++) {
        const struct diff_row *a = order[i - 1].row, *b = order[i].row;
        innermost = innermost || !str_equal(a->innermost, b->innermost);
        called_from = called_from || !str_equal(a->called_from, b->called_from);
    }
    for (uint32_t i = from; i < to && to - from > 1; i++) {
        order[i].row->operator_shared = true;
        order[i].row->innermost_differs = innermost;
        order[i].row->called_from_differs = called_from;
    }
}

enum vrs_status diff_groups_mark(struct diff_row *row, uint32_t rows, struct arena *scratch,
                                 struct vrs_error *err)
{
    struct named *order = order_by_name(row, rows, scratch);
    if (order == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i + 1 < rows; i++) {
        struct diff_row *a = order[i].row, *b = order[i + 1].row;
        if (!str_equal(a->name, b->name))
            continue;
        a->name_shared = b->name_shared = true;
        if (str_equal(a->owner, b->owner))
            a->owner_shared = b->owner_shared = true;
    }
    for (uint32_t from = 0, to; from < rows; from = to) {
        to = end_of_alike(order, rows, from);
        mark_alike(order, from, to);
    }
    return VRS_OK;
}
