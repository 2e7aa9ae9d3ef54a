/* storages.h - which tensors stand on one storage, or on the same bytes of one: a hash table. */
#ifndef VRS_ANALYSIS_STORAGES_H
#define VRS_ANALYSIS_STORAGES_H

#include <stdint.h>

#include "base/fail.h"

/* Where a tensor stands; where only storages are compared the others are 0. */
struct tensor_place {
    uint64_t storage, offset_bytes, bytes;
};

/* Of each of `count` places the number of the first equal one. */
enum vrs_status storages_find(const struct tensor_place *place, uint32_t count, uint32_t *ret_first,
                              struct vrs_error *err) MUST_CHECK;

#endif
