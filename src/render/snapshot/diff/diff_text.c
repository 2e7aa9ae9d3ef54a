/* diff_text.c - what changed, for a person: the sum, then the rows that explain most of it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "render/answer/answer.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/next.h"
#include "render/answer/place.h"
#include "render/answer/stack_lines.h"
#include "render/snapshot/diff/diff_answer.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

enum {
    ROWS_DEFAULT = 20,
    PARTS_SHOWN = 5,
    WIDE = 110,
    OWNERS_LOOKED_AT = 400 /* rows, each compared with the others */
};

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    const struct diff_answer *answer;
    const struct diff_device *device;
    const struct diff *diff; /* of it; NULL: not compared */
    struct cells *cells;
    bool stacks;
    struct stack_lines *lines;
};

static void put_figure(struct buf *to, const struct text_context *s, int64_t figure)
{
    if (s->diff->weight == DIFF_ALLOCS) {
        buf_text(to, figure < 0 ? "-" : "");
        human_count(to, figure < 0 ? 0 - (uint64_t)figure : (uint64_t)figure, s->style->ascii);
    } else {
        human_bytes(to, figure);
    }
}

static void put_change(struct buf *to, const struct text_context *s, int64_t figure)
{
    buf_text(to, figure > 0 ? "+" : "");
    put_figure(to, s, figure);
}

/* Of the figure that the weight is about. */
static int64_t change_of(const struct diff *d, const struct diff_delta *delta)
{
    return d->weight == DIFF_ALLOCS        ? delta->count
           : d->weight == DIFF_BYTE_EVENTS ? delta->byte_events
                                           : delta->bytes;
}

static str change_cell(const struct text_context *s, int64_t change)
{
    put_change(&s->cells->text, s, change);
    return cell_end(s->cells);
}

static str figure_cell(const struct text_context *s, const struct diff_amount *of)
{
    if (of->count == 0)
        return S("-");
    put_figure(&s->cells->text, s, (int64_t)diff_figure(s->diff->weight, of));
    return cell_end(s->cells);
}

static str counts_cell(const struct text_context *s, int64_t change)
{
    buf_text(&s->cells->text, change > 0 ? "+" : change < 0 ? "-" : "");
    return cell_count(s->cells, change < 0 ? 0 - (uint64_t)change : (uint64_t)change);
}

static str score_cell(const struct text_context *s, const struct diff_row *row)
{
    if (row->score >= 1000000)
        return S("1.00");
    buf_format(&s->cells->text, "0.%02u", (unsigned)(row->score / 10000));
    return cell_end(s->cells);
}

/* What more there is to say of a row; may be empty. */
static str remark_cell(const struct text_context *s, const struct diff_row *row)
{
    struct buf *text = &s->cells->text;
    bool ascii = s->style->ascii;
    if (row->old_name.ptr != NULL) {
        buf_text(text, "was ");
        escape_text(text, row->old_name, ascii);
    } else if (row->change == DIFF_NEW || row->change == DIFF_GONE) {
        buf_text(text, diff_change_names[row->change]);
        if (row->caller.ptr != NULL) {
            buf_text(text, ", under ");
            escape_text(text, row->caller, ascii);
        }
    }
    return cell_end(s->cells);
}

/* Where rows share all that their lines say: where below or above that they differ. */
static void put_apart(const struct text_context *s, const struct diff_row *row)
{
    struct buf *text = &s->cells->text;
    bool above = row->called_from_differs && row->called_from.ptr != NULL;
    if (!row->operator_shared ||
        (!above && !(row->innermost_differs && row->innermost.ptr != NULL)))
        return;
    struct buf words;
    buf_init(&words, 1 << 12);
    buf_text(&words, above ? "called from " : "at ");
    escape_text(&words, above ? row->called_from : row->innermost, s->style->ascii);
    buf_repeat(text, S(" "), STACK_INDENT);
    text_wrap(text, s->style, buf_slice(&words), STACK_INDENT, STACK_INDENT);
    buf_end(&words, text);
}

/* Lines under a row: the remark where the table has no column for it, and the stacks.  False where
 * there are none. */
