/* gc_hint.h - bursts of frees that Python's garbage collector made, or seems to have made. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_GC_HINT_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_GC_HINT_H

#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"

/* The burst of frees that freed most: under the collector's own frames (kind
 * "collector_frames"), else, and of low confidence, among irregular runs of frees of old
 * memory (kind "runs_of_frees"). */
enum vrs_status gc_hint_find(const struct study *s, struct gc_hint *ret,
                             struct vrs_error *err) MUST_CHECK;

#endif
