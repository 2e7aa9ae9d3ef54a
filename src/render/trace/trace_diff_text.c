/* trace_diff_text.c - what changed between two traces, for people: a verdict, then tables. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/diff/trace_diff.h"
#include "base/buf.h"
#include "base/noise.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/noise_words.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_words.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/row_table.h"
#include "render/write/text.h"

enum { ROWS_SHOWN = 10, NAME_LEAST = 16 };

/* "+1.20 ms", "-3.00 us", "0 ns" */
static void put_change(struct buf *to, int64_t ns)
{
    buf_text(to, ns > 0 ? "+" : ns < 0 ? "-" : "");
    human_ns(to, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

static void put_ns(struct buf *to, int64_t ns)
{
    if (ns < 0)
        put_change(to, ns);
    else
        human_ns(to, (uint64_t)ns);
}

/* Sides. */

static void put_steps(struct buf *to, const struct style *style, const struct trace_diff_side *side)
{
    if (side->is_whole) {
        buf_text(to, side->has_other_steps ? "compared as a whole, since the other has no steps"
                                           : "no steps: compared as a whole");
        return;
    }
    if (side->step.ptr != NULL) {
        escape_text(to, side->step, style->ascii);
        return;
    }
    human_counted(to, side->steps, "step", style->ascii);
    if (side->dropped > 0)
        buf_format(to, ", %u left out as warm-up, empty or cut", (unsigned)side->dropped);
}

static void put_side(struct buf *to, const struct style *style, const char *letter,
                     const struct trace_diff_side *side)
{
    struct buf words;
    str path = side->file.path;
    buf_init(&words, SIZE_MAX / 2);
    buf_format(&words, "%s: ", letter);
    paint_on(&words, style, PAINT_BOLD);
    escape_text(&words, str_equal(path, S("-")) ? S("standard input") : path, style->ascii);
    paint_off(&words, style);
    buf_text(&words, ": profiler trace, ");
    put_steps(&words, style, side);
    if (!side->file.complete)
        buf_text(&words, ", INCOMPLETE: the file could not be read to its end");
    text_wrap(to, style, buf_slice(&words), 0, ENVELOPE_LABEL);
    buf_end(&words, to);
}

/* The verdict, with its numbers. */

/* "1.20 ms of A's 6 steps" */
static void put_noise(struct buf *to, const struct style *style, const struct trace_diff_value *v,
                      uint32_t steps, const char *letter)
{
    human_ns(to, (uint64_t)(v->noise_ns + 0.5));
    buf_format(to, " of %s's ", letter);
    human_counted(to, steps, "step", style->ascii);
}

static void put_judgement(struct buf *to, const struct style *style, const struct trace_diff *d)
{
    const struct trace_diff_row *step = &d->step.row[0];
    const char *of = d->a.is_whole && d->b.is_whole ? "the whole" : "the median step";
    if (step->verdict == NOISE_SAME) {
        buf_format(to, "no difference: %s takes ", of);
        put_ns(to, step->a.median_ns);
        buf_text(to, " in both");
        return;
    }
    if (step->verdict == NOISE_FASTER || step->verdict == NOISE_SLOWER)
        buf_format(to, "B is %s: ", noise_verdict_words[step->verdict]);
    buf_format(to, "%s takes ", of);
    put_ns(to, step->b.median_ns);
    buf_text(to, " instead of ");
    put_ns(to, step->a.median_ns);
    buf_text(to, " (");
    noise_change_ratio(to, step->change);
    buf_char(to, ')');
    if (step->verdict == NOISE_NOT_JUDGED) {
        buf_text(to, "; with one step of a side, whether that is noise cannot be told");
        return;
    }
    buf_text(to, step->verdict == NOISE_WITHIN
                     ? ", which is within the noise: "
                     : ", which is more than the noise: ");
    put_noise(to, style, &step->a, d->a.steps, "A");
    buf_text(to, " and ");
    put_noise(to, style, &step->b, d->b.steps, "B");
}

static void put_limit(struct buf *to, const struct trace_diff *d)
{
    if (d->limit == NULL)
        return;
    buf_text(to, d->limit->exceeded ? "; above the limit of " : "; within the limit of ");
    noise_limit_words(to, &d->limit->most);
}

static void put_verdict(struct buf *to, const struct style *style, const struct trace_diff *d)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    put_judgement(&words, style, d);
    put_limit(&words, d);
    envelope_words(to, style, "verdict", &words);
    buf_end(&words, to);
}

/* Tables. */

struct shown_diff {
    const char *title;
    const struct trace_diff_table *table;
    bool are_gaps, are_kernels;
    bool all; /* rows that did not change, too */
};

static void fill_name(struct cells *cells, const struct shown_diff *s,
                      const struct trace_diff_row *row)
{
    for (uint8_t i = 0; s->are_gaps && i < GAP_CLASSES; i++)
        if (str_equal(row->name, str_from(gap_class_names[i]))) {
            buf_text(&cells->text, trace_gap_word(i));
            return;
        }
    escape_text(&cells->text, row->name, cells->ascii);
    const str parts[] = { row->shapes, row->module, row->phase, row->stack };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].ptr == NULL)
            continue;
        buf_text(&cells->text, "  ");
        escape_text(&cells->text, parts[i], cells->ascii);
    }
}

