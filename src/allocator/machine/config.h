/* config.h - the settings of the allocator, as one value. */
#ifndef VRS_ALLOCATOR_MACHINE_CONFIG_H
#define VRS_ALLOCATOR_MACHINE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/rounding.h"
#include "base/fail.h"
#include "base/str.h"

#define MIB ((uint64_t)1 << 20)

/* More than any memory; two of them add up without wrapping. */
#define ENDLESS_BYTES ((uint64_t)1 << 62)

/* Sizes that no setting changes. */
#define SMALL_BLOCK_MAX MIB            /* rounded requests up to this live in the small pools */
#define SMALL_SEGMENT_BYTES (2 * MIB)  /* also the page of small expandable memory */
#define OWN_SEGMENT_MIN (10 * MIB)     /* from here a request gets a segment of its own */
#define LARGE_SEGMENT_BYTES (20 * MIB) /* unless set otherwise */
#define OWN_SEGMENT_UNIT (2 * MIB)     /* of whose size they are multiples */

struct allocator_config {
    struct rounding rounding;
    uint64_t max_split_bytes;          /* UINT64_MAX: unlimited */
    uint64_t non_split_rounding_bytes; /* how much larger a block that is never split may be */
    uint64_t large_segment_bytes;      /* also the page of large expandable memory */
    double gc_threshold;               /* of the limit; 0: off */
    double memory_fraction;            /* of the device; 1: no limit */
    bool expandable;
};

/* What PyTorch starts with. */
struct allocator_config config_default(void);

/* Changes `c` by a settings string, "key:value,key:[a:1,b:2]", as far as the model knows the keys.
 * Keys that are not named keep their value.  Keys that change nothing of the model (host memory,
 * concurrency) are accepted.  VRS_USAGE, with PyTorch's reason, for what PyTorch would reject; an
 * unknown key names the nearest one; a key or backend of another allocator is named as not
 * modelled.  A failure leaves `c` as it was. */
enum vrs_status config_set(struct allocator_config *c, str text, struct vrs_error *err) MUST_CHECK;

/* The same for a string out of a file: an item that config_set would refuse is passed over. */
void config_take(struct allocator_config *c, str text);

/* Bytes asked of the device for a block of `rounded` bytes; what is too large for any segment is
 * returned as it is. */
uint64_t config_segment_bytes(const struct allocator_config *c, uint64_t rounded);

#endif
