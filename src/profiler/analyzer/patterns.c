/* patterns.c - the five patterns, each a pass over the calls. */
#include "profiler/analyzer/patterns.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/statistics.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/search.h"
#include "profiler/analyzer/thresholds.h"

/* What the calls of one function left behind, those unknown left out. */
struct growth {
    uint64_t calls, growing;
    int64_t total_bytes;
};

static struct growth growth_of(const struct search *s, uint32_t function)
{
    struct growth g = { 0 };
    for (uint32_t i = s->of.first[function]; i < s->of.first[function + 1]; i++) {
        int64_t bytes = calls_growth(s->calls, s->of.call[i]);
        if (!bytes_known(bytes))
            continue;
        g.calls++;
        g.growing += bytes > 0;
        g.total_bytes = i64_plus(g.total_bytes, bytes);
    }
    return g;
}

static void find_leaks(struct search *s)
{
    for (uint32_t f = 0; f < s->calls->functions; f++) {
        struct growth g = growth_of(s, f);
        double calls = (double)g.calls, total = (double)g.total_bytes;
        if (g.calls == 0 || calls < search_threshold(s, THRESHOLD_MIN_CALLS) ||
            g.total_bytes <= 0 ||
            (double)g.growing / calls <= search_threshold(s, THRESHOLD_LEAK_RATIO) ||
            total <= search_threshold(s, THRESHOLD_LEAK_BYTES))
            continue;
        bool critical = total > search_threshold(s, THRESHOLD_LEAK_CRITICAL_BYTES);
        struct finding *row = findings_add(s->found, "memory_leak",
                                           critical ? SEVERITY_CRITICAL : SEVERITY_WARNING, NAN);
        finding_count(row, "total_memory_growth", g.total_bytes);
        finding_value(row, "average_growth_per_call", total / calls);
        finding_value(row, "positive_growth_ratio", (double)g.growing / calls);
        finding_count(row, "call_count", (int64_t)g.calls);
        finding_listed(s->found, row, &f, 1);
    }
}

static uint32_t flags_set(const bool *flag, uint32_t count)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < count; i++)
        set += flag[i];
    return set;
}

static bool find_fragmentation(struct search *s)
{
    const struct calls *c = s->calls;
    double *ratio = arena_array(s->scratch, double, c->count), most = -INFINITY;
    bool *flag = arena_array(s->scratch, bool, c->functions);
    size_t known = 0;
    if (ratio == NULL || flag == NULL)
        return false;
    for (uint32_t i = 0; i < c->count; i++) {
        int64_t reserved = c->reserved_bytes[i], allocated = c->after_bytes[i];
        if (!bytes_known(reserved) || !bytes_known(allocated) || reserved <= 0)
            continue;
        double unused = (double)i64_minus(reserved, allocated) / (double)reserved;
        ratio[known++] = unused;
        most = unused > most ? unused : most;
        if (unused > search_threshold(s, THRESHOLD_FRAGMENTATION_RATIO))
            flag[c->function[i]] = true;
    }
    double mean = statistics_mean(ratio, known);
    if (!(mean > search_threshold(s, THRESHOLD_FRAGMENTATION_RATIO)))
        return true;
    bool critical = mean > search_threshold(s, THRESHOLD_FRAGMENTATION_CRITICAL);
    struct finding *row = findings_add(s->found, "fragmentation",
                                       critical ? SEVERITY_CRITICAL : SEVERITY_WARNING, NAN);
    finding_value(row, "average_fragmentation", mean);
    finding_value(row, "max_fragmentation", most);
    finding_count(row, "high_fragmentation_functions", flags_set(flag, c->functions));
    finding_functions(s->found, row, flag, c->functions);
    return true;
}

/* How much of what a call left behind its peak had, where that is below the threshold; else NaN. */
static double inefficiency(const struct search *s, uint32_t call)
{
    int64_t peak = s->calls->peak_bytes[call], before = s->calls->before_bytes[call];
    int64_t grown = s->calls->grown_bytes[call];
    if (!bytes_known(peak) || !bytes_known(before) || !bytes_known(grown) || grown <= 0 ||
        peak <= before)
        return NAN;
    double ratio = (double)i64_minus(peak, before) / (double)grown;
    return ratio < search_threshold(s, THRESHOLD_INEFFICIENT_RATIO) ? ratio : NAN;
}

static bool find_inefficient(struct search *s)
{
    const struct calls *c = s->calls;
    double *ratio = arena_array(s->scratch, double, c->count);
    double *mean = arena_array(s->scratch, double, c->functions);
    bool *flag = arena_array(s->scratch, bool, c->functions);
    size_t means = 0;
    if (ratio == NULL || mean == NULL || flag == NULL)
        return false;
    for (uint32_t f = 0; f < c->functions; f++) {
        size_t known = 0;
        for (uint32_t i = s->of.first[f]; i < s->of.first[f + 1]; i++) {
            double found = inefficiency(s, s->of.call[i]);
            if (!isnan(found))
                ratio[known++] = found;
        }
        double mean_here = statistics_mean(ratio, known);
        if ((double)known < search_threshold(s, THRESHOLD_MIN_CALLS) ||
            !(mean_here < search_threshold(s, THRESHOLD_INEFFICIENT_RATIO)))
            continue;
        flag[f] = true;
        mean[means++] = mean_here;
    }
    if (means == 0)
        return true;
    struct finding *row = findings_add(s->found, "inefficient_allocation", SEVERITY_WARNING, NAN);
    finding_count(row, "inefficient_function_count", (int64_t)means);
    finding_value(row, "average_efficiency", statistics_mean(mean, means));
    finding_functions(s->found, row, flag, c->functions);
    return true;
}

