/* growth.c - a slope is the Theil-Sen median of slopes; a class is what the rises and falls say. */
#include "base/growth.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/quickselect.h"

enum {
    PLATEAU_MOMENTS_MIN = 3,
    SAWTOOTH_DROPS_MIN = 2,
    SAME_PERCENT = 1,
    RISING_PERCENT = 80, /* of the steps, in a leak that grows in each */
    STAIR_RISES_MIN = 3, /* of one that grows in each second, or third, … step */
};

const char *const growth_class_names[GROWTH_CLASSES] = {
    [GROWTH_STABLE] = "stable",   [GROWTH_PLATEAU] = "plateau", [GROWTH_SAWTOOTH] = "sawtooth",
    [GROWTH_SUSPECT] = "suspect", [GROWTH_LEAK] = "leak",
};

static int64_t slope_of(uint64_t from, uint64_t to, uint32_t steps)
{
    int64_t rise = (int64_t)(to - from), slope = rise / steps;
    return rise % steps < 0 ? slope - 1 : slope;
}

int64_t growth_slope(const uint64_t *bytes, uint32_t moments, uint32_t warm,
                     int64_t room[SLOPE_PAIRS_MAX])
{
    uint32_t first = warm, points = moments - first, pairs = 0;
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
static bool stays(const uint64_t *bytes, uint32_t from, uint32_t to, uint64_t base)
{
    for (uint32_t t = from; t < to; t++) {
        uint64_t off = bytes[t] > base ? bytes[t] - base : base - bytes[t];
        if (off > base / 100 * SAME_PERCENT)
            return false;
    }
    return true;
}

uint32_t growth_last_moments(uint32_t steps)
{
    uint32_t thirds = steps / 3;
    return thirds > PLATEAU_MOMENTS_MIN ? thirds : PLATEAU_MOMENTS_MIN;
}

bool growth_is_one_time(const uint64_t *bytes, uint32_t moments, uint32_t warm)
{
    return bytes[warm] > bytes[0] && stays(bytes, warm, moments, bytes[warm]);
}

bool growth_is_plateau(const uint64_t *bytes, uint32_t moments, uint32_t steps)
{
    uint32_t last = growth_last_moments(steps);
    uint64_t end = bytes[moments - 1];
    return last < moments && end > bytes[0] && stays(bytes, moments - last, moments, end);
}

/* Drops of at least half of what had risen since the last one. */
bool growth_is_sawtooth(const uint64_t *bytes, uint32_t moments, uint32_t warm)
{
    uint64_t low = bytes[warm], top = low;
    uint32_t drops = 0;
    for (uint32_t t = warm + 1; t < moments; t++) {
        uint64_t now = bytes[t];
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

struct growth_rises growth_count_rises(const uint64_t *bytes, uint32_t moments, uint32_t warm)
{
    struct growth_rises rises = { 0 };
    for (uint32_t t = warm + 1; t < moments; t++) {
        bool rise = bytes[t] > bytes[t - 1];
        rises.all += rise;
        rises.unbroken = bytes[t] < bytes[t - 1] ? 0 : rises.unbroken + rise;
    }
    return rises;
}

bool growth_rises_suffice(uint32_t rises, uint32_t after_warm, uint32_t steps)
{
    if (steps < GROWTH_STEPS_MIN)
        return rises == after_warm;
    return (uint64_t)rises * 100 >= (uint64_t)after_warm * RISING_PERCENT;
}

struct growth_stair growth_stair_of(const uint64_t *bytes, uint32_t moments, uint32_t warm)
{
    struct growth_stair none = { 0 };
    uint32_t first = 0, last = 0, rises = 0, distance = 0;
    for (uint32_t t = warm; t < moments; t++) {
        if (t > warm && bytes[t] < bytes[t - 1])
            return none;
        if (t == 0 || bytes[t] <= bytes[t - 1])
            continue;
        if (rises == 1)
            distance = t - last;
        if (rises > 1 && t - last != distance)
            return none;
        first = rises == 0 ? t : first;
        last = t;
        rises++;
    }
    if (rises < STAIR_RISES_MIN || distance < 2 || first >= warm + distance ||
        moments - 1 - last >= distance)
        return none;
    return (struct growth_stair){ .distance = distance,
                                  .rises = rises,
                                  .slope_bytes =
                                      slope_of(bytes[first - 1], bytes[last], rises * distance) };
}

struct growth_trend growth_judge(const uint64_t *bytes, uint32_t moments,
                                 int64_t room[SLOPE_PAIRS_MAX])
{
    uint32_t steps = moments - 1;
    struct growth_trend trend = { .slope_bytes = growth_slope(bytes, moments, 0, room) };
    if (growth_is_plateau(bytes, moments, steps))
        trend.class = GROWTH_PLATEAU;
    else if (growth_is_sawtooth(bytes, moments, 0))
        trend.class = GROWTH_SAWTOOTH;
    else if (trend.slope_bytes > 0 &&
             growth_rises_suffice(growth_count_rises(bytes, moments, 0).all, steps, steps))
        trend.class = steps < GROWTH_STEPS_MIN ? GROWTH_SUSPECT : GROWTH_LEAK;
    trend.every_steps = trend.class == GROWTH_LEAK || trend.class == GROWTH_SUSPECT;
    if (trend.class != GROWTH_STABLE)
        return trend;
    struct growth_stair stair = growth_stair_of(bytes, moments, 0);
    if (stair.distance != 0)
        trend = (struct growth_trend){ GROWTH_LEAK, stair.slope_bytes, stair.distance };
    return trend;
}