static void fill_change(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct shown_diff *s = from;
    const struct trace_diff_row *row = &s->table->row[i];
    struct buf *text = &cells->text;
    fill_name(cells, s, row);
    cell[0] = cell_end(cells);
    put_ns(text, row->a.median_ns);
    cell[1] = cell_end(cells);
    put_ns(text, row->b.median_ns);
    cell[2] = cell_end(cells);
    put_change(text, row->change_ns);
    cell[3] = cell_end(cells);
    noise_change_ratio(text, row->change);
    cell[4] = cell_end(cells);
    const char *came = row->status == TRACE_DIFF_NEW    ? "new"
                       : row->status == TRACE_DIFF_GONE ? "gone"
                                                        : "";
    buf_text(text, came);
    if (*came != '\0' && *noise_verdict_words[row->verdict] != '\0')
        buf_text(text, ", ");
    buf_text(text, noise_verdict_words[row->verdict]);
    cell[5] = cell_end(cells);
}

/* Rows that changed, or came or went: they stand first. */
static uint32_t changed_rows(const struct shown_diff *s)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < s->table->rows; i++)
        if (s->all || s->table->row[i].change_ns != 0)
            rows = i + 1;
    return rows;
}

static void put_table(struct buf *to, const struct style *style, const struct shown_diff *s,
                      uint32_t most)
{
    enum { COLUMNS = 6 };
    const struct text_column columns[COLUMNS] = {
        { s->title, false, true, NAME_LEAST, s->are_kernels ? CUT_CPP : CUT_APART },
        { "A", true, false, 0, CUT_END },
        { "B", true, false, 0, CUT_END },
        { "change", true, false, 0, CUT_END },
        { "of A", true, false, 0, CUT_END },
        { "", false, false, 0, CUT_END },
    };
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), changed_rows(s), most, s,
                                     fill_change, "row", .says_cut = "--json" };
    if (row_table(to, style, &table))
        buf_char(to, '\n');
}

static void put_peak(struct buf *to, bool there, int64_t bytes)
{
    if (there)
        human_bytes(to, bytes);
    else
        buf_char(to, '-');
}

static void fill_memory(struct cells *cells, const void *from, uint32_t i, str *cell)
{
    const struct trace_diff_memory *m = (const struct trace_diff_memory *)from + i;
    struct buf *text = &cells->text;
    trace_memory_device(text, m->device_type, m->device_number);
    cell[0] = cell_end(cells);
    put_peak(text, m->there[0], m->a_bytes);
    cell[1] = cell_end(cells);
    put_peak(text, m->there[1], m->b_bytes);
    cell[2] = cell_end(cells);
    buf_text(text, m->change_bytes > 0 ? "+" : "");
    put_peak(text, m->there[0] && m->there[1], m->change_bytes);
    cell[3] = cell_end(cells);
    noise_change_ratio(text, m->change);
    cell[4] = cell_end(cells);
    buf_text(text, m->is_least[0] && m->is_least[1] ? "both at least"
                   : m->is_least[0]                 ? "A at least"
                   : m->is_least[1]                 ? "B at least"
                                                    : "");
    cell[5] = cell_end(cells);
}

static void put_memory(struct buf *to, const struct style *style, const struct trace_diff *d)
{
    enum { COLUMNS = 6 };
    static const struct text_column columns[COLUMNS] = {
        { "peak of memory", false, false, 0, CUT_END }, { "A", true, false, 0, CUT_END },
        { "B", true, false, 0, CUT_END },               { "change", true, false, 0, CUT_END },
        { "of A", true, false, 0, CUT_END },            { "", false, false, 0, CUT_END },
    };
    const struct row_table table = { ROW_TABLE_COLUMNS(columns), d->memories, UINT32_MAX, d->memory,
                                     fill_memory, "row" };
    bool is_least = false;
    for (uint32_t i = 0; i < d->memories; i++)
        is_least = is_least || d->memory[i].is_lower_bound;
    if (!row_table(to, style, &table))
        return;
    if (is_least)
        table_note_text(to, style,
                        "at least: the events have no totals, and what was in use before them is "
                        "not known");
    buf_char(to, '\n');
}

static void put_diff(struct buf *to, const struct trace_diff *d,
                     const struct render_options *options)
{
    const struct style *style = &options->style;
    uint32_t most = options->rows == 0 ? ROWS_SHOWN : options->rows;
    const struct shown_diff tables[] = {
        { d->a.is_whole && d->b.is_whole ? "the whole" : "each step", &d->step, .all = true },
        { "phase, on the wall", &d->phase, .all = false },
        { "phase, device work", &d->device_phase, .all = false },
        { "operator, CPU of its own", d->by != 0 ? &d->op_by : &d->op, .all = false },
        { "on the device", &d->kernel, .are_kernels = true },
        { "idle", &d->gap, .are_gaps = true },
    };
    put_side(to, style, "A", &d->a);
    put_side(to, style, "B", &d->b);
    put_verdict(to, style, d);
    buf_char(to, '\n');
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        put_table(to, style, &tables[i], most);
    put_memory(to, style, d);
}

void trace_diff_text(struct out *out, const struct answer_set *set, bool several,
                     const struct render_options *options)
{
    const struct trace_diff *diffs = set->answers;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        put_diff(&out->text, &diffs[i], options);
        out_flush(out, OUT_ENOUGH);
    }
}
