/* machine_sound.c - walks every set and every segment once. */
#include "made/machine_sound.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/machine/block_set.h"

struct extent {
    uint64_t address, size;
};

/* What one walk over segments and sets counts. */
struct walk {
    const struct machine *m;
    bool *in_set; /* of each block */
    struct extent *mapped;
    uint32_t mapped_blocks, blocks, free_blocks, set_blocks, waiting_blocks;
    uint64_t reserved, active, allocated, requested;
};

static const char *walk_set(struct walk *w, uint32_t side, bool mapped)
{
    const struct machine *m = w->m;
    const struct block_set *set = mapped ? &m->sides.at[side].free : &m->sides.at[side].unmapped;
    struct set_walk walk = set_walk_begin(set);
    struct set_key last = { 0, 0 };
    for (uint32_t block = set_walk_next(&walk); block != 0; block = set_walk_next(&walk)) {
        const struct machine_block *b = &m->blocks.at[block];
        struct set_key key = block_key(b);
        if (b->use != BLOCK_FREE || b->mapped != mapped || b->side != side)
            return "a set holds a block that is not its own";
        if (set_before(set, (struct set_key){ key.size, key.address + 1 }) != block)
            return "a block is not found under its key";
        if (key.size < last.size || (key.size == last.size && key.address <= last.address))
            return "a set is out of order";
        if (w->in_set[block])
            return "a block is in two sets";
        last = key;
        w->in_set[block] = true;
        w->set_blocks++;
    }
    return NULL;
}

static void add_up(struct walk *w, const struct machine_block *b)
{
    w->blocks++;
    if (b->mapped) {
        w->reserved += b->size;
        w->mapped[w->mapped_blocks++] = (struct extent){ b->address, b->size };
    }
    w->free_blocks += b->use == BLOCK_FREE;
    w->waiting_blocks += b->use == BLOCK_WAITING;
    if (b->use == BLOCK_FREE)
        return;
    w->active += b->size;
    w->allocated += b->use == BLOCK_IN_USE ? b->size : 0;
    w->requested += b->requested;
}

static const char *walk_segment(struct walk *w, uint32_t segment)
{
    const struct machine *m = w->m;
    const struct machine_segment *s = &m->segments.at[segment];
    uint32_t last = 0;
    for (uint32_t block = s->first; block != 0; last = block, block = m->blocks.at[block].next) {
        const struct machine_block *b = &m->blocks.at[block], *p = &m->blocks.at[last];
        if (b->segment != segment || b->prev != last || b->size == 0)
            return "a block is linked wrongly";
        if (b->address != (last == 0 ? s->base : p->address + p->size))
            return "the bytes of a segment are not accounted for";
        if (last != 0 && b->side != p->side)
            return "a segment has two sides";
        if (!b->mapped && (b->use != BLOCK_FREE || !s->expandable))
            return "memory that is not mapped is in use";
        if (last != 0 && b->use == BLOCK_FREE && p->use == BLOCK_FREE && b->mapped == p->mapped)
            return "two free neighbours were not merged";
        if ((b->use == BLOCK_FREE) != w->in_set[block])
            return "a free block is in no set";
        if (b->use == BLOCK_FREE && b->requested != 0)
            return "a free block has a request";
        if (b->use != BLOCK_FREE && b->requested > b->size)
            return "a block is smaller than its request";
        add_up(w, b);
    }
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static const char *check_overlap(struct walk *w)
{
    if (w->mapped_blocks > 1)
        qsort(w->mapped, w->mapped_blocks, sizeof *w->mapped, by_address);
    for (uint32_t i = 1; i < w->mapped_blocks; i++)
        if (w->mapped[i].address - w->mapped[i - 1].address < w->mapped[i - 1].size)
            return "two blocks overlap";
    return NULL;
}

static const char *check_lists(const struct walk *w)
{
    const struct machine *m = w->m;
    uint32_t unused = 0;
    for (uint32_t i = 0; i < m->waiting.len; i++) {
        if (m->blocks.at[m->waiting.at[i]].use != BLOCK_WAITING)
            return "a block waits that was not freed";
        if (m->blocks.at[m->waiting.at[i]].since != i)
            return "a block waits at another place than it says";
    }
    for (uint32_t b = m->unused_block; b != 0 && unused <= m->blocks.len; b = m->blocks.at[b].next)
        unused++;
    if (unused + w->blocks + 1 != m->blocks.len)
        return "a block is lost";
    if (w->waiting_blocks != m->waiting.len)
        return "a waiting block is not listed";
    return w->set_blocks == w->free_blocks ? NULL : "a set holds a block of no segment";
}

static const char *check_sums(const struct walk *w)
{
    const struct machine *m = w->m;
    if (w->reserved != m->reserved)
        return "reserved bytes are not those of mapped blocks";
    if (w->active != m->active || w->allocated != m->allocated || w->requested != m->requested)
        return "bytes in use are not those of the blocks";
    if (m->peak_reserved.bytes < m->reserved || m->peak_active.bytes < m->active ||
        m->peak_requested.bytes < m->requested)
        return "a peak is below the present";
    return NULL;
}

static const char *walk_all(struct walk *w)
{
    const struct machine *m = w->m;
    const char *fault = NULL;
    for (uint32_t side = 0; side < m->sides.len && fault == NULL; side++) {
        fault = walk_set(w, side, true);
        if (fault == NULL)
            fault = walk_set(w, side, false);
    }
    for (uint32_t s = 0; s < m->segments.len && fault == NULL; s++)
        fault = walk_segment(w, s);
    if (fault == NULL)
        fault = check_lists(w);
    if (fault == NULL)
        fault = check_overlap(w);
    return fault == NULL ? check_sums(w) : fault;
}

const char *machine_fault(const struct machine *m)
{
    struct walk w = {
        .m = m,
        .in_set = calloc(m->blocks.len, sizeof *w.in_set),
        .mapped = calloc(m->blocks.len, sizeof *w.mapped),
    };
    const char *fault = w.in_set == NULL || w.mapped == NULL ? "no memory" : walk_all(&w);
    free(w.in_set);
    free(w.mapped);
    return fault;
}
