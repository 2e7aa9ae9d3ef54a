/* insights.c - the five insights. */
#include "profiler/analyzer/insights.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/search.h"
#include "profiler/analyzer/thresholds.h"

/* Mean and deviation of one function's times. */
struct times {
    double mean_s, deviation_s;
    uint32_t function;
};

/* Of the functions with enough calls; returns how many those are. */
static uint32_t times_of(const struct search *s, double *room, struct times *ret)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < s->calls->functions; f++) {
        size_t known = 0;
        for (uint32_t i = s->of.first[f]; i < s->of.first[f + 1]; i++) {
            double seconds = s->calls->seconds[s->of.call[i]];
            if (isfinite(seconds))
                room[known++] = seconds;
        }
        if (known > 0 && (double)known >= search_threshold(s, THRESHOLD_MIN_CALLS))
            ret[count++] = (struct times){ statistics_mean(room, known),
                                           statistics_deviation(room, known), f };
    }
    return count;
}

static int slowest_first(const void *a, const void *b)
{
    const struct times *x = a, *y = b;
    if (x->mean_s != y->mean_s)
        return x->mean_s < y->mean_s ? 1 : -1;
    return (x->function > y->function) - (x->function < y->function);
}

static bool find_slow(struct search *s, struct times *times, uint32_t count)
{
    double *mean = arena_array(s->scratch, double, count);
    uint32_t *slow = arena_array(s->scratch, uint32_t, count), slows = 0;
    if (mean == NULL || slow == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        mean[i] = times[i].mean_s;
    statistics_sort(mean, count);
    double above =
        statistics_percentile(mean, count, search_threshold(s, THRESHOLD_SLOW_PERCENTILE));
    if (count > 1)
        qsort(times, count, sizeof *times, slowest_first);
    for (uint32_t i = 0; i < count; i++)
        if (times[i].mean_s > above)
            slow[slows++] = times[i].function;
    if (slows == 0)
        return true;
    bool high = slows > search_threshold(s, THRESHOLD_SLOW_HIGH_COUNT);
    struct finding *row =
        findings_add(s->found, "slow_functions", high ? SEVERITY_CRITICAL : SEVERITY_WARNING, 0.8);
    finding_value(row, "slowest_time", times[0].mean_s);
    finding_value(row, "threshold", above);
    finding_listed(s->found, row, slow, slows);
    return true;
}

static bool find_variable(struct search *s, const struct times *times, uint32_t count)
{
    uint32_t *variable = arena_array(s->scratch, uint32_t, count), found = 0, first = 0;
    double most = -INFINITY;
    if (variable == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!(times[i].mean_s > 0))
            continue;
        double variation = times[i].deviation_s / times[i].mean_s;
        if (!(variation > search_threshold(s, THRESHOLD_VARIABLE_TIME)))
            continue;
        if (variation > most) {
            most = variation;
            first = found;
        }
        variable[found++] = times[i].function;
    }
    if (found == 0)
        return true;
    struct finding *row = findings_add(s->found, "variable_times", SEVERITY_WARNING, 0.7);
    finding_count(row, "place_of_most", first);
    finding_value(row, "most_variation", most);
    finding_listed(s->found, row, variable, found);
    return true;
}

/* NaN where it is unknown, or the call took no time. */
static double bytes_per_second(const struct calls *c, uint32_t call)
{
    if (!bytes_known(c->grown_bytes[call]) || !(c->seconds[call] > 0))
        return NAN;
    double rate = (double)c->grown_bytes[call] / c->seconds[call];
    return isfinite(rate) ? rate : NAN;
}

static bool find_intensive(struct search *s)
{
    const struct calls *c = s->calls;
    double *rate = arena_array(s->scratch, double, c->count);
    bool *flag = arena_array(s->scratch, bool, c->functions), any = false;
    size_t known = 0;
    if (rate == NULL || flag == NULL)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        double found = bytes_per_second(c, i);
        if (!isnan(found))
            rate[known++] = found;
    }
    statistics_sort(rate, known);
    double above =
        statistics_percentile(rate, known, search_threshold(s, THRESHOLD_INTENSIVE_PERCENTILE));
    for (uint32_t i = 0; i < c->count; i++)
        if (bytes_per_second(c, i) > above)
            flag[c->function[i]] = any = true;
    if (!any)
        return true;
    struct finding *row = findings_add(s->found, "memory_intensive", SEVERITY_WARNING, 0.75);
    finding_value(row, "threshold_ratio", above);
    finding_functions(s->found, row, flag, c->functions);
    return true;
}

