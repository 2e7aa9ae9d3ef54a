/* trace_check_text.c - a trace held against limits, one line for each, for people. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/check/trace_check.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/next.h"
#include "render/trace/trace_answer.h"
#include "render/trace/trace_check_words.h"
#include "render/trace/trace_file.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum check_column { OUTCOME, NAME, VALUE, ALLOWED, EVIDENCE, COLUMNS };

static void fill_row(struct cells *cells, const struct style *style,
                     const struct trace_check_row *row, str *cell)
{
    static const enum paint paints[TRACE_OUTCOMES] = { PAINT_GOOD, PAINT_BAD, PAINT_BOLD };
    static const char *const words[TRACE_OUTCOMES] = { "PASS", "FAIL", "INCONCLUSIVE" };
    struct buf *text = &cells->text;
    paint_on(text, style, paints[row->outcome]);
    buf_text(text, words[row->outcome]);
    paint_off(text, style);
    cell[OUTCOME] = cell_end(cells);
    escape_text(text, row->name, style->ascii);
    cell[NAME] = cell_end(cells);
    trace_check_value_words(text, row);
    cell[VALUE] = cell_end(cells);
    trace_check_limit_words(text, row, style->ascii);
    cell[ALLOWED] = cell_end(cells);
    trace_check_evidence_words(text, row, style->ascii);
    cell[EVIDENCE] = cell_end(cells);
}

static void put_rows(struct buf *to, const struct style *style, const struct trace_check *check)
{
    static const struct text_column columns[COLUMNS] = {
        [OUTCOME] = { "", false, false, 0, CUT_END },
        [NAME] = { "limit", false, false, 0, CUT_END },
        [VALUE] = { "value", true, false, 0, CUT_END },
        [ALLOWED] = { "allowed", true, false, 0, CUT_END },
        [EVIDENCE] = { "evidence", false, true, 16, CUT_END },
    };
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, check->rows, COLUMNS);
    if (cell != NULL) {
        for (uint32_t i = 0; i < check->rows; i++)
            fill_row(&cells, style, &check->row[i], cell + (size_t)i * COLUMNS);
        struct text_table table = { columns, COLUMNS, check->rows, cell, 0 };
        text_table(to, style, &table);
    }
    cells_free(&cells, to);
}

static void put_file(struct buf *to, const struct style *style, const struct trace_check *check)
{
    str path = check->file.path;
    paint_on(to, style, PAINT_BOLD);
    escape_text(to, str_equal(path, S("-")) ? S("standard input") : path, style->ascii);
    paint_off(to, style);
    buf_text(to, check->file.complete ? ", profiler trace\n" : ", profiler trace, INCOMPLETE\n");
    trace_damage_text(to, style, &check->file, "event");
}

/* Which part of `trace` tells more of a limit. */
static void put_next(struct buf *to, const struct style *style, const struct trace_check *check,
                     const struct trace_check_row *row)
{
    static const struct {
        const char *options, *meaning;
    } told_by[TRACE_LIMITS] = {
        [TRACE_LIMIT_MIN_BUSY] = { " --gaps", "why the devices waited" },
        [TRACE_LIMIT_MAX_IDLE] = { " --gaps", "why the devices waited" },
        [TRACE_LIMIT_MAX_STEP] = { " --steps", "each step" },
        [TRACE_LIMIT_MAX_MEMORY_PEAK] = { " --memory", "what the allocators had in use" },
    };
    next_line(to, style, "next", "trace", check->file.path, told_by[row->kind].options,
              told_by[row->kind].meaning);
}

/* The command that tells more of the first limit that is exceeded. */
static void put_first_failure(struct buf *to, const struct style *style,
                              const struct trace_check *checks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < checks[i].rows; k++)
            if (checks[i].row[k].outcome == TRACE_FAIL) {
                put_next(to, style, &checks[i], &checks[i].row[k]);
                return;
            }
}

void trace_check_text(struct out *out, const struct answer_set *set, bool several,
                      const struct render_options *options)
{
    const struct trace_check *checks = set->answers;
    (void)several;
    for (uint32_t i = 0; i < set->count; i++) {
        put_file(&out->text, &options->style, &checks[i]);
        put_rows(&out->text, &options->style, &checks[i]);
        buf_char(&out->text, '\n');
        out_flush(out, OUT_ENOUGH);
    }
    trace_check_tally_words(&out->text, set);
    buf_char(&out->text, '\n');
    put_first_failure(&out->text, &options->style, checks, set->count);
}
