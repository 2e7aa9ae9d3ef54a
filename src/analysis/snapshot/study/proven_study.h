/* proven_study.h - a study, and what a replay of the recording tells of its device.
 *
 * A study does not know it, so that it can be made beside the replay: who needs the size of a
 * block, exact curves or the grade of trust asks for a proven study, who does not for a study. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_PROVEN_STUDY_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_PROVEN_STUDY_H

#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "allocator/replay/prove.h"
#include "allocator/replay/replay.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"

struct proven_study {
    const struct study *study;
    const struct proof *proof;         /* of the recording */
    const struct agreement *agreement; /* of the device, in it */
    struct curves curves;              /* as the study's, exact where the replay proves them */
    const struct trust_basis *basis;   /* NULL until it is found */
    struct trust trust;                /* by proven_study_assess */
};

/* All but trust.  `basis` of the device, or NULL: to be found when trust is. */
struct proven_study proven_study_of(const struct study *study, const struct proof *proof,
                                    const struct trust_basis *basis);

/* Trust, its texts in `keep`.  May be a job beside others, none of which asks for it. */
enum vrs_status proven_study_assess(struct proven_study *p, struct arena *keep,
                                    struct vrs_error *err) MUST_CHECK;

/* Both; texts in the study's `keep`. */
enum vrs_status proven_study_make(const struct study *study, const struct proof *proof,
                                  const struct trust_basis *basis, struct proven_study *ret,
                                  struct vrs_error *err) MUST_CHECK;

/* The block of the i-th of the study's lifetimes, and what it holds beyond the request. */
static inline struct block_size proven_block(const struct proven_study *p, uint32_t i)
{
    return block_of(&p->proof->block_sizes, p->study->lifetimes.first + i);
}

static inline uint64_t proven_slack(const struct proven_study *p, uint32_t i)
{
    const struct lifetimes *l = &p->study->lifetimes;
    return block_slack(&p->proof->block_sizes, l->first + i, l->at[i].bytes);
}

/* Bytes of the blocks alive after `event`: active, until the free is completed, and allocated,
 * until it is requested.  Both UNKNOWN_U64 where nothing was to be replayed. */
struct block_bytes {
    uint64_t active, allocated;
};
struct block_bytes proven_blocks_at(const struct proven_study *p, int64_t event);

#endif
