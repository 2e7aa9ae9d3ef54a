/* trace_check.h - a trace held against limits of time and memory: each value, and whether it holds.
 *
 * What the trace does not tell stays undecided, which is never a pass.  So does a limit that a cut
 * file keeps: what came after its end is not known. */
#ifndef VRS_ANALYSIS_TRACE_CHECK_TRACE_CHECK_H
#define VRS_ANALYSIS_TRACE_CHECK_TRACE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/report/report.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

enum trace_limit_kind {
    TRACE_LIMIT_MIN_BUSY,
    TRACE_LIMIT_MAX_IDLE,
    TRACE_LIMIT_MAX_STEP,
    TRACE_LIMIT_MAX_MEMORY_PEAK,
    TRACE_LIMIT_OTHER, /* of memory snapshots, which no trace has a value for */
    TRACE_LIMITS
};

/* Of TRACE_LIMIT_OTHER: NULL. */
extern const char *const trace_limit_names[TRACE_LIMITS];

enum trace_outcome { TRACE_PASS, TRACE_FAIL, TRACE_INCONCLUSIVE, TRACE_OUTCOMES };
extern const char *const trace_outcome_names[TRACE_OUTCOMES];

/* What a value is a number of. */
enum trace_measure { TRACE_RATIO, TRACE_NS, TRACE_BYTES, TRACE_NO_MEASURE };

/* Of which time a share is; TRACE_TIMES: the value is none. */
enum trace_time { TRACE_TIME_STEPS, TRACE_TIME_WINDOW, TRACE_TIMES };

struct trace_limit {
    uint8_t kind; /* enum trace_limit_kind */
    int64_t value;
    double ratio; /* of TRACE_RATIO */
    str name;     /* as printed: "min-busy", "max-category activation"; the caller's, as `asked` */
    str asked;    /* the limit as it was written */
};

/* A value and its limit are a ratio, or nanoseconds or bytes. */
struct trace_check_row {
    uint8_t kind;    /* enum trace_limit_kind */
    uint8_t measure; /* enum trace_measure */
    uint8_t outcome; /* enum trace_outcome */
    uint8_t of_time; /* enum trace_time */
    bool known;      /* the value */
    str name, asked; /* as in the limit */
    int64_t limit, value;
    double limit_ratio, value_ratio;
    str device;         /* whose value it is, the worst of all; ptr NULL: of none alone */
    uint64_t steps;     /* of which the value is the median; 0: of none */
    static_text reason; /* NULL: none */
    static_text reason_text;
};

struct trace_check {
    struct trace_file file;
    struct trace_check_row *row; /* in the order of the limits */
    uint32_t rows, fails, inconclusive;
    bool strict;
    int64_t exit_code; /* 0, 1, or with `strict` 4 */
};

/* A list of limits, in the order in which each was first named. */
struct trace_limit_list {
    struct arena *arena; /* of their texts */
    struct trace_limit *limit;
    uint32_t limits, room;
};

/* One limit more, by its name, as "min-busy" with "70%"; it replaces an earlier one of the same name
 * and subject.  VRS_USAGE says what is wrong.  Of a limit of snapshots only the name is looked at;
 * what is none but belongs to one, as their capacity, is passed over. */
enum vrs_status trace_limit_add(struct trace_limit_list *list, str name, str value,
                                struct vrs_error *err) MUST_CHECK;

/* The lines of a file called `file`; a failure names the line. */
enum vrs_status trace_limits_read(struct trace_limit_list *list, str file, str text,
                                  struct vrs_error *err) MUST_CHECK;

/* VRS_USAGE where none of them is of traces, so that nothing would be checked. */
enum vrs_status trace_limits_check(const struct trace_limit_list *list,
                                   struct vrs_error *err) MUST_CHECK;

/* False when out of memory.  Texts of the answer are those of the report. */
bool trace_check_make(const struct trace_report *r, const struct trace_limit *limit,
                      uint32_t limits, bool strict, struct arena *arena, struct trace_check *ret);

/* Of an answer, and of a limit in it. */
extern const char *const trace_time_names[TRACE_TIMES];
extern const struct row_type trace_check_row_type, trace_limit_row_type;

#endif
