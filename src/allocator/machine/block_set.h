/* block_set.h - an ordered set of blocks: free blocks by size, ranges that are not mapped.
 *
 * A sorted array in chunks of at most SET_CHUNK entries: a search halves the list of chunks, then
 * counts in one, without a branch that a processor could guess wrong; an insertion moves the rest
 * of one chunk.  The keys stand in the chunks themselves, so nothing is looked up elsewhere.
 *
 * Cost: O(log n + SET_CHUNK / 8) comparisons and a move of at most SET_CHUNK entries; one insertion
 * in SET_CHUNK / 2 also moves the list of chunks.
 */
#ifndef VRS_ALLOCATOR_MACHINE_BLOCK_SET_H
#define VRS_ALLOCATOR_MACHINE_BLOCK_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Sets are ordered by size, then address, then block.  Unmapped ranges all have size 0 here. */
struct set_key {
    uint64_t size, address;
};

/* Of two equal keys, in a file that lies, the block decides. */
struct set_entry {
    struct set_key key;
    uint32_t block; /* never 0 */
};

enum { SET_CHUNK = 64 };

/* Entries in columns: nearly every search is settled by sizes alone.  Sizes behind the entries are
 * UINT64_MAX, so that every search takes the same steps. */
struct set_chunk {
    uint32_t len; /* at least 1; of the only chunk also 0 */
    uint64_t size[SET_CHUNK], address[SET_CHUNK];
    uint32_t block[SET_CHUNK];
};

/* A chunk, and what its entries are not less than; those of the chunks before are less. */
struct set_part {
    struct set_entry low;
    struct set_chunk *chunk;
};

/* All zero is the empty set. */
struct block_set {
    VEC(struct set_part) parts;
    uint32_t found_part, found_place; /* by the last set_at_least: what is found is often removed */
};

void set_free(struct block_set *s);

/* False when out of memory. */
bool set_insert(struct block_set *s, uint32_t block, struct set_key key);

/* `block` is in the set, under that key. */
void set_remove(struct block_set *s, uint32_t block, struct set_key key);

/* As set_remove and set_insert: `by` comes where `block` was, and most often nearby. */
bool set_replace(struct block_set *s, uint32_t block, struct set_key key, uint32_t by,
                 struct set_key by_key);

/* The first block whose key is at least `key`; 0: none. */
uint32_t set_at_least(struct block_set *s, struct set_key key);

/* The neighbours of a key; 0: none. */
uint32_t set_after(const struct block_set *s, struct set_key key);
uint32_t set_before(const struct block_set *s, struct set_key key);

/* The first and the last; 0: empty. */
uint32_t set_first(const struct block_set *s);
uint32_t set_last(const struct block_set *s);

/* All blocks in order, as long as the set does not change. */
struct set_walk {
    const struct block_set *set;
    uint32_t part, place;
};

static inline struct set_walk set_walk_begin(const struct block_set *s)
{
    return (struct set_walk){ s, 0, 0 };
}

/* The next block; 0: there is none. */
uint32_t set_walk_next(struct set_walk *w);

/* Bytes of memory it takes. */
uint64_t set_bytes(const struct block_set *s);

#endif
