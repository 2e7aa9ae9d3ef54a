/* radix_sort.h - least-significant-digit radix sort, of rows by keys of theirs or by a column. */
#ifndef VRS_BASE_RADIX_SORT_H
#define VRS_BASE_RADIX_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

/* Ordered by `key`, of one key by `first`, then by `id`; `last` is carried along. */
struct radix_row {
    uint64_t key;
    uint32_t id;
    uint32_t first, last;
};

/* Signed numbers as keys that are in the same order. */
static inline uint64_t radix_key_i64(int64_t number)
{
    return (uint64_t)number ^ (uint64_t)1 << 63;
}

/* What a sort takes; may be used again for as many rows. */
struct radix_room {
    struct radix_row *row;
    uint32_t *place; /* of each value of a digit */
};

/* False when out of memory. */
bool radix_room_make(struct radix_room *room, uint32_t rows, struct arena *arena);

/* In time linear in the rows.  Returns them in their new order: they and those of the room may have
 * changed places. */
struct radix_row *radix_sort(struct radix_row *row, uint32_t rows,
                             struct radix_room *room) MUST_CHECK;

/* What radix_order takes; may be used again for as many rows. */
struct radix_order_room {
    uint32_t *row, *place;
};

/* False when out of memory. */
bool radix_order_room_make(struct radix_order_room *room, uint32_t rows, struct arena *arena);

/* Orders `rows` numbers of rows by what a column has for them, equal ones as they stand: the least
 * first, or the greatest if `falls`.  It takes a sixth of the memory of radix_sort, and its time
 * where the rows stand in about that order already; else it waits for the column's bytes. */
void radix_order(const int64_t *column, bool falls, uint32_t *row, uint32_t rows,
                 struct radix_order_room *room);

/* The numbers of all rows of a column in its order, the least first, of equal ones as they stand.
 * NULL when out of memory. */
uint32_t *radix_ordered(const int64_t *column, uint32_t rows, struct arena *arena);

#endif
