/* totals.h - what several reports come to.
 *
 * Separate peaks are of separate moments: their sum is a bound, not a reading, and is always
 * called "sum of separate peaks". */
#ifndef VRS_RENDER_ANSWER_TOTALS_H
#define VRS_RENDER_ANSWER_TOTALS_H

#include "render/answer/result.h"

struct total {
    int64_t largest_bytes, sum_bytes;
    int64_t median_bytes;  /* of those not cut; the lower of two middle ones */
    uint32_t largest_file; /* index in the set */
    struct device_name largest_device;
    uint32_t devices;  /* that have memory at all */
    uint32_t whole;    /* of them, those not cut: whose trace ends where it was taken */
    bool bound;        /* one of the peaks is a lower bound, so largest and sum are */
    bool median_bound; /* one of those not cut is */
};

/* Whether a device's peak is only a lower bound: its file is cut, or it has but a final state. */
bool peak_is_bound(const struct report_device *d, enum curve_name which);

/* False when out of memory. */
bool totals_of(const struct answer_set *set, enum curve_name which, struct total *ret);

#endif