static bool find_correlation(struct search *s)
{
    const struct calls *c = s->calls;
    double *seconds = arena_array(s->scratch, double, c->count);
    double *grown = arena_array(s->scratch, double, c->count);
    size_t known = 0;
    if (seconds == NULL || grown == NULL)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!isfinite(c->seconds[i]) || !bytes_known(c->grown_bytes[i]))
            continue;
        seconds[known] = c->seconds[i];
        grown[known++] = (double)c->grown_bytes[i];
    }
    if ((double)known < search_threshold(s, THRESHOLD_CORRELATION_MIN_CALLS))
        return true;
    double r = statistics_pearson(seconds, grown, known);
    if (!(fabs(r) > search_threshold(s, THRESHOLD_CORRELATION)))
        return true;
    struct finding *row = findings_add(s->found, "time_and_memory", SEVERITY_WARNING, 0.8);
    finding_value(row, "correlation_coefficient", r);
    return true;
}

struct moment {
    double at_s, bytes;
    uint32_t call;
};

static int earlier(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* The known ends of calls by their begin; returns how many. */
static uint32_t moments_of(const struct calls *c, struct moment *ret)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (isfinite(c->started_s[i]) && bytes_known(c->after_bytes[i]))
            ret[known++] = (struct moment){ c->started_s[i], (double)c->after_bytes[i], i };
    if (known > 1)
        qsort(ret, known, sizeof *ret, earlier);
    return known;
}

static bool find_growth(struct search *s)
{
    struct moment *moment = arena_array(s->scratch, struct moment, s->calls->count);
    double *since = arena_array(s->scratch, double, s->calls->count);
    double *bytes = arena_array(s->scratch, double, s->calls->count);
    if (moment == NULL || since == NULL || bytes == NULL)
        return false;
    uint32_t known = moments_of(s->calls, moment);
    if (known == 0 || known < search_threshold(s, THRESHOLD_TREND_MIN_CALLS))
        return true;
    for (uint32_t i = 0; i < known; i++) {
        since[i] = moment[i].at_s - moment[0].at_s;
        bytes[i] = moment[i].bytes;
    }
    struct line_fit fit = statistics_line(since, bytes, known);
    if (!(fit.slope > 0 && fabs(fit.r) > search_threshold(s, THRESHOLD_TREND_CORRELATION) &&
          fit.p < search_threshold(s, THRESHOLD_TREND_P)))
        return true;
    bool high = fit.slope > search_threshold(s, THRESHOLD_TREND_HIGH_SLOPE);
    struct finding *row = findings_add(s->found, "memory_growth",
                                       high ? SEVERITY_CRITICAL : SEVERITY_WARNING, fabs(fit.r));
    finding_value(row, "growth_rate", fit.slope);
    finding_value(row, "correlation", fit.r);
    finding_value(row, "p_value", fit.p);
    finding_value(row, "time_span", since[known - 1]);
    return true;
}

static bool find_all(struct search *s)
{
    double *room = arena_array(s->scratch, double, s->calls->count);
    struct times *times = arena_array(s->scratch, struct times, s->calls->functions);
    if (room == NULL || times == NULL || !calls_of_each(s->calls, s->scratch, &s->of))
        return false;
    uint32_t count = times_of(s, room, times);
    struct times *sorted = arena_array(s->scratch, struct times, count);
    if (sorted == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = times[i];
    return find_slow(s, sorted, count) && find_variable(s, times, count) && find_intensive(s) &&
           find_correlation(s) && find_growth(s);
}

void insights_find(const struct calls *calls, const double *thresholds, struct findings *ret)
{
    struct arena scratch;
    struct search s = { calls, { NULL, NULL }, thresholds, &scratch, ret };
    arena_init(&scratch, SIZE_MAX / 2);
    if (!find_all(&s))
        ret->failed = true;
    arena_free(&scratch);
}
