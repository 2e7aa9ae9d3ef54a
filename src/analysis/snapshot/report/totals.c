/* totals.c - largest, median and sum of the peaks of several reports. */
#include "analysis/snapshot/report/totals.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/ranks/mad.h"
#include "base/vec.h"

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* A file of one rank often names its neighbours' devices, which are empty there. */
static bool counts(const struct report_device *d)
{
    return !d->name.host && (d->events > 0 || d->segments > 0);
}

bool peak_is_bound(const struct report_device *d, enum curve_name which)
{
    if (d->events == 0 && d->segments == 0)
        return false;
    return !d->traced || !d->curves.of[which].start_known;
}

int64_t peak_told(const struct report_device *d, enum curve_name which)
{
    return d->traced ? d->curves.of[which].peak_bytes : d->curves.of[which].end_bytes;
}

bool totals_of(const struct report *reports, uint32_t count, enum curve_name which,
               struct total *ret)
{
    *ret = (struct total){ 0 };
    VEC(int64_t) peaks = { .max = UINT32_MAX };
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct report *report = &reports[i];
        for (uint32_t k = 0; ok && k < report->devices; k++) {
            const struct report_device *d = &report->device[k];
            int64_t peak = peak_told(d, which);
            if (!counts(d))
                continue;
            if (ret->devices == 0 || peak > ret->largest_bytes) {
                ret->largest_bytes = peak;
                ret->largest_file = i;
                ret->largest_device = d->name;
            }
            ret->devices++;
            ret->bound = ret->bound || peak_is_bound(d, which);
            ret->sum_bytes = (int64_t)((uint64_t)ret->sum_bytes + (uint64_t)peak);
            if (!d->curves.of[which].start_known)
                continue;
            ret->median_bound = ret->median_bound || peak_is_bound(d, which);
            ok = vec_push(&peaks, peak);
        }
    }
    ret->whole = peaks.len;
    if (ok && peaks.len > 0) {
        qsort(peaks.at, peaks.len, sizeof *peaks.at, by_value);
        ret->median_bytes = mad_median(peaks.at, peaks.len);
    }
    vec_free(&peaks);
    return ok;
}
