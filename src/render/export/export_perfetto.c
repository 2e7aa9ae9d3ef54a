/* export_perfetto.c - the four curves and the bytes of each category as counters, out-of-memory and
 * the end of a cut recording as instants, steps, phases and annotations as slices, and what is
 * alive at one moment as a heap profile.
 *
 * A trace is a list of TracePacket of google/perfetto, protos/perfetto/trace/trace_packet.proto;
 * each holds a TrackDescriptor or a TrackEvent (the folder track_event beside it).
 *
 * Many events share a microsecond.  In the trace each comes a nanosecond after the one before it,
 * so that none of their values is hidden; where the recording has no times, an event is a
 * microsecond. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curve_steps.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"
#include "render/export/export.h"
#include "render/export/export_perfetto_heap.h"
#include "render/export/export_stacks.h"
#include "render/write/out.h"
#include "render/write/protobuf.h"

enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
    PACKET_CLOCKS = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_HEAP = 37,
    PACKET_TRACK = 60
};
enum clocks_field { CLOCKS_CLOCK = 1, CLOCKS_OF_TRACE = 2 };
enum clock_field { CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { MONOTONIC_COARSE = 4, BOOTTIME = 6 };
enum track_field {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8
};
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum counter_field { COUNTER_UNIT = 3 };
enum { UNIT_SIZE_BYTES = 3 };
enum event_field {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_VALUE = 30
};
enum event_type { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END, TYPE_INSTANT, TYPE_COUNTER };
enum annotation_field { ANNOTATION_UINT = 3, ANNOTATION_NAME = 10 };

/* Slices that overlap without being inside each other stand in lanes of their own. */
enum { LANES = 16 };

/* Tracks: of device i, 100 * (i + 1), its curves, its categories, its steps and its phases behind
 * it; of lane i, 1 + i; of where the recording is cut, the one behind the lanes. */
enum { CUT_TRACK = 1 + LANES };

static uint64_t device_track(uint32_t device)
{
    return ((uint64_t)device + 1) * 100;
}

static uint64_t category_track(uint32_t device, uint32_t category)
{
    return device_track(device) + 1 + CURVES + category;
}

enum span_track { STEP_TRACK, PHASE_TRACK };

static uint64_t span_track(uint32_t device, enum span_track which)
{
    return category_track(device, CATEGORIES) + which;
}

struct tracer {
    struct exporting *e;
    struct out *out;
    uint64_t last_ns; /* the latest time that something has */
    uint64_t heaps;   /* heap profiles so far */
    struct buf packet, body, inner;
};

static void put_packet(struct tracer *t)
{
    /* All packets are one sequence. */
    proto_u64(&t->packet, PACKET_SEQUENCE, 1);
    proto_message(&t->out->text, TRACE_PACKET, &t->packet);
    out_flush(t->out, OUT_ENOUGH);
}

static void put_track(struct tracer *t, uint64_t uuid, uint64_t parent, str name, bool counter)
{
    proto_u64(&t->body, TRACK_UUID, uuid);
    proto_str(&t->body, TRACK_NAME, name);
    if (parent != 0)
        proto_u64(&t->body, TRACK_PARENT, parent);
    if (counter) {
        proto_u64(&t->inner, COUNTER_UNIT, UNIT_SIZE_BYTES);
        proto_message(&t->body, TRACK_COUNTER, &t->inner);
    }
    proto_message(&t->packet, PACKET_TRACK, &t->body);
    put_packet(t);
}

static void put_clock(struct tracer *t, uint64_t clock)
{
    proto_u64(&t->inner, CLOCK_ID, clock);
    proto_u64(&t->inner, CLOCK_TIME, 0);
    proto_message(&t->body, CLOCKS_CLOCK, &t->inner);
}

/* Packets have the time of one clock, heap profiles that of another one; here both are the same. */
static void put_clocks(struct tracer *t)
{
    put_clock(t, BOOTTIME);
    put_clock(t, MONOTONIC_COARSE);
    proto_u64(&t->body, CLOCKS_OF_TRACE, BOOTTIME);
    proto_message(&t->packet, PACKET_CLOCKS, &t->body);
    put_packet(t);
}

/* A device is a process, since heap profiles belong to one; its tracks stand below it. */
static void put_device_track(struct tracer *t, uint32_t device)
{
    const struct export_device *d = &t->e->device[device];
    struct buf name;
    buf_init(&name, SIZE_MAX / 2);
    export_device_text(d, &name);
    proto_u64(&t->inner, PROCESS_PID, perfetto_process(d));
    proto_str(&t->inner, PROCESS_NAME, buf_slice(&name));
    proto_message(&t->body, TRACK_PROCESS, &t->inner);
    t->body.failed = t->body.failed || name.failed;
    put_track(t, device_track(device), 0, buf_slice(&name), false);
    buf_free(&name);
}

