/* sim_events.h - ring buffer of what happened on a simulated device, the newest entries of it. */
#ifndef VRS_PROFILER_SIM_EVENTS_H
#define VRS_PROFILER_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum sim_action {
    SIM_ALLOC,
    SIM_FREE_REQUESTED,
    SIM_FREE_COMPLETED,
    SIM_SEGMENT_ALLOC,
    SIM_SEGMENT_FREE,
    SIM_MAP,
    SIM_UNMAP,
    SIM_OOM,
    SIM_ACTIONS
};

/* What the caller says of a block or an event; rows of tables of its own, 0 for nothing. */
struct sim_origin {
    uint32_t stack, context;
};

struct sim_event {
    uint64_t address; /* SIM_OOM: bytes that the device had free */
    uint64_t size;    /* requested; of segments and pages real; SIM_OOM: rounded */
    uint64_t stream;
    uint64_t time_us;
    struct sim_origin origin;
    uint8_t action; /* enum sim_action */
};

struct sim_events {
    VEC(struct sim_event) ring;
    uint32_t oldest;  /* its place, once the ring is full */
    uint64_t dropped; /* overwritten by later ones */
    bool lost;        /* memory ran out: an entry is missing */
};

/* Appends; where there are `most` entries already the oldest goes. */
void sim_events_add(struct sim_events *e, uint32_t most, const struct sim_event *event);

/* Keeps the newest `most`, which later calls of sim_events_add then say too. */
void sim_events_keep(struct sim_events *e, uint32_t most);

void sim_events_clear(struct sim_events *e);
void sim_events_free(struct sim_events *e);

/* The i-th of those that are kept, from the oldest on. */
static inline const struct sim_event *sim_events_at(const struct sim_events *e, uint32_t i)
{
    uint32_t place = e->oldest + i;
    return &e->ring.at[place < e->ring.len ? place : place - e->ring.len];
}

#endif
