/* blame.c - trees of spans flattened into pieces, then asked by binary search. */
#include "analysis/trace/busy/blame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/names.h"
#include "model/trace.h"


/* A span that is open, and how far its time has been given to pieces. */
struct open_span {
    uint32_t row;
    uint32_t blame, from; /* as those of a piece */
    int64_t done;
};

struct flattening {
    const struct trace_study *study;
    struct pieces *pieces;
    uint32_t len; /* of pieces->at */
    struct open_span *open;
    uint32_t depth;
};

/* What of an open span was not given to pieces yet, up to `end`. */
static void add_piece(struct flattening *f, const struct open_span *open, int64_t end)
{
    if (end > open->done)
        f->pieces->at[f->len++] = (struct piece){ open->done, end, open->blame, open->from };
}

static void advance(struct flattening *f, int64_t to)
{
    if (f->depth > 0 && f->open[f->depth - 1].done < to)
        f->open[f->depth - 1].done = to;
}

/* The innermost open span ends, for pieces, at `end`. */
static void pop(struct flattening *f, int64_t end)
{
    const struct open_span *top = &f->open[--f->depth];
    add_piece(f, top, end);
    advance(f, end);
}

/* By the name; where that gives no reason, by what kind of span it is. */
static uint32_t own_blame(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    uint8_t by_name = s->names.blame[spans->name[row]];
    if (by_name < BLAME_OP)
        return by_name;
    if (spans->kind[row] == SPAN_OP)
        return BLAME_OP;
    return span_is_call(spans->kind[row]) ? BLAME_RUNTIME : BLAME_PYTHON;
}

static void push(struct flattening *f, uint32_t row)
{
    const struct trace_study *s = f->study;
    int64_t start = s->trace->spans.start[row];
    struct open_span opened = { row, own_blame(s, row), row, start };
    if (f->depth > 0) {
        struct open_span *around = &f->open[f->depth - 1];
        add_piece(f, around, start);
        if (around->done < start)
            around->done = start;
        if (around->blame < opened.blame) {
            opened.blame = around->blame;
            opened.from = around->from;
        }
    }
    f->open[f->depth++] = opened;
}

static void flatten(struct flattening *f, uint32_t track)
{
    const struct forest *host = &f->study->host;
    const struct spans *spans = &f->study->trace->spans;
    for (uint32_t i = host->first[track]; i < host->first[track + 1]; i++) {
        uint32_t row = host->row[i];
        int64_t start = spans->start[row];
        while (f->depth > 0 && span_end(spans, f->open[f->depth - 1].row) <= start)
            pop(f, span_end(spans, f->open[f->depth - 1].row));
        /* What overlaps and is no parent is cut off here. */
        while (f->depth > 0 && f->open[f->depth - 1].row != host->parent[row])
            pop(f, start);
        push(f, row);
    }
    while (f->depth > 0)
        pop(f, span_end(spans, f->open[f->depth - 1].row));
}

bool pieces_make(const struct trace_study *s, struct arena *arena, struct pieces *ret)
{
    const struct forest *host = &s->host;
    uint32_t rows = host->first[host->threads];
    /* A span begins one piece of its own and cuts one of its parent's. */
    ret->first = arena_array(arena, uint32_t, (size_t)host->threads + 1);
    ret->at = arena_array(arena, struct piece, (size_t)rows * 2);
    struct arena_mark mark = arena_mark(arena);
    struct flattening f = { .study = s,
                            .pieces = ret,
                            .open = arena_array(arena, struct open_span, host->max_depth) };
    if (ret->first == NULL || ret->at == NULL || f.open == NULL)
        return false;
    for (uint32_t track = 0; track < host->threads; track++) {
        ret->first[track] = f.len;
        flatten(&f, track);
    }
    ret->first[host->threads] = f.len;
    arena_release(arena, mark);
    return true;
}

uint32_t pieces_behind(const struct pieces *p, uint32_t track, int64_t moment)
{
    uint32_t low = p->first[track], high = p->first[track + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->at[middle].end <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void blame_add(const struct pieces *p, uint32_t track, int64_t start, int64_t end,
               int64_t by_blame[BLAMES])
{
    int64_t rest = end - start;
    for (uint32_t i = pieces_behind(p, track, start);
         i < p->first[track + 1] && p->at[i].start < end; i++) {
        const struct piece *one = &p->at[i];
        int64_t from = one->start > start ? one->start : start;
        int64_t to = one->end < end ? one->end : end;
        by_blame[one->blame] += to - from;
        rest -= to - from;
    }
    by_blame[BLAME_NONE] += rest;
}
