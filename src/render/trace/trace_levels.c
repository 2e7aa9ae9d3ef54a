/* trace_levels.c - how many levels have blanks, then name by name. */
#include "render/trace/trace_levels.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "render/write/escape.h"

/* Of the room in the column one part in so many is for blanks; never more than this. */
enum { ROOM_PARTS = 6, BLANKS_LEAST = 2, BLANKS_MOST = 24 };

static void put_level(struct buf *to, uint32_t level, uint32_t blanks)
{
    if (level > blanks)
        buf_format(to, "%*s%u: ", (int)blanks, "", (unsigned)level);
    else
        buf_format(to, "%*s", (int)level, "");
}

static str *name_of(const struct text_table *t, str *cell, uint32_t row)
{
    return &cell[(size_t)row * t->columns + t->columns - 1];
}

/* The columns that names and what is before them may have. */
static size_t room_of(const struct style *style, const struct text_table *t, str *cell)
{
    const struct text_column *column = &t->column[t->columns - 1];
    size_t widest = escape_width(str_from(column->heading));
    for (uint32_t i = 0; i < t->rows; i++) {
        size_t width = escape_width(*name_of(t, cell, i));
        widest = width > widest ? width : widest;
    }
    size_t others = text_table_width(t) - widest;
    return style->width > others + column->least ? style->width - others : column->least;
}

static str indented(struct cells *cells, const struct style *style, str name, uint32_t level,
                    uint32_t blanks, size_t room)
{
    put_level(&cells->text, level, blanks);
    size_t before = cells->text.len;
    text_fit(&cells->text, style, name, room > before ? room - before : 1, CUT_MIDDLE);
    return cell_end(cells);
}

static bool all_fit(struct cells *cells, const struct text_table *t, str *cell, size_t room,
                    level_of_row *level, const void *from)
{
    for (uint32_t i = 0; i < t->rows; i++) {
        put_level(&cells->text, level(from, i), BLANKS_MOST);
        size_t width = cells->text.len + escape_width(*name_of(t, cell, i));
        cells->text.len = 0;
        if (width > room)
            return false;
    }
    return true;
}

void trace_levels_fill(struct cells *cells, const struct style *style,
                       const struct text_table *table, str *cell, level_of_row *level,
                       const void *from)
{
    size_t room = room_of(style, table, cell);
    uint32_t blanks = BLANKS_MOST;
    if (!all_fit(cells, table, cell, room, level, from)) {
        size_t part = room / ROOM_PARTS;
        blanks = part < BLANKS_LEAST ? BLANKS_LEAST : part < BLANKS_MOST ? (uint32_t)part : blanks;
        struct style narrow = *style;
        narrow.width = style->width > blanks ? style->width - blanks : 0;
        cells_shorten(cells, &narrow, table, cell);
    }
    for (uint32_t i = 0; i < table->rows; i++) {
        str *name = name_of(table, cell, i);
        *name = indented(cells, style, *name, level(from, i), blanks, room);
    }
}
