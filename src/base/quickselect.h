/* quickselect.h - quickselect: the k-th smallest of some values, without sorting the others. */
#ifndef VRS_BASE_QUICKSELECT_H
#define VRS_BASE_QUICKSELECT_H

#include <stdint.h>

/* What would stand at `wanted` (below `count`) if the values were sorted.  Reorders them; takes
 * time in proportion to their number, whatever their order, but for a logarithm at worst. */
uint32_t quickselect_u32(uint32_t *value, uint32_t count, uint32_t wanted);
int64_t quickselect_i64(int64_t *value, uint32_t count, uint32_t wanted);

#endif
