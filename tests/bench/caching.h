/* caching.h - a small caching allocator, so that generated recordings are ones that could happen.
 *
 * It follows PyTorch's rules for one stream without expandable segments: sizes rounded to
 * 512 bytes, requests of up to 1 MiB out of segments of 2 MiB, larger ones out of segments of
 * 20 MiB or of their own size, best fit, split where the rest is usable, merged when freed, given
 * back in the order of a full release.  It shares nothing with src/allocator, which replays it.
 * Every call costs O(log n) in the number of free blocks.  Running out of memory ends the
 * program. */
#ifndef BENCH_CACHING_H
#define BENCH_CACHING_H

#include <stdbool.h>
#include <stdint.h>

#define NONE UINT32_MAX

enum block_state { BLOCK_INACTIVE, BLOCK_ALLOCATED, BLOCK_PENDING };

struct block {
    uint64_t addr;
    uint64_t size;
    uint64_t requested; /* of the last owner once the block is inactive, as in real files */
    uint32_t segment;
    uint32_t before, after;         /* neighbours in the segment */
    uint32_t left, right, priority; /* in the tree of free blocks */
    uint32_t stack, capture;        /* of the allocation; the caller's */
    enum block_state state;
};

struct segment {
    uint64_t addr;
    uint64_t size;
    uint32_t first;          /* block; NONE: the segment was returned, its row is free */
    uint32_t stack, capture; /* of the allocation that needed it; the caller's */
    bool small;
};

struct caching {
    struct block *block;
    uint32_t block_len, block_cap;
    uint32_t spare; /* rows of merged blocks, chained by `after` */
    struct segment *segment;
    uint32_t segment_len, segment_cap;
    uint32_t tree[2]; /* free blocks by size and address: large, small */
    uint64_t lowest;  /* address of any segment so far; the next one lies below */
    uint64_t random;
};

void caching_open(struct caching *c);
void caching_close(struct caching *c);

/* A block for `requested` bytes.  `*ret_segment` is the segment made for it, or NONE. */
uint32_t caching_take(struct caching *c, uint64_t requested, uint32_t *ret_segment);

void caching_release(struct caching *c, uint32_t block);

/* The segment that a full release gives back next, or NONE: large ones first, then by size and
 * address.  Looks at all segments. */
uint32_t caching_unused(const struct caching *c);

/* Gives an unused segment back to the driver. */
void caching_return(struct caching *c, uint32_t segment);

/* realloc that ends the program when it fails; doubles `*cap` of items of `size` bytes. */
void *grown(void *at, uint32_t *cap, uint64_t size);

/* A pseudo-random number, the same on every machine. */
uint64_t random_next(uint64_t *state);

#endif