/* What was put into `body` before is more of the same event. */
static void put_event(struct tracer *t, uint64_t time_ns, enum event_type type, uint64_t track)
{
    proto_u64(&t->body, EVENT_TYPE, type);
    proto_u64(&t->body, EVENT_TRACK, track);
    t->last_ns = time_ns > t->last_ns ? time_ns : t->last_ns;
    proto_u64(&t->packet, PACKET_TIMESTAMP, time_ns);
    proto_message(&t->packet, PACKET_EVENT, &t->body);
    put_packet(t);
}

static void add_number(struct tracer *t, const char *name, uint64_t value)
{
    if (value == UNKNOWN_U64)
        return;
    proto_str(&t->inner, ANNOTATION_NAME, str_from(name));
    proto_u64(&t->inner, ANNOTATION_UINT, value);
    proto_message(&t->body, EVENT_ANNOTATION, &t->inner);
}

/* Curves. */

static void put_values(struct tracer *t, uint32_t device, uint64_t time_ns, uint64_t *before,
                       bool all)
{
    const uint64_t *bytes = t->e->device[device].steps.bytes;
    for (uint32_t i = 0; i < CURVES; i++) {
        if (!all && bytes[i] == before[i])
            continue;
        proto_u64(&t->body, EVENT_VALUE, bytes[i]);
        put_event(t, time_ns, TYPE_COUNTER, device_track(device) + 1 + i);
        before[i] = bytes[i];
    }
}

/* Requested bytes of each category of a device; those without allocations have no track. */
struct category_bytes {
    const struct export_device *d;
    uint64_t bytes[CATEGORIES], told[CATEGORIES];
    bool there[CATEGORIES];
};

static void begin_categories(struct tracer *t, uint32_t device, struct category_bytes *ret)
{
    const struct export_device *d = &t->e->device[device];
    *ret = (struct category_bytes){ .d = d };
    if (d->categories.of == NULL)
        return;
    for (uint32_t i = 0; i < d->lifetimes.count; i++) {
        const struct lifetime *l = &d->lifetimes.at[i];
        uint8_t category = d->categories.of[i];
        ret->there[category] = true;
        if (l->birth < 0)
            ret->bytes[category] += l->bytes;
    }
    for (uint32_t i = 0; i < CATEGORIES; i++) {
        buf_format(&t->inner, "category %s", category_names[i]);
        str name = buf_slice(&t->inner);
        t->inner.len = 0;
        if (ret->there[i])
            put_track(t, category_track(device, i), device_track(device), name, true);
    }
}

static void put_categories(struct tracer *t, uint32_t device, uint64_t time_ns,
                           struct category_bytes *c, bool all)
{
    for (uint32_t i = 0; i < CATEGORIES; i++) {
        if (!c->there[i] || (!all && c->bytes[i] == c->told[i]))
            continue;
        proto_u64(&t->body, EVENT_VALUE, c->bytes[i]);
        put_event(t, time_ns, TYPE_COUNTER, category_track(device, i));
        c->told[i] = c->bytes[i];
    }
}

/* What event `i` begins and ends. */
static void move_categories(struct category_bytes *c, uint32_t i)
{
    const struct curve_steps *steps = &c->d->steps;
    uint32_t begins = steps->begins[i], ends = steps->ends[i];
    if (c->d->categories.of == NULL)
        return;
    if (begins != NO_ROW)
        c->bytes[c->d->categories.of[begins]] += c->d->lifetimes.at[begins].bytes;
    if (ends != NO_ROW)
        c->bytes[c->d->categories.of[ends]] -= c->d->lifetimes.at[ends].bytes;
}

static void put_oom(struct tracer *t, uint32_t device, uint32_t event, uint64_t time_ns)
{
    const struct events *v = &t->e->r->events;
    proto_str(&t->body, EVENT_NAME, S("out of memory"));
    add_number(t, "event", event - t->e->device[device].steps.first);
    add_number(t, "bytes", v->size[event]);
    add_number(t, "device_free_bytes", v->address[event]);
    put_event(t, time_ns, TYPE_INSTANT, device_track(device));
}

/* Steps and phases. */

/* How far the spans of one track are written. */
struct span_cursor {
    const struct export_spans *of;
    uint64_t track;
    uint32_t next; /* the one that is open or opens next */
    bool open;
};

static struct span_cursor begin_spans(struct tracer *t, uint32_t device, enum span_track which)
{
    const struct export_device *d = &t->e->device[device];
    struct span_cursor c = { .of = which == STEP_TRACK ? &d->step_spans : &d->phase_spans,
                             .track = span_track(device, which) };
    if (c.of->count > 0)
        put_track(t, c.track, device_track(device), which == STEP_TRACK ? S("steps") : S("phases"),
                  false);
    return c;
}

