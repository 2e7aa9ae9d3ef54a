/* check_baseline.h - a device held against a budget, beside the device of a baseline that it pairs
 * with. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_BASELINE_H
#define VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_BASELINE_H

#include "allocator/replay/prove.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"

/* A recording that others are held against, and what a replay tells of it. */
struct check_baseline {
    struct study_place place;
    const struct proof *proof;
};

/* Judges in the study's `keep`.  `baseline` NULL: there is none; its scratch is left as it was.
 * `base`, `base_parts` and `speaks_for_others` of the question are found here. */
enum vrs_status check_beside(const struct proven_study *proven,
                             const struct check_question *question, struct check_baseline *baseline,
                             const struct check **ret, struct vrs_error *err) MUST_CHECK;

#endif
