/* oom_program.h - would the program have had room, had the one request been served?
 *
 * The tests answer for the request.  Where free memory in pieces would have served it, the program
 * is asked too: what it needs next may be more than is then left. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_PROGRAM_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "model/ids.h"

/* Why the memory in pieces would not have been enough for the program. */
enum oom_lack {
    OOM_LACK_NONE,
    OOM_LACK_LEAK,  /* what grows from step to step fills what is left */
    OOM_LACK_STATE, /* the first optimizer step has parameters to come */
    OOM_LACK_NEXT,  /* in earlier steps it needed more, from the request on */
    OOM_LACK_FREE,  /* what is free in pieces is little beside what is in use */
    OOM_LACKS
};
extern const char *const oom_lack_names[OOM_LACKS];

struct oom_program {
    bool asked; /* the test of fragmentation is the first that holds */
    enum oom_lack lack;
    uint64_t free_bytes; /* on the card and in pieces, before the request */
    uint64_t left_bytes; /* of them, after it */
    /* Needed from the request on, until its place in the next step: the most of earlier steps.
     * UNKNOWN_U64: there is none. */
    uint64_t next_bytes;
    const struct leak_site *grows; /* the most of all; NULL: nothing does */
    uint64_t growth_bytes;         /* a step, of all that grows */
    bool growth_sure;              /* all of it leaks, not suspects */
    bool growth_in_each;           /* all of it grows in each step, not in every second, … */
    bool nearly_full;              /* what is free anywhere is little beside what is in use */
    uint64_t parameters, stated;   /* that have a gradient; of them, those whose state is made */
    uint64_t state_left_bytes;     /* that of the others takes, the request among it */
};

/* Where it failed; `leaks` NULL: not worked out.  `live_bytes` UNKNOWN_U64: not known. */
struct oom_moment {
    int64_t event; /* -1: none */
    stack_id stack;
    uint64_t live_bytes;
    const struct leaks *leaks;
};

/* Asks, where `verdict` is fragmentation. */
enum vrs_status oom_program_ask(const struct study *s, const struct oom_moment *at,
                                const struct oom_figures *f, enum oom_verdict verdict,
                                struct oom_program *ret, struct vrs_error *err) MUST_CHECK;

/* The alloc of a stack that is number `nth` in events [begin, end); -1 where there are fewer. */
int64_t oom_nth_alloc(const struct study *s, stack_id stack, int64_t begin, int64_t end,
                      uint32_t nth);

/* How many allocs of a stack events [begin, end) have. */
uint32_t oom_allocs_of(const struct study *s, stack_id stack, int64_t begin, int64_t end);

#endif
