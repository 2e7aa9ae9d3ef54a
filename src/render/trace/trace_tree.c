/* trace_tree.c - the call tree: what each path cost in columns, its name behind its depth. */
#include "render/trace/trace_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/calls/tree.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/trace/trace_levels.h"
#include "render/write/cells.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

enum { NAME_LEAST = 24 };

static str cell_ns(struct cells *cells, int64_t ns)
{
    if (ns == 0)
        return S("-");
    human_ns(&cells->text, ns < 0 ? 0 : (uint64_t)ns);
    return cell_end(cells);
}

static uint32_t level_of(const void *from, uint32_t row)
{
    return ((const struct trace_tree *)from)->row[row].depth;
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : -1;
}

/* Devices have columns where one worked. */
static void put_rows(struct buf *to, const struct style *style, const struct trace_tree *tree,
                     uint32_t rows)
{
    static const struct text_column all[] = {
        { "host", true, false, 0, CUT_END },   { "share", true, false, 0, CUT_END },
        { "self", true, false, 0, CUT_END },   { "calls", true, false, 0, CUT_END },
        { "device", true, false, 0, CUT_END }, { "share", true, false, 0, CUT_END },
        { "path", false, true, NAME_LEAST, CUT_CPP },
    };
    enum { ALL = sizeof all / sizeof *all, OF_DEVICES = 2, DEVICE_AT = 4 };
    struct text_column column[ALL];
    uint32_t columns = 0;
    bool has_devices = tree->device_ns > 0;
    struct cells cells;
    for (uint32_t i = 0; i < ALL; i++)
        if (has_devices || i < DEVICE_AT || i >= DEVICE_AT + OF_DEVICES)
            column[columns++] = all[i];
    cells_init(&cells, style);
    str *cell = cells_array(&cells, rows, columns);
    for (uint32_t i = 0; i < rows && cell != NULL; i++) {
        const struct tree_row *row = &tree->row[i];
        str *at = cell + (size_t)i * columns;
        *at++ = cell_ns(&cells, row->host_ns);
        *at++ = cell_share(&cells, share_of(row->host_ns, tree->host_ns));
        *at++ = cell_ns(&cells, row->self_host_ns);
        *at++ = cell_count(&cells, row->calls);
        if (has_devices) {
            *at++ = cell_ns(&cells, row->device_ns);
            *at++ = cell_share(&cells, share_of(row->device_ns, tree->device_ns));
        }
        *at = cell_text(&cells, row->name);
    }
    if (cell != NULL) {
        const struct text_table table = { column, columns, rows, cell, 2 };
        trace_levels_fill(&cells, style, &table, cell, level_of, tree);
        text_table(to, style, &table);
    }
    cells_free(&cells, to);
}

static void say_left_out(struct buf *to, const struct style *style, const struct trace_tree *tree,
                         uint32_t left_out)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    human_counted(&words, left_out, "path", style->ascii);
    buf_text(&words, " with less than ");
    human_share(&words, tree->least_share);
    buf_text(&words, tree->device_ns > 0 ? " of the host's and of the devices' time"
                                         : " of the host's time");
    buf_text(&words, left_out == 1 ? " is left out (--min-share)" : " are left out (--min-share)");
    table_note(to, style, &words);
    buf_end(&words, to);
}

void trace_tree_text(struct buf *to, const struct style *style, const struct trace_tree *tree,
                     uint32_t most)
{
    uint32_t rows = tree->rows < most ? tree->rows : most, left_out = tree->paths - tree->rows;
    if (tree->paths == 0) {
        struct buf words;
        buf_init(&words, SIZE_MAX / 2);
        buf_text(&words, "none: no calls of the host were recorded");
        envelope_words(to, style, "tree", &words);
        buf_end(&words, to);
        return;
    }
    if (rows > 0)
        put_rows(to, style, tree, rows);
    row_table_rest(to, style, tree->rows - rows, "path");
    if (left_out > 0)
        say_left_out(to, style, tree, left_out);
    buf_char(to, '\n');
}
