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
#include "format/input/limits.h"
#include "format/read_trace.h"
#include "made/dribble.h"
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

#endif
