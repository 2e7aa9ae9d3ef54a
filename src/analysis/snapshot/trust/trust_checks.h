/* trust_checks.h - consistency checks of a device: final state, trace and curves. */
#ifndef VRS_ANALYSIS_SNAPSHOT_TRUST_TRUST_CHECKS_H
#define VRS_ANALYSIS_SNAPSHOT_TRUST_TRUST_CHECKS_H

#include <stdint.h>

#include "analysis/snapshot/curves/curves.h"
#include "base/fail.h"
#include "model/recording.h"

enum { BREACH_SHOWN = 5 };

struct breach_case {
    int64_t event;    /* -1: none is meant */
    uint64_t address; /* UNKNOWN_U64: none is meant */
};

/* What one check found; a count of 0 is a check that holds or was not run. */
struct breach {
    uint64_t count;
    uint64_t total_bytes, worst_bytes; /* of all cases, of the worst one */
    int64_t first_event;               /* of the first case, as below */
    uint64_t first_address;
    struct breach_case shown[BREACH_SHOWN]; /* the first cases; as many as there are */
};

struct checks {
    struct breach sums;             /* segments that do not add up: one of the next two */
    struct breach layout;           /* their blocks do not fill them, or have odd sizes */
    struct breach totals;           /* their figures are not the sums of their blocks */
    struct breach end_mismatch;     /* allocations that the final blocks contradict */
    struct breach unpaired_request; /* free requests without completion, not pending at the end */
    struct breach negative_start;   /* less than nothing in use before the first event */
    struct breach baselines_differ; /* the start counted forward and back */
    struct breach above_reserved;   /* states with more requested than reserved */
    struct breach unknown_segment;  /* allocs outside every segment known then */
    struct breach double_alloc;     /* allocs at an address still in use */
    struct breach orphans;          /* frees without alloc; a fact unless the window is complete */
    struct breach skipped_actions;  /* frees that have one half only */
    struct breach no_time;          /* events without a time; a fact */
    struct breach time_backwards;   /* events before their predecessor */
    struct breach capacity_varies;  /* ooms at which reserved and free bytes differ in sum */
    struct breach unknown_actions;  /* a fact */
    int64_t forward_start_bytes;    /* see curves.h */
    uint64_t largest_gap_us;        /* between neighbours that have a time; UNKNOWN_U64: none */
    int64_t largest_gap_event;      /* the later of the two */
};

/* Runs what can be run without the curves: the final state is checked where it is whole, the rest
 * where there is a trace, and the trace against the final state where both are whole. */
enum vrs_status checks_run(const struct recording *r, uint32_t device, struct checks *ret,
                           struct vrs_error *err) MUST_CHECK;

/* The checks that take the curves. */
void checks_add_curves(const struct recording *r, uint32_t device, const struct curves *curves,
                       struct checks *checks);

/* The allocs whose address lies in no segment known at that point of the trace. */
enum vrs_status find_unknown_segments(const struct recording *r, uint32_t device,
                                      struct breach *ret, struct vrs_error *err) MUST_CHECK;

/* Adds one case. */
void breach_add(struct breach *f, uint64_t bytes, int64_t event, uint64_t address);

#endif
