/* curve_steps.h - the four curves of a device, one event after the other.
 *
 * Requested and reserved bytes follow the events from the start that curves.h gives them, as its
 * peaks do.  Active and allocated bytes are those of the blocks of the allocations: exact where
 * their sizes are known, else lower bounds. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CURVES_CURVE_STEPS_H
#define VRS_ANALYSIS_SNAPSHOT_CURVES_CURVE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/recording.h"

struct curve_steps {
    const struct recording *r;
    uint32_t first, events; /* rows of events */
    const struct lifetimes *lifetimes;
    const struct block_sizes *sizes;
    /* Of each event: the allocation that begins, is asked to end, ends there; NO_ROW: none. */
    uint32_t *begins, *asked, *ends;
    uint64_t start[CURVES];
    uint64_t bytes[CURVES]; /* after event `next` - 1; a signed number, wrapped */
    uint32_t next;
};

/* Stands before the first event.  Lifetimes and sizes must outlive it; its arrays live in
 * `arena`. */
enum vrs_status curve_steps_begin(const struct recording *r, uint32_t device,
                                  const struct lifetimes *lifetimes,
                                  const struct block_sizes *sizes, struct arena *arena,
                                  struct curve_steps *ret, struct vrs_error *err) MUST_CHECK;

void curve_steps_restart(struct curve_steps *c);

/* Takes one event more; false at the end. */
bool curve_steps_next(struct curve_steps *c);

/* The allocation, counted within the device, that event `i` is about; NO_ROW: none. */
static inline uint32_t event_allocation(const struct curve_steps *c, uint32_t i)
{
    return c->begins[i] != NO_ROW ? c->begins[i] : c->asked[i] != NO_ROW ? c->asked[i] : c->ends[i];
}

#endif
