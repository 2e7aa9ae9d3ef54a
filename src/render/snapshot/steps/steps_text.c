/* steps_text.c - steps and phases of training, and their peaks, for people.
 *
 * Two tables: a row for each step, and the phases of the step that holds the peak (without steps,
 * all phases). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/table.h"
#include "render/answer/answer.h"
#include "render/answer/device_answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/next.h"
#include "render/snapshot/renderers.h"
#include "render/snapshot/steps/step_parts.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 20, WIDE = 100, STEP_CELLS = 6 };

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    const struct phase_rows *rows;
    struct cells cells;
    uint32_t most; /* rows of a table */
    str path;      /* of the file, for the command that shows more rows */
};

static str span_cell(struct text_context *s, uint32_t first, uint32_t last)
{
    buf_format(&s->cells.text, first == last ? "%u" : "%u-%u", first, last);
    return cell_end(&s->cells);
}

static void put_table(struct buf *to, struct text_context *s, const struct text_column *column,
                      uint32_t columns, uint32_t rows, const str *cell)
{
    struct text_table table = { column, columns, rows, cell, 0 };
    buf_char(to, '\n');
    text_table(to, s->style, &table);
}

/* "1 more phase: vramscope steps run.pickle --rows 21" */
static void put_more(struct buf *to, const struct text_context *s, uint32_t rows, uint32_t shown,
                     const char *what)
{
    char options[32];
    if (rows == shown)
        return;
    human_counted(to, rows - shown, what, s->style->ascii);
    buf_text(to, ": ");
    snprintf(options, sizeof options, " --rows %u", (unsigned)rows);
    next_command(to, s->style, "steps", s->path, options);
    buf_char(to, '\n');
}

/* The phase at an event; `*row` is where the search goes on. */
static enum phase phase_at(const struct phase_rows *rows, uint32_t *row, int64_t event)
{
    while (*row + 1 < rows->rows && (int64_t)rows->row[*row + 1].first_event <= event)
        (*row)++;
    bool found = *row < rows->rows && (int64_t)rows->row[*row].first_event <= event;
    return found ? (enum phase)rows->row[*row].phase : PHASES;
}

static void put_steps(struct buf *to, struct text_context *s)
{
    static const struct shown_column shown_columns[STEP_CELLS] = {
        { COMPOSED("step", true), 0 },
        { COMPOSED("events", false), 0 },
        { SHOWN(boundary_row_type, struct step_boundary, live_bytes), 0 },
        { SHOWN(boundary_row_type, struct step_boundary, peak_bytes), 0 },
        { SHOWN(boundary_row_type, struct step_boundary, peak_event), 0 },
        { COMPOSED("in", false), 8 },
    };
    struct text_column column[STEP_CELLS];
    const struct steps *steps = &s->rows->steps.steps;
    uint32_t shown = steps->count < s->most ? steps->count : s->most, row = 0;
    str *cell = cells_array(&s->cells, shown, STEP_CELLS);
    if (cell == NULL)
        return;
    for (uint32_t k = 0; k < STEP_CELLS; k++)
        column[k] = shown_heading(&shown_columns[k]);
    column[0].heading = step_kind_names[steps->kind];
    for (uint32_t i = 0; i < shown; i++) {
        const struct step_boundary *b = &steps->boundary[i];
        str *c = cell + (size_t)i * STEP_CELLS;
        c[0] = cell_number(&s->cells, i + 1u);
        c[1] = span_cell(s, b->event, b->end_event);
        for (uint32_t k = 2; k < 5; k++)
            c[k] = shown_cell(&s->cells, &shown_columns[k], b);
        c[5] = str_from(phase_word(phase_at(s->rows, &row, b->peak_event)));
    }
    put_table(to, s, column, STEP_CELLS, shown, cell);
    put_more(to, s, steps->count, shown, steps->kind == STEP_PASS ? "more pass" : "more step");
}

enum phase_column { PHASE, EVENTS, ALLOCS, ALLOCATED, FREED, PEAK, IN_STEP, LARGEST, COLUMNS };

static const struct shown_column phase_columns[COLUMNS] = {
    [PHASE] = { SHOWN(phase_row_type, struct phase_row, phase), 0 },
    [EVENTS] = { COMPOSED("events", false), 0 },
    [ALLOCS] = { SHOWN(phase_row_type, struct phase_row, allocs), 0 },
    [ALLOCATED] = { SHOWN(phase_row_type, struct phase_row, alloc_bytes), 0 },
    [FREED] = { SHOWN(phase_row_type, struct phase_row, freed_bytes), 0 },
    [PEAK] = { SHOWN(phase_row_type, struct phase_row, peak_bytes), 0 },
    [IN_STEP] = { SHOWN(phase_row_type, struct phase_row, contribution_bytes), 0 },
    [LARGEST] = { COMPOSED("largest at", false), 16 },
};

static str phase_cell(struct text_context *s, const struct phase_row *row, enum phase_column column)
{
    if (column == EVENTS)
        return span_cell(s, row->first_event, row->last_event);
    if (column == LARGEST)
        return cell_text(&s->cells, row->largest.culprit);
    return shown_cell(&s->cells, &phase_columns[column], row);
}

/* Of more phases than are shown the last row is that of the peak, which the page is about. */
static uint32_t shown_phase(const struct text_context *s, const struct phase_row *row,
                            uint32_t rows, uint32_t most, uint32_t i)
{
    uint32_t peak = s->rows->peak_row, first = (uint32_t)(row - s->rows->row);
    bool left_out = peak != NO_ROW && peak >= first + most && peak < first + rows;
    return i + 1 == most && left_out ? peak - first : i;
}

