/* oom_sites.h - who held the memory that a failed request lacked. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_SITES_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_SITES_H

#include <stdint.h>

#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "model/ids.h"

/* Fills must_go, must_go_category and category from what was alive at the event, for need_bytes. */
enum vrs_status oom_sites_find(const struct study *s, struct oom *oom,
                               struct vrs_error *err) MUST_CHECK;

/* Requested bytes alive at the same place of the step before: just before the alloc that the
 * request's stack made there for the same time in its step; else at the end of the last interval
 * of the request's phase.  UNKNOWN_U64 without steps, or in the first. */
uint64_t oom_previous_step(const struct study *s, int64_t event, stack_id stack);

#endif
