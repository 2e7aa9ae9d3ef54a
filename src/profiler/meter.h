/* meter.h - the ledgers of all devices of a process, each behind its lock. */
#ifndef VRS_PROFILER_METER_H
#define VRS_PROFILER_METER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "profiler/driver.h"
#include "profiler/ledger.h"
#include "profiler/lock.h"
#include "vramscope/profiler.h"

/* A device of one backend. */
struct metered {
    struct read_lock lock; /* held across a reading and the reset that belongs to it */
    struct ledger ledger;
    struct vrs_backend backend; /* without functions once it is retired */
    uint32_t id, device;        /* id: of the backend */
    /* Slots whose users gave up waiting for the lock; whoever has it next drops them. */
    VEC(struct vrs_slot) left; /* under the guard of the meter */
    atomic_bool has_left;
};

struct meter {
    struct vrs_meter_options options;
    pthread_mutex_t guard; /* of what follows; no call of a backend is made under it */
    struct arena arena;
    VEC(struct vrs_backend) backends;
    VEC(struct metered *) metered;
    uint64_t waits, nested, unmeasured;
    struct driver driver;
};

/* False: no memory, and to be freed all the same. */
bool meter_init(struct meter *m, const struct vrs_meter_options *options);
void meter_free(struct meter *m);
void meter_after_fork(struct meter *m);

/* The number of the backend; 0: no memory. */
uint32_t meter_add(struct meter *m, const struct vrs_backend *backend);
void meter_retire(struct meter *m, uint32_t id);

void meter_open(struct meter *m, uint32_t id, uint32_t device, uint32_t flags,
                struct vrs_slot *ret);
void meter_mark(struct meter *m, struct vrs_slot *slot, struct vrs_peaks *ret);
void meter_close(struct meter *m, struct vrs_slot *slot, struct vrs_peaks *ret);
void meter_drop(struct meter *m, struct vrs_slot *slot);
/* What there is without any reading: nothing is known. */
void meter_unknown(struct vrs_peaks *ret);
/* Opened by one call; of a slot that a call found closed, what it was before that call. */
bool meter_same(const struct vrs_slot *a, const struct vrs_slot *b);
enum vrs_state meter_read(struct meter *m, uint32_t id, uint32_t device, bool wait,
                          struct vrs_stats *ret);
/* The age of readings of the device is told from now on, or no more. */
void meter_watch(struct meter *m, uint32_t id, uint32_t device, bool on);
/* As meter_mark, but waits for nobody: false, with nothing written, where another thread reads.
 * `read` false: with the last reading, whoever made it.  `*ret_ns` is when the reading was asked
 * for, by the backend's clock; VRS_UNKNOWN: there was none. */
bool meter_sample(struct meter *m, struct vrs_slot *slot, bool read, struct vrs_peaks *ret,
                  uint64_t *ret_ns);
uint32_t meter_slots(struct meter *m, uint32_t id, uint32_t device);
void meter_losses(struct meter *m, struct vrs_meter_losses *ret);

/* A copy; without functions where there is none of this number. */
struct vrs_backend meter_backend(struct meter *m, uint32_t id);

#endif
