/* blame.h - what a host thread was doing, instant by instant. */
#ifndef VRS_ANALYSIS_TRACE_BUSY_BLAME_H
#define VRS_ANALYSIS_TRACE_BUSY_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"

/* A stretch of a thread's time with the strongest reason among the spans that it lies in. */
struct piece {
    int64_t start, end;
    uint32_t blame; /* enum blame */
    uint32_t from;  /* the span that gives the reason, the innermost of several */
};

/* Disjoint pieces of each host thread, in the order of time. */
struct pieces {
    uint32_t *first; /* of each track, and one more */
    struct piece *at;
};

/* False when out of memory. */
bool pieces_make(const struct trace_study *s, struct arena *arena, struct pieces *ret);

/* The first piece of a track that ends behind a moment; first[track + 1] where there is none. */
uint32_t pieces_behind(const struct pieces *p, uint32_t track, int64_t moment);

/* Adds the time of [start, end) on a track to the reasons; what no span holds is BLAME_NONE. */
void blame_add(const struct pieces *p, uint32_t track, int64_t start, int64_t end,
               int64_t by_blame[BLAMES]);

#endif
