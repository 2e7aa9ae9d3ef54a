/* diff.h - what changed from one recording to another, by code and by kind; signed.
 *
 * Side 0 is A, the one before, side 1 is B; a delta is B less A.  The deltas of the rows add up to
 * that of the totals, and so do those of each table: bytes, counts and byte-events alike.  Sums of
 * hostile sizes wrap modulo 2^64. */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/ids.h"

enum diff_weight {
    DIFF_LIVE,        /* bytes live at a moment */
    DIFF_ALLOC_BYTES, /* bytes of all allocs */
    DIFF_ALLOCS,      /* their number */
    DIFF_BYTE_EVENTS, /* bytes times the events that they live over */
    DIFF_WEIGHTS
};
extern const char *const diff_weight_names[DIFF_WEIGHTS];

/* What a row is: a matched pair of stacks, or what shares a line, by either word, or a kind. */
enum diff_by { DIFF_STACKS, DIFF_CULPRITS, DIFF_LINES, DIFF_OWNERS, DIFF_CATEGORIES, DIFF_BYS };
extern const char *const diff_by_names[DIFF_BYS];

/* What a side's figures are divided by before they are compared. */
enum diff_per { DIFF_PER_NOTHING, DIFF_PER_STEP, DIFF_PER_PARAMETERS, DIFF_PERS };
extern const char *const diff_per_names[DIFF_PERS];

/* How two sites came to be one row: by equal keys, by likeness, not at all. */
enum diff_stage {
    DIFF_EXACT,    /* M0: all of both stacks */
    DIFF_LINE,     /* M1: file name, line and function of each frame */
    DIFF_FUNCTION, /* M2: file name and function */
    DIFF_FUZZY,    /* M3 */
    DIFF_UNMATCHED /* M4 */
};
enum { DIFF_STAGES = DIFF_UNMATCHED + 1 };
extern const char *const diff_stage_names[DIFF_STAGES];

enum diff_change {
    DIFF_GROWN,
    DIFF_SHRUNK,
    DIFF_SAME,
    DIFF_NEW,
    DIFF_GONE,
    DIFF_MOVED, /* matched by likeness */
    DIFF_CHANGES
};
extern const char *const diff_change_names[DIFF_CHANGES];

struct diff_amount {
    uint64_t bytes, count;
    uint64_t byte_events; /* 0 for other weights */
};

/* B's amounts less A's. */
struct diff_delta {
    int64_t bytes, count;
    int64_t byte_events; /* 0 for other weights */
    double per;          /* of the weight's figures, each divided by what its side is divided by */
};

struct diff_row {
    str name;          /* of the side that has it, B first; as shown */
    str old_name;      /* A's, where it differs; else ptr NULL */
    str owner;         /* under that name; ptr NULL: several, or what has no stack */
    str operator_name; /* that its stack runs; ptr NULL: several, or none is known */
    str innermost;     /* line of its stack, of whosever code; ptr NULL: several, or none */
    str called_from;   /* what called its owner; ptr NULL: several, or nothing */
    /* Other rows have this name; of those some have this owner; of those some this operator.  What
     * then tells them apart, if anything does. */
    bool name_shared, owner_shared, operator_shared;
    bool innermost_differs, called_from_differs;
    str caller; /* unmatched: the deepest caller that both have; ptr NULL: none */
    bool stages_differ;
    enum diff_stage stage; /* unless they differ */
    uint32_t score;        /* DIFF_FUZZY: in millionths */
    double score_ratio;
    enum diff_change change;
    struct diff_amount of[2];
    struct diff_delta delta;
    bool has_stack[2];
    stack_id stack[2]; /* of the side's largest part */
    bool same_stack;   /* the text of both is the same */
};

/* A row of a table: named by `name`, or by `number` where that is a size. */
struct diff_part {
    str name;
    uint64_t number;
    struct diff_amount of[2];
    struct diff_delta delta;
};

struct diff_table {
    struct diff_part *at;
    uint32_t count;
};

/* One side as a whole. */
struct diff_end {
    str path;                 /* of the file: the caller's */
    int64_t at_event;         /* the last that counts */
    bool at_peak;             /* it is the device's peak */
    bool traced;              /* else the figures are those of the final state */
    struct diff_amount total; /* of the allocations */
    int64_t adjust_bytes;     /* DIFF_LIVE: the requested curve less them */
    uint64_t per;             /* how many steps or bytes of parameters; 1 */
    int64_t reserved_bytes;   /* at the event */
    uint64_t slack_bytes;     /* active less requested there; UNKNOWN_U64 */
    uint64_t stranded_bytes;  /* UNKNOWN_U64 */
};

