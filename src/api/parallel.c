/* parallel.c - the pool of threads for callers. */
#include <assert.h>

#include "base/fail.h"
#include "base/pool.h"
#include "vramscope/vramscope.h"

static_assert((int)THREADS_MOST == (int)VRS_THREADS_MOST, "what is said of threads holds");

enum vrs_status vrs_parallel(uint32_t threads, uint32_t count, void (*job)(void *arg, uint32_t i),
                             void (*finished)(void *arg, uint32_t jobs), void *arg,
                             struct vrs_error *err)
{
    if (job == NULL)
        return vrs_fail(err, VRS_USAGE, "vrs_parallel needs a job");
    struct pool_work work = { count, job, finished, arg };
    pool_run(threads, &work);
    return VRS_OK;
}