static bool fill_lines(const struct text_context *s, const struct diff_row *row, bool wide,
                       str *cell)
{
    struct buf *text = &s->cells->text;
    str remark = wide ? S("") : remark_cell(s, row);
    if (remark.len != 0 && (row->change == DIFF_MOVED || s->stacks)) {
        buf_repeat(text, S(" "), STACK_INDENT);
        text_wrap(text, s->style, remark, STACK_INDENT, STACK_INDENT);
    }
    if (!s->stacks)
        put_apart(s, row);
    if (s->stacks && row->has_stack[0])
        stack_lines_put(text, s->lines, row->stack[0], row->same_stack ? "" : "A ");
    if (s->stacks && row->has_stack[1] && !row->same_stack)
        stack_lines_put(text, s->lines, row->stack[1], "B ");
    if (text->len == 0)
        return false;
    cell_end_lines(s->cells, cell);
    return true;
}

/* Whether a row goes by its owner: a line that other rows have, too, and that hides it. */
static bool goes_by_owner(const struct diff_row *row)
{
    return row->name_shared && row->owner.ptr != NULL && !str_equal(row->owner, row->name);
}

/* "modeling_llama.py:93 forward: mul" of a row whose line others have, too. */
static str line_cell(const struct text_context *s, const struct diff_row *row)
{
    struct buf *text = &s->cells->text;
    escape_text(text, goes_by_owner(row) ? row->owner : row->name, s->style->ascii);
    if (row->owner_shared && row->operator_name.ptr != NULL) {
        buf_text(text, ": ");
        escape_text(text, row->operator_name, s->style->ascii);
    }
    return cell_end(s->cells);
}

enum diff_column { CHANGE, FIGURE_A, FIGURE_B, COUNT, SCORE, LINE, REMARK, COLUMNS };

static const struct shown_column all_columns[COLUMNS] = {
    [CHANGE] = { COMPOSED("change", true), 0 },
    [FIGURE_A] = { COMPOSED("A", true), 0 },
    [FIGURE_B] = { COMPOSED("B", true), 0 },
    [COUNT] = { SHOWN(diff_row_type, struct diff_row, delta.count), 0 },
    [SCORE] = { SHOWN(diff_row_type, struct diff_row, score_ratio), 0 },
    [LINE] = { COMPOSED("line", false), 20 },
    [REMARK] = { COMPOSED("remark", false), 16 },
};

static str row_cell(const struct text_context *s, const struct diff_row *row,
                    enum diff_column column)
{
    switch (column) {
    case CHANGE:
        return change_cell(s, change_of(s->diff, &row->delta));
    case FIGURE_A:
        return figure_cell(s, &row->of[0]);
    case FIGURE_B:
        return figure_cell(s, &row->of[1]);
    case COUNT:
        return counts_cell(s, row->delta.count);
    case SCORE:
        return score_cell(s, row);
    case REMARK:
        return remark_cell(s, row);
    case LINE:
    case COLUMNS:
        break;
    }
    return line_cell(s, row);
}

/* Groups of rows --------------------------------------------------------------------------- */

enum group { GROUP_UP, GROUP_DOWN, GROUP_MOVED, GROUPS, GROUP_NONE };

static enum group group_of(const struct diff_row *row)
{
    switch (row->change) {
    case DIFF_GROWN:
    case DIFF_NEW:
        return GROUP_UP;
    case DIFF_SHRUNK:
    case DIFF_GONE:
        return GROUP_DOWN;
    case DIFF_MOVED:
        return GROUP_MOVED;
    case DIFF_SAME:
    case DIFF_CHANGES:
        break;
    }
    return GROUP_NONE;
}

/* Words on lines of their own, which they end. */
static void put_lines(struct buf *to, const struct text_context *s, struct buf *words)
{
    text_wrap(to, s->style, buf_slice(words), 0, 0);
    words->len = 0;
}

static void put_group_heading(struct buf *to, const struct text_context *s, enum group group)
{
    static const char *const words[GROUPS] = { "Grown and new", "Shrunk and gone",
                                               "Moved: alike, not equal" };
    const struct diff *d = s->diff;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->rows; i++)
        if (group_of(&d->row[i]) == group)
            sum += (uint64_t)change_of(d, &d->row[i].delta);
    struct buf line;
    buf_init(&line, 1 << 10);
    paint_on(&line, s->style, PAINT_BOLD);
    buf_text(&line, words[group]);
    paint_off(&line, s->style);
    buf_text(&line, ": ");
    put_change(&line, s, (int64_t)sum);
    buf_char(to, '\n');
    put_lines(to, s, &line);
    buf_end(&line, to);
}

