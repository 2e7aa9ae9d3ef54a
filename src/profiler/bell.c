/* bell.c - the kernel compares the word and sleeps in one step, so that no ring is missed. */
#define _DEFAULT_SOURCE /* syscall */
#include "profiler/bell.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/clock.h"

void bell_set(struct bell *b)
{
    atomic_store(&b->rung, 0);
}

void bell_ring(struct bell *b)
{
    atomic_store(&b->rung, 1);
    syscall(SYS_futex, &b->rung, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void bell_sleep(struct bell *b, uint64_t due_ns)
{
    struct timespec due = { .tv_sec = (time_t)(due_ns / NS_PER_SECOND),
                            .tv_nsec = (long)(due_ns % NS_PER_SECOND) };
    /* The wait with a set of bits is the one whose time is a moment; of CLOCK_MONOTONIC. */
    while (atomic_load(&b->rung) == 0 &&
           !(syscall(SYS_futex, &b->rung, FUTEX_WAIT_BITSET_PRIVATE, 0, &due, NULL,
                     FUTEX_BITSET_MATCH_ANY) != 0 &&
             errno == ETIMEDOUT))
        ;
}
