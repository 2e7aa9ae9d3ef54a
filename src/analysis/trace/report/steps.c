/* steps.c - the ranges ProfilerStep#n of one thread, in the order of time. */
#include "analysis/trace/report/steps.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/statistics.h"
#include "base/table.h"
#include "model/trace.h"

static bool is_step(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    return span_is_range(spans->kind[row]) &&
           (s->names.traits[spans->name[row]] & NAME_STEP) != 0;
}

/* The thread that has most of them: steps are marked on one; NO_ROW where there is none. */
static bool find_thread(const struct trace_study *s, struct arena *arena, uint32_t *ret_thread,
                        uint32_t *ret_steps)
{
    uint32_t tracks = s->trace->tracks.rows.len;
    uint32_t *count = arena_array(arena, uint32_t, tracks);
    *ret_thread = NO_ROW;
    *ret_steps = 0;
    if (count == NULL)
        return false;
    for (uint32_t row = 0; row < s->trace->spans.rows.len; row++)
        if (is_step(s, row))
            count[s->trace->spans.track[row]]++;
    for (uint32_t t = 0; t < tracks; t++) {
        if (count[t] > *ret_steps) {
            *ret_steps = count[t];
            *ret_thread = t;
        }
    }
    return true;
}

uint32_t trace_step_of(const struct trace_report *report, int64_t moment)
{
    uint32_t low = 0, high = report->steps;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (report->step[middle].first_ns <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NO_ROW;
    const struct trace_step *step = &report->step[low - 1];
    return moment < step->first_ns + step->ns ? low - 1 : NO_ROW;
}

/* What the device work of a step spans, found in the order of its starts. */
struct step_work {
    int64_t last_end; /* of its work so far */
    int64_t busy_ns;
};

static void add_work(const struct trace_study *s, struct trace_report *r, struct step_work *work)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->sorted[i], launch = s->links.launch[row];
        uint32_t at = launch == NO_ROW ? NO_ROW : trace_step_of(r, spans->start[launch]);
        if (at == NO_ROW)
            continue;
        int64_t start = spans->start[row], end = span_end(spans, row);
        struct step_work *w = &work[at];
        if (r->step[at].work++ == 0 || start > w->last_end)
            w->last_end = start;
        if (end > w->last_end) {
            w->busy_ns += end - w->last_end;
            w->last_end = end;
        }
        r->step[at].device_ns = i64_plus(r->step[at].device_ns, spans->duration[row]);
    }
}

/* A step with its work: from its begin, or the end of the one before, to the end of both. */
static void spread(struct trace_report *r, const struct step_work *work)
{
    int64_t before = INT64_MIN;
    for (uint32_t i = 0; i < r->steps; i++) {
        struct trace_step *step = &r->step[i];
        int64_t first = step->first_ns > before ? step->first_ns : before;
        int64_t last = step->first_ns + step->ns;
        if (step->work > 0 && work[i].last_end > last)
            last = work[i].last_end;
        step->aware_ns = last > first ? last - first : 0;
        step->last_ns = last;
        step->busy = -1;
        if (step->work > 0 && step->aware_ns > 0)
            step->busy = (double)work[i].busy_ns / (double)step->aware_ns;
        if (step->busy > 1)
            step->busy = 1; /* its work began while that of the step before still ran */
        before = last;
    }
}

static double median_of(struct trace_report *r, double *sorted)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->steps; i++)
        if (r->step[i].kind != STEP_EMPTY)
            sorted[count++] = (double)r->step[i].ns;
    r->statistics.count = count;
    statistics_sort(sorted, count);
    return count > 0 ? statistics_median(sorted, count) : NAN;
}

/* Loops that call step() first have an empty range before their first work; the first step warms
 * up; the last may be cut. */
static void name_kinds(struct trace_report *r, double *sorted)
{
    const double warm_up = 1.5, whole = 0.8;
    uint32_t last = r->steps - 1;
    if (r->steps > 1 && r->step[0].work == 0 && r->step[1].work > 0)
        r->step[0].kind = STEP_EMPTY;
    uint32_t first = r->step[0].kind == STEP_EMPTY;
    double median = median_of(r, sorted);
    if (r->statistics.count > 2 && (double)r->step[first].ns > warm_up * median)
        r->step[first].kind = STEP_WARM_UP;
    if (r->statistics.count > 1 && last > first &&
        (double)r->step[last].work < whole * (double)r->step[last - 1].work)
        r->step[last].kind = STEP_CUT;
}

static void summarize(struct trace_report *r, const double *sorted)
{
    const double high = 0.95, highest = 0.99;
    struct step_statistics *t = &r->statistics;
    t->mean_ns = statistics_mean(sorted, t->count);
    t->std_ns = statistics_deviation(sorted, t->count);
    t->median_ns = statistics_median(sorted, t->count);
    t->p95_ns = statistics_percentile(sorted, t->count, high);
    t->p99_ns = statistics_percentile(sorted, t->count, highest);
    t->min_ns = (int64_t)sorted[0];
    t->max_ns = (int64_t)sorted[t->count - 1];
}

bool trace_steps_make(const struct trace_study *s, struct arena *arena, struct trace_report *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t thread, steps;
    if (!find_thread(s, arena, &thread, &steps))
        return false;
    ret->step = arena_array(arena, struct trace_step, steps);
    struct step_work *work = arena_array(arena, struct step_work, steps);
    double *sorted = arena_array(arena, double, steps);
    if (ret->step == NULL || work == NULL || sorted == NULL)
        return false;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->sorted[i];
        if (!is_step(s, row) || spans->track[row] != thread)
            continue;
        struct trace_step *step = &ret->step[ret->steps++];
        step->name = arena_copy(arena, trace_text(s->trace, spans->name[row]));
        step->first_ns = spans->start[row];
        step->ns = spans->duration[row];
        if (step->name.ptr == NULL)
            return false;
    }
    if (ret->steps == 0)
        return true;
    add_work(s, ret, work);
    spread(ret, work);
    name_kinds(ret, sorted);
    if (ret->statistics.count > 0)
        summarize(ret, sorted);
    return true;
}
