/* cells.h - the cells of a table: each is a value or some words, kept until the table is drawn.
 *
 * A cell of several parts is written into `text` part by part; cell_end makes it of what stands
 * there.  The other functions make a cell of one value.  Failures are sticky, as those of `text`;
 * cells_free hands them on. */
#ifndef VRS_RENDER_WRITE_CELLS_H
#define VRS_RENDER_WRITE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"
#include "render/write/text.h"

struct cells {
    struct arena arena; /* what is kept, and the arrays of it */
    struct buf text;    /* the next cell; empty between two */
    bool ascii;
};

void cells_init(struct cells *cells, const struct style *style);
/* Fails `to` where a cell could not be made. */
void cells_free(struct cells *cells, struct buf *to);

/* rows * columns cells without text; NULL where there is no memory for them. */
str *cells_array(struct cells *cells, size_t rows, uint32_t columns);

str cell_end(struct cells *cells);
/* The row whose cells begin at `row`, at least two, becomes what stands in `text`, a line or
 * several, which a newline may end: it stands under the row before. */
void cell_end_lines(struct cells *cells, str *row);

str cell_bytes(struct cells *cells, int64_t bytes);
/* "-" for UINT64_MAX. */
str cell_known_bytes(struct cells *cells, uint64_t bytes);
/* "-" where the ratio is negative. */
str cell_share(struct cells *cells, double ratio);
str cell_count(struct cells *cells, uint64_t count);
/* A number that is a name, such as that of a step: to be typed again. */
str cell_number(struct cells *cells, uint64_t number);
/* An event's number, or `before` where it is below 0: before the first. */
str cell_event(struct cells *cells, int64_t event, const char *before);
/* Foreign text, which is escaped. */
str cell_text(struct cells *cells, str text);
/* Makes the cells of columns of CUT_CPP short where `table` is too wide for the style; none of them
 * like another that it was not like.  Returns whether it was too wide. */
bool cells_shorten(struct cells *cells, const struct style *style, const struct text_table *table,
                   str *cell);
/* "other (3 rows)": the rows of a table that are added up in one. */
str cell_other(struct cells *cells, uint64_t count, const char *one);

#endif