static uint32_t fill_group(const struct text_context *s, enum group group, uint32_t shown,
                           const enum diff_column *column, uint32_t columns, str *cell)
{
    const struct diff *d = s->diff;
    bool wide = column[columns - 1] == REMARK;
    uint32_t rows = 0;
    for (uint32_t i = 0, seen = 0; i < d->rows && seen < shown; i++) {
        const struct diff_row *row = &d->row[i];
        seen += group_of(row) != GROUP_NONE;
        if (group_of(row) != group)
            continue;
        str *at = cell + (size_t)rows++ * columns;
        for (uint32_t k = 0; k < columns; k++)
            at[k] = row_cell(s, row, column[k]);
        rows += fill_lines(s, row, wide, cell + (size_t)rows * columns);
    }
    return rows;
}

static void put_group(struct buf *to, const struct text_context *s, enum group group,
                      uint32_t shown)
{
    const enum diff_column column[] = { CHANGE,   FIGURE_A,
                                        FIGURE_B, group == GROUP_MOVED ? SCORE : COUNT,
                                        LINE,     REMARK };
    enum { MOST = sizeof column / sizeof *column };
    struct text_column heading[MOST];
    uint32_t columns = s->style->width >= WIDE ? MOST : MOST - 1;
    for (uint32_t k = 0; k < columns; k++) {
        heading[k] = shown_heading(&all_columns[column[k]]);
        if (column[k] == LINE && s->diff->by != DIFF_STACKS)
            heading[k].heading = diff_by_names[s->diff->by];
    }
    str *cell = cells_array(s->cells, (size_t)shown * 2, columns);
    if (cell == NULL)
        return;
    uint32_t rows = fill_group(s, group, shown, column, columns, cell);
    if (rows == 0)
        return;
    put_group_heading(to, s, group);
    struct text_table table = { heading, columns, rows, cell, 0 };
    text_table(to, s->style, &table);
}

/* What the tables leave out. */
static void put_rest(struct buf *to, const struct text_context *s, uint32_t most)
{
    const struct diff *d = s->diff;
    uint64_t same = 0, same_figure = 0, other = 0, other_change = 0, changed = 0;
    for (uint32_t i = 0; i < d->rows; i++) {
        const struct diff_row *row = &d->row[i];
        if (group_of(row) == GROUP_NONE) {
            same++;
            same_figure += diff_figure(d->weight, &row->of[1]);
        } else if (changed++ >= most) {
            other++;
            other_change += (uint64_t)change_of(d, &row->delta);
        }
    }
    if (other + same > 0)
        buf_char(to, '\n');
    struct buf words;
    buf_init(&words, 1 << 10);
    if (other > 0) {
        human_counted(&words, other, "more row", s->style->ascii);
        buf_text(&words, ": ");
        put_change(&words, s, (int64_t)other_change);
        put_lines(to, s, &words);
    }
    if (same > 0) {
        human_counted(&words, same, "row", s->style->ascii);
        buf_text(&words, ": no change, ");
        put_figure(&words, s, (int64_t)same_figure);
        put_lines(to, s, &words);
    }
    buf_end(&words, to);
}

/* The head of a device --------------------------------------------------------------------- */

static void put_moment(struct buf *to, const struct text_context *s, int side)
{
    const struct diff_end *end = &s->diff->end[side];
    buf_text(to, side == 0 ? "A " : "B ");
    if (!end->traced) {
        buf_text(to, "in its final state");
        return;
    }
    if (s->diff->weight != DIFF_LIVE)
        buf_text(to, "up to ");
    else if (end->at_peak)
        buf_text(to, "at its peak, ");
    else
        buf_text(to, "at ");
    if (end->at_event < 0)
        buf_text(to, "the start");
    else
        buf_format(to, "event %lld", (long long)end->at_event);
}

static const char *weight_words(enum diff_weight weight)
{
    static const char *const words[DIFF_WEIGHTS] = { "in use", "allocated in total", "allocs",
                                                     "in bytes times events" };
    return words[weight];
}

