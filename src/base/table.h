/* table.h - tables as structures of arrays: columns of equal length; a row is an index.
 *
 * A table is a struct whose first member is `struct table` and whose columns are pointers. What
 * columns there are is data (struct table_kind), so growing, trimming, reordering, checking and
 * handing out a column are written once for all tables. */
#ifndef VRS_BASE_TABLE_H
#define VRS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "None", where a row may be missing. */
#define NO_ROW UINT32_MAX

enum column_type { COLUMN_U8, COLUMN_U16, COLUMN_U32, COLUMN_U64, COLUMN_I64, COLUMN_F64 };

struct column {
    const char *name;
    uint16_t offset; /* of the pointer in the table's struct */
    uint8_t type;    /* enum column_type */
};

struct table_kind {
    const char *name;
    const struct column *column;
    uint32_t columns;
};

/* Invariant: len <= cap <= max; every column holds cap elements. */
struct table {
    uint32_t len, cap, max;
};

size_t column_width(enum column_type type);

/* Makes room for `more` rows; false when that passes `max` or memory ran out. */
bool table_reserve(void *table, const struct table_kind *kind, uint32_t more);

/* Makes room for about `rows` rows in all that may come, `likely` of which most likely will: in
 * address space, since pages come as they are touched, so that columns need not grow by moving.  A
 * hint that may fail. */
void table_expect(void *table, const struct table_kind *kind, uint64_t rows, uint64_t likely);

/* Gives back what was reserved beyond `len`; a failure only costs memory. */
void table_trim(void *table, const struct table_kind *kind);

/* Makes the rows row[0], row[1], … row[count - 1] the whole table, in this order.  False when
 * memory ran out; the table is then unchanged in length but may be partly reordered, fit only
 * to be freed. */
bool table_gather(void *table, const struct table_kind *kind, const uint32_t *row, uint32_t count);

void table_free(void *table, const struct table_kind *kind);

#endif
