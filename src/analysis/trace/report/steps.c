/* steps.c - the steps of one thread, by what marks them, in the order of time. */
#include "analysis/trace/report/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/statistics.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

const char *const trace_step_source_names[STEP_SOURCES] = {
    [STEPS_NONE] = "none",
    [STEPS_PROFILER] = "profiler",
    [STEPS_OPTIMIZER] = "optimizer",
    [STEPS_RANGES] = "ranges",
};

/* Spans that mark steps, all on one thread, in the order of time. */
struct step_marks {
    enum step_source source;
    uint32_t thread; /* or NO_ROW */
    uint32_t *row, rows;
};

static bool marks_step(const struct trace_study *s, enum step_source source, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    str name = trace_text(s->trace, spans->name[row]);
    if (!span_is_range(spans->kind[row]))
        return false;
    switch (source) {
    case STEPS_PROFILER:
        return (s->names.traits[spans->name[row]] & NAME_STEP) != 0;
    case STEPS_OPTIMIZER:
        return str_starts(name, S("Optimizer.step#"));
    case STEPS_RANGES:
        return str_starts(name, S("execute_")) && s->host.parent[row] == NO_ROW;
    case STEPS_NONE:
    case STEP_SOURCES:
        break;
    }
    return false;
}

/* The thread that has most of them, the first of several: steps are marked on one. */
static bool find_thread(const struct trace_study *s, struct arena *arena, struct step_marks *ret)
{
    uint32_t tracks = s->trace->tracks.rows.len, most = 0;
    struct arena_mark mark = arena_mark(arena);
    uint32_t *count = arena_array(arena, uint32_t, tracks);
    ret->thread = NO_ROW;
    if (count == NULL)
        return false;
    for (uint32_t row = 0; row < s->trace->spans.rows.len; row++)
        if (marks_step(s, ret->source, row))
            count[s->trace->spans.track[row]]++;
    for (uint32_t t = 0; t < tracks; t++) {
        if (count[t] > most) {
            most = count[t];
            ret->thread = t;
        }
    }
    arena_release(arena, mark);
    return true;
}

/* Of several optimizers in one step the name that stands most often counts, the first of several,
 * and of a step inside another the outer. */
static void keep_one_optimizer(const struct trace_study *s, struct step_marks *m, uint32_t *count)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t best = 0, kept = 0;
    for (uint32_t i = 0; i < m->rows; i++)
        count[spans->name[m->row[i]]]++;
    for (uint32_t i = 0; i < m->rows; i++)
        if (i == 0 || count[spans->name[m->row[i]]] > count[best])
            best = spans->name[m->row[i]];
    for (uint32_t i = 0; i < m->rows; i++)
        if (spans->name[m->row[i]] == best &&
            (kept == 0 || spans->start[m->row[i]] >= span_end(spans, m->row[kept - 1])))
            m->row[kept++] = m->row[i];
    m->rows = kept;
}

static bool find_marks(const struct trace_study *s, struct arena *arena, struct step_marks *ret)
{
    const struct spans *spans = &s->trace->spans;
    if (!find_thread(s, arena, ret))
        return false;
    ret->row = arena_array(arena, uint32_t, spans->rows.len);
    uint32_t *count = arena_array(arena, uint32_t, s->trace->strings.rows.len);
    if (ret->row == NULL || count == NULL)
        return false;
    for (uint32_t i = 0; i < spans->rows.len && ret->thread != NO_ROW; i++)
        if (spans->track[s->sorted[i]] == ret->thread && marks_step(s, ret->source, s->sorted[i]))
            ret->row[ret->rows++] = s->sorted[i];
    if (ret->source == STEPS_OPTIMIZER)
        keep_one_optimizer(s, ret, count);
    return true;
}

/* What the steps are told by: ranges of the profiler; else ends of an optimizer's steps, or ranges
 * of a server that stand around everything, of which one alone makes no loop. */
