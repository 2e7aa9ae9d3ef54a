/* block_set.c - treaps over block numbers. */
#include "allocator/block_set.h"

#include <assert.h>

#include "base/hash.h"

static bool key_less(struct set_key a, struct set_key b)
{
    return a.size != b.size ? a.size < b.size : a.address < b.address;
}

/* Does a block of the set come before `block` under `key`?  Segments of a file that lies may
 * overlap, so that keys are equal; then the number decides, and what is in a set is found in it. */
static bool comes_before(const struct set_node *node, uint32_t other, struct set_key key,
                         uint32_t block)
{
    return key_less(node[other].key, key) || (!key_less(key, node[other].key) && other < block);
}

/* The heap's number of a block: any fixed mixing of its own will do, and needs no room. */
static uint32_t rank_of(const struct set_node *node, uint32_t block)
{
    uint32_t n = (block ^ (uint32_t)node[0].key.address) * 0x9e3779b1u + (uint32_t)node[0].key.size;
    n ^= n >> 15;
    n *= 0x85ebca77u;
    return n ^ n >> 13;
}

/* Cuts a tree in two where `block` belongs, along one path from its root. */
static void split(struct set_node *node, uint32_t tree, uint32_t block, uint32_t *ret_below,
                  uint32_t *ret_above)
{
    struct set_key key = node[block].key;
    while (tree != 0) {
        if (comes_before(node, tree, key, block)) {
            *ret_below = tree;
            ret_below = &node[tree].right;
            tree = *ret_below;
        } else {
            *ret_above = tree;
            ret_above = &node[tree].left;
            tree = *ret_above;
        }
    }
    *ret_below = *ret_above = 0;
}

void set_seed(struct set_node *node)
{
    /* Where memory lies differs from run to run, and no file knows it. */
    node[0].key.address = hash_u64((uint64_t)(uintptr_t)node);
    node[0].key.size = hash_u64((uint64_t)(uintptr_t)&node);
}

void set_insert(struct set_node *node, uint32_t *root, uint32_t block, struct set_key key)
{
    uint32_t rank = rank_of(node, block), *link = root;
    node[block].key = key;
    while (*link != 0 && rank_of(node, *link) > rank)
        link = comes_before(node, *link, key, block) ? &node[*link].right : &node[*link].left;
    split(node, *link, block, &node[block].left, &node[block].right);
    *link = block;
}

void set_remove(struct set_node *node, uint32_t *root, uint32_t block)
{
    struct set_key key = node[block].key;
    uint32_t *link = root;
    while (*link != block) {
        assert(*link != 0);
        link = comes_before(node, *link, key, block) ? &node[*link].right : &node[*link].left;
    }
    uint32_t below = node[block].left, above = node[block].right;
    while (below != 0 && above != 0) {
        if (rank_of(node, below) > rank_of(node, above)) {
            *link = below;
            link = &node[below].right;
            below = *link;
        } else {
            *link = above;
            link = &node[above].left;
            above = *link;
        }
    }
    *link = below != 0 ? below : above;
}

uint32_t set_at_least(const struct set_node *node, uint32_t root, struct set_key key)
{
    uint32_t found = 0;
    while (root != 0) {
        bool less = key_less(node[root].key, key);
        found = less ? found : root;
        root = less ? node[root].right : node[root].left;
    }
    return found;
}

uint32_t set_after(const struct set_node *node, uint32_t root, struct set_key key)
{
    uint32_t found = 0;
    while (root != 0) {
        bool greater = key_less(key, node[root].key);
        found = greater ? root : found;
        root = greater ? node[root].left : node[root].right;
    }
    return found;
}

uint32_t set_before(const struct set_node *node, uint32_t root, struct set_key key)
{
    uint32_t found = 0;
    while (root != 0) {
        bool less = key_less(node[root].key, key);
        found = less ? root : found;
        root = less ? node[root].right : node[root].left;
    }
    return found;
}

uint32_t set_first(const struct set_node *node, uint32_t root)
{
    while (root != 0 && node[root].left != 0)
        root = node[root].left;
    return root;
}

uint32_t set_last(const struct set_node *node, uint32_t root)
{
    while (root != 0 && node[root].right != 0)
        root = node[root].right;
    return root;
}

/* Goes down to the first block of a tree, noting the way. */
static void descend(struct set_walk *w, uint32_t tree)
{
    for (; tree != 0 && !w->deep; tree = w->node[tree].left) {
        w->deep = w->depth == SET_DEPTH;
        if (!w->deep)
            w->above[w->depth++] = tree;
    }
}

void set_walk_begin(struct set_walk *w, const struct set_node *node, uint32_t root)
{
    w->node = node;
    w->root = root;
    w->depth = w->last = 0;
    w->deep = false;
    descend(w, root);
}

uint32_t set_walk_next(struct set_walk *w)
{
    uint32_t block = 0;
    if (w->deep)
        block = w->last == 0 ? set_first(w->node, w->root)
                             : set_after(w->node, w->root, w->node[w->last].key);
    else if (w->depth > 0)
        block = w->above[--w->depth];
    w->last = block;
    if (block != 0 && !w->deep)
        descend(w, w->node[block].right);
    return block;
}
