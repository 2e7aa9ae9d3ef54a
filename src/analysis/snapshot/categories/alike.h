/* alike.h - what is older than the recording, by its likes whose birth was seen.
 *
 * What is freed where tensors of its size are freed, all of one category, is of that category: a
 * name that is bound anew frees the value of the step before.  And a size that every step leaves
 * behind is what earlier steps left behind. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_ALIKE_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

struct alike_input {
    const struct lifetimes *lifetimes;
    int64_t events;
    uint32_t stacks;         /* of the recording */
    const uint8_t *category; /* of each, so far; enum category */
    const bool *retained;    /* of each: it is kept beyond its step */
    const stack_id *freed_by;
};

/* The category that the likes of each have; CATEGORY_UNKNOWN: none.  *ret_any: some have one. */
enum vrs_status alike_find(const struct alike_input *in, struct arena *scratch, uint8_t **ret,
                           bool *ret_any, struct vrs_error *err) MUST_CHECK;

#endif
