/* search.h - what every rule about measured calls is given. */
#ifndef VRS_PROFILER_ANALYZER_SEARCH_H
#define VRS_PROFILER_ANALYZER_SEARCH_H

#include "base/arena.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/thresholds.h"

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