/* Which devices at which moments, or why they are not compared. */
static void put_heading(struct buf *to, const struct text_context *s)
{
    const struct diff_device *d = s->device;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    paint_on(&words, s->style, PAINT_BOLD);
    envelope_device_text(&words, d->name[0]);
    if (d->there[0] && d->there[1] && d->name[0].number != d->name[1].number)
        buf_format(&words, " of A, %u of B", (unsigned)d->name[1].number);
    paint_off(&words, s->style);
    buf_text(&words, ": ");
    if (s->diff != NULL) {
        put_moment(&words, s, 0);
        buf_text(&words, "; ");
        put_moment(&words, s, 1);
    } else {
        escape_text(&words, d->reason[d->reasons - 1].text, s->style->ascii);
    }
    buf_char(to, '\n');
    text_wrap(to, s->style, buf_slice(&words), 0, 0);
    buf_end(&words, to);
}

static void put_total_words(struct buf *to, const struct text_context *s)
{
    const struct diff *d = s->diff;
    /* What is in use is the curve, as all verbs tell it: rows and adjust add up to it. */
    uint64_t a = diff_figure(d->weight, &d->end[0].total) + (uint64_t)d->end[0].adjust_bytes;
    uint64_t b = diff_figure(d->weight, &d->end[1].total) + (uint64_t)d->end[1].adjust_bytes;
    paint_on(to, s->style, PAINT_BOLD);
    put_change(to, s, (int64_t)(b - a));
    paint_off(to, s->style);
    buf_text(to, ": ");
    put_figure(to, s, (int64_t)a);
    buf_text(to, " to ");
    put_figure(to, s, (int64_t)b);
    buf_format(to, " %s", weight_words(d->weight));
    if (a != 0 && (int64_t)a > 0) {
        buf_text(to, b >= a ? " (+" : " (-");
        human_share(to, (double)(b >= a ? b - a : a - b) / (double)a);
        buf_text(to, " of A)");
    }
    if (d->weight != DIFF_ALLOCS && d->total.count == 0) {
        buf_text(to, ", as many allocations");
    } else if (d->weight != DIFF_ALLOCS) {
        str count = counts_cell(s, d->total.count);
        buf_text(to, ", ");
        buf_str(to, count);
        bool one = d->total.count == 1 || d->total.count == -1;
        buf_text(to, one ? " allocation" : " allocations");
    }
}

static void put_total(struct buf *to, const struct text_context *s)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    put_total_words(&words, s);
    text_wrap(to, s->style, buf_slice(&words), 0, 0);
    buf_end(&words, to);
}

static void put_allocator(struct buf *to, const struct text_context *s)
{
    const struct diff_allocator *a = &s->diff->allocator;
    struct buf words;
    buf_init(&words, 1 << 10);
    buf_text(&words, a->reserved_bytes > 0 ? "+" : "");
    human_bytes(&words, a->reserved_bytes);
    if (a->slack_known) {
        buf_text(&words, a->slack_bytes > 0 ? ", slack in blocks +" : ", slack in blocks ");
        human_bytes(&words, a->slack_bytes);
    }
    if (a->stranded_known) {
        buf_text(&words, a->stranded_bytes > 0 ? ", stranded +" : ", stranded ");
        human_bytes(&words, a->stranded_bytes);
    }
    envelope_words(to, s->style, "reserved", &words);
    buf_end(&words, to);
}

/* "parameter +1.00 GiB, gradient -3.00 MiB": the parts that changed most. */
static void put_parts(struct buf *to, const struct text_context *s, const char *label,
                      const struct diff_table *table)
{
    const struct diff *d = s->diff;
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t i = 0; i < table->count && i < PARTS_SHOWN; i++) {
        const struct diff_part *part = &table->at[i];
        int64_t change = change_of(d, &part->delta);
        if (change == 0)
            break;
        buf_text(&words, i == 0 ? "" : ", ");
        category_words(&words, part->name);
        buf_char(&words, ' ');
        put_change(&words, s, change);
    }
    if (words.len != 0)
        envelope_words(to, s->style, label, &words);
    buf_end(&words, to);
}

