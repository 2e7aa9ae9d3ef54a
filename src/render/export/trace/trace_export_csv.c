/* trace_export_csv.c - one table of a trace as comma-separated values, with a line of names. */
#include "base/fail.h"
#include "render/export/export_tables.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_export_tables.h"
#include "render/write/out.h"

enum vrs_status trace_export_csv(struct trace_exporting *e, struct out *out, struct vrs_error *err)
{
    export_csv_names(out, &trace_export_kinds[e->table].shape);
    return trace_export_rows(e, e->table, export_csv_row, out, err);
}
