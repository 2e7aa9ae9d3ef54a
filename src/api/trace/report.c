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

static enum vrs_status limits_of(const struct vrs_trace_options *o, struct trace_limits *ret,
                                 struct vrs_error *err)
{
    trace_limits_init(ret);
    for (size_t i = 0; i < o->threshold_count; i++)
        TRY(trace_limits_set(ret, str_from(o->thresholds[i]), err));
    return VRS_OK;
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
        !job_of_files(joined->set.answers, joined->set.count, joined->arena, &set->ranks))
        return vrs_no_memory(err);
    joined->set.more = set;
    return VRS_OK;
}

/* The call tree, where it is to be shown. */
static enum vrs_status add_tree(const struct vrs_trace *trace, const struct vrs_trace_options *o,
                                struct arena *arena, struct trace_report *report,
                                struct vrs_error *err)
{
    double least = TREE_LEAST_SHARE;
    if (o->min_share != NULL && !tree_share_read(str_from(o->min_share), &least))
        return vrs_fail(err, VRS_USAGE,
                        "a share is a percentage such as 2.5%% or a number from 0 to 1, not "
                        "\"%.40s\"",
                        o->min_share);
    if ((o->sections & VRS_TRACE_TREE) == 0)
        return VRS_OK;
    report->tree = arena_array(arena, struct trace_tree, 1);
    if (report->tree == NULL)
        return vrs_no_memory(err);
    return trace_tree_make(&trace->model, least, arena, report->tree, err);
}

/* Operators by more than their names, where these are asked for. */
static enum vrs_status add_split(const struct vrs_trace *trace, const struct vrs_trace_options *o,
                                 struct arena *arena, struct trace_report *report,
                                 struct vrs_error *err)
{
    struct trace_split by;
    if (o->by == NULL)
        return VRS_OK;
    TRY(trace_split_read(str_from(o->by), &by, err));
    return trace_split_make(&trace->model, by, o->as_framework, arena, report, err);
}

enum vrs_status vrs_trace_report(const struct vrs_trace *trace,
                                 const struct vrs_trace_options *options, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    struct vrs_trace_options o = { 0 };
    struct trace_limits limits;
    options_take(&o, sizeof o, options);
    TRY(limits_of(&o, &limits, err));
    if (vrs_trace_is_timeline(trace))
        return timeline_report(trace, &o, ret, err);
    struct vrs_result *result = result_make(&trace_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_report *report = result->set.answers;
    enum vrs_status status =
        trace_report_of(trace, o.path, o.as_framework, &limits, result->arena, report, err);
    if (status == VRS_OK)
        status = add_tree(trace, &o, result->arena, report, err);
    if (status == VRS_OK)
        status = add_split(trace, &o, result->arena, report, err);
    report->sections = o.sections;
    result->join = join_reports;
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
