/* block_set.h - blocks in an order of their own: the free ones, and ranges that are not mapped.
 *
 * A treap: a search tree by key that is at the same time a heap by a random number, which keeps it
 * shallow whatever the order of insertion.  The number is a mixture of the block's own with a seed,
 * so that no file can be made whose tree is deep; the shape of a tree changes no result.  The links
 * stand beside the keys in one array that is indexed by block, so a block is in at most one set at
 * a time and a set is one number, its root.
 */
#ifndef VRS_ALLOCATOR_BLOCK_SET_H
#define VRS_ALLOCATOR_BLOCK_SET_H

#include <stdbool.h>
#include <stdint.h>

/* Sets are ordered by size, then address, then block.  Unmapped ranges all have size 0 here. */
struct set_key {
    uint64_t size, address;
};

struct set_node {
    struct set_key key;
    uint32_t left, right; /* blocks; 0: none */
};

/* Gives the sets of this array their seed, before the first insertion; without one they work too.
 * Node 0 holds it. */
void set_seed(struct set_node *node);

void set_insert(struct set_node *node, uint32_t *root, uint32_t block, struct set_key key);

/* `block` is in the set, under the key of its node. */
void set_remove(struct set_node *node, uint32_t *root, uint32_t block);

/* The first block whose key is at least `key`; 0: none. */
uint32_t set_at_least(const struct set_node *node, uint32_t root, struct set_key key);

/* The neighbours of a block of the set, by key; 0: none. */
uint32_t set_after(const struct set_node *node, uint32_t root, struct set_key key);
uint32_t set_before(const struct set_node *node, uint32_t root, struct set_key key);

/* The first and the last; 0: empty. */
uint32_t set_first(const struct set_node *node, uint32_t root);
uint32_t set_last(const struct set_node *node, uint32_t root);

/* All blocks in order, as long as the set does not change.  */
enum { SET_DEPTH = 96 };
struct set_walk {
    const struct set_node *node;
    uint32_t root, depth;
    uint32_t above[SET_DEPTH]; /* blocks still to come, on the way from the root */
    uint32_t last;             /* where a tree was deeper than that: the block before */
    bool deep;
};

void set_walk_begin(struct set_walk *w, const struct set_node *node, uint32_t root);
/* The next block; 0: there is none. */
uint32_t set_walk_next(struct set_walk *w);

#endif
