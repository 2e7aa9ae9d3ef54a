/* export_csv.c - one table as comma-separated values, with a line of names. */
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/export/export.h"
#include "render/export/export_tables.h"
#include "render/write/csv.h"
#include "render/write/out.h"

enum vrs_status export_csv_row(void *arg, const struct export_kind *kind, const struct cell *cell,
                               struct vrs_error *err)
{
    struct out *out = arg;
    struct buf *b = &out->text;
    (void)err;
    for (uint32_t i = 0; i < kind->columns; i++) {
        if (i > 0)
            buf_char(b, ',');
        switch (cell[i].kind) {
        case CELL_NONE:
            break;
        case CELL_SIGNED:
            buf_format(b, "%lld", (long long)cell[i].number);
            break;
        case CELL_UNSIGNED:
            buf_u64(b, cell[i].number);
            break;
        case CELL_BOOL:
            buf_text(b, cell[i].number != 0 ? "true" : "false");
            break;
        case CELL_TEXT:
            csv_text(b, cell[i].text);
            break;
        }
    }
    buf_text(b, CSV_LINE_END);
    out_flush(out, OUT_ENOUGH);
    return VRS_OK;
}

void export_csv_names(struct out *out, const struct export_kind *kind)
{
    for (uint32_t i = 0; i < kind->columns; i++)
        buf_format(&out->text, "%s%s", i > 0 ? "," : "", kind->column[i].name);
    buf_text(&out->text, CSV_LINE_END);
}

enum vrs_status export_csv(struct exporting *e, struct out *out, struct vrs_error *err)
{
    enum export_table table = 0;
    while (table + 1 < EXPORT_TABLES && !e->wanted[table])
        table++;
    export_csv_names(out, &export_kinds[table]);
    return export_rows(e, table, export_csv_row, out, err);
}
