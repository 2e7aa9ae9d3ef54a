/* search.h - what every rule about measured calls is given. */
#ifndef VRS_PROFILER_SEARCH_H
#define VRS_PROFILER_SEARCH_H

#include "base/arena.h"
#include "profiler/calls.h"
#include "profiler/findings.h"
#include "profiler/thresholds.h"

struct search {
    const struct calls *calls;
    struct calls_of of;
    const double *threshold;
    struct arena *scratch;
    struct findings *found;
};

static inline double search_threshold(const struct search *s, enum threshold id)
{
    return s->threshold[id];
}

#endif
