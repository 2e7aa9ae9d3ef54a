/* trace_export_tables.c - each table is its columns and a function that fills a row. */
#include "render/export/trace/trace_export_tables.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/study/study.h"
#include "analysis/trace/tables/tables.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/memory_timeline.h"
#include "model/trace.h"

/* Cells. */

static struct cell none(void)
{
    return (struct cell){ .kind = CELL_NONE };
}

static struct cell number(uint64_t value)
{
    return (struct cell){ .kind = CELL_UNSIGNED, .number = value };
}

static struct cell integer(int64_t value)
{
    return (struct cell){ .kind = CELL_SIGNED, .number = (uint64_t)value };
}

static struct cell known(int64_t value)
{
    return value == TRACE_UNKNOWN ? none() : integer(value);
}

static struct cell row_or_none(uint32_t row)
{
    return row == NO_ROW ? none() : number(row);
}

static struct cell text(str value)
{
    return (struct cell){ .kind = CELL_TEXT, .text = value };
}

static struct cell word(const char *value)
{
    return text(str_from(value));
}

static struct cell string(const struct trace_exporting *e, uint32_t id)
{
    return id == 0 ? none() : text(trace_text(e->t, id));
}

/* A number, or the text of what is none or too large for one. */
static struct cell id(const struct trace_exporting *e, int64_t value, uint8_t form)
{
    if (form == ID_NUMBER)
        return integer(value);
    return form == ID_TEXT ? text(trace_text(e->t, (uint32_t)value)) : none();
}

/* Threads and streams. */

static const struct export_column thread_columns[] = {
    { "thread", false, false },  { "pid", true, false },           { "tid", true, false },
    { "process", true, false },  { "process_labels", true, false },
};

static uint32_t thread_rows(const struct trace_exporting *e)
{
    return e->t->tracks.rows.len;
}

static void thread_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                       struct cell *c)
{
    const struct tracks *r = &e->t->tracks;
    const struct processes *p = &e->t->processes;
    (void)words;
    *c++ = number(row);
    *c++ = id(e, r->pid[row], r->pid_form[row]);
    *c++ = id(e, r->tid[row], r->tid_form[row]);
    *c++ = string(e, p->name[r->process[row]]);
    *c++ = string(e, p->labels[r->process[row]]);
}

/* Spans. */

static const struct export_column span_columns[] = {
    { "span", false, false },        { "kind", true, false },         { "name", true, false },
    { "category", true, false },     { "thread", false, false },      { "start_ns", false, false },
    { "duration_ns", false, false }, { "parent", false, false },      { "path", false, false },
    { "correlation", true, false },  { "external_id", true, false },  { "launch", false, false },
    { "owner", false, false },       { "owner_found_by", true, false },
    { "bytes", false, false },
};

static uint32_t span_rows(const struct trace_exporting *e)
{
    return e->t->spans.rows.len;
}

static void span_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                     struct cell *c)
{
    const struct spans *s = &e->t->spans;
    const struct links *l = &e->study->links;
    bool is_work = span_is_work(s->kind[row]);
    (void)words;
    *c++ = number(row);
    *c++ = word(span_kind_name(s->kind[row]));
    *c++ = string(e, s->name[row]);
    *c++ = string(e, s->category[row]);
    *c++ = number(s->track[row]);
    *c++ = integer(s->start[row]);
    *c++ = integer(s->duration[row]);
    *c++ = row_or_none(e->calls->forest.parent[row]);
    *c++ = row_or_none(e->calls->of[row]);
    *c++ = id(e, s->correlation[row], s->correlation_form[row]);
    *c++ = id(e, s->external[row], s->external_form[row]);
    *c++ = row_or_none(is_work ? l->launch[row] : NO_ROW);
    *c++ = row_or_none(is_work ? l->owner[row] : NO_ROW);
    *c++ = is_work ? word(rung_names[l->rung[row]]) : none();
    *c++ = known(s->bytes[row]);
}

