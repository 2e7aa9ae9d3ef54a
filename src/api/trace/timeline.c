/* timeline.c - questions about a memory timeline, of which those that need events are refused. */
#include "api/trace/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/timeline/timeline.h"
#include "api/result.h"
#include "base/str.h"
#include "model/memory_timeline.h"
#include "render/trace/trace_answer.h"

bool vrs_trace_is_timeline(const struct vrs_trace *trace)
{
    return trace->model.timeline.form != TIMELINE_NONE;
}

enum vrs_status timeline_refuse(const struct vrs_trace *trace, const char *what,
                                struct vrs_error *err)
{
    if (!vrs_trace_is_timeline(trace))
        return VRS_OK;
    return vrs_fail(err, VRS_UNSUPPORTED,
                    "a memory timeline of torch.profiler, which has bytes by category over time and "
                    "no %s; traces, as export_chrome_trace() writes them, have them",
                    what);
}

/* What of the options means nothing without events; NULL: all of them mean something. */
static const char *meaningless(const struct vrs_trace_options *o)
{
    static const struct {
        uint32_t section;
        const char *what;
    } parts[] = {
        { VRS_TRACE_OPS, "operators" },
        { VRS_TRACE_KERNELS, "kernels" },
        { VRS_TRACE_GAPS, "gaps in the work of devices" },
        { VRS_TRACE_STEPS, "steps" },
        { VRS_TRACE_CALLS, "calls of the runtime" },
        { VRS_TRACE_FINDINGS, "findings of rules" },
        { VRS_TRACE_PHASES, "phases" },
        { VRS_TRACE_LAUNCHES, "launches" },
        { VRS_TRACE_MODULES, "modules" },
        { VRS_TRACE_TREE, "call paths" },
        { VRS_TRACE_METHOD, "bottleneck of work" },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if ((o->sections & parts[i].section) != 0)
            return parts[i].what;
    return o->by != NULL || o->as_framework ? "operators"
           : o->threshold_count > 0         ? "findings of rules"
           : o->min_share != NULL           ? "call paths"
                                            : NULL;
}

enum vrs_status timeline_report(const struct vrs_trace *trace, const struct vrs_trace_options *o,
                                struct vrs_result **ret, struct vrs_error *err)
{
    const char *what = meaningless(o);
    if (what != NULL)
        TRY(timeline_refuse(trace, what, err));
    struct vrs_result *result = result_make(&trace_timeline_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_timeline *timeline = result->set.answers;
    enum vrs_status status = trace_timeline_make(&trace->model, result->arena, timeline, err);
    timeline->file.size_bytes = trace->size_bytes;
    timeline->file.path =
        result_text(result->arena, str_from(o->path != NULL ? o->path : trace->path));
    if (status == VRS_OK && timeline->file.path.ptr == NULL)
        status = vrs_no_memory(err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
