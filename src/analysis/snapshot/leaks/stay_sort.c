/* stay_sort.c - stays in order, digit by digit. */
#include "analysis/snapshot/leaks/stay_sort.h"

/* What stays are ordered by, as digits, the least first: those of the allocation up to
 * ALLOCATION_END, then those of the first moment up to MOMENT_END, then those of the key. */
enum { DIGIT_BITS = 16, DIGIT_VALUES = 1 << DIGIT_BITS, DIGIT_MOST = DIGIT_VALUES - 1 };
enum { ALLOCATION_END = 2, MOMENT_END = 4, DIGITS = 8 };

bool stay_room_make(struct stay_room *room, uint32_t stays, struct arena *arena)
{
    room->stay = arena_array(arena, struct stay, stays);
    room->place = arena_array(arena, uint32_t, DIGIT_VALUES);
    return room->stay != NULL && room->place != NULL;
}

static uint32_t digit_of(const struct stay *stay, uint32_t at)
{
    if (at < ALLOCATION_END)
        return stay->allocation >> DIGIT_BITS * at & DIGIT_MOST;
    if (at < MOMENT_END)
        return stay->first >> DIGIT_BITS * (at - ALLOCATION_END) & DIGIT_MOST;
    return (uint32_t)(stay->key >> DIGIT_BITS * (at - MOMENT_END)) & DIGIT_MOST;
}

/* Orders by one digit into `to`, equal ones as they stand; none of them is above `most`. */
static void sort_by_digit(const struct stay *stay, uint32_t stays, uint32_t at, uint32_t most,
                          uint32_t *place, struct stay *to)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i <= most; i++)
        place[i] = 0;
    for (uint32_t i = 0; i < stays; i++)
        place[digit_of(&stay[i], at)]++;
    for (uint32_t i = 0; i <= most; i++) {
        uint32_t here = place[i];
        place[i] = before;
        before += here;
    }
    for (uint32_t i = 0; i < stays; i++)
        to[place[digit_of(&stay[i], at)]++] = stay[i];
}

/* As few digits as there are that differ. */
struct stay *sort_stays(struct stay *stay, uint32_t stays, struct stay_room *room)
{
    struct stay differs = { 0 }, bits = { 0 };
    bool ascend = true;
    for (uint32_t i = 0; i < stays; i++) {
        const struct stay *one = &stay[i];
        differs.key |= one->key ^ stay[0].key;
        differs.first |= one->first ^ stay[0].first;
        differs.allocation |= one->allocation ^ stay[0].allocation;
        bits.key |= one->key;
        bits.first |= one->first;
        bits.allocation |= one->allocation;
        ascend = ascend && (i == 0 || one->allocation > one[-1].allocation);
    }
    for (uint32_t at = ascend ? ALLOCATION_END : 0; at < DIGITS; at++) {
        if (digit_of(&differs, at) == 0)
            continue;
        sort_by_digit(stay, stays, at, digit_of(&bits, at), room->place, room->stay);
        struct stay *unsorted = stay;
        stay = room->stay;
        room->stay = unsorted;
    }
    return stay;
}
