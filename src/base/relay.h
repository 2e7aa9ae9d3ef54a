/* relay.h - one thread that makes things, in order, before they are asked for.
 *
 * There are a few places.  The maker fills them in turn and waits where none is empty; the taker
 * has one at a time, and waits where none is full.  Nobody spins. */
#ifndef VRS_BASE_RELAY_H
#define VRS_BASE_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct relay_work {
    /* Fills a place; false: there is nothing more, and nothing is in it. */
    bool (*make)(void *arg, uint32_t place);
    void *arg;
    uint32_t places;
};

struct relay;

/* In `arena`, which does not end before relay_end; NULL: no memory.  Where `own_thread` is false,
 * or none can be had, each thing is made when it is asked for, by the one who asks. */
struct relay *relay_begin(struct arena *arena, const struct relay_work *work, bool own_thread);

/* The next full place, which is the taker's until relay_give; false: no more will come. */
bool relay_take(struct relay *relay, uint32_t *ret_place);
void relay_give(struct relay *relay);

/* Waits for what is just being made, then ends the thread.  Accepts NULL. */
void relay_end(struct relay *relay);

#endif
