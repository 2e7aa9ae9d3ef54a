/* intervals.h - sets of time, as half-open intervals in the order of their starts. */
#ifndef VRS_ANALYSIS_TRACE_BUSY_INTERVALS_H
#define VRS_ANALYSIS_TRACE_BUSY_INTERVALS_H

#include <stdint.h>

struct interval {
    int64_t start, end;
};

struct intervals {
    struct interval *at;
    uint32_t len;
};

/* Adds one that starts at or after the last; those that touch become one, empty ones none.  There
 * must be room. */
void intervals_add(struct intervals *s, int64_t start, int64_t end);

int64_t intervals_measure(const struct intervals *s);
/* What two sets share. */
int64_t intervals_common(const struct intervals *a, const struct intervals *b);
/* What two intervals share. */
int64_t interval_common(struct interval a, struct interval b);

/* A set of which only its end is kept.  Begun with the moment before which nothing counts. */
struct covering {
    int64_t until;
};

/* Adds [start, end), which does not start before those added before it; returns what of it is new:
 * an empty interval if nothing is.  An empty one that starts later moves the end on. */
struct interval covering_add(struct covering *c, int64_t start, int64_t end);

#endif
