/* peak_text.c - who held the memory, as a table. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/breakdown/peak_moment.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/answer/device_pages.h"
#include "render/answer/envelope.h"
#include "render/answer/fields.h"
#include "render/answer/name_lines.h"
#include "render/answer/place.h"
#include "render/answer/stack_lines.h"
#include "render/snapshot/peak/peak_lines.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"
#include "render/write/human.h"
#include "render/write/out.h"
#include "render/write/text.h"

/* By name, counts give their room to long names below NAME_WIDTH. */
enum { ROWS_DEFAULT = 20, OWNER_WIDTH = 100, NAME_WIDTH = 120, OWNER_FIGURE = 11 };

/* A row that holds so much of what is alive shows the owners that it hides. */
#define HIDES_MUCH 0.1

enum peak_column { BYTES, SHARE, COUNT, LARGEST, NAME, TENSOR, OWNER, COLUMNS };

/* The name's heading is what rows are grouped by; a tensor's type stands beside names alone. */
static const struct shown_column all_columns[COLUMNS] = {
    [BYTES] = { SHOWN(peak_row_type, struct peak_row, bytes), 0 },
    [SHARE] = { SHOWN(peak_row_type, struct peak_row, share_ratio), 0 },
    [COUNT] = { SHOWN(peak_row_type, struct peak_row, count), 0 },
    [LARGEST] = { SHOWN(peak_row_type, struct peak_row, largest_bytes), 0 },
    [NAME] = { COMPOSED(NULL, false), 16 },
    [TENSOR] = { COMPOSED("dtype and shape", false), 24 },
    [OWNER] = { SHOWN(peak_row_type, struct peak_row, owner), 16 },
};

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    struct cells *cells;
    struct stack_lines stacks;
    bool wanted; /* stacks under the rows */
    const struct peak *peak;
    uint32_t hidden; /* bits of its columns */
};

/* "512.00 MiB (536870912)": several sizes may read alike. */
static str size_cell(const struct text_context *s, str name)
{
    uint64_t bytes;
    bool negative;
    if (!number_integer(name, &bytes, &negative) || negative || bytes > INT64_MAX)
        return cell_text(s->cells, name);
    human_bytes(&s->cells->text, (int64_t)bytes);
    buf_format(&s->cells->text, " (%llu)", (unsigned long long)bytes);
    return cell_end(s->cells);
}

static str name_cell(const struct text_context *s, const struct peak_row *row)
{
    if (s->peak->by == BY_SIZE)
        return size_cell(s, row->name);
    return row->named ? cell_text(s->cells, row->name) : place_text_cell(s->cells, row->name);
}

/* "bf16 4096 x 11008", where that is so of all that the row has. */
static str tensor_cell(const struct text_context *s, const struct peak_row *row)
{
    if (row->named && row->names.alike)
        name_type_words(&s->cells->text, &row->names.at[0], s->style->ascii);
    return cell_end(s->cells);
}

static bool row_cell(void *arg, const void *from, uint32_t column, str *ret)
{
    const struct text_context *s = arg;
    const struct peak_row *row = from;
    if (column == NAME)
        *ret = name_cell(s, row);
    else if (column == TENSOR)
        *ret = tensor_cell(s, row);
    else if (column == OWNER && row->owner.ptr == NULL)
        *ret = S("(several)");
    else if (column == OWNER && str_equal(row->owner, row->name))
        *ret = S("");
    else
        return false;
    return true;
}

/* "12 of 500.00 MiB, 3 of 1.00 GiB, 40 in 7 more" under the row that they are of. */
static void put_sizes(struct buf *to, const struct text_context *s, const struct peak_row *row)
{
    struct buf words;
    uint64_t rest = row->count;
    buf_init(&words, 1 << 12);
    buf_text(&words, "sizes: ");
    for (uint32_t i = 0; i < row->sizes; i++) {
        buf_text(&words, i > 0 ? ", " : "");
        human_count(&words, row->size[i].count, s->style->ascii);
        buf_text(&words, " of ");
        human_bytes(&words, (int64_t)row->size[i].bytes);
        rest -= row->size[i].count;
    }
    if (rest > 0) {
        buf_text(&words, ", ");
        human_count(&words, rest, s->style->ascii);
        buf_format(&words, " in %u more", (unsigned)(row->distinct_sizes - row->sizes));
    }
    buf_repeat(to, S(" "), STACK_INDENT);
    text_wrap(to, s->style, buf_slice(&words), STACK_INDENT, STACK_INDENT);
    buf_end(&words, to);
}

