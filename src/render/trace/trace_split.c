/* trace_split.c - a name and what else tells its calls apart, then the numbers of the operators. */
#include "render/trace/trace_split.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/splits/split.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/envelope.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

enum { NAME_LEAST = 12, PART_LEAST = 8, MOST_COLUMNS = 11 };

static str cell_ns(struct cells *cells, int64_t ns)
{
    if (ns < 0)
        buf_char(&cells->text, '-');
    human_ns(&cells->text, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
    return cell_end(cells);
}

static str cell_part(struct cells *cells, int64_t part, int64_t whole)
{
    return cell_share(cells, part < 0 || whole <= 0 ? -1 : (double)part / (double)whole);
}

static str cell_known(struct cells *cells, str text)
{
    return text.ptr == NULL ? S("-") : cell_text(cells, text);
}

static str cell_phase(struct cells *cells, uint8_t phase)
{
    buf_text(&cells->text, phase < TRACE_PHASES ? trace_phase_names[phase] : "-");
    return cell_end(cells);
}

/* What a row is told apart by and that may be long: has columns, or stands on a line below the row
 * where these do not fit. */
enum { LONG_PARTS = SPLIT_SHAPES | SPLIT_MODULE | SPLIT_STACK };

static void fill(struct cells *cells, const struct trace_report *r, uint32_t parts,
                 const struct split_row *row, str *cell)
{
    *cell++ = cell_text(cells, row->op.name);
    if ((parts & SPLIT_SHAPES) != 0)
        *cell++ = cell_known(cells, row->shapes);
    if ((parts & SPLIT_MODULE) != 0)
        *cell++ = cell_known(cells, row->module);
    if ((parts & SPLIT_PHASE) != 0)
        *cell++ = cell_phase(cells, row->phase);
    if ((parts & SPLIT_STEP) != 0)
        *cell++ = cell_known(cells, row->step);
    if ((parts & SPLIT_STACK) != 0)
        *cell++ = cell_known(cells, row->stack);
    *cell++ = cell_count(cells, row->op.calls);
    *cell++ = cell_ns(cells, row->op.self_cpu_ns);
    *cell++ = cell_part(cells, row->op.self_cpu_ns, r->self_cpu_ns);
    if (r->figures.tables.kernels == 0)
        return;
    *cell++ = cell_ns(cells, row->op.self_device_ns);
    *cell++ = cell_part(cells, row->op.self_device_ns, r->figures.tables.device_ns);
}

static uint32_t columns_make(const struct trace_report *r, uint32_t parts, struct text_column *ret)
{
    static const struct {
        uint32_t part; /* 0: always there */
        bool of_devices;
        struct text_column column;
    } all[] = {
        { 0, false, { "name", false, true, NAME_LEAST, CUT_APART } },
        { SPLIT_SHAPES, false, { "shapes", false, true, PART_LEAST, CUT_APART } },
        { SPLIT_MODULE, false, { "module", false, true, PART_LEAST, CUT_START } },
        { SPLIT_PHASE, false, { "phase", false, false, 0, CUT_END } },
        { SPLIT_STEP, false, { "step", false, true, PART_LEAST, CUT_MIDDLE } },
        { SPLIT_STACK, false, { "stack", false, true, PART_LEAST, CUT_APART } },
        { 0, false, { "calls", true, false, 0, CUT_END } },
        { 0, false, { "self CPU", true, false, 0, CUT_END } },
        { 0, false, { "share", true, false, 0, CUT_END } },
        { 0, true, { "self device", true, false, 0, CUT_END } },
        { 0, true, { "share", true, false, 0, CUT_END } },
    };
    bool has_devices = r->figures.tables.kernels > 0;
    uint32_t columns = 0;
    _Static_assert(sizeof all / sizeof *all == MOST_COLUMNS, "each column has room");
    for (size_t i = 0; i < MOST_COLUMNS; i++)
        if ((all[i].part == 0 || (parts & all[i].part) != 0) &&
            (has_devices || !all[i].of_devices))
            ret[columns++] = all[i].column;
    return columns;
}

/* The long parts of a row, on lines below it; none where none is known. */
static bool put_below(struct cells *cells, const struct style *style, uint32_t parts,
                      const struct split_row *row)
{
    enum { INDENT = 6 };
    const struct {
        uint32_t part;
        str text;
    } all[] = {
        { SPLIT_SHAPES, row->shapes }, { SPLIT_MODULE, row->module }, { SPLIT_STACK, row->stack }
    };
    size_t before = cells->text.len;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((parts & all[i].part) == 0 || all[i].text.ptr == NULL || all[i].text.len == 0)
            continue;
        struct buf escaped;
        buf_init(&escaped, SIZE_MAX / 2);
        escape_text(&escaped, all[i].text, style->ascii);
        buf_repeat(&cells->text, S(" "), INDENT);
        text_fit(&cells->text, style, buf_slice(&escaped),
                 style->width > INDENT ? style->width - INDENT : 1, CUT_MIDDLE);
        buf_char(&cells->text, '\n');
        buf_end(&escaped, &cells->text);
    }
    return cells->text.len > before;
}

