/* machine.h - PyTorch's CUDA caching allocator, for one device, without a device.
 *
 * It knows nothing of recordings: requests and frees go in, blocks come out, and what it asks of
 * the device can be listened to.  The rules are those of c10/cuda/CUDACachingAllocator.cpp.
 *
 *     machine_request    best fit, else collect garbage, else new memory, else give large blocks
 *                        back, else give everything back, and each time try again; then split
 *     machine_complete   merge with free neighbours
 *
 * A *lane* is a pool and stream; each has a small and a large side that never mix.  A *segment* is
 * one run of neighbouring blocks: memory that was asked for at once, or all of one expandable
 * reservation, whose unmapped parts are blocks too and whose tail is endless.
 *
 * A request, a free and what they split and merge cost O(log free blocks).  Linear are: releases
 * and garbage collection, in the free blocks; growing expandable memory, in its unmapped ranges;
 * and passing over expandable blocks that may not be used.  `steps` counts those.  Not locked. */
#ifndef VRS_ALLOCATOR_MACHINE_MACHINE_H
#define VRS_ALLOCATOR_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "base/vec.h"

/* Where an endless reservation ends. */
#define ADDRESS_END ((uint64_t)1 << 62)

enum block_use { BLOCK_FREE, BLOCK_IN_USE, BLOCK_WAITING }; /* waiting: freed, not yet completed */

/* Block 0 is none. */
struct machine_block {
    uint64_t address, size;
    uint64_t requested;  /* of a block that is not free */
    uint32_t prev, next; /* neighbours by address in the segment */
    uint32_t segment;
    uint32_t side;  /* of the lane: lane * 2, plus 1 for the small one */
    uint32_t since; /* free: the machine's searches when it became so; waiting: its place there */
    uint32_t tag;   /* the caller's, of a block that is not free */
    uint8_t use;    /* enum block_use */
    bool mapped;    /* false only in reservations */
};

struct machine_segment {
    uint64_t base;
    uint32_t first; /* block; 0: the segment is gone */
    bool expandable;
    uint32_t unused; /* of one that is gone: the next such */
};

/* One side of a lane. */
struct side {
    struct block_set free, unmapped;
};

struct lane {
    uint32_t pool; /* the caller's number; 0: the default pool */
    uint64_t stream;
};

enum { LANES_MAX = 1024 };

/* What the machine does to the device.  Sizes are those of segments or of mapped pages. */
enum device_call { SEGMENT_MADE, SEGMENT_RETURNED, PAGES_MAPPED, PAGES_UNMAPPED };

struct machine_call {
    enum device_call call;
    uint64_t address, bytes;
    uint32_t side;
};

struct machine_peak {
    uint64_t bytes;
    int64_t event;
};

struct machine {
    struct allocator_config config;
    VEC(struct machine_block) blocks;
    uint32_t unused_block; /* linked by next */
    uint64_t steps;        /* blocks looked at, one after the other */
    VEC(struct machine_segment) segments;
    uint32_t unused_segment; /* number plus 1 */
    VEC(struct lane) lanes;
    VEC(struct side) sides;      /* two a lane: large, small */
    VEC(uint32_t) release_order; /* sides, in the order in which a full release visits them */
    VEC(uint32_t) waiting;       /* blocks freed and not completed */
    uint32_t searches;           /* of all large sides of the default pool: the clock of ages */

    /* Bytes: from the device; of blocks in use or waiting; of blocks in use; requested in blocks in
     * use or waiting. */
    uint64_t reserved, active, allocated, requested;
    uint64_t capacity; /* reserved never passes it; UINT64_MAX: no end */
    uint64_t limit;    /* of config.memory_fraction, tested before; UINT64_MAX: none */
    uint64_t next_low, next_high, next_reservation; /* addresses of new memory */
    bool ascend;   /* new segments at next_high, else below next_low */
    int64_t event; /* at which things happen, for the peaks */
    struct machine_peak peak_reserved, peak_active, peak_requested;
    uint64_t new_memory, retries;
    /* Ours, not the device's.  No operation after it counts, and sets may hold blocks in use. */
    bool no_memory;

    void (*listen)(void *arg, const struct machine_call *call); /* or NULL */
    void *listen_arg;
    void (*completed)(void *arg, uint32_t block); /* a waiting block, by a full release; or NULL */
    void *completed_arg;
};

/* False when out of memory; the machine is then to be freed all the same. */
bool machine_init(struct machine *m, const struct allocator_config *config);
void machine_free(struct machine *m);

/* The lane of a pool and stream, old or new; NO_ROW when there are too many or no memory. */
uint32_t machine_lane(struct machine *m, uint32_t pool, uint64_t stream);

