/* check.h - a device held against a budget: what each limit's value is, and whether it holds.
 *
 * A value is measured, derived or estimated, and may be known only between two bounds.  A limit
 * fails when the lower bound exceeds it; where only the upper does, where an estimate does, or
 * where there is no value, it stays undecided, which is never a pass. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_H
#define VRS_ANALYSIS_SNAPSHOT_CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

enum check_outcome { CHECK_PASS, CHECK_FAIL, CHECK_INCONCLUSIVE, CHECK_OUTCOMES };
extern const char *const check_outcome_names[CHECK_OUTCOMES];

enum check_source { CHECK_MEASURED, CHECK_DERIVED, CHECK_ESTIMATED, CHECK_SOURCES };
extern const char *const check_source_names[CHECK_SOURCES];

/* What a value is a number of. */
enum check_measure { CHECK_BYTES, CHECK_RATIO, CHECK_COUNT };

/* No moment is meant. */
#define CHECK_NO_EVENT (-2)

enum { CHECK_SITES = 3, CHECK_DIFF_ROWS = 3 };

/* Who held most of a value that exceeds its limit. */
struct check_site {
    struct site_ref site;
    uint64_t bytes;
    str file;      /* of the culprit, under the user's root or its last part; empty: no frame */
    uint32_t line; /* or NO_LINE */
};

/* A row of the comparison with the baseline. */
struct check_diff_row {
    str name;
    static_text stage, status;
    double score; /* negative: not a fuzzy match */
    int64_t a_bytes, b_bytes, delta_bytes;
};

/* Bytes and counts are in `limit`, `value` and `upper`, a ratio in the two behind them. */
struct check_row {
    enum limit_kind kind;
    str name; /* with its subject: "max-category activation" */
    enum check_measure measure;
    bool limit_known, value_known, upper_known;
    int64_t limit, value, upper; /* upper: of a value that is known only between bounds */
    double limit_ratio, value_ratio;
    enum check_source source;
    enum check_outcome outcome;
    int64_t event;      /* where the value stands; -1: the start; or CHECK_NO_EVENT */
    const char *reason; /* static id; NULL: none */
    str reason_text;
    struct check_site *site;
    struct check_diff_row *diff;
    uint32_t sites, diffs;
};

struct check {
    struct check_row *row; /* in the order of the budget */
    uint32_t rows;
    uint32_t fails, inconclusive;
    bool strict;
    bool path_cut; /* the file's name is shown without its folder */
    int exit_code; /* 0, 1, or with `strict` 4 */
};

struct check_question {
    const struct budget *budget;
    struct parts *parts;             /* of the device */
    const struct proven_study *base; /* the same device of the baseline; NULL: none */
    struct parts *base_parts;        /* of that */
    bool strict;                     /* undecided is not good enough, nor is a file of grade D */
    bool allow_estimates;            /* an estimate may fail, too */
    int64_t device;                  /* the only one asked about: its number plus 1; 0: all */
    bool speaks_for_others;          /* limits of devices that no answer is of stand in this one */
    bool path_cut;                   /* the name of the file is shown without its folder */
    str user_root;                   /* files are shown below it */
};

/* Of a struct check_row, and of a struct check, the result of a device. */
extern const struct row_type check_row_type, check_result_row_type;

/* Rows and texts live in s->keep. */
enum vrs_status check_compute(const struct proven_study *proven, const struct check_question *q,
                              struct check *ret, struct vrs_error *err) MUST_CHECK;

#endif