/* Links. */

static const struct export_column flow_columns[] = {
    { "flow", false, false },   { "category", true, false }, { "id", true, false },
    { "finish", false, false }, { "thread", false, false },  { "time_ns", false, false },
};

static uint32_t flow_rows(const struct trace_exporting *e)
{
    return e->t->flows.rows.len;
}

static void flow_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                     struct cell *c)
{
    const struct flows *f = &e->t->flows;
    (void)words;
    *c++ = number(row);
    *c++ = string(e, f->category[row]);
    *c++ = id(e, f->id[row], f->id_form[row]);
    *c++ = (struct cell){ .kind = CELL_BOOL, .number = f->finish[row] != 0 };
    *c++ = number(f->track[row]);
    *c++ = integer(f->time[row]);
}

/* Allocators. */

static const struct export_column memory_columns[] = {
    { "event", false, false },        { "thread", false, false },
    { "time_ns", false, false },      { "device_type", false, false },
    { "device", false, false },       { "bytes", false, false },
    { "total_allocated_bytes", false, false }, { "total_reserved_bytes", false, false },
    { "address", true, false },
};

static uint32_t memory_rows(const struct trace_exporting *e)
{
    return e->t->memory.rows.len;
}

static void memory_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                       struct cell *c)
{
    const struct memory_events *m = &e->t->memory;
    words->len = 0;
    if (m->address[row] != UNKNOWN_U64)
        buf_format(words, "0x%llx", (unsigned long long)m->address[row]);
    *c++ = number(row);
    *c++ = number(m->track[row]);
    *c++ = integer(m->time[row]);
    *c++ = known(m->device_type[row]);
    *c++ = known(m->device_number[row]);
    *c++ = known(m->bytes[row]);
    *c++ = known(m->total_allocated[row]);
    *c++ = known(m->total_reserved[row]);
    *c++ = words->len > 0 ? text(buf_slice(words)) : none();
}

/* Steps. */

static const struct export_column step_columns[] = {
    { "step", false, false },     { "name", true, false },       { "first_ns", false, false },
    { "host_ns", false, false },  { "device_ns", false, false }, { "work", false, false },
    { "aware_ns", false, false }, { "kind", true, false },
};

static uint32_t step_rows(const struct trace_exporting *e)
{
    return e->report->steps;
}

static void step_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                     struct cell *c)
{
    const struct trace_step *s = &e->report->step[row];
    (void)words;
    *c++ = number(row);
    *c++ = text(s->name);
    *c++ = integer(s->first_ns);
    *c++ = integer(s->ns);
    *c++ = integer(s->device_ns);
    *c++ = number(s->work);
    *c++ = integer(s->aware_ns);
    *c++ = word(trace_step_kind_names[s->kind]);
}

/* Operators. */

static const struct export_column operator_columns[] = {
    { "name", true, false },
    { "calls", false, false },
    { "self_cpu_ns", false, false },
    { "cpu_total_ns", false, false },
    { "self_device_ns", false, false },
    { "device_total_ns", false, false },
    { "self_cpu_bytes", false, false },
    { "cpu_bytes", false, false },
    { "self_device_bytes", false, false },
    { "device_bytes", false, false },
};

static uint32_t operator_rows(const struct trace_exporting *e)
{
    return e->report->ops;
}

static void operator_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                         struct cell *c)
{
    const struct operator_row *o = &e->report->op[row];
    (void)words;
    *c++ = text(o->name);
    *c++ = number(o->calls);
    *c++ = integer(o->self_cpu_ns);
    *c++ = integer(o->cpu_total_ns);
    *c++ = integer(o->self_device_ns);
    *c++ = integer(o->device_total_ns);
    *c++ = integer(o->self_bytes.cpu);
    *c++ = integer(o->bytes.cpu);
    *c++ = integer(o->self_bytes.device);
    *c++ = integer(o->bytes.device);
}

