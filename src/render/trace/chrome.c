/* chrome.c - the header, then one line an event: processes, spans, flows, memory. */
#include "render/trace/chrome.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/str.h"
#include "model/ids.h"
#include "render/write/json.h"

struct chrome {
    struct out *out;
    struct json json;
    const struct trace *t;
    const struct chrome_choice *choice;
};

static bool keeps(const struct chrome *c, enum chrome_table table, uint32_t row)
{
    return c->choice == NULL || c->choice->keeps(c->choice->arg, table, row);
}

/* Values. */

/* Microseconds; whole ones as integers where the file has no others. */
static void put_time(struct chrome *c, const char *key, int64_t ns)
{
    enum { US = 1000 };
    char text[40];
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    bool whole = magnitude % US == 0 && c->t->header.times_other == 0;
    int len = whole ? snprintf(text, sizeof text, "%s%" PRIu64, ns < 0 ? "-" : "", magnitude / US)
                    : snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "",
                               magnitude / US, (unsigned)(magnitude % US));
    json_raw(&c->json, key, (str){ text, (size_t)len });
}

/* What is beyond 64 bits is a text, as the reader has it. */
static void put_id(struct chrome *c, const char *key, int64_t value, uint8_t form)
{
    if (form == ID_NUMBER)
        json_i64(&c->json, key, value);
    else if (form == ID_TEXT)
        json_str(&c->json, key, trace_text(c->t, (uint32_t)value));
}

static void put_known(struct chrome *c, const char *key, int64_t value)
{
    if (value != TRACE_UNKNOWN)
        json_i64(&c->json, key, value);
}

static void put_text(struct chrome *c, const char *key, uint32_t text)
{
    if (text != 0)
        json_str(&c->json, key, trace_text(c->t, text));
}

static void put_track(struct chrome *c, uint32_t track)
{
    const struct tracks *r = &c->t->tracks;
    put_id(c, "pid", r->pid[track], r->pid_form[track]);
    put_id(c, "tid", r->tid[track], r->tid_form[track]);
}

/* Events. */

static void event_begin(struct chrome *c, const char *phase)
{
    json_line_object(&c->json, NULL);
    json_text(&c->json, "ph", phase);
}

static void event_end(struct chrome *c)
{
    json_close(&c->json);
    out_flush(c->out, OUT_ENOUGH);
}

static void put_process_fact(struct chrome *c, uint32_t row, const char *event, const char *key,
                             uint32_t text)
{
    const struct processes *p = &c->t->processes;
    if (text == 0)
        return;
    event_begin(c, "M");
    json_text(&c->json, "name", event);
    put_id(c, "pid", p->pid[row], p->pid_form[row]);
    json_i64(&c->json, "tid", 0);
    json_object(&c->json, "args");
    put_text(c, key, text);
    json_close(&c->json);
    event_end(c);
}

static void put_processes(struct chrome *c)
{
    const struct processes *p = &c->t->processes;
    for (uint32_t row = 0; row < p->rows.len; row++) {
        put_process_fact(c, row, "process_name", "name", p->name[row]);
        put_process_fact(c, row, "process_labels", "labels", p->labels[row]);
    }
}

static void put_span_arguments(struct chrome *c, uint32_t row)
{
    const struct spans *s = &c->t->spans;
    uint32_t stack = span_stack(c->t, row);
    if (s->external_form[row] == ID_NONE && s->correlation_form[row] == ID_NONE &&
        s->bytes[row] == TRACE_UNKNOWN && s->shapes[row] == 0 &&
        s->sequence[row] == TRACE_NO_SEQUENCE && stack == 0)
        return;
    json_object(&c->json, "args");
    put_id(c, "External id", s->external[row], s->external_form[row]);
    put_id(c, "correlation", s->correlation[row], s->correlation_form[row]);
    put_known(c, "bytes", s->bytes[row]);
    if (s->sequence[row] != TRACE_NO_SEQUENCE) {
        json_i64(&c->json, "Sequence number", s->sequence[row]);
        json_i64(&c->json, "Fwd thread id", s->forward_thread[row]);
    }
    if (s->shapes[row] != 0)
        json_raw(&c->json, "Input Dims", trace_text(c->t, s->shapes[row]));
    if (stack != 0)
        json_str(&c->json, "Call stack", span_stack_text(c->t, stack));
    json_close(&c->json);
}

static void put_span(struct chrome *c, uint32_t row)
{
    const struct spans *s = &c->t->spans;
    event_begin(c, "X");
    put_text(c, "cat", s->category[row]);
    json_str(&c->json, "name", trace_text(c->t, s->name[row]));
    put_track(c, s->track[row]);
    put_time(c, "ts", s->start[row]);
    put_time(c, "dur", s->duration[row]);
    put_span_arguments(c, row);
    event_end(c);
}

