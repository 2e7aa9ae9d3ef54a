/* naive_allocator.h - the allocator once more, from its description, without any index.
 *
 * One array of blocks in the order of addresses; everything is found by looking at all of it.  It
 * shares rounding and settings with the machine and nothing else.  Numbers in the source are those
 * of the sections of spec/allocator.md. */
#ifndef TESTS_UNIT_NAIVE_ALLOCATOR_H
#define TESTS_UNIT_NAIVE_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"

enum { NAIVE_BLOCKS_MAX = 8192, NAIVE_CALLS_MAX = 512 };

enum naive_use { NAIVE_FREE, NAIVE_IN_USE, NAIVE_WAITING, NAIVE_HOLE };

struct naive_block {
    uint64_t address, size, requested;
    uint64_t stream;
    uint32_t pool, segment;
    uint32_t entered; /* searches of its pool when it became free */
    uint8_t use;
    bool small, expandable;
};

/* What it asked of the device: A and F for segments, M and U for pages; c is a block, with its
 * requested bytes, that a release completed, if `tells_completions`. */
struct naive_call {
    char what;
    uint64_t address, bytes, stream;
    uint32_t pool;
};

struct naive {
    struct allocator_config config;
    uint64_t capacity, limit;
    bool ascend, tells_completions;
    uint64_t next_low, next_high, next_reservation, reservation_step;
    struct naive_block block[NAIVE_BLOCKS_MAX];
    uint32_t blocks, segments;
    uint32_t searches; /* of large blocks of the default pool */
    struct naive_call call[NAIVE_CALLS_MAX];
    uint32_t calls; /* since the caller last set it to 0 */
    uint64_t new_memory, retries;
};

/* The address handed out, or 0 when the device is full. */
uint64_t naive_request(struct naive *n, uint32_t pool, uint64_t stream, uint64_t bytes);

void naive_wait(struct naive *n, uint64_t address);
void naive_complete(struct naive *n, uint64_t address);
void naive_release_all(struct naive *n);

/* The block that begins at an address. */
struct naive_block *naive_at(struct naive *n, uint64_t address);

/* Bytes of all blocks with any of the uses whose bits (1 << use) are in `uses`. */
uint64_t naive_bytes(const struct naive *n, uint32_t uses);

#endif
