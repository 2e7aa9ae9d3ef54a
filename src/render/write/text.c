/* text.c - tables and wrapped lines. */
#include "render/write/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/escape.h"

/* Between columns stand two blanks, or one where the table is too wide otherwise. */
enum { COLUMNS_MOST = 16, GAP = 2, GAP_LEAST = 1 };

/* The longest end of `text` that fits. */
static str end_of(str text, size_t columns)
{
    size_t width = escape_width(text);
    str left = { text.ptr, escape_fit(text, width > columns ? width - columns : 0) };
    /* A wide character or an escape that stands across the cut goes as a whole. */
    while (left.len < text.len && width - escape_width(left) > columns)
        left.len += escape_first((str){ text.ptr + left.len, text.len - left.len });
    return (str){ text.ptr + left.len, text.len - left.len };
}

static str mark_of(const struct style *style)
{
    return style->ascii ? S("...") : S("\u2026");
}

/* What is left of a text that is cut: its start, a mark, its end. */
struct cut_text {
    str start, end;
};

static struct cut_text cut_of(const struct style *style, str text, size_t columns,
                              enum text_cut cut)
{
    size_t marked = escape_width(mark_of(style)), room = columns > marked ? columns - marked : 0;
    /* Names are alike for long, and differ in the number of a layer that stands before the last
     * words: little of the start is kept. */
    size_t first = cut == CUT_END ? room : cut == CUT_START ? 0 : room / 4;
    str start = { text.ptr, escape_fit(text, first) };
    return (struct cut_text){ start,
                              end_of(text, cut == CUT_END ? 0 : room - escape_width(start)) };
}

/* Appends `text`, cut to `columns` with a mark; returns how many it takes. */
static size_t put_cut(struct buf *to, const struct style *style, str text, size_t columns,
                      enum text_cut cut)
{
    struct cut_text left = cut_of(style, text, columns, cut);
    buf_str(to, left.start);
    buf_str(to, mark_of(style));
    buf_str(to, left.end);
    return escape_width(left.start) + escape_width(mark_of(style)) + escape_width(left.end);
}

size_t text_fit(struct buf *to, const struct style *style, str text, size_t columns,
                enum text_cut cut)
{
    size_t width = escape_width(text);
    if (width > columns)
        return put_cut(to, style, text, columns, cut);
    buf_str(to, text);
    return width;
}

/* Where cells of a column differ that are alike once they are cut. */
struct difference {
    size_t first, last; /* bytes that they have in common: with the least and the most alike */
};

static size_t common_start(str a, str b)
{
    size_t len = 0;
    while (len < a.len && len < b.len && a.ptr[len] == b.ptr[len])
        len++;
    return len;
}

/* False where no other cell is alike; of long tables only the rows nearby are looked at. */
static bool find_difference(const struct style *style, const struct text_table *t,
                            const str *cell, size_t columns, struct difference *ret)
{
    enum { NEAR = 64 };
    uint32_t c = (uint32_t)((size_t)(cell - t->cell) % t->columns);
    uint32_t r = (uint32_t)((size_t)(cell - t->cell) / t->columns);
    uint32_t from = r > NEAR ? r - NEAR : 0, to = t->rows - r > NEAR ? r + NEAR : t->rows;
    struct cut_text mine = cut_of(style, *cell, columns, CUT_APART);
    *ret = (struct difference){ SIZE_MAX, 0 };
    for (uint32_t i = from; i < to; i++) {
        str other = t->cell[(size_t)i * t->columns + c];
        if (t->cell[(size_t)i * t->columns].ptr == NULL || escape_width(other) <= columns ||
            str_equal(other, *cell))
            continue;
        struct cut_text left = cut_of(style, other, columns, CUT_APART);
        if (!str_equal(left.start, mine.start) || !str_equal(left.end, mine.end))
            continue;
        size_t common = common_start(*cell, other);
        ret->first = common < ret->first ? common : ret->first;
        ret->last = common > ret->last ? common : ret->last;
    }
    return ret->first != SIZE_MAX;
}

/* The start, a mark, what stands from the first difference on, or around the last where that is
 * further on, and a mark where that is not the end. */
