/* comparison_text.c - what changed between two measurements, for people: a verdict, then tables. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/measurement/compare/compare.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/noise_words.h"
#include "render/measurement/comparison_answer.h"
#include "render/measurement/comparison_sentences.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

enum { NAME_LEAST = 10 };

/* Tables. */

struct shown_rows {
    const struct compared_row *row;
    const struct style *style;
    bool has_runs; /* a column for what runs differ by */
};

static void fill_values(struct cells *cells, const struct shown_rows *s,
                        const struct compared_row *row, str *cell)
{
    cell[0] = cell_text(cells, row->name);
    comparison_value(&cells->text, s->style, row->a.unit, row->a.median);
    cell[1] = cell_end(cells);
    comparison_value(&cells->text, s->style, row->b.unit, row->b.median);
    cell[2] = cell_end(cells);
    noise_change_ratio(&cells->text, row->ratio);
    cell[3] = cell_end(cells);
}

static void fill_time(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct shown_rows *s = from;
    const struct compared_row *row = &s->row[i];
    fill_values(cells, s, row, cell);
    comparison_interval(&cells->text, row);
    cell[4] = cell_end(cells);
    if (s->has_runs) {
        bool is_told = !isnan(row->between_runs) && row->a.median > 0;
        human_share(&cells->text, is_told ? row->between_runs / row->a.median : -1);
        cell[5] = cell_end(cells);
    }
    buf_text(&cells->text, comparison_verdict_words(row));
    cell[s->has_runs ? 6 : 5] = cell_end(cells);
}

/* What stands in both tables of times.  The name is short where there is a column more: all of it
 * fits into 80. */
#define TIME_COLUMNS(name)                                                                         \
    { name, false, true, NAME_LEAST, CUT_MIDDLE }, { "A", true, false, 0, CUT_END },               \
        { "B", true, false, 0, CUT_END }, { "change", true, false, 0, CUT_END },                   \
    {                                                                                              \
        "within", true, false, 0, CUT_END                                                          \
    }

static void put_times(struct buf *to, const struct style *style, const struct comparison *c,
                      uint32_t most)
{
    static const struct text_column of_one_run[] = { TIME_COLUMNS("median time"),
                                                     { "", false, false, 0, CUT_END } };
    static const struct text_column of_runs[] = { TIME_COLUMNS("median"),
                                                  { "runs", true, false, 0, CUT_END },
                                                  { "", false, false, 0, CUT_END } };
    const struct shown_rows from = { c->timing, style, c->repeats > 0 };
    const struct row_table one_run = { ROW_TABLE_COLUMNS(of_one_run), c->timings, most, &from,
                                       fill_time, "row" };
    const struct row_table runs = { ROW_TABLE_COLUMNS(of_runs), c->timings, most, &from,
                                    fill_time, "row" };
    const struct row_table table = from.has_runs ? runs : one_run;
    if (row_table(to, style, &table))
        buf_char(to, '\n');
}

static bool is_shown(const struct compared_row *row)
{
    return !isnan(row->a.median) || !isnan(row->b.median);
}

static void fill_figure(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct shown_rows *s = from;
    const struct compared_row *row = s->row;
    for (uint32_t shown = 0; shown < i || !is_shown(row); row++)
        shown += is_shown(row);
    fill_values(cells, s, row, cell);
    buf_text(&cells->text, comparison_verdict_words(row));
    cell[4] = cell_end(cells);
}

/* Those that one side knows at least. */
static void put_figures(struct buf *to, const struct style *style, const struct comparison *c,
                        uint32_t most)
{
    static const struct text_column columns[] = {
        { "figure, one number", false, true, NAME_LEAST, CUT_MIDDLE },
        { "A", true, false, 0, CUT_END },
        { "B", true, false, 0, CUT_END },
        { "change", true, false, 0, CUT_END },
        { "", false, false, 0, CUT_END },
    };
    const struct shown_rows from = { .row = c->figure, .style = style };
    uint32_t rows = 0;
    for (uint32_t i = 0; i < c->figures; i++)
        rows += is_shown(&c->figure[i]);
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), rows, most, &from, fill_figure,
                                     "row" };
    if (row_table(to, style, &table))
        buf_char(to, '\n');
}

