/* hosts.c - one pass over each thread: its spans and its instants, both in the order of time. */
#include "analysis/trace/categories/hosts.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/study/names.h"
#include "base/radix_sort.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* What a span hands down to those inside it, worked out parents first. */
struct inherited {
    uint32_t *inner, *outer;
    uint8_t *accumulates, *copies;
};

struct sweep {
    const struct trace_study *study;
    struct inherited of;
    bool has_ranges;  /* the trace tells ranges from operators by their category */
    uint8_t *by_name; /* of each string: whether it names AccumulateGrad */
};

/* Until 2021 ranges were recorded as operators; operators of a library have "::". */
static bool is_operator(const struct sweep *w, uint32_t row)
{
    const struct trace_study *s = w->study;
    uint32_t name = s->trace->spans.name[row];
    if (s->trace->spans.kind[row] != SPAN_OP ||
        (s->names.traits[name] & (NAME_STEP | NAME_RANGE)) != 0)
        return false;
    str text = trace_text(s->trace, name);
    return w->has_ranges || str_find(text, S("::")) < text.len;
}

static void inherit(struct sweep *w)
{
    const struct trace_study *s = w->study;
    const struct forest *f = &s->host;
    for (uint32_t i = 0; i < f->first[f->threads]; i++) {
        uint32_t row = f->row[i], parent = f->parent[row];
        bool inside = parent != NO_ROW;
        uint32_t inner = inside ? w->of.inner[parent] : NO_ROW;
        uint32_t outer = inside ? w->of.outer[parent] : NO_ROW;
        w->of.inner[row] = span_is_range(s->trace->spans.kind[row]) ? row : inner;
        w->of.outer[row] = outer == NO_ROW && is_operator(w, row) ? row : outer;
        w->of.accumulates[row] = (inside && w->of.accumulates[parent] != 0) ||
                                 w->by_name[s->trace->spans.name[row]] != 0;
    }
}

static bool is_to_device(str name)
{
    return str_find(name, S("HtoD")) < name.len || str_find(name, S("HostToDevice")) < name.len;
}

/* Marks the outermost operators that launched copies to a device. */
static void mark_copies(struct sweep *w)
{
    const struct trace_study *s = w->study;
    const struct spans *spans = &s->trace->spans;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t launch = s->links.launch[row];
        if (spans->kind[row] != SPAN_MEMCPY || launch == NO_ROW ||
            !is_to_device(trace_text(s->trace, spans->name[row])))
            continue;
        uint32_t outer = w->of.outer[launch];
        if (outer != NO_ROW)
            w->of.copies[outer] = 1;
    }
}

static bool sweep_make(const struct trace_study *s, struct arena *arena, struct sweep *ret)
{
    const struct trace *t = s->trace;
    uint32_t spans = t->spans.rows.len, strings = t->strings.rows.len;
    *ret = (struct sweep){ .study = s,
                           .by_name = arena_array(arena, uint8_t, strings),
                           .of = { arena_array(arena, uint32_t, spans),
                                   arena_array(arena, uint32_t, spans),
                                   arena_array(arena, uint8_t, spans),
                                   arena_array(arena, uint8_t, spans) } };
    if (ret->by_name == NULL || ret->of.inner == NULL || ret->of.outer == NULL ||
        ret->of.accumulates == NULL || ret->of.copies == NULL)
        return false;
    for (uint32_t id = 0; id < strings; id++) {
        str text = trace_text(t, id);
        ret->by_name[id] = str_find(text, S("AccumulateGrad")) < text.len;
    }
    for (uint32_t row = 0; row < spans; row++) {
        ret->has_ranges = ret->has_ranges || t->spans.kind[row] == SPAN_ANNOTATION;
        ret->of.inner[row] = ret->of.outer[row] = NO_ROW;
    }
    inherit(ret);
    mark_copies(ret);
    return true;
}

/* What is around an instant of a thread: an empty span holds its own instant. */
static void settle(const struct sweep *w, uint32_t row, uint32_t event, struct trace_hosts *ret)
{
    if (row == NO_ROW)
        return;
    ret->inner[event] = w->of.inner[row];
    ret->outer[event] = w->of.outer[row];
    ret->accumulates[event] = w->of.accumulates[row];
    if (w->of.outer[row] != NO_ROW)
        ret->copies[event] = w->of.copies[w->of.outer[row]];
}

/* The innermost span that runs at a moment, of those up to and with `row`. */
static uint32_t running_at(const struct trace_study *s, uint32_t row, int64_t moment)
{
    const struct spans *spans = &s->trace->spans;
    while (row != NO_ROW && span_end(spans, row) <= moment &&
           !(spans->duration[row] == 0 && spans->start[row] == moment))
        row = s->host.parent[row];
    return row;
}

/* The events of a thread, of which `event` are by time. */
static void visit_thread(const struct sweep *w, uint32_t track, const uint32_t *event,
                         uint32_t events, struct trace_hosts *ret)
{
    const struct trace_study *s = w->study;
    const struct forest *f = &s->host;
    uint32_t next = f->first[track], end = f->first[track + 1], open = NO_ROW;
    for (uint32_t i = 0; i < events; i++) {
        int64_t moment = s->trace->memory.time[event[i]];
        while (next < end && s->trace->spans.start[f->row[next]] <= moment)
            open = f->row[next++];
        /* What ended before this moment has ended for those that come, too. */
        open = running_at(s, open, moment);
        settle(w, open, event[i], ret);
    }
}

/* The events of each thread by time, and where those of each begin; NULL: no memory. */
static uint32_t *by_thread(const struct trace *t, struct arena *arena, uint32_t **ret_first)
{
    const struct memory_events *m = &t->memory;
    uint32_t events = m->rows.len, tracks = t->tracks.rows.len;
    uint32_t *row = arena_array(arena, uint32_t, events);
    uint32_t *first = arena_array(arena, uint32_t, (size_t)tracks + 2);
    const uint32_t *by_time = radix_ordered(m->time, events, arena);
    if (row == NULL || first == NULL || by_time == NULL)
        return NULL;
    for (uint32_t i = 0; i < events; i++)
        first[m->track[i] + 2]++;
    for (uint32_t track = 0; track < tracks; track++)
        first[track + 2] += first[track + 1];
    /* What is behind a thread's begin is that of the next, once its events are there. */
    for (uint32_t i = 0; i < events; i++)
        row[first[m->track[by_time[i]] + 1]++] = by_time[i];
    *ret_first = first;
    return row;
}

bool trace_hosts_make(const struct trace_study *s, struct arena *arena, struct trace_hosts *ret)
{
    const struct memory_events *m = &s->trace->memory;
    uint32_t events = m->rows.len;
    *ret = (struct trace_hosts){ arena_array(arena, uint32_t, events),
                                 arena_array(arena, uint32_t, events),
                                 arena_array(arena, uint8_t, events),
                                 arena_array(arena, uint8_t, events) };
    struct arena_mark mark = arena_mark(arena);
    uint32_t *first = NULL;
    const uint32_t *event = by_thread(s->trace, arena, &first);
    struct sweep w;
    if (ret->inner == NULL || ret->outer == NULL || ret->accumulates == NULL ||
        ret->copies == NULL || event == NULL || !sweep_make(s, arena, &w))
        return false;
    for (uint32_t i = 0; i < events; i++)
        ret->inner[i] = ret->outer[i] = NO_ROW;
    for (uint32_t track = 0; track < s->trace->tracks.rows.len; track++)
        visit_thread(&w, track, event + first[track], first[track + 1] - first[track], ret);
    arena_release(arena, mark);
    return true;
}
