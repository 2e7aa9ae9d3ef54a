/* returned_unobtained.h - memory that a trace returns without having reserved it before. */
#ifndef VRS_MODEL_RETURNED_UNOBTAINED_H
#define VRS_MODEL_RETURNED_UNOBTAINED_H

#include <stdint.h>

#include "base/fail.h"
#include "model/recording.h"

/* Bytes of the address ranges that the segment events of a device return and did not obtain
 * before; each byte counts once.  Maps and unmaps do not pair one to one, hence ranges.
 * Cost: n log n of the segment events. */
enum vrs_status returned_unobtained_bytes(const struct recording *r, uint32_t device, uint64_t *ret,
                                          struct vrs_error *err) MUST_CHECK;

#endif
