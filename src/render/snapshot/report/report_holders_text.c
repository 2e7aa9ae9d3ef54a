/* report_holders_text.c - who held the peak, what it is made of, what is reserved beyond it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/report/findings.h"
#include "analysis/snapshot/report/report.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/name_lines.h"
#include "render/answer/place.h"
#include "render/snapshot/report/findings_sentences.h"
#include "render/snapshot/report/report_parts.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/text.h"

enum { ROWS_DEFAULT = 8, ROW_CELLS = 5, CATEGORIES_SHOWN = 5, NAMES_INDENT = 10 };

/* A category with less is not named: "0.0 %" says nothing. */
static const double SHARE_LEAST = 0.0005;

/* The rows as one more row: what the table does not show. */
struct report_row report_rest(const struct report_device *d, uint32_t shown)
{
    struct report_row rest = { .bytes = d->live_bytes, .count = d->live_count };
    for (uint32_t i = 0; i < shown; i++) {
        rest.bytes -= d->row[i].bytes;
        rest.count -= d->row[i].count;
    }
    rest.share_ratio = share_ratio(rest.bytes, d->live_bytes);
    return rest;
}

const char *report_heading(const struct report_device *d)
{
    return d->hidden_culprit.len > 0 ? "line called (owner)" : "line";
}

bool report_has_categories(const struct report_device *d)
{
    for (uint32_t i = 0; i < d->rows; i++)
        if (d->row[i].category.len > 0)
            return true;
    return false;
}

static void fill_row(struct cells *cells, const struct report_row *row, bool categories, str *cell)
{
    cell[0] = cell_known_bytes(cells, row->bytes);
    cell[1] = cell_share(cells, row->share_ratio);
    cell[2] = cell_count(cells, row->count);
    cell[3] = place_text_cell(cells, row->name);
    if (!categories)
        return;
    if (row->category.len > 0)
        category_words(&cells->text, row->category);
    else
        buf_text(&cells->text, "several");
    cell[4] = cell_end(cells);
}

static void put_rows(struct buf *to, const struct report_device *d,
                     const struct render_options *options)
{
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = most < d->rows ? most : d->rows;
    bool categories = report_has_categories(d);
    uint32_t columns = categories ? ROW_CELLS : ROW_CELLS - 1;
    /* One line for one row is better than "1 more line". */
    if (shown + 1 == d->all_rows && d->rows == d->all_rows)
        shown++;
    const struct text_column column[ROW_CELLS] = {
        { "bytes", true, false, 0, CUT_END },     { "share", true, false, 0, CUT_END },
        { "count", true, false, 0, CUT_END },     { report_heading(d), false, true, 16, CUT_END },
        { "category", false, false, 0, CUT_END },
    };
    struct cells cells;
    cells_init(&cells, &options->style);
    str *cell = cells_array(&cells, (size_t)shown * 2 + 1, columns);
    uint32_t rows = 0;
    for (uint32_t i = 0; cell != NULL && i < shown; i++) {
        fill_row(&cells, &d->row[i], categories, cell + (size_t)rows++ * columns);
        if (d->row[i].names.count == 0)
            continue;
        name_lines_put(&cells.text, &options->style, NAMES_INDENT, &d->row[i].names);
        cell_end_lines(&cells, cell + (size_t)rows++ * columns);
    }
    if (cell != NULL && shown < d->all_rows) {
        struct report_row rest = report_rest(d, shown);
        str *row = cell + (size_t)rows++ * columns;
        fill_row(&cells, &rest, false, row);
        human_counted(&cells.text, d->all_rows - shown, "more line", options->style.ascii);
        row[3] = cell_end(&cells);
        if (categories)
            row[4] = S("");
    }
    struct text_table table = { column, columns, rows, cell, 0 };
    if (cell != NULL)
        text_table(to, &options->style, &table);
    cells_free(&cells, to);
}

/* "At the peak: 22.20 GiB at event 3159" */
void report_holders_heading(struct buf *to, const struct report_device *d)
{
    buf_text(to, d->traced && d->events > 0 ? "At the peak: " : "In use at the end: ");
    report_moment_words(to, d);
}

static bool put_hidden_words(struct buf *words, const struct report_device *d, bool ascii)
{
    if (d->hidden_culprit.len == 0)
        return false;
    escape_text(words, d->hidden_culprit, ascii);
    buf_text(words, " alone holds ");
    human_share(words, d->hidden_share);
    buf_text(words, "; the lines are those of the code it calls.");
    return true;
}

