/* patterns.h - patterns in the memory that measured calls of functions leave behind. */
#ifndef VRS_PROFILER_ANALYZER_PATTERNS_H
#define VRS_PROFILER_ANALYZER_PATTERNS_H

#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"

/* In this order, each at most once but the first, which comes for each function; calls of which a
 * rule does not know a figure it needs are left out of that rule.
 *
 *     memory_leak            a function grows in most of its calls, and much in all
 *     fragmentation          little of what is reserved is allocated, in the mean of all calls
 *     inefficient_allocation peaks of calls lie below what they leave behind
 *     memory_spikes          calls that leave far more behind than the others do
 *     repeated_allocations   functions called often that leave little behind each time; those
 *                            with the most in all come first
 *
 * `thresholds` are those of thresholds.h. */
void patterns_find(const struct calls *calls, const double *thresholds, struct findings *ret);

#endif
