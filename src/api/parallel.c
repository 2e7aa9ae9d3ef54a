/* parallel.c - the pool of threads for callers. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/pool.h"
#include "vramscope/vramscope.h"

static_assert((int)THREADS_MOST == (int)VRS_THREADS_MOST, "what is said of threads holds");

struct caller {
    void (*job)(void *arg, uint32_t i);
    void (*finished)(void *arg, uint32_t jobs);
    void *arg;
};

static void do_job(void *arg, uint32_t i, uint32_t thread)
{
    const struct caller *caller = arg;
    (void)thread;
    caller->job(caller->arg, i);
}

static void job_finished(void *arg, uint32_t jobs)
{
    const struct caller *caller = arg;
    if (caller->finished != NULL)
        caller->finished(caller->arg, jobs);
}

enum vrs_status vrs_parallel(uint32_t threads, uint32_t count, void (*job)(void *arg, uint32_t i),
                             void (*finished)(void *arg, uint32_t jobs), void *arg,
                             struct vrs_error *err)
{
    if (job == NULL)
        return vrs_fail(err, VRS_USAGE, "vrs_parallel needs a job");
    struct caller caller = { job, finished, arg };
    pool_run(threads, &(struct pool_work){ count, do_job, job_finished, &caller });
    return VRS_OK;
}
