/* collectives.c - gaps that stand out, weighed by markers near them and by those of other ranks. */
#include "profiler/analyzer/collectives.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/samples.h"

/* A gap that stands out. */
struct spike {
    int64_t time_ns, begin_ns, end_ns; /* from the first marker near it, or itself, to the last */
    double gap_bytes, gap_ratio, z;    /* the ratio is NaN where the device's size is unknown */
    uint32_t rank, markers;
    uint32_t synchronous; /* ranks that have one at the time, its own among them */
};

/* An interval of one rank: a spike, or several that overlap. */
struct interval {
    struct spike peak; /* the most of each */
    double synchrony, confidence;
    uint32_t reasons;
};

struct attribution {
    const struct samples *samples;
    const struct collective_limits *limits;
    struct arena *scratch;
    struct sample_at *order; /* of all samples */
    struct spike *spike;
    uint32_t spikes, dropped;
};

/* One rank's samples with a gap, and its markers, by time. */
struct rank_samples {
    uint32_t *sample, samples;
    int64_t *marker_ns;
    uint32_t markers;
    double *gap, *sorted, *z;
};

static bool rank_make(struct attribution *a, struct rank_samples *ret)
{
    uint32_t count = a->samples->count;
    *ret = (struct rank_samples){ .sample = arena_array(a->scratch, uint32_t, count),
                                  .marker_ns = arena_array(a->scratch, int64_t, count),
                                  .gap = arena_array(a->scratch, double, count),
                                  .sorted = arena_array(a->scratch, double, count),
                                  .z = arena_array(a->scratch, double, count) };
    return ret->sample != NULL && ret->marker_ns != NULL && ret->gap != NULL &&
           ret->sorted != NULL && ret->z != NULL;
}

/* Samples from order[from] up to order[to] are those of one rank. */
static void rank_fill(struct attribution *a, uint32_t from, uint32_t to, struct rank_samples *r)
{
    r->samples = r->markers = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t at = a->order[i].sample;
        int64_t gap = samples_gap(a->samples, at);
        if (a->samples->marked[at] != 0)
            r->marker_ns[r->markers++] = a->samples->time_ns[at];
        if (a->samples->sampled[at] == 0)
            continue;
        if (!bytes_known(gap)) {
            a->dropped++;
            continue;
        }
        r->gap[r->samples] = r->sorted[r->samples] = gap > 0 ? (double)gap : 0;
        r->sample[r->samples++] = at;
    }
}

/* Robust z-scores; where more than half of the gaps are equal, which leaves none, plain ones. */
static void rank_scores(struct rank_samples *r)
{
    statistics_sort(r->sorted, r->samples);
    statistics_robust_z(r->sorted, r->samples, r->gap, r->samples, r->z);
    if (statistics_mad(r->sorted, r->samples) > 0)
        return;
    double mean = statistics_mean(r->gap, r->samples);
    double deviation = statistics_deviation(r->gap, r->samples);
    for (uint32_t i = 0; i < r->samples; i++)
        r->z[i] = deviation > 0 ? (r->gap[i] - mean) / deviation : 0;
}

/* The difference of two times, that of a file may be anything. */
static uint64_t apart(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The markers near a time: from `first` up to, without it, `end`. */
struct near {
    uint32_t first, end;
};

/* Both ends only move on, as times ascend from call to call. */
static void near_move(struct near *n, const struct rank_samples *r, int64_t time, uint64_t window)
{
    while (n->first < r->markers && r->marker_ns[n->first] < time &&
           apart(r->marker_ns[n->first], time) > window)
        n->first++;
    if (n->end < n->first)
        n->end = n->first;
    while (n->end < r->markers &&
           (r->marker_ns[n->end] < time || apart(r->marker_ns[n->end], time) <= window))
        n->end++;
}

static void spike_add(struct attribution *a, const struct rank_samples *r, uint32_t i, double ratio,
                      struct near *near)
{
    uint32_t at = r->sample[i];
    int64_t time = a->samples->time_ns[at];
    struct spike spike = { .time_ns = time,
                           .begin_ns = time,
                           .end_ns = time,
                           .gap_bytes = r->gap[i],
                           .gap_ratio = ratio,
                           .z = r->z[i],
                           .rank = a->samples->rank[at] };
    near_move(near, r, time, (uint64_t)a->limits->marker_window_ns);
    spike.markers = near->end - near->first;
    if (spike.markers > 0) {
        int64_t first = r->marker_ns[near->first], last = r->marker_ns[near->end - 1];
        spike.begin_ns = first < time ? first : time;
        spike.end_ns = last > time ? last : time;
    }
    a->spike[a->spikes++] = spike;
}

static void rank_spikes(struct attribution *a, struct rank_samples *r)
{
    struct near near = { 0, 0 };
    if (r->samples < a->limits->min_samples || r->samples == 0)
        return;
    rank_scores(r);
    for (uint32_t i = 0; i < r->samples; i++) {
        int64_t total = a->samples->total[r->sample[i]];
        double ratio = bytes_known(total) && total > 0 ? r->gap[i] / (double)total : NAN;
        bool wide = r->gap[i] >= a->limits->min_gap_bytes || ratio >= a->limits->min_gap_ratio;
        if (wide && r->z[i] >= a->limits->robust_z)
            spike_add(a, r, i, ratio, &near);
    }
}

/* Samples by rank, then by time. */
static bool order_samples(struct attribution *a, uint32_t *first)
{
    const struct samples *s = a->samples;
    a->order = arena_array(a->scratch, struct sample_at, s->count);
    if (a->order == NULL)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        first[s->rank[i] + 2]++;
    for (uint32_t r = 0; r < s->ranks; r++)
        first[r + 2] += first[r + 1];
    for (uint32_t i = 0; i < s->count; i++)
        a->order[first[s->rank[i] + 1]++] = (struct sample_at){ s->time_ns[i], i };
    for (uint32_t r = 0; r < s->ranks; r++)
        samples_sort(a->order + first[r], first[r + 1] - first[r]);
    return true;
}

static bool find_spikes(struct attribution *a)
{
    const struct samples *s = a->samples;
    struct rank_samples r;
    uint32_t *first = arena_array(a->scratch, uint32_t, (size_t)s->ranks + 2);
    a->spike = arena_array(a->scratch, struct spike, s->count);
    if (first == NULL || a->spike == NULL || !order_samples(a, first) || !rank_make(a, &r))
        return false;
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        rank_fill(a, first[rank], first[rank + 1], &r);
        rank_spikes(a, &r);
    }
    return true;
}

