/* leak_class.c - the classes of growth; a slope is the Theil-Sen median of slopes. */
#include "analysis/snapshot/leaks/leak_class.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/quickselect.h"

enum {
    PLATEAU_MOMENTS_MIN = 3,
    SAWTOOTH_DROPS_MIN = 2,
    LEAK_GENERATIONS = 3,
    SUSPECT_GENERATIONS = 2,
    SAME_PERCENT = 1,
    RISING_PERCENT = 80, /* of the steps, in a leak that grows in each */
    STAIR_RISES_MIN = 3, /* of one that grows in each second, or third, … step */
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

static int64_t slope_of(uint64_t from, uint64_t to, uint32_t steps)
{
    int64_t rise = (int64_t)(to - from), slope = rise / steps;
    return rise % steps < 0 ? slope - 1 : slope;
}

int64_t leak_slope(const uint64_t *bytes, uint32_t moments, uint32_t warm_up,
                   int64_t room[SLOPE_PAIRS_MAX])
{
    uint32_t first = warm_up, points = moments - first, pairs = 0;
    uint32_t taken = points < SLOPE_POINTS_MAX ? points : SLOPE_POINTS_MAX;
    bool changes = false;
    for (uint32_t t = first + 1; t < moments; t++)
        changes |= bytes[t] != bytes[first];
    if (!changes)
        return 0;
    for (uint32_t i = 0; i < taken; i++)
        for (uint32_t k = i + 1; k < taken; k++) {
            uint32_t a = first + (uint32_t)((uint64_t)i * (points - 1) / (taken - 1));
            uint32_t b = first + (uint32_t)((uint64_t)k * (points - 1) / (taken - 1));
            room[pairs++] = slope_of(bytes[a], bytes[b], b - a);
        }
    return quickselect_i64(room, pairs, (pairs - 1) / 2);
}

/* Within one percent of `base`. */
static bool stays(const struct leak_series *s, uint32_t from, uint32_t to, uint64_t base)
{
    for (uint32_t t = from; t < to; t++) {
        uint64_t off = s->bytes[t] > base ? s->bytes[t] - base : base - s->bytes[t];
        if (off > base / 100 * SAME_PERCENT)
            return false;
    }
    return true;
}

static bool is_replaced(const struct leak_series *s, uint32_t warm)
{
    for (uint32_t t = warm; t < s->moments; t++)
        if (s->bytes[t] != s->bytes[warm] || s->counts[t] != s->counts[warm])
            return false;
    return s->counts[warm] != 0 && s->all_from_last_step;
}

static bool is_one_time(const struct leak_series *s, uint32_t warm)
{
    return s->bytes[warm] > s->bytes[0] && stays(s, warm, s->moments, s->bytes[warm]);
}

static bool is_plateau(const struct leak_series *s)
{
    uint32_t thirds = s->steps / 3;
    uint32_t last = thirds > PLATEAU_MOMENTS_MIN ? thirds : PLATEAU_MOMENTS_MIN;
    uint64_t end = s->bytes[s->moments - 1];
    return last < s->moments && end > s->bytes[0] && stays(s, s->moments - last, s->moments, end);
}

/* A window of the last few: its allocations are no more in number, whatever their sizes do.  So is
 * memory that is made anew in another size. */
static bool is_as_many(const struct leak_series *s, uint32_t warm)
{
    uint32_t thirds = s->steps / 3;
    uint32_t last = thirds > PLATEAU_MOMENTS_MIN ? thirds : PLATEAU_MOMENTS_MIN;
    uint32_t from = last < s->moments ? s->moments - last : warm, end = s->counts[s->moments - 1];
    for (uint32_t t = from; t < s->moments; t++)
        if (s->counts[t] < end)
            return false;
    return true;
}

/* Drops of at least half of what had risen since the last one. */
static bool is_sawtooth(const struct leak_series *s, uint32_t warm)
{
    uint64_t low = s->bytes[warm], top = low;
    uint32_t drops = 0;
    for (uint32_t t = warm + 1; t < s->moments; t++) {
        uint64_t now = s->bytes[t];
        if (now > top)
            top = now;
        if (now < top && top > low && top - now >= (top - low + 1) / 2) {
            drops++;
            low = top = now;
        }
        if (now < low)
            low = top = now;
    }
    return drops >= SAWTOOTH_DROPS_MIN;
}

/* Rises after the warm-up, in all and since the last fall. */
struct rises {
    uint32_t all, unbroken;
};

static struct rises count_rises(const uint64_t *bytes, uint32_t moments, uint32_t warm)
{
    struct rises rises = { 0 };
    for (uint32_t t = warm + 1; t < moments; t++) {
        bool rise = bytes[t] > bytes[t - 1];
        rises.all += rise;
        rises.unbroken = bytes[t] < bytes[t - 1] ? 0 : rises.unbroken + rise;
    }
    return rises;
}

/* Whether it rises as a leak does, or of few steps in all.  What rises by memory that stays is of
 * as many generations, or of half as many where a flush took some; a cache that is copied into a
 * larger one is not. */
static bool is_rising(const struct leak_series *s, const uint64_t *bytes, uint32_t generations,
                      uint32_t warm, int64_t slope)
{
    uint32_t after_warm = s->moments - 1 - warm;
    struct rises rises = count_rises(bytes, s->moments, warm);
    if (s->steps < LEAK_STEPS_MIN)
        return rises.all == after_warm && generations >= SUSPECT_GENERATIONS;
    uint32_t enough = s->steps - 1 < LEAK_GENERATIONS ? s->steps - 1 : LEAK_GENERATIONS;
    return slope > 0 && (uint64_t)rises.all * 100 >= (uint64_t)after_warm * RISING_PERCENT &&
           generations >= enough && generations >= rises.unbroken / 2;
}

/* The distance of rises at one distance, up to the end; 0: there is none.  Optimizer state rises
 * once, a cache that fills up falls behind. */
static uint32_t stair_of(const struct leak_series *s, uint32_t warm, int64_t *slope)
{
    const uint64_t *bytes = s->staying_bytes;
    uint32_t first = 0, last = 0, rises = 0, distance = 0;
    for (uint32_t t = warm; t < s->moments; t++) {
        if (t > warm && bytes[t] < bytes[t - 1])
            return 0;
        if (bytes[t] <= bytes[t - 1])
            continue;
        if (rises == 1)
            distance = t - last;
        if (rises > 1 && t - last != distance)
            return 0;
        first = rises == 0 ? t : first;
        last = t;
        rises++;
    }
    if (rises < STAIR_RISES_MIN || distance < 2 || first >= warm + distance ||
        s->moments - 1 - last >= distance || s->staying_generations < rises)
        return 0;
    *slope = slope_of(bytes[first - 1], bytes[last], rises * distance);
    return distance;
}

/* What rises in every step; where what rises is let go of a step later, it was replaced.  In few
 * steps what goes later than that hides among what stays: there all of it must rise. */
static enum leak_class class_of_rises(const struct leak_series *s, uint32_t warm, int64_t slope,
                                      int64_t *room)
{
    bool few = s->steps < LEAK_STEPS_MIN;
    int64_t seen = leak_slope(s->bytes, s->moments, warm, room);
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
    if (is_one_time(s, warm))
        return LEAK_CLASS_ONE_TIME;
    if (is_plateau(s))
        return LEAK_CLASS_PLATEAU;
    if (is_sawtooth(s, warm))
        return LEAK_CLASS_SAWTOOTH;
    return class_of_rises(s, warm, slope, room);
}

struct leak_trend leak_judge(const struct leak_series *s, int64_t room[SLOPE_PAIRS_MAX])
{
    uint32_t warm = leak_warm_up(s->steps);
    struct leak_trend trend = { .slope_bytes =
                                    leak_slope(s->staying_bytes, s->moments, warm, room) };
    trend.class = class_of(s, warm, trend.slope_bytes, room);
    trend.every_steps = trend.class == LEAK_CLASS_LEAK || trend.class == LEAK_CLASS_SUSPECT;
    if (trend.class != LEAK_CLASS_STABLE)
        return trend;
    trend.every_steps = stair_of(s, warm, &trend.slope_bytes);
    if (trend.every_steps != 0)
        trend.class = s->at_most_suspect ? LEAK_CLASS_SUSPECT : LEAK_CLASS_LEAK;
    return trend;
}
