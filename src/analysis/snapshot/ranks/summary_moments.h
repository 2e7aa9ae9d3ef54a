/* summary_moments.h - the peaks of a unit inside what other units may have too: steps, annotated
 * ranges, a stretch of the clock.
 *
 * It is small whatever the recording is; what comes later than the most that is kept is left out.
 */
#ifndef VRS_ANALYSIS_SNAPSHOT_RANKS_SUMMARY_MOMENTS_H
#define VRS_ANALYSIS_SNAPSHOT_RANKS_SUMMARY_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/str.h"

enum { SUMMARY_MOMENTS_MOST = 256, UNIT_SPANS = 64 };

/* From the start of an annotation to its end. */
struct summary_range {
    str name;     /* as mark_name has it; in the study's `keep` */
    uint32_t nth; /* of the ranges of that name, from 0 */
    int64_t peak_bytes;
};

/* Bytes are of the requested curve. */
struct summary_moments {
    int64_t *step_peak; /* of the first complete steps */
    uint32_t steps;
    struct summary_range *range; /* the first of them, by their starts */
    uint32_t ranges;
    /* The highest in each of equal spans of the time from the first event to the last. */
    bool timed;
    uint64_t begin_us, end_us;
    uint64_t span_us;
    int64_t most[UNIT_SPANS];
};

/* Of the first `events` events of the device. */
enum vrs_status summary_moments_make(const struct study *s, uint32_t events,
                                     struct summary_moments *ret, struct vrs_error *err) MUST_CHECK;

/* The highest from `from_us` to `to_us`, both within the unit's time.  False: spans reach over the
 * ends of that, so it is an upper bound. */
bool summary_moments_between(const struct summary_moments *m, uint64_t from_us, uint64_t to_us,
                             int64_t *ret);

#endif
