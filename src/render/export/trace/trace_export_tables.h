/* trace_export_tables.h - the tables of a trace that csv and sqlite show, row by row. */
#ifndef VRS_RENDER_EXPORT_TRACE_TRACE_EXPORT_TABLES_H
#define VRS_RENDER_EXPORT_TRACE_TRACE_EXPORT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/export/export_tables.h"
#include "render/export/trace/trace_export.h"

struct trace_export_kind {
    struct export_kind shape; /* name and columns; it has no rows of its own */
    bool keyed;               /* the first column is the row's own number */
    uint32_t (*rows)(const struct trace_exporting *e);
    /* Fills a cell for each column; `words` takes text that is put together. */
    void (*row)(const struct trace_exporting *e, uint32_t row, struct buf *words,
                struct cell *cell);
};

extern const struct trace_export_kind trace_export_kinds[TRACE_EXPORT_TABLES];

enum vrs_status trace_export_rows(const struct trace_exporting *e, enum trace_export_table table,
                                  export_take *take, void *arg, struct vrs_error *err) MUST_CHECK;

#endif
