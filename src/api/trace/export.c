/* export.c - a trace in the formats of other tools. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/trace/calls/call_ranges.h"
#include "analysis/trace/calls/calls.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/study/study.h"
#include "api/file.h"
#include "api/trace/trace_file.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/trace.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_export_tables.h"
#include "render/export/trace/trace_stacks.h"
#include "render/write/escape.h"
#include "render/write/out.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* The caller's words, read. */
struct options_read {
    const struct trace_export_format *format;
    enum trace_export_table table;
    enum trace_weight weight;
};

static enum vrs_status read_format(const char *name, struct options_read *ret,
                                   struct vrs_error *err)
{
    char names[160] = "";
    size_t len = 0;
    const struct trace_export_format *f = trace_export_formats, *found = NULL;
    for (; f->name != NULL && len < sizeof names; f++) {
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len == 0 ? "" : ", ",
                                f->name);
        if (name != NULL && str_equal(str_from(f->name), str_from(name)))
            found = f;
    }
    if (name == NULL)
        return vrs_fail(err, VRS_USAGE, "no format was named; of a trace there are: %s", names);
    if (found == NULL)
        return vrs_fail(err, VRS_USAGE, "a trace is not written as \"%.40s\", but as: %s", name,
                        names);
    if (found->write == NULL)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "this build is without %s: its library was not there when it was made",
                        name);
    ret->format = found;
    return VRS_OK;
}

static enum vrs_status read_table(const struct vrs_trace_export_options *o,
                                  struct options_read *ret, struct vrs_error *err)
{
    char names[160] = "";
    size_t len = 0;
    bool found = o->table == NULL;
    ret->table = TRACE_TABLE_OPERATORS;
    if (o->table != NULL && !ret->format->table)
        return vrs_fail(err, VRS_USAGE, "%s takes no tables", ret->format->name);
    for (uint32_t t = 0; t < TRACE_EXPORT_TABLES; t++) {
        const char *name = trace_export_kinds[t].shape.name;
        if (len < sizeof names)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", t == 0 ? "" : ", ",
                                    name);
        if (o->table == NULL || !str_equal(str_from(name), str_from(o->table)))
            continue;
        ret->table = (enum trace_export_table)t;
        found = true;
    }
    return found ? VRS_OK
                 : vrs_fail(err, VRS_USAGE, "a trace has no table \"%.40s\", but one of: %s",
                            o->table, names);
}

static enum vrs_status read_weight(const struct vrs_trace_export_options *o,
                                   struct options_read *ret, struct vrs_error *err)
{
    bool found = o->weight == NULL;
    ret->weight = TRACE_WEIGHT_HOST;
    if (o->weight != NULL && !ret->format->weighs)
        return vrs_fail(err, VRS_USAGE, "%s takes no weight", ret->format->name);
    if (o->inverse && !ret->format->inverts)
        return vrs_fail(err, VRS_USAGE, "only folded and html take a direction");
    for (uint32_t w = 0; w < TRACE_WEIGHTS && o->weight != NULL; w++) {
        if (!str_equal(str_from(trace_weight_names[w]), str_from(o->weight)))
            continue;
        ret->weight = (enum trace_weight)w;
        found = true;
    }
    return found ? VRS_OK
                 : vrs_fail(err, VRS_USAGE,
                            "a weight of a trace is host, device, bytes or calls, not \"%.40s\"",
                            o->weight);
}

static enum vrs_status read_options(const struct vrs_trace_export_options *o,
                                    struct options_read *ret, struct vrs_error *err)
{
    *ret = (struct options_read){ .format = NULL };
    TRY(read_format(o->to, ret, err));
    TRY(read_table(o, ret, err));
    return read_weight(o, ret, err);
}

enum vrs_status vrs_trace_export_check(const struct vrs_trace_export_options *options,
                                       struct vrs_error *err)
{
    struct vrs_trace_export_options o = { 0 };
    struct options_read ignored;
    options_take(&o, sizeof o, options);
    return read_options(&o, &ignored, err);
}

