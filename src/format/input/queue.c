/* queue.c - the producer thread of the bounded queue, which waits while the queue is full. */
#define _POSIX_C_SOURCE 200809L
#include "format/input/queue.h"

#include <pthread.h>
#include <stddef.h>

struct queue {
    struct queue_work work;
    bool own_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t made, given; /* places filled, places given back */
    bool ended;           /* nothing more is made */
};

static void *make_all(void *arg)
{
    struct queue *r = arg;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (!r->ended && r->made - r->given == r->work.places)
            pthread_cond_wait(&r->changed, &r->lock);
        if (r->ended)
            break;
        uint32_t place = (uint32_t)(r->made % r->work.places);
        pthread_mutex_unlock(&r->lock);
        bool more = r->work.make(r->work.arg, place);
        pthread_mutex_lock(&r->lock);
        r->made += more;
        r->ended |= !more;
        pthread_cond_signal(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

struct queue *queue_begin(struct arena *arena, const struct queue_work *work, bool own_thread)
{
    struct queue *r = arena_take(arena, sizeof *r);
    if (r == NULL)
        return NULL;
    r->work = *work;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->own_thread = own_thread && pthread_create(&r->thread, NULL, make_all, r) == 0;
    return r;
}

bool queue_take(struct queue *r, uint32_t *ret_place)
{
    if (!r->own_thread) {
        *ret_place = 0;
        r->ended = r->ended || !r->work.make(r->work.arg, 0);
        return !r->ended;
    }
    pthread_mutex_lock(&r->lock);
    while (!r->ended && r->made == r->given)
        pthread_cond_wait(&r->changed, &r->lock);
    bool full = r->made != r->given;
    *ret_place = (uint32_t)(r->given % r->work.places);
    pthread_mutex_unlock(&r->lock);
    return full;
}

void queue_give(struct queue *r)
{
    if (!r->own_thread)
        return;
    pthread_mutex_lock(&r->lock);
    r->given++;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void queue_end(struct queue *r)
{
    if (r == NULL)
        return;
    if (r->own_thread) {
        pthread_mutex_lock(&r->lock);
        r->ended = true;
        pthread_cond_signal(&r->changed);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    }
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
}
