/* busy.h - how the time of a device was spent: computing, communicating, copying, idle for a reason. */
#ifndef VRS_ANALYSIS_TRACE_BUSY_BUSY_H
#define VRS_ANALYSIS_TRACE_BUSY_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* Lengths of gaps below 1 us, 10 us, 100 us, 1 ms, 10 ms, and above. */
enum { GAP_BINS = 6 };

/* A launch that takes so long loads a kernel, or waits for room in the queue. */
enum { SLOW_LAUNCH_NS = 100000 };

/* Why a device waited, by the launch of what it did next. */
enum gap_class {
    GAP_NO_LAUNCH,         /* nobody is known to have launched it */
    GAP_QUEUED_UNDER_10US, /* it was launched before the gap began */
    GAP_QUEUED,
    GAP_HOST_LATE,      /* the host had not launched it yet */
    GAP_LAUNCH_LATENCY, /* from its launch to the end of the gap */
    GAP_SLOW_LAUNCH,    /* the same, of a launch of 100 us and more */
    GAP_CLASSES
};

extern const char *const gap_class_names[GAP_CLASSES];

/* What a file calls a process: a number, a text, or nothing. */
struct pid_name {
    bool is_number, is_known;
    int64_t number;
    str text; /* also of a number */
};

/* A gap, with what the device did behind it: a span of the trace. */
struct long_gap {
    int64_t first_ns, ns;
    uint8_t kind;   /* enum gap_class: of a late host, the one that most of it is */
    uint8_t reason; /* enum blame, of most of GAP_HOST_LATE; BLAMES: none */
    uint32_t next;
};

enum { LONGEST_GAPS = 100, BUSY_BINS = 200 };

struct device_time {
    struct pid_name pid;
    uint32_t process; /* of the trace */
    uint32_t streams;
    uint64_t events[3]; /* by kind: kernels, copies, fills */
    int64_t ns[3];
    int64_t first_ns, last_ns; /* of what ran on it */
    int64_t busy_ns;           /* some of it ran */
    int64_t sum_ns;            /* all durations added up */
    int64_t idle_ns;
    /* The span in four parts, which add up to it: with these three, idle. */
    int64_t computation_ns, exposed_communication_ns, exposed_memcpy_ns;
    int64_t communication_ns, communication_hidden_ns; /* beside computation */
    uint64_t gaps, gap_histogram[GAP_BINS];
    int64_t longest_gap_ns;
    uint64_t class_gaps[GAP_CLASSES];
    int64_t class_ns[GAP_CLASSES];
    int64_t blame_ns[BLAMES]; /* of GAP_HOST_LATE */
    struct long_gap longest[LONGEST_GAPS]; /* the longest first; of equal ones the earlier */
    uint32_t longests;
    int64_t bin_ns[BUSY_BINS]; /* busy time in equal parts of the span */
};

struct busy {
    struct device_time *device; /* by the text of their pid */
    uint32_t devices;
};

/* How long each process of the trace did device work between two moments, overlapping work counted
 * once.  `ret` has a place for each process, which are 0.  False when out of memory. */
bool busy_between(const struct trace_study *s, int64_t from, int64_t to, struct arena *arena,
                  int64_t *ret);

/* Everything is taken from `arena`. */
enum vrs_status busy_make(const struct trace_study *s, struct arena *arena, struct busy *ret,
                          struct vrs_error *err) MUST_CHECK;

#endif
