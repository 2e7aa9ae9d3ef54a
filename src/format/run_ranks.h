/* run_ranks.h - the ranks of a job, as run.json in the folder of `vramscope run` has them. */
#ifndef VRS_FORMAT_RUN_RANKS_H
#define VRS_FORMAT_RUN_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

struct run_ranks {
    str job;            /* its identity; empty: not known */
    uint32_t ranks;     /* 0: not known */
    const bool *silent; /* of each, whether it records and did not say how it ended */
};

/* All of it in `keep`.  A file of nothing or of more than a few MiB, or of more ranks than any job
 * has, is VRS_LIMIT. */
enum vrs_status run_ranks_read(const char *path, struct arena *keep, struct run_ranks *ret,
                               struct vrs_error *err) MUST_CHECK;

#endif
