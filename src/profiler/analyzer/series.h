/* series.h - leaks told from one series of samples, without functions or devices. */
#ifndef VRS_PROFILER_ANALYZER_SERIES_H
#define VRS_PROFILER_ANALYZER_SERIES_H

#include <stddef.h>

#include "profiler/analyzer/findings.h"

/* In this order, each at most once, of values of which all are known:
 *
 *     monotonic_increase   most steps go up
 *     memory_spikes        values many deviations above the mean
 *     insufficient_cleanup the last values lie well above the first ones */
void series_find(const double *value, size_t count, const double *thresholds, struct findings *ret);

#endif
