/* chart_numbers.h - the arithmetic of charts: ranges, values of groups, bins of a histogram. */
#ifndef VRS_RENDER_PROFILER_CHART_NUMBERS_H
#define VRS_RENDER_PROFILER_CHART_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "render/profiler/chart.h"

/* What is larger is taken for unknown too, so that sums and differences of what is known are
 * finite. */
static inline bool chart_is_known(double value)
{
    return fabs(value) < 1e300;
}

/* Empty while low > high. */
struct chart_range {
    double low, high;
};

struct chart_range chart_range_empty(void);
/* Takes known values in. */
void chart_range_take(struct chart_range *range, const double *value, uint32_t count);
/* What is empty becomes 0 to 1, a single value gets room above it. */
void chart_range_widen(struct chart_range *range);

/* The value of each group of a series, its largest or its mean; NaN: it has none that is known.
 * NULL: no memory. */
double *chart_reduce(const struct chart_series *series, uint32_t groups, struct arena *arena);

/* Rows of values in descending order, unknown ones last, equal ones by number.  NULL: no memory. */
uint32_t *chart_descending(const double *value, uint32_t count, struct arena *arena);

/* Points of a series in the order of x; those of equal x in their own.  NULL: no memory. */
uint32_t *chart_by_x(const struct chart_series *series, struct arena *arena);

enum { CHART_BINS_MOST = 40 };

/* Bin i holds values from low + i * width up to the next one; the last its upper end, too. */
struct chart_bins {
    double low, width;
    uint32_t bins, in[CHART_BINS_MOST], highest; /* highest: the largest of `in` */
    uint32_t known;
};

/* As many bins as Sturges's rule says: 1 + log2 of the values that are known, rounded down. */
struct chart_bins chart_bins_of(const double *value, uint32_t count);

#endif
