/* waste.h - bytes that live longer, or come and go more often, than they would have to.
 *
 * A recording knows when memory is asked for and given back, not when it is read: nothing here is a
 * last use, and nothing is seconds. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_WASTE_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_WASTE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"

/* Allocations whose life is of `from` up to less than twice that; from 0, of nothing. */
struct waste_bin {
    uint64_t from, bytes, count;
};

enum { WASTE_BINS = 66 }; /* 0, 1, 2, 4, … 2^64 */
struct waste_histogram {
    struct waste_bin bin[WASTE_BINS]; /* those that count something */
    uint32_t bins;
};

enum { LIFE_50, LIFE_90, LIFE_99, LIFE_POINTS };
extern const uint8_t life_percent[LIFE_POINTS];

struct byte_time {
    struct site_ref site;
    uint64_t byte_events;
    double share_ratio;      /* of all byte-events */
    double peak_share_ratio; /* of what is alive at the peak */
};

struct long_temporary {
    struct site_ref site;
    uint64_t bytes;
    int64_t first_event, last_event;
    uint64_t median_life_events; /* of its site */
};

/* Alive all through a phase in which nothing of its module comes or goes. */
struct held_over {
    struct site_ref site;
    uint8_t phase; /* enum phase */
    uint32_t step; /* from 1; 0: before the first, or no steps are known */
    uint64_t bytes;
};

/* One size of one site, made anew again and again. */
struct churn {
    struct site_ref site;
    uint64_t bytes, size_bytes, count;
    uint64_t per_step; /* UNKNOWN_U64: not the same in most steps */
    int64_t example_event[2];
    uint32_t example_events;
};

struct slack_site {
    struct site_ref site;
    uint64_t slack_bytes, count;
};

struct pending_site {
    struct site_ref site;
    uint64_t byte_events, longest_events;
};

struct waste {
    struct waste_histogram events, us, steps;
    uint64_t life_events[LIFE_POINTS];       /* p50, p90, p99 of those; UNKNOWN_U64: none */
    uint64_t censored_bytes, censored_count; /* not made, or not freed, in the trace */
    uint64_t all_bytes;                      /* of every allocation of the trace */
    struct byte_time *byte_time;
    struct long_temporary *long_temporary;
    struct held_over *held_over;
    struct churn *churn;
    struct slack_site *slack;
    struct pending_site *pending;
    uint32_t byte_times, long_temporaries, held_overs, churns, slacks, pendings;
    double churn_ratio; /* bytes allocated in the trace to the peak; negative: no peak */
    uint64_t slack_bytes;
    bool slack_exact;
    uint64_t mapped_bytes, mapped, returned_bytes, returned; /* after the first step */
    uint64_t pending_byte_events;
    struct counterfactual_peak early_free; /* were kept outputs freed at the end of their step */
    int64_t early_free_saving_bytes;
};

/* Of a struct waste, and of its rows that people are shown. */
extern const struct row_type waste_row_type, byte_time_row_type, long_temporary_row_type,
    held_over_row_type, churn_row_type;

/* Of a device with a trace. */
enum vrs_status waste_compute(const struct proven_study *proven, struct counterfactual *c,
                              struct waste *ret, struct vrs_error *err) MUST_CHECK;

#endif
