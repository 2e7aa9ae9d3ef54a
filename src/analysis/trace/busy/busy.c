/* busy.c - the events of a device in the order of time, as sets of intervals and their gaps. */
#include "analysis/trace/busy/busy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/busy/blame.h"
#include "analysis/trace/busy/gaps.h"
#include "analysis/trace/busy/intervals.h"
#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/str.h"
#include "model/trace.h"

const char *const gap_class_names[GAP_CLASSES] = {
    [GAP_NO_LAUNCH] = "no_launch",
    [GAP_QUEUED_UNDER_10US] = "queued_under_10us",
    [GAP_QUEUED] = "queued",
    [GAP_HOST_LATE] = "host_late",
    [GAP_LAUNCH_LATENCY] = "launch_latency",
    [GAP_SLOW_LAUNCH] = "slow_launch",
};

/* The work of one device. */
struct device_work {
    const struct trace_study *study;
    const uint32_t *row; /* by start, then the shorter first, then by index */
    uint32_t len;
    struct intervals busy, computation, communication, copies, no_copies;
};

/* Sets of time. */

static bool communicates(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    return spans->kind[row] == SPAN_KERNEL &&
           (s->names.traits[spans->name[row]] & NAME_COMMUNICATES) != 0;
}

static bool sets_make(struct device_work *w, struct arena *arena)
{
    struct intervals *all[] = { &w->busy, &w->computation, &w->communication, &w->copies,
                                &w->no_copies };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = (struct intervals){ .at = arena_array(arena, struct interval, w->len) };
        if (all[i]->at == NULL)
            return false;
    }
    const struct spans *s = &w->study->trace->spans;
    for (uint32_t i = 0; i < w->len; i++) {
        uint32_t row = w->row[i];
        int64_t start = s->start[row], end = span_end(s, row);
        intervals_add(&w->busy, start, end);
        if (s->kind[row] == SPAN_MEMCPY) {
            intervals_add(&w->copies, start, end);
            continue;
        }
        intervals_add(&w->no_copies, start, end);
        intervals_add(communicates(w->study, row) ? &w->communication : &w->computation, start,
                      end);
    }
    return true;
}

/* Totals. */

static void count_events(const struct device_work *w, struct device_time *d)
{
    const struct spans *s = &w->study->trace->spans;
    d->first_ns = s->start[w->row[0]];
    for (uint32_t i = 0; i < w->len; i++) {
        uint32_t row = w->row[i];
        d->events[s->kind[row]]++;
        d->ns[s->kind[row]] = i64_plus(d->ns[s->kind[row]], s->duration[row]);
        d->sum_ns = i64_plus(d->sum_ns, s->duration[row]);
        if (i == 0 || span_end(s, row) > d->last_ns)
            d->last_ns = span_end(s, row);
    }
}

static void part(const struct device_work *w, struct device_time *d)
{
    d->busy_ns = intervals_measure(&w->busy);
    d->idle_ns = d->last_ns - d->first_ns - d->busy_ns;
    d->computation_ns = intervals_measure(&w->computation);
    d->communication_ns = intervals_measure(&w->communication);
    d->communication_hidden_ns = intervals_common(&w->communication, &w->computation);
    d->exposed_communication_ns = d->communication_ns - d->communication_hidden_ns;
    d->exposed_memcpy_ns =
        intervals_measure(&w->copies) - intervals_common(&w->copies, &w->no_copies);
}

/* Gaps. */

static uint32_t bin_of(int64_t ns)
{
    static const int64_t edges[GAP_BINS - 1] = { 1000, 10000, 100000, 1000000, 10000000 };
    uint32_t bin = 0;
    while (bin < GAP_BINS - 1 && ns >= edges[bin])
        bin++;
    return bin;
}

static void add_class(struct device_time *d, enum gap_class c, int64_t ns)
{
    d->class_gaps[c]++;
    d->class_ns[c] += ns;
}

/* Keeps a gap that is among the longest. */
static void keep_longest(struct device_time *d, const struct long_gap *gap)
{
    uint32_t at = d->longests;
    if (at == LONGEST_GAPS && gap->ns <= d->longest[at - 1].ns)
        return;
    if (at < LONGEST_GAPS)
        d->longests++;
    else
        at--;
    for (; at > 0 && d->longest[at - 1].ns < gap->ns; at--)
        d->longest[at] = d->longest[at - 1];
    d->longest[at] = *gap;
}

