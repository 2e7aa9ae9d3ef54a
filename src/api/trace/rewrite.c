/* rewrite.c - a trace, or a part of it, as a file that a profiler might have written. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/slice/slice.h"
#include "api/file.h"
#include "api/trace/timeline.h"
#include "api/trace/trace_file.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/str.h"
#include "model/trace.h"
#include "render/trace/chrome.h"
#include "render/write/out.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

static bool keeps(const void *arg, enum chrome_table table, uint32_t row)
{
    const struct slice *slice = arg;
    switch (table) {
    case CHROME_SPANS:
        return slice->span[row];
    case CHROME_FLOWS:
        return slice->flow[row];
    case CHROME_MEMORY:
        return slice->memory[row];
    }
    return true;
}

static bool read_number(str text, int64_t *ret)
{
    uint64_t n = 0;
    bool negative = false;
    if (!number_integer(text, &n, &negative) || negative || n > INT64_MAX)
        return false;
    *ret = (int64_t)n;
    return true;
}

/* "3..5", "3" alone, or "3.." and "..5", which are open. */
static enum vrs_status read_steps(const char *text, struct slice_question *ret,
                                  struct vrs_error *err)
{
    if (text == NULL)
        return VRS_OK;
    str all = str_from(text);
    size_t dots = str_find(all, S(".."));
    str first = { all.ptr, dots }, last = first;
    if (dots < all.len)
        last = (str){ all.ptr + dots + 2, all.len - dots - 2 };
    ret->by_steps = true;
    ret->first_step = SLICE_FROM_FIRST;
    ret->last_step = SLICE_TO_LAST;
    bool is_open = dots < all.len && first.len + last.len > 0;
    if (!((is_open && first.len == 0) || read_number(first, &ret->first_step)) ||
        !((is_open && last.len == 0) || read_number(last, &ret->last_step)) ||
        ret->first_step > ret->last_step)
        return vrs_fail(err, VRS_USAGE,
                        "steps are named as 3..5, 3.. (to the last), ..5, or 3 alone, not "
                        "\"%.40s\"",
                        text);
    return VRS_OK;
}

static enum vrs_status write_slice(const struct trace *t, const struct slice_question *q,
                                   const struct vrs_sink *sink, struct vrs_error *err)
{
    struct arena arena;
    struct slice slice;
    struct out out = { .write = sink->write, .arg = sink->arg };
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = slice_make(t, q, &arena, &slice, err);
    if (status == VRS_OK) {
        const struct chrome_choice choice = { keeps, &slice };
        buf_init(&out.text, SIZE_MAX / 2);
        chrome_write(&out, t, &choice);
        status = out_finish(&out, VRS_OK, err);
    }
    arena_free(&arena);
    return status;
}

enum vrs_status vrs_trace_rewrite(const struct vrs_trace *trace,
                                  const struct vrs_trace_rewrite_options *options,
                                  const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_trace_rewrite_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct slice_question q = { .drop_python = o.drop_python,
                                .min_duration_ns = o.min_duration_ns };
    TRY(timeline_refuse(trace, "events to be written", err));
    TRY(read_steps(o.steps, &q, err));
    return write_slice(&trace->model, &q, sink, err);
}

enum vrs_status vrs_trace_rewrite_check(const struct vrs_trace_rewrite_options *options,
                                        struct vrs_error *err)
{
    struct vrs_trace_rewrite_options o = { 0 };
    struct slice_question q = { .by_steps = false };
    options_take(&o, sizeof o, options);
    return read_steps(o.steps, &q, err);
}
