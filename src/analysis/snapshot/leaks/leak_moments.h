/* leak_moments.h - the moments at which live memory is compared: the same point of every step.
 *
 * Moment t is just before step t + 1 begins.  After the last step there is one more where a step
 * or a mark ends it, or where the recording ends as an earlier step did: the last events before
 * are of the same stacks, and those of the last one stand there as often.  A recording of two
 * steps that ends elsewhere is looked at once more, after its last alloc, so that there are
 * three; what rises there is no growth. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_MOMENTS_H
#define VRS_ANALYSIS_SNAPSHOT_LEAKS_LEAK_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/study.h"
#include "base/fail.h"

struct leak_moments {
    int64_t *event;    /* the event after which each is; ascending */
    uint32_t count;    /* the number of steps, or one more */
    bool end_compares; /* the last one is at the same point of the cycle as those before it */
};

/* Of a study with at least two steps; in its scratch. */
enum vrs_status leak_moments_find(const struct study *s, struct leak_moments *ret,
                                  struct vrs_error *err) MUST_CHECK;

/* The first moment at or after an event; `count`: none. */
uint32_t leak_moment_from(const struct leak_moments *m, int64_t event);

#endif
