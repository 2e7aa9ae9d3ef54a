/* device_pairs.h - which devices of two recordings are compared. */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DEVICE_PAIRS_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DEVICE_PAIRS_H

#include <stdint.h>

#include "base/fail.h"
#include "model/recording.h"

/* Rows of devices of A and of B; NO_ROW: that side has none. */
struct device_pair {
    uint32_t device[2];
};

/* Pairs devices by number.  Where each recording used one GPU, that is the pair: the number of a
 * GPU is where a program ran, not what it did.  `number` chooses GPUs, each its number plus 1, 0:
 * not chosen; VRS_USAGE where there is no such.  `ret` has room for the devices of both. */
enum vrs_status device_pairs_find(const struct recording *const r[2], const int64_t number[2],
                                  struct device_pair *ret, uint32_t *ret_count,
                                  struct vrs_error *err) MUST_CHECK;

/* The only GPU of a recording that holds memory; NO_ROW: there are none or several. */
uint32_t only_device(const struct recording *r);

#endif
