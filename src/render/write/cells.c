/* cells.c - values as kept text. */
#include "render/write/cells.h"

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
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
