/* pool.h - thread pool: independent jobs on a few threads at a time.
 *
 * Of the jobs that may begin the first is handed out, one at a time, under a lock: they are files,
 * or the tasks of a list (task_list.h), so there are few of them and each is long.  One that needs
 * what others leave may begin when they are done; a thread that finds no other sleeps.  Nobody
 * spins, and nothing outlives the call. */
#ifndef VRS_BASE_POOL_H
#define VRS_BASE_POOL_H

#include <stdint.h>

#include "base/arena.h"

struct pool_work {
    uint32_t jobs;
    void (*job)(void *arg, uint32_t i, uint32_t thread); /* 0: the caller's */
    void (*finished)(void *arg, uint32_t jobs);          /* or NULL; no two calls overlap */
    void *arg;
};

/* More threads than this are never started, whatever is asked for. */
enum { THREADS_MOST = 64 };

/* Does jobs 0 … jobs - 1 on at most `threads` threads (0: one for each processor), the caller's
 * among them, and returns when all are done.  A thread that cannot be had is done
 * without. */
void pool_run(uint32_t threads, const struct pool_work *work);

enum { POOL_NEEDS_MOST = 64 };

/* The same of at most POOL_NEEDS_MOST jobs, each of which begins when those before it are done that
 * it needs: `needs` has them for each, as bits. */
void pool_run_needing(uint32_t threads, const struct pool_work *work, const uint64_t *needs);

/* The number of threads that `threads` asks for. */
uint32_t pool_threads(uint32_t threads);

/* What one thread at a time may have. */
struct lock;

/* In `arena`, which does not end before lock_end; NULL: no memory. */
struct lock *lock_make(struct arena *arena);
void lock_end(struct lock *lock);
void lock_take(struct lock *lock);
void lock_give(struct lock *lock);

#endif