static void put_owner(struct buf *to, const struct text_context *s, uint64_t bytes, str at)
{
    struct buf words;
    buf_init(&words, 1 << 12);
    human_bytes(&words, (int64_t)bytes);
    uint32_t width = (uint32_t)words.len, indent = STACK_INDENT;
    indent += width < OWNER_FIGURE ? OWNER_FIGURE - width : 0;
    buf_text(&words, " at ");
    escape_text(&words, at, s->style->ascii);
    buf_repeat(to, S(" "), indent);
    text_wrap(to, s->style, buf_slice(&words), indent, STACK_INDENT);
    buf_end(&words, to);
}

/* Whose lines they are that a line of the user's code, such as the call of a trainer, stands for.
 */
static void put_owners(struct buf *to, const struct text_context *s, const struct peak_row *row)
{
    uint64_t rest = row->bytes;
    for (uint32_t i = 0; i < row->owners; i++) {
        put_owner(to, s, row->owner_rows[i].bytes, row->owner_rows[i].name);
        rest -= row->owner_rows[i].bytes;
    }
    if (row->distinct_owners > row->owners) {
        char more[32];
        snprintf(more, sizeof more, "%u more", (unsigned)(row->distinct_owners - row->owners));
        put_owner(to, s, rest, str_from(more));
    } else if (row->owners == 0) {
        put_owner(to, s, row->bytes, row->owner);
    }
}

/* "the stack with most of it, 945.31 MiB of 4.21 GiB; 15 others" over a stack that is one of
 * several
 */
static void put_whose_stack(struct buf *to, const struct text_context *s,
                            const struct peak_row *row)
{
    struct buf words;
    if (row->distinct_stacks < 2)
        return;
    buf_init(&words, 1 << 10);
    buf_text(&words, "the stack with most of it, ");
    human_bytes(&words, (int64_t)row->stack_bytes);
    buf_text(&words, " of ");
    human_bytes(&words, (int64_t)row->bytes);
    buf_text(&words, "; ");
    human_counted(&words, row->distinct_stacks - 1, "other", s->style->ascii);
    buf_char(&words, ':');
    buf_repeat(to, S(" "), STACK_INDENT);
    text_wrap(to, s->style, buf_slice(&words), STACK_INDENT, STACK_INDENT);
    buf_end(&words, to);
}

/* Whether a row holds much by lines that its name does not show. */
static bool hides_owners(const struct peak_row *row, enum peak_by by, bool column)
{
    if (!peak_is_by_line(by) || row->share_ratio < HIDES_MUCH)
        return false;
    return row->owners > 0 ||
           (!column && row->owner.ptr != NULL && !str_equal(row->owner, row->culprit));
}

/* What stands under a row: its names, where it is not one itself, its stack, where stacks are asked
 * for, and its sizes. */
static void put_under(void *arg, const void *from, struct cells *cells)
{
    struct text_context *s = arg;
    const struct peak_row *row = from;
    struct buf *to = &cells->text;
    if (hides_owners(row, s->peak->by, (s->hidden >> OWNER & 1) == 0))
        put_owners(to, s, row);
    if (s->peak->by != BY_NAME)
        name_lines_put(to, s->style, STACK_INDENT, &row->names);
    if (s->wanted) {
        put_whose_stack(to, s, row);
        stack_lines_put(to, &s->stacks, row->stack, "");
    }
    /* One size is that of the largest. */
    if (row->sizes > 1)
        put_sizes(to, s, row);
}

