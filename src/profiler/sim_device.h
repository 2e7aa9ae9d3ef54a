/* sim_device.h - one simulated device: the allocator's machine, its counters and its history.
 *
 * Of the device's memory the machine may have what neither this process's context nor other
 * processes hold.  Not locked. */
#ifndef VRS_PROFILER_SIM_DEVICE_H
#define VRS_PROFILER_SIM_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/vec.h"
#include "profiler/sim_events.h"
#include "vramscope/profiler.h"

/* Which stacks the history keeps: none, those of blocks, of allocations too, of all events. */
enum sim_stacks { SIM_STACKS_NONE, SIM_STACKS_BLOCKS, SIM_STACKS_ALLOCS, SIM_STACKS_ALL };

/* What the devices of a simulation have in common. */
struct sim_common {
    uint64_t clock_ns;
    bool recording; /* the history is on */
    bool trace;     /* it has events, not the stacks of blocks alone */
    uint8_t stacks; /* enum sim_stacks */
    uint32_t history_most;
    bool no_memory; /* ours: nothing counts any more */
};

/* What a block of the machine is to the simulation. */
struct sim_life {
    uint64_t turn; /* which of all allocations it is, from 1; 0: none that can be freed */
    struct sim_origin origin;
    bool elsewhere; /* another stream reads it: a free waits until the device is synchronised */
};

/* So busy until then. */
struct sim_load {
    uint64_t end_ns;
    double percent;
};

struct sim_device {
    struct sim_common *common;
    struct machine m;
    VEC(struct sim_life) life; /* of each block of the machine */
    struct sim_events history;
    VEC(struct sim_load) load; /* one behind the other */
    uint32_t load_at;          /* the first that has not ended */
    uint64_t total_bytes, context_bytes, other_bytes;
    uint64_t first_low, first_reservation; /* addresses of new memory where there is none yet */
    uint64_t failures;                     /* so many requests are refused without being tried */
    struct sim_origin now;                 /* of what the device does for the call that runs */
    uint64_t peak_allocated;
    uint64_t allocated_bytes, freed_bytes, allocations, frees; /* ever */
    uint64_t ooms;
    /* Of segments of which parts are in use, but for expandable ones: their bytes, and those in
     * use.  What they are apart is free parts. */
    uint64_t used_segment_bytes, active_in_segments;
};

/* False when out of memory; then to be freed all the same. */
bool sim_device_init(struct sim_device *d, struct sim_common *common, uint32_t number,
                     const struct allocator_config *config, uint64_t total_bytes,
                     uint64_t context_bytes);
void sim_device_free(struct sim_device *d);

/* A block of the machine for `bytes` bytes; 0 where the device refused, or memory of ours ran out
 * (common->no_memory). */
uint32_t sim_device_alloc(struct sim_device *d, uint32_t lane, uint64_t bytes, uint64_t turn,
                          struct sim_origin origin);

/* Frees what sim_device_alloc gave; where another stream reads it, when that is synchronised. */
void sim_device_release(struct sim_device *d, uint32_t block, uint32_t stack);

/* Completes the frees that wait. */
void sim_device_synchronize(struct sim_device *d);

void sim_device_empty_cache(struct sim_device *d, struct sim_origin origin);

/* Other processes hold `bytes`, which is no more than the device has. */
void sim_device_other(struct sim_device *d, uint64_t bytes);

/* Bytes that the driver would give. */
uint64_t sim_device_left(const struct sim_device *d);

/* Free bytes of the pools that are not the default one. */
uint64_t sim_device_private_free(const struct sim_device *d);

void sim_device_stats(const struct sim_device *d, struct vrs_stats *ret);
void sim_device_reset_peak(struct sim_device *d);

/* So busy for so long, from the end of what was said before, or from now on.  False when out of
 * memory. */
bool sim_device_load(struct sim_device *d, double percent, uint64_t ns);
/* How busy it is now; false: nothing was said. */
bool sim_device_busy(struct sim_device *d, double *ret_percent);

#endif
