/* trace_same.h - whether two traces are the same, or one the beginning of the other. */
#ifndef TESTS_UNIT_TRACE_SAME_H
#define TESTS_UNIT_TRACE_SAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/table.h"
#include "model/memory_timeline.h"
#include "model/strings.h"
#include "model/trace.h"

/* Whether the rows of `a` are the first of those of `b`. */
static inline bool trace_column_begins(const void *a, const void *b, const struct table_kind *kind)
{
    const struct table *rows = a;
    const struct table *more = b;
    if (rows->len > more->len)
        return false;
    for (uint32_t c = 0; c < kind->columns; c++) {
        const struct column *column = &kind->column[c];
        const void *one = *(void *const *)(const void *)((const char *)a + column->offset);
        const void *two = *(void *const *)(const void *)((const char *)b + column->offset);
        size_t size = rows->len * column_width((enum column_type)column->type);
        if (size > 0 && memcmp(one, two, size) != 0)
            return false;
    }
    return true;
}

/* The states of `a` are the first of those of `b`. */
static inline bool timeline_begins_as(const struct memory_timeline *a,
                                      const struct memory_timeline *b)
{
    return trace_column_begins(a, b, &memory_timeline_kind);
}

static inline bool timeline_same(const struct memory_timeline *a, const struct memory_timeline *b)
{
    return timeline_begins_as(a, b) && timeline_begins_as(b, a) && a->form == b->form &&
           a->has_before == b->has_before && memcmp(a->before, b->before, sizeof a->before) == 0 &&
           memcmp(a->actions, b->actions, sizeof a->actions) == 0;
}

/* The events of `a` are the first of those of `b`, and the texts of their ids too. */
static inline bool trace_begins(const struct trace *a, const struct trace *b)
{
    return a->events <= b->events && trace_column_begins(&a->strings, &b->strings, &strings_kind) &&
           trace_column_begins(&a->tracks, &b->tracks, &tracks_kind) &&
           trace_column_begins(&a->spans, &b->spans, &spans_kind) &&
           trace_column_begins(&a->stacks, &b->stacks, &span_stacks_kind) &&
           trace_column_begins(&a->stacks.texts, &b->stacks.texts, &strings_kind) &&
           memcmp(a->stacks.texts.bytes.at, b->stacks.texts.bytes.at,
                  a->stacks.texts.bytes.len) == 0 &&
           trace_column_begins(&a->flows, &b->flows, &flows_kind) &&
           trace_column_begins(&a->memory, &b->memory, &memory_events_kind) &&
           memcmp(a->strings.bytes.at, b->strings.bytes.at, a->strings.bytes.len) == 0;
}

static inline bool trace_same(const struct trace *a, const struct trace *b)
{
    return trace_begins(a, b) && trace_begins(b, a) && timeline_same(&a->timeline, &b->timeline) &&
           memcmp(a->damage, b->damage, sizeof a->damage) == 0 && a->read_bytes == b->read_bytes;
}

#endif
