/* analyzer.c - public columns into those of the rules, and their findings for the caller. */
#include "vramscope/analyzer.h"

#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "base/fail.h"
#include "base/vec.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/collectives.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/first_cause.h"
#include "profiler/analyzer/gaps.h"
#include "profiler/analyzer/insights.h"
#include "profiler/analyzer/patterns.h"
#include "profiler/analyzer/samples.h"
#include "profiler/analyzer/score.h"
#include "profiler/analyzer/series.h"
#include "profiler/analyzer/thresholds.h"

struct vrs_findings {
    struct findings found;
};

size_t vrs_threshold_count(void)
{
    return THRESHOLD_COUNT;
}

struct vrs_threshold vrs_threshold(size_t i)
{
    const struct threshold_row *row = &threshold_table[i];
    return (struct vrs_threshold){ row->name, row->value, row->whole };
}

/* The caller's values, or the defaults, which are put into `room`. */
static const double *thresholds_of(const double *given, double *room)
{
    if (given != NULL)
        return given;
    for (int i = 0; i < THRESHOLD_COUNT; i++)
        room[i] = threshold_table[i].value;
    return room;
}

size_t vrs_findings_count(const struct vrs_findings *findings)
{
    return findings->found.rows.len;
}

struct vrs_finding vrs_finding(const struct vrs_findings *findings, size_t i)
{
    const struct finding *row = &findings->found.rows.at[i];
    return (struct vrs_finding){ .kind = row->kind,
                                 .severity = (enum vrs_severity)row->severity,
                                 .confidence = row->confidence,
                                 .figures = row->figures,
                                 .function = row->function,
                                 .functions = row->functions };
}

struct vrs_figure vrs_figure(const struct vrs_findings *findings, size_t i, size_t k)
{
    const struct figure *figure = &findings->found.rows.at[i].figure[k];
    return (struct vrs_figure){ figure->name, figure->whole, figure->count, figure->value };
}

/* NULL when out of memory. */
static struct vrs_findings *findings_make(void)
{
    struct vrs_findings *made = NULL;
    if (!vec_resize((void **)&made, 1, sizeof *made))
        return NULL;
    findings_init(&made->found);
    return made;
}

void vrs_findings_close(struct vrs_findings *findings)
{
    if (findings == NULL)
        return;
    findings_free(&findings->found);
    vec_resize((void **)&findings, 0, 0);
}

/* Hands over what a rule found, unless memory ran out. */
static enum vrs_status findings_end(struct vrs_findings *made, struct vrs_findings **ret,
                                    struct vrs_error *err)
{
    if (made->found.failed) {
        vrs_findings_close(made);
        return vrs_no_memory(err);
    }
    *ret = made;
    return VRS_OK;
}

static enum vrs_status check_count(size_t count, struct vrs_error *err)
{
    if (count < UINT32_MAX)
        return VRS_OK;
    return vrs_fail(err, VRS_LIMIT, "%zu measurements are more than 2^32 - 2", count);
}

static enum vrs_status calls_take(const struct vrs_calls *given, struct calls *ret,
                                  struct vrs_error *err)
{
    struct vrs_calls c = { 0 };
    options_take(&c, sizeof c, given);
    TRY(check_count(c.count, err));
    for (size_t i = 0; i < c.count; i++)
        if (c.function[i] >= c.functions)
            return vrs_fail(err, VRS_USAGE, "call %zu is of function %u, but there are only %u", i,
                            c.function[i], c.functions);
    *ret = (struct calls){ .count = (uint32_t)c.count,
                           .functions = c.functions,
                           .function = c.function,
                           .started_s = c.started_s,
                           .seconds = c.seconds,
                           .before_bytes = c.before_bytes,
                           .after_bytes = c.after_bytes,
                           .reserved_bytes = c.reserved_bytes,
                           .peak_bytes = c.peak_bytes,
                           .grown_bytes = c.grown_bytes,
                           .shrunk_bytes = c.shrunk_bytes };
    return VRS_OK;
}

static enum vrs_status samples_take(const struct vrs_samples *given, struct samples *ret,
                                    struct vrs_error *err)
{
    struct vrs_samples s = { 0 };
    options_take(&s, sizeof s, given);
    TRY(check_count(s.count, err));
    for (size_t i = 0; i < s.count; i++)
        if (s.rank[i] >= s.ranks)
            return vrs_fail(err, VRS_USAGE, "sample %zu is of rank %u, but there are only %u", i,
                            s.rank[i], s.ranks);
    *ret = (struct samples){ .count = (uint32_t)s.count,
                             .time_ns = s.time_ns,
                             .ranks = s.ranks,
                             .rank = s.rank,
                             .rank_number = s.rank_number,
                             .job = s.job,
                             .world_size = s.world_size,
                             .interval_ms = s.interval_ms,
                             .used = s.used_bytes,
                             .total = s.total_bytes,
                             .reserved = s.reserved_bytes,
                             .allocated = s.allocated_bytes,
                             .sampled = s.sampled,
                             .marked = s.marked };
    return VRS_OK;
}

