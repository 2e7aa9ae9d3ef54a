/* diff_groups.h - rows of a comparison that share a name become one; and which still share theirs.
 */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_GROUPS_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_GROUPS_H

#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "base/arena.h"
#include "base/fail.h"

/* Joins rows of one name, in place: their amounts are added, a text that differs becomes ptr NULL,
 * and a stack is that of the largest.  Deltas and changes are left to the caller; a row of moved
 * ones alone stays of stage DIFF_FUZZY, with the lowest of their scores. */
enum vrs_status diff_groups_join(struct diff_row *row, uint32_t *rows, enum diff_weight weight,
                                 struct arena *scratch, struct vrs_error *err) MUST_CHECK;

/* Sets what each row shares with others. */
enum vrs_status diff_groups_mark(struct diff_row *row, uint32_t rows, struct arena *scratch,
                                 struct vrs_error *err) MUST_CHECK;

#endif
