/* compare.h - what changed from one measurement to another, beyond noise.
 *
 * Compared are the times, figures and phases that both have, by name.  The median of a time has the
 * interval of base/noise.h, of the values that the document has; a change is no difference where
 * its whole interval lies within COMPARED_SAME_SHARE of A's median, and faster or slower where it
 * lies on one side of 0 and reaches further.  Nothing is judged that has fewer than
 * COMPARED_VALUES_LEAST values on a side, or is of two units or two clocks; nor loading whose mean
 * is COMPARED_BURST times its median, since workers then give batches out in bursts.
 *
 * What two runs of one program differ by is in the values of neither.  Where A's program was
 * measured again, the largest distance of a repeat's median from A's is added to half of the
 * interval. */
#ifndef VRS_ANALYSIS_MEASUREMENT_COMPARE_COMPARE_H
#define VRS_ANALYSIS_MEASUREMENT_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/noise.h"
#include "base/str.h"
#include "model/measurement.h"

#define COMPARED_SAME_SHARE 0.01
#define COMPARED_BURST 1.5 /* a mean so many times the median is that of bursts */
enum { COMPARED_VALUES_LEAST = 6, COMPARED_REPEATS_MOST = 16 };

/* Why a row was not judged. */
enum compared_reason {
    COMPARED_JUDGED,
    COMPARED_FEW_VALUES,
    COMPARED_NO_VALUES, /* the document of a side has the median alone */
    COMPARED_ONE_VALUE, /* a figure is one number */
    COMPARED_BURSTS,    /* of loading, which comes in bursts: the median says little */
    COMPARED_UNITS,     /* the two are of different units, or clocks */
    COMPARED_CLOCKS,
    COMPARED_UNKNOWN, /* one of the two is not known */
    COMPARED_REASONS
};

/* The values of a side; NAN is what is not known. */
struct compared_value {
    uint64_t count; /* that the median is of */
    double median, mean;
    double deviation; /* of the sample */
    double noise;     /* half of the median's interval */
    str unit;
    str timed_by;     /* ptr NULL: no clock is in it */
};

struct compared_row {
    str name;
    struct compared_value a, b;
    double change;    /* b less a, as all changes; NAN: it cannot be told, as the next */
    double low, high; /* its interval */
    double between_runs; /* the largest distance of a repeat's median from a's; NAN: none tells */
    uint32_t repeats;    /* that tell: of the same unit and clock, and enough values */
    double ratio;     /* in parts of a */
    uint8_t verdict;  /* enum noise_verdict */
    uint8_t reason;
};

enum compared_memory_verdict {
    COMPARED_LESS,
    COMPARED_EQUAL,
    COMPARED_MORE,
    COMPARED_MEMORY_UNKNOWN,
    COMPARED_MEMORY_VERDICTS
};

/* The memory of a phase: its peak in all, and above its begin. */
struct compared_memory {
    str path;
    uint64_t device;
    uint64_t a_peak, b_peak, a_delta, b_delta; /* UNKNOWN_U64 */
    int64_t change, change_delta;              /* 0 where one is not known */
    double ratio;                              /* of the peak; NAN */
    uint8_t verdict;                           /* of the peak */
};

/* A condition that is another one on the other side; ptr NULL is not known. */
struct compared_condition {
    const char *name;
    str a, b;
};

struct compared_side {
    str path;
    uint64_t size_bytes; /* UNKNOWN_U64 */
    str what, tool;
};

/* A's program, measured again; its conditions that are others than A's, which `b` has of it. */
struct compared_repeat {
    struct compared_side side;
    struct compared_condition *condition;
    uint32_t conditions;
};

/* A limit for the change of what is judged. */
struct compared_limit {
    struct noise_limit most;
    bool is_told;  /* else there is no change of a time to hold against it */
    bool exceeded; /* or not to be told */
};

struct comparison {
    struct compared_side a, b;
    struct compared_repeat *again;
    uint32_t repeats;
    str judged;                     /* the row that the verdict is of; ptr NULL: there is none */
    const struct compared_row *row; /* that row; NULL */
    const struct compared_row *loading; /* of `timing`; NULL: nothing was loaded */
    uint8_t verdict;
    const struct compared_limit *limit; /* NULL: none was asked for */
    struct compared_condition *condition;
    uint32_t conditions;
    struct compared_row *timing, *figure; /* in A's order, as all rows */
    uint32_t timings, figures;
    struct compared_memory *memory;
    uint32_t memories;
    uint32_t left_out; /* rows that one side alone has */
};

struct comparison_question {
    const struct measurement *a, *b;
    const struct noise_limit *limit; /* NULL: none */
    const struct measurement *const *again;
    uint32_t repeats; /* COMPARED_REPEATS_MOST at most */
};

/* Everything is taken from `arena`, texts too; paths and sizes of the files are the caller's to
 * fill. VRS_USAGE where one of them measured another thing. */
enum vrs_status comparison_make(const struct comparison_question *q, struct arena *arena,
                                struct comparison *ret, struct vrs_error *err) MUST_CHECK;

/* The verdict of a row from its two sides, whose clocks and units are its own; see above. */
void compared_row_judge(struct compared_row *row);

extern const struct row_type comparison_row_type, compared_line_row_type, compared_memory_row_type,
    compared_condition_row_type, compared_repeat_row_type;
extern const char *const compared_reason_names[COMPARED_REASONS];

#endif
