/* machine_expandable.c - expandable segments: reserving, mapping and unmapping their pages. */
#include "allocator/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "base/table.h"

uint32_t machine_reserve(struct machine *m, uint64_t address, uint32_t side)
{
    uint32_t segment = segment_make(m, address, true);
    uint32_t block = segment == NO_ROW ? 0
                                       : block_make(m, (struct machine_block){
                                                           .address = address,
                                                           .size = ADDRESS_END - address,
                                                           .segment = segment,
                                                           .side = side,
                                                       });
    if (block == 0)
        return 0;
    m->segments.at[segment].first = block;
    block_enter(m, block);
    return block;
}

static uint64_t page_bytes(const struct machine *m, uint32_t side)
{
    return side_small(side) ? SMALL_SEGMENT_BYTES : m->config.large_segment_bytes;
}

/* `bytes` in whole pages; more than there can be where it would not fit the type. */
static uint64_t whole_pages(uint64_t bytes, uint64_t page)
{
    uint64_t pages = bytes / page + (bytes % page != 0);
    return pages > UINT64_MAX / page ? UINT64_MAX : pages * page;
}

uint32_t machine_map(struct machine *m, uint32_t block, uint64_t want)
{
    uint32_t side = m->blocks.at[block].side;
    uint64_t address = m->blocks.at[block].address;
    uint64_t bytes = whole_pages(want, page_bytes(m, side));
    block_leave(m, block);
    if (bytes < m->blocks.at[block].size) {
        uint32_t rest = block_cut(m, block, bytes);
        if (rest != 0)
            block_enter(m, rest);
    }
    bytes = m->blocks.at[block].size;
    m->blocks.at[block].mapped = true;
    block_merge_enter(m, block);
    machine_grew(m, PAGES_MAPPED, address, bytes, side);
    return block;
}

/* Where growing begins: the free block before an unmapped range, or that range, from which on
 * `rounded` bytes are free or not mapped. */
static uint32_t find_room(struct machine *m, uint32_t side, uint64_t rounded)
{
    struct set_walk walk = set_walk_begin(&m->sides.at[side].unmapped);
    for (uint32_t hole = set_walk_next(&walk); hole != 0; hole = set_walk_next(&walk)) {
        uint32_t before = m->blocks.at[hole].prev, from = hole;
        if (before != 0 && m->blocks.at[before].use == BLOCK_FREE)
            from = before;
        uint64_t bytes = 0;
        for (uint32_t b = from; b != 0 && m->blocks.at[b].use == BLOCK_FREE && bytes < rounded;
             b = m->blocks.at[b].next) {
            bytes += m->blocks.at[b].size;
            m->steps++;
        }
        if (bytes >= rounded)
            return from;
    }
    return 0;
}

/* Has the device so many bytes left? */
static bool can_map(const struct machine *m, uint64_t bytes)
{
    return m->reserved <= m->capacity && bytes <= m->capacity - m->reserved;
}

uint32_t machine_grow(struct machine *m, uint32_t side, uint64_t rounded, bool *ret_full)
{
    uint32_t block = find_room(m, side, rounded);
    *ret_full = false;
    while (block != 0 && (!m->blocks.at[block].mapped || m->blocks.at[block].size < rounded)) {
        const struct machine_block *b = &m->blocks.at[block];
        uint32_t hole = b->mapped ? b->next : block;
        uint64_t missing = b->mapped ? rounded - b->size : rounded;
        uint64_t room = m->blocks.at[hole].size;
        uint64_t want = missing < room ? missing : room;
        uint64_t bytes = whole_pages(want, page_bytes(m, side));
        *ret_full = !can_map(m, bytes < room ? bytes : room);
        if (*ret_full || m->no_memory)
            return 0;
        block = machine_map(m, hole, want);
    }
    return block;
}

/* Gives pages inside a free block back; what is left of it at both ends stays free.  A reservation
 * with nothing mapped is gone. */
static void unmap(struct machine *m, const struct release *r)
{
    uint32_t block = r->block, side = m->blocks.at[block].side;
    uint64_t before = r->address - m->blocks.at[block].address;
    if (before > 0)
        block = block_part(m, block, before);
    if (block == 0 || (r->bytes < m->blocks.at[block].size && block_part(m, block, r->bytes) == 0))
        return;
    block_leave(m, block);
    m->blocks.at[block].mapped = false;
    block_merge(m, block);
    if (m->blocks.at[block].prev != 0 || m->blocks.at[block].next != 0) {
        block_enter(m, block);
    } else {
        segment_drop(m, m->blocks.at[block].segment);
        block_drop(m, block);
    }
    machine_shrank(m, PAGES_UNMAPPED, r->address, r->bytes, side);
}

void machine_return(struct machine *m, const struct release *r)
{
    if (r->unmaps) {
        unmap(m, r);
        return;
    }
    const struct machine_block *b = &m->blocks.at[r->block];
    uint32_t side = b->side, segment = b->segment;
    block_leave(m, r->block);
    block_drop(m, r->block);
    segment_drop(m, segment);
    machine_shrank(m, SEGMENT_RETURNED, r->address, r->bytes, side);
}
