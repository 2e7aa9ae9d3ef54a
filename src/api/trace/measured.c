/* measured.c - the method on a training that was measured, with its trace where there is one. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/measured.h"
#include "analysis/trace/rules/rules.h"
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

/* A longer time is none of a step. */
enum { SECONDS_MOST = 1000000000 };

/* Nanoseconds; -1: not measured. */
static int64_t ns_of(double seconds)
{
    return seconds >= 0 && seconds <= SECONDS_MOST ? (int64_t)(seconds * 1e9 + 0.5) : -1;
}

static double known(double value)
{
    return value >= 0 ? value : -1; /* of NaN too */
}

static struct measured_training training_of(const struct vrs_measured *m, struct arena *arena)
{
    return (struct measured_training){
        .of = result_text(arena, str_from(m->of != NULL ? m->of : "a training")),
        .steps = m->steps,
        .median_ns = ns_of(m->median_s),
        .step_ns = ns_of(m->step_s),
        .loading_ns = ns_of(m->loading_s),
        .copy_ns = ns_of(m->copy_s),
        .forward_ns = ns_of(m->forward_s),
        .backward_ns = ns_of(m->backward_s),
        .optimizer_ns = ns_of(m->optimizer_s),
        .samples = known(m->samples_per_second),
        .busy = m->busy <= 1 ? known(m->busy) : -1,
        .workers = m->workers,
        .processors = m->processors,
        .on_device = m->on_device,
    };
}

static enum vrs_status make_method(const struct vrs_trace *trace, const struct vrs_measured *m,
                                   const struct vrs_trace_options *o,
                                   const struct trace_limits *limits, struct arena *arena,
                                   struct measured_method *ret, struct vrs_error *err)
{
    ret->training = training_of(m, arena);
    if (ret->training.of.ptr == NULL)
        return vrs_no_memory(err);
    if (trace != NULL) {
        struct trace_report *report = arena_array(arena, struct trace_report, 1);
        if (report == NULL)
            return vrs_no_memory(err);
        TRY(trace_report_of(trace, o->path, false, limits, arena, report, err));
        ret->traced = report;
    }
    measured_judge(limits, ret);
    return VRS_OK;
}

enum vrs_status vrs_method_report(const struct vrs_measured *measured,
                                  const struct vrs_trace *trace,
                                  const struct vrs_trace_options *options, struct vrs_result **ret,
                                  struct vrs_error *err)
{
    struct vrs_trace_options o = { 0 };
    struct vrs_measured m = { 0 };
    struct trace_limits limits;
    options_take(&o, sizeof o, options);
    options_take(&m, sizeof m, measured);
    trace_limits_init(&limits);
    for (size_t i = 0; i < o.threshold_count; i++)
        TRY(trace_limits_set(&limits, str_from(o.thresholds[i]), err));
    limits.processors = m.processors > 0 ? m.processors : 0;
    limits.workers = m.workers;
    if (trace != NULL)
        TRY(timeline_refuse(trace, "bottleneck of work", err));
    struct vrs_result *result = result_make(&measured_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    result->alone = "what was measured of two trainings is compared by vramscope compare";
    enum vrs_status status =
        make_method(trace, &m, &o, &limits, result->arena, result->set.answers, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