static void put_note(struct buf *to, const struct text_context *s, const char *label, str text)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    escape_text(&words, text, s->style->ascii);
    envelope_words(to, s->style, label, &words);
    buf_end(&words, to);
}

static void put_per(struct buf *to, const struct text_context *s)
{
    const struct diff *d = s->diff;
    struct buf words;
    if (d->per == DIFF_PER_NOTHING)
        return;
    buf_init(&words, SIZE_MAX / 2);
    if (d->per == DIFF_PER_STEP)
        buf_format(&words,
                   "%llu steps in A, %llu in B: rows are sorted by their change per step "
                   "(delta_per in --json)",
                   (unsigned long long)d->end[0].per, (unsigned long long)d->end[1].per);
    else
        buf_text(&words,
                 "rows are sorted by their change per byte of parameters (delta_per in --json)");
    envelope_words(to, s->style, "per", &words);
    buf_end(&words, to);
}

/* The line that stands above most of the rows that go by their owners. */
static const struct diff_row *hidden_most(const struct diff *d, uint32_t most, uint32_t *ret_rows)
{
    const struct diff_row *found = NULL;
    *ret_rows = 0;
    for (uint32_t i = 0; i < most; i++) {
        uint32_t rows = 0;
        if (!goes_by_owner(&d->row[i]) || group_of(&d->row[i]) == GROUP_NONE)
            continue;
        for (uint32_t k = i; k < most; k++)
            rows += goes_by_owner(&d->row[k]) && group_of(&d->row[k]) != GROUP_NONE &&
                    str_equal(d->row[k].name, d->row[i].name);
        if (rows > *ret_rows) {
            *ret_rows = rows;
            found = &d->row[i];
        }
    }
    return found;
}

/* Why lines of a library stand among those of the user. */
static void put_owners(struct buf *to, const struct text_context *s, uint32_t most)
{
    uint32_t rows = 0;
    const struct diff_row *row =
        hidden_most(s->diff, most < OWNERS_LOOKED_AT ? most : OWNERS_LOOKED_AT, &rows);
    struct buf words;
    if (row == NULL)
        return;
    buf_init(&words, SIZE_MAX / 2);
    human_counted(&words, rows, "row", s->style->ascii);
    buf_text(&words, rows == 1 ? " is" : " are");
    buf_text(&words, " of ");
    escape_text(&words, row->name, s->style->ascii);
    buf_text(&words, rows == 1 ? " and goes" : " and go");
    buf_text(&words, " by the line of the library under it (--by culprit adds them up)");
    envelope_words(to, s->style, "owners", &words);
    buf_end(&words, to);
}

static void put_matched(struct buf *to, const struct text_context *s)
{
    const struct diff *d = s->diff;
    if (d->matched_ratio[0] < 0 || d->matched_ratio[1] < 0)
        return;
    struct buf words;
    buf_init(&words, 1 << 10);
    human_share(&words, d->matched_ratio[0]);
    buf_text(&words, " of A with ");
    human_share(&words, d->matched_ratio[1]);
    buf_text(&words, " of B");
    envelope_words(to, s->style, "matched", &words);
    buf_end(&words, to);
}

static void put_limit(struct buf *to, const struct text_context *s)
{
    const struct diff_limit *limit = &s->diff->limit;
    if (!limit->set)
        return;
    envelope_label(to, s->style, "limit");
    paint_on(to, s->style, limit->exceeded ? PAINT_BAD : PAINT_GOOD);
    buf_text(to, limit->exceeded ? "exceeded" : "kept");
    paint_off(to, s->style);
    buf_text(to, ": at most ");
    if (limit->is_ratio)
        human_share(to, limit->ratio);
    else
        human_known_bytes(to, limit->bytes);
    buf_text(to, " above A\n");
}

static void put_next(struct buf *to, const struct text_context *s)
{
    const struct diff *d = s->diff;
    uint64_t a = d->end[0].total.bytes, b = d->end[1].total.bytes;
    int side = b >= a ? 1 : 0;
    if (d->weight != DIFF_LIVE || d->end[side].at_event < 0)
        return;
    char options[80] = " --stacks";
    size_t len = strlen(options);
    if (!d->end[side].at_peak)
        len += (size_t)snprintf(options + len, sizeof options - len, " --at %lld",
                                (long long)d->end[side].at_event);
    if (s->answer->devices > 1 || s->style->device > 0)
        snprintf(options + len, sizeof options - len, " --device %u",
                 (unsigned)s->device->name[side].number);
    buf_char(to, '\n');
    next_line(to, s->style, "next", "peak", s->answer->file[side].path, options,
              side == 0 ? "who held it in A" : "who holds it in B");
}

