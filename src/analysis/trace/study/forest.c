/* forest.c - one pass over each track with a stack of what still runs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/table.h"
#include "model/trace.h"

/* Puts the spans of each track side by side, in the order that they have. */
static void distribute(const uint32_t *sorted, uint32_t spans, const uint32_t *track,
                       struct forest *f)
{
    for (uint32_t i = 0; i < spans; i++)
        if (track[i] != NO_ROW)
            f->first[track[i] + 1]++;
    for (uint32_t k = 0; k < f->threads; k++) {
        f->used += f->first[k + 1] > 0;
        f->first[k + 1] += f->first[k];
    }
    for (uint32_t i = 0; i < spans; i++)
        if (track[sorted[i]] != NO_ROW)
            f->row[f->first[track[sorted[i]]]++] = sorted[i];
    for (uint32_t k = f->threads; k > 0; k--)
        f->first[k] = f->first[k - 1];
    f->first[0] = 0;
}

/* The spans of one track. */
static void nest(const struct spans *s, struct forest *f, uint32_t thread, uint32_t *open)
{
    uint32_t depth = 0;
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
        uint32_t row = f->row[i];
        while (depth > 0 && (s->start[row] >= span_end(s, open[depth - 1]) ||
                             span_end(s, row) > span_end(s, open[depth - 1]))) {
            f->overlaps += s->start[row] < span_end(s, open[depth - 1]);
            depth--;
        }
        f->parent[row] = depth > 0 ? open[depth - 1] : NO_ROW;
        open[depth++] = row;
        if (depth > f->max_depth)
            f->max_depth = depth;
    }
}

bool forest_make(const struct trace *t, const uint32_t *sorted, const uint32_t *track,
                 struct arena *arena, struct forest *ret)
{
    uint32_t spans = t->spans.rows.len, threads = t->tracks.rows.len;
    *ret = (struct forest){ .threads = threads };
    ret->first = arena_array(arena, uint32_t, (size_t)threads + 1);
    ret->row = arena_array(arena, uint32_t, spans);
    ret->parent = arena_array(arena, uint32_t, spans);
    struct arena_mark mark = arena_mark(arena);
    uint32_t *open = arena_array(arena, uint32_t, spans);
    if (ret->first == NULL || ret->row == NULL || ret->parent == NULL || open == NULL)
        return false;
    for (uint32_t i = 0; i < spans; i++)
        ret->parent[i] = NO_ROW;
    distribute(sorted, spans, track, ret);
    for (uint32_t k = 0; k < threads; k++)
        nest(&t->spans, ret, k, open);
    arena_release(arena, mark);
    return true;
}