static bool choose_marks(const struct trace_study *s, struct arena *arena, struct step_marks *ret)
{
    static const struct {
        enum step_source source;
        uint32_t least;
    } tried[] = { { STEPS_PROFILER, 1 }, { STEPS_OPTIMIZER, 2 }, { STEPS_RANGES, 2 } };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        *ret = (struct step_marks){ .source = tried[i].source };
        struct arena_mark mark = arena_mark(arena);
        if (!find_marks(s, arena, ret))
            return false;
        if (ret->rows >= tried[i].least)
            return true;
        arena_release(arena, mark);
    }
    *ret = (struct step_marks){ .source = STEPS_NONE, .thread = NO_ROW };
    return true;
}

/* A step that ends where the optimizer ends begins where the one before ended, the first with the
 * thread. */
static bool step_fill(const struct trace_study *s, const struct step_marks *m, uint32_t i,
                      struct arena *arena, struct trace_step *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t row = m->row[i];
    char name[24];
    if (m->source != STEPS_OPTIMIZER) {
        ret->name = arena_copy(arena, trace_text(s->trace, spans->name[row]));
        ret->first_ns = spans->start[row];
        ret->ns = spans->duration[row];
        return ret->name.ptr != NULL;
    }
    int len = snprintf(name, sizeof name, "step %u", (unsigned)i);
    ret->name = arena_copy(arena, (str){ name, (size_t)len });
    ret->first_ns = i > 0 ? span_end(spans, m->row[i - 1])
                          : spans->start[s->host.row[s->host.first[m->thread]]];
    ret->ns = span_end(spans, row) - ret->first_ns;
    return ret->name.ptr != NULL;
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

uint32_t trace_judged_step_of(const struct trace_report *report, int64_t moment)
{
    uint32_t step = trace_step_of(report, moment);
    return step != NO_ROW && trace_step_is_judged(&report->step[step]) ? step : NO_ROW;
}

/* What the device work of a step spans, found in the order of its starts. */
struct step_work {
    struct covering all;
    int64_t busy_ns;
};

static void add_work(const struct trace_study *s, struct trace_report *r, struct step_work *work)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->sorted[i], host = links_host(&s->links, row);
        uint32_t at = host == NO_ROW ? NO_ROW : trace_step_of(r, spans->start[host]);
        if (at == NO_ROW)
            continue;
        struct step_work *w = &work[at];
        if (r->step[at].work++ == 0)
            w->all.until = spans->start[row];
        struct interval more = covering_add(&w->all, spans->start[row], span_end(spans, row));
        w->busy_ns = i64_plus(w->busy_ns, more.end - more.start);
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
        if (step->work > 0 && work[i].all.until > last)
            last = work[i].all.until;
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

static int64_t host_time(const struct trace_step *step)
{
    return step->ns;
}

static int64_t aware_time(const struct trace_step *step)
{
    return step->aware_ns;
}

/* The times of plain steps, sorted; their number. */
static uint32_t sort_plain(const struct trace_report *r, int64_t (*time)(const struct trace_step *),
                           double *sorted)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->steps; i++)
        if (r->step[i].kind == STEP_PLAIN)
            sorted[count++] = (double)time(&r->step[i]);
    statistics_sort(sorted, count);
    return count;
}

/* Whether an operator of the host began within a step. */
static bool has_operator(const struct trace_study *s, const struct trace_step *step)
{
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (spans->kind[row] == SPAN_OP && spans->start[row] >= step->first_ns &&
            spans->start[row] - step->first_ns < step->ns &&
            (s->names.traits[spans->name[row]] & (NAME_STEP | NAME_RANGE)) == 0)
            return true;
    return false;
}

/* Of a program without a device what counts is the host. */
static bool begins_empty(const struct trace_study *s, const struct trace_report *r)
{
    if (r->steps < 2 || r->step[0].work > 0)
        return false;
    return r->step[1].work > 0 ||
           (has_operator(s, &r->step[1]) && !has_operator(s, &r->step[0]));
}

/* Loops that call step() first have an empty range before their first work; the first step warms
 * up; the last may be cut. */
