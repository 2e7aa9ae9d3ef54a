/* intervals.h - sets of time as sorted lists of disjoint half-open intervals. */
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

#endif
