/* statistics.h - descriptive statistics of doubles: mean, deviation, percentiles, line, z-score.
 *
 * No call knows a unit: results are in that of the values, or have none.  NaN is the one answer for
 * what is unknown; 0 always means zero.  Every call answers NaN for no values at all, where any
 * value is NaN or infinite (a caller that wants those left out leaves them out, and counts them),
 * and where the result is too large for a double.  What one value or equal values give is said at
 * each.  Results hold to 1e-12 of themselves; a mean or an intercept that is nearly 0, to 1e-25 of
 * the values it cancels from.  Nothing is allocated, so nothing can fail; arrays are read during
 * the call alone. */
#ifndef VRAMSCOPE_STATISTICS_H
#define VRAMSCOPE_STATISTICS_H

#include <stddef.h>

#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arithmetic mean.  One value or equal values: that value, exactly. */
VRS_API double vrs_statistics_mean(const double *value, size_t count);

/* The population deviation, which divides by `count`.  One value or equal values: 0. */
VRS_API double vrs_statistics_deviation(const double *value, size_t count);

/* Puts values in ascending order as the calls below want them, NaN last. */
VRS_API void vrs_statistics_sort(double *value, size_t count);

/* The percentile at `share` of 0 to 1: linear between the order statistics on both sides of the
 * place (count - 1) * share, a product of doubles: at 0.9 of eleven values it is the tenth.  One
 * value or equal values: that value.  Any other share: NaN. */
VRS_API double vrs_statistics_percentile(const double *sorted, size_t count, double share);

struct vrs_quartiles {
    double low, median, high; /* the percentiles at 0.25, 0.5, 0.75 */
};

/* One value or equal values: three times that value. */
VRS_API struct vrs_quartiles vrs_statistics_quartiles(const double *sorted, size_t count);

/* The median absolute deviation from the median, not scaled.  One value or equal values: 0. */
VRS_API double vrs_statistics_mad(const double *sorted, size_t count);

/* The robust z-score of each of `asked` values against the sorted ones: 0.6745 (value - median) /
 * MAD.  NaN for all where the MAD is 0, and for a value that is NaN or infinite itself. */
VRS_API void vrs_statistics_robust_z(const double *sorted, size_t count, const double *value,
                                     size_t asked, double *ret_z);

struct vrs_line {
    double slope, intercept;
    double r; /* Pearson's, -1 to 1 */
    double p; /* of a slope at least as steep by chance: two-sided, t with count - 2 degrees */
};

/* The line of least squares y = slope * x + intercept.  All NaN: fewer than two points, or equal x.
 * Equal y: slope 0, r and p NaN.  Two points: p NaN.  Points on one line: p 0. */
VRS_API struct vrs_line vrs_statistics_line(const double *x, const double *y, size_t count);

/* Pearson's r.  NaN for fewer than two points, and where all x or all y are equal. */
VRS_API double vrs_statistics_pearson(const double *x, const double *y, size_t count);

/* Where values become steady: the first index from which every value is within `share` (0 to 0.5)
 * of the median of the values from there on.  The last value alone is steady; how many there are
 * from the index on says what that is worth.  SIZE_MAX: no values, one that is NaN or infinite, or
 * another share.  `room` is for `count` doubles, which are overwritten. */
VRS_API size_t vrs_statistics_steady(const double *value, size_t count, double share, double *room);

#ifdef __cplusplus
}
#endif
#endif
