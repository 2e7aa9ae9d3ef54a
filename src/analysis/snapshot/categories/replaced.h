/* replaced.h - tensors that an optimizer makes anew instead of changing them.
 *
 * In one optimizer interval the survivors of a size are as many as the older allocations of that
 * size that optimizer frames free there: each of the new ones stands for one of the old ones.
 * Which for which is a guess, in the order of allocs and frees; the totals are not. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_REPLACED_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_REPLACED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"

struct replaced {
    uint32_t *replaces; /* of each allocation: the one it stands for, plus 1; 0: none */
    bool *replaced;     /* of each: something stands for it */
    uint64_t bytes;     /* of all that stand for another */
    uint32_t count;
};

/* `born` has each allocation's phase (PHASES: not known), `interval` its interval or NO_ROW,
 * `freed_by` the stack that tells the phase of its free (id 0: none). */
enum vrs_status replaced_make(const struct lifetimes *lifetimes, const struct phases *phases,
                              int64_t events, const uint8_t *born, const uint32_t *interval,
                              const stack_id *freed_by, struct arena *arena, struct arena *scratch,
                              struct replaced *ret, struct vrs_error *err) MUST_CHECK;

#endif
