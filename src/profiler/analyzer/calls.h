/* calls.h - measured calls of functions, as columns. */
#ifndef VRS_PROFILER_ANALYZER_CALLS_H
#define VRS_PROFILER_ANALYZER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* A number of bytes that nobody knows; of seconds: NaN. */
#define BYTES_UNKNOWN INT64_MIN

struct calls {
    uint32_t count;
    uint32_t functions;
    const uint32_t *function;                  /* whose call: below `functions` */
    const double *started_s;                   /* of one clock */
    const double *seconds;                     /* that it took */
    const int64_t *before_bytes, *after_bytes; /* allocated at both ends */
    const int64_t *reserved_bytes;             /* at its end */
    const int64_t *peak_bytes;                 /* allocated, the most during it */
    const int64_t *grown_bytes;                /* from before to after; 0 where it shrank */
    const int64_t *shrunk_bytes;               /* and the reverse; NULL: not asked for */
};

/* The calls of each function in their order: of function f those from call[first[f]] up to, without
 * it, call[first[f + 1]]. */
struct calls_of {
    const uint32_t *first, *call;
};

/* False when out of memory. */
bool calls_of_each(const struct calls *calls, struct arena *arena, struct calls_of *ret);

static inline bool bytes_known(int64_t bytes)
{
    return bytes != BYTES_UNKNOWN;
}

/* What is allocated after the call and was not before; BYTES_UNKNOWN where one of them is. */
int64_t calls_growth(const struct calls *calls, uint32_t call);

struct calls_totals {
    int64_t grown_bytes, shrunk_bytes, net_bytes;
    int64_t peak_bytes; /* the highest */
    double seconds;
    double mean_seconds, mean_grown_bytes; /* of a call; 0 of none */
};

/* Of all calls; what is not known of one counts as 0, and the means are over all calls. */
struct calls_totals calls_total(const struct calls *calls);

#endif