/* "backward", of another device than the first "backward (device 1)" */
static void fill_memory(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    static const char *const words[COMPARED_MEMORY_VERDICTS] = { "less", "equal", "more",
                                                                 "unknown" };
    const struct compared_memory *row = (const struct compared_memory *)from + i;
    struct buf *text = &cells->text;
    escape_text(text, row->path, cells->ascii);
    if (row->device > 0)
        buf_format(text, " (device %llu)", (unsigned long long)row->device);
    cell[0] = cell_end(cells);
    cell[1] = cell_known_bytes(cells, row->a_peak);
    cell[2] = cell_known_bytes(cells, row->b_peak);
    if (row->verdict == COMPARED_MEMORY_UNKNOWN) {
        buf_char(text, '-');
    } else {
        buf_text(text, row->change > 0 ? "+" : "");
        human_bytes(text, row->change);
    }
    cell[3] = cell_end(cells);
    noise_change_ratio(text, row->ratio);
    cell[4] = cell_end(cells);
    buf_text(text, words[row->verdict]);
    cell[5] = cell_end(cells);
}

static void put_memory(struct buf *to, const struct style *style, const struct comparison *c,
                       uint32_t most)
{
    static const struct text_column columns[] = {
        { "peak of memory", false, true, NAME_LEAST, CUT_MIDDLE },
        { "A", true, false, 0, CUT_END },
        { "B", true, false, 0, CUT_END },
        { "change", true, false, 0, CUT_END },
        { "of A", true, false, 0, CUT_END },
        { "", false, false, 0, CUT_END },
    };
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), c->memories, most, c->memory,
                                     fill_memory, "row" };
    if (row_table(to, style, &table))
        buf_char(to, '\n');
}

/* Lines above them. */

static void put_side(struct buf *to, const struct style *style, const char *name,
                     const struct compared_side *side)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_format(&words, "%s: ", name);
    paint_on(&words, style, PAINT_BOLD);
    escape_text(&words, str_equal(side->path, S("-")) ? S("standard input") : side->path,
                style->ascii);
    paint_off(&words, style);
    buf_text(&words, ": measurement of ");
    escape_text(&words, side->what, style->ascii);
    text_wrap(to, style, buf_slice(&words), 0, ENVELOPE_LABEL);
    buf_end(&words, to);
}

typedef void put_words(struct buf *to, const struct style *style, const struct comparison *c);

/* Nothing where there are no words. */
static void put_labelled(struct buf *to, const struct style *style, const char *label,
                         const struct comparison *c, put_words *put)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    put(&words, style, c);
    if (words.len > 0)
        envelope_words(to, style, label, &words);
    buf_end(&words, to);
}

static void put_differences(struct buf *to, const struct style *style, const struct comparison *c)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    comparison_differences(&words, style, c);
    if (words.len > 0) {
        paint_on(to, style, PAINT_BAD);
        buf_str(to, buf_slice(&words));
        paint_off(to, style);
    }
    buf_end(&words, to);
}

static void put_comparison(struct buf *to, const struct comparison *c,
                           const struct render_options *options)
{
    const struct style *style = &options->style;
    uint32_t most = options->rows == 0 ? UINT32_MAX : options->rows;
    put_labelled(to, style, "verdict", c, comparison_verdict);
    put_labelled(to, style, "note", c, comparison_runs);
    put_labelled(to, style, "differ", c, put_differences);
    put_labelled(to, style, "loading", c, comparison_loading);
    put_side(to, style, "A", &c->a);
    put_side(to, style, "B", &c->b);
    for (uint32_t i = 0; i < c->repeats; i++)
        put_side(to, style, "A again", &c->again[i].side);
    buf_char(to, '\n');
    put_times(to, style, c, most);
    put_figures(to, style, c, most);
    put_memory(to, style, c, most);
    if (c->left_out > 0) {
        human_counted(to, c->left_out, "row", style->ascii);
        buf_text(to, c->left_out == 1 ? " stands on one side alone and is left out\n"
                                      : " stand on one side alone and are left out\n");
    }
}

void comparison_text(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    const struct comparison *comparisons = set->answers;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        put_comparison(&out->text, &comparisons[i], options);
        out_flush(out, OUT_ENOUGH);
    }
}