/* What has a name and a time. */

static const struct export_column name_columns[] = {
    { "name", true, false },
    { "calls", false, false },
    { "total_ns", false, false },
};

static void name_row(const struct name_row *n, struct cell *c)
{
    *c++ = text(n->name);
    *c++ = number(n->calls);
    *c++ = integer(n->ns);
}

static uint32_t kernel_rows(const struct trace_exporting *e)
{
    return e->report->figures.tables.kernels;
}

static void kernel_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                       struct cell *c)
{
    (void)words;
    name_row(&e->report->figures.tables.kernel[row], c);
}

static uint32_t call_rows(const struct trace_exporting *e)
{
    return e->report->figures.tables.calls;
}

static void call_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                     struct cell *c)
{
    (void)words;
    name_row(&e->report->figures.tables.call[row], c);
}

/* Copies. */

static const struct export_column copy_columns[] = {
    { "kind", true, false },
    { "calls", false, false },
    { "bytes", false, false },
    { "total_ns", false, false },
};

static uint32_t copy_rows(const struct trace_exporting *e)
{
    return e->report->figures.tables.copies;
}

static void copy_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                     struct cell *c)
{
    const struct copy_row *r = &e->report->figures.tables.copy[row];
    (void)words;
    *c++ = text(r->kind);
    *c++ = number(r->calls);
    *c++ = number(r->bytes);
    *c++ = integer(r->ns);
}

/* The call tree. */

static const struct export_column path_columns[] = {
    { "path", false, false },
    { "parent", false, false },
    { "thread", false, false },
    { "depth", false, false },
    { "kind", true, false },
    { "name", true, false },
    { "calls", false, false },
    { "host_ns", false, false },
    { "self_host_ns", false, false },
    { "device_ns", false, false },
    { "self_device_ns", false, false },
    { "host_allocated_bytes", false, false },
    { "self_host_allocated_bytes", false, false },
    { "device_allocated_bytes", false, false },
    { "self_device_allocated_bytes", false, false },
};

static uint32_t path_rows(const struct trace_exporting *e)
{
    return e->calls->len;
}

static void path_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                     struct cell *c)
{
    const struct call_path *p = &e->calls->at[row];
    (void)words;
    *c++ = number(row);
    *c++ = row_or_none(p->parent);
    *c++ = row_or_none(p->track);
    *c++ = number(p->depth);
    *c++ = word(p->parent == NO_ROW ? "thread" : span_kind_name(p->kind));
    *c++ = string(e, p->name);
    *c++ = number(p->calls);
    *c++ = integer(p->host_ns);
    *c++ = integer(p->self_host_ns);
    *c++ = integer(p->device_ns);
    *c++ = integer(p->self_device_ns);
    *c++ = integer(p->bytes.cpu);
    *c++ = integer(p->self_bytes.cpu);
    *c++ = integer(p->bytes.device);
    *c++ = integer(p->self_bytes.device);
}

/* Ranges over the call tree. */

static const struct export_column range_columns[] = {
    { "path", false, false },  { "range", true, false },         { "outer_range", true, false },
    { "calls", false, false }, { "self_host_ns", false, false },
};

static uint32_t range_rows(const struct trace_exporting *e)
{
    return e->calls->in_ranges;
}

static struct cell range_name(const struct trace_exporting *e, uint32_t range)
{
    if (range == NO_ROW)
        return none();
    const struct range_path *r = &e->calls->range[range];
    return r->is_step ? word("ProfilerStep*") : string(e, r->name);
}

static void range_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                      struct cell *c)
{
    const struct call_range *r = &e->calls->in_range[row];
    (void)words;
    *c++ = number(r->path);
    *c++ = range_name(e, r->range);
    *c++ = range_name(e, e->calls->range[r->range].parent);
    *c++ = number(r->calls);
    *c++ = integer(r->self_host_ns);
}

