/* leak_lengthened.h - memory that each step copies into something longer, as a queue by torch.cat.
 *
 * One allocation is alive at a time, so generations do not tell.  It grows by itself where the new
 * one is made beside the old one, which goes with that, and is longer by exactly what the step made
 * to be put behind it; where batches grow all that is made of them does, each step's first request
 * too.  While tokens are generated that is how a cache of keys and values grows: only training is
 * asked. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_LENGTHENED_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_LENGTHENED_H

#include <stdint.h>

#include "analysis/snapshot/leaks/leak_moments.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/radix_sort.h"

/* What steps made, by size; made when the first place asks for it. */
struct leak_made {
    struct radix_row *row;
    uint32_t rows;
};

/* Of the stays of one place: by how many bytes all of it grows in each step; 0: it does not.
 * `made` is zeroed at first, then in the study's scratch. */
enum vrs_status leak_lengthened(const struct study *s, const struct leak_moments *moments,
                                struct leak_made *made, const struct radix_row *stay,
                                uint32_t count, uint64_t *ret, struct vrs_error *err) MUST_CHECK;

#endif
