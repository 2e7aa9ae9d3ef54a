/* series.c - the three rules about a series of samples. */
#include "profiler/analyzer/series.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/statistics.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/thresholds.h"

static void find_rise(const double *value, size_t count, const double *threshold,
                      struct findings *ret)
{
    size_t rising = 0;
    for (size_t i = 1; i < count; i++)
        rising += value[i] > value[i - 1];
    double share = (double)rising / (double)(count - 1);
    if (!(share > threshold[THRESHOLD_SERIES_RISING]))
        return;
    bool critical = share > threshold[THRESHOLD_SERIES_RISING_CRITICAL];
    struct finding *row = findings_add(ret, "monotonic_increase",
                                       critical ? SEVERITY_CRITICAL : SEVERITY_WARNING, NAN);
    finding_value(row, "increase_ratio", share);
    finding_count(row, "sample_count", (int64_t)count);
}

static void find_spikes(const double *value, size_t count, const double *threshold,
                        struct findings *ret)
{
    double mean = statistics_mean(value, count);
    double above = mean + threshold[THRESHOLD_SERIES_SPIKE] * statistics_deviation(value, count);
    double most = -INFINITY;
    size_t spikes = 0;
    for (size_t i = 0; i < count; i++) {
        spikes += value[i] > above;
        most = fmax(most, value[i]);
    }
    if (spikes == 0)
        return;
    struct finding *row = findings_add(ret, "memory_spikes", SEVERITY_WARNING, NAN);
    finding_count(row, "spike_count", (int64_t)spikes);
    finding_value(row, "spike_threshold", above);
    finding_value(row, "max_value", most);
}

static void find_rest(const double *value, size_t count, const double *threshold,
                      struct findings *ret)
{
    double asked = threshold[THRESHOLD_SERIES_END_SAMPLES];
    size_t end = asked >= 1 && asked < (double)count ? (size_t)asked : count;
    double first = statistics_mean(value, end), last = statistics_mean(value + count - end, end);
    if (!(last > first * threshold[THRESHOLD_SERIES_END_RATIO]))
        return;
    struct finding *row = findings_add(ret, "insufficient_cleanup", SEVERITY_WARNING, NAN);
    finding_value(row, "initial_avg", first);
    finding_value(row, "final_avg", last);
}

void series_find(const double *value, size_t count, const double *thresholds, struct findings *ret)
{
    if (count < 2 || (double)count < thresholds[THRESHOLD_SERIES_MIN_SAMPLES] ||
        isnan(statistics_mean(value, count)))
        return;
    find_rise(value, count, thresholds, ret);
    find_spikes(value, count, thresholds, ret);
    find_rest(value, count, thresholds, ret);
}
