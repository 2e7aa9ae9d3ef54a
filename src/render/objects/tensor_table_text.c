/* tensor_table_text.c - the storages under tensors, for people: by device, then the largest. */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/objects/tensor_table.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"
#include "render/objects/object_answers.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20 };

static const struct shown_column device_columns[] = {
    { SHOWN(device_row_type, struct device_row, device), 0 },
    { SHOWN(device_row_type, struct device_row, storages), 0 },
    { SHOWN(device_row_type, struct device_row, bytes), 0 },
    { SHOWN(device_row_type, struct device_row, invisible_bytes), 0 },
    { SHOWN(device_row_type, struct device_row, rounding_bytes), 0 },
    { SHOWN(device_row_type, struct device_row, allocated_bytes), 0 },
};

enum { NAME = 5, SHARED = 6 };
static const struct shown_column storage_columns[] = {
    { SHOWN(storage_row_type, struct storage_row, bytes), 0 },
    { SHOWN(storage_row_type, struct storage_row, device), 0 },
    { SHOWN(storage_row_type, struct storage_row, kind), 0 },
    { SHOWN(storage_row_type, struct storage_row, dtype), 0 },
    { SHOWN(storage_row_type, struct storage_row, shape), 8 },
    [NAME] = { SHOWN(storage_row_type, struct storage_row, name), 12, .cut = CUT_START },
    [SHARED] = { COMPOSED("shared by", false), 12 },
};

/* "lm_head.weight", "lm_head.weight and 2 more", "3 tensors" */
static bool make_cell(void *arg, const void *from, uint32_t column, str *ret)
{
    struct cells *cells = arg;
    const struct storage_row *row = from;
    uint32_t others = row->count - 1;
    if (column != SHARED)
        return false;
    if (row->shareds > 0) {
        str name = cell_text(cells, row->shared[0]);
        buf_str(&cells->text, name);
        if (others > 1)
            buf_format(&cells->text, " and %u more", others - 1);
    } else if (others > 0) {
        human_counted(&cells->text, others, "tensor", cells->ascii);
    }
    *ret = cell_end(cells);
    return true;
}

/* The storages that are not shown, in one row. */
static void put_others(str *cell, struct cells *cells, const struct tensor_table *t, uint32_t shown)
{
    uint64_t bytes = 0;
    for (uint32_t i = shown; i < t->rows; i++)
        bytes += t->row[i].bytes == UINT64_MAX ? 0 : t->row[i].bytes;
    cell[0] = cell_bytes(cells, (int64_t)bytes);
    cell[1] = cell_other(cells, t->rows - shown, "storage");
}

void tensor_table_text(struct out *out, const struct answer_set *set, bool several,
                       const struct render_options *options)
{
    enum { STORAGE_COLUMNS = sizeof storage_columns / sizeof *storage_columns };
    const struct tensor_table *t = set->answers;
    struct buf *to = &out->text;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = t->rows < most ? t->rows : most;
    str last[STORAGE_COLUMNS];
    struct cells cells;
    (void)several;
    if (t->rows == 0 && t->devices == 0) {
        buf_text(to, "no tensor that Python can reach\n");
        return;
    }
    cells_init(&cells, &options->style);
    struct shown_table devices = { .column = device_columns,
                                   .columns = sizeof device_columns / sizeof *device_columns,
                                   SHOWN_ROWS(t->device, t->devices) };
    shown_table(to, &options->style, &cells, &devices);
    for (uint32_t i = 0; i < STORAGE_COLUMNS; i++)
        last[i] = S("");
    if (shown < t->rows)
        put_others(last, &cells, t, shown);
    struct shown_table rows = { .column = storage_columns,
                                .columns = STORAGE_COLUMNS,
                                SHOWN_ROWS(t->row, shown),
                                .last = last,
                                .lasts = shown < t->rows,
                                .make = make_cell,
                                .arg = &cells };
    if (t->rows > 0) {
        buf_char(to, '\n');
        shown_table(to, &options->style, &cells, &rows);
    }
    cells_free(&cells, to);
}
