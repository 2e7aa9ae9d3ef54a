/* event_queue.c - a ring of rows under a lock, with a condition for who waits. */
#define _POSIX_C_SOURCE 200809L
#include "profiler/event_queue.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "base/vec.h"
#include "profiler/clock.h"

/* Longer waits than a year have no other meaning. */
#define WAIT_MOST_NS (UINT64_C(86400) * 365 * NS_PER_SECOND)

static bool make_locks(struct event_queue *q)
{
    if (pthread_mutex_init(&q->guard, NULL) != 0)
        return false;
    if (timed_cond_init(&q->more))
        return true;
    pthread_mutex_destroy(&q->guard);
    return false;
}

bool event_queue_init(struct event_queue *q)
{
    *q = (struct event_queue){ .row = NULL };
    return make_locks(q);
}

void event_queue_free(struct event_queue *q)
{
    vec_resize((void **)&q->row, 0, 0);
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->guard);
}

void event_queue_after_fork(struct event_queue *q)
{
    (void)make_locks(q);
    q->first = q->count = 0;
}

bool event_queue_want(struct event_queue *q, uint32_t kinds)
{
    pthread_mutex_lock(&q->guard);
    bool ok = q->row != NULL || vec_resize((void **)&q->row, EVENTS_WAITING_MAX, sizeof *q->row);
    if (ok) {
        q->kinds = kinds;
        q->hushed = false;
    }
    pthread_mutex_unlock(&q->guard);
    return ok;
}

void event_queue_hush(struct event_queue *q)
{
    pthread_mutex_lock(&q->guard);
    q->hushed = true;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->guard);
}

bool event_queue_hushed(struct event_queue *q)
{
    pthread_mutex_lock(&q->guard);
    bool hushed = q->hushed;
    pthread_mutex_unlock(&q->guard);
    return hushed;
}

void event_queue_put(struct event_queue *q, const struct vrs_event *event)
{
    pthread_mutex_lock(&q->guard);
    if ((q->kinds & 1u << event->kind) != 0) {
        if (q->count < EVENTS_WAITING_MAX) {
            q->row[(q->first + q->count++) % EVENTS_WAITING_MAX] = *event;
            pthread_cond_signal(&q->more);
        } else {
            q->lost++;
        }
    }
    pthread_mutex_unlock(&q->guard);
}

static struct timespec after(uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    ns = (ns < WAIT_MOST_NS ? ns : WAIT_MOST_NS) + (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(ns / NS_PER_SECOND);
    until.tv_nsec = (long)(ns % NS_PER_SECOND);
    return until;
}

uint32_t event_queue_take(struct event_queue *q, uint32_t most, uint64_t timeout_ns,
                          struct vrs_event *ret)
{
    struct timespec until = after(timeout_ns);
    pthread_mutex_lock(&q->guard);
    for (bool late = false; q->count == 0 && !q->hushed && !late;)
        late = pthread_cond_timedwait(&q->more, &q->guard, &until) == ETIMEDOUT;
    uint32_t count = q->count < most ? q->count : most;
    for (uint32_t i = 0; i < count; i++)
        ret[i] = q->row[(q->first + i) % EVENTS_WAITING_MAX];
    q->first = (q->first + count) % EVENTS_WAITING_MAX;
    q->count -= count;
    pthread_mutex_unlock(&q->guard);
    return count;
}

void event_queue_count(struct event_queue *q, uint64_t *ret_waiting, uint64_t *ret_lost)
{
    pthread_mutex_lock(&q->guard);
    *ret_waiting = q->count;
    *ret_lost = q->lost;
    pthread_mutex_unlock(&q->guard);
}