/* That the file ends early; not where a format writes it down as it is. */
static enum vrs_status find_cut(const struct vrs_trace *trace, struct arena *arena, str *ret,
                                struct vrs_error *err)
{
    const struct damage *d = &trace->model.damage[DAMAGE_TRUNCATED];
    struct buf text;
    if (d->count == 0)
        return VRS_OK;
    buf_init(&text, SIZE_MAX / 2);
    if (trace->model.cut_stream.is_damaged)
        buf_format(&text, "INCOMPLETE: the file cannot be unpacked further, at byte %llu of it",
                   (unsigned long long)trace->model.cut_stream.at);
    else
        buf_format(&text, "INCOMPLETE: the file %s, at byte %llu%s",
                   trace->model.cut_stream.name == NULL &&
                           trace->model.damage[DAMAGE_CHECKSUM].count > 0
                       ? "is corrupt"
                       : "ends too early",
                   (unsigned long long)d->first_offset,
                   trace->model.is_packed ? " of what it unpacks to" : "");
    *ret = text.failed ? (str){ NULL, 0 } : arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return ret->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* That the file has the table: a memory timeline has one of its own, and that one alone. */
static enum vrs_status fit_table(const struct vrs_trace *trace,
                                 const struct vrs_trace_export_options *o,
                                 struct options_read *read, struct vrs_error *err)
{
    bool is_timeline = vrs_trace_is_timeline(trace);
    if (!is_timeline && read->table == TRACE_TABLE_TIMELINE)
        return vrs_fail(err, VRS_USAGE,
                        "a profiler trace has no table \"timeline\": that is of memory timelines");
    if (!is_timeline)
        return VRS_OK;
    if (!read->format->table)
        return vrs_fail(err, VRS_USAGE,
                        "a memory timeline has sums over time and no events: it is written as csv, "
                        "not as %s",
                        read->format->name);
    if (o->table != NULL && read->table != TRACE_TABLE_TIMELINE)
        return vrs_fail(err, VRS_USAGE,
                        "a memory timeline has the table \"timeline\" alone, and not \"%.40s\"",
                        o->table);
    read->table = TRACE_TABLE_TIMELINE;
    return VRS_OK;
}

/* What the formats write from. */
struct prepared {
    struct arena arena;
    struct trace_study study;
    struct call_paths calls;
    struct trace_report report;
    struct trace_exporting e;
};

/* What is told of events. */
static enum vrs_status study(const struct vrs_trace *trace, const struct options_read *read,
                             struct prepared *p, struct vrs_error *err)
{
    const struct trace *t = &trace->model;
    TRY(trace_study_make(t, &p->arena, &p->study, err));
    TRY(call_paths_make(&p->study, &p->arena, &p->calls, err));
    bool has_tables = read->format->table || read->format->file;
    if (has_tables && !call_ranges_make(&p->study, &p->arena, &p->calls))
        return vrs_no_memory(err);
    if (!has_tables)
        return VRS_OK;
    return trace_report_make(t, &(struct trace_report_question){ .threads = trace->threads },
                             &p->arena, &p->report, err);
}

static enum vrs_status prepare(const struct vrs_trace *trace,
                               const struct vrs_trace_export_options *o,
                               const struct options_read *read, struct prepared *p,
                               struct vrs_error *err)
{
    const struct trace *t = &trace->model;
    if (read->table != TRACE_TABLE_TIMELINE)
        TRY(study(trace, read, p, err));
    p->e = (struct trace_exporting){
        .t = t,
        .study = &p->study,
        .calls = &p->calls,
        .report = &p->report,
        .path = str_from(o->path != NULL ? o->path : trace->path),
        .tool = vrs_version(),
        .scratch = &p->arena,
        .weight = read->weight,
        .device_bytes = trace_has_device_bytes(t),
        .inverse = o->inverse,
        .table = read->table,
        .database = o->database,
    };
    return find_cut(trace, &p->arena, &p->e.cut, err);
}

static enum vrs_status write_all(struct trace_exporting *e,
                                 const struct trace_export_format *format,
                                 const struct vrs_sink *sink, struct vrs_error *err)
{
    struct out out = { .write = sink == NULL ? NULL : sink->write,
                       .arg = sink == NULL ? NULL : sink->arg };
    buf_init(&out.text, SIZE_MAX / 2);
    return out_finish(&out, format->write(e, &out, err), err);
}

/* Hands a line about the file to the caller. */
static enum vrs_status say(const struct trace_exporting *e, const struct vrs_trace_export_options *o,
                           str words, const char *more, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    escape_text(&text, e->path, false);
    buf_text(&text, ": ");
    buf_str(&text, words);
    buf_text(&text, more);
    buf_char(&text, '\0');
    enum vrs_status status = text.failed ? vrs_no_memory(err) : VRS_OK;
    if (status == VRS_OK)
        o->note(o->note_arg, text.at);
    buf_free(&text);
    return status;
}

/* Why there is nothing to see, where no path has any of the weight. */
static enum vrs_status say_empty(const struct trace_exporting *e,
                                 const struct trace_export_format *format,
                                 const struct vrs_trace_export_options *o, struct vrs_error *err)
{
    static const str why[TRACE_WEIGHTS] = {
        [TRACE_WEIGHT_HOST] = { "no calls of the host were recorded", 34 },
        [TRACE_WEIGHT_DEVICE] = { "no device activity was recorded", 31 },
        [TRACE_WEIGHT_BYTES] = { "no allocation was recorded (profile_memory=True records them)",
                                 61 },
        [TRACE_WEIGHT_CALLS] = { "no calls were recorded", 22 },
    };
    static const char *const without[TRACE_WEIGHTS] = {
        [TRACE_WEIGHT_HOST] = ", so no call has any time on the host",
        [TRACE_WEIGHT_DEVICE] = ", so no call has any time of a device",
        [TRACE_WEIGHT_BYTES] = ", so no call has any bytes",
        [TRACE_WEIGHT_CALLS] = ", so there are no calls",
    };
    uint64_t any = 0;
    for (uint32_t i = 0; i < e->calls->len; i++)
        any |= trace_weight_of(e, e->weight, i);
    if (any != 0 || !format->weighs || o->note == NULL)
        return VRS_OK;
    return say(e, o, why[e->weight], without[e->weight], err);
}

/* For a person, what the format cannot say. */
static enum vrs_status say_cut(const struct trace_exporting *e,
                               const struct trace_export_format *format,
                               const struct vrs_trace_export_options *o, struct vrs_error *err)
{
    char more[80];
    if (e->cut.len == 0 || !format->bare || o->note == NULL)
        return VRS_OK;
    (void)snprintf(more, sizeof more, "; %s has no place to say so", format->name);
    return say(e, o, e->cut, more, err);
}

enum vrs_status vrs_trace_export(const struct vrs_trace *trace,
                                 const struct vrs_trace_export_options *options,
                                 const struct vrs_sink *sink, struct vrs_error *err)
{
    struct vrs_trace_export_options o = { 0 };
    struct options_read read;
    struct prepared p = { .report = { .steps = 0 } };
    options_take(&o, sizeof o, options);
    TRY(read_options(&o, &read, err));
    TRY(fit_table(trace, &o, &read, err));
    bool file = read.format->file;
    if (file != (o.database != NULL) || (!file && sink == NULL))
        return vrs_fail(err, VRS_USAGE, "%s is written to %s", read.format->name,
                        file ? "a file, so `database` must name one" : "a sink, not a database");
    arena_init(&p.arena, SIZE_MAX / 2);
    enum vrs_status status = prepare(trace, &o, &read, &p, err);
    if (status == VRS_OK)
        status = write_all(&p.e, read.format, sink, err);
    if (status == VRS_OK)
        status = say_cut(&p.e, read.format, &o, err);
    if (status == VRS_OK)
        status = say_empty(&p.e, read.format, &o, err);
    arena_free(&p.arena);
    return status;
}
