/* check_diff.h - limits on what has grown against a baseline, place by place. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_DIFF_H
#define VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_DIFF_H

#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/check/check_values.h"
#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/str.h"

/* Both devices at their requested peaks, or both in their final states.  Rows live in base->keep.
 */
enum vrs_status check_diff_make(const struct proven_study *base, const struct proven_study *proven,
                                struct diff *ret, struct vrs_error *err) MUST_CHECK;

/* The most that one line of the program, a culprit, has grown by, whoever calls it; with
 * LIMIT_NEW_SITE only of those that the baseline lacks.  Growth of memory without a stack may be
 * that of any line. */
enum vrs_status check_diff_value(const struct study *base, const struct study *s,
                                 const struct diff *diff, enum limit_kind kind,
                                 struct check_value *ret, struct vrs_error *err) MUST_CHECK;

/* The lines that have grown most, at most CHECK_DIFF_ROWS of them, with their sites. */
enum vrs_status check_diff_rows(const struct study *s, const struct diff *diff,
                                enum limit_kind kind, str user_root, struct check_row *row,
                                struct vrs_error *err) MUST_CHECK;

#endif
