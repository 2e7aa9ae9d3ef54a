/* bell.h - a sleep until a moment, which another thread ends by ringing.
 *
 * It is what a condition with a time limit does, in one system call a sleep where a condition takes
 * two: the mutex of a condition counts as contended once a wait has run out, and is woken for
 * nobody. */
#ifndef VRS_PROFILER_BELL_H
#define VRS_PROFILER_BELL_H

#include <stdint.h>

struct bell {
    _Atomic uint32_t rung; /* 0, or 1: who sleeps is to wake, and who comes is not to sleep */
};

/* Before anybody sleeps; after a ring, so that it can be slept by again. */
void bell_set(struct bell *b);
void bell_ring(struct bell *b);

/* Until the bell rings, or the host's clock (host_ns) reaches `due_ns`. */
void bell_sleep(struct bell *b, uint64_t due_ns);

#endif