static void open_span(struct tracer *t, struct span_cursor *c, uint32_t event, uint64_t time_ns)
{
    if (c->open || c->next == c->of->count || c->of->at[c->next].first_event != event)
        return;
    const struct export_span *span = &c->of->at[c->next];
    if (span->step != 0)
        buf_format(&t->inner, "step %u", (unsigned)span->step);
    else
        buf_text(&t->inner, phase_names[span->phase]);
    str name = buf_slice(&t->inner);
    t->inner.len = 0;
    proto_str(&t->body, EVENT_NAME, name);
    put_event(t, time_ns, TYPE_SLICE_BEGIN, c->track);
    c->open = true;
}

static void close_span(struct tracer *t, struct span_cursor *c, uint32_t event, uint64_t time_ns)
{
    if (!c->open || c->of->at[c->next].last_event != event)
        return;
    put_event(t, time_ns, TYPE_SLICE_END, c->track);
    c->open = false;
    while (c->next < c->of->count && c->of->at[c->next].first_event <= event)
        c->next++;
}

/* A time as nanoseconds; those that cannot be said end where numbers do. */
static uint64_t nanoseconds(uint64_t time_us)
{
    return time_us > UINT64_MAX / 2000 ? UINT64_MAX / 2 : time_us * 1000;
}

/* The heap profile, if the moment that it shows is `at_event`. */
static enum vrs_status put_heap(struct tracer *t, uint32_t device, int64_t at_event,
                                uint64_t time_ns, struct vrs_error *err)
{
    const struct export_device *d = &t->e->device[device];
    if (!d->has_moment || d->at_event != at_event)
        return VRS_OK;
    TRY(perfetto_heap(t->e, d, time_ns, t->heaps++, &t->body, err));
    proto_u64(&t->packet, PACKET_TIMESTAMP, time_ns);
    proto_message(&t->packet, PACKET_HEAP, &t->body);
    put_packet(t);
    return VRS_OK;
}

static enum vrs_status put_device(struct tracer *t, uint32_t device, struct vrs_error *err)
{
    struct curve_steps *steps = &t->e->device[device].steps;
    const struct events *v = &t->e->r->events;
    uint64_t before[CURVES] = { 0 }, last = 0;
    put_device_track(t, device);
    for (uint32_t i = 0; i < CURVES; i++)
        put_track(t, device_track(device) + 1 + i, device_track(device), str_from(curve_names[i]),
                  true);
    struct category_bytes categories;
    begin_categories(t, device, &categories);
    struct span_cursor spans[] = { begin_spans(t, device, STEP_TRACK),
                                   begin_spans(t, device, PHASE_TRACK) };
    curve_steps_restart(steps);
    for (uint32_t i = 0; i < steps->events; i++) {
        uint32_t event = steps->first + i;
        uint64_t time_us = v->time_us[event];
        uint64_t now = time_us == UNKNOWN_U64 ? nanoseconds(i) : nanoseconds(time_us);
        if (i == 0) {
            put_values(t, device, now, before, true);
            put_categories(t, device, now, &categories, true);
            TRY(put_heap(t, device, -1, now, err));
        }
        last = i == 0 || now > last ? now + (i == 0) : last + 1;
        for (size_t k = 0; k < sizeof spans / sizeof *spans; k++)
            open_span(t, &spans[k], i, last);
        curve_steps_next(steps);
        put_values(t, device, last, before, false);
        move_categories(&categories, i);
        put_categories(t, device, last, &categories, false);
        if (v->action[event] == ACTION_OOM)
            put_oom(t, device, event, last);
        TRY(put_heap(t, device, i, last, err));
        for (size_t k = 0; k < sizeof spans / sizeof *spans; k++)
            close_span(t, &spans[k], i, last);
    }
    if (steps->events == 0) {
        put_values(t, device, 0, before, true);
        put_categories(t, device, 0, &categories, true);
        TRY(put_heap(t, device, -1, 0, err));
    }
    return VRS_OK;
}

/* Annotations. */

struct slice {
    uint64_t begin_us, end_us;
    uint32_t mark; /* its start */
};

static int by_begin(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    if (x->begin_us != y->begin_us)
        return x->begin_us < y->begin_us ? -1 : 1;
    if (x->end_us != y->end_us)
        return x->end_us > y->end_us ? -1 : 1;
    return (x->mark > y->mark) - (x->mark < y->mark);
}

