/* sim_events.c - appending to the ring, and making it smaller. */
#include "profiler/sim_events.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

void sim_events_add(struct sim_events *e, uint32_t most, const struct sim_event *event)
{
    e->ring.max = most;
    if (e->ring.len >= most) {
        e->dropped++;
        e->ring.at[e->oldest] = *event;
        e->oldest = e->oldest + 1 == e->ring.len ? 0 : e->oldest + 1;
    } else if (!vec_push(&e->ring, *event)) {
        e->lost = true;
    }
}

static void reverse(struct sim_event *at, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct sim_event first = at[i];
        at[i] = at[count - 1 - i];
        at[count - 1 - i] = first;
    }
}

/* Turns the ring by three reversals, so that entries go up from the oldest. */
static void turn_left(struct sim_events *e, uint32_t by)
{
    reverse(e->ring.at, by);
    reverse(e->ring.at + by, e->ring.len - by);
    reverse(e->ring.at, e->ring.len);
}

void sim_events_keep(struct sim_events *e, uint32_t most)
{
    uint32_t over = e->ring.len > most ? e->ring.len - most : 0;
    uint32_t first = e->oldest + over;
    if (first > 0)
        turn_left(e, first < e->ring.len ? first : first - e->ring.len);
    e->oldest = 0;
    e->ring.len -= over;
    e->dropped += over;
}

void sim_events_clear(struct sim_events *e)
{
    e->ring.len = 0;
    e->oldest = 0;
    e->dropped = 0;
    e->lost = false;
}

void sim_events_free(struct sim_events *e)
{
    vec_free(&e->ring);
    sim_events_clear(e);
}
