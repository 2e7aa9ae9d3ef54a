/* call_ranges.h - ranges as an overlay of the call tree. */
#ifndef VRS_ANALYSIS_TRACE_CALLS_CALL_RANGES_H
#define VRS_ANALYSIS_TRACE_CALLS_CALL_RANGES_H

#include <stdbool.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"

/* Fills what of a call tree is about ranges.  False when out of memory. */
bool call_ranges_make(const struct trace_study *s, struct arena *arena, struct call_paths *ret);

#endif
