/* quickselect.c - partitions as quicksort does, and goes on in the part with the k-th value. */
#include "base/quickselect.h"

#include <stdlib.h>

/* What does not narrow soon is sorted. */
enum { TRIES_MOST = 48 };

/* Written once for two widths, as a macro: the gaps of a million allocs would take twice the room
 * as 64-bit numbers, and a function of comparison is five times slower.
 *
 * The pivot is the middle of three, which sorted values do not make slow; what equals it is swapped
 * too, so that equal ones do not either.  After a split what stands up to `k` is at most the pivot,
 * the rest at least. */
#define SELECT_DEFINE(type, name)                                                                  \
    static int name##_compare(const void *a, const void *b)                                        \
    {                                                                                              \
        type x = *(const type *)a, y = *(const type *)b;                                           \
        return (x > y) - (x < y);                                                                  \
    }                                                                                              \
                                                                                                   \
    static type name##_pivot(type a, type b, type c)                                               \
    {                                                                                              \
        type low = a < b ? a : b, high = a < b ? b : a;                                            \
        return c < low ? low : c > high ? high : c;                                                \
    }                                                                                              \
                                                                                                   \
    type name(type *value, uint32_t count, uint32_t wanted)                                        \
    {                                                                                              \
        uint32_t low = 0, high = count - 1;                                                        \
        for (int tries = 0; low < high && tries < TRIES_MOST; tries++) {                           \
            type pivot = name##_pivot(value[low], value[low + (high - low) / 2], value[high]);     \
            uint32_t i = low, k = high;                                                            \
            for (;;) {                                                                             \
                while (value[i] < pivot)                                                           \
                    i++;                                                                           \
                while (value[k] > pivot)                                                           \
                    k--;                                                                           \
                if (i >= k)                                                                        \
                    break;                                                                         \
                type swapped = value[i];                                                           \
                value[i++] = value[k];                                                             \
                value[k--] = swapped;                                                              \
            }                                                                                      \
            if (wanted <= k)                                                                       \
                high = k;                                                                          \
            else                                                                                   \
                low = k + 1;                                                                       \
        }                                                                                          \
        if (low < high)                                                                            \
            qsort(value + low, high - low + 1, sizeof *value, name##_compare);                     \
        return value[wanted];                                                                      \
    }

SELECT_DEFINE(uint32_t, quickselect_u32)
SELECT_DEFINE(int64_t, quickselect_i64)