/* Counts for each spike the ranks with one near it: two ends move over all spikes by time. */
static bool find_synchrony(struct attribution *a)
{
    struct sample_at *at = arena_array(a->scratch, struct sample_at, a->spikes);
    uint32_t *inside = arena_array(a->scratch, uint32_t, a->samples->ranks);
    uint64_t window = (uint64_t)a->limits->synchrony_window_ns;
    uint32_t begin = 0, end = 0, ranks = 0;
    if (at == NULL || inside == NULL)
        return false;
    for (uint32_t i = 0; i < a->spikes; i++)
        at[i] = (struct sample_at){ a->spike[i].time_ns, i };
    samples_sort(at, a->spikes);
    for (uint32_t i = 0; i < a->spikes; i++) {
        for (; end < a->spikes && apart(at[end].time_ns, at[i].time_ns) <= window; end++)
            ranks += inside[a->spike[at[end].sample].rank]++ == 0;
        for (; apart(at[begin].time_ns, at[i].time_ns) > window; begin++)
            ranks -= --inside[a->spike[at[begin].sample].rank] == 0;
        a->spike[at[i].sample].synchronous = ranks;
    }
    return true;
}

/* The ranks there should be: what samples say, else those seen. */
static int64_t world_of(const struct samples *s)
{
    int64_t world = 0;
    for (uint32_t i = 0; i < s->count; i++)
        world = s->world_size[i] > world ? s->world_size[i] : world;
    return world > 0 ? world : s->ranks;
}

/* At most 1; all of it where nothing is asked for. */
static double strength(double value, double asked)
{
    return asked > 0 ? fmin(1, value / asked) : 1;
}

/* How sure it is that a spike comes from a collective: shares of 1 for what speaks for it, less
 * what is missing. */
static struct interval weigh(const struct spike *spike, int64_t world,
                             const struct collective_limits *limits)
{
    const double marker_share = 0.34, synchrony_share = 0.34, z_share = 0.16, gap_share = 0.16;
    const double no_marker = 0.15, alone = 0.15, no_ratio = 0.05;
    struct interval found = { .peak = *spike, .reasons = COLLECTIVE_OUTLIER };
    double ratio = isnan(spike->gap_ratio) ? 0 : spike->gap_ratio;
    double divergence = fmax(strength(spike->gap_bytes, limits->min_gap_bytes),
                             strength(ratio, limits->min_gap_ratio));
    if (world > 1)
        found.synchrony = fmin(1, (spike->synchronous - 1) / (double)(world - 1));
    double sure = synchrony_share * found.synchrony +
                  z_share * strength(spike->z, limits->robust_z) + gap_share * divergence;
    sure += spike->markers > 0 ? marker_share : -no_marker;
    found.reasons |= spike->markers > 0 ? COLLECTIVE_MARKED : COLLECTIVE_UNMARKED;
    if (found.synchrony >= limits->min_synchrony)
        found.reasons |= COLLECTIVE_SYNCHRONOUS;
    if (divergence >= 0.5)
        found.reasons |= COLLECTIVE_DIVERGENT;
    if (world <= 1 || spike->synchronous <= 1) {
        found.reasons |= COLLECTIVE_ALONE;
        sure -= alone;
    }
    if (isnan(spike->gap_ratio))
        sure -= no_ratio;
    found.confidence = fmin(1, fmax(0, sure));
    return found;
}

