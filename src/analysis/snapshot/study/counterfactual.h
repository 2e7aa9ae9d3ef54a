/* counterfactual.h - the peak of a curve without some bytes over some spans.
 *
 * Exact for the recorded curve; for the program an upper bound of what can be saved, since other
 * memory may take the place.  What the allocator would make of it, the what-if replay tells. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_COUNTERFACTUAL_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_COUNTERFACTUAL_H

#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "model/recording.h"

/* Bytes that would not have been alive after events `from` up to, but not including, `to`; minus
 * the bytes of what would be there instead. */
struct removal {
    int64_t from, to;
    uint64_t bytes;
    uint32_t allocation; /* of the device; for the caller. NO_ROW: none in particular */
};

/* The requested curve of a device and room for changes to it; in the study's scratch.  State p is
 * the state after p events, as in curves.h. */
struct counterfactual {
    const struct recording *r;
    uint32_t first;      /* row of the device's first event */
    uint32_t states;     /* its events, and the start */
    int64_t start_bytes; /* requested */
    uint64_t *change;    /* of each state, and behind the last; zero between questions */
};

struct counterfactual_peak {
    int64_t bytes;
    int64_t event; /* the first; -1: the start */
};

enum vrs_status counterfactual_make(const struct study *s, struct counterfactual *ret,
                                    struct vrs_error *err) MUST_CHECK;

struct counterfactual_peak counterfactual_without(struct counterfactual *c,
                                                  const struct removal *removal, uint32_t removals);

#endif