/* Pairs each end with the latest open start of its name; slices of both by their begin. */
static bool pair_marks(const struct tracer *t, struct slice **ret, uint32_t *ret_slices)
{
    const struct marks *m = &t->e->r->marks;
    struct arena *arena = t->e->scratch;
    uint32_t *open = arena_array(arena, uint32_t, t->e->r->code.strings.rows.len); /* mark plus 1 */
    uint32_t *before = arena_array(arena, uint32_t, m->rows.len);
    struct slice *slice = arena_array(arena, struct slice, m->rows.len);
    uint32_t slices = 0;
    if (open == NULL || before == NULL || slice == NULL)
        return false;
    for (uint32_t i = 0; i < m->rows.len; i++) {
        uint32_t name = m->name[i];
        if (m->time_us[i] == UNKNOWN_U64)
            continue;
        if (m->stage[i] == STAGE_START) {
            before[i] = open[name];
            open[name] = i + 1;
        } else if (open[name] != 0) {
            uint32_t start = open[name] - 1;
            open[name] = before[start];
            if (m->time_us[start] <= m->time_us[i])
                slice[slices++] = (struct slice){ m->time_us[start], m->time_us[i], start };
        }
    }
    if (slices > 1)
        qsort(slice, slices, sizeof *slice, by_begin);
    *ret = slice;
    *ret_slices = slices;
    return true;
}

/* Ends of the slices that are open in one lane, the innermost last. */
struct lane {
    uint64_t *end_us;
    uint32_t open;
    bool named;
};

static void close_before(struct tracer *t, struct lane *lane, uint64_t track, uint64_t time_us)
{
    while (lane->open > 0 && lane->end_us[lane->open - 1] <= time_us)
        put_event(t, nanoseconds(lane->end_us[--lane->open]), TYPE_SLICE_END, track);
}

/* The first lane in which the slice is inside what is open; LANES: there is none. */
static uint32_t find_lane(struct tracer *t, struct lane *lane, const struct slice *s)
{
    for (uint32_t i = 0; i < LANES; i++) {
        close_before(t, &lane[i], 1 + i, s->begin_us);
        if (lane[i].open == 0 || lane[i].end_us[lane[i].open - 1] >= s->end_us)
            return i;
    }
    return LANES;
}

static void put_slice(struct tracer *t, struct lane *lane, const struct slice *s)
{
    str name = strings_text(&t->e->r->code.strings, (string_id){ t->e->r->marks.name[s->mark] });
    uint32_t i = find_lane(t, lane, s);
    /* More at once than can be drawn: the last lane has its begin alone. */
    uint32_t used = i == LANES ? LANES - 1 : i;
    if (!lane[used].named)
        put_track(t, 1 + used, 0, S("annotations"), false);
    lane[used].named = true;
    proto_str(&t->body, EVENT_NAME, name);
    put_event(t, nanoseconds(s->begin_us), i == LANES ? TYPE_INSTANT : TYPE_SLICE_BEGIN, 1 + used);
    if (i < LANES)
        lane[i].end_us[lane[i].open++] = s->end_us;
}

static enum vrs_status put_marks(struct tracer *t, struct vrs_error *err)
{
    struct lane lane[LANES] = { { .open = 0 } };
    struct slice *slice = NULL;
    uint32_t slices = 0;
    if (t->e->r->marks.rows.len == 0)
        return VRS_OK;
    if (!pair_marks(t, &slice, &slices))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < LANES; i++) {
        lane[i].end_us = arena_array(t->e->scratch, uint64_t, slices);
        if (lane[i].end_us == NULL)
            return vrs_no_memory(err);
    }
    for (uint32_t i = 0; i < slices; i++)
        put_slice(t, lane, &slice[i]);
    for (uint32_t i = 0; i < LANES; i++)
        close_before(t, &lane[i], 1 + i, UINT64_MAX);
    return VRS_OK;
}

/* At the end of what is shown, since the recording went on. */
static void put_cut(struct tracer *t)
{
    if (t->e->cut.len == 0)
        return;
    put_track(t, CUT_TRACK, 0, t->e->cut, false);
    proto_str(&t->body, EVENT_NAME, t->e->cut);
    put_event(t, t->last_ns, TYPE_INSTANT, CUT_TRACK);
}

enum vrs_status export_perfetto(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct tracer t = { .e = e, .out = out };
    buf_init(&t.packet, SIZE_MAX / 2);
    buf_init(&t.body, SIZE_MAX / 2);
    buf_init(&t.inner, SIZE_MAX / 2);
    put_clocks(&t);
    enum vrs_status status = put_marks(&t, err);
    for (uint32_t i = 0; i < e->devices && status == VRS_OK; i++)
        status = put_device(&t, i, err);
    put_cut(&t);
    if (status == VRS_OK && (t.packet.failed || t.body.failed || t.inner.failed))
        status = vrs_no_memory(err);
    buf_free(&t.packet);
    buf_free(&t.body);
    buf_free(&t.inner);
    return status;
}