/* The rows under the rows: what was folded, what the file contradicts, the sum. */
static uint32_t fill_ends(const struct text_context *s, uint32_t shown, str *cell)
{
    const struct peak *p = s->peak;
    uint64_t bytes = 0, count = 0, largest = 0;
    uint32_t rows = 0;
    for (uint32_t i = shown; i < p->rows; i++) {
        bytes += p->row[i].bytes;
        count += p->row[i].count;
        largest = p->row[i].largest_bytes > largest ? p->row[i].largest_bytes : largest;
    }
    if (shown < p->rows) {
        cell[BYTES] = cell_bytes(s->cells, (int64_t)bytes);
        cell[SHARE] = cell_share(s->cells, share_ratio(bytes, p->live_bytes));
        cell[COUNT] = cell_count(s->cells, count);
        cell[LARGEST] = cell_bytes(s->cells, (int64_t)largest);
        cell[NAME] = cell_other(s->cells, p->rows - shown, "row");
        rows++;
    }
    if (p->adjust_bytes != 0) {
        str *adjust = cell + (size_t)rows * COLUMNS;
        adjust[BYTES] = cell_bytes(s->cells, p->adjust_bytes);
        adjust[NAME] = S("adjust: the file contradicts itself");
        rows++;
    }
    str *total = cell + (size_t)rows * COLUMNS;
    total[BYTES] = cell_bytes(s->cells, p->total_bytes);
    total[COUNT] = cell_count(s->cells, p->live_count);
    total[NAME] = S("total");
    return rows + 1;
}

static bool owners_differ(const struct peak *p, uint32_t shown)
{
    for (uint32_t i = 0; i < shown; i++) {
        if (p->row[i].owner.ptr == NULL || !str_equal(p->row[i].owner, p->row[i].name))
            return true;
    }
    return false;
}

static bool is_of_several(const struct peak *p, uint32_t shown)
{
    for (uint32_t i = 0; i < shown; i++)
        if (p->row[i].named && p->row[i].count > 1)
            return true;
    return false;
}

static uint32_t find_hidden(const struct peak *p, uint32_t shown, uint32_t width)
{
    uint32_t hidden = 0;
    if (!peak_is_by_line(p->by) || width < OWNER_WIDTH || !owners_differ(p, shown))
        hidden |= 1U << OWNER;
    if (p->by != BY_NAME)
        return hidden | 1U << TENSOR;
    if (width < NAME_WIDTH)
        hidden |= 1U << LARGEST | (is_of_several(p, shown) ? 0 : 1U << COUNT);
    return hidden;
}

static enum text_cut cut_of(enum peak_by by)
{
    if (peak_is_by_name(by))
        return CUT_MIDDLE;
    return by == BY_FILE || by == BY_MODULE ? CUT_START : CUT_END;
}

static void put_table(struct buf *to, struct text_context *s, const struct render_options *options)
{
    const struct peak *p = s->peak;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = most < p->rows ? most : p->rows;
    struct shown_column column[COLUMNS];
    for (uint32_t k = 0; k < COLUMNS; k++)
        column[k] = all_columns[k];
    column[NAME].heading = peak_by_names[p->by];
    column[NAME].cut = cut_of(p->by);
    str *ends = cells_array(s->cells, 3, COLUMNS);
    if (ends == NULL)
        return;
    s->hidden = find_hidden(p, shown, s->style->width);
    struct shown_table table = {
        .column = column,
        .columns = COLUMNS,
        .hidden = s->hidden,
        SHOWN_ROWS(p->row, shown),
        .last = ends,
        .lasts = fill_ends(s, shown, ends),
        .make = row_cell,
        .under = put_under,
        .arg = s,
    };
    shown_table(to, s->style, s->cells, &table);
}

static void put_moment(struct buf *to, const struct peak_moment *m)
{
    if (m->at_peak && m->peak.at_event >= 0)
        buf_text(to, "at its peak, ");
    if (!m->has_trace)
        buf_text(to, "in its final state");
    else if (m->peak.at_event < 0)
        buf_text(to, "at the start of the recording");
    else
        buf_format(to, "%s event %lld", m->at_peak ? "at" : "after", (long long)m->peak.at_event);
    if (m->after_us != UINT64_MAX && m->peak.at_event >= 0) {
        buf_text(to, " (");
        human_duration(to, m->after_us);
        buf_text(to, " after the first)");
    }
    if (m->bound)
        buf_text(to, ", of the part read");
}

/* What stands where the next cell will, on as many lines as it needs. */
static void put_wrapped(struct buf *to, const struct text_context *s)
{
    struct buf *words = &s->cells->text;
    if (!words->failed)
        text_wrap(to, s->style, buf_slice(words), 0, 0);
    words->len = 0;
}

