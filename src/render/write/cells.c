/* cells.c - values as kept text. */
#include "render/write/cells.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/cpp_name.h"
#include "render/write/escape.h"
#include "render/write/human.h"

void cells_init(struct cells *cells, const struct style *style)
{
    arena_init(&cells->arena, SIZE_MAX / 2);
    buf_init(&cells->text, SIZE_MAX / 2);
    cells->ascii = style->ascii;
}

void cells_free(struct cells *cells, struct buf *to)
{
    buf_end(&cells->text, to);
    arena_free(&cells->arena);
}

str *cells_array(struct cells *cells, size_t rows, uint32_t columns)
{
    str *cell = columns == 0 || rows <= SIZE_MAX / columns
                    ? arena_array(&cells->arena, str, rows * columns)
                    : NULL;
    cells->text.failed = cells->text.failed || cell == NULL;
    for (size_t i = 0; cell != NULL && i < rows * columns; i++)
        cell[i] = S("");
    return cell;
}

str cell_end(struct cells *cells)
{
    struct buf *text = &cells->text;
    str kept = text->failed ? (str){ NULL, 0 } : arena_copy(&cells->arena, buf_slice(text));
    text->failed = kept.ptr == NULL;
    text->len = 0;
    return kept;
}

void cell_end_lines(struct cells *cells, str *row)
{
    struct buf *text = &cells->text;
    /* The table ends the line itself. */
    if (text->len > 0 && text->at[text->len - 1] == '\n')
        text->len--;
    row[0] = (str){ NULL, 0 };
    row[1] = cell_end(cells);
}

str cell_bytes(struct cells *cells, int64_t bytes)
{
    human_bytes(&cells->text, bytes);
    return cell_end(cells);
}

str cell_known_bytes(struct cells *cells, uint64_t bytes)
{
    human_known_bytes(&cells->text, bytes);
    return cell_end(cells);
}

str cell_share(struct cells *cells, double ratio)
{
    human_share(&cells->text, ratio);
    return cell_end(cells);
}

str cell_count(struct cells *cells, uint64_t count)
{
    human_count(&cells->text, count, cells->ascii);
    return cell_end(cells);
}

str cell_number(struct cells *cells, uint64_t number)
{
    buf_u64(&cells->text, number);
    return cell_end(cells);
}

str cell_event(struct cells *cells, int64_t event, const char *before)
{
    if (event < 0)
        buf_text(&cells->text, before);
    else
        buf_u64(&cells->text, (uint64_t)event);
    return cell_end(cells);
}

str cell_text(struct cells *cells, str text)
{
    escape_text(&cells->text, text, cells->ascii);
    return cell_end(cells);
}

str cell_other(struct cells *cells, uint64_t count, const char *one)
{
    buf_text(&cells->text, "other (");
    human_counted(&cells->text, count, one, cells->ascii);
    buf_char(&cells->text, ')');
    return cell_end(cells);
}

/* Names of functions. */

/* What a name becomes. */
struct form {
    str text, name;
};

static int by_text_and_name(const void *a, const void *b)
{
    const struct form *x = a, *y = b;
    int order = str_compare(x->text, y->text);
    return order != 0 ? order : str_compare(x->name, y->name);
}

/* The forms of the names of a column, sorted; NULL: no memory. */
static struct form *forms_of(struct cells *cells, const struct text_table *t, uint32_t column,
                             enum cpp_name how)
{
    struct form *form = arena_array(&cells->arena, struct form, t->rows);
    cells->text.failed = cells->text.failed || form == NULL;
    for (uint32_t i = 0; i < t->rows && !cells->text.failed; i++) {
        form[i].name = t->cell[(size_t)i * t->columns + column];
        cpp_name(&cells->text, form[i].name, how);
        form[i].text = cell_end(cells);
    }
    if (cells->text.failed)
        return NULL;
    qsort(form, t->rows, sizeof *form, by_text_and_name);
    return form;
}

/* Where the forms begin that are this text, or where they end. */
static uint32_t bound_of(const struct form *form, uint32_t count, str text, bool end)
{
    uint32_t from = 0;
    while (from < count) {
        uint32_t middle = from + (count - from) / 2;
        int order = str_compare(form[middle].text, text);
        if (order < 0 || (end && order == 0))
            from = middle + 1;
        else
            count = middle;
    }
    return from;
}

/* Whether another name becomes the same; one does. */
static bool is_ambiguous(const struct form *form, uint32_t count, str text)
{
    uint32_t first = bound_of(form, count, text, false), end = bound_of(form, count, text, true);
    return end - first > 1 && !str_equal(form[first].name, form[end - 1].name);
}

/* The columns that the cells of one have; never fewer than it must have. */
static size_t room_of(const struct style *style, const struct text_table *t, uint32_t column)
{
    size_t whole = text_table_width(t), widest = escape_width(str_from(t->column[column].heading));
    for (uint32_t i = 0; i < t->rows; i++) {
        size_t width = escape_width(t->cell[(size_t)i * t->columns + column]);
        widest = width > widest ? width : widest;
    }
    size_t excess = whole - style->width, least = t->column[column].least;
    return widest > excess + least ? widest - excess : least;
}

/* The first of the forms, from the longest on, that fits; one that is like that of another name is
 * left for one that is longer. */
static void shorten_cell(struct cells *cells, struct form *const *form, uint32_t rows, size_t room,
                         str *cell)
{
    str name = *cell;
    for (int how = CPP_NAME_ARGUMENTS; how <= CPP_NAME_FUNCTORS; how++) {
        cpp_name(&cells->text, name, (enum cpp_name)how);
        str text = cell_end(cells);
        if (cells->text.failed || is_ambiguous(form[how], rows, text))
            return;
        *cell = text;
        if (escape_width(text) <= room)
            return;
    }
}

static void shorten_column(struct cells *cells, const struct style *style,
                           const struct text_table *t, uint32_t column, str *cell)
{
    const size_t room = room_of(style, t, column);
    struct form *form[] = { forms_of(cells, t, column, CPP_NAME_ARGUMENTS),
                            forms_of(cells, t, column, CPP_NAME_FUNCTORS) };
    if (form[0] == NULL || form[1] == NULL)
        return;
    for (uint32_t i = 0; i < t->rows; i++) {
        str *one = &cell[(size_t)i * t->columns + column];
        if (escape_width(*one) > room)
            shorten_cell(cells, form, t->rows, room, one);
    }
}

bool cells_shorten(struct cells *cells, const struct style *style, const struct text_table *table,
                   str *cell)
{
    if (text_table_width(table) <= style->width)
        return false;
    for (uint32_t c = 0; c < table->columns; c++)
        if (table->column[c].cut == CUT_CPP && table->rows > 0)
            shorten_column(cells, style, table, c, cell);
    return true;
}