static void put_phases(struct buf *to, struct text_context *s, const struct phase_row *row,
                       uint32_t rows)
{
    enum phase_column shown[COLUMNS];
    struct text_column column[COLUMNS];
    uint32_t columns = 0, most = rows < s->most ? rows : s->most;
    for (int i = 0; i < COLUMNS; i++) {
        bool wanted = (i != IN_STEP || row->step != 0) && (i != LARGEST || s->style->width >= WIDE);
        if (!wanted)
            continue;
        column[columns] = shown_heading(&phase_columns[i]);
        shown[columns++] = (enum phase_column)i;
    }
    str *cell = cells_array(&s->cells, most, columns);
    if (cell == NULL)
        return;
    for (uint32_t i = 0; i < most; i++) {
        const struct phase_row *one = &row[shown_phase(s, row, rows, most, i)];
        for (uint32_t k = 0; k < columns; k++)
            cell[(size_t)i * columns + k] = phase_cell(s, one, shown[k]);
    }
    put_table(to, s, column, columns, most, cell);
    put_more(to, s, rows, most, "more phase");
}

/* Where a moment lies that is in no complete step. */
static void put_apart(struct buf *words, const struct steps *steps, int64_t event)
{
    const char *kind = step_kind_names[steps->kind];
    if (event > (int64_t)steps->boundary[steps->count - 1].end_event)
        buf_format(words, ", after the last complete %s", kind);
    else if (event < (int64_t)steps->boundary[0].event)
        buf_format(words, ", before the first complete %s", kind);
    else
        buf_text(words, steps->kind == STEP_PASS ? ", between complete passes"
                                                 : ", between complete steps");
}

/* "peak  9.72 GiB in backward of step 2 (event 1435), 8.42 GiB of it since the step began" */
static void put_peak(struct buf *to, const struct text_context *s)
{
    const struct phase_rows *rows = s->rows;
    const struct phase_row *row = rows->peak_row == NO_ROW ? NULL : &rows->row[rows->peak_row];
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    paint_on(&words, s->style, PAINT_BOLD);
    human_bytes(&words, rows->requested.peak_bytes);
    paint_off(&words, s->style);
    if (row == NULL)
        buf_text(&words, " before the first allocation of the recording");
    else
        buf_format(&words, " in %s", phase_names[row->phase]);
    if (row != NULL && row->step != 0)
        buf_format(&words, " of %s %u", step_kind_names[row->kind], row->step);
    else if (row != NULL && row->kind == STEP_PASS)
        buf_text(&words, ", in a pass between steps");
    else if (row != NULL && rows->steps.steps.count != 0)
        put_apart(&words, &rows->steps.steps, rows->requested.peak_event);
    if (rows->requested.peak_event >= 0)
        buf_format(&words, " (event %lld)", (long long)rows->requested.peak_event);
    if (row != NULL && row->step != 0) {
        buf_text(&words, ", ");
        human_bytes(&words, row->contribution_bytes);
        buf_format(&words, " of it since the %s began", step_kind_names[row->kind]);
    }
    envelope_words(to, s->style, "peak", &words);
    buf_end(&words, to);
}

/* The phases to show: of the step with the peak, or of what lies around it in no step; without
 * steps all. */
static const struct phase_row *choose_phases(const struct phase_rows *rows, uint32_t *count)
{
    uint32_t first = rows->peak_row == NO_ROW ? 0 : rows->peak_row, end = first;
    if (rows->rows == 0 || rows->steps.steps.count == 0) {
        *count = rows->rows;
        return rows->row;
    }
    uint32_t step = rows->row[first].step;
    while (first > 0 && rows->row[first - 1].step == step)
        first--;
    while (end < rows->rows && rows->row[end].step == step)
        end++;
    *count = end - first;
    return rows->row + first;
}

/* Without the end of its line, which is the table's. */
static void put_phases_heading(struct buf *to, const struct text_context *s)
{
    struct buf words;
    buf_init(&words, 1 << 10);
    text_wrap(&words, s->style, S("phases around the peak, in no complete step"), 0, 0);
    buf_char(to, '\n');
    if (words.len > 0)
        buf_str(to, (str){ words.at, words.len - 1 });
    buf_end(&words, to);
}

static void put_all(struct buf *to, struct text_context *s)
{
    uint32_t count;
    const struct phase_row *row = choose_phases(s->rows, &count);
    steps_lines(to, s->style, &s->rows->steps);
    put_peak(to, s);
    if (s->rows->steps.steps.count != 0)
        put_steps(to, s);
    if (count == 0)
        return;
    if (row->step != 0)
        buf_format(to, "\nphases of %s %u", step_kind_names[row->kind], row->step);
    else if (s->rows->steps.steps.count != 0)
        put_phases_heading(to, s);
    put_phases(to, s, row, count);
}

static void put_next(struct out *out, const struct device_answer *device,
                     const struct devices_answer *answer, const struct render_options *options)
{
    const struct phase_rows *rows = device->result;
    const struct style *style = &options->style;
    str path = answer->file.path;
    if (device != &answer->device[answer->devices - 1])
        return;
    next_line(&out->text, style, "next", "peak", path, "", "who held it there");
    if (rows->steps.steps.count != 0)
        next_line(&out->text, style, "", "leaks", path, "", "what grows from step to step");
}

static void put_result(struct out *out, const struct device_answer *device,
                       const struct devices_answer *answer, const struct render_options *options)
{
    struct text_context s = {
        .style = &options->style,
        .rows = device->result,
        .most = options->rows == 0 ? ROWS_DEFAULT : options->rows,
        .path = answer->file.path,
    };
    cells_init(&s.cells, s.style);
    put_all(&out->text, &s);
    cells_free(&s.cells, &out->text);
}

void steps_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    (void)several;
    static const struct device_text parts = { put_result, put_next };
    device_answer_text(out, set, options, &parts);
}
