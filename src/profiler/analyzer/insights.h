/* insights.h - what times and memory of measured calls say of the program's speed. */
#ifndef VRS_PROFILER_ANALYZER_INSIGHTS_H
#define VRS_PROFILER_ANALYZER_INSIGHTS_H

#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"

/* In this order, each at most once; calls of which a rule does not know a figure it needs are left
 * out of that rule, and no duration of 0 divides.
 *
 *     slow_functions      functions whose mean time lies above a percentile of all, slowest first
 *     variable_times      functions whose times deviate much; the figure names the one that does
 *                         most, by its place in the list
 *     memory_intensive    functions with calls whose bytes a second lie above a percentile of all
 *     time_and_memory     times and memory go together, or against each other
 *     memory_growth       memory grows along a line in time */
void insights_find(const struct calls *calls, const double *thresholds, struct findings *ret);

#endif
