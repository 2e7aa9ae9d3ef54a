/* check_text.c - one line for each limit, with what exceeds it under it, for people. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/next.h"
#include "render/snapshot/check/check_sentences.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum { LINES_MOST = 2 + CHECK_SITES + CHECK_DIFF_ROWS, NAME_LEAST = 24, UNDER = 6 };

enum check_column { OUTCOME, NAME, VALUE, ALLOWED, EVIDENCE, COLUMNS };

/* The last column is left out where a line has no room for it. */
static const struct shown_column columns[COLUMNS] = {
    [OUTCOME] = { COMPOSED("", false), 0 },
    [NAME] = { SHOWN(check_row_type, struct check_row, name), NAME_LEAST },
    [VALUE] = { COMPOSED("value", true), 0 },
    [ALLOWED] = { COMPOSED("allowed", true), 0 },
    [EVIDENCE] = { COMPOSED("evidence", false), 0 },
};

/* What is put together for one device, row by row. */
struct text_context {
    const struct style *style;
    struct cells cells;
    str *cell;
    uint32_t columns, rows;
};

static void put_outcome(struct text_context *s, const struct check_row *row, str *cell)
{
    static const enum paint paints[] = { PAINT_GOOD, PAINT_BAD, PAINT_BOLD };
    struct buf *text = &s->cells.text;
    paint_on(text, s->style, paints[row->outcome]);
    buf_text(text, check_outcome_words[row->outcome]);
    paint_off(text, s->style);
    *cell = cell_end(&s->cells);
}

/* Words under a row, on a line where it is wide enough. */
static void end_line(struct text_context *s)
{
    struct buf *text = &s->cells.text, line;
    buf_init(&line, SIZE_MAX / 2);
    buf_repeat(&line, S(" "), UNDER);
    if (UNDER + escape_width(buf_slice(text)) <= s->style->width)
        buf_str(&line, buf_slice(text));
    else
        text_wrap(&line, s->style, buf_slice(text), UNDER, UNDER);
    text->len = 0;
    buf_str(text, buf_slice(&line));
    buf_end(&line, text);
    cell_end_lines(&s->cells, s->cell + (size_t)s->rows++ * s->columns);
}

static void put_under(struct text_context *s, const struct check_row *row)
{
    for (uint32_t i = 0; i < check_sites_shown(row); i++) {
        check_site_words(&s->cells.text, &row->site[i], s->style->ascii);
        end_line(s);
    }
    for (uint32_t i = 0; i < row->diffs; i++) {
        check_diff_words(&s->cells.text, &row->diff[i], s->style->ascii);
        end_line(s);
    }
}

/* Where its column is left out the evidence stands on a line of its own. */
static void put_row(struct text_context *s, const struct check_row *row)
{
    str *cell = s->cell + (size_t)s->rows++ * s->columns;
    struct buf *text = &s->cells.text;
    put_outcome(s, row, &cell[OUTCOME]);
    cell[NAME] = shown_cell(&s->cells, &columns[NAME], row);
    check_value_words(text, row);
    cell[VALUE] = cell_end(&s->cells);
    check_limit_words(text, row);
    cell[ALLOWED] = cell_end(&s->cells);
    bool beside = s->columns == COLUMNS;
    check_evidence_words(text, row);
    bool any = text->len > 0;
    if (beside)
        cell[EVIDENCE] = any ? cell_end(&s->cells) : S("-");
    else if (any)
        end_line(s);
    text->len = 0;
    put_under(s, row);
}

static void put_rows(struct text_context *s, const struct check *check, uint32_t count)
{
    s->columns = count;
    s->rows = 0;
    for (uint32_t i = 0; i < check->rows; i++)
        put_row(s, &check->row[i]);
}

static void put_table(struct buf *to, const struct style *style, const struct check *check)
{
    struct text_context s = { .style = style };
    struct text_column column[COLUMNS];
    struct text_table table = { 0 };
    cells_init(&s.cells, style);
    for (int i = 0; i < COLUMNS; i++)
        column[i] = shown_heading(&columns[i]);
    for (uint32_t count = COLUMNS; count >= COLUMNS - 1; count--) {
        s.cell = cells_array(&s.cells, (size_t)check->rows * LINES_MOST, count);
        if (s.cell == NULL)
            break;
        put_rows(&s, check, count);
        table = (struct text_table){ column, count, s.rows, s.cell, 0 };
        if (s.cells.text.failed || text_table_width(&table) <= style->width)
            break;
    }
    if (!s.cells.text.failed)
        text_table(to, style, &table);
    cells_free(&s.cells, to);
}

