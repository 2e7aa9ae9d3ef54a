/* hosts.h - what the host ran at the instants of allocators. */
#ifndef VRS_ANALYSIS_TRACE_CATEGORIES_HOSTS_H
#define VRS_ANALYSIS_TRACE_CATEGORIES_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"

/* Of each memory event: spans of the thread that it happened on, or NO_ROW. */
struct trace_hosts {
    uint32_t *inner;      /* the innermost operator or range around it */
    uint32_t *outer;      /* the outermost operator that is no range */
    uint8_t *accumulates; /* whether AccumulateGrad is around it */
    uint8_t *copies;      /* whether that outermost operator copies from the host to a device */
};

/* False when out of memory. */
bool trace_hosts_make(const struct trace_study *s, struct arena *arena, struct trace_hosts *ret);

#endif
