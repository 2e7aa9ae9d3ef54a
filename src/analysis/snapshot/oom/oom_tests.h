/* oom_tests.h - the figures of a failed request, and the nine tests that give its verdict.
 *
 * Everything here is arithmetic on one moment; where figures come from is oom_measure.h. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_TESTS_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_TESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"

/* In the order in which remedies are tried. */
enum oom_verdict {
    OOM_CAPACITY_LIMIT,
    OOM_SINGLE_REQUEST_TOO_LARGE,
    OOM_CACHED_NOT_RELEASABLE,
    OOM_FRAGMENTATION,
    OOM_PENDING_FREE,
    OOM_OTHER_STREAM,
    OOM_PRIVATE_POOLS,
    OOM_OUTSIDE_PYTORCH,
    OOM_LIVE_EXCEEDS_CAPACITY,
    OOM_VERDICTS,
    OOM_UNDECIDED = OOM_VERDICTS
};
extern const char *const oom_verdict_names[OOM_VERDICTS];

/* Sizes that decide: tuned on real files. */
#define OOM_LIMIT_MARGIN ((uint64_t)64 << 20)   /* free on the card beyond what was asked of it */
#define OOM_OUTSIDE_RESERVE ((uint64_t)1 << 30) /* that other programs can not do without */
#define OOM_PART 10 /* of the request that pending memory, of the card that others must be */

/* Bytes, UNKNOWN_U64 where not known. */
struct oom_figures {
    uint64_t request; /* n: the block */
    uint64_t segment; /* S: what would be asked of the device for it */
    uint64_t device_free, active, pending, reserved; /* F, A, P, R */
    uint64_t internal_free;     /* I: free in segments of the request's pool and stream */
    uint64_t largest_usable;    /* B: the largest free block there that the request may use */
    uint64_t largest_growable;  /* the same, where expandable memory could grow into F */
    uint64_t returnable;        /* that a full release would give back */
    uint64_t other_stream_free; /* of the request's pool */
    uint64_t private_free;      /* of pools that the request may not use */
    uint64_t total;             /* T: of the card */
    uint64_t process;           /* U: all of this process */
    uint64_t allowed;           /* L */
    uint64_t said_private;      /* free bytes of private pools, by the text */
    bool has_text, preemptive;
};

/* Sums of what is known; else UNKNOWN_U64. */
uint64_t oom_capacity_seen(const struct oom_figures *f);   /* C = R + F */
uint64_t oom_outside_process(const struct oom_figures *f); /* X = U - R */
uint64_t oom_other_processes(const struct oom_figures *f); /* Y = T - F - U */
uint64_t oom_outside(const struct oom_figures *f);         /* X + Y = T - F - R */

/* A + n - C: negative where the bytes exist and are in the wrong place. */
bool oom_short_by(const struct oom_figures *f, int64_t *ret);

enum oom_holds { OOM_NO, OOM_YES, OOM_UNKNOWN };

struct oom_test {
    enum oom_verdict id;
    enum oom_holds holds;
    bool known;    /* bytes */
    int64_t bytes; /* what the request could have had; of the last one: what was missing */
    /* Of the first remedy that holds, where the program was asked too: would it have had enough?
     * Else the reason's id. */
    bool asked, enough;
    const char *reason; /* static; NULL: it would */
};

struct oom_answer_of_tests {
    struct oom_test test[OOM_VERDICTS];
    enum oom_verdict verdict;                 /* OOM_UNDECIDED: too little is known */
    enum oom_verdict also_true[OOM_VERDICTS]; /* that would have done as well, alone */
    uint32_t also_trues;
};

/* Of a struct oom_test. */
extern const struct row_type oom_test_row_type;

void oom_test_all(const struct oom_figures *f, struct oom_answer_of_tests *ret);

#endif
