/* gaps.h - memory of a device that its allocator does not know of, classified over time. */
#ifndef VRS_PROFILER_ANALYZER_GAPS_H
#define VRS_PROFILER_ANALYZER_GAPS_H

#include <stdint.h>

#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/samples.h"

/* The gap is what the device uses less what the allocator has reserved.  Nothing is found where no
 * gap is a noteworthy share of the device.  At most one of each, the most severe first:
 *
 *     transient_spike    gaps far above the mean
 *     persistent_drift   gaps that grow along a line
 *     fragmentation_like much of what is reserved is not allocated
 *
 * `*ret_dropped` counts the samples of which used, reserved or total is not known. */
void gaps_find(const struct samples *samples, const double *thresholds, struct findings *ret,
               uint32_t *ret_dropped);

#endif
