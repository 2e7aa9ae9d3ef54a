/* leak_class.c - the classes of growth, of which it is known what is alive and since when. */
#include "analysis/snapshot/leaks/leak_class.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/growth.h"

enum {
    LEAK_GENERATIONS = 3,
    SUSPECT_GENERATIONS = 2,
};

const char *const leak_class_names[LEAK_CLASSES] = {
    [LEAK_CLASS_REPLACED] = "replaced",   [LEAK_CLASS_ONE_TIME] = "one_time",
    [LEAK_CLASS_PLATEAU] = "plateau",     [LEAK_CLASS_SAWTOOTH] = "sawtooth",
    [LEAK_CLASS_LEAK] = "leak",           [LEAK_CLASS_SUSPECT] = "suspect",
    [LEAK_CLASS_TOO_SMALL] = "too_small", [LEAK_CLASS_STABLE] = "stable",
};

const char *const leak_kind_names[LEAK_KINDS] = {
    [LEAK_UNKNOWN] = "unknown", [LEAK_GRADIENTS] = "gradients", [LEAK_GRAPH] = "graph_kept",
    [LEAK_OUTPUTS] = "outputs", [LEAK_CACHE] = "cache",
};

static bool is_replaced(const struct leak_series *s, uint32_t warm)
{
    for (uint32_t t = warm; t < s->moments; t++)
        if (s->bytes[t] != s->bytes[warm] || s->counts[t] != s->counts[warm])
            return false;
    return s->counts[warm] != 0 && s->all_from_last_step;
}

/* A window of the last few: its allocations are no more in number, whatever their sizes do.  So is
 * memory that is made anew in another size. */
static bool is_as_many(const struct leak_series *s, uint32_t warm)
{
    uint32_t last = growth_last_moments(s->steps);
    uint32_t from = last < s->moments ? s->moments - last : warm, end = s->counts[s->moments - 1];
    for (uint32_t t = from; t < s->moments; t++)
        if (s->counts[t] < end)
            return false;
    return true;
}

/* Whether it rises as a leak does, or of few steps in all.  What rises by memory that stays is of
 * as many generations, or of half as many where a flush took some; a cache that is copied into a
 * larger one is not. */
static bool is_rising(const struct leak_series *s, const uint64_t *bytes, uint32_t generations,
                      uint32_t warm, int64_t slope)
{
    uint32_t after_warm = s->moments - 1 - warm;
    struct growth_rises rises = growth_count_rises(bytes, s->moments, warm);
    if (!growth_rises_suffice(rises.all, after_warm, s->steps))
        return false;
    if (s->steps < GROWTH_STEPS_MIN)
        return generations >= SUSPECT_GENERATIONS;
    uint32_t enough = s->steps - 1 < LEAK_GENERATIONS ? s->steps - 1 : LEAK_GENERATIONS;
    return slope > 0 && generations >= enough && generations >= rises.unbroken / 2;
}

/* What rises in every step; where what rises is let go of a step later, it was replaced.  In few
 * steps what goes later than that hides among what stays: there all of it must rise. */
static enum leak_class class_of_rises(const struct leak_series *s, uint32_t warm, int64_t slope,
                                      int64_t *room)
{
    bool few = s->steps < GROWTH_STEPS_MIN;
    int64_t seen = growth_slope(s->bytes, s->moments, warm, room);
    bool seems = is_rising(s, s->bytes, s->generations, warm, seen);
    bool rises = is_rising(s, s->staying_bytes, s->staying_generations, warm, slope);
    if (rises && is_as_many(s, warm))
        return LEAK_CLASS_STABLE;
    if (!rises || (few && !seems))
        return seems ? LEAK_CLASS_REPLACED : LEAK_CLASS_STABLE;
    if (few)
        return s->end_compares ? LEAK_CLASS_SUSPECT : LEAK_CLASS_STABLE;
    return s->at_most_suspect ? LEAK_CLASS_SUSPECT : LEAK_CLASS_LEAK;
}

static enum leak_class class_of(const struct leak_series *s, uint32_t warm, int64_t slope,
                                int64_t *room)
{
    if (is_replaced(s, warm))
        return LEAK_CLASS_REPLACED;
    if (growth_is_one_time(s->bytes, s->moments, warm))
        return LEAK_CLASS_ONE_TIME;
    if (growth_is_plateau(s->bytes, s->moments, s->steps))
        return LEAK_CLASS_PLATEAU;
    if (growth_is_sawtooth(s->bytes, s->moments, warm))
        return LEAK_CLASS_SAWTOOTH;
    return class_of_rises(s, warm, slope, room);
}

struct leak_trend leak_judge(const struct leak_series *s, int64_t room[SLOPE_PAIRS_MAX])
{
    uint32_t warm = leak_warm_up(s->steps);
    struct leak_trend trend = { .slope_bytes =
                                    growth_slope(s->staying_bytes, s->moments, warm, room) };
    trend.class = class_of(s, warm, trend.slope_bytes, room);
    trend.every_steps = trend.class == LEAK_CLASS_LEAK || trend.class == LEAK_CLASS_SUSPECT;
    if (trend.class != LEAK_CLASS_STABLE)
        return trend;
    struct growth_stair stair = growth_stair_of(s->staying_bytes, s->moments, warm);
    if (stair.distance == 0 || s->staying_generations < stair.rises)
        return trend;
    trend.every_steps = stair.distance;
    trend.slope_bytes = stair.slope_bytes;
    trend.class = s->at_most_suspect ? LEAK_CLASS_SUSPECT : LEAK_CLASS_LEAK;
    return trend;
}
