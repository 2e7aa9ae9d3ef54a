/* model_size_text.c - the size of a model, for people: the total, then its modules.
 *
 * A module with modules inside has "(own)" behind its path where it owns something itself; what it
 * has together with them stands in the column "with all inside". */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/objects/model_size.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/fields.h"
#include "render/objects/object_answers.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum shown {
    PATH,
    TYPE,
    PARAMETERS,
    TRAINABLE,
    PARAMETER_BYTES,
    BUFFER_BYTES,
    STORAGE_BYTES,
    FULL_BYTES,
    ALL_BYTES,
    CALLS,
    OUTPUT_BYTES,
    SHARED,
    COLUMNS
};

enum { WIDE = 110 };

#define SUMS(member)                                                                               \
    SHOWN_IN(struct module_row, sums, model_sums_row_type, struct model_sums, member)

static const struct shown_column columns[COLUMNS] = {
    [PATH] = { COMPOSED("module", false), 20, .cut = CUT_START },
    [TYPE] = { SHOWN(module_row_type, struct module_row, type), 6 },
    [PARAMETERS] = { SUMS(parameters), 0 },
    [TRAINABLE] = { SUMS(trainable), 0 },
    [PARAMETER_BYTES] = { SUMS(parameter_bytes), 0 },
    [BUFFER_BYTES] = { SUMS(buffer_bytes), 0 },
    [STORAGE_BYTES] = { SUMS(storage_bytes), 0 },
    [FULL_BYTES] = { SUMS(full_bytes), 0 },
    [ALL_BYTES] = { SHOWN(module_row_type, struct module_row, all_bytes), 0 },
    [CALLS] = { SHOWN(module_row_type, struct module_row, calls), 0 },
    [OUTPUT_BYTES] = { SHOWN(module_row_type, struct module_row, output_bytes), 0 },
    [SHARED] = { COMPOSED("shared with", false), 12 },
};

static bool owns_something(const struct module_row *row)
{
    return row->sums.storage_bytes != 0 || row->sums.parameters != 0 || row->shareds != 0;
}

/* "layers.0", "layers (own)", "(own)", "(model)" */
static void put_path(struct buf *to, const struct module_row *row)
{
    buf_str(to, row->path);
    if (row->own && owns_something(row))
        buf_text(to, row->path.len > 0 ? " (own)" : "(own)");
    else if (row->path.len == 0)
        buf_text(to, "(model)");
    if (row->modules > 1)
        buf_format(to, " (%u modules)", row->modules);
}

static bool make_cell(void *arg, const void *from, uint32_t column, str *ret)
{
    struct cells *cells = arg;
    const struct module_row *row = from;
    struct buf foreign;
    if (column != PATH && column != SHARED)
        return false;
    buf_init(&foreign, SIZE_MAX / 2);
    if (column == PATH)
        put_path(&foreign, row);
    for (uint32_t i = 0; column == SHARED && i < row->shareds; i++) {
        buf_text(&foreign, i > 0 ? ", " : "");
        buf_str(&foreign, row->shared[i]);
    }
    *ret = cell_text(cells, buf_slice(&foreign));
    buf_end(&foreign, &cells->text);
    return true;
}

/* A sum of which some terms are perhaps not known yet. */
static void put_sum(struct buf *to, uint64_t bytes, bool at_least)
{
    if (at_least)
        buf_text(to, bytes == 0 ? "unknown" : "at least ");
    if (!at_least || bytes != 0)
        human_bytes(to, (int64_t)bytes);
}

/* "Transformer: 137 024 parameters, 137 024 of them trainable; parameters 535 KiB, …" */
static void put_total(struct buf *to, const struct style *style, const struct model_size *size)
{
    const struct model_sums *total = &size->total;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    struct cells cells;
    cells_init(&cells, style);
    buf_str(&words, cell_text(&cells, size->type));
    buf_text(&words, size->at_least ? ": at least " : ": ");
    human_counted(&words, total->parameters, "parameter", style->ascii);
    buf_text(&words, ", ");
    human_count(&words, total->trainable, style->ascii);
    buf_text(&words, " of them trainable; parameters ");
    put_sum(&words, total->parameter_bytes, size->at_least);
    buf_text(&words, ", buffers ");
    put_sum(&words, total->buffer_bytes, size->at_least);
    buf_text(&words, "; in storages ");
    put_sum(&words, total->storage_bytes, size->at_least);
    if (size->sharded) {
        buf_text(&words, "; all shards ");
        put_sum(&words, total->full_bytes, size->at_least);
    }
    text_wrap(to, style, buf_slice(&words), 0, 2);
    buf_char(to, '\n');
    cells_free(&cells, to);
    buf_end(&words, to);
}

/* Those that are alike in every row, and in a narrow terminal what the total says. */
static uint32_t hidden_columns(const struct model_size *size, uint32_t width)
{
    uint32_t hidden = size->sharded ? 0 : 1u << FULL_BYTES;
    bool shares = false;
    for (uint32_t i = 0; i < size->rows; i++)
        shares = shares || size->row[i].shareds > 0;
    hidden |= shares ? 0 : 1u << SHARED;
    hidden |= size->called ? 0 : 1u << CALLS | 1u << OUTPUT_BYTES;
    if (width < WIDE)
        hidden |= 1u << TRAINABLE | 1u << PARAMETER_BYTES | 1u << BUFFER_BYTES;
    return hidden;
}

void model_size_text(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    const struct model_size *size = set->answers;
    struct buf *to = &out->text;
    struct cells cells;
    uint32_t rows = options->rows != 0 && options->rows < size->rows ? options->rows : size->rows;
    (void)several;
    put_total(to, &options->style, size);
    cells_init(&cells, &options->style);
    struct shown_table table = { .column = columns,
                                 .columns = COLUMNS,
                                 .hidden = hidden_columns(size, options->style.width),
                                 SHOWN_ROWS(size->row, rows),
                                 .indent = 2,
                                 .make = make_cell,
                                 .arg = &cells };
    if (rows > 0)
        shown_table(to, &options->style, &cells, &table);
    cells_free(&cells, to);
    if (rows < size->rows) {
        buf_text(to, "  ");
        human_counted(to, size->rows - rows, "more row", options->style.ascii);
        buf_char(to, '\n');
    }
}
