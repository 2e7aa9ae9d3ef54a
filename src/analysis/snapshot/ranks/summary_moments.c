/* summary_moments.c - one pass over the curve, cut wherever a range begins or ends. */
#include "analysis/snapshot/ranks/summary_moments.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

/* A range in events: those from `first` up to `end`. */
struct stretch {
    uint32_t first, end;
    str name;
    uint32_t nth;
    bool closed;
};

struct stretches {
    struct stretch at[SUMMARY_MOMENTS_MOST];
    uint32_t count;
};

static enum vrs_status keep_steps(const struct study *s, uint32_t events, struct summary_moments *m,
                                  struct vrs_error *err)
{
    uint32_t most = s->steps.count < SUMMARY_MOMENTS_MOST ? s->steps.count : SUMMARY_MOMENTS_MOST;
    if (s->steps.source == STEPS_NONE)
        return VRS_OK;
    m->step_peak = arena_array(s->keep, int64_t, most);
    if (m->step_peak == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < most; i++) {
        uint32_t next =
            i + 1 < s->steps.count ? s->steps.boundary[i + 1].event : s->steps.end_event;
        if (next > events)
            break;
        m->step_peak[m->steps++] = s->steps.boundary[i].peak_bytes;
    }
    return VRS_OK;
}

/* Names that differ only around them are one. */
static uint32_t count_name(const struct stretches *s, str name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        count += str_equal(s->at[i].name, name);
    return count;
}

