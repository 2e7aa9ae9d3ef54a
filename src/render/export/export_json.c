/* export_json.c - tables as arrays of objects, one row on a line. */
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "render/answer/envelope.h"
#include "render/export/export.h"
#include "render/export/export_tables.h"
#include "render/write/json.h"
#include "render/write/out.h"

struct writer {
    struct json json;
    struct out *out;
};

static enum vrs_status put_row(void *arg, const struct export_kind *kind, const struct cell *cell,
                               struct vrs_error *err)
{
    struct writer *w = arg;
    struct json *j = &w->json;
    (void)err;
    json_line_object(j, NULL);
    for (uint32_t i = 0; i < kind->columns; i++) {
        const char *key = kind->column[i].name;
        switch (cell[i].kind) {
        case CELL_NONE:
            json_null(j, key);
            break;
        case CELL_SIGNED:
            json_i64(j, key, (int64_t)cell[i].number);
            break;
        case CELL_UNSIGNED:
            json_u64(j, key, cell[i].number);
            break;
        case CELL_BOOL:
            json_bool(j, key, cell[i].number != 0);
            break;
        case CELL_TEXT:
            json_str(j, key, cell[i].text);
            break;
        }
    }
    json_close(j);
    out_flush(w->out, OUT_ENOUGH);
    return VRS_OK;
}

enum vrs_status export_json(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct writer w = { .out = out };
    struct json *j = &w.json;
    json_start(j, &out->text);
    json_object(j, NULL);
    json_text(j, "schema", "vramscope.export/1");
    json_text(j, "tool", e->tool);
    envelope_file(j, e->file);
    json_object(j, "tables");
    for (enum export_table t = 0; t < EXPORT_TABLES; t++) {
        if (!e->wanted[t])
            continue;
        json_array(j, export_kinds[t].name);
        TRY(export_rows(e, t, put_row, &w, err));
        json_close(j);
    }
    json_close(j);
    json_close(j);
    json_finish(j);
    return VRS_OK;
}
