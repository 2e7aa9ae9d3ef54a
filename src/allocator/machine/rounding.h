/* rounding.h - how large a block the allocator makes for a request. */
#ifndef VRS_ALLOCATOR_MACHINE_ROUNDING_H
#define VRS_ALLOCATOR_MACHINE_ROUNDING_H

#include <stdbool.h>
#include <stdint.h>

/* ROUNDING_UNIT: the bytes of a block are a multiple of it. */
enum { ROUNDING_UNIT = 512, ROUNDING_DIVISIONS = 16 };

/* The rule under one setting of roundup_power2_divisions. */
struct rounding {
    uint64_t divisions[ROUNDING_DIVISIONS]; /* of each power of two from 1 MiB; 0 or 1: none */
    bool divides;                           /* any is set */
};

/* Where some division is set: the power of two of which the size of a request's block is a
 * multiple.
 */
uint64_t rounding_step(const struct rounding *rounding, uint64_t request);

/* Bytes of the block for a request; a request too large for any block is returned as it is. */
static inline uint64_t rounding_apply(const struct rounding *rounding, uint64_t request)
{
    if (request < ROUNDING_UNIT)
        return ROUNDING_UNIT;
    uint64_t step = rounding->divides ? rounding_step(rounding, request) : ROUNDING_UNIT;
    /* Past the top of the type there is no such block. */
    return request > UINT64_MAX - step ? request : (request + step - 1) & ~(step - 1);
}

#endif