/* The host had not launched it when the gap began: its time up to the launch, and from there. */
static void late(const struct device_work *w, const struct pieces *pieces,
                 const struct gap_parts *parts, struct long_gap *gap, struct device_time *d)
{
    const struct trace_study *s = w->study;
    int64_t late_ns = parts->late_until - gap->first_ns, by_blame[BLAMES] = { 0 };
    blame_add(pieces, s->home[s->links.launch[gap->next]], gap->first_ns, parts->late_until,
              by_blame);
    add_class(d, GAP_HOST_LATE, late_ns);
    add_class(d, parts->rest, gap->ns - late_ns);
    gap->kind = late_ns >= gap->ns - late_ns ? GAP_HOST_LATE : (uint8_t)parts->rest;
    gap->reason = 0;
    for (uint32_t b = 0; b < BLAMES; b++) {
        d->blame_ns[b] += by_blame[b];
        if (by_blame[b] > by_blame[gap->reason])
            gap->reason = (uint8_t)b;
    }
}

/* The gap before `next`, which the device did at its end. */
static void gap(const struct device_work *w, const struct pieces *pieces, int64_t start,
                uint32_t next, struct device_time *d)
{
    int64_t ns = w->study->trace->spans.start[next] - start;
    struct gap_parts parts = gap_part(w->study, start, next);
    struct long_gap gap = { start, ns, (uint8_t)parts.kind, BLAMES, next };
    d->gaps++;
    d->gap_histogram[bin_of(ns)]++;
    if (ns > d->longest_gap_ns)
        d->longest_gap_ns = ns;
    if (parts.kind == GAP_HOST_LATE)
        late(w, pieces, &parts, &gap, d);
    else
        add_class(d, parts.kind, ns);
    keep_longest(d, &gap);
}

/* The busy time of each of the equal parts of the span. */
static void fill_bins(const struct device_work *w, struct device_time *d)
{
    double width = (double)(d->last_ns - d->first_ns) / BUSY_BINS;
    for (uint32_t i = 0; i < w->busy.len && width > 0; i++) {
        int64_t at = w->busy.at[i].start - d->first_ns, end = w->busy.at[i].end - d->first_ns;
        while (at < end) {
            uint32_t bin = (uint32_t)((double)at / width);
            if (bin >= BUSY_BINS)
                bin = BUSY_BINS - 1;
            int64_t edge = i64_of_double((double)(bin + 1) * width);
            int64_t to = bin == BUSY_BINS - 1 || end < edge ? end : edge > at ? edge : at + 1;
            d->bin_ns[bin] += to - at;
            at = to;
        }
    }
}

/* A gap ends where the next interval begins, with the first event that begins there. */
static void find_gaps(const struct device_work *w, const struct pieces *pieces,
                      struct device_time *d)
{
    const struct spans *s = &w->study->trace->spans;
    uint32_t next = 0;
    for (uint32_t i = 1; i < w->busy.len; i++) {
        while (s->start[w->row[next]] < w->busy.at[i].start)
            next++;
        gap(w, pieces, w->busy.at[i - 1].end, w->row[next], d);
    }
}

/* Devices. */

/* A track belongs to one process, so that one mark for each is enough for all devices. */
static uint32_t count_streams(const struct device_work *w, bool *seen)
{
    const struct trace *t = w->study->trace;
    uint32_t streams = 0;
    for (uint32_t i = 0; i < w->len; i++) {
        uint32_t track = t->spans.track[w->row[i]];
        streams += !seen[track];
        seen[track] = true;
    }
    return streams;
}

static bool device_make(struct device_work *w, const struct pieces *pieces, struct arena *arena,
                        struct device_time *d)
{
    struct arena_mark mark = arena_mark(arena);
    bool ok = sets_make(w, arena);
    if (ok) {
        count_events(w, d);
        part(w, d);
        find_gaps(w, pieces, d);
        fill_bins(w, d);
    }
    arena_release(arena, mark);
    return ok;
}

/* A stretch of equal starts, whose longer ones stand first: the shorter first, equal ones as they
 * stand. */
static void shorter_first(const struct spans *s, uint32_t *row, uint32_t len)
{
    for (uint32_t i = 0, end; i < len; i = end) {
        for (end = i + 1; end < len && s->start[row[end]] == s->start[row[i]]; end++)
            ;
        for (uint32_t a = i, b = end - 1; a < b; a++, b--) {
            uint32_t moved = row[a];
            row[a] = row[b];
            row[b] = moved;
        }
        /* Reversed, equal lengths stand by falling index. */
        for (uint32_t a = i, same; a < end; a = same) {
            for (same = a + 1; same < end && s->duration[row[same]] == s->duration[row[a]]; same++)
                ;
            for (uint32_t x = a, y = same - 1; x < y; x++, y--) {
                uint32_t moved = row[x];
                row[x] = row[y];
                row[y] = moved;
            }
        }
    }
}

