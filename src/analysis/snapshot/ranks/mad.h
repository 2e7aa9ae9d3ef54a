/* mad.h - the median of some values, and outliers by the median absolute deviation (MAD). */
#ifndef VRS_ANALYSIS_SNAPSHOT_RANKS_MAD_H
#define VRS_ANALYSIS_SNAPSHOT_RANKS_MAD_H

#include <stdint.h>

/* The median of sorted values: of an even number the mean of the two in the middle, rounded down.
 * `count` is at least 1. */
int64_t mad_median(const int64_t *sorted, uint32_t count);

/* The median, and the value above which one is an outlier: that far over the median are five times
 * the median distance from it, and at least 5 % of it.  Changes the order of `value`; `count` is at least 1. */
int64_t mad_limit(int64_t *value, uint32_t count, int64_t *ret_median);

#endif
