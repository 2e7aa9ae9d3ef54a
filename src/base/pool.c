/* pool.c - worker threads that take the next job that may begin until none is left. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

struct pool {
    const struct pool_work *work;
    const uint64_t *needs; /* NULL: no job needs another */
    pthread_mutex_t lock;  /* of all below */
    pthread_cond_t is_done; /* a job, so that others may begin */
    uint32_t next, done;
    uint64_t begun, ended; /* where jobs need others, those of them */
};

struct worker {
    struct pool *pool;
    uint32_t number;
    pthread_t thread;
};

/* The first that has not begun and needs none that is not done; false: there is none now. */
static bool find_ready(const struct pool *pool, uint32_t *ret)
{
    const struct pool_work *work = pool->work;
    for (uint32_t i = 0; i < work->jobs; i++) {
        if ((pool->begun >> i & 1) == 0 && (pool->needs[i] & ~pool->ended) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

/* The job to do now, under the lock, for which this may wait; false: all have begun.  Of those that
 * have not, the first needs none but such as have: it is ready some day. */
static bool next_job(struct pool *pool, uint32_t *ret)
{
    if (pool->next == pool->work->jobs)
        return false;
    if (pool->needs == NULL) {
        *ret = pool->next++;
        return true;
    }
    while (!find_ready(pool, ret)) {
        pthread_cond_wait(&pool->is_done, &pool->lock);
        if (pool->next == pool->work->jobs)
            return false;
    }
    pool->begun |= UINT64_C(1) << *ret;
    pool->next++;
    return true;
}

static void end_job(struct pool *pool, uint32_t i)
{
    const struct pool_work *work = pool->work;
    pool->done++;
    if (pool->needs != NULL) {
        pool->ended |= UINT64_C(1) << i;
        pthread_cond_broadcast(&pool->is_done);
    }
    if (work->finished != NULL)
        work->finished(work->arg, pool->done);
}

static void *take_jobs(void *arg)
{
    const struct worker *worker = arg;
    struct pool *pool = worker->pool;
    const struct pool_work *work = pool->work;
    uint32_t i;
    pthread_mutex_lock(&pool->lock);
    while (next_job(pool, &i)) {
        pthread_mutex_unlock(&pool->lock);
        work->job(work->arg, i, worker->number);
        pthread_mutex_lock(&pool->lock);
        end_job(pool, i);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static uint32_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > THREADS_MOST ? THREADS_MOST : (uint32_t)count;
}

uint32_t pool_threads(uint32_t threads)
{
    if (threads == 0)
        return processors();
    return threads > THREADS_MOST ? THREADS_MOST : threads;
}

void pool_run(uint32_t threads, const struct pool_work *work)
{
    pool_run_needing(threads, work, NULL);
}

void pool_run_needing(uint32_t threads, const struct pool_work *work, const uint64_t *needs)
{
    assert(needs == NULL || work->jobs <= POOL_NEEDS_MOST);
    uint32_t wanted = pool_threads(threads);
    if (wanted > work->jobs)
        wanted = work->jobs;
    struct pool pool = { .work = work,
                         .needs = needs,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .is_done = PTHREAD_COND_INITIALIZER };
    struct worker worker[THREADS_MOST]; /* the first is the caller */
    uint32_t workers = 1;
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        worker[i] = (struct worker){ .pool = &pool, .number = i };
    while (workers < wanted &&
           pthread_create(&worker[workers].thread, NULL, take_jobs, &worker[workers]) == 0)
        workers++;
    take_jobs(&worker[0]);
    while (--workers > 0)
        pthread_join(worker[workers].thread, NULL);
    pthread_cond_destroy(&pool.is_done);
    pthread_mutex_destroy(&pool.lock);
}

/* Its mutex is of the default kind: no call of it can fail. */
struct lock {
    pthread_mutex_t mutex;
};

struct lock *lock_make(struct arena *arena)
{
    struct lock *lock = arena_take(arena, sizeof *lock);
    if (lock != NULL)
        pthread_mutex_init(&lock->mutex, NULL);
    return lock;
}

void lock_end(struct lock *lock)
{
    if (lock != NULL)
        pthread_mutex_destroy(&lock->mutex);
}

void lock_take(struct lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void lock_give(struct lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
