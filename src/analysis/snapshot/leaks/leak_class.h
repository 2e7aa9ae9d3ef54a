/* leak_class.h - classifies a series of bytes, one for each step: leak, plateau, … */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_CLASS_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/leaks/leaks.h"
#include "base/growth.h"

/* Of one site, at each moment: what is alive, and of that what does not go with the next step.
 * Generations are the steps that what is alive at the last moment comes from. */
struct leak_series {
    const uint64_t *bytes, *staying_bytes;
    const uint32_t *counts;
    uint32_t moments; /* at least 3 */
    uint32_t steps;   /* moments or one less */
    uint32_t generations, staying_generations;
    bool all_from_last_step;
    bool end_compares;    /* the last moment is at the point of the cycle of those before it */
    bool at_most_suspect; /* no stacks, or steps that repetition alone tells */
};

/* What a series is, and how it grows. */
struct leak_trend {
    enum leak_class class;
    int64_t slope_bytes;  /* a step */
    uint32_t every_steps; /* of leaks and suspects: it rises in each, or each second, … step */
};

/* Steps that warm up: what they add is no leaks. */
static inline uint32_t leak_warm_up(uint32_t steps)
{
    return steps >= 6 ? 2 : 1;
}

struct leak_trend leak_judge(const struct leak_series *s, int64_t room[SLOPE_PAIRS_MAX]);

#endif
