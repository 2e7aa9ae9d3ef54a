/* queue.h - a bounded queue: one thread makes things, in order, before they are asked for.
 *
 * There are a few places.  The maker fills them in turn and waits where none is empty; the taker
 * has one at a time, and waits where none is full.  Nobody spins.  It serves who reads ahead: the
 * scout of snapshots, and the unpacker of traces. */
#ifndef VRS_FORMAT_INPUT_QUEUE_H
#define VRS_FORMAT_INPUT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct queue_work {
    /* Fills a place; false: there is nothing more, and nothing is in it. */
    bool (*make)(void *arg, uint32_t place);
    void *arg;
    uint32_t places;
};

struct queue;

/* In `arena`, which does not end before queue_end; NULL: no memory.  Where `own_thread` is false,
 * or none can be had, each thing is made when it is asked for, by the one who asks. */
struct queue *queue_begin(struct arena *arena, const struct queue_work *work, bool own_thread);

/* The next full place, which is the taker's until queue_give; false: no more will come. */
bool queue_take(struct queue *queue, uint32_t *ret_place);
void queue_give(struct queue *queue);

/* Waits for what is just being made, then ends the thread.  Accepts NULL. */
void queue_end(struct queue *queue);

#endif
