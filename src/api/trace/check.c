/* check.c - does a trace keep limits of time and memory. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/check/trace_check.h"
#include "analysis/trace/report/report.h"
#include "api/file.h"
#include "api/result.h"
#include "api/trace/trace_file.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/trace/trace_answer.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* The limits in words; a later one replaces an earlier of the same name. */
static enum vrs_status read_limits(const struct vrs_trace_check_options *o,
                                   struct trace_limit limit[TRACE_LIMITS], uint32_t *ret_limits,
                                   struct vrs_error *err)
{
    uint32_t limits = 0;
    for (uint32_t i = 0; i < o->limits; i++) {
        struct trace_limit made;
        TRY(trace_limit_read(str_from(o->limit[i].name), text_or_empty(o->limit[i].value), &made,
                             err));
        uint32_t at = 0;
        while (at < limits && limit[at].kind != made.kind)
            at++;
        limits += at == limits;
        limit[at] = made;
    }
    if (limits == 0)
        return vrs_fail(err, VRS_USAGE,
                        "a profiler trace, and none of the limits is one of traces: --min-busy, "
                        "--max-idle, --max-step, --max-memory-peak");
    *ret_limits = limits;
    return VRS_OK;
}

enum vrs_status vrs_trace_check_check(const struct vrs_trace_check_options *options,
                                      struct vrs_error *err)
{
    struct vrs_trace_check_options o = { 0 };
    struct trace_limit limit[TRACE_LIMITS];
    uint32_t limits;
    options_take(&o, sizeof o, options);
    return read_limits(&o, limit, &limits, err);
}

/* The worst of all files counts. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    const struct trace_check *checks = set->answers;
    enum vrs_verdict verdict = VRS_YES;
    for (uint32_t i = 0; i < set->count; i++) {
        if (checks[i].fails > 0)
            return VRS_NO;
        if (checks[i].inconclusive > 0)
            verdict = VRS_UNDECIDED;
    }
    return verdict;
}

enum vrs_status vrs_trace_check(const struct vrs_trace *trace,
                                const struct vrs_trace_check_options *options,
                                struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_trace_check_options o = { 0 };
    struct trace_limit limit[TRACE_LIMITS];
    uint32_t limits;
    options_take(&o, sizeof o, options);
    TRY(read_limits(&o, limit, &limits, err));
    struct vrs_result *result = result_make(&trace_check_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_report report;
    enum vrs_status status = trace_report_of(trace, o.path, false, NULL, result->arena, &report, err);
    if (status == VRS_OK && !trace_check_make(&report, limit, limits, o.strict, result->arena,
                                              result->set.answers))
        status = vrs_no_memory(err);
    result->verdict = verdict_of;
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