static size_t put_apart(struct buf *to, const struct style *style, str text, size_t columns,
                        const struct difference *d)
{
    enum { BEFORE = 4 };
    size_t marked = escape_width(mark_of(style));
    str start = cut_of(style, text, columns, CUT_APART).start;
    size_t room = columns - escape_width(start), from = d->first;
    room = room > 2 * marked ? room - 2 * marked : 0;
    if (d->last - from + BEFORE >= room)
        from = d->last;
    from = from > start.len + BEFORE ? from - BEFORE : start.len;
    while (from > start.len && ((unsigned char)text.ptr[from] & 0xc0) == 0x80)
        from--; /* a character stays whole */
    str shown = { text.ptr + from, escape_fit((str){ text.ptr + from, text.len - from }, room) };
    buf_str(to, start);
    buf_str(to, mark_of(style));
    buf_str(to, shown);
    buf_str(to, mark_of(style));
    return escape_width(start) + 2 * marked + escape_width(shown);
}

/* One cell, cut where it is too long, padded with blanks on the right where `pad`. */
static void put_cell(struct buf *to, const struct style *style, const struct text_table *t,
                     const str *cell, const struct text_column *column, size_t columns, bool pad)
{
    struct difference d;
    size_t width;
    bool apart = column->cut >= CUT_APART && escape_width(*cell) > columns;
    if (apart && find_difference(style, t, cell, columns, &d))
        width = put_apart(to, style, *cell, columns, &d);
    else
        width = text_fit(to, style, *cell, columns, column->cut);
    if (pad && width < columns)
        buf_repeat(to, S(" "), columns - width);
}

static void measure(const struct text_table *t, size_t *width)
{
    for (uint32_t c = 0; c < t->columns; c++) {
        width[c] = escape_width(str_from(t->column[c].heading));
        for (uint32_t r = 0; r < t->rows; r++) {
            const str *row = &t->cell[(size_t)r * t->columns];
            if (row[0].ptr == NULL)
                continue;
            size_t cell = escape_width(row[c]);
            width[c] = cell > width[c] ? cell : width[c];
        }
    }
}

static size_t sum_of(const struct text_table *t, const size_t *width, size_t gap)
{
    size_t sum = t->indent;
    for (uint32_t c = 0; c < t->columns; c++)
        sum += width[c] + (c > 0 ? gap : 0);
    return sum;
}

size_t text_table_width(const struct text_table *table)
{
    size_t width[COLUMNS_MOST];
    measure(table, width);
    return sum_of(table, width, GAP);
}

/* Takes what is too much from the flexible columns, the last first. */
static void squeeze(const struct text_table *t, size_t room, size_t gap, size_t *width)
{
    size_t sum = sum_of(t, width, gap);
    for (uint32_t c = t->columns; c-- > 0 && sum > room;) {
        size_t least = t->column[c].least;
        if (!t->column[c].flexible || width[c] <= least)
            continue;
        size_t take = sum - room < width[c] - least ? sum - room : width[c] - least;
        width[c] -= take;
        sum -= take;
    }
}

static void put_row(struct buf *to, const struct style *style, const struct text_table *t,
                    const str *cell, size_t gap, const size_t *width)
{
    /* No blanks at the end of a line whose last cells are empty. */
    uint32_t columns = t->columns;
    while (columns > 1 && cell[columns - 1].len == 0)
        columns--;
    buf_repeat(to, S(" "), t->indent);
    for (uint32_t c = 0; c < columns; c++) {
        bool last = c + 1 == columns;
        size_t len = escape_width(cell[c]);
        if (c > 0)
            buf_repeat(to, S(" "), gap);
        if (t->column[c].right && len < width[c])
            buf_repeat(to, S(" "), width[c] - len);
        put_cell(to, style, t, &cell[c], &t->column[c], width[c],
                 !last && !t->column[c].right);
    }
}

/* What text_wrap cannot break is cut where it is longer than a line, with a comma. */
static void put_item(struct buf *to, const struct style *style, const struct text_table *t,
                     const struct text_column *column, str cell)
{
    bool breaks = str_find(cell, S(" ")) < cell.len;
    size_t taken = t->indent + GAP + 1, room = style->width > taken ? style->width - taken : 1;
    text_fit(to, style, cell, breaks || !column->flexible ? SIZE_MAX : room, column->cut);
}

