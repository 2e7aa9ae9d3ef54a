/* oom_what_if.h - whether another allocator setting would have avoided an out-of-memory. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_WHAT_IF_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_WHAT_IF_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/study/proven_study.h"
#include "base/fail.h"

struct oom_what_if {
    uint32_t tried;               /* settings; 0: the model could not be asked */
    const char *setting;          /* the best that serves the request; NULL: there is none */
    bool runs_out;                /* under each of them */
    uint64_t reserved_peak_bytes; /* under the best */
    uint64_t left_bytes;          /* under it, in no block once the request is served */
    enum replay_grade agreement;
    /* Expandable segments alone, beside what was recorded. */
    enum expandable_answer {
        EXPANDABLE_NOT_ASKED,
        EXPANDABLE_SERVES,
        EXPANDABLE_RUNS_OUT
    } expandable;
};

/* Runs the recorded program under a few settings, on a device where PyTorch could have
 * `capacity_bytes`.  A setting helps where it serves the request that failed, first recorded at
 * an event in [first_event, last_event].  Asked only where the model reproduces the recording, and
 * its retries at the recorded capacity. */
enum vrs_status oom_what_if_ask(const struct proven_study *proven, uint64_t capacity_bytes,
                                int64_t first_event, int64_t last_event, struct oom_what_if *ret,
                                struct vrs_error *err) MUST_CHECK;

#endif
