/* row_table.h - a table of which each row is filled by a function, up to so many rows. */
#ifndef VRS_RENDER_WRITE_ROW_TABLE_H
#define VRS_RENDER_WRITE_ROW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/text.h"

/* Fills the cells of the row `i`. */
typedef void fill_row(struct cells *cells, const void *from, uint32_t i, str *cell);

struct row_table {
    const struct text_column *column;
    uint32_t columns, rows, most;
    const void *from; /* handed to `fill` */
    fill_row *fill;
    const char *one; /* what a row is, for the line about those left out */
    uint64_t all;    /* rows with those that are not kept; 0: none are */
    const char *says_cut; /* what has names whole, which is said where some are cut; NULL */
};

#define ROW_TABLE_COLUMNS(array)                                                                   \
    .column = (array), .columns = sizeof(array) / sizeof *(array)

/* The table, two blanks in, then how many rows were left out; nothing where it has no row.  Returns
 * whether it has one. */
bool row_table(struct buf *to, const struct style *style, const struct row_table *table);

/* "and 3 rows more" under a table; nothing of 0. */
void row_table_rest(struct buf *to, const struct style *style, uint64_t rest, const char *one);

/* Words under a table, as far in as its rows, on as many lines as they take.  Empties `words`. */
void table_note(struct buf *to, const struct style *style, struct buf *words);
/* The same of words that stand as they are. */
void table_note_text(struct buf *to, const struct style *style, const char *words);

#endif
