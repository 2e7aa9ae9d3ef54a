/* text.h - tables of text that fit a width; columns are data. */
#ifndef VRS_RENDER_WRITE_TEXT_H
#define VRS_RENDER_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"

struct text_column {
    const char *heading;
    bool right;    /* numbers */
    bool flexible; /* gives way, down to `least`, when the table is too wide */
    uint32_t least;
    bool tail; /* a cell that is too long is cut at its start: paths differ at their ends */
};

/* Cells are escaped already and are written row by row; `cell` has columns * rows of them. */
struct text_table {
    const struct text_column *column;
    uint32_t columns, rows;
    const str *cell;
    uint32_t indent;
};

/* Blanks between columns are two, or one where that does not fit; the last column is not padded.
 * A cell that is too long is cut at its end (see `tail`), with a mark.  Where even so a row does
 * not fit, each is its cells behind their headings, on several lines.  A row whose first cell has
 * ptr NULL prints nothing: its second cell stands alone, as wide as it is (a line under the row
 * before). */
void text_table(struct buf *to, const struct style *style, const struct text_table *table);

/* Columns that the table takes where nothing gives way. */
size_t text_table_width(const struct text_table *table);

/* Words of `text`, numbers with their units, on lines of at most `style->width`, the later ones
 * behind `indent` blanks; the first begins at column `at`. */
void text_wrap(struct buf *to, const struct style *style, str text, uint32_t at, uint32_t indent);

#endif
