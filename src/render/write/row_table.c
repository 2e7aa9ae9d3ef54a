/* row_table.c - cells row by row, the table of them, then a line about the rest. */
#include "render/write/row_table.h"

#include <stddef.h>

static void put_rows(struct buf *to, const struct style *style, const struct row_table *t,
                     uint32_t shown)
{
    enum { INDENT = 2 };
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, shown, t->columns);
    if (cell != NULL) {
        for (uint32_t i = 0; i < shown; i++)
            t->fill(&cells, t->from, i, cell + (size_t)i * t->columns);
        struct text_table table = { t->column, t->columns, shown, cell, INDENT };
        text_table(to, style, &table);
        if (t->says_cut != NULL && text_table_width(&table) > style->width)
            buf_format(to, "  names are cut to fit the width; %s has them whole\n", t->says_cut);
    }
    cells_free(&cells, to);
}

bool row_table(struct buf *to, const struct style *style, const struct row_table *t)
{
    uint32_t shown = t->rows < t->most ? t->rows : t->most;
    if (shown == 0)
        return false;
    put_rows(to, style, t, shown);
    uint64_t all = t->all > t->rows ? t->all : t->rows;
    if (shown < all) {
        buf_text(to, "  and ");
        human_counted(to, all - shown, t->one, style->ascii);
        buf_text(to, " more\n");
    }
    return true;
}
