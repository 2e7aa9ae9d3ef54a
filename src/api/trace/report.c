/* report.c - where the time of a trace went. */
#include <stddef.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/rules.h"
#include "api/file.h"
#include "api/result.h"
#include "api/trace/trace_file.h"
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

enum vrs_status vrs_trace_report(const struct vrs_trace *trace,
                                 const struct vrs_trace_options *options, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    struct vrs_trace_options o = { 0 };
    struct trace_limits limits;
    options_take(&o, sizeof o, options);
    TRY(limits_of(&o, &limits, err));
    struct vrs_result *result = result_make(&trace_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_report *report = result->set.answers;
    enum vrs_status status = trace_report_judge(&trace->model, o.as_framework, &limits,
                                                result->arena, report, err);
    report->sections = o.sections;
    report->file.size_bytes = trace->size_bytes;
    report->file.path =
        result_text(result->arena, str_from(o.path != NULL ? o.path : trace->path));
    if (status == VRS_OK && report->file.path.ptr == NULL)
        status = vrs_no_memory(err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
