/* order.c - the one order of events: by start, then the longer first, then as in the file. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/radix_sort.h"
#include "model/trace.h"

/* Rows are carried along and not compared: the sort keeps the order of equal ones. */
struct sorting {
    struct radix_row *row;
    struct radix_room room; /* another buffer than `row`; they change places */
};

static void sort_into(struct sorting *sorting, uint32_t *row, uint32_t count)
{
    sorting->row = radix_sort(sorting->row, count, &sorting->room);
    for (uint32_t i = 0; i < count; i++)
        row[i] = sorting->row[i].last;
}

/* A stretch of equal starts, which is short: the longer go first, in place and without changing
 * the order of equal ones. */
static void longer_first(const struct spans *s, uint32_t *row, uint32_t count,
                         struct sorting *sorting)
{
    if (count < 2)
        return;
    enum { FEW = 16 };
    if (count <= FEW) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t moved = row[i], at = i;
            for (; at > 0 && s->duration[row[at - 1]] < s->duration[moved]; at--)
                row[at] = row[at - 1];
            row[at] = moved;
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        sorting->row[i] = (struct radix_row){
            .key = UINT64_MAX - (uint64_t)s->duration[row[i]], .last = row[i]
        };
    sort_into(sorting, row, count);
}

bool sort_spans(const struct trace *t, struct arena *arena, uint32_t **ret)
{
    const struct spans *s = &t->spans;
    uint32_t count = s->rows.len;
    uint32_t *row = arena_array(arena, uint32_t, count);
    struct arena_mark mark = arena_mark(arena);
    struct sorting sorting = { .row = arena_array(arena, struct radix_row, count) };
    if (row == NULL || sorting.row == NULL || !radix_room_make(&sorting.room, count, arena))
        return false;
    for (uint32_t i = 0; i < count; i++)
        sorting.row[i] = (struct radix_row){ .key = radix_key_i64(s->start[i]), .last = i };
    sort_into(&sorting, row, count);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && s->start[row[end]] == s->start[row[i]]; end++)
            ;
        longer_first(s, row + i, end - i, &sorting);
    }
    arena_release(arena, mark);
    *ret = row;
    return true;
}
