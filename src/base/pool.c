/* pool.c - worker threads that take the next job until none is left. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

struct pool {
    const struct pool_work *work;
    pthread_mutex_t lock; /* of the two counts */
    uint32_t next, done;
};

struct worker {
    struct pool *pool;
    uint32_t number;
    pthread_t thread;
};

static void *take_jobs(void *arg)
{
    const struct worker *worker = arg;
    struct pool *pool = worker->pool;
    const struct pool_work *work = pool->work;
    pthread_mutex_lock(&pool->lock);
    while (pool->next < work->jobs) {
        uint32_t i = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        work->job(work->arg, i, worker->number);
        pthread_mutex_lock(&pool->lock);
        pool->done++;
        if (work->finished != NULL)
            work->finished(work->arg, pool->done);
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
    uint32_t wanted = pool_threads(threads);
    if (wanted > work->jobs)
        wanted = work->jobs;
    struct pool pool = { .work = work, .lock = PTHREAD_MUTEX_INITIALIZER };
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
