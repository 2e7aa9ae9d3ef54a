/* start_layout.c - lays the state before a trace out in a machine. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "allocator/machine/machine.h"
#include "allocator/replay/program.h"
#include "allocator/replay/start_state.h"
#include "base/table.h"

struct layout {
    const struct start_state *s;
    struct machine *m;
    uint32_t *block_of;
    uint32_t *tail; /* of each side: the unmapped end of its reservation, or 0 */
};

/* A block behind `last` (0: the first of its segment). */
static uint32_t append_block(struct machine *m, uint32_t last, struct machine_block like)
{
    like.prev = last;
    like.next = 0;
    uint32_t block = block_make(m, like);
    if (block == 0)
        return 0;
    if (last != 0)
        m->blocks.at[last].next = block;
    else
        m->segments.at[like.segment].first = block;
    block_enter(m, block);
    return block;
}

/* The blocks of one range behind `last`; the last of them. */
static uint32_t append_blocks(struct layout *l, const struct range *range, uint32_t segment,
                              uint32_t last)
{
    const struct program *p = l->s->program;
    struct machine *m = l->m;
    struct machine_block like = { .segment = segment, .side = range->side, .mapped = true };
    uint64_t at = range->address, end = range->address + range->size;
    for (uint32_t i = program_start_from(p, at); i < p->starts && p->start[i].address < end; i++) {
        const struct start_block *start = &p->start[i];
        struct machine_block gap = like;
        gap.address = at;
        gap.size = start->address - at;
        if (gap.size != 0)
            last = append_block(m, last, gap);
        struct machine_block held = like;
        held.address = start->address;
        held.size = l->s->size[i];
        held.requested = start->requested;
        held.use = BLOCK_IN_USE;
        last = append_block(m, last, held);
        l->block_of[i] = last;
        m->active += held.size;
        m->allocated += held.size;
        m->requested += held.requested;
        if (start->waiting)
            machine_wait(m, last);
        at = start->address + held.size;
    }
    like.address = at;
    like.size = end - at;
    return like.size == 0 ? last : append_block(m, last, like);
}

static void add_tail(struct layout *l, uint32_t segment, uint32_t side, uint64_t address,
                     uint32_t last)
{
    l->tail[side] = append_block(
        l->m, last,
        (struct machine_block){
            .address = address, .size = ADDRESS_END - address, .segment = segment, .side = side });
}

/* Ranges of one side are parts of one reservation: what lies between them is not mapped. */
static void lay_expandable(struct layout *l, const struct range *range)
{
    struct machine *m = l->m;
    uint32_t tail = l->tail[range->side], last = tail, segment;
    if (tail == 0) {
        uint64_t base = l->s->base[range->side];
        segment = segment_make(m, base, true);
        if (segment == NO_ROW)
            return;
        if (base < range->address)
            last = append_block(m, 0,
                                (struct machine_block){ .address = base,
                                                        .size = range->address - base,
                                                        .segment = segment,
                                                        .side = range->side });
    } else {
        segment = m->blocks.at[tail].segment;
        block_leave(m, tail);
        m->blocks.at[tail].size = range->address - m->blocks.at[tail].address;
        if (m->blocks.at[tail].size != 0) {
            block_enter(m, tail);
        } else {
            last = m->blocks.at[tail].prev;
            m->blocks.at[last].next = 0;
            block_drop(m, tail);
        }
    }
    last = append_blocks(l, range, segment, last);
    add_tail(l, segment, range->side, range->address + range->size, last);
}

bool start_state_build(const struct start_state *s, struct machine *m, uint32_t *block_of)
{
    const struct program *p = s->program;
    uint32_t tail[2 * LANES_MAX] = { 0 };
    struct layout l = { s, m, block_of, tail };
    memset(block_of, 0, p->slots * sizeof *block_of);
    for (uint32_t i = 0; i < p->lane_count; i++)
        if (machine_lane(m, p->lanes[i].pool, p->lanes[i].stream) != i)
            return false;
    for (uint32_t i = 0; i < s->ranges && !m->no_memory; i++) {
        const struct range *range = &s->range[i];
        if (range->expandable) {
            lay_expandable(&l, range);
        } else {
            uint32_t segment = segment_make(m, range->address, false);
            if (segment != NO_ROW)
                append_blocks(&l, range, segment, 0);
        }
        m->reserved += range->size;
    }
    m->peak_reserved.bytes = m->reserved;
    m->peak_active.bytes = m->active;
    m->peak_requested.bytes = m->requested;
    return !m->no_memory;
}
