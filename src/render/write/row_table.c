/* row_table.c - cells row by row, the table of them, then a line about the rest. */
#include "render/write/row_table.h"

#include <stddef.h>

enum { INDENT = 2 };

void table_note(struct buf *to, const struct style *style, struct buf *words)
{
    buf_repeat(to, S(" "), INDENT);
    text_wrap(to, style, buf_slice(words), INDENT, INDENT);
    words->len = 0;
}

void table_note_text(struct buf *to, const struct style *style, const char *words)
{
    buf_repeat(to, S(" "), INDENT);
    text_wrap(to, style, str_from(words), INDENT, INDENT);
}

/* What has the names whole of which some are cut. */
static void say_cut(struct buf *to, const struct style *style, const char *whole)
{
    struct buf words;
    buf_init(&words, SIZE_MAX / 2);
    buf_format(&words, "names are cut to fit the width; %s has them whole", whole);
    table_note(to, style, &words);
    buf_end(&words, to);
}

static void put_rows(struct buf *to, const struct style *style, const struct row_table *t,
                     uint32_t shown)
{
    struct cells cells;
    cells_init(&cells, style);
    str *cell = cells_array(&cells, shown, t->columns);
    if (cell != NULL) {
        for (uint32_t i = 0; i < shown; i++)
            t->fill(&cells, t->from, i, cell + (size_t)i * t->columns);
        struct text_table table = { t->column, t->columns, shown, cell, INDENT };
        bool cut = cells_shorten(&cells, style, &table, cell);
        text_table(to, style, &table);
        if (t->says_cut != NULL && cut)
            say_cut(to, style, t->says_cut);
    }
    cells_free(&cells, to);
}

void row_table_rest(struct buf *to, const struct style *style, uint64_t rest, const char *one)
{
    struct buf words;
    if (rest == 0)
        return;
    buf_init(&words, SIZE_MAX / 2);
    buf_text(&words, "and ");
    human_counted(&words, rest, one, style->ascii);
    buf_text(&words, " more");
    table_note(to, style, &words);
    buf_end(&words, to);
}

bool row_table(struct buf *to, const struct style *style, const struct row_table *t)
{
    uint32_t shown = t->rows < t->most ? t->rows : t->most;
    if (shown == 0)
        return false;
    put_rows(to, style, t, shown);
    uint64_t all = t->all > t->rows ? t->all : t->rows;
    row_table_rest(to, style, all - shown, t->one);
    return true;
}