static bool pid_keep(const struct trace *t, uint32_t process, struct arena *arena,
                     struct pid_name *ret)
{
    struct trace_id pid = { t->processes.pid[process], t->processes.pid_form[process] };
    *ret = (struct pid_name){ .is_number = pid.form == ID_NUMBER,
                              .is_known = pid.form != ID_NONE,
                              .number = pid.value };
    return trace_id_copy(t, pid, arena, &ret->text);
}

/* A process that has device work. */
struct worker {
    uint32_t process;
    struct pid_name pid;
};

static int by_pid(const void *a, const void *b)
{
    const struct worker *x = a, *y = b;
    int order = str_compare(x->pid.text, y->pid.text);
    return order != 0 ? order : x->process < y->process ? -1 : x->process > y->process;
}

/* The processes that have device work, in order, and the rows of each side by side. */
struct grouping {
    struct worker *worker;
    uint32_t workers;
    bool *seen; /* of each track */
    uint32_t *first; /* of each process of the trace, and one more */
    uint32_t *row;
};

/* `names` keeps what the result holds. */
static bool group(const struct trace_study *s, struct arena *arena, struct arena *names,
                  struct grouping *ret)
{
    const struct trace *t = s->trace;
    uint32_t count = t->processes.rows.len, spans = t->spans.rows.len;
    *ret = (struct grouping){ .worker = arena_array(arena, struct worker, count),
                              .seen = arena_array(arena, bool, t->tracks.rows.len),
                              .first = arena_array(arena, uint32_t, (size_t)count + 2),
                              .row = arena_array(arena, uint32_t, spans) };
    if (ret->worker == NULL || ret->seen == NULL || ret->first == NULL || ret->row == NULL)
        return false;
    for (uint32_t i = 0; i < spans; i++)
        if (span_is_work(t->spans.kind[i]))
            ret->first[t->tracks.process[t->spans.track[i]] + 2]++;
    for (uint32_t p = 0; p < count; p++) {
        struct worker *worker = &ret->worker[ret->workers];
        if (ret->first[p + 2] > 0) {
            worker->process = p;
            if (!pid_keep(t, p, names, &worker->pid))
                return false;
            ret->workers++;
        }
        ret->first[p + 2] += ret->first[p + 1];
    }
    qsort(ret->worker, ret->workers, sizeof *ret->worker, by_pid);
    for (uint32_t i = 0; i < spans; i++) {
        uint32_t row = s->sorted[i];
        if (span_is_work(t->spans.kind[row]))
            ret->row[ret->first[t->tracks.process[t->spans.track[row]] + 1]++] = row;
    }
    return true;
}

bool busy_between(const struct trace_study *s, int64_t from, int64_t to, struct arena *arena,
                  int64_t *ret)
{
    const struct trace *t = s->trace;
    struct arena_mark mark = arena_mark(arena);
    struct covering *busy = arena_array(arena, struct covering, t->processes.rows.len);
    if (busy == NULL)
        return false;
    for (uint32_t p = 0; p < t->processes.rows.len; p++)
        busy[p].until = from;
    for (uint32_t i = 0; i < t->spans.rows.len; i++) {
        uint32_t row = s->sorted[i];
        if (!span_is_work(t->spans.kind[row]))
            continue;
        uint32_t p = t->tracks.process[t->spans.track[row]];
        struct interval more =
            covering_add(&busy[p], t->spans.start[row], span_end(&t->spans, row));
        ret[p] = i64_plus(ret[p], interval_common(more, (struct interval){ from, to }));
    }
    arena_release(arena, mark);
    return true;
}

/* With all that is only needed here in `scratch`. */
static bool devices_make(const struct trace_study *s, struct arena *scratch, struct arena *arena,
                         struct busy *ret)
{
    struct grouping g;
    struct pieces pieces;
    if (!group(s, scratch, arena, &g) || !pieces_make(s, scratch, &pieces))
        return false;
    ret->device = arena_array(arena, struct device_time, g.workers);
    if (ret->device == NULL)
        return false;
    for (uint32_t i = 0; i < g.workers; i++) {
        uint32_t p = g.worker[i].process, first = g.first[p], len = g.first[p + 1] - first;
        struct device_work w = { .study = s, .row = g.row + first, .len = len };
        shorter_first(&s->trace->spans, g.row + first, len);
        struct device_time *d = &ret->device[ret->devices++];
        d->process = p;
        d->pid = g.worker[i].pid;
        d->streams = count_streams(&w, g.seen);
        if (!device_make(&w, &pieces, scratch, d))
            return false;
    }
    return true;
}

enum vrs_status busy_make(const struct trace_study *s, struct arena *arena, struct busy *ret,
                          struct vrs_error *err)
{
    struct arena scratch;
    *ret = (struct busy){ .devices = 0 };
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = devices_make(s, &scratch, arena, ret);
    arena_free(&scratch);
    return ok ? VRS_OK : vrs_no_memory(err);
}