/* Pairs each end with the latest open start of its name, which may be one too many to be kept. */
static enum vrs_status find_stretches(const struct study *s, uint32_t events, struct stretches *ret,
                                      struct vrs_error *err)
{
    const struct marks *marks = &s->r->marks;
    struct mark_events m;
    ret->count = 0;
    if (marks->rows.len == 0)
        return VRS_OK;
    TRY(mark_events_make(s->r, s->device, s->scratch, &m, err));
    uint32_t names = s->r->code.strings.rows.len;
    uint32_t *open = arena_array(s->scratch, uint32_t, names);   /* stretch plus 1 */
    uint32_t *unkept = arena_array(s->scratch, uint32_t, names); /* open, later than all kept */
    uint32_t before[SUMMARY_MOMENTS_MOST];
    if (open == NULL || unkept == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < m.count; i++) {
        uint32_t row = m.order[i], name = marks->name[row], event = m.event[row];
        if (event == NO_ROW || event > events)
            continue;
        bool start = marks->stage[row] == STAGE_START;
        if (!start && unkept[name] > 0) {
            unkept[name]--;
        } else if (!start) {
            struct stretch *last = open[name] == 0 ? NULL : &ret->at[open[name] - 1];
            if (last == NULL)
                continue;
            open[name] = before[open[name] - 1];
            last->end = event;
            last->closed = true;
        } else if (ret->count < SUMMARY_MOMENTS_MOST) {
            str text = mark_name(s->r, row);
            struct stretch made = { event, event, text, count_name(ret, text), false };
            before[ret->count] = open[name];
            ret->at[ret->count++] = made;
            open[name] = ret->count;
        } else {
            unkept[name]++;
        }
    }
    return VRS_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The curve between cuts: what stands before the first event of a piece, and the highest of it. */
struct pieces {
    uint32_t cut[2 * SUMMARY_MOMENTS_MOST + 1]; /* events, ascending */
    int64_t before[2 * SUMMARY_MOMENTS_MOST + 1], most[2 * SUMMARY_MOMENTS_MOST + 1];
    uint32_t cuts;
};

static void cut_pieces(const struct stretches *stretches, struct pieces *p)
{
    uint32_t len = 0;
    p->cuts = 0;
    for (uint32_t i = 0; i < stretches->count; i++) {
        p->cut[len++] = stretches->at[i].first;
        p->cut[len++] = stretches->at[i].end;
    }
    if (len > 1)
        qsort(p->cut, len, sizeof *p->cut, by_number);
    for (uint32_t i = 0; i < len; i++)
        if (i == 0 || p->cut[i] != p->cut[p->cuts - 1])
            p->cut[p->cuts++] = p->cut[i];
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void find_clock(const struct study *s, uint32_t events, struct summary_moments *m)
{
    const uint64_t *time = s->r->events.time_us + s->r->devices.first_event[s->device];
    bool any = false;
    for (uint32_t i = 0; i < events; i++) {
        if (time[i] == UNKNOWN_U64)
            continue;
        m->begin_us = any && m->begin_us < time[i] ? m->begin_us : time[i];
        m->end_us = any && m->end_us > time[i] ? m->end_us : time[i];
        any = true;
    }
    m->timed = any && m->end_us > m->begin_us;
    m->span_us = (m->end_us - m->begin_us) / UNIT_SPANS + 1;
}

/* The pass.  A span without events holds what was before it. */
static void follow_curve(const struct study *s, uint32_t events, struct pieces *p,
                         struct summary_moments *m)
{
    uint32_t first = s->r->devices.first_event[s->device], piece = 0;
    uint64_t bytes = (uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes, span = 0;
    m->most[0] = (int64_t)bytes;
    for (uint32_t i = 0; i <= events; i++) {
        if (piece < p->cuts && p->cut[piece] == i) {
            p->before[piece] = p->most[piece] = (int64_t)bytes;
            piece++;
        }
        if (i == events)
            break;
        uint64_t time = s->r->events.time_us[first + i];
        uint64_t now = !m->timed || time == UNKNOWN_U64 ? span : (time - m->begin_us) / m->span_us;
        while (span < now)
            m->most[++span] = (int64_t)bytes;
        bytes += requested_change(s->r, first + i);
        m->most[span] = larger(m->most[span], (int64_t)bytes);
        if (piece > 0)
            p->most[piece - 1] = larger(p->most[piece - 1], (int64_t)bytes);
    }
    while (span + 1 < UNIT_SPANS)
        m->most[++span] = (int64_t)bytes;
}

static int64_t peak_of(const struct stretch *stretch, const struct pieces *p)
{
    uint32_t i = 0;
    while (p->cut[i] != stretch->first)
        i++;
    int64_t most = p->before[i];
    for (; i < p->cuts && p->cut[i] < stretch->end; i++)
        most = larger(most, p->most[i]);
    return most;
}

static enum vrs_status keep_ranges(const struct study *s, const struct stretches *stretches,
                                   const struct pieces *p, struct summary_moments *m,
                                   struct vrs_error *err)
{
    m->range = arena_array(s->keep, struct summary_range, stretches->count);
    if (m->range == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < stretches->count; i++) {
        const struct stretch *stretch = &stretches->at[i];
        if (!stretch->closed)
            continue;
        str name = arena_copy(s->keep, stretch->name);
        if (name.ptr == NULL)
            return vrs_no_memory(err);
        m->range[m->ranges++] = (struct summary_range){ name, stretch->nth, peak_of(stretch, p) };
    }
    return VRS_OK;
}

enum vrs_status summary_moments_make(const struct study *s, uint32_t events,
                                     struct summary_moments *ret, struct vrs_error *err)
{
    *ret = (struct summary_moments){ .steps = 0 };
    if (!s->traced)
        return VRS_OK;
    struct stretches *stretches = arena_take(s->scratch, sizeof *stretches);
    struct pieces *pieces = arena_take(s->scratch, sizeof *pieces);
    if (stretches == NULL || pieces == NULL)
        return vrs_no_memory(err);
    TRY(keep_steps(s, events, ret, err));
    TRY(find_stretches(s, events, stretches, err));
    cut_pieces(stretches, pieces);
    find_clock(s, events, ret);
    follow_curve(s, events, pieces, ret);
    return keep_ranges(s, stretches, pieces, ret, err);
}

bool summary_moments_between(const struct summary_moments *m, uint64_t from_us, uint64_t to_us,
                             int64_t *ret)
{
    uint64_t first = (from_us - m->begin_us) / m->span_us,
             last = (to_us - m->begin_us) / m->span_us;
    int64_t outer = m->most[first], inner = INT64_MIN;
    for (uint64_t i = first; i <= last; i++) {
        outer = larger(outer, m->most[i]);
        bool begins = i > first || m->begin_us + i * m->span_us >= from_us;
        bool ends = i < last || to_us == m->end_us ||
                    to_us - (m->begin_us + i * m->span_us) >= m->span_us - 1;
        if (begins && ends)
            inner = larger(inner, m->most[i]);
    }
    *ret = outer;
    return inner == outer;
}
