/* peak_text.c - who held the memory, as a table. */
#include "base/number.h"
#include "render/answer/envelope.h"
#include "render/snapshot/renderers.h"
#include "render/write/cells.h"
#include "render/write/escape.h"

enum { ROWS_DEFAULT = 20, CELLS = 6, OWNER_WIDTH = 100, STACK_INDENT = 12 };

/* What is put together for one device. */
struct text_context {
    const struct style *style;
    struct cells *cells;
    bool owners; /* a column of its own for them */
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

static void fill_row(const struct text_context *s, const struct peak_row *row, enum peak_by by,
                     str *cell)
{
    cell[0] = cell_bytes(s->cells, (int64_t)row->bytes);
    cell[1] = cell_share(s->cells, row->share_ratio);
    cell[2] = cell_count(s->cells, row->count);
    cell[3] = cell_bytes(s->cells, (int64_t)row->largest_bytes);
    cell[4] = by == BY_SIZE ? size_cell(s, row->name) : cell_text(s->cells, row->name);
    if (!s->owners)
        return;
    bool same = row->owner.ptr != NULL && str_equal(row->owner, row->name);
    cell[5] = row->owner.ptr == NULL ? S("(several)")
              : same                 ? S("")
                                     : cell_text(s->cells, row->owner);
}

/* Stacks stand in the table as rows of one line each. */
static void put_stack(struct buf *to, const struct text_context *s,
                      const struct stack_texts *stacks, uint32_t stack)
{
    for (uint32_t k = stacks->first[stack]; k < stacks->first[stack + 1]; k++) {
        buf_repeat(to, S(" "), STACK_INDENT);
        escape_text(to, stacks->frame[stacks->line[k]], s->style->ascii);
        buf_char(to, '\n');
    }
    if (stacks->first[stack] == stacks->first[stack + 1]) {
        buf_repeat(to, S(" "), STACK_INDENT);
        buf_text(to, "(no stack)\n");
    }
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

/* What stands under a row: its stack, where stacks are asked for, and its sizes. */
static bool put_under(const struct text_context *s, const struct peak_device *d, uint32_t row,
                      const struct stack_texts *stacks, bool wanted)
{
    struct buf *to = &s->cells->text;
    if (wanted)
        put_stack(to, s, stacks, d->row_stack[row]);
    /* One size is that of the largest. */
    if (d->peak.row[row].sizes > 1)
        put_sizes(to, s, &d->peak.row[row]);
    return to->len > 0;
}

/* The rows under the rows: what was folded, what the file contradicts, the sum. */
static uint32_t fill_ends(const struct text_context *s, const struct peak *p, uint32_t shown,
                          str *cell, uint32_t columns)
{
    uint64_t bytes = 0, count = 0, largest = 0;
    uint32_t rows = 0;
    for (uint32_t i = shown; i < p->rows; i++) {
        bytes += p->row[i].bytes;
        count += p->row[i].count;
        largest = p->row[i].largest_bytes > largest ? p->row[i].largest_bytes : largest;
    }
    if (shown < p->rows) {
        cell[0] = cell_bytes(s->cells, (int64_t)bytes);
        cell[1] = cell_share(s->cells, share_ratio(bytes, p->live_bytes));
        cell[2] = cell_count(s->cells, count);
        cell[3] = cell_bytes(s->cells, (int64_t)largest);
        cell[4] = cell_other(s->cells, p->rows - shown, "row");
        rows++;
    }
    if (p->adjust_bytes != 0) {
        str *adjust = cell + (size_t)rows * columns;
        adjust[0] = cell_bytes(s->cells, p->adjust_bytes);
        adjust[4] = S("adjust: the file contradicts itself");
        rows++;
    }
    str *total = cell + (size_t)rows * columns;
    total[0] = cell_bytes(s->cells, p->total_bytes);
    total[2] = cell_count(s->cells, p->live_count);
    total[4] = S("total");
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

static void put_table(struct buf *to, struct text_context *s, const struct peak_device *d,
                      const struct stack_texts *stacks, const struct render_options *options)
{
    const struct peak *p = &d->peak;
    uint32_t most = options->rows == 0 ? ROWS_DEFAULT : options->rows;
    uint32_t shown = most < p->rows ? most : p->rows;
    s->owners = p->by == BY_CULPRIT && s->style->width >= OWNER_WIDTH && owners_differ(p, shown);
    uint32_t columns = s->owners ? CELLS : CELLS - 1;
    bool paths = p->by == BY_FILE || p->by == BY_MODULE;
    const struct text_column column[CELLS] = {
        { "bytes", true, false, 0, false },
        { "share", true, false, 0, false },
        { "count", true, false, 0, false },
        { "largest", true, false, 0, false },
        { peak_by_names[p->by], false, true, 16, paths },
        { "owner", false, true, 16, false },
    };
    str *cell = cells_array(s->cells, (size_t)shown * 2 + 3, columns);
    if (cell == NULL)
        return;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < shown; i++) {
        fill_row(s, &p->row[i], p->by, cell + (size_t)rows++ * columns);
        if (put_under(s, d, i, stacks, options->stacks))
            cell_end_lines(s->cells, cell + (size_t)rows++ * columns);
    }
    rows += fill_ends(s, p, shown, cell + (size_t)rows * columns, columns);
    struct text_table table = { column, columns, rows, cell, 0 };
    text_table(to, s->style, &table);
}

static void put_moment(struct buf *to, const struct peak_device *d)
{
    if (d->at_peak && d->peak.at_event >= 0)
        buf_text(to, "at its peak, ");
    if (!d->has_trace)
        buf_text(to, "in its final state");
    else if (d->peak.at_event < 0)
        buf_text(to, "at the start of the recording");
    else
        buf_format(to, "%s event %lld", d->at_peak ? "at" : "after", (long long)d->peak.at_event);
    if (d->after_us != UINT64_MAX && d->peak.at_event >= 0) {
        buf_text(to, " (");
        human_duration(to, d->after_us);
        buf_text(to, " after the first)");
    }
    if (d->bound)
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
static void put_refusal(struct buf *to, const struct text_context *s, const struct peak_device *d)
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
static void put_heading(struct buf *to, const struct text_context *s, const struct peak_device *d)
{
    struct buf *words = &s->cells->text;
    paint_on(words, s->style, PAINT_BOLD);
    envelope_device_text(words, d->name);
    paint_off(words, s->style);
    buf_char(words, ' ');
    put_moment(words, d);
    put_wrapped(to, s);
    buf_text(words, d->bound ? "at least " : "");
    paint_on(words, s->style, PAINT_BOLD);
    human_bytes(words, d->peak.total_bytes);
    paint_off(words, s->style);
    buf_text(words, d->inexact ? " in use (not exact, see trust), " : " in use, ");
    human_bytes(words, d->reserved_bytes);
    buf_text(words, " reserved");
    if (d->blocks_exact) {
        buf_text(words, ", ");
        human_bytes(words, (int64_t)d->blocks.active);
        buf_text(words, " active in blocks");
    }
    put_wrapped(to, s);
    for (uint32_t i = 0; i < d->reasons; i++) {
        escape_text(words, d->reason[i].text, s->style->ascii);
        put_wrapped(to, s);
    }
}

static void put_device(struct out *out, struct text_context *s, const struct peak_device *d,
                       const struct stack_texts *stacks, const struct render_options *options)
{
    struct buf *to = &out->text;
    buf_char(to, '\n');
    if (d->status == ANSWER_NOT_APPLICABLE) {
        put_refusal(to, s, d);
        return;
    }
    put_heading(to, s, d);
    envelope_trust_text(to, s->style, &d->trust);
    buf_char(to, '\n');
    put_table(to, s, d, stacks, options);
    out_flush(out, OUT_ENOUGH);
}

void peak_text(struct out *out, const struct answer_set *set, bool several,
               const struct render_options *options)
{
    (void)several;
    struct cells cells;
    cells_init(&cells, &options->style);
    struct text_context s = { &options->style, &cells, false };
    for (uint32_t i = 0; i < set->count; i++) {
        const struct peak_answer *answer = &set->peak[i];
        if (i > 0)
            buf_char(&out->text, '\n');
        envelope_file_text(&out->text, &options->style, &answer->file, answer->devices);
        if (answer->devices == 0 && answer->file.origin.complete)
            envelope_nothing_text(&out->text, &options->style);
        for (uint32_t k = 0; k < answer->devices; k++) {
            struct arena_mark mark = arena_mark(&cells.arena);
            put_device(out, &s, &answer->device[k], &answer->stacks, options);
            arena_release(&cells.arena, mark);
        }
    }
    cells_free(&cells, &out->text);
}