/* B's less A's. */
struct diff_allocator {
    int64_t reserved_bytes;
    int64_t stranded_bytes, slack_bytes;
    bool stranded_known, slack_known; /* of both sides */
};

/* By how much B may be above A. */
struct diff_limit {
    bool set;
    bool is_ratio; /* of A's figure of the weight, in millionths; else bytes */
    uint64_t bytes, millionths;
    double ratio;
    bool exceeded;
};

struct diff {
    enum diff_by by;
    enum diff_weight weight;
    enum diff_per per;
    struct diff_end end[2];
    struct diff_delta total;
    struct diff_allocator allocator;
    struct diff_limit limit; /* by diff_judge */
    struct diff_row *row;    /* by the size of the change, then of both sides, then by name */
    uint32_t rows;
    struct diff_table by_category, by_module, by_phase, by_size;
    double matched_ratio[2]; /* of the weight; negative: there is none */
    bool python_only;        /* the sides recorded different kinds of frames */
    bool split;              /* what has no stack is split by category */
};

/* Of a struct diff_row, and of a struct diff, the result of two devices.  The numbers of stacks are
 * those of the answer, which the caller puts in place of both recordings' ids. */
extern const struct row_type diff_row_type, diff_result_row_type;

/* What a user asks: moments as diff_range_at takes them. */
struct diff_question {
    bool has_moment[2];
    struct moment moment[2];
    enum diff_by by;
    enum diff_weight weight;
    enum diff_per per;
    enum site_key key;
};

/* The events of a side that count, -1 for the start; of DIFF_LIVE the last alone, after which is
 * the moment. */
struct diff_range {
    int64_t first, last;
};

struct diff_options {
    enum diff_by by;
    enum diff_weight weight;
    enum diff_per per;
    enum site_key key; /* where matching begins: up to SITE_FUNCTION_IN_FILE */
    struct diff_range range[2];
};

/* What a moment means for a weight: the peak where `moment` is NULL, all of the trace for weights
 * that add up; `step:k` is then that step, other moments all up to them.  VRS_USAGE when the device
 * has none such. */
enum vrs_status diff_range_at(const struct study *s, enum diff_weight weight,
                              const struct moment *moment, struct diff_range *ret,
                              struct vrs_error *err) MUST_CHECK;

/* Steps found, or bytes of parameters alive at the event; 0 where there are none. */
uint64_t diff_per_of(const struct study *s, enum diff_per per, int64_t event);

/* The figure that the weight is about. */
uint64_t diff_figure(enum diff_weight weight, const struct diff_amount *amount);

/* Whether B's figure, divided, is above A's by more than so many millionths of it. */
bool diff_above(const struct diff *d, uint64_t a, uint64_t b, uint64_t millionths);

/* Whether the totals keep to a limit, which then is that of `d`. */
void diff_judge(struct diff *d, const struct diff_limit *limit);

/* Rows and texts live in `a->keep`; `scratch` in that of `a`.  Both sides may be one study. */
enum vrs_status diff_compute(const struct proven_study *a, const struct proven_study *b,
                             const struct diff_options *options, struct diff *ret,
                             struct vrs_error *err) MUST_CHECK;

/* How what has no key is told apart. */
enum diff_keyless { DIFF_BY_CATEGORY, DIFF_BY_SIZE, DIFF_AS_ONE };

/* Which row of diff_compute each stack would be part of, for others to sum. */
struct diff_pairing {
    uint32_t *of_stack[2]; /* of each stack of a side: a match, plus 1; 0: nothing counts, no key */
    struct diff_paired {
        enum diff_stage stage;
        uint32_t score; /* as in a row */
        bool small;     /* what is too small to be compared */
    } * at;
    uint32_t count;
    enum diff_keyless keyless;
    enum diff_stage first; /* of what has no key and is on both sides */
};

/* As diff_compute; the pairing lives in `keep`. */
enum vrs_status diff_pair_stacks(const struct study *a, const struct study *b,
                                 const struct diff_options *options, struct arena *keep,
                                 struct diff_pairing *ret, struct vrs_error *err) MUST_CHECK;

#endif
