/* leak_class.h - classifies a series of bytes, one for each step: leak, plateau, … */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_CLASS_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/leaks/leaks.h"

/* Bytes and counts of one site at each moment; births tell from how many steps what is alive at the
 * last moment comes, and whether all of it is from the last one. */
struct leak_series {
    const uint64_t *bytes;
    const uint32_t *counts;
    uint32_t moments; /* at least 3 */
    uint32_t steps;   /* moments or one less */
    uint32_t generations;
    bool all_from_last_step;
    bool by_size; /* no stacks: at most suspect */
};

/* Steps that warm up: what they add is no leaks. */
static inline uint32_t leak_warm_up(uint32_t steps)
{
    return steps >= 6 ? 2 : 1;
}

/* Theil-Sen: the lower median of the slopes of all pairs of moments after the warm-up, each
 * rounded down.  Of many moments SLOPE_POINTS_MAX are taken, evenly, the last among them. */
enum { SLOPE_POINTS_MAX = 128, SLOPE_PAIRS_MAX = SLOPE_POINTS_MAX * (SLOPE_POINTS_MAX - 1) / 2 };
int64_t leak_slope(const uint64_t *bytes, uint32_t moments, uint32_t warm_up,
                   int64_t room[SLOPE_PAIRS_MAX]);

enum leak_class leak_classify(const struct leak_series *s, int64_t slope_bytes);

#endif
