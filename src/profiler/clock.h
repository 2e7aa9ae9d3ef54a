/* clock.h - the time by which what is measured is told. */
#ifndef VRS_PROFILER_CLOCK_H
#define VRS_PROFILER_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vramscope/profiler.h"

enum { NS_PER_SECOND = 1000000000, US_PER_SECOND = 1000000, NS_PER_US = 1000 };

/* Of the host, from some moment on; the argument is for a backend's place. */
uint64_t host_ns(void *unused);

/* Of the backend, where it has a clock, else of the host. */
uint64_t clock_ns(const struct vrs_backend *b);

/* Microseconds since 1970. */
uint64_t unix_us(void);

/* A condition whose waits end by the host's clock, which nobody sets.  False: the system has
 * none. */
bool timed_cond_init(pthread_cond_t *ret);

#endif