static void put_flow(struct chrome *c, uint32_t row)
{
    const struct flows *f = &c->t->flows;
    event_begin(c, f->finish[row] != 0 ? "f" : "s");
    put_id(c, "id", f->id[row], f->id_form[row]);
    put_track(c, f->track[row]);
    put_time(c, "ts", f->time[row]);
    put_text(c, "cat", f->category[row]);
    put_text(c, "name", f->category[row]);
    if (f->finish[row] != 0)
        json_text(&c->json, "bp", "e"); /* it ends at what encloses it, not at what comes next */
    event_end(c);
}

static void put_memory(struct chrome *c, uint32_t row)
{
    const struct memory_events *m = &c->t->memory;
    event_begin(c, "i");
    json_text(&c->json, "cat", "cpu_instant_event");
    json_text(&c->json, "s", "t");
    json_text(&c->json, "name", "[memory]");
    put_track(c, m->track[row]);
    put_time(c, "ts", m->time[row]);
    json_object(&c->json, "args");
    put_known(c, "Device Type", m->device_type[row]);
    put_known(c, "Device Id", m->device_number[row]);
    put_known(c, "Bytes", m->bytes[row]);
    put_known(c, "Total Allocated", m->total_allocated[row]);
    put_known(c, "Total Reserved", m->total_reserved[row]);
    if (m->address[row] != UNKNOWN_U64)
        json_u64(&c->json, "Addr", m->address[row]);
    json_close(&c->json);
    event_end(c);
}

static void put_events(struct chrome *c)
{
    const struct trace *t = c->t;
    put_processes(c);
    for (uint32_t row = 0; row < t->spans.rows.len; row++)
        if (keeps(c, CHROME_SPANS, row))
            put_span(c, row);
    for (uint32_t row = 0; row < t->flows.rows.len; row++)
        if (keeps(c, CHROME_FLOWS, row))
            put_flow(c, row);
    for (uint32_t row = 0; row < t->memory.rows.len; row++)
        if (keeps(c, CHROME_MEMORY, row))
            put_memory(c, row);
}

/* The header. */

static void put_devices(struct chrome *c)
{
    const struct listed_devices *d = &c->t->devices;
    if (d->rows.len == 0)
        return;
    json_array(&c->json, "deviceProperties");
    for (uint32_t row = 0; row < d->rows.len; row++) {
        json_line_object(&c->json, NULL);
        put_known(c, "id", d->number[row]);
        put_text(c, "name", d->name[row]);
        put_known(c, "totalGlobalMem", d->bytes[row]);
        put_known(c, "computeMajor", d->major[row]);
        put_known(c, "computeMinor", d->minor[row]);
        put_known(c, "numSms", d->multiprocessors[row]);
        json_close(&c->json);
    }
    json_close(&c->json);
}

static void put_job(struct chrome *c)
{
    const struct trace_header *h = &c->t->header;
    if (h->rank == TRACE_UNKNOWN && h->world_size == TRACE_UNKNOWN && h->backend == 0)
        return;
    json_line_object(&c->json, "distributedInfo");
    put_text(c, "backend", h->backend);
    put_known(c, "rank", h->rank);
    put_known(c, "world_size", h->world_size);
    json_close(&c->json);
}

static void put_header(struct chrome *c)
{
    static const struct {
        enum trace_flag flag;
        const char *name;
    } flags[] = {
        { TRACE_RECORD_SHAPES, "record_shapes" }, { TRACE_PROFILE_MEMORY, "profile_memory" },
        { TRACE_WITH_STACK, "with_stack" },       { TRACE_WITH_MODULES, "with_modules" },
        { TRACE_WITH_FLOPS, "with_flops" },
    };
    const struct trace_header *h = &c->t->header;
    json_u64(&c->json, "schemaVersion", 1);
    put_devices(c);
    put_job(c);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if ((h->flags_said & flags[i].flag) != 0)
            json_u64(&c->json, flags[i].name, (h->flags & flags[i].flag) != 0);
    put_known(c, "baseTimeNanoseconds", h->base_ns);
    if (c->t->damage[DAMAGE_TRUNCATED].count > 0)
        json_u64(&c->json, TRACE_CUT_KEY, c->t->damage[DAMAGE_TRUNCATED].first_offset);
    json_text(&c->json, "displayTimeUnit", "ms");
}

void chrome_write(struct out *out, const struct trace *t, const struct chrome_choice *choice)
{
    struct chrome c = { .out = out, .t = t, .choice = choice };
    /* A list alone has no place to say that it is not whole. */
    bool is_array = t->header.is_array && t->damage[DAMAGE_TRUNCATED].count == 0;
    json_start(&c.json, &out->text);
    if (is_array) {
        json_array(&c.json, NULL);
    } else {
        json_object(&c.json, NULL);
        put_header(&c);
        json_array(&c.json, "traceEvents");
    }
    put_events(&c);
    json_close(&c.json);
    if (!is_array)
        json_close(&c.json);
    json_finish(&c.json);
}
