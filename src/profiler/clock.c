/* clock.c - the system's clocks as one number each. */
#define _POSIX_C_SOURCE 200809L
#include "profiler/clock.h"

#include <stddef.h>
#include <time.h>

uint64_t host_ns(void *unused)
{
    (void)unused;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(const struct vrs_backend *b)
{
    return b->clock_ns != NULL ? b->clock_ns(b->arg) : host_ns(NULL);
}

bool timed_cond_init(pthread_cond_t *ret)
{
    pthread_condattr_t kind;
    if (pthread_condattr_init(&kind) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&kind, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(ret, &kind) == 0;
    pthread_condattr_destroy(&kind);
    return ok;
}

uint64_t unix_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * US_PER_SECOND + (uint64_t)now.tv_nsec / NS_PER_US;
}
