/* rounding.c - the setting roundup_power2_divisions, the rule it changes. */
#include "allocator/rounding.h"

#include "base/str.h"

struct rounding rounding_of(const struct recording *r)
{
    static const char *const names[ROUNDING_DIVISIONS] = {
        "roundup_power2_divisions.1",     "roundup_power2_divisions.2",
        "roundup_power2_divisions.4",     "roundup_power2_divisions.8",
        "roundup_power2_divisions.16",    "roundup_power2_divisions.32",
        "roundup_power2_divisions.64",    "roundup_power2_divisions.128",
        "roundup_power2_divisions.256",   "roundup_power2_divisions.512",
        "roundup_power2_divisions.1024",  "roundup_power2_divisions.2048",
        "roundup_power2_divisions.4096",  "roundup_power2_divisions.8192",
        "roundup_power2_divisions.16384", "roundup_power2_divisions.32768",
    };
    struct rounding rounding = { { 0 }, false };
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++) {
        uint32_t row = settings_find(r, str_from(names[i]));
        if (row == NO_ROW || r->settings.type[row] != SETTING_INT || r->settings.integer[row] < 0)
            continue;
        uint64_t divisions = (uint64_t)r->settings.integer[row];
        /* The allocator accepts powers of two only; anything else is no setting of its. */
        if ((divisions & (divisions - 1)) == 0)
            rounding.divisions[i] = divisions;
        rounding.divides |= rounding.divisions[i] > 1;
    }
    return rounding;
}

static uint32_t floor_log2(uint64_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

/* The power of two of which a block's size is a multiple. */
static uint64_t rounding_step(const struct rounding *rounding, uint64_t request)
{
    uint32_t log = floor_log2(request);
    uint32_t i = log < 20 ? 0 : log - 20 < ROUNDING_DIVISIONS ? log - 20 : ROUNDING_DIVISIONS - 1;
    uint64_t divisions = rounding->divisions[i];
    if (divisions <= 1 || request / ROUNDING_UNIT < divisions ||
        request == ROUNDING_UNIT * divisions)
        return ROUNDING_UNIT;
    return ((uint64_t)1 << log) / divisions;
}

uint64_t rounding_apply(const struct rounding *rounding, uint64_t request)
{
    if (request < ROUNDING_UNIT)
        return ROUNDING_UNIT;
    uint64_t step = rounding->divides ? rounding_step(rounding, request) : ROUNDING_UNIT;
    /* Past the top of the type there is no such block. */
    return request > UINT64_MAX - step ? request : (request + step - 1) & ~(step - 1);
}
