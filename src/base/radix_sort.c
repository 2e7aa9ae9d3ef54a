/* radix_sort.c - least-significant-digit radix sort: a counting sort of the rows for each digit. */
#include "base/radix_sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row is ordered by digits of 16 bits, the least first: those of `id` up to ID_END, then those of
 * `first` up to FIRST_END, then those of `key`. */
enum { DIGIT_BITS = 16, DIGIT_VALUES = 1 << DIGIT_BITS, DIGIT_MOST = DIGIT_VALUES - 1 };
enum { ID_END = 2, FIRST_END = 4, DIGITS = 8 };

bool radix_room_make(struct radix_room *room, uint32_t rows, struct arena *arena)
{
    room->row = arena_array(arena, struct radix_row, rows);
    room->place = arena_array(arena, uint32_t, DIGIT_VALUES);
    return room->row != NULL && room->place != NULL;
}

static uint32_t digit_of(const struct radix_row *row, uint32_t at)
{
    if (at < ID_END)
        return row->id >> DIGIT_BITS * at & DIGIT_MOST;
    if (at < FIRST_END)
        return row->first >> DIGIT_BITS * (at - ID_END) & DIGIT_MOST;
    return (uint32_t)(row->key >> DIGIT_BITS * (at - FIRST_END)) & DIGIT_MOST;
}

/* Orders by one digit into `to`, equal ones as they stand; none of them is above `most`. */
static void sort_by_digit(const struct radix_row *row, uint32_t rows, uint32_t at, uint32_t most,
                          uint32_t *place, struct radix_row *to)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i <= most; i++)
        place[i] = 0;
    for (uint32_t i = 0; i < rows; i++)
        place[digit_of(&row[i], at)]++;
    for (uint32_t i = 0; i <= most; i++) {
        uint32_t here = place[i];
        place[i] = before;
        before += here;
    }
    for (uint32_t i = 0; i < rows; i++)
        to[place[digit_of(&row[i], at)]++] = row[i];
}

/* As few digits as there are that differ. */
struct radix_row *radix_sort(struct radix_row *row, uint32_t rows, struct radix_room *room)
{
    struct radix_row differs = { 0 }, bits = { 0 };
    bool ascend = true;
    for (uint32_t i = 0; i < rows; i++) {
        const struct radix_row *one = &row[i];
        differs.key |= one->key ^ row[0].key;
        differs.first |= one->first ^ row[0].first;
        differs.id |= one->id ^ row[0].id;
        bits.key |= one->key;
        bits.first |= one->first;
        bits.id |= one->id;
        ascend = ascend && (i == 0 || one->id > one[-1].id);
    }
    for (uint32_t at = ascend ? ID_END : 0; at < DIGITS; at++) {
        if (digit_of(&differs, at) == 0)
            continue;
        sort_by_digit(row, rows, at, digit_of(&bits, at), room->place, room->row);
        struct radix_row *unsorted = row;
        row = room->row;
        room->row = unsorted;
    }
    return row;
}
