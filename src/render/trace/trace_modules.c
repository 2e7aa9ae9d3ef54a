/* trace_modules.c - modules one inside the other, or what to record to see them. */
#include "render/trace/trace_modules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/modules/modules.h"
#include "base/bytes.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/trace/trace_levels.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
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

static str cell_name(struct cells *cells, const struct module_row *row)
{
    escape_text(&cells->text, row->name, cells->ascii);
    if (row->backward)
        buf_text(&cells->text, ".backward");
    return cell_end(cells);
}

static uint32_t level_of(const void *from, uint32_t row)
{
    return ((const struct modules *)from)->row[row].depth;
}

static bool has_bytes(const struct modules *m)
{
    for (uint32_t i = 0; i < m->rows; i++)
        if (m->row[i].bytes.cpu != 0 || m->row[i].bytes.device != 0)
            return true;
    return false;
}

static void put_rows(struct buf *to, const struct style *style, const struct modules *m,
                     uint32_t rows)
{
    static const struct text_column all[] = {
        { "calls", true, false, 0, CUT_END },
        { "host", true, false, 0, CUT_END },
        { "self host", true, false, 0, CUT_END },
        { "device", true, false, 0, CUT_END },
        { "self device", true, false, 0, CUT_END },
        { "allocated", true, false, 0, CUT_END },
        { "module", false, true, NAME_LEAST, CUT_MIDDLE },
    };
    enum { ALL = sizeof all / sizeof *all, BYTES_AT = ALL - 2 };
    struct text_column column[ALL];
    bool bytes = has_bytes(m);
    uint32_t columns = 0;
    for (uint32_t i = 0; i < ALL; i++)
        if (bytes || i != BYTES_AT)
            column[columns++] = all[i];
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, rows, columns);
    for (uint32_t i = 0; i < rows && cell != NULL; i++) {
        const struct module_row *row = &m->row[i];
        str *at = cell + (size_t)i * columns;
        *at++ = cell_count(&cells, row->calls);
        *at++ = cell_ns(&cells, row->host_ns);
        *at++ = cell_ns(&cells, row->self_host_ns);
        *at++ = cell_ns(&cells, row->device_ns);
        *at++ = cell_ns(&cells, row->self_device_ns);
        if (bytes)
            *at++ = cell_bytes(&cells, i64_plus(row->bytes.cpu, row->bytes.device));
        *at = cell_name(&cells, row);
    }
    if (cell != NULL) {
        const struct text_table table = { column, columns, rows, cell, 2 };
        trace_levels_fill(&cells, style, &table, cell, level_of, m);
        text_table(to, style, &table);
    }
    cells_free(&cells, to);
}

/* Python frames name the modules that they are calls of. */
static void say_none(struct buf *to, const struct style *style, const struct trace_report *r)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_text(&words, !r->file.complete ? "none in the part that could be read"
                     : r->capture.stacks_are_texts
                         ? "none: the stacks of this trace are texts of its operators, which do "
                           "not name modules"
                         : "none: frames of calls of modules are recorded with with_stack=True");
    envelope_words(to, style, "modules", &words);
    buf_end(&words, to);
}

void trace_modules_table(struct buf *to, const struct style *style, const struct trace_report *r,
                         uint32_t most)
{
    const struct modules *m = &r->modules;
    uint32_t rows = m->rows < most ? m->rows : most;
    if (m->rows == 0) {
        say_none(to, style, r);
        return;
    }
    put_rows(to, style, m, rows);
    row_table_rest(to, style, m->rows - rows, "row");
    table_note_text(to, style,
                    "host: time of the calls; device: time of the work that was launched in them; "
                    "self: without the modules inside");
    buf_char(to, '\n');
}