static void add_spikes(struct search *s, double above, const double *sorted, size_t known,
                       const bool *flag, uint32_t spikes)
{
    double median = statistics_median(sorted, known);
    bool critical = spikes >= search_threshold(s, THRESHOLD_SPIKE_CRITICAL_COUNT);
    struct finding *row = findings_add(s->found, "memory_spikes",
                                       critical ? SEVERITY_CRITICAL : SEVERITY_WARNING, NAN);
    finding_count(row, "spike_count", spikes);
    finding_value(row, "spike_threshold", above);
    finding_rounded(row, "max_allocation", sorted[known - 1]);
    /* The one in the middle is bytes; between two of them lies no number of bytes. */
    if (known % 2 == 1)
        finding_rounded(row, "median_allocation", median);
    else
        finding_value(row, "median_allocation", median);
    finding_functions(s->found, row, flag, s->calls->functions);
}

static bool find_spikes(struct search *s)
{
    const struct calls *c = s->calls;
    double *grown = arena_array(s->scratch, double, c->count);
    bool *flag = arena_array(s->scratch, bool, c->functions);
    size_t known = 0;
    uint32_t spikes = 0;
    if (grown == NULL || flag == NULL)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (bytes_known(c->grown_bytes[i]) && c->grown_bytes[i] > 0)
            grown[known++] = (double)c->grown_bytes[i];
    if (known == 0 || (double)known < search_threshold(s, THRESHOLD_SPIKE_MIN_CALLS))
        return true;
    statistics_sort(grown, known);
    struct quartiles q = statistics_quartiles(grown, known);
    double above = q.high + search_threshold(s, THRESHOLD_SPIKE_IQR) * (q.high - q.low);
    for (uint32_t i = 0; i < c->count; i++)
        if (bytes_known(c->grown_bytes[i]) && c->grown_bytes[i] > 0 &&
            (double)c->grown_bytes[i] > above) {
            flag[c->function[i]] = true;
            spikes++;
        }
    if (spikes > 0)
        add_spikes(s, above, grown, known, flag, spikes);
    return true;
}

struct repeated {
    int64_t total_bytes;
    uint32_t function;
};

static int by_total(const void *a, const void *b)
{
    const struct repeated *x = a, *y = b;
    if (x->total_bytes != y->total_bytes)
        return x->total_bytes < y->total_bytes ? 1 : -1;
    return (x->function > y->function) - (x->function < y->function);
}

/* Whether a function is called often and leaves little behind each time. */
static bool is_repeated(const struct search *s, uint32_t function, struct repeated *ret)
{
    uint32_t known = 0;
    *ret = (struct repeated){ 0, function };
    for (uint32_t i = s->of.first[function]; i < s->of.first[function + 1]; i++) {
        int64_t bytes = s->calls->grown_bytes[s->of.call[i]];
        if (!bytes_known(bytes))
            continue;
        known++;
        ret->total_bytes = i64_plus(ret->total_bytes, bytes);
    }
    return known > 0 && known >= search_threshold(s, THRESHOLD_REPEATED_MIN_CALLS) &&
           (double)ret->total_bytes / known < search_threshold(s, THRESHOLD_REPEATED_MEAN_BYTES);
}

static bool find_repeated(struct search *s)
{
    enum { NAMED_MOST = 5 };
    struct repeated *repeated = arena_array(s->scratch, struct repeated, s->calls->functions);
    uint32_t count = 0, named[NAMED_MOST];
    int64_t total = 0;
    if (repeated == NULL)
        return false;
    for (uint32_t f = 0; f < s->calls->functions; f++)
        if (is_repeated(s, f, &repeated[count])) {
            total = i64_plus(total, repeated[count].total_bytes);
            count++;
        }
    if (count == 0)
        return true;
    qsort(repeated, count, sizeof *repeated, by_total);
    uint32_t shown = count < NAMED_MOST ? count : NAMED_MOST;
    for (uint32_t i = 0; i < shown; i++)
        named[i] = repeated[i].function;
    struct finding *row = findings_add(s->found, "repeated_allocations", SEVERITY_INFO, NAN);
    finding_count(row, "function_count", count);
    finding_count(row, "total_memory_from_repeated", total);
    finding_listed(s->found, row, named, shown);
    return true;
}

void patterns_find(const struct calls *calls, const double *thresholds, struct findings *ret)
{
    struct arena scratch;
    struct search s = { calls, { NULL, NULL }, thresholds, &scratch, ret };
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = calls_of_each(calls, &scratch, &s.of);
    if (ok)
        find_leaks(&s);
    ok = ok && find_fragmentation(&s) && find_inefficient(&s) && find_spikes(&s) &&
         find_repeated(&s);
    if (!ok)
        ret->failed = true;
    arena_free(&scratch);
}