static void name_kinds(const struct trace_study *s, struct trace_report *r, double *sorted)
{
    const double warm_up = 1.5, whole = 0.8;
    uint32_t last = r->steps - 1;
    if (begins_empty(s, r))
        r->step[0].kind = STEP_EMPTY;
    uint32_t first = r->step[0].kind == STEP_EMPTY;
    uint32_t count = sort_plain(r, host_time, sorted); /* so far: all that are not empty */
    if (count > 2 && (double)r->step[first].ns > warm_up * statistics_median(sorted, count))
        r->step[first].kind = STEP_WARM_UP;
    if (count > 1 && last > first &&
        (double)r->step[last].work < whole * (double)r->step[last - 1].work)
        r->step[last].kind = STEP_CUT;
}

/* The first step of which a file that ends too early may lack something: that of the last operator
 * or the last work of a device that was read.  Work, and the calls that launched it, stand behind
 * the operators in many files, so that all of these may be there and none of those. */
static uint32_t first_unwhole(const struct trace_study *s, const struct trace_report *r)
{
    const struct spans *spans = &s->trace->spans;
    int64_t op = INT64_MIN, work = INT64_MIN;
    if (s->work == 0 && s->trace->devices.rows.len > 0)
        return 0;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t host = links_host(&s->links, row);
        bool is_step = (s->names.traits[spans->name[row]] & NAME_STEP) != 0;
        if (spans->kind[row] == SPAN_OP && !is_step && spans->start[row] > op)
            op = spans->start[row];
        if (span_is_work(spans->kind[row]) && host != NO_ROW && spans->start[host] > work)
            work = spans->start[host];
    }
    uint32_t of_op = trace_step_of(r, op), of_work = s->work > 0 ? trace_step_of(r, work) : NO_ROW;
    uint32_t from = of_op < of_work ? of_op : of_work;
    return from < r->steps ? from : r->steps;
}

static void name_cut(const struct trace_study *s, struct trace_report *r)
{
    if (s->trace->damage[DAMAGE_TRUNCATED].count == 0)
        return;
    for (uint32_t i = first_unwhole(s, r); i < r->steps; i++)
        if (r->step[i].kind != STEP_EMPTY)
            r->step[i].kind = STEP_CUT;
}

static void summarize(struct trace_report *r, double *sorted)
{
    const double high = 0.95, highest = 0.99;
    struct step_statistics *t = &r->statistics;
    t->count = sort_plain(r, host_time, sorted);
    if (t->count == 0)
        return;
    t->mean_ns = statistics_mean(sorted, t->count);
    t->std_ns = statistics_deviation(sorted, t->count);
    t->median_ns = statistics_median(sorted, t->count);
    t->p95_ns = statistics_percentile(sorted, t->count, high);
    t->p99_ns = statistics_percentile(sorted, t->count, highest);
    t->min_ns = i64_of_double(sorted[0]);
    t->max_ns = i64_of_double(sorted[t->count - 1]);
    sort_plain(r, aware_time, sorted);
    t->aware_median_ns = statistics_median(sorted, t->count);
}

bool trace_steps_make(const struct trace_study *s, struct arena *arena, struct trace_report *ret)
{
    struct arena scratch;
    struct step_marks marks;
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = choose_marks(s, &scratch, &marks);
    uint32_t steps = ok ? marks.rows : 0;
    ret->step_source = (uint8_t)marks.source;
    ret->step_track = marks.thread;
    ret->step = arena_array(arena, struct trace_step, steps);
    struct step_work *work = arena_array(&scratch, struct step_work, steps);
    double *sorted = arena_array(&scratch, double, steps);
    ok = ok && ret->step != NULL && work != NULL && sorted != NULL;
    for (uint32_t i = 0; i < steps && ok; i++)
        ok = step_fill(s, &marks, i, arena, &ret->step[ret->steps++]);
    if (ok && ret->steps > 0) {
        add_work(s, ret, work);
        spread(ret, work);
        name_kinds(s, ret, sorted);
        name_cut(s, ret);
        summarize(ret, sorted);
    }
    arena_free(&scratch);
    return ok;
}