/* What is wider than the terminal however much gives way is no table: a row is its cells, each
 * behind its heading, on as many lines as they take. */
static void put_list(struct buf *to, const struct style *style, const struct text_table *t)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    for (uint32_t r = 0; r < t->rows; r++) {
        const str *row = &t->cell[(size_t)r * t->columns];
        if (row[0].ptr == NULL) {
            buf_str(to, row[1]);
            buf_char(to, '\n');
            continue;
        }
        for (uint32_t c = 0; c < t->columns; c++) {
            if (row[c].len == 0)
                continue;
            buf_text(&words, words.len > 0 ? ", " : "");
            buf_text(&words, t->column[c].heading);
            buf_text(&words, t->column[c].heading[0] == '\0' ? "" : " ");
            put_item(&words, style, t, &t->column[c], row[c]);
        }
        buf_repeat(to, S(" "), t->indent);
        text_wrap(to, style, buf_slice(&words), t->indent, t->indent + GAP);
        words.len = 0;
    }
    buf_end(&words, to);
}

void text_table(struct buf *to, const struct style *style, const struct text_table *table)
{
    size_t width[COLUMNS_MOST];
    str heading[COLUMNS_MOST];
    size_t gap = GAP;
    measure(table, width);
    squeeze(table, style->width, gap, width);
    if (sum_of(table, width, gap) > style->width)
        gap = GAP_LEAST;
    if (sum_of(table, width, gap) > style->width) {
        put_list(to, style, table);
        return;
    }
    for (uint32_t c = 0; c < table->columns; c++)
        heading[c] = str_from(table->column[c].heading);
    const struct text_table head = { table->column, table->columns, 1, heading, table->indent };
    paint_on(to, style, PAINT_DIM);
    put_row(to, style, &head, heading, gap, width);
    paint_off(to, style);
    buf_char(to, '\n');
    for (uint32_t r = 0; r < table->rows; r++) {
        const str *row = &table->cell[(size_t)r * table->columns];
        if (row[0].ptr == NULL)
            buf_str(to, row[1]);
        else
            put_row(to, style, table, row, gap, width);
        buf_char(to, '\n');
    }
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool begins_with_unit(str text)
{
    static const char *const units[] = { "B",   "KiB", "MiB", "GiB", "TiB", "PiB",
                                         "EiB", "%",   "us",  "ms",  "s",   "min" };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        str unit = str_from(units[i]);
        if (str_starts(text, unit) &&
            (text.len == unit.len || !is_letter_or_digit(text.ptr[unit.len])))
            return true;
    }
    return false;
}

/* A word, or a number and its unit, which stay on one line. */
static size_t word_len(str text)
{
    size_t len = str_find(text, S(" "));
    bool number =
        len > 0 && len + 1 < text.len && text.ptr[len - 1] >= '0' && text.ptr[len - 1] <= '9';
    if (number && begins_with_unit((str){ text.ptr + len + 1, text.len - len - 1 }))
        len += 1 + str_find((str){ text.ptr + len + 1, text.len - len - 1 }, S(" "));
    return len;
}

void text_wrap(struct buf *to, const struct style *style, str text, uint32_t at, uint32_t indent)
{
    size_t column = at;
    bool first = true;
    while (text.len > 0) {
        size_t len = word_len(text);
        /* Where a line does not even hold both, the unit goes to the next. */
        if (indent + escape_width((str){ text.ptr, len }) > style->width)
            len = str_find(text, S(" "));
        str word = { text.ptr, len };
        size_t width = escape_width(word);
        if (!first && column + 1 + width > style->width) {
            buf_char(to, '\n');
            buf_repeat(to, S(" "), indent);
            column = indent;
        } else if (!first) {
            buf_char(to, ' ');
            column++;
        }
        buf_str(to, word);
        column += width;
        first = false;
        text.ptr += len;
        text.len -= len;
        while (text.len > 0 && text.ptr[0] == ' ') {
            text.ptr++;
            text.len--;
        }
    }
    buf_char(to, '\n');
}
