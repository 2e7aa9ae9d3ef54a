/* first_cause.c - ranks on one clock, their jumps, and which came first. */
#include "profiler/analyzer/first_cause.h"

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
#include "profiler/analyzer/samples.h"
#include "profiler/analyzer/thresholds.h"

/* A rank that has samples: those from at[0] up to, without it, at[count]. */
struct rank_line {
    uint32_t rank, count;
    const struct sample_at *at;
    int64_t offset_ns;
};

struct jump {
    uint32_t rank, samples;
    int64_t at_ns, aligned_ns, bytes;
};

struct timeline {
    const struct samples *samples;
    const double *threshold;
    struct arena *scratch;
    struct sample_at *order;
    struct rank_line *line; /* ascending by rank */
    struct jump *jump;      /* the first one first */
    uint32_t lines, jumps, used, job, jobs;
    int64_t world, step_ns; /* between two samples; 0: unknown */
};

static bool is_usable(const struct samples *s, uint32_t i)
{
    return bytes_known(s->used[i]);
}

/* The job with the most samples; of several the one seen first, which has the lowest number. */
static bool choose_job(struct timeline *t)
{
    const struct samples *s = t->samples;
    uint32_t highest = 0;
    for (uint32_t i = 0; i < s->count; i++)
        highest = s->job[i] > highest ? s->job[i] : highest;
    uint32_t *count = arena_array(t->scratch, uint32_t, (size_t)highest + 1), most = 0;
    if (count == NULL)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (is_usable(s, i))
            count[s->job[i]]++;
    for (uint32_t job = 1; job <= highest; job++) {
        t->jobs += count[job] > 0;
        if (count[job] > most) {
            most = count[job];
            t->job = job;
        }
    }
    return true;
}

/* Where several jobs are seen, those of none belong to nobody. */
static bool is_chosen(const struct timeline *t, uint32_t i)
{
    return is_usable(t->samples, i) && (t->jobs < 2 || t->samples->job[i] == t->job);
}

static bool lay_out(struct timeline *t)
{
    const struct samples *s = t->samples;
    uint32_t *first = arena_array(t->scratch, uint32_t, (size_t)s->ranks + 2);
    t->order = arena_array(t->scratch, struct sample_at, s->count);
    t->line = arena_array(t->scratch, struct rank_line, s->ranks);
    if (first == NULL || t->order == NULL || t->line == NULL)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        first[s->rank[i] + 2] += is_chosen(t, i);
    for (uint32_t r = 0; r < s->ranks; r++)
        first[r + 2] += first[r + 1];
    for (uint32_t i = 0; i < s->count; i++)
        if (is_chosen(t, i))
            t->order[first[s->rank[i] + 1]++] = (struct sample_at){ s->time_ns[i], i };
    for (uint32_t r = 0; r < s->ranks; r++) {
        uint32_t count = first[r + 1] - first[r];
        if (count == 0)
            continue;
        samples_sort(t->order + first[r], count);
        t->line[t->lines++] = (struct rank_line){ r, count, t->order + first[r], 0 };
        t->used += count;
    }
    for (uint32_t i = 0; i < t->lines; i++)
        t->line[i].offset_ns = i64_minus(t->line[i].at[0].time_ns, t->line[0].at[0].time_ns);
    return true;
}

/* The median of what is positive, or 0. */
static int64_t median_of(double *value, uint32_t count)
{
    statistics_sort(value, count);
    double median = statistics_median(value, count);
    return median > 0 && median < 9e18 ? (int64_t)median : 0;
}

