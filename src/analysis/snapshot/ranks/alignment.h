/* alignment.h - the peaks of several units at what is the same moment of a job: a step, an
 * annotated range, a stretch of the clock; never at an event of the same number. */
#ifndef VRS_ANALYSIS_SNAPSHOT_RANKS_ALIGNMENT_H
#define VRS_ANALYSIS_SNAPSHOT_RANKS_ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/ranks/summary_moments.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

enum aligned_by { ALIGNED_NOT, ALIGNED_STEP, ALIGNED_ANNOTATION, ALIGNED_CLOCK };

struct aligned_moment {
    str name;       /* of an annotation; else empty */
    uint32_t nth;   /* step, or range of that name; from 0 */
    uint32_t worst; /* its number: the first of those with the highest peak */
    int64_t worst_bytes, median_bytes;
    double skew_ratio; /* negative: not known */
};

struct alignment {
    enum aligned_by by;
    const uint32_t *unit; /* those that are compared, by their numbers */
    uint32_t units;
    struct aligned_moment *moment; /* that all of them have */
    uint32_t moments;
    uint64_t from_us, to_us; /* ALIGNED_CLOCK: the common time */
    bool exact;              /* else peaks are upper bounds */
};

/* `moments[i]` is of the unit `unit[i]`, ascending.  The clock is asked only where `one_clock` says
 * that all have the same.  ALIGNED_NOT where fewer than two have anything in common.  Rows live in
 * `keep`; names stay where they are. */
enum vrs_status alignment_find(const struct summary_moments *const *moments, const uint32_t *unit,
                               uint32_t units, bool one_clock, struct arena *keep,
                               struct arena *scratch, struct alignment *ret,
                               struct vrs_error *err) MUST_CHECK;

#endif