static inline uint32_t lane_side(uint32_t lane, uint64_t rounded)
{
    return lane * 2 + (rounded <= SMALL_BLOCK_MAX);
}

static inline bool side_small(uint32_t side)
{
    return (side & 1) != 0;
}

/* Bytes of the block for a request under the machine's settings. */
static inline uint64_t machine_round(const struct machine *m, uint64_t request)
{
    return rounding_apply(&m->config.rounding, request);
}

/* A block in use for `request` bytes; 0 when the device is full (then what a full release could
 * give has been given back) or the machine is out of memory. */
uint32_t machine_request(struct machine *m, uint32_t lane, uint64_t request);

/* The block is freed but not yet reusable. */
void machine_wait(struct machine *m, uint32_t block);

/* The block, in use or waiting, is free. */
void machine_complete(struct machine *m, uint32_t block);

/* Completes what waits and gives back all whole segments and pages of the default pool, as
 * empty_cache does. */
void machine_release_all(struct machine *m);

/* The parts of a request, for a replay that takes some of them from a recording. */

/* The free block that a request of `rounded` bytes is served from, still in its set; 0: none. */
uint32_t machine_best_fit(struct machine *m, uint32_t side, uint64_t rounded);

/* Takes the first `rounded` bytes of a free block, or all of it. */
void machine_take(struct machine *m, uint32_t block, uint64_t rounded, uint64_t request);

/* A segment from the device as one free block; its block, or 0. */
uint32_t machine_add_segment(struct machine *m, uint64_t address, uint64_t bytes, uint32_t side);

/* A reservation of expandable memory with nothing mapped; its block, or 0. */
uint32_t machine_reserve(struct machine *m, uint64_t address, uint32_t side);

/* Makes a free block of at least `rounded` bytes by mapping pages; 0 where a new reservation is
 * needed (`*ret_full` false) or the device is full (true). */
uint32_t machine_grow(struct machine *m, uint32_t side, uint64_t rounded, bool *ret_full);

/* Maps the pages of an unmapped block that cover its first `want` bytes; the free block they are
 * in, merged with its neighbours. */
uint32_t machine_map(struct machine *m, uint32_t block, uint64_t want);

/* One thing that a full release gives back: a whole segment, or pages [address, address + bytes) of
 * an expandable block. */
struct release {
    uint32_t block;
    bool unmaps;
    uint64_t address, bytes;
};
typedef VEC(struct release) release_vec;

/* What a full release would give back now, in its order; false when out of memory. */
bool machine_releasable(struct machine *m, release_vec *ret);
void machine_return(struct machine *m, const struct release *release);

/* Gives back large blocks of one side until `rounded` bytes are free at once; only where blocks
 * have a largest size to be split.  False where that cannot succeed. */
bool machine_release_oversize(struct machine *m, uint32_t side, uint64_t rounded);

/* Gives back old free segments of the default pool while the limit's threshold is passed. */
void machine_collect(struct machine *m);

/* The key under which a free block stands in its set. */
static inline struct set_key block_key(const struct machine_block *b)
{
    return (struct set_key){ b->mapped ? b->size : 0, b->address };
}

/* Inner parts: for the machine's own files, and for those that lay out or change a state by hand.
 */

uint32_t block_make(struct machine *m, struct machine_block like);
void block_enter(struct machine *m, uint32_t block); /* into the set of its side, if it is free */
void block_leave(struct machine *m, uint32_t block);
void block_drop(struct machine *m, uint32_t block);
/* Joins the free neighbours of a block that is in no set, and is free too, to it. */
void block_merge(struct machine *m, uint32_t block);
/* The same of a free block in no set, which then enters its own: mostly in the place of one joined.
 */
void block_merge_enter(struct machine *m, uint32_t block);
/* Cuts a block that is in no set after its first `bytes` bytes; the rest, in no set, or 0. */
uint32_t block_cut(struct machine *m, uint32_t block, uint64_t bytes);
/* Cuts a free block of a set into two of it; the second, or 0 (the first is then still whole). */
uint32_t block_part(struct machine *m, uint32_t block, uint64_t bytes);
uint32_t segment_make(struct machine *m, uint64_t base, bool expandable);
void segment_drop(struct machine *m, uint32_t segment);
void machine_grew(struct machine *m, enum device_call call, uint64_t address, uint64_t bytes,
                  uint32_t side);
void machine_shrank(struct machine *m, enum device_call call, uint64_t address, uint64_t bytes,
                    uint32_t side);

static inline bool block_expandable(const struct machine *m, const struct machine_block *b)
{
    return m->segments.at[b->segment].expandable;
}

#endif
