/* leak_class.c - the classes of growth; a slope is the Theil-Sen median of slopes. */
#include "analysis/snapshot/leaks/leak_class.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/quickselect.h"

enum {
    PLATEAU_MOMENTS_MIN = 3,
    SAWTOOTH_DROPS_MIN = 2,
    LEAK_STEPS_MIN = 4,
    LEAK_GENERATIONS = 3,
    SUSPECT_GENERATIONS = 2,
    SAME_PERCENT = 1,
};

const char *const leak_class_names[LEAK_CLASSES] = {
    [LEAK_CLASS_REPLACED] = "replaced", [LEAK_CLASS_ONE_TIME] = "one_time",
    [LEAK_CLASS_PLATEAU] = "plateau",   [LEAK_CLASS_SAWTOOTH] = "sawtooth",
    [LEAK_CLASS_LEAK] = "leak",         [LEAK_CLASS_SUSPECT] = "suspect",
    [LEAK_CLASS_STABLE] = "stable",
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

enum leak_class leak_classify(const struct leak_series *s, int64_t slope_bytes)
{
    uint32_t steps = s->steps, warm = leak_warm_up(steps), rises = 0;
    uint32_t after_warm = s->moments - 1 - warm;
    for (uint32_t t = warm + 1; t < s->moments; t++)
        rises += s->bytes[t] > s->bytes[t - 1];
    if (is_replaced(s, warm))
        return LEAK_CLASS_REPLACED;
    if (is_one_time(s, warm))
        return LEAK_CLASS_ONE_TIME;
    if (is_plateau(s))
        return LEAK_CLASS_PLATEAU;
    if (is_sawtooth(s, warm))
        return LEAK_CLASS_SAWTOOTH;
    uint32_t enough = steps - 1 < LEAK_GENERATIONS ? steps - 1 : LEAK_GENERATIONS;
    bool grows = slope_bytes > 0 && (uint64_t)rises * 10 >= (uint64_t)after_warm * 8;
    if (steps >= LEAK_STEPS_MIN && grows && s->generations >= enough)
        return s->by_size ? LEAK_CLASS_SUSPECT : LEAK_CLASS_LEAK;
    bool always = steps < LEAK_STEPS_MIN && rises == after_warm;
    if (always && s->generations >= SUSPECT_GENERATIONS)
        return LEAK_CLASS_SUSPECT;
    return LEAK_CLASS_STABLE;
}
