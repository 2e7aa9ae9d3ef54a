/* export_tables.h - the tables that csv, json and sqlite show: columns as data, rows one by one.
 *
 * Where a table of the model has ids of texts, these have the texts.  A column that is only looked
 * up by another one (the culprit of a stack) stands in csv and json; in sqlite a view has it. */
#ifndef VRS_RENDER_EXPORT_EXPORT_TABLES_H
#define VRS_RENDER_EXPORT_EXPORT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/export/export.h"
#include "render/write/out.h"

enum cell_kind { CELL_NONE, CELL_SIGNED, CELL_UNSIGNED, CELL_BOOL, CELL_TEXT };

struct cell {
    enum cell_kind kind;
    union {
        uint64_t number; /* CELL_SIGNED: its bits; CELL_BOOL: 0 or 1 */
        str text;
    };
};

struct export_column {
    const char *name;
    bool text;
    bool looked_up;
};

enum { EXPORT_COLUMNS_MAX = 32 };

struct export_kind {
    const char *name;
    const struct export_column *column;
    uint32_t columns;
    bool of_device; /* has rows for each device */
    uint32_t (*rows)(const struct exporting *e, const struct export_device *d);
    /* Fills a cell for each column.  Rows are asked for in order from 0; `words` takes text that is
     * put together, and must stay as it is until the row is written. */
    enum vrs_status (*row)(struct exporting *e, struct export_device *d, uint32_t row,
                           struct buf *words, struct cell *cell, struct vrs_error *err);
};

extern const struct export_kind export_kinds[EXPORT_TABLES];

/* Calls `take` with each row of a table, devices one after the other; `take` fails as it likes. */
typedef enum vrs_status export_take(void *arg, const struct export_kind *kind,
                                    const struct cell *cell, struct vrs_error *err);
enum vrs_status export_rows(struct exporting *e, enum export_table table, export_take *take,
                            void *arg, struct vrs_error *err) MUST_CHECK;

/* Of csv: the line of names, and an export_take whose `arg` is a struct out. */
void export_csv_names(struct out *out, const struct export_kind *kind);
export_take export_csv_row;

#endif
