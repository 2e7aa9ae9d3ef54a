/* gaps.c - the three classes of gaps. */
#include "profiler/analyzer/gaps.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/statistics.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/samples.h"
#include "profiler/analyzer/thresholds.h"

/* The gaps that are known, in the order of the samples. */
struct series {
    double *gap, *since_s, *unused; /* unused: share of what is reserved, of `reserved` samples */
    uint32_t count, reserved;
    double widest; /* share of its device */
};

static bool series_of(const struct samples *s, struct arena *scratch, struct series *ret)
{
    struct series g = { arena_array(scratch, double, s->count),
                        arena_array(scratch, double, s->count),
                        arena_array(scratch, double, s->count),
                        0,
                        0,
                        0 };
    int64_t begin = 0;
    if (g.gap == NULL || g.since_s == NULL || g.unused == NULL)
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t gap = samples_gap(s, i), reserved = s->reserved[i], allocated = s->allocated[i];
        if (!bytes_known(gap) || !bytes_known(s->total[i]) || s->total[i] <= 0)
            continue;
        if (g.count == 0)
            begin = s->time_ns[i];
        g.gap[g.count] = (double)gap;
        g.since_s[g.count++] = (double)i64_minus(s->time_ns[i], begin) / 1e9;
        g.widest = fmax(g.widest, fabs((double)gap) / (double)s->total[i]);
        if (reserved > 0 && bytes_known(allocated))
            g.unused[g.reserved++] = (double)i64_minus(reserved, allocated) / (double)reserved;
    }
    *ret = g;
    return true;
}

static double most_of(const double *value, uint32_t count)
{
    double most = -INFINITY;
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, value[i]);
    return most;
}

static void find_spikes(const struct series *g, const double *threshold, struct findings *ret)
{
    double mean = statistics_mean(g->gap, g->count);
    double deviation = statistics_deviation(g->gap, g->count);
    double above = threshold[THRESHOLD_GAP_SPIKE_Z], most = most_of(g->gap, g->count);
    uint32_t spikes = 0;
    if (!(deviation > 0))
        return;
    for (uint32_t i = 0; i < g->count; i++)
        spikes += (g->gap[i] - mean) / deviation > above;
    if (spikes == 0)
        return;
    double z = (most - mean) / deviation;
    bool critical = z > threshold[THRESHOLD_GAP_SPIKE_CRITICAL] * above;
    struct finding *row =
        findings_add(ret, "transient_spike", critical ? SEVERITY_CRITICAL : SEVERITY_WARNING,
                     fmin(1, z / (threshold[THRESHOLD_GAP_SPIKE_CERTAIN] * above)));
    finding_count(row, "spike_count", spikes);
    finding_value(row, "max_gap_bytes", most);
    finding_value(row, "max_zscore", z);
    finding_value(row, "mean_gap_bytes", mean);
    finding_value(row, "std_gap_bytes", deviation);
}

static void find_drift(const struct series *g, const double *threshold, struct findings *ret)
{
    if (g->count < threshold[THRESHOLD_GAP_DRIFT_MIN_SAMPLES])
        return;
    struct line_fit fit = statistics_line(g->since_s, g->gap, g->count);
    double squared = fit.r * fit.r;
    if (!(fit.slope > 0 && squared >= threshold[THRESHOLD_GAP_DRIFT_R_SQUARED]))
        return;
    bool critical = squared > threshold[THRESHOLD_GAP_DRIFT_CRITICAL];
    struct finding *row = findings_add(
        ret, "persistent_drift", critical ? SEVERITY_CRITICAL : SEVERITY_WARNING, fmin(1, squared));
    finding_value(row, "slope_bytes_per_sec", fit.slope);
    finding_value(row, "r_squared", squared);
    finding_value(row, "p_value", fit.p);
    finding_value(row, "gap_start_bytes", g->gap[0]);
    finding_value(row, "gap_end_bytes", g->gap[g->count - 1]);
}

static void find_fragmentation(const struct series *g, const double *threshold,
                               struct findings *ret)
{
    double mean = statistics_mean(g->unused, g->reserved);
    if (!(mean >= threshold[THRESHOLD_GAP_FRAGMENTATION]))
        return;
    bool critical = mean > threshold[THRESHOLD_GAP_FRAGMENTATION_CRITICAL];
    struct finding *row =
        findings_add(ret, "fragmentation_like", critical ? SEVERITY_CRITICAL : SEVERITY_WARNING,
                     fmin(1, mean / threshold[THRESHOLD_GAP_FRAGMENTATION_CERTAIN]));
    finding_value(row, "avg_fragmentation_ratio", mean);
    finding_value(row, "max_fragmentation_ratio", most_of(g->unused, g->reserved));
    finding_value(row, "avg_gap_bytes", statistics_mean(g->gap, g->count));
    finding_count(row, "sample_count", g->reserved);
}

/* To three digits, as it is told. */
static double told(double confidence)
{
    return floor(confidence * 1000 + 0.5);
}

static bool stands_before(const struct finding *a, const struct finding *b)
{
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return told(a->confidence) > told(b->confidence);
}

/* Insertion sort, which keeps the order of equals: there are three at most. */
static void sort_by_weight(struct findings *f, uint32_t from)
{
    for (uint32_t i = from + 1; i < f->rows.len; i++)
        for (uint32_t k = i; k > from && stands_before(&f->rows.at[k], &f->rows.at[k - 1]); k--) {
            struct finding row = f->rows.at[k];
            f->rows.at[k] = f->rows.at[k - 1];
            f->rows.at[k - 1] = row;
        }
}

void gaps_find(const struct samples *samples, const double *thresholds, struct findings *ret,
               uint32_t *ret_dropped)
{
    struct arena scratch;
    struct series g;
    arena_init(&scratch, SIZE_MAX / 2);
    *ret_dropped = 0;
    if (!series_of(samples, &scratch, &g)) {
        ret->failed = true;
    } else {
        *ret_dropped = samples->count - g.count;
        if (g.count > 0 && g.count >= thresholds[THRESHOLD_GAP_MIN_SAMPLES] &&
            g.widest >= thresholds[THRESHOLD_GAP_RATIO]) {
            uint32_t from = ret->rows.len;
            find_spikes(&g, thresholds, ret);
            find_drift(&g, thresholds, ret);
            find_fragmentation(&g, thresholds, ret);
            sort_by_weight(ret, from);
        }
    }
    arena_free(&scratch);
}
