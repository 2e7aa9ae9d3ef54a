/* caching.c - best fit over a treap of free blocks. */
#include "caching.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)
#define SMALL_MAX MIB
#define SMALL_SEGMENT (2 * MIB)
#define LARGE_SEGMENT (20 * MIB)
#define OWN_SEGMENT_MIN (10 * MIB)
#define HIGHEST_ADDR UINT64_C(0x7f1a20000000)

void *grown(void *at, uint32_t *cap, uint64_t size)
{
    uint32_t want = *cap ? *cap * 2 : 64;
    void *bigger = want > *cap ? realloc(at, (size_t)(want * size)) : NULL;
    if (!bigger) {
        fputs("make_snapshot: out of memory\n", stderr);
        exit(3);
    }
    *cap = want;
    return bigger;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void caching_open(struct caching *c)
{
    *c = (struct caching){ .spare = NONE, .tree = { NONE, NONE }, .lowest = HIGHEST_ADDR };
}

void caching_close(struct caching *c)
{
    free(c->block);
    free(c->segment);
}

static bool orders_before(const struct caching *c, uint32_t a, uint32_t b)
{
    const struct block *x = &c->block[a], *y = &c->block[b];
    return x->size != y->size ? x->size < y->size : x->addr < y->addr;
}

/* Parts a tree into the nodes before `node` and those after it. */
static void tree_split(struct caching *c, uint32_t root, uint32_t node, uint32_t *ret_left,
                       uint32_t *ret_right)
{
    if (root == NONE) {
        *ret_left = *ret_right = NONE;
    } else if (orders_before(c, root, node)) {
        *ret_left = root;
        tree_split(c, c->block[root].right, node, &c->block[root].right, ret_right);
    } else {
        *ret_right = root;
        tree_split(c, c->block[root].left, node, ret_left, &c->block[root].left);
    }
}

static uint32_t tree_join(struct caching *c, uint32_t left, uint32_t right)
{
    if (left == NONE || right == NONE)
        return left == NONE ? right : left;
    if (c->block[left].priority > c->block[right].priority) {
        c->block[left].right = tree_join(c, c->block[left].right, right);
        return left;
    }
    c->block[right].left = tree_join(c, left, c->block[right].left);
    return right;
}

static uint32_t *tree_of(struct caching *c, uint32_t block)
{
    return &c->tree[c->segment[c->block[block].segment].small];
}

static void tree_add(struct caching *c, uint32_t block)
{
    struct block *b = &c->block[block];
    b->priority = (uint32_t)random_next(&c->random);
    uint32_t *link = tree_of(c, block);
    while (*link != NONE && c->block[*link].priority >= b->priority)
        link = orders_before(c, block, *link) ? &c->block[*link].left : &c->block[*link].right;
    uint32_t below = *link;
    *link = block;
    tree_split(c, below, block, &b->left, &b->right);
}

static void tree_remove(struct caching *c, uint32_t block)
{
    uint32_t *link = tree_of(c, block);
    while (*link != block) {
        assert(*link != NONE);
        link = orders_before(c, block, *link) ? &c->block[*link].left : &c->block[*link].right;
    }
    *link = tree_join(c, c->block[block].left, c->block[block].right);
}

/* The smallest free block of at least `size` bytes; the lowest of several. */
static uint32_t best_fit(const struct caching *c, bool small, uint64_t size)
{
    uint32_t best = NONE;
    for (uint32_t at = c->tree[small]; at != NONE;) {
        bool fits = c->block[at].size >= size;
        if (fits)
            best = at;
        at = fits ? c->block[at].left : c->block[at].right;
    }
    return best;
}

static uint32_t new_block(struct caching *c)
{
    uint32_t row = c->spare;
    if (row != NONE) {
        c->spare = c->block[row].after;
        return row;
    }
    if (c->block_len == c->block_cap)
        c->block = grown(c->block, &c->block_cap, sizeof *c->block);
    return c->block_len++;
}

static void drop_block(struct caching *c, uint32_t block)
{
    c->block[block].after = c->spare;
    c->spare = block;
}

static uint32_t new_segment(struct caching *c, uint64_t rounded)
{
    uint32_t row = 0;
    while (row < c->segment_len && c->segment[row].first != NONE)
        row++;
    if (row == c->segment_len) {
        if (c->segment_len == c->segment_cap)
            c->segment = grown(c->segment, &c->segment_cap, sizeof *c->segment);
        c->segment_len++;
    }
    bool small = rounded <= SMALL_MAX;
    uint64_t size = small                       ? SMALL_SEGMENT
                    : rounded < OWN_SEGMENT_MIN ? LARGE_SEGMENT
                                                : (rounded + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    uint32_t block = new_block(c);
    c->lowest -= size; /* as devices mostly do */
    c->segment[row] = (struct segment){ .addr = c->lowest,
                                        .size = size,
                                        .first = block,
                                        .stack = NONE,
                                        .capture = NONE,
                                        .small = small };
    c->block[block] = (struct block){
        .addr = c->segment[row].addr, .size = size, .segment = row, .before = NONE, .after = NONE
    };
    tree_add(c, block);
    return row;
}

/* Cuts what `size` leaves over off the end of a block, as a free block of its own. */
static void split(struct caching *c, uint32_t block, uint64_t size)
{
    uint32_t rest = new_block(c);
    struct block *b = &c->block[block];
    c->block[rest] = (struct block){ .addr = b->addr + size,
                                     .size = b->size - size,
                                     .segment = b->segment,
                                     .before = block,
                                     .after = b->after };
    if (b->after != NONE)
        c->block[b->after].before = rest;
    b->after = rest;
    b->size = size;
    tree_add(c, rest);
}

uint32_t caching_take(struct caching *c, uint64_t requested, uint32_t *ret_segment)
{
    uint64_t rounded = (requested + 511) / 512 * 512;
    bool small = rounded <= SMALL_MAX;
    uint32_t block = best_fit(c, small, rounded);
    *ret_segment = NONE;
    if (block == NONE) {
        *ret_segment = new_segment(c, rounded);
        block = c->segment[*ret_segment].first;
    }
    tree_remove(c, block);
    uint64_t rest = c->block[block].size - rounded;
    if (small ? rest >= 512 : rest > SMALL_MAX)
        split(c, block, rounded);
    c->block[block].requested = requested;
    c->block[block].state = BLOCK_ALLOCATED;
    return block;
}

/* Makes one block of two free neighbours, neither of them in the tree. */
static void merge(struct caching *c, uint32_t block, uint32_t next)
{
    struct block *b = &c->block[block];
    b->size += c->block[next].size;
    b->after = c->block[next].after;
    if (b->after != NONE)
        c->block[b->after].before = block;
    drop_block(c, next);
}

void caching_release(struct caching *c, uint32_t block)
{
    c->block[block].state = BLOCK_INACTIVE;
    uint32_t after = c->block[block].after;
    if (after != NONE && c->block[after].state == BLOCK_INACTIVE) {
        tree_remove(c, after);
        merge(c, block, after);
    }
    uint32_t before = c->block[block].before;
    if (before != NONE && c->block[before].state == BLOCK_INACTIVE) {
        tree_remove(c, before);
        merge(c, before, block);
        block = before;
    }
    tree_add(c, block);
}

/* Is one segment given back before another? */
static bool returns_before(const struct segment *a, const struct segment *b)
{
    if (a->small != b->small)
        return b->small;
    return a->size != b->size ? a->size < b->size : a->addr < b->addr;
}

uint32_t caching_unused(const struct caching *c)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < c->segment_len; i++) {
        uint32_t first = c->segment[i].first;
        if (first == NONE || c->block[first].state != BLOCK_INACTIVE ||
            c->block[first].after != NONE)
            continue;
        if (found == NONE || returns_before(&c->segment[i], &c->segment[found]))
            found = i;
    }
    return found;
}

void caching_return(struct caching *c, uint32_t segment)
{
    struct segment *s = &c->segment[segment];
    assert(c->block[s->first].size == s->size);
    tree_remove(c, s->first);
    drop_block(c, s->first);
    s->first = NONE;
}
