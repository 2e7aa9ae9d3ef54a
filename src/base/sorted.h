/* sorted.h - binary search among sorted rows. */
#ifndef VRS_BASE_SORTED_H
#define VRS_BASE_SORTED_H

#include <stdint.h>

/* Sets `i` to the first of 0 … count - 1 at which `before`, an expression in `i`, does not hold, or
 * to `count`: rows for which it holds must stand before those for which it does not.
 *
 *     uint32_t i;
 *     SORTED_FIND(i, rows, row[i].event < event);  // row[i] is the first at or after the event */
#define SORTED_FIND(i, count, before)                                                              \
    do {                                                                                           \
        uint32_t low_ = 0, high_ = (count);                                                        \
        while (low_ < high_) {                                                                     \
            (i) = low_ + (high_ - low_) / 2;                                                       \
            if (before)                                                                            \
                low_ = (i) + 1;                                                                    \
            else                                                                                   \
                high_ = (i);                                                                       \
        }                                                                                          \
        (i) = low_;                                                                                \
    } while (0)

/* How many of the ascending values are below `least`: the place of the first that is not.  No
 * branch: which way a search goes cannot be guessed. */
static inline uint32_t sorted_at_least(const uint64_t *value, uint32_t count, uint64_t least)
{
    const uint64_t *base = value;
    if (count == 0)
        return 0;
    for (uint32_t len = count; len > 1;) {
        uint32_t half = len / 2;
        /* A conditional expression may become a branch. */
        base += half & -(uint32_t)(base[half - 1] < least);
        len -= half;
    }
    return (uint32_t)(base - value) + (*base < least);
}

/* How many of them are at most `most`: the place of the first that is above it. */
static inline uint32_t sorted_above(const uint64_t *value, uint32_t count, uint64_t most)
{
    return most == UINT64_MAX ? count : sorted_at_least(value, count, most + 1);
}

#endif
