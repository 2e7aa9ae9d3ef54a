/* rule_gaps.c - what the judged device did and waited for, walked in the order of time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/blame.h"
#include "analysis/trace/busy/busy.h"
#include "analysis/trace/busy/gaps.h"
#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/table.h"
#include "model/trace.h"

/* The stretches of a thread in which the device waited for it. */
struct lateness {
    uint32_t *track; /* of each stretch */
    struct interval *at;
    uint32_t len;
    int64_t *step_slow; /* of each step */
};

/* Gaps. */

static void add_slow(struct rule_facts *f, struct lateness *l, uint32_t launch, int64_t ns)
{
    const struct spans *spans = &f->study->trace->spans;
    uint32_t step = trace_step_of(f->report, spans->start[launch]);
    f->slow_ns = i64_plus(f->slow_ns, ns);
    if (step != NO_ROW)
        l->step_slow[step] = i64_plus(l->step_slow[step], ns);
    if (f->slowest == NO_ROW || spans->duration[launch] > spans->duration[f->slowest])
        f->slowest = launch;
}

/* What of a gap lies in the judged time, by whose fault it is. */
static void add_judged(struct rule_facts *f, int64_t start, int64_t end,
                       const struct gap_parts *parts)
{
    const struct interval window = { f->window_first, f->window_last };
    int64_t *to = parts->kind == GAP_HOST_LATE   ? &f->judged_waited_ns
                  : parts->kind == GAP_NO_LAUNCH ? &f->judged_unknown_ns
                                                 : NULL;
    bool whole = parts->kind == GAP_NO_LAUNCH || parts->rest == GAP_SLOW_LAUNCH;
    struct interval part = { start, whole ? end : parts->late_until };
    if (to != NULL && part.end > part.start)
        *to = i64_plus(*to, interval_common(part, window));
}

static void add_gap(struct rule_facts *f, struct lateness *l, int64_t start, uint32_t next)
{
    const struct trace_study *s = f->study;
    uint32_t launch = s->links.launch[next];
    int64_t end = s->trace->spans.start[next];
    struct gap_parts parts = gap_part(s, start, next);
    add_judged(f, start, end, &parts);
    if (parts.kind != GAP_HOST_LATE)
        return;
    if (s->home[launch] != NO_ROW) {
        l->track[l->len] = s->home[launch];
        l->at[l->len++] = (struct interval){ start, parts.late_until };
    }
    if (parts.rest == GAP_SLOW_LAUNCH && end > parts.late_until)
        add_slow(f, l, launch, i64_minus(end, parts.late_until));
}

static void walk(struct rule_facts *f, struct lateness *l)
{
    const struct trace_study *s = f->study;
    const struct spans *spans = &s->trace->spans;
    const struct interval window = { f->window_first, f->window_last };
    struct covering all = { INT64_MIN }, compute = { INT64_MIN };
    for (uint32_t i = 0; i < spans->rows.len; i++) {
        uint32_t row = s->sorted[i];
        if (!span_is_work(spans->kind[row]) ||
            s->trace->tracks.process[spans->track[row]] != f->process)
            continue;
        int64_t start = spans->start[row], end = span_end(spans, row);
        if (all.until != INT64_MIN && start > all.until)
            add_gap(f, l, all.until, gap_end(s, i));
        struct interval more = covering_add(&all, start, end);
        f->busy_ns = i64_plus(f->busy_ns, interval_common(more, window));
        if (spans->kind[row] == SPAN_MEMCPY ||
            (s->names.traits[spans->name[row]] & NAME_COMMUNICATES) != 0)
            continue;
        more = covering_add(&compute, start, end);
        f->compute_ns = i64_plus(f->compute_ns, interval_common(more, window));
    }
    f->judged_ns = f->window_last - f->window_first;
    const struct interval events = { f->card->first_ns, f->card->last_ns };
    f->judged_waited_ns = i64_plus(f->judged_waited_ns,
                                   i64_minus(f->judged_ns, interval_common(events, window)));
}

