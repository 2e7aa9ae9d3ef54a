/* growing.h - stacks that ask again and again: for the same a step later, or for ever more. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_GROWING_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_GROWING_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

struct growing_sites {
    bool *stack; /* of each stack_id: it asks for caches that grow */
    bool *
        caches; /* of each allocation: it is such a cache, or what the first was made of; or NULL */
    bool *recurs; /* of each allocation: its stack asks for one a step before or later, too */
};

/* A cache that grows is made anew, larger, while the one before is alive, which then dies; and a
 * pass makes several of one size, a pair for each layer.  `stacks` is their number. */
enum vrs_status growing_find(const struct lifetimes *lifetimes, const struct steps *steps,
                             const stack_id *freed_by, uint32_t stacks, int64_t events,
                             struct arena *scratch, struct growing_sites *ret,
                             struct vrs_error *err) MUST_CHECK;

#endif