/* The states of a memory timeline: first what was there before, which has no time. */

static const struct export_column timeline_columns[] = {
    { "time_ns", false, false },          { "total_bytes", false, false },
    { "parameter_bytes", false, false },  { "optimizer_state_bytes", false, false },
    { "input_bytes", false, false },      { "temporary_bytes", false, false },
    { "activation_bytes", false, false }, { "gradient_bytes", false, false },
    { "autograd_detail_bytes", false, false }, { "unknown_bytes", false, false },
};

static uint32_t timeline_rows(const struct trace_exporting *e)
{
    const struct memory_timeline *m = &e->t->timeline;
    return m->rows.len + m->has_before;
}

static void timeline_row(const struct trace_exporting *e, uint32_t row, struct buf *words,
                         struct cell *c)
{
    const struct memory_timeline *m = &e->t->timeline;
    int64_t own[TIMELINE_CATEGORIES], sum = 0;
    bool is_before = m->has_before && row == 0;
    const int64_t *bytes = is_before ? m->before : own;
    (void)words;
    if (is_before)
        (void)memory_timeline_sum(bytes, &sum);
    else
        sum = memory_timeline_row(m, row - m->has_before, own);
    *c++ = is_before ? none() : integer(m->time[row - m->has_before]);
    *c++ = integer(sum);
    for (uint32_t k = 0; k < TIMELINE_CATEGORIES; k++)
        *c++ = integer(bytes[k]);
}

/* All of them. */

#define SHAPE(title, of)                                                                           \
    { .name = (title), .column = of##_columns,                                                     \
      .columns = sizeof of##_columns / sizeof *of##_columns }
const struct trace_export_kind trace_export_kinds[TRACE_EXPORT_TABLES] = {
    [TRACE_TABLE_THREADS] = { SHAPE("threads", thread), true, thread_rows, thread_row },
    [TRACE_TABLE_SPANS] = { SHAPE("spans", span), true, span_rows, span_row },
    [TRACE_TABLE_FLOWS] = { SHAPE("flows", flow), true, flow_rows, flow_row },
    [TRACE_TABLE_MEMORY] = { SHAPE("memory", memory), true, memory_rows, memory_row },
    [TRACE_TABLE_STEPS] = { SHAPE("steps", step), true, step_rows, step_row },
    [TRACE_TABLE_OPERATORS] = { SHAPE("operators", operator), false, operator_rows, operator_row },
    [TRACE_TABLE_KERNELS] = { SHAPE("kernels", name), false, kernel_rows, kernel_row },
    [TRACE_TABLE_COPIES] = { SHAPE("copies", copy), false, copy_rows, copy_row },
    [TRACE_TABLE_CALLS] = { SHAPE("calls", name), false, call_rows, call_row },
    [TRACE_TABLE_PATHS] = { SHAPE("paths", path), true, path_rows, path_row },
    [TRACE_TABLE_RANGES] = { SHAPE("ranges", range), false, range_rows, range_row },
    [TRACE_TABLE_TIMELINE] = { SHAPE("timeline", timeline), false, timeline_rows, timeline_row },
};

enum vrs_status trace_export_rows(const struct trace_exporting *e, enum trace_export_table table,
                                  export_take *take, void *arg, struct vrs_error *err)
{
    const struct trace_export_kind *kind = &trace_export_kinds[table];
    struct cell cell[EXPORT_COLUMNS_MAX];
    struct buf words;
    uint32_t rows = kind->rows(e);
    enum vrs_status status = VRS_OK;
    assert(kind->shape.columns <= EXPORT_COLUMNS_MAX);
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < rows && status == VRS_OK; i++) {
        kind->row(e, i, &words, cell);
        status = words.failed ? vrs_no_memory(err) : take(arg, &kind->shape, cell, err);
    }
    buf_free(&words);
    return status;
}