/* The step outside warm-up of which slow launches are the largest share. */
static void find_slow_step(struct rule_facts *f, const struct lateness *l)
{
    const struct trace_report *r = f->report;
    f->slow_ratio = -1;
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct trace_step *step = &r->step[i];
        if (step->kind != STEP_PLAIN || step->ns <= 0)
            continue;
        double ratio = (double)l->step_slow[i] / (double)step->ns;
        f->steady_slow_ns = i64_plus(f->steady_slow_ns, l->step_slow[i]);
        if (ratio > f->slow_ratio) {
            f->slow_ratio = ratio;
            f->slow_step = i;
        }
    }
}

/* What ran meanwhile. */

/* The operator or range that gives a reason, or the call where no such is around it. */
static uint32_t giver_of(const struct trace_study *s, const struct piece *piece)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t row = piece->from;
    while (row != NO_ROW && !span_is_range(spans->kind[row]))
        row = s->host.parent[row];
    return row != NO_ROW ? row : piece->from;
}

/* Adds the time of a stretch that has the reason, to the names of what gives it; that of the ranges
 * of steps, each of which has a name of its own, to the name 0. */
static void add_stretch(const struct rule_facts *f, const struct pieces *p, uint32_t track,
                        const struct interval *stretch, int64_t *by_name)
{
    const struct trace_study *s = f->study;
    for (uint32_t i = pieces_behind(p, track, stretch->start);
         i < p->first[track + 1] && p->at[i].start < stretch->end; i++) {
        const struct piece *one = &p->at[i];
        if (one->blame != f->late_reason)
            continue;
        uint32_t id = s->trace->spans.name[giver_of(s, one)];
        int64_t from = one->start > stretch->start ? one->start : stretch->start;
        int64_t to = one->end < stretch->end ? one->end : stretch->end;
        if ((s->names.traits[id] & NAME_STEP) != 0)
            id = 0;
        by_name[id] = i64_plus(by_name[id], i64_minus(to, from));
    }
}

/* By the largest reason of the late host, as the report has it: what was longest in it. */
static bool find_late_name(struct rule_facts *f, const struct lateness *l)
{
    const struct trace_study *s = f->study;
    uint32_t strings = s->trace->strings.rows.len;
    int64_t *by_name = arena_array(f->arena, int64_t, (size_t)strings + 1);
    struct pieces pieces;
    if (f->card->blames == 0)
        return true;
    if (by_name == NULL || !pieces_make(s, f->arena, &pieces))
        return false;
    f->late_reason = f->card->blame[0].reason;
    f->late_reason_ns = f->card->blame[0].ns;
    for (uint32_t i = 0; i < l->len; i++)
        add_stretch(f, &pieces, l->track[i], &l->at[i], by_name);
    for (uint32_t id = 0; id < strings; id++) {
        if (by_name[id] > f->late_name_ns) {
            f->late_name_ns = by_name[id];
            f->late_name = id;
        }
    }
    return true;
}

bool rule_gaps_find(struct rule_facts *f)
{
    uint32_t work = f->study->work;
    struct arena_mark mark = arena_mark(f->arena);
    struct lateness l = { .track = arena_array(f->arena, uint32_t, work),
                          .at = arena_array(f->arena, struct interval, work),
                          .step_slow = arena_array(f->arena, int64_t, f->report->steps) };
    f->slowest = NO_ROW;
    f->slow_ratio = -1;
    f->late_reason = BLAMES;
    if (l.track == NULL || l.at == NULL || l.step_slow == NULL)
        return false;
    bool ok = true;
    if (f->card != NULL) {
        walk(f, &l);
        find_slow_step(f, &l);
        ok = find_late_name(f, &l);
    }
    arena_release(f->arena, mark);
    return ok;
}