/* As one table, unless that is too wide: false then.  `below`: with the long parts below the
 * rows. */
static bool put_rows(struct buf *to, const struct style *style, const struct trace_report *r,
                     uint32_t parts, uint32_t shown, bool below)
{
    struct text_column column[MOST_COLUMNS];
    uint32_t beside = below ? parts & ~(uint32_t)LONG_PARTS : parts;
    uint32_t columns = columns_make(r, beside, column), rows = 0;
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, 2 * (size_t)shown, columns);
    for (uint32_t i = 0; i < shown && cell != NULL; i++) {
        const struct split_row *row = &r->split.row[i];
        fill(&cells, r, beside, row, cell + (size_t)rows++ * columns);
        if (beside != parts && put_below(&cells, style, parts, row))
            cell_end_lines(&cells, cell + (size_t)rows++ * columns);
    }
    const struct text_table table = { column, columns, rows, cell, 2 };
    bool fits = cell == NULL || beside != parts || (parts & LONG_PARTS) == 0 ||
                text_table_width(&table) <= style->width;
    if (cell != NULL && fits)
        text_table(to, style, &table);
    cells_free(&cells, to);
    return fits;
}

/* Why a part is in no row, and what records it. */
static void say_missing(struct buf *to, const struct style *style, const struct trace_report *r)
{
    static const struct {
        uint32_t part;
        const char *label, *words;
    } all[] = {
        { SPLIT_SHAPES, "shapes", "none: they are recorded with record_shapes=True" },
        { SPLIT_MODULE, "modules",
          "none: frames of calls of modules are recorded with with_stack=True" },
        { SPLIT_STEP, "steps",
          "none: ranges of steps come from schedule=schedule(...) and prof.step() in each step" },
        { SPLIT_STACK, "stacks", "none: Python frames are recorded with with_stack=True" },
    };
    uint32_t there = 0;
    for (uint32_t i = 0; i < r->split.rows; i++) {
        const struct split_row *row = &r->split.row[i];
        there |= (row->shapes.ptr != NULL ? (uint32_t)SPLIT_SHAPES : 0) |
                 (row->module.ptr != NULL ? (uint32_t)SPLIT_MODULE : 0) |
                 (row->step.ptr != NULL ? (uint32_t)SPLIT_STEP : 0) |
                 (row->stack.ptr != NULL ? (uint32_t)SPLIT_STACK : 0);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct buf words;
        if ((r->split.by.parts & all[i].part) == 0 || (there & all[i].part) != 0)
            continue;
        buf_init(&words, SIZE_MAX / 2);
        buf_text(&words, r->file.complete ? all[i].words : "none in the part that could be read");
        envelope_words(to, style, all[i].label, &words);
        buf_end(&words, to);
    }
}

void trace_split_table(struct buf *to, const struct style *style, const struct trace_report *r,
                       uint32_t most)
{
    uint32_t shown = r->split.rows < most ? r->split.rows : most;
    if (r->split.rows == 0)
        return;
    say_missing(to, style, r);
    if (!put_rows(to, style, r, r->split.by.parts, shown, false))
        put_rows(to, style, r, r->split.by.parts, shown, true);
    row_table_rest(to, style, r->split.rows - shown, "row");
    buf_char(to, '\n');
}
