/* trace_diff.h - what changed from one trace to another, or between two steps of one, beyond noise.
 *
 * Compared are the plain steps of both sides, without warm-up, empty and cut ones; where a trace has
 * no steps, both are one step as a whole.  Rows are matched by their names.  A row's value in a step is what
 * began in it on the host, or what was launched from there.  Its interval is the median ± 1.96 *
 * 1.253 * deviation / sqrt(steps): where those of both sides do not meet, one is faster. */
#ifndef VRS_ANALYSIS_TRACE_DIFF_TRACE_DIFF_H
#define VRS_ANALYSIS_TRACE_DIFF_TRACE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/splits/split.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/noise.h"
#include "base/str.h"
#include "model/trace.h"

enum trace_diff_status { TRACE_DIFF_BOTH, TRACE_DIFF_NEW, TRACE_DIFF_GONE, TRACE_DIFF_STATUSES };

extern const char *const trace_diff_status_names[TRACE_DIFF_STATUSES];

/* The steps of a side in one number; 0 where the side does not have the row. */
struct trace_diff_value {
    uint64_t count; /* of events in all steps compared */
    int64_t median_ns;
    double std_ns;   /* of the sample; negative: not known, as the next */
    double noise_ns; /* the median lies within so much of it: half of the interval */
};

struct trace_diff_row {
    str name;
    /* Of operators by more than their names, as in struct split_row; else ptr NULL. */
    str shapes, module, phase, stack;
    struct trace_diff_value a, b;
    int64_t change_ns; /* b less a, as all changes */
    double change;     /* in parts of a; NAN: a is 0 */
    uint8_t status, verdict; /* enum trace_diff_status, enum noise_verdict */
};

struct trace_diff_table {
    struct trace_diff_row *row; /* by falling change whatever its sign, ties by name */
    uint32_t rows;
};

/* The peak of an allocator. */
struct trace_diff_memory {
    int64_t device_type, device_number; /* TRACE_UNKNOWN */
    bool there[2];
    bool is_lower_bound; /* of one side at least */
    bool is_least[2];    /* of which */
    int64_t a_bytes, b_bytes, change_bytes;
    double change; /* NAN: a is 0, or one of the two is not there */
};

struct trace_diff_side {
    struct trace_file file;
    uint32_t steps;   /* compared */
    uint32_t dropped; /* warm-up, empty or cut, or not the one asked for */
    str step;         /* the only one that was asked for; ptr NULL: all */
    bool is_whole;    /* the trace has no steps, or the other one has none */
    bool has_other_steps; /* the latter */
};

/* A limit for the change of the first row of `step`. */
struct trace_diff_limit {
    struct noise_limit most;
    bool exceeded;
};

struct trace_diff {
    struct trace_diff_side a, b;
    struct trace_diff_table step; /* "step", "host", "device", as they stand here */
    struct trace_diff_table op, kernel, gap;
    struct trace_diff_table phase, device_phase; /* on the wall; of device work */
    uint32_t by;                  /* enum split_part, that were asked for */
    struct trace_diff_table op_by; /* operators by these, too */
    struct trace_diff_memory *memory;
    uint32_t memories;
    const struct trace_diff_limit *limit; /* NULL: none was asked for */
};

struct trace_diff_question {
    const struct trace *trace[2];
    int64_t step[2]; /* the number of the only step that is compared; negative: all */
    const struct noise_limit *limit; /* NULL: none */
    struct trace_split by; /* what operators are matched by, besides their names; without steps */
    uint32_t threads; /* as in trace_report_question */
};

/* Everything is taken from `arena`; paths and sizes of the files are the caller's to fill. */
enum vrs_status trace_diff_make(const struct trace_diff_question *q, struct arena *arena,
                                struct trace_diff *ret, struct vrs_error *err) MUST_CHECK;

extern const struct row_type trace_diff_row_type, trace_diff_line_row_type,
    trace_diff_by_row_type, trace_diff_memory_row_type;

#endif
