/* event_queue.h - events that wait for a reader: a queue of bounded length, oldest first. */
#ifndef VRS_PROFILER_EVENT_QUEUE_H
#define VRS_PROFILER_EVENT_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vramscope/tracker.h"

enum { EVENTS_WAITING_MAX = 1000 };

struct event_queue {
    pthread_mutex_t guard; /* of what follows */
    pthread_cond_t more;   /* by CLOCK_MONOTONIC */
    struct vrs_event *row; /* EVENTS_WAITING_MAX of them; NULL: nobody has ever asked */
    uint32_t first, count;
    uint32_t kinds; /* that are wanted: a sum of 1 << kind */
    bool hushed;    /* whoever waits is to go */
    uint64_t lost;  /* there was no room for them */
};

/* False where the system has no more locks. */
bool event_queue_init(struct event_queue *q);
void event_queue_free(struct event_queue *q);
/* In a child of fork: what waited is the parent's. */
void event_queue_after_fork(struct event_queue *q);

/* False: no memory. */
bool event_queue_want(struct event_queue *q, uint32_t kinds);
void event_queue_hush(struct event_queue *q);
bool event_queue_hushed(struct event_queue *q);

/* An event of a kind that nobody wants is passed over. */
void event_queue_put(struct event_queue *q, const struct vrs_event *event);
/* Waits so long at most; 0: none came, or it was hushed. */
uint32_t event_queue_take(struct event_queue *q, uint32_t most, uint64_t timeout_ns,
                          struct vrs_event *ret);
void event_queue_count(struct event_queue *q, uint64_t *ret_waiting, uint64_t *ret_lost);

#endif
