/* report.c - where the time of a trace went. */
#include <stddef.h>

#include "analysis/trace/report/report.h"
#include "api/file.h"
#include "api/result.h"
#include "api/trace/trace_file.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/trace/trace_answer.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

enum vrs_status vrs_trace_report(const struct vrs_trace *trace,
                                 const struct vrs_trace_options *options, struct vrs_result **ret,
                                 struct vrs_error *err)
{
    struct vrs_trace_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct vrs_result *result = result_make(&trace_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_report *report = result->set.answers;
    enum vrs_status status = trace_report_make(&trace->model, o.as_framework, result->arena, report, err);
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
