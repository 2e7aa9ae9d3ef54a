/* diff.c - what changed between two traces, or two steps of one. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/diff/trace_diff.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/splits/split.h"
#include "api/file.h"
#include "api/limit.h"
#include "api/result.h"
#include "api/trace/timeline.h"
#include "api/trace/trace_file.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/noise.h"
#include "base/number.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/trace/trace_answer.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* "step:3", of which the number is given; NULL is all of them. */
static enum vrs_status read_step(const char *text, int64_t *ret, struct vrs_error *err)
{
    const str begin = S("step:");
    uint64_t n = 0;
    bool negative = false;
    *ret = -1;
    if (text == NULL)
        return VRS_OK;
    str word = str_from(text);
    str number = { word.ptr + begin.len, word.len - begin.len };
    if (!str_starts(word, begin) || !number_integer(number, &n, &negative) || negative ||
        n > INT64_MAX)
        return vrs_fail(err, VRS_USAGE,
                        "two traces are compared in all their steps, or in one, as step:3, not at "
                        "\"%.40s\"",
                        text);
    *ret = (int64_t)n;
    return VRS_OK;
}

static enum vrs_status read_question(const struct vrs_trace_diff_options *o,
                                     struct noise_limit *limit,
                                     struct trace_diff_question *ret, struct vrs_error *err)
{
    TRY(read_step(o->at, &ret->step[0], err));
    TRY(read_step(o->to != NULL ? o->to : o->at, &ret->step[1], err));
    if (o->by != NULL)
        TRY(trace_split_read(str_from(o->by), &ret->by, err));
    if ((ret->by.parts & SPLIT_STEP) != 0)
        return vrs_fail(err, VRS_USAGE,
                        "traces are compared step by step already: operators of two are matched by "
                        "shapes, module, phase and stack");
    if (limit_from(o->fail_over_ns, o->fail_over_millionths, limit))
        ret->limit = limit;
    return VRS_OK;
}

/* The limit is kept or not; without one nothing is judged. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    const struct trace_diff *diff = set->answers;
    if (diff->limit == NULL)
        return VRS_NO_VERDICT;
    return diff->limit->exceeded ? VRS_NO : VRS_YES;
}

static enum vrs_status name_side(const struct vrs_trace *trace, const char *path,
                                 struct arena *arena, struct trace_file *ret,
                                 struct vrs_error *err)
{
    ret->size_bytes = trace->size_bytes;
    ret->path = result_text(arena, str_from(path != NULL ? path : trace->path));
    return ret->path.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status vrs_trace_diff(const struct vrs_trace *a, const struct vrs_trace *b,
                               const struct vrs_trace_diff_options *options,
                               struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_trace_diff_options o = { 0 };
    struct noise_limit limit;
    struct trace_diff_question q = { .trace = { &a->model, &b->model }, .threads = a->threads };
    options_take(&o, sizeof o, options);
    TRY(timeline_refuse(a, "steps to be compared (A)", err));
    TRY(timeline_refuse(b, "steps to be compared (B)", err));
    TRY(read_question(&o, &limit, &q, err));
    struct vrs_result *result = result_make(&trace_diff_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_diff *diff = result->set.answers;
    enum vrs_status status = trace_diff_make(&q, result->arena, diff, err);
    if (status == VRS_OK)
        status = name_side(a, o.path, result->arena, &diff->a.file, err);
    if (status == VRS_OK)
        status = name_side(b, o.b_path, result->arena, &diff->b.file, err);
    result->verdict = verdict_of;
    result->alone = "a comparison of two traces is no part of a set";
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}

enum vrs_status vrs_trace_diff_check(const struct vrs_trace_diff_options *options,
                                     struct vrs_error *err)
{
    struct vrs_trace_diff_options o = { 0 };
    struct noise_limit limit;
    struct trace_diff_question q = { .limit = NULL };
    options_take(&o, sizeof o, options);
    return read_question(&o, &limit, &q, err);
}
