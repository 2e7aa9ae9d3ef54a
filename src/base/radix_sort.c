/* radix_sort.c - a counting sort of the rows for each digit, the least digit first. */
#include "base/radix_sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* How many there are of each digit becomes where they begin. */
static void add_up(uint32_t *place, uint32_t most)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i <= most; i++) {
        uint32_t here = place[i];
        place[i] = before;
        before += here;
    }
}

/* Orders by one digit into `to`, equal ones as they stand; none of them is above `most`. */
static void sort_by_digit(const struct radix_row *row, uint32_t rows, uint32_t at, uint32_t most,
                          uint32_t *place, struct radix_row *to)
{
    memset(place, 0, ((size_t)most + 1) * sizeof *place);
    for (uint32_t i = 0; i < rows; i++)
        place[digit_of(&row[i], at)]++;
    add_up(place, most);
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

bool radix_order_room_make(struct radix_order_room *room, uint32_t rows, struct arena *arena)
{
    room->row = arena_array(arena, uint32_t, rows);
    room->place = arena_array(arena, uint32_t, DIGIT_VALUES);
    return room->row != NULL && room->place != NULL;
}

/* As radix_order, by the digit at a bit. */
static void order_by_digit(const int64_t *column, uint64_t flips, uint32_t bit, const uint32_t *row,
                           uint32_t rows, uint32_t *place, uint32_t *to)
{
    memset(place, 0, DIGIT_VALUES * sizeof *place);
    for (uint32_t i = 0; i < rows; i++)
        place[((uint64_t)column[row[i]] ^ flips) >> bit & DIGIT_MOST]++;
    add_up(place, DIGIT_MOST);
    for (uint32_t i = 0; i < rows; i++)
        to[place[((uint64_t)column[row[i]] ^ flips) >> bit & DIGIT_MOST]++] = row[i];
}

void radix_order(const int64_t *column, bool falls, uint32_t *row, uint32_t rows,
                 struct radix_order_room *room)
{
    /* A key is that of the number, or its opposite. */
    const uint64_t flips = radix_key_i64(falls ? -1 : 0);
    uint32_t *from = row, *to = room->row;
    uint64_t differs = 0;
    for (uint32_t i = 0; i < rows; i++)
        differs |= (uint64_t)column[row[i]] ^ (uint64_t)column[row[0]];
    for (uint32_t bit = 0; bit < 64; bit += DIGIT_BITS) {
        if ((differs >> bit & DIGIT_MOST) == 0)
            continue;
        order_by_digit(column, flips, bit, from, rows, room->place, to);
        uint32_t *ordered = to;
        to = from;
        from = ordered;
    }
    if (from != row && rows > 0)
        memcpy(row, from, rows * sizeof *row);
}

uint32_t *radix_ordered(const int64_t *column, uint32_t rows, struct arena *arena)
{
    uint32_t *row = arena_array(arena, uint32_t, rows);
    struct arena_mark mark = arena_mark(arena);
    struct radix_order_room room;
    if (row == NULL || !radix_order_room_make(&room, rows, arena))
        return NULL;
    for (uint32_t i = 0; i < rows; i++)
        row[i] = i;
    radix_order(column, false, row, rows, &room);
    arena_release(arena, mark);
    return row;
}
