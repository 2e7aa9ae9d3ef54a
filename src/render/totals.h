/* totals.h - what several reports come to.
 *
 * Separate peaks are of separate moments: their sum is a bound, not a reading, and is always
 * called "sum of separate peaks". */
#ifndef VRS_RENDER_TOTALS_H
#define VRS_RENDER_TOTALS_H

#include "render/result.h"

struct total {
    int64_t largest_bytes, median_bytes, sum_bytes; /* median: the lower of two middle ones */
    uint32_t largest_file;                          /* index in the set */
    struct device_name largest_device;
    uint32_t devices; /* that have memory at all */
};

/* False when out of memory. */
bool totals_of(const struct answer_set *set, enum curve_name which, struct total *ret);

#endif
