/* mad.c - the median and the median absolute deviation, in whole numbers. */
#include "analysis/snapshot/ranks/mad.h"

#include <stdlib.h>

enum { DISTANCES = 5, PERCENT = 5 };

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t mad_median(const int64_t *sorted, uint32_t count)
{
    int64_t low = sorted[(count - 1) / 2], high = sorted[count / 2];
    return (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2);
}

static int64_t median_of(int64_t *value, uint32_t count)
{
    qsort(value, count, sizeof *value, by_value);
    return mad_median(value, count);
}

static int64_t bounded(uint64_t n)
{
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

int64_t mad_limit(int64_t *value, uint32_t count, int64_t *ret_median)
{
    int64_t median = median_of(value, count);
    for (uint32_t i = 0; i < count; i++)
        value[i] = bounded(value[i] > median ? (uint64_t)value[i] - (uint64_t)median
                                             : (uint64_t)median - (uint64_t)value[i]);
    int64_t distance = median_of(value, count);
    int64_t over = distance > INT64_MAX / DISTANCES ? INT64_MAX : distance * DISTANCES;
    if (median > 0 && median / 100 * PERCENT + median % 100 * PERCENT / 100 > over)
        over = median / 100 * PERCENT + median % 100 * PERCENT / 100;
    *ret_median = median;
    return median > 0 && over > INT64_MAX - median ? INT64_MAX : median + over;
}
