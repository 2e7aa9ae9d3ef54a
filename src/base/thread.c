/* thread.c - keeps a new thread off its caller's processor while it begins. */
#define _GNU_SOURCE
#include "base/thread.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>

static void *run_anywhere(void *arg)
{
    struct thread *t = arg;
    t->run(t->arg);
    return NULL;
}

#ifdef __GLIBC__

_Static_assert(sizeof(cpu_set_t) == THREAD_SET_BYTES, "the set is kept whole");

/* The new thread's first steps: it is beside its caller, and may go where that may. */
static void *run_beside(void *arg)
{
    struct thread *t = arg;
    t->began_on = sched_getcpu();
    cpu_set_t allowed;
    memcpy(&allowed, t->allowed, sizeof allowed);
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
    return run_anywhere(t);
}

/* False where there is no other processor, or the system wants to hear nothing of them. */
static bool begin_beside(struct thread *t)
{
    cpu_set_t others;
    pthread_attr_t attr;
    int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof others, &others) != 0)
        return false;
    memcpy(t->allowed, &others, sizeof others);
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 || pthread_attr_init(&attr) != 0)
        return false;
    t->kept_off = here;
    bool begun = pthread_attr_setaffinity_np(&attr, sizeof others, &others) == 0 &&
                 pthread_create(&t->id, &attr, run_beside, t) == 0;
    pthread_attr_destroy(&attr);
    return begun;
}

#else

static bool begin_beside(struct thread *t)
{
    (void)t;
    return false;
}

#endif

bool thread_begin(struct thread *t, void (*run)(void *arg), void *arg)
{
    *t = (struct thread){ .run = run, .arg = arg, .kept_off = -1, .began_on = -1 };
    if (begin_beside(t))
        return true;
    t->kept_off = -1;
    return pthread_create(&t->id, NULL, run_anywhere, t) == 0;
}

void thread_join(struct thread *t)
{
    pthread_join(t->id, NULL);
}
