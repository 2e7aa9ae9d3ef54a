/* check.c - does a trace keep limits of time and memory. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/check/trace_check.h"
#include "analysis/trace/report/report.h"
#include "api/file.h"
#include "api/result.h"
#include "api/trace/timeline.h"
#include "api/trace/trace_file.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/trace/trace_answer.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* The limits in words; a later one replaces an earlier of the same name, one of the options that of
 * the budget. */
static enum vrs_status read_limits(const struct vrs_trace_check_options *o,
                                   struct trace_limit_list *list, struct vrs_error *err)
{
    str name = o->budget_name == NULL ? S("budget") : str_from(o->budget_name);
    if (o->budget != NULL)
        TRY(trace_limits_read(list, name, str_from(o->budget), err));
    for (uint32_t i = 0; i < o->limits; i++)
        TRY(trace_limit_add(list, str_from(o->limit[i].name), text_or_empty(o->limit[i].value),
                            err));
    return trace_limits_check(list, err);
}

enum vrs_status vrs_trace_check_check(const struct vrs_trace_check_options *options,
                                      struct vrs_error *err)
{
    struct vrs_trace_check_options o = { 0 };
    struct arena arena;
    struct trace_limit_list list = { .arena = &arena };
    options_take(&o, sizeof o, options);
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = read_limits(&o, &list, err);
    arena_free(&arena);
    return status;
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
    options_take(&o, sizeof o, options);
    TRY(timeline_refuse(trace, "devices or steps to be checked", err));
    struct vrs_result *result = result_make(&trace_check_answer, 1);
    if (result == NULL)
        return vrs_no_memory(err);
    struct trace_report report;
    struct trace_limit_list list = { .arena = result->arena };
    enum vrs_status status = read_limits(&o, &list, err);
    if (status == VRS_OK)
        status = trace_report_of(trace, o.path, false, NULL, result->arena, &report, err);
    if (status == VRS_OK && !trace_check_make(&report, list.limit, list.limits, o.strict,
                                              result->arena, result->set.answers))
        status = vrs_no_memory(err);
    result->verdict = verdict_of;
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
