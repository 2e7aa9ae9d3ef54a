/* text_trace.h - a trace read from text, so many bytes at a time. */
#ifndef TESTS_UNIT_TEXT_TRACE_H
#define TESTS_UNIT_TEXT_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "format/input/limits.h"
#include "format/read_trace.h"
#include "made/dribble.h"
#include "model/strings.h"
#include "model/trace.h"

struct text_trace {
    enum vrs_status status;
    struct vrs_error err;
    struct trace trace; /* when status is VRS_OK */
};

/* `step` bytes a read; 0: all that are asked for. */
static inline void text_trace_read(const void *text, size_t len, size_t step,
                                   const struct limits *limits, struct text_trace *ret)
{
    struct dribble d = { .at = text, .left = len, .step = step };
    const struct read_trace_options options = { .limits = limits, .size_bytes = len };
    *ret = (struct text_trace){ .err.message = "" };
    ret->status = read_trace(dribble_source(&d), &options, &ret->trace, &ret->err);
}

static inline void text_trace_free(struct text_trace *t)
{
    if (t->status == VRS_OK)
        trace_free(&t->trace);
}

/* Of `text`, which must be a trace. */
static inline struct trace *text_trace_of(const char *text, struct text_trace *ret)
{
    text_trace_read(text, strlen(text), 0, &default_limits, ret);
    if (ret->status != VRS_OK)
        fail_msg("%s: %s", text, ret->err.message);
    return &ret->trace;
}

static inline bool text_equal(const struct trace *t, uint32_t id, const char *wanted)
{
    return str_equal(trace_text(t, id), str_from(wanted));
}

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

/* The events of `a` are the first of those of `b`, and the texts of their ids too. */
static inline bool trace_begins(const struct trace *a, const struct trace *b)
{
    return a->events <= b->events && trace_column_begins(&a->strings, &b->strings, &strings_kind) &&
           trace_column_begins(&a->tracks, &b->tracks, &tracks_kind) &&
           trace_column_begins(&a->spans, &b->spans, &spans_kind) &&
           trace_column_begins(&a->flows, &b->flows, &flows_kind) &&
           trace_column_begins(&a->memory, &b->memory, &memory_events_kind) &&
           memcmp(a->strings.bytes.at, b->strings.bytes.at, a->strings.bytes.len) == 0;
}

static inline bool trace_same(const struct trace *a, const struct trace *b)
{
    return trace_begins(a, b) && trace_begins(b, a) &&
           memcmp(a->damage, b->damage, sizeof a->damage) == 0 && a->read_bytes == b->read_bytes;
}

#endif
