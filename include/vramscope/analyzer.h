/* analyzer.h - rules about what a profiler has measured: patterns, insights, gaps, first causes.
 *
 * Measurements are given as columns of equal length, which are read during the call alone; what was
 * found is a struct vrs_findings, which holds no pointer into them.  Texts are the caller's.
 * Errors and options are as in vramscope.h. */
#ifndef VRAMSCOPE_ANALYZER_H
#define VRAMSCOPE_ANALYZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a column of bytes: nobody knows.  Of doubles it is NaN. */
#define VRS_BYTES_UNKNOWN INT64_MIN

/* A number that a rule compares with, by name. */
struct vrs_threshold {
    const char *name;
    double value; /* the default */
    bool whole;   /* a number of bytes, calls or samples */
};

/* Rules take values for all of them in this order, `thresholds`; NULL: the defaults. */
VRS_API size_t vrs_threshold_count(void);
/* The i-th (i < vrs_threshold_count). */
VRS_API struct vrs_threshold vrs_threshold(size_t i);

/* Of a rule whose findings have an impact: low, medium, high. */
enum vrs_severity { VRS_INFO, VRS_WARNING, VRS_CRITICAL };

struct vrs_figure {
    const char *name;
    bool whole; /* `count` is the figure; else `value`, NaN where it is unknown */
    int64_t count;
    double value;
};

struct vrs_finding {
    const char *kind;
    enum vrs_severity severity;
    double confidence; /* 0 to 1; NaN: the rule has none */
    size_t figures;
    const uint32_t *function; /* of calls: those concerned, in the order to be named in */
    size_t functions;
};

struct vrs_findings;
VRS_API size_t vrs_findings_count(const struct vrs_findings *findings);
/* The i-th (i < vrs_findings_count), in the order the rules have. */
VRS_API struct vrs_finding vrs_finding(const struct vrs_findings *findings, size_t i);
/* Its k-th figure (k < figures). */
VRS_API struct vrs_figure vrs_figure(const struct vrs_findings *findings, size_t i, size_t k);
VRS_API void vrs_findings_close(struct vrs_findings *findings);

/* Measured calls of functions. */
struct vrs_calls {
    size_t size;
    size_t count;
    uint32_t functions;                        /* how many there are */
    const uint32_t *function;                  /* whose call: below `functions` */
    const double *started_s;                   /* of one clock */
    const double *seconds;                     /* that it took */
    const int64_t *before_bytes, *after_bytes; /* allocated at both ends */
    const int64_t *reserved_bytes;             /* at its end */
    const int64_t *peak_bytes;                 /* allocated, the most during it */
    const int64_t *grown_bytes;                /* from before to after; 0 where it shrank */
    const int64_t *shrunk_bytes;               /* and the reverse; NULL: not asked for */
};

struct vrs_calls_totals {
    int64_t grown_bytes, shrunk_bytes, net_bytes;
    int64_t peak_bytes; /* the highest */
    double seconds;
    double mean_seconds, mean_grown_bytes; /* of a call; 0 of none */
};

/* Of all calls; what is not known of one counts as 0, and the means are over all calls. */
VRS_API enum vrs_status vrs_calls_total(const struct vrs_calls *calls, struct vrs_calls_totals *ret,
                                        struct vrs_error *err);

/* Patterns in memory: memory_leak, fragmentation, inefficient_allocation, memory_spikes,
 * repeated_allocations. */
VRS_API enum vrs_status vrs_patterns(const struct vrs_calls *calls, const double *thresholds,
                                     struct vrs_findings **ret, struct vrs_error *err);

/* What times and memory say together: slow_functions, variable_times, memory_intensive,
 * time_and_memory, memory_growth. */
VRS_API enum vrs_status vrs_insights(const struct vrs_calls *calls, const double *thresholds,
                                     struct vrs_findings **ret, struct vrs_error *err);

/* Measured samples of devices and ranks. */
struct vrs_samples {
    size_t size;
    size_t count;
    const int64_t *time_ns; /* of its rank's clock */
    uint32_t ranks;
    const uint32_t *rank;       /* below `ranks` */
    const int64_t *rank_number; /* of each of the `ranks`, ascending */
    const uint32_t *job;        /* numbered from 1 in the order of appearance; 0: of none */
    const int64_t *world_size;  /* 0 or less: not told */
    const int64_t *interval_ms; /* likewise */
    const int64_t *used_bytes, *total_bytes;         /* of the device */
    const int64_t *reserved_bytes, *allocated_bytes; /* by the allocator */
    const uint8_t *sampled; /* not 0: taken at an interval, not at an event */
    const uint8_t *marked;  /* not 0: names a collective operation */
};

/* What devices use beyond what allocators have reserved, over time: transient_spike,
 * persistent_drift, fragmentation_like.  `*ret_dropped`, unless NULL, counts samples of which that
 * is not known. */
VRS_API enum vrs_status vrs_gaps(const struct vrs_samples *samples, const double *thresholds,
                                 struct vrs_findings **ret, uint64_t *ret_dropped,
                                 struct vrs_error *err);

/* When such a gap counts as a collective's.  There are no defaults. */
struct vrs_collective_limits {
    size_t size;
    uint32_t min_samples;        /* of a rank */
    double min_gap_bytes;        /* one of both makes a gap large */
    double min_gap_ratio;        /* of the device */
    double robust_z;             /* of a gap among its rank's */
    int64_t marker_window_ns;    /* how far a marker may lie from a gap */
    int64_t padding_ns;          /* around what is found */
    int64_t synchrony_window_ns; /* how far gaps of several ranks may lie apart */
    double min_synchrony;        /* of the other ranks, to be called synchronous */
    double min_confidence;       /* less is not told */
};

/* The figure "reasons" of a finding: a sum of these. */
enum vrs_collective_reason {
    VRS_COLLECTIVE_OUTLIER = 1,     /* the gap stands out among its rank's */
    VRS_COLLECTIVE_MARKED = 2,      /* a marker lies near */
    VRS_COLLECTIVE_UNMARKED = 4,    /* none does */
    VRS_COLLECTIVE_SYNCHRONOUS = 8, /* other ranks have one at the time */
    VRS_COLLECTIVE_DIVERGENT = 16,  /* the gap is wide */
    VRS_COLLECTIVE_ALONE = 32       /* no other rank has one */
};

/* Gaps that come with collective communication, by rank and time: collective_confident,
 * collective_likely, collective_suspect. */
VRS_API enum vrs_status vrs_collectives(const struct vrs_samples *samples,
                                        const struct vrs_collective_limits *limits,
                                        struct vrs_findings **ret, uint64_t *ret_dropped,
                                        struct vrs_error *err);

/* Which rank's memory jumped first, on one clock for all: cross_rank, a rank for each, first_cause.
 */
VRS_API enum vrs_status vrs_first_cause(const struct vrs_samples *samples, const double *thresholds,
                                        struct vrs_findings **ret, uint64_t *ret_dropped,
                                        struct vrs_error *err);

/* Leaks told from one series, all of whose values are known: monotonic_increase, memory_spikes,
 * insufficient_cleanup. */
VRS_API enum vrs_status vrs_series(const double *value, size_t count, const double *thresholds,
                                   struct vrs_findings **ret, struct vrs_error *err);

/* One mark for all that was found: points of 100 and a grade, A to D or F. */
struct vrs_score {
    uint32_t points;
    char grade;
};

/* How many patterns and insights there are of each severity. */
VRS_API struct vrs_score vrs_score(const uint64_t patterns[3], const uint64_t insights[3]);

#ifdef __cplusplus
}
#endif
#endif
