/* export_csv.c - one table as comma-separated values (RFC 4180), with a line of names.
 *
 * Text that a spreadsheet would take for a formula, and that is no number, gets an apostrophe
 * before it. */
#include <string.h>

#include "base/number.h"
#include "render/export/export_tables.h"

static bool is_formula(str value)
{
    double number;
    return value.len > 0 && !number_real(value, &number) &&
           strchr("=+-@\t\r", value.ptr[0]) != NULL && value.ptr[0] != '\0';
}

static void put_text(struct buf *b, str value)
{
    bool quotes = is_formula(value);
    for (size_t i = 0; i < value.len && !quotes; i++)
        quotes = value.ptr[i] == ',' || value.ptr[i] == '"' || (unsigned char)value.ptr[i] < ' ';
    if (!quotes) {
        buf_str(b, value);
        return;
    }
    buf_char(b, '"');
    if (is_formula(value))
        buf_char(b, '\'');
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"')
            buf_char(b, '"');
        buf_char(b, value.ptr[i]);
    }
    buf_char(b, '"');
}

static enum vrs_status put_row(void *arg, const struct export_kind *kind, const struct cell *cell,
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
            put_text(b, cell[i].text);
            break;
        }
    }
    buf_text(b, "\r\n");
    out_flush(out, OUT_ENOUGH);
    return VRS_OK;
}

enum vrs_status export_csv(struct exporting *e, struct out *out, struct vrs_error *err)
{
    enum export_table table = 0;
    while (table + 1 < EXPORT_TABLES && !e->wanted[table])
        table++;
    const struct export_kind *kind = &export_kinds[table];
    for (uint32_t i = 0; i < kind->columns; i++)
        buf_format(&out->text, "%s%s", i > 0 ? "," : "", kind->column[i].name);
    buf_text(&out->text, "\r\n");
    return export_rows(e, table, put_row, out, err);
}