/* Why there is no table.  A reason that begins with the device's name serves as the heading. */
static void put_refusal(struct buf *to, const struct text_context *s, const struct device_answer *d)
{
    struct buf label;
    buf_init(&label, 64);
    envelope_device_text(&label, d->name);
    str reason = d->reason[0].text, named = buf_slice(&label);
    struct buf *words = &s->cells->text;
    paint_on(words, s->style, PAINT_BOLD);
    buf_str(words, named);
    paint_off(words, s->style);
    if (str_starts(reason, named) && reason.len > named.len && reason.ptr[named.len] == ' ') {
        reason.ptr += named.len;
        reason.len -= named.len;
    } else {
        buf_text(words, ": ");
    }
    escape_text(words, reason, s->style->ascii);
    put_wrapped(to, s);
    buf_end(&label, to);
}

/* The moment, then what was held then. */
static void put_heading(struct buf *to, const struct text_context *s, const struct device_answer *d)
{
    const struct peak_moment *m = d->result;
    struct buf *words = &s->cells->text;
    paint_on(words, s->style, PAINT_BOLD);
    envelope_device_text(words, d->name);
    paint_off(words, s->style);
    buf_char(words, ' ');
    put_moment(words, m);
    put_wrapped(to, s);
    buf_text(words, m->bound ? "at least " : "");
    paint_on(words, s->style, PAINT_BOLD);
    human_bytes(words, m->peak.total_bytes);
    paint_off(words, s->style);
    buf_text(words, m->inexact ? " in use (not exact, see trust), " : " in use, ");
    human_bytes(words, m->reserved_bytes);
    buf_text(words, " reserved");
    if (m->blocks_exact) {
        buf_text(words, ", ");
        human_bytes(words, (int64_t)m->blocks.active);
        buf_text(words, " active in blocks");
    }
    put_wrapped(to, s);
    if (m->peak.names.count > 0) {
        name_share_words(words, &m->peak.names, m->peak.live_bytes);
        put_wrapped(to, s);
    }
    for (uint32_t i = 0; i < d->reasons; i++) {
        escape_text(words, d->reason[i].text, s->style->ascii);
        put_wrapped(to, s);
    }
}

static void put_device(struct out *out, struct text_context *s, const struct device_answer *d,
                       const struct render_options *options)
{
    const struct peak_moment *m = d->result;
    struct buf *to = &out->text;
    buf_char(to, '\n');
    if (m == NULL) {
        put_refusal(to, s, d);
        return;
    }
    put_heading(to, s, d);
    buf_char(to, '\n');
    s->peak = &m->peak;
    put_table(to, s, options);
    stack_lines_end(to, &s->stacks, s->style);
    buf_char(to, '\n');
    envelope_trust_text(to, s->style, &d->trust);
    out_flush(out, OUT_ENOUGH);
}

void peak_text(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options)
{
    (void)several;
    struct cells cells;
    struct device_pages pages;
    cells_init(&cells, &options->style);
    struct text_context s = { .style = &options->style,
                              .cells = &cells,
                              .stacks = { .ascii = options->style.ascii },
                              .wanted = options->stacks };
    device_pages_begin(&pages, &out->text, set, options, &peak_lines);
    bool first = !pages.summarised;
    for (uint32_t i = 0, place = 0; i < set->count; place += set->study[i].devices, i++) {
        const struct devices_answer *answer = &set->study[i];
        if (!device_pages_show_file(&pages, place, answer->devices))
            continue;
        if (!first)
            buf_char(&out->text, '\n');
        first = false;
        char grade = answer->devices == 1 ? answer->device[0].trust.grade : '\0';
        envelope_file_text(&out->text, &options->style, &answer->file, answer->devices, grade);
        if (answer->devices == 0 && answer->file.origin.complete)
            envelope_nothing_text(&out->text, &options->style);
        for (uint32_t k = 0; k < answer->devices; k++) {
            if (!device_pages_show(&pages, place + k))
                continue;
            struct arena_mark mark = arena_mark(&cells.arena);
            s.stacks.texts = &answer->stacks;
            s.stacks.all = options->all_frames;
            s.stacks.hidden = 0;
            put_device(out, &s, &answer->device[k], options);
            arena_release(&cells.arena, mark);
        }
    }
    device_pages_free(&pages);
    cells_free(&cells, &out->text);
}