static void put_device(struct buf *to, const struct style *style,
                       const struct devices_answer *answer, const struct device_answer *device)
{
    const struct check *check = device->result;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    paint_on(&words, style, PAINT_BOLD);
    check_place_words(&words, answer, device, style->ascii);
    paint_off(&words, style);
    buf_format(&words, ", trust %c%s", device->trust.grade,
               answer->file.origin.complete ? "" : ", INCOMPLETE");
    text_wrap(to, style, buf_slice(&words), 0, 0);
    words.len = 0;
    if (device->trust.grade > 'B')
        envelope_trust_text(to, style, &device->trust);
    if (check != NULL && check->rows > 0) {
        put_table(to, style, check);
        buf_end(&words, to);
        return;
    }
    for (uint32_t i = 0; i < device->reasons; i++) {
        escape_text(&words, device->reason[i].text, style->ascii);
        text_wrap(to, style, buf_slice(&words), 0, 0);
        words.len = 0;
    }
    if (check != NULL)
        buf_text(to, "no limit is for this device\n");
    buf_end(&words, to);
}

/* Which verb tells more of a limit; others are told more by who was alive. */
static const struct {
    const char *verb, *meaning;
} told_by[LIMIT_KINDS] = {
    [LIMIT_GROWTH] = { "leaks", "what grows, and where from" },
    [LIMIT_STRANDED] = { "fragments", "the blocks that pin it" },
    [LIMIT_CATEGORY] = { "categories", "all of them, with the rules" },
    [LIMIT_OOM] = { "oom", "why the request failed" },
};

/* The command that tells more of the first limit that is exceeded. */
static void put_next(struct buf *to, const struct style *style, const struct devices_answer *answer,
                     const struct device_answer *device, const struct check_row *row)
{
    const struct check *check = device->result;
    const char *verb = told_by[row->kind].verb, *meaning = told_by[row->kind].meaning;
    char options[80] = "";
    int len = 0;
    if (verb == NULL && row->event != CHECK_NO_EVENT && row->event >= 0)
        len = snprintf(options, sizeof options, " --at %lld", (long long)row->event);
    if (answer->devices > 1)
        snprintf(options + len, sizeof options - (size_t)len, " --device %u",
                 (unsigned)device->name.number);
    next_line(to, style, "next", verb == NULL ? "peak" : verb,
              check->path_cut ? S("FILE") : answer->file.path, options,
              verb == NULL ? "who held the memory" : meaning);
}

static void put_first_failure(struct buf *to, const struct style *style,
                              const struct answer_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct check *check = set->study[i].device[k].result;
            uint32_t row = 0;
            while (check != NULL && row < check->rows && check->row[row].outcome != CHECK_FAIL)
                row++;
            if (check == NULL || row == check->rows)
                continue;
            put_next(to, style, &set->study[i], &set->study[i].device[k], &check->row[row]);
            return;
        }
}

void check_text(struct out *out, const struct answer_set *set, bool several,
                const struct render_options *options)
{
    struct buf *to = &out->text;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct devices_answer *answer = &set->study[i];
        for (uint32_t k = 0; k < answer->devices; k++) {
            put_device(to, &options->style, answer, &answer->device[k]);
            buf_char(to, '\n');
            out_flush(out, OUT_ENOUGH);
        }
        if (answer->devices > 0)
            continue;
        envelope_name(to, &options->style, &answer->file);
        buf_text(to, answer->unread.ptr != NULL ? "\nNOT READ  " : "\nINCONCLUSIVE  ");
        escape_text(to, check_empty_words(answer), options->style.ascii);
        buf_text(to, "\n\n");
    }
    struct check_tally tally = check_tally_of(set);
    struct buf words;
    buf_init(&words, 1 << 10);
    check_tally_words(&words, &tally);
    text_wrap(to, &options->style, buf_slice(&words), 0, 0);
    buf_end(&words, to);
    put_first_failure(to, &options->style, set);
}
