/* recorder.h - a machine for each device, and what a recorder of PyTorch would write down of it.
 *
 * Stacks, contexts and streams of what happens are rows of `to`, which becomes the recording. */
#ifndef TESTS_RECORDINGS_RECORDER_H
#define TESTS_RECORDINGS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/whatif/run_state.h"
#include "base/vec.h"
#include "model/recording.h"

enum { DEVICES_MAX = 64 };

struct made_event {
    uint8_t action;
    uint16_t stream;
    struct origin_of origin;
    uint64_t address, size, time_us;
};

struct recorder;

struct recorded_device {
    struct recorder *recorder;
    uint32_t number;
    struct machine m;
    struct origin_of *origin; /* of each block of the machine */
    uint32_t origins;
    struct origin_of now; /* of what the device does for the request or call that runs */
    uint64_t device_free; /* what an oom tells; UNKNOWN_U64: what the capacity leaves */
    VEC(struct made_event) event;
};

struct recorder {
    struct recording *to;
    struct recorded_device *device[DEVICES_MAX];
    uint32_t devices;
    uint64_t time_us;
    bool failed; /* out of memory */
};

/* The device of that number, new with these settings; NULL when there are too many. */
struct recorded_device *recorder_device(struct recorder *r, uint32_t number,
                                        const struct allocator_config *config, uint64_t capacity);

/* A block, or 0 after a retry and an oom event.  `pool` is a row of pools, 0 the default one. */
uint32_t recorder_alloc(struct recorded_device *d, uint32_t pool, uint64_t stream, uint64_t size,
                        uint32_t tag, struct origin_of origin);

/* The two halves of a free; the second alone makes no sense.  An empty stack at completion is that
 * of the allocation, as PyTorch has it when a stream's event completes it. */
void recorder_free_requested(struct recorded_device *d, uint32_t block, uint32_t stack);
void recorder_free_completed(struct recorded_device *d, uint32_t block, uint32_t stack);

void recorder_empty_cache(struct recorded_device *d, struct origin_of origin);

/* An event that is not about memory. */
void recorder_note(struct recorded_device *d, uint8_t action, uint64_t size,
                   struct origin_of origin);

/* Forgets the events up to here; and, where the recorder is said to begin only now, the stacks of
 * what is allocated. */
void recorder_forget(struct recorder *r, bool begins);

/* Writes events and final state into the recording; without a trace only the latter. */
bool recorder_finish(struct recorder *r, bool trace);
void recorder_free(struct recorder *r);

#endif
