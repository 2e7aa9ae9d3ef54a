/* rounding.c - the setting roundup_power2_divisions, the rule it changes. */
#include "allocator/machine/rounding.h"

static uint32_t floor_log2(uint64_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

uint64_t rounding_step(const struct rounding *rounding, uint64_t request)
{
    uint32_t log = floor_log2(request);
    uint32_t i = log < 20 ? 0 : log - 20 < ROUNDING_DIVISIONS ? log - 20 : ROUNDING_DIVISIONS - 1;
    uint64_t divisions = rounding->divisions[i];
    if (divisions <= 1 || request / ROUNDING_UNIT < divisions ||
        request == ROUNDING_UNIT * divisions)
        return ROUNDING_UNIT;
    return ((uint64_t)1 << log) / divisions;
}
