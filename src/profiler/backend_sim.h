/* backend_sim.h - simulated devices behind the backend that a meter reads.
 *
 * Each device is a machine of the allocator; the clock is virtual.  One lock stands before all of a
 * simulation: the backend's functions take it, who calls the others has to hold it (sim_lock), so
 * that a caller's own tables can be under it too. */
#ifndef VRS_PROFILER_BACKEND_SIM_H
#define VRS_PROFILER_BACKEND_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "base/arena.h"
#include "base/fail.h"
#include "profiler/sim_device.h"
#include "profiler/sim_events.h"
#include "profiler/sim_refusal.h"
#include "vramscope/profiler.h"

struct lock;

enum { SIM_DEVICES_MAX = 64 };

/* A device has no more, so that no addresses of two meet. */
#define SIM_TOTAL_MAX ((uint64_t)1 << 42)

struct sim_options {
    uint32_t devices;
    uint64_t total_bytes, context_bytes; /* of each */
    struct allocator_config config;
    uint32_t history_most; /* 0: the history is off at first */
    uint64_t clock_ns;
};

struct sim {
    struct arena arena; /* in which this too lives */
    struct lock *lock;
    struct sim_common common;
    struct sim_device *device;
    uint32_t devices, current;
    uint64_t turns; /* allocations that were ever made */
};

enum vrs_status sim_make(const struct sim_options *options, struct sim **ret,
                         struct vrs_error *err) MUST_CHECK;
void sim_free(struct sim *s);

void sim_lock(struct sim *s);
void sim_unlock(struct sim *s);

/* Fills a backend whose functions may be called from any thread, until the simulation ends. */
void sim_backend(struct sim *s, struct vrs_backend *ret);

/* All of these with the lock held.  Of a device that there is not: VRS_USAGE. */

struct sim_request {
    uint32_t device;
    uint32_t pool; /* a number of the caller's; 0: the default pool */
    uint64_t bytes, stream;
    struct sim_origin origin;
};

/* What was allocated: which block of the machine, and which of all allocations. */
struct sim_grant {
    uint32_t device, block;
    uint64_t turn;
    uint64_t address, block_bytes;
};

/* VRS_LIMIT: the device is full, or was told to fail; `*ret_refusal` is then written. */
enum vrs_status sim_alloc(struct sim *s, const struct sim_request *request, struct sim_grant *ret,
                          struct sim_refusal *ret_refusal, struct vrs_error *err) MUST_CHECK;

/* VRS_USAGE: it was freed before. */
enum vrs_status sim_release(struct sim *s, const struct sim_grant *grant, uint32_t stack,
                            struct vrs_error *err) MUST_CHECK;

/* A stream, if it is another than the allocation's, reads it: freed, it waits to be synchronised.
 */
enum vrs_status sim_record_stream(struct sim *s, const struct sim_grant *grant, uint64_t stream,
                                  struct vrs_error *err) MUST_CHECK;

/* NULL with a failure where there is no such device. */
struct sim_device *sim_device_at(struct sim *s, uint32_t device, struct vrs_error *err);

enum vrs_status sim_other(struct sim *s, uint32_t device, uint64_t bytes,
                          struct vrs_error *err) MUST_CHECK;
enum vrs_status sim_empty_cache(struct sim *s, uint32_t device, uint32_t stack,
                                struct vrs_error *err) MUST_CHECK;
enum vrs_status sim_synchronize(struct sim *s, uint32_t device, struct vrs_error *err) MUST_CHECK;
enum vrs_status sim_advance(struct sim *s, uint64_t ns, struct vrs_error *err) MUST_CHECK;

/* What PyTorch's recorder does: entries of earlier starts stay unless they are too many; the end
 * forgets all. */
void sim_history_start(struct sim *s, uint32_t most, enum sim_stacks stacks, bool trace);
void sim_history_clear(struct sim *s);
void sim_history_stop(struct sim *s);

#endif
