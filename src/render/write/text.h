/* text.h - tables of text that fit a width; columns are data. */
#ifndef VRS_RENDER_WRITE_TEXT_H
#define VRS_RENDER_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"

/* Where a text that is too long gives way to a mark. */
enum text_cut {
    CUT_END,
    CUT_START, /* paths of files differ at their ends */
    CUT_MIDDLE, /* names with dots say at the start what they are of and differ at their ends */
    CUT_APART,  /* the same, but in a table cells that would become alike keep where they differ */
    CUT_CPP     /* the same, and names of functions in C++ lose what many have in common first,
                 * where row_table or cells_shorten see to that */
};

struct text_column {
    const char *heading;
    bool right;    /* numbers */
    bool flexible; /* gives way, down to `least`, when the table is too wide */
    uint32_t least;
    enum text_cut cut;
};

/* Cells are escaped already and are written row by row; `cell` has columns * rows of them. */
struct text_table {
    const struct text_column *column;
    uint32_t columns, rows;
    const str *cell;
    uint32_t indent;
};

/* Blanks between columns are two, or one where that does not fit; the last column is not padded.
 * A cell that is too long is cut (see `cut`), with a mark.  Where even so a row does not fit,
 * each is its cells behind their headings, on several lines.  A row whose first cell has
 * ptr NULL prints nothing: its second cell stands alone, as wide as it is (a line under the row
 * before). */
void text_table(struct buf *to, const struct style *style, const struct text_table *table);

/* Columns that the table takes where nothing gives way. */
size_t text_table_width(const struct text_table *table);

/* Appends `text`, cut with a mark where it is wider than `columns`; returns how many it takes. */
size_t text_fit(struct buf *to, const struct style *style, str text, size_t columns,
                enum text_cut cut);

/* Words of `text`, numbers with their units, on lines of at most `style->width`, the later ones
 * behind `indent` blanks; the first begins at column `at`. */
void text_wrap(struct buf *to, const struct style *style, str text, uint32_t at, uint32_t indent);

#endif
