/* order.c - the one order of events: by start, then the longer first, then as in the file. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/radix_sort.h"
#include "model/trace.h"

/* A stretch of equal starts: the longer go first, without changing the order of equal ones. */
static void longer_first(const struct spans *s, uint32_t *row, uint32_t count,
                         struct radix_order_room *room)
{
    enum { FEW = 64 };
    if (count > FEW) {
        radix_order(s->duration, true, row, count, room);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moved = row[i], at = i;
        for (; at > 0 && s->duration[row[at - 1]] < s->duration[moved]; at--)
            row[at] = row[at - 1];
        row[at] = moved;
    }
}

bool sort_spans(const struct trace *t, struct arena *arena, uint32_t **ret)
{
    const struct spans *s = &t->spans;
    uint32_t count = s->rows.len;
    uint32_t *row = radix_ordered(s->start, count, arena);
    struct arena_mark mark = arena_mark(arena);
    struct radix_order_room room;
    if (row == NULL || !radix_order_room_make(&room, count, arena))
        return false;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && s->start[row[end]] == s->start[row[i]]; end++)
            ;
        longer_first(s, row + i, end - i, &room);
    }
    arena_release(arena, mark);
    *ret = row;
    return true;
}
