/* units.h - what a report keeps of a device for comparisons, and the comparison of several. */
#ifndef VRS_ANALYSIS_SNAPSHOT_REPORT_UNITS_H
#define VRS_ANALYSIS_SNAPSHOT_REPORT_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/report/report.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

/* When the devices of one file, and those of others, ran out of memory for the last time. */
struct last_ooms {
    uint64_t time_us, other_us; /* the latest of all; of the other devices; UNKNOWN_U64: none */
    uint32_t device;            /* row of devices: whose the latest is; NO_ROW: another file's */
};

/* `peer_oom_us`: that of another file on the same clock; UNKNOWN_U64: none. */
struct last_ooms last_ooms_of(const struct recording *r, uint64_t peer_oom_us);

/* What summaries of the devices of one file are made with. */
struct summary_place {
    const struct recording *r;
    struct naming *naming;
    struct arena *keep, *scratch;
    struct last_ooms ooms;
    bool sites; /* they are compared: with their sites */
};

/* The summary of row `d` of devices; NULL where it is not worth a comparison. */
enum vrs_status summary_make(const struct summary_place *place, uint32_t d,
                             const struct curves *curves, struct device_summary **ret,
                             struct vrs_error *err) MUST_CHECK;

/* Units of the devices of all these reports, files in the order of their ranks: as the caller or
 * their names have it, else by path.  VRS_USAGE where files were given equal ranks.  In `keep`. */
enum vrs_status units_compare(const struct report *reports, uint32_t count, struct arena *keep,
                              const struct ranks **ret, struct vrs_error *err) MUST_CHECK;

/* Fills report->ranks, where at least two devices of one file can be compared. */
enum vrs_status units_compare_devices(struct report *report, struct arena *keep,
                                      struct vrs_error *err) MUST_CHECK;

#endif
