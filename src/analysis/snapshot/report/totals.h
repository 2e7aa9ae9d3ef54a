/* totals.h - what several reports come to. */
#ifndef VRS_ANALYSIS_SNAPSHOT_REPORT_TOTALS_H
#define VRS_ANALYSIS_SNAPSHOT_REPORT_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"

/* Whether a device's peak is only a lower bound: its file is cut, or it has but a final state. */
bool peak_is_bound(const struct report_device *d, enum curve_name which);

/* The peak as reports tell it: of a recording without a trace that of its final state. */
int64_t peak_told(const struct report_device *d, enum curve_name which);

/* False when out of memory. */
bool totals_of(const struct report *reports, uint32_t count, enum curve_name which,
               struct total *ret);

#endif
