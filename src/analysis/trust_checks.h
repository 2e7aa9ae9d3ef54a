/* trust_checks.h - what of a device contradicts itself. */
#ifndef VRS_ANALYSIS_TRUST_CHECKS_H
#define VRS_ANALYSIS_TRUST_CHECKS_H

#include "analysis/curves.h"
#include "base/fail.h"

/* What one check found; a count of 0 is a check that holds or was not run. */
struct finding {
    uint64_t count;
    uint64_t total_bytes, worst_bytes; /* of all cases, of the worst one */
    int64_t first_event;               /* -1: none is meant */
    uint64_t first_address;            /* UNKNOWN_U64: none is meant */
};

struct checks {
    struct finding sums;             /* T01, T02: segments that do not add up */
    struct finding end_mismatch;     /* T03: allocations that the final blocks contradict */
    struct finding unpaired_request; /* T03 */
    struct finding negative_start;   /* T04 */
    struct finding baselines_differ; /* T04 */
    struct finding above_reserved;   /* T05 */
    struct finding unknown_segment;  /* T06 */
    struct finding double_alloc;     /* T07 */
    struct finding orphans;          /* T07; a fact where the window is not complete */
    struct finding skipped_actions;  /* T07 */
    struct finding no_time;          /* T08 */
    struct finding time_backwards;   /* T08 */
    struct finding capacity_varies;  /* T10 */
    struct finding unknown_actions;  /* a fact */
    int64_t forward_start_bytes;
};

/* Runs what can be run: the final state is checked where it is whole, the rest where there is a
 * trace, and the trace against the final state where both are whole. */
enum vrs_status checks_run(const struct recording *r, uint32_t device, const struct curves *curves,
                           struct checks *ret, struct vrs_error *err) MUST_CHECK;

/* The allocs whose address lies in no segment known at that point of the trace. */
enum vrs_status find_unknown_segments(const struct recording *r, uint32_t device,
                                      struct finding *ret, struct vrs_error *err) MUST_CHECK;

/* Adds one case. */
void finding_add(struct finding *f, uint64_t bytes, int64_t event, uint64_t address);

#endif
