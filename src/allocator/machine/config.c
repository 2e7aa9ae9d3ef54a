/* config.c - the defaults, and the size of a segment under a setting. */
#include "allocator/machine/config.h"

#include <stdint.h>

struct allocator_config config_default(void)
{
    return (struct allocator_config){
        .max_split_bytes = UINT64_MAX,
        .non_split_rounding_bytes = LARGE_SEGMENT_BYTES,
        .large_segment_bytes = LARGE_SEGMENT_BYTES,
        .memory_fraction = 1,
    };
}

uint64_t config_segment_bytes(const struct allocator_config *c, uint64_t rounded)
{
    if (rounded <= SMALL_BLOCK_MAX)
        return SMALL_SEGMENT_BYTES;
    if (rounded < OWN_SEGMENT_MIN)
        return c->large_segment_bytes;
    if (rounded > UINT64_MAX - OWN_SEGMENT_UNIT)
        return rounded;
    return (rounded + OWN_SEGMENT_UNIT - 1) / OWN_SEGMENT_UNIT * OWN_SEGMENT_UNIT;
}
