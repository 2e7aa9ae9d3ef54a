/* peak_moment.h - who held a device's memory at a moment that a user names. */
#ifndef VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_MOMENT_H
#define VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "base/fail.h"
#include "base/field.h"
#include "model/recording.h"

struct peak_question {
    struct moment moment;
    enum peak_by by;
    enum site_key key;
    bool categories; /* of each row */
};

struct peak_moment {
    struct peak peak;
    uint64_t after_us; /* of the moment, since the first event; UNKNOWN_U64: not known */
    int64_t reserved_bytes;
    struct block_bytes blocks; /* at the moment; exact, or lower bounds */
    bool blocks_exact;
    bool at_peak, has_trace;
    bool bound;   /* the file is cut: bytes before what is known may be missing */
    bool inexact; /* the file contradicts itself about the bytes in use */
};

/* Of a struct peak_row, and of a struct peak_moment, the result of a device. */
extern const struct row_type peak_row_type, peak_moment_row_type;

/* Whether a device's answer takes more than a bare study: steps or phases to find the moment,
 * categories of the rows or to split what has no stack. */
bool peak_needs_study(const struct recording *r, uint32_t device, const struct peak_question *q);

/* The answer, which lives in s->keep; VRS_USAGE when the device has no such moment.  With a bare
 * study rows have no categories. */
enum vrs_status peak_moment_find(const struct proven_study *proven, const struct peak_question *q,
                                 struct peak_moment *ret, struct vrs_error *err) MUST_CHECK;

#endif
