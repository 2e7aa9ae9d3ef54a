/* growth.h - the rule for growth: whether a row of bytes, one for each step, keeps growing.
 *
 * A moment is the end of a step.  Steps up to the moment `warm` warm up: what they add, such as
 * the state of an optimizer, is no growth.  Whoever knows more of the bytes than their number asks
 * the parts of the rule; growth_judge is all of it for who does not. */
#ifndef VRS_BASE_GROWTH_H
#define VRS_BASE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

/* Theil-Sen: the lower median of the slopes of all pairs of moments after the warm-up, each
 * rounded down.  Of many moments SLOPE_POINTS_MAX are taken, evenly, the last among them. */
enum { SLOPE_POINTS_MAX = 128, SLOPE_PAIRS_MAX = SLOPE_POINTS_MAX * (SLOPE_POINTS_MAX - 1) / 2 };
int64_t growth_slope(const uint64_t *bytes, uint32_t moments, uint32_t warm,
                     int64_t room[SLOPE_PAIRS_MAX]);

/* Fewer steps show no trend: what grows in all of them is a suspect. */
enum { GROWTH_STEPS_MIN = 4 };

/* The moments at the end that must be alike where what rose has stopped to rise. */
uint32_t growth_last_moments(uint32_t steps);

/* It came with the warm-up, then stayed within one percent. */
bool growth_is_one_time(const uint64_t *bytes, uint32_t moments, uint32_t warm);

/* It rose, then stayed within one percent. */
bool growth_is_plateau(const uint64_t *bytes, uint32_t moments, uint32_t steps);

/* It rises and is flushed, again and again. */
bool growth_is_sawtooth(const uint64_t *bytes, uint32_t moments, uint32_t warm);

/* Rises after the warm-up, in all and since the last fall. */
struct growth_rises {
    uint32_t all, unbroken;
};
struct growth_rises growth_count_rises(const uint64_t *bytes, uint32_t moments, uint32_t warm);

/* Whether so many rises in so many steps after the warm-up are those of a leak that grows in each;
 * of few steps all must rise. */
bool growth_rises_suffice(uint32_t rises, uint32_t after_warm, uint32_t steps);

/* Rises at one distance, up to the end, of what never falls.  Optimizer state rises once, a cache
 * that fills up falls behind. */
struct growth_stair {
    uint32_t distance; /* in steps, at least 2; 0: there is none */
    uint32_t rises;
    int64_t slope_bytes; /* a step */
};
struct growth_stair growth_stair_of(const uint64_t *bytes, uint32_t moments, uint32_t warm);

enum growth_class {
    GROWTH_STABLE,
    GROWTH_PLATEAU,
    GROWTH_SAWTOOTH,
    GROWTH_SUSPECT, /* would be a leak, but too few steps were seen */
    GROWTH_LEAK,
    GROWTH_CLASSES
};
extern const char *const growth_class_names[GROWTH_CLASSES];

struct growth_trend {
    enum growth_class class;
    int64_t slope_bytes;  /* a step */
    uint32_t every_steps; /* of leaks and suspects: it rises in each, or each second, … step */
};

/* Of at least 3 moments that come after the warm-up. */
struct growth_trend growth_judge(const uint64_t *bytes, uint32_t moments,
                                 int64_t room[SLOPE_PAIRS_MAX]);

#endif
