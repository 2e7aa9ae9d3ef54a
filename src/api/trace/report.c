/* report.c - where the time of a trace went. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/calls/tree.h"
#include "analysis/trace/report/job.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/rules.h"
#include "analysis/trace/splits/split.h"
#include "api/file.h"
#include "api/result.h"
#include "api/trace/timeline.h"
#include "api/trace/trace_file.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/trace/trace_answer.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

const char *vrs_trace_threshold(size_t i)
{
    return i < TRACE_THRESHOLDS ? trace_thresholds[i].name : NULL;
}

/* The caller's words, read. */
struct words_read {
    struct trace_limits limits;
    double least_share;
    struct trace_split by;
};

static enum vrs_status read_words(const struct vrs_trace_options *o, struct words_read *ret,
                                  struct vrs_error *err)
{
    *ret = (struct words_read){ .least_share = TREE_LEAST_SHARE };
    trace_limits_init(&ret->limits);
    for (size_t i = 0; i < o->threshold_count; i++)
        TRY(trace_limits_set(&ret->limits, str_from(o->thresholds[i]), err));
    if (o->min_share != NULL && !tree_share_read(str_from(o->min_share), &ret->least_share))
        return vrs_fail(err, VRS_USAGE,
                        "a share is a percentage such as 2.5%% or a number from 0 to 1, not "
                        "\"%.40s\"",
                        o->min_share);
    return o->by == NULL ? VRS_OK : trace_split_read(str_from(o->by), &ret->by, err);
}

enum vrs_status vrs_trace_report_check(const struct vrs_trace_options *options,
                                       struct vrs_error *err)
{
    struct vrs_trace_options o = { 0 };
    struct words_read ignored;
    options_take(&o, sizeof o, options);
    return read_words(&o, &ignored, err);
}

enum vrs_status trace_report_of(const struct vrs_trace *trace, const char *path, bool as_framework,
                                const struct trace_limits *limits, struct arena *arena,
                                struct trace_report *ret, struct vrs_error *err)
{
    const struct trace_report_question q = { as_framework, limits, trace->threads };
    TRY(trace_report_make(&trace->model, &q, arena, ret, err));
    ret->file.size_bytes = trace->size_bytes;
    ret->file.path = result_text(arena, str_from(path != NULL ? path : trace->path));
    return ret->file.path.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Files of one job are compared with one another. */
static enum vrs_status join_reports(struct vrs_result *joined,
                                    const struct vrs_result *const *parts, uint32_t count,
                                    struct vrs_error *err)
{
    struct trace_set *set = arena_array(joined->arena, struct trace_set, 1);
    (void)parts;
    (void)count;
    if (set == NULL ||
        !job_of_files(joined->set.answers, joined->set.count, joined->arena, set))
        return vrs_no_memory(err);
    joined->set.more = set;
    return VRS_OK;
}

/* The call tree, where it is to be shown. */
static enum vrs_status add_tree(const struct vrs_trace *trace, double least, struct arena *arena,
                                struct trace_report *report, struct vrs_error *err)
{
    if ((report->sections & VRS_TRACE_TREE) == 0)
        return VRS_OK;
    report->tree = arena_array(arena, struct trace_tree, 1);
    if (report->tree == NULL)
        return vrs_no_memory(err);
    return trace_tree_make(&trace->model, least, arena, report->tree, err);
}

enum vrs_status vrs_trace_report(const struct vrs_trace *trace,
                                 const struct vrs_trace_options *options, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    struct vrs_trace_options o = { 0 };
    struct words_read words;
    options_take(&o, sizeof o, options);
    TRY(read_words(&o, &words, err));
    if (vrs_trace_is_timeline(trace))
        return timeline_report(trace, &o, ret, err);
    struct vrs_result *result = result_make(&trace_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_report *report = result->set.answers;
    enum vrs_status status = trace_report_of(trace, o.path, o.as_framework, &words.limits,
                                             result->arena, report, err);
    report->sections = o.sections;
    if (status == VRS_OK)
        status = add_tree(trace, words.least_share, result->arena, report, err);
    /* Operators by more than their names, where these are asked for. */
    if (status == VRS_OK && o.by != NULL)
        status = trace_split_make(&trace->model, words.by, o.as_framework, result->arena, report,
                                  err);
    result->join = join_reports;
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
