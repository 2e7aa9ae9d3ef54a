/* ring.h - a ring buffer of rows of one size: the last ones are kept, those before are counted.
 *
 * Memory is taken in chunks as rows come, up to the capacity.  Any number of threads may add and
 * copy.  A ring is never moved: its guard may be its own. */
#ifndef VRS_PROFILER_RING_H
#define VRS_PROFILER_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { RING_LEAST = 1 << 10, RING_MOST = 1 << 24 };

struct ring {
    pthread_mutex_t own, *guard;
    VEC(unsigned char *) chunk;
    uint64_t first, next; /* numbers of the first row that is kept and of the one to come */
    uint64_t cleared;     /* `next` when the ring was last cleared */
    uint64_t refused;     /* rows that there was no memory for, since then */
    uint32_t row_bytes, capacity;
};

/* `capacity` is raised to a power of two from RING_LEAST to RING_MOST.  False where the system has
 * no lock. */
bool ring_init(struct ring *r, uint32_t row_bytes, uint32_t capacity);
/* The same with the lock of an owner that has it taken anyhow when a row comes. */
bool ring_init_in(struct ring *r, uint32_t row_bytes, uint32_t capacity, pthread_mutex_t *guard);
void ring_free(struct ring *r);
/* In a child of fork. */
void ring_after_fork(struct ring *r);

/* Copies the row in; its number, which counts from 0, or UINT64_MAX: no memory. */
uint64_t ring_add(struct ring *r, const void *row);
/* The same by who has taken the guard. */
uint64_t ring_put(struct ring *r, const void *row);

/* The row of a number, where it stands, for who has taken the guard; NULL: it is gone, or never was
 * there. */
void *ring_row(struct ring *r, uint64_t number);

/* Copies rows from number `from` on, `most` of them at most, and says how many; rows that are gone
 * are passed over, and `*ret_first` is the number of the first one copied. */
uint32_t ring_copy(struct ring *r, uint64_t from, uint32_t most, void *ret, uint64_t *ret_first);

/* Forgets all rows; numbers go on. */
void ring_clear(struct ring *r);

struct ring_counts {
    uint64_t first, next; /* as above */
    uint64_t lost;        /* overwritten or refused, since the ring was made or cleared */
};
struct ring_counts ring_counts(struct ring *r);

#endif
