/* diff_sums.h - the allocations of two recordings, summed by site and by kind. */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_SUMS_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/diff/diff_keys.h"
#include "analysis/snapshot/diff/diff_match.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/idtab.h"
#include "base/vec.h"

/* Sums by a text or a number. */
struct tally {
    VEC(struct diff_part) parts; /* part 0 is none */
    struct idtab index;
};

struct sums {
    const struct study *side[2];
    const struct diff_options *options;
    struct diff_keys *keys;
    struct arena *keep, *scratch;
    bool split;     /* what has no stack, by category */
    bool no_stacks; /* neither recording has any: by size */
    /* Of each stack of a side its piece, 0 where it has none.  NULL: not asked for; else nothing
     * but the pieces is summed. */
    uint32_t *piece_of[2];
    struct diff_amount total[2];
    struct tally category, module, phase, size;
    VEC(struct diff_piece) pieces; /* piece 0 is none */
    struct idtab index;            /* of pieces */
    struct buf text;
};

/* Zeroed sums but for what the caller has set above `total`; sums_free also after a failure. */
enum vrs_status sums_make(struct sums *s, struct vrs_error *err) MUST_CHECK;
void sums_free(struct sums *s);

#endif
