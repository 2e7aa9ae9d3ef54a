/* lock.h - a lock whose holder is known: one thread reads a device at a time, those that wait give
 * up after a while, and a reading that is asked for inside a reading is told so instead of waiting
 * for itself.
 *
 * A reading can run code of others on its thread (a garbage collector, finalizers), which may ask
 * for another one, or wait for a thread that does. */
#ifndef VRS_PROFILER_LOCK_H
#define VRS_PROFILER_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct read_lock {
    pthread_mutex_t guard; /* of what follows; held for a few instructions */
    pthread_cond_t given;
    pthread_t holder;
    uint32_t waiting;
    bool held;
};

enum lock_answer { LOCK_TAKEN, LOCK_BUSY, LOCK_MINE /* the caller holds it already */ };

/* False where the system has no more of them. */
bool read_lock_init(struct read_lock *l);
void read_lock_end(struct read_lock *l);

enum lock_answer read_lock_try(struct read_lock *l);
/* Waits so many nanoseconds at most. */
enum lock_answer read_lock_wait(struct read_lock *l, uint64_t ns);
void read_lock_give(struct read_lock *l);

/* In a child of fork, of which the caller is the only thread: what another thread held is free. */
void read_lock_renew(struct read_lock *l);

#endif
