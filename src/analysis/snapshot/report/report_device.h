/* report_device.h - what a report says of a device before any replay: its figures, who held its
 * peak, its out-of-memory events, its curves for the picture. */
#ifndef VRS_ANALYSIS_SNAPSHOT_REPORT_REPORT_DEVICE_H
#define VRS_ANALYSIS_SNAPSHOT_REPORT_REPORT_DEVICE_H

#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/report/report.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

struct report_device_question {
    uint32_t rows_most;                  /* of those who held the peak */
    uint32_t spans_most;                 /* of the picture; 0: none is drawn */
    const struct curves *curves;         /* NULL: not known yet */
    const struct categories *categories; /* by which rows are told apart; NULL: not known */
};

/* Leaves `scratch` as it was.  `*ret` is all zero before. */
enum vrs_status report_device_describe(const struct recording *r, uint32_t device,
                                       const struct report_device_question *question,
                                       struct naming *naming, struct arena *keep,
                                       struct arena *scratch, struct report_device *ret,
                                       struct vrs_error *err) MUST_CHECK;

/* The times of all devices, for the other files of a set. */
void report_times_find(const struct recording *r, struct report *report);

/* The later of two times, UNKNOWN_U64 being none, into the first. */
void report_time_later(uint64_t *latest_us, uint64_t us);

#endif
