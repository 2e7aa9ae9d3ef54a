/* budget.h - the limits that a recording is held against, as people write them.
 *
 * A limit is a name with a value: "max-peak" with "24GiB", "max-category" with "activation=8GiB".
 * The names are those of the options of `check`; a file of limits has them too, one a line:
 * "max-peak = 24GiB".  A later limit of the same name and subject replaces the earlier one, but not
 * within a file: there one of the two is a mistake. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CHECK_BUDGET_H
#define VRS_ANALYSIS_SNAPSHOT_CHECK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "base/str.h"

enum limit_kind {
    LIMIT_PEAK,
    LIMIT_PEAK_ACTIVE,
    LIMIT_RESERVED,
    LIMIT_END,
    LIMIT_GROWTH,
    LIMIT_STEP_PEAK,
    LIMIT_STRANDED,
    LIMIT_SLACK,
    LIMIT_PENDING,
    LIMIT_CATEGORY,
    LIMIT_SITE,
    LIMIT_DEVICE_PEAK,
    LIMIT_HEADROOM,
    LIMIT_OOM,
    LIMIT_RETRY,
    LIMIT_UNKNOWN_SHARE,
    LIMIT_DELTA,
    LIMIT_SITE_DELTA,
    LIMIT_NEW_SITE,
    /* Of profiler traces: no snapshot has a value for the rest, but the same files of limits serve
     * both. */
    LIMIT_TRACE_BUSY,
    LIMIT_TRACE_IDLE,
    LIMIT_TRACE_STEP,
    LIMIT_TRACE_MEMORY,
    LIMIT_KINDS
};
extern const char *const limit_names[LIMIT_KINDS];

/* Bytes, or a part of something that is known later. */
struct amount {
    bool relative;
    uint64_t bytes;      /* at most INT64_MAX */
    uint64_t millionths; /* of the whole, where `relative` */
};

struct limit {
    enum limit_kind kind;
    str name; /* as printed: "max-category activation"; in the budget's arena */
    struct amount amount;
    enum category category; /* LIMIT_CATEGORY */
    uint32_t device;        /* LIMIT_DEVICE_PEAK: its number */
    struct pattern *site;   /* LIMIT_SITE */
    unsigned line;          /* of the file it stands in; 0: in none */
};

enum { BUDGET_LIMITS_MOST = 1024 };

struct budget {
    struct arena *arena;
    struct limit *limit; /* in the order in which each was first named */
    uint32_t limits;
    uint64_t capacity_bytes; /* 0: not given */
    struct amount tolerance; /* of comparisons with a baseline */
    bool has_tolerance;
    unsigned line;                          /* that is being read; 0: none of a file */
    unsigned capacity_line, tolerance_line; /* as of a limit */
};

/* Everything lives in `arena`, but for what budget_free frees, also after a failure below. */
enum vrs_status budget_make(struct arena *arena, struct budget *ret,
                            struct vrs_error *err) MUST_CHECK;
void budget_free(struct budget *b);

/* One limit; `value` is empty for a limit that has none.  VRS_USAGE says what is wrong. */
enum vrs_status budget_set(struct budget *b, str name, str value, struct vrs_error *err) MUST_CHECK;

/* The lines of a file called `file`; a failure names the line. */
enum vrs_status budget_read(struct budget *b, str file, str text, struct vrs_error *err) MUST_CHECK;

/* VRS_USAGE where limits are missing, or what they need. */
enum vrs_status budget_check(const struct budget *b, bool has_baseline,
                             struct vrs_error *err) MUST_CHECK;

bool limit_is_of_traces(enum limit_kind kind);

/* VRS_USAGE where all limits are of traces, so that nothing of a snapshot would be checked. */
enum vrs_status budget_check_own(const struct budget *b, struct vrs_error *err) MUST_CHECK;

/* The bytes that an amount means of `whole` (INT64_MAX where they are more).  A part is rounded
 * down, which leaves "more than" as it is for whole numbers. */
int64_t amount_of(struct amount amount, int64_t whole);

#endif