bool report_made_of_words(struct buf *to, const struct report_device *d)
{
    const struct category_table *t = d->sections == NULL ? NULL : d->sections->categories;
    if (t == NULL || t->rows == 0 || (t->rows == 1 && t->row[0].category == CATEGORY_UNKNOWN))
        return false;
    uint64_t rest = t->total_bytes;
    for (uint32_t i = 0; i < t->rows && i < CATEGORIES_SHOWN; i++) {
        double share = share_ratio(t->row[i].bytes, t->total_bytes);
        if (i > 0 && share < SHARE_LEAST)
            break;
        buf_text(to, i == 0 ? "" : ", ");
        category_words(to, str_from(category_names[t->row[i].category]));
        buf_char(to, ' ');
        human_share(to, share);
        rest -= t->row[i].bytes;
    }
    if (share_ratio(rest, t->total_bytes) >= SHARE_LEAST) {
        buf_text(to, ", others ");
        human_share(to, share_ratio(rest, t->total_bytes));
    }
    return true;
}

void report_holders_text(struct buf *to, const struct report_device *d,
                         const struct render_options *options)
{
    const struct style *style = &options->style;
    struct buf words;
    if (d->all_rows == 0)
        return;
    buf_init(&words, SIZE_MAX / 2);
    buf_char(to, '\n');
    report_holders_heading(&words, d);
    paint_on(to, style, PAINT_BOLD);
    text_wrap(to, style, buf_slice(&words), 0, 2);
    paint_off(to, style);
    words.len = 0;
    if (put_hidden_words(&words, d, style->ascii)) {
        buf_text(to, "  ");
        text_wrap(to, style, buf_slice(&words), 2, 2);
    }
    put_rows(to, d, options);
    words.len = 0;
    if (report_made_of_words(&words, d)) {
        buf_text(to, "  ");
        text_wrap(to, style, buf_slice(&words), 2, 2);
    }
    words.len = 0;
    if (d->names.count > 0) {
        name_share_words(&words, &d->names, d->live_bytes);
        buf_text(to, "  ");
        text_wrap(to, style, buf_slice(&words), 2, 2);
    }
    buf_end(&words, to);
}

/* Reserved memory is more than a tenth above what is in use, at the end. */
bool report_has_gap(const struct report_device *d)
{
    const struct fragments *f = d->sections == NULL ? NULL : d->sections->fragments;
    return f != NULL && f->total.free_bytes > 0 &&
           (f->total.free_bytes > f->total.active_bytes / 10 || report_is_stranded(d->sections));
}

bool report_gap_words(struct buf *to, const struct report_device *d)
{
    if (!report_has_gap(d))
        return false;
    const struct fragment_group *all = &d->sections->fragments->total;
    human_known_bytes(to, all->free_bytes);
    buf_text(to, " are reserved and not in use at the end: ");
    human_known_bytes(to, all->returnable_bytes);
    buf_text(to, " returnable by torch.cuda.empty_cache(), ");
    human_known_bytes(to, all->stranded_bytes);
    buf_text(to, " stranded beside blocks in use");
    return true;
}

bool report_growth_words(struct buf *to, const struct report_device *d, bool ascii)
{
    const struct leak_site *site = report_growth(d);
    /* Without a failure the answer begins with it. */
    if (site == NULL || !report_ran_out(d))
        return false;
    report_growth_place(to, site, ascii);
    buf_format(to, "; allocations of %u step%s are alive: %s", (unsigned)site->generations,
               site->generations == 1 ? "" : "s", leak_class_names[site->class]);
    if (site->kind != LEAK_UNKNOWN)
        buf_format(to, " (%s)", leak_kind_names[site->kind]);
    return true;
}

void report_notes_text(struct buf *to, const struct style *style, const struct report_device *d)
{
    struct buf words;
    size_t before = to->len;
    buf_init(&words, SIZE_MAX / 2);
    buf_char(to, '\n');
    size_t empty = to->len;
    if (report_gap_words(&words, d))
        envelope_words(to, style, "Gap", &words);
    if (report_growth_words(&words, d, style->ascii))
        envelope_words(to, style, "Grows", &words);
    if (d->old_bytes > 0 && d->events > 1) {
        finding_old_text(&words, d);
        envelope_words(to, style, "Note", &words);
    }
    if (d->adjust_bytes != 0) {
        finding_adjust_text(&words, d);
        envelope_words(to, style, "Note", &words);
    }
    if (to->len == empty)
        to->len = before;
    buf_end(&words, to);
}
