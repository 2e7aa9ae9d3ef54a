/* thread.c - keeps a new thread off its caller's processor while it begins. */
#define _GNU_SOURCE
#include "base/thread.h"

#include <sched.h>
#include <stddef.h>

#ifdef __GLIBC__

/* Removes the processor this thread is on; false where no other is left. */
static bool leave_others(cpu_set_t *allowed)
{
    int here = sched_getcpu();
    if (here >= 0 && here < CPU_SETSIZE)
        CPU_CLR((size_t)here, allowed);
    return CPU_COUNT(allowed) > 0;
}

static bool begin_on(const cpu_set_t *allowed, pthread_t *ret_thread, void *(*run)(void *),
                     void *arg)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    bool begun = pthread_attr_setaffinity_np(&attr, sizeof *allowed, allowed) == 0 &&
                 pthread_create(ret_thread, &attr, run, arg) == 0;
    pthread_attr_destroy(&attr);
    return begun;
}

bool thread_begin(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return pthread_create(ret_thread, NULL, run, arg) == 0;
    cpu_set_t others = all;
    if (!leave_others(&others) || !begin_on(&others, ret_thread, run, arg))
        return pthread_create(ret_thread, NULL, run, arg) == 0;
    /* Of a thread that has ended, this sets what the caller may use, to what it is. */
    (void)pthread_setaffinity_np(*ret_thread, sizeof all, &all);
    return true;
}

#else

bool thread_begin(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
    return pthread_create(ret_thread, NULL, run, arg) == 0;
}

#endif