/* The time between two samples of a rank; where there are no two, what they say it should be. */
static bool find_step(struct timeline *t)
{
    double *step = arena_array(t->scratch, double, t->used);
    uint32_t steps = 0;
    if (step == NULL)
        return false;
    for (uint32_t i = 0; i < t->lines; i++)
        for (uint32_t k = 1; k < t->line[i].count; k++) {
            double between =
                (double)t->line[i].at[k].time_ns - (double)t->line[i].at[k - 1].time_ns;
            if (t->line[i].at[k].time_ns > t->line[i].at[k - 1].time_ns)
                step[steps++] = between;
        }
    t->step_ns = median_of(step, steps);
    if (steps > 0)
        return true;
    for (uint32_t i = 0; i < t->used; i++) {
        int64_t interval = t->samples->interval_ms[t->order[i].sample];
        if (interval > 0)
            step[steps++] = (double)interval * 1e6;
    }
    t->step_ns = median_of(step, steps);
    return true;
}

static int compare_sizes(const void *a, const void *b)
{
    const struct sample_at *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* The number of ranks that most samples tell, of several the one told first; at least those that
 * numbers of ranks ask for. */
static bool find_world(struct timeline *t)
{
    struct sample_at *told = arena_array(t->scratch, struct sample_at, t->used);
    uint32_t count = 0, most = 0, most_first = 0;
    if (told == NULL)
        return false;
    t->world = 1;
    for (uint32_t i = 0; i < t->used; i++) {
        int64_t world = t->samples->world_size[t->order[i].sample];
        if (world > 1)
            told[count++] = (struct sample_at){ world, t->order[i].sample };
    }
    if (count > 1)
        qsort(told, count, sizeof *told, compare_sizes);
    for (uint32_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && told[next].time_ns == told[i].time_ns)
            next++;
        if (next - i > most || (next - i == most && told[i].sample < most_first)) {
            most = next - i;
            most_first = told[i].sample;
            t->world = told[i].time_ns;
        }
    }
    int64_t highest = t->samples->rank_number[t->line[t->lines - 1].rank];
    if (highest < INT64_MAX && highest + 1 > t->world)
        t->world = highest + 1;
    return true;
}

static int64_t used_at(const struct timeline *t, const struct rank_line *line, uint32_t i)
{
    return t->samples->used[line->at[i].sample];
}

static bool find_jump(const struct timeline *t, const struct rank_line *line, struct jump *ret)
{
    int64_t most = 0, up = 0;
    uint32_t samples = 0;
    for (uint32_t i = 0; i < line->count; i++)
        most = used_at(t, line, i) > most ? used_at(t, line, i) : most;
    double asked = fmax(t->threshold[THRESHOLD_CROSS_RANK_SPIKE_BYTES],
                        floor((double)most * t->threshold[THRESHOLD_CROSS_RANK_SPIKE_RATIO]));
    for (uint32_t i = 1; i < line->count; i++) {
        int64_t delta = i64_minus(used_at(t, line, i), used_at(t, line, i - 1));
        if (delta <= 0) {
            up = 0;
            samples = 0;
            continue;
        }
        up = i64_plus(up, delta);
        samples++;
        if ((double)up < asked)
            continue;
        int64_t at = line->at[i].time_ns;
        *ret = (struct jump){ line->rank, samples, at, i64_minus(at, line->offset_ns), up };
        return true;
    }
    return false;
}