static int64_t earlier_by(int64_t time_ns, int64_t by_ns, int64_t least_ns)
{
    if (time_ns < 0 || time_ns < by_ns || time_ns - by_ns < least_ns)
        return least_ns;
    return time_ns - by_ns;
}

static int64_t later_by(int64_t time_ns, int64_t by_ns)
{
    return time_ns > INT64_MAX - by_ns ? INT64_MAX : time_ns + by_ns;
}

/* The later interval goes into the earlier one. */
static void join(struct interval *into, const struct interval *from)
{
    struct spike *a = &into->peak;
    const struct spike *b = &from->peak;
    a->end_ns = a->end_ns > b->end_ns ? a->end_ns : b->end_ns;
    a->markers = a->markers > b->markers ? a->markers : b->markers;
    a->synchronous = a->synchronous > b->synchronous ? a->synchronous : b->synchronous;
    a->gap_bytes = fmax(a->gap_bytes, b->gap_bytes);
    a->gap_ratio = fmax(a->gap_ratio, b->gap_ratio); /* the known one, where one is */
    a->z = fmax(a->z, b->z);
    into->synchrony = fmax(into->synchrony, from->synchrony);
    into->confidence = fmax(into->confidence, from->confidence);
    into->reasons |= from->reasons;
}

static void interval_say(const struct samples *s, const struct interval *found, int64_t world,
                         struct findings *ret)
{
    const double confident = 0.8, likely = 0.6;
    const struct spike *peak = &found->peak;
    bool sure = found->confidence >= confident;
    struct finding *row = findings_add(ret,
                                       sure                            ? "collective_confident"
                                       : (found->confidence >= likely) ? "collective_likely"
                                                                       : "collective_suspect",
                                       SEVERITY_WARNING, found->confidence);
    finding_count(row, "rank", s->rank_number[peak->rank]);
    finding_count(row, "interval_start_ns", peak->begin_ns);
    finding_count(row, "interval_end_ns", peak->end_ns);
    finding_count(row, "reasons", found->reasons);
    finding_count(row, "marker_hits", peak->markers);
    finding_count(row, "synchronized_ranks", peak->synchronous);
    finding_count(row, "expected_world_size", world);
    finding_value(row, "synchrony_ratio", found->synchrony);
    finding_rounded(row, "peak_gap_bytes", peak->gap_bytes);
    finding_value(row, "peak_gap_ratio", peak->gap_ratio);
    finding_value(row, "robust_zscore", peak->z);
}

static int by_rank_and_begin(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    if (x->peak.rank != y->peak.rank)
        return x->peak.rank < y->peak.rank ? -1 : 1;
    if (x->peak.begin_ns != y->peak.begin_ns)
        return x->peak.begin_ns < y->peak.begin_ns ? -1 : 1;
    return (x->peak.time_ns > y->peak.time_ns) - (x->peak.time_ns < y->peak.time_ns);
}

static int64_t begin_of(const struct samples *s)
{
    int64_t begin = INT64_MAX;
    for (uint32_t i = 0; i < s->count; i++)
        begin = s->time_ns[i] < begin ? s->time_ns[i] : begin;
    return begin > 0 ? begin : 0;
}

static bool tell(struct attribution *a, struct findings *ret)
{
    const struct collective_limits *limits = a->limits;
    struct interval *found = arena_array(a->scratch, struct interval, a->spikes);
    int64_t world = world_of(a->samples), begin = begin_of(a->samples);
    uint32_t count = 0, told = 0;
    if (found == NULL)
        return false;
    for (uint32_t i = 0; i < a->spikes; i++) {
        struct interval one = weigh(&a->spike[i], world, limits);
        if (!(one.confidence > 0 && one.confidence >= limits->min_confidence))
            continue;
        one.peak.begin_ns = earlier_by(one.peak.begin_ns, limits->padding_ns, begin);
        one.peak.end_ns = later_by(one.peak.end_ns, limits->padding_ns);
        found[count++] = one;
    }
    if (count > 1)
        qsort(found, count, sizeof *found, by_rank_and_begin);
    for (uint32_t i = 0; i < count; i++) {
        if (told > 0 && found[told - 1].peak.rank == found[i].peak.rank &&
            found[i].peak.begin_ns <= found[told - 1].peak.end_ns)
            join(&found[told - 1], &found[i]);
        else
            found[told++] = found[i];
    }
    for (uint32_t i = 0; i < told; i++)
        interval_say(a->samples, &found[i], world, ret);
    return true;
}

void collectives_find(const struct samples *samples, const struct collective_limits *limits,
                      struct findings *ret, uint32_t *ret_dropped)
{
    struct arena scratch;
    struct attribution a = { .samples = samples, .limits = limits, .scratch = &scratch };
    arena_init(&scratch, SIZE_MAX / 2);
    if (!find_spikes(&a) || !find_synchrony(&a) || !tell(&a, ret))
        ret->failed = true;
    *ret_dropped = a.dropped;
    arena_free(&scratch);
}