/* Where a file contradicts itself, its rows do not add up to its curve. */
static void put_adjust(struct buf *to, const struct text_context *s)
{
    const struct diff_end *end = s->diff->end;
    struct buf words;
    if (end[0].adjust_bytes == 0 && end[1].adjust_bytes == 0)
        return;
    buf_init(&words, 256);
    for (int side = 0; side < 2; side++) {
        buf_text(&words, side == 0 ? "A: " : "; B: ");
        human_bytes(&words, end[side].adjust_bytes);
    }
    buf_text(&words, " must be added to the rows to give what is in use: the file contradicts "
                     "itself");
    envelope_words(to, s->style, "adjust", &words);
    buf_end(&words, to);
}

/* One line for both; `report` has all of it. */
static void put_trust(struct buf *to, const struct text_context *s)
{
    struct buf words;
    buf_init(&words, 256);
    for (int side = 0; side < 2; side++) {
        const struct trust *trust = &s->device->trust[side];
        buf_format(&words, "%s: grade %c, ", side == 0 ? "A" : "; B", trust->grade);
        for (const char *at = trust_window_names[trust->window]; *at != '\0'; at++)
            if (*at == '_')
                buf_char(&words, ' ');
            else
                buf_char(&words, *at);
    }
    buf_text(&words, " (vramscope report says why)");
    envelope_words(to, s->style, "trust", &words);
    buf_end(&words, to);
}

static void put_compared(struct out *out, const struct text_context *s,
                         const struct render_options *options)
{
    struct buf *to = &out->text;
    const struct diff *d = s->diff;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    most = most > d->rows ? d->rows : most;
    put_total(to, s);
    put_trust(to, s);
    put_adjust(to, s);
    for (uint32_t i = 0; i < s->device->reasons; i++)
        put_note(to, s, i == 0 ? "note" : "", s->device->reason[i].text);
    if (d->python_only)
        put_note(to, s, "note",
                 S("only one recording has native frames: only Python frames are compared"));
    put_limit(to, s);
    put_allocator(to, s);
    put_per(to, s);
    put_parts(to, s, "by kind", &d->by_category);
    put_parts(to, s, "by phase", &d->by_phase);
    put_matched(to, s);
    put_owners(to, s, most);
    for (int group = 0; group < GROUPS; group++)
        put_group(to, s, (enum group)group, most);
    put_rest(to, s, most);
    stack_lines_end(to, s->lines, s->style);
    put_next(to, s);
}

static void put_file(struct buf *to, const struct style *style, const char *side,
                     const struct file_facts *file, uint32_t devices)
{
    struct style narrow = *style;
    narrow.width -= (uint32_t)strlen(side);
    buf_text(to, side);
    envelope_file_text(to, &narrow, file, devices, '\0');
}

void diff_text(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options)
{
    (void)several; /* comparisons are not joined */
    const struct diff_answer *answer = &set->diff[0];
    struct buf *to = &out->text;
    struct cells cells;
    cells_init(&cells, &options->style);
    put_file(to, &options->style, "A: ", &answer->file[0], answer->devices);
    put_file(to, &options->style, "B: ", &answer->file[1], answer->devices);
    if (answer->devices == 0)
        envelope_nothing_text(to, &options->style);
    for (uint32_t i = 0; i < answer->devices; i++) {
        struct arena_mark mark = arena_mark(&cells.arena);
        const struct diff_device *device = &answer->device[i];
        struct stack_lines lines = { &answer->stacks, options->all_frames, options->style.ascii,
                                     0 };
        struct text_context s = { &options->style, answer,          device, device->result,
                                  &cells,          options->stacks, &lines };
        put_heading(to, &s);
        if (s.diff != NULL)
            put_compared(out, &s, options);
        out_flush(out, OUT_ENOUGH);
        arena_release(&cells.arena, mark);
    }
    cells_free(&cells, to);
}
