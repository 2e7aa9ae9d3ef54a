/* sorted.h - finding a value among sorted ones. */
#ifndef VRS_BASE_SORTED_H
#define VRS_BASE_SORTED_H

#include <stdint.h>

/* How many of the ascending values are below `least`: the place of the first that is not. */
static inline uint32_t sorted_at_least(const uint64_t *value, uint32_t count, uint64_t least)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (value[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
