/* gaps.h - why a device waited: a gap, parted by the launch of the work that ended it. */
#ifndef VRS_ANALYSIS_TRACE_BUSY_GAPS_H
#define VRS_ANALYSIS_TRACE_BUSY_GAPS_H

#include <stdint.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/study/study.h"

/* A gap of GAP_HOST_LATE has two parts: the host is late up to the launch, what is left is the
 * `rest`.  A gap of another class is whole. */
struct gap_parts {
    enum gap_class kind, rest;
    int64_t late_until; /* the end of the gap where it is whole */
};

/* The gap from `start` to the work `next`. */
struct gap_parts gap_part(const struct trace_study *s, int64_t start, uint32_t next);

/* What ends a gap where the work at this place of the order of all spans begins: of the work of its
 * process that begins together the shortest, of equally short work the first. */
uint32_t gap_end(const struct trace_study *s, uint32_t at);

#endif