enum vrs_status vrs_calls_total(const struct vrs_calls *calls, struct vrs_calls_totals *ret,
                                struct vrs_error *err)
{
    struct calls taken;
    TRY(calls_take(calls, &taken, err));
    struct calls_totals total = calls_total(&taken);
    *ret = (struct vrs_calls_totals){ .grown_bytes = total.grown_bytes,
                                      .shrunk_bytes = total.shrunk_bytes,
                                      .net_bytes = total.net_bytes,
                                      .peak_bytes = total.peak_bytes,
                                      .seconds = total.seconds,
                                      .mean_seconds = total.mean_seconds,
                                      .mean_grown_bytes = total.mean_grown_bytes };
    return VRS_OK;
}

typedef void calls_rule(const struct calls *calls, const double *thresholds, struct findings *ret);

static enum vrs_status ask_calls(calls_rule *find, const struct vrs_calls *given,
                                 const double *thresholds, struct vrs_findings **ret,
                                 struct vrs_error *err)
{
    double room[THRESHOLD_COUNT];
    struct calls calls;
    TRY(calls_take(given, &calls, err));
    struct vrs_findings *made = findings_make();
    if (made == NULL)
        return vrs_no_memory(err);
    find(&calls, thresholds_of(thresholds, room), &made->found);
    return findings_end(made, ret, err);
}

enum vrs_status vrs_patterns(const struct vrs_calls *calls, const double *thresholds,
                             struct vrs_findings **ret, struct vrs_error *err)
{
    return ask_calls(patterns_find, calls, thresholds, ret, err);
}

enum vrs_status vrs_insights(const struct vrs_calls *calls, const double *thresholds,
                             struct vrs_findings **ret, struct vrs_error *err)
{
    return ask_calls(insights_find, calls, thresholds, ret, err);
}

typedef void samples_rule(const struct samples *samples, const double *thresholds,
                          struct findings *ret, uint32_t *ret_dropped);

static enum vrs_status ask_samples(samples_rule *find, const struct vrs_samples *given,
                                   const double *thresholds, struct vrs_findings **ret,
                                   uint64_t *ret_dropped, struct vrs_error *err)
{
    double room[THRESHOLD_COUNT];
    struct samples samples;
    uint32_t dropped = 0;
    TRY(samples_take(given, &samples, err));
    struct vrs_findings *made = findings_make();
    if (made == NULL)
        return vrs_no_memory(err);
    find(&samples, thresholds_of(thresholds, room), &made->found, &dropped);
    TRY(findings_end(made, ret, err));
    if (ret_dropped != NULL)
        *ret_dropped = dropped;
    return VRS_OK;
}

enum vrs_status vrs_gaps(const struct vrs_samples *samples, const double *thresholds,
                         struct vrs_findings **ret, uint64_t *ret_dropped, struct vrs_error *err)
{
    return ask_samples(gaps_find, samples, thresholds, ret, ret_dropped, err);
}

enum vrs_status vrs_first_cause(const struct vrs_samples *samples, const double *thresholds,
                                struct vrs_findings **ret, uint64_t *ret_dropped,
                                struct vrs_error *err)
{
    return ask_samples(first_cause_find, samples, thresholds, ret, ret_dropped, err);
}

enum vrs_status vrs_collectives(const struct vrs_samples *samples,
                                const struct vrs_collective_limits *limits,
                                struct vrs_findings **ret, uint64_t *ret_dropped,
                                struct vrs_error *err)
{
    struct samples taken;
    uint32_t dropped = 0;
    struct vrs_collective_limits l = { 0 };
    options_take(&l, sizeof l, limits);
    if (l.marker_window_ns < 0 || l.padding_ns < 0 || l.synchrony_window_ns < 0)
        return vrs_fail(err, VRS_USAGE, "a window of collectives is at least 0 ns");
    struct collective_limits own = { .min_samples = l.min_samples,
                                     .min_gap_bytes = l.min_gap_bytes,
                                     .min_gap_ratio = l.min_gap_ratio,
                                     .robust_z = l.robust_z,
                                     .marker_window_ns = l.marker_window_ns,
                                     .padding_ns = l.padding_ns,
                                     .synchrony_window_ns = l.synchrony_window_ns,
                                     .min_synchrony = l.min_synchrony,
                                     .min_confidence = l.min_confidence };
    TRY(samples_take(samples, &taken, err));
    struct vrs_findings *made = findings_make();
    if (made == NULL)
        return vrs_no_memory(err);
    collectives_find(&taken, &own, &made->found, &dropped);
    TRY(findings_end(made, ret, err));
    if (ret_dropped != NULL)
        *ret_dropped = dropped;
    return VRS_OK;
}

enum vrs_status vrs_series(const double *value, size_t count, const double *thresholds,
                           struct vrs_findings **ret, struct vrs_error *err)
{
    double room[THRESHOLD_COUNT];
    struct vrs_findings *made = findings_make();
    if (made == NULL)
        return vrs_no_memory(err);
    series_find(value, count, thresholds_of(thresholds, room), &made->found);
    return findings_end(made, ret, err);
}

struct vrs_score vrs_score(const uint64_t patterns[3], const uint64_t insights[3])
{
    struct found_counts p = { { patterns[0], patterns[1], patterns[2] } };
    struct found_counts i = { { insights[0], insights[1], insights[2] } };
    struct score score = score_of(&p, &i);
    return (struct vrs_score){ score.points, score.grade };
}
