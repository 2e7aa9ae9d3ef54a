/* column.c - the tables of a trace as columns, and its strings. */
#include <stddef.h>
#include <stdint.h>

#include "api/column.h"
#include "api/trace/trace_file.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/memory_timeline.h"
#include "model/strings.h"
#include "model/trace.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

static const struct {
    const struct table_kind *kind;
    size_t offset; /* in struct trace */
} tables[] = {
    { &spans_kind, offsetof(struct trace, spans) },
    { &tracks_kind, offsetof(struct trace, tracks) },
    { &processes_kind, offsetof(struct trace, processes) },
    { &flows_kind, offsetof(struct trace, flows) },
    { &memory_events_kind, offsetof(struct trace, memory) },
    { &listed_devices_kind, offsetof(struct trace, devices) },
    { &memory_timeline_kind, offsetof(struct trace, timeline) },
};
enum { TABLES = sizeof tables / sizeof *tables };

/* The i-th column through all tables; NULL behind the last. */
static const struct column *column_at(uint32_t i, uint32_t *ret_table)
{
    for (uint32_t t = 0; t < TABLES; t++) {
        if (i < tables[t].kind->columns) {
            *ret_table = t;
            return &tables[t].kind->column[i];
        }
        i -= tables[t].kind->columns;
    }
    return NULL;
}

enum vrs_status vrs_trace_column(const struct vrs_trace *trace, const char *name,
                                 struct vrs_span *ret, struct vrs_error *err)
{
    const struct column *column;
    uint32_t t = 0;
    for (uint32_t i = 0; (column = column_at(i, &t)) != NULL; i++) {
        if (!column_is_named(tables[t].kind, column, str_from(name)))
            continue;
        *ret = column_span((const char *)&trace->model + tables[t].offset, column);
        return VRS_OK;
    }
    return vrs_fail(err, VRS_USAGE,
                    "a trace has no column \"%.80s\"; vrs_trace_column_name lists all", name);
}

const char *vrs_trace_column_table(uint32_t i)
{
    uint32_t table = 0;
    return column_at(i, &table) == NULL ? NULL : tables[table].kind->name;
}

const char *vrs_trace_column_name(uint32_t i)
{
    uint32_t ignored = 0;
    const struct column *column = column_at(i, &ignored);
    return column == NULL ? NULL : column->name;
}

const char *vrs_trace_span_kind(uint32_t kind)
{
    return kind < SPAN_KINDS ? span_kind_name((enum span_kind)kind) : NULL;
}

const char *vrs_trace_string(const struct vrs_trace *trace, uint32_t id, size_t *ret_len)
{
    const struct strings *s = &trace->model.strings;
    *ret_len = 0;
    if (id >= s->rows.len)
        return NULL;
    str text = strings_text(s, (string_id){ id });
    *ret_len = text.len;
    return text.ptr;
}