static int compare_jumps(const void *a, const void *b)
{
    const struct jump *x = a, *y = b;
    if (x->aligned_ns != y->aligned_ns)
        return x->aligned_ns < y->aligned_ns ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool find_jumps(struct timeline *t)
{
    t->jump = arena_array(t->scratch, struct jump, t->lines);
    if (t->jump == NULL)
        return false;
    for (uint32_t i = 0; i < t->lines; i++)
        t->jumps += find_jump(t, &t->line[i], &t->jump[t->jumps]);
    if (t->lines < 2)
        t->jumps = 0; /* there is nothing to be first of */
    if (t->jumps > 1)
        qsort(t->jump, t->jumps, sizeof *t->jump, compare_jumps);
    return true;
}

static void tell_ranks(const struct timeline *t, struct findings *ret)
{
    struct finding *row = findings_add(ret, "cross_rank", SEVERITY_INFO, NAN);
    finding_count(row, "job", t->job);
    finding_count(row, "jobs", t->jobs);
    finding_count(row, "world_size", t->world);
    finding_count(row, "jumps", t->jumps);
    if (t->jumps >= 2)
        finding_count(row, "cluster_onset_ns", t->jump[1].aligned_ns);
    for (uint32_t i = 0; i < t->lines; i++) {
        const struct rank_line *line = &t->line[i];
        double skew = fabs((double)line->offset_ns);
        row = findings_add(ret, "rank", SEVERITY_INFO, NAN);
        finding_count(row, "rank", t->samples->rank_number[line->rank]);
        finding_count(row, "samples", line->count);
        finding_count(row, "offset_ns", line->offset_ns);
        finding_count(row, "skewed",
                      t->step_ns > 0 &&
                          skew > t->threshold[THRESHOLD_CROSS_RANK_SKEW] * (double)t->step_ns);
    }
}

/* Whether all ranks are there, each with two samples at least. */
static bool is_complete(const struct timeline *t)
{
    for (uint32_t i = 0; i < t->lines; i++)
        if (t->line[i].count < 2)
            return false;
    return t->world == t->lines;
}

/* How many jumped at the first moment, and how many until the second rank had. */
static void count_suspects(const struct timeline *t, uint32_t *ret_first, uint32_t *ret_suspects)
{
    int64_t onset = t->jump[t->jumps > 1 ? 1 : 0].aligned_ns;
    *ret_first = *ret_suspects = 0;
    for (uint32_t i = 0; i < t->jumps; i++) {
        *ret_first += t->jump[i].aligned_ns == t->jump[0].aligned_ns;
        *ret_suspects += t->jump[i].aligned_ns <= onset;
    }
}

static void tell_suspects(const struct timeline *t, struct findings *ret)
{
    uint32_t first, suspects;
    if (t->jumps == 0)
        return;
    count_suspects(t, &first, &suspects);
    bool complete = is_complete(t);
    for (uint32_t i = 0; i < suspects; i++) {
        const struct jump *jump = &t->jump[i];
        int64_t lead = t->jumps > 1 ? i64_minus(t->jump[1].aligned_ns, jump->aligned_ns) : 0;
        enum severity sure = SEVERITY_INFO;
        /* A lead shorter than the time between two samples may be none. */
        if (t->jumps > 1 && complete && jump->aligned_ns == t->jump[0].aligned_ns)
            sure = first == 1 && lead >= t->step_ns ? SEVERITY_CRITICAL : SEVERITY_WARNING;
        struct finding *row = findings_add(ret, "first_cause", sure, NAN);
        finding_count(row, "rank", t->samples->rank_number[jump->rank]);
        finding_count(row, "jumped_ns", jump->at_ns);
        finding_count(row, "aligned_ns", jump->aligned_ns);
        finding_count(row, "bytes", jump->bytes);
        finding_count(row, "samples", jump->samples);
        finding_count(row, "lead_ns", lead);
        finding_count(row, "supporting", suspects);
    }
}

void first_cause_find(const struct samples *samples, const double *thresholds, struct findings *ret,
                      uint32_t *ret_dropped)
{
    struct arena scratch;
    struct timeline t = { .samples = samples, .threshold = thresholds, .scratch = &scratch };
    arena_init(&scratch, SIZE_MAX / 2);
    *ret_dropped = 0;
    for (uint32_t i = 0; i < samples->count; i++)
        *ret_dropped += !is_usable(samples, i);
    bool ok = choose_job(&t) && lay_out(&t);
    if (ok && t.lines > 0) {
        ok = find_step(&t) && find_world(&t) && find_jumps(&t);
        if (ok) {
            tell_ranks(&t, ret);
            tell_suspects(&t, ret);
        }
    }
    if (!ok)
        ret->failed = true;
    arena_free(&scratch);
}
