/* run_state.c - segments by address, and in each its blocks. */
#include "allocator/whatif/run_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

struct run_state {
    struct recording *to;
    const struct machine *m;
    const struct origin_of *origin;
    uint32_t origins;
    uint32_t default_pool; /* row of (0, 0) */
    bool failed;
};

static void append_block(struct run_state *w, uint32_t segment, uint32_t block)
{
    static const uint8_t state[] = {
        [BLOCK_FREE] = BLOCK_INACTIVE,
        [BLOCK_IN_USE] = BLOCK_ALLOCATED,
        [BLOCK_WAITING] = BLOCK_PENDING,
    };
    struct blocks *k = &w->to->blocks;
    const struct machine_block *b = &w->m->blocks.at[block];
    if (w->failed || !table_reserve(k, &blocks_kind, 1)) {
        w->failed = true;
        return;
    }
    uint32_t row = k->rows.len++;
    struct origin_of none = { 0, 0 };
    struct origin_of origin = b->use == BLOCK_FREE || block >= w->origins ? none : w->origin[block];
    k->segment[row] = segment;
    k->address[row] = b->address;
    k->size[row] = b->size;
    k->requested_size[row] = b->requested;
    k->state[row] = state[b->use];
    k->stack[row] = origin.stack;
    k->context[row] = origin.context;
    k->first_history[row] = k->histories[row] = 0;
    struct segments *s = &w->to->segments;
    s->total_size[segment] += b->size;
    s->blocks[segment]++;
    if (b->use == BLOCK_FREE)
        return;
    s->active_size[segment] += b->size;
    s->requested_size[segment] += b->requested;
    s->allocated_size[segment] += b->use == BLOCK_IN_USE ? b->size : 0;
}

static void begin_segment(struct run_state *w, uint32_t block)
{
    struct segments *s = &w->to->segments;
    const struct machine_block *b = &w->m->blocks.at[block];
    const struct lane *lane = &w->m->lanes.at[b->side / 2];
    uint16_t stream = 0;
    if (w->failed || !streams_intern(&w->to->streams, lane->stream, &stream) ||
        !table_reserve(s, &segments_kind, 1)) {
        w->failed = true;
        return;
    }
    uint32_t row = s->rows.len++;
    s->device[row] = w->to->devices.rows.len - 1;
    s->address[row] = b->address;
    s->total_size[row] = s->allocated_size[row] = s->active_size[row] = s->requested_size[row] = 0;
    s->stream[row] = stream;
    s->pool[row] = lane->pool == 0 ? w->default_pool : lane->pool;
    s->stack[row] = s->forward_stack[row] = 0;
    s->size_class[row] = side_small(b->side) ? CLASS_SMALL : CLASS_LARGE;
    s->expandable[row] = block_expandable(w->m, b);
    s->first_block[row] = w->to->blocks.rows.len;
    s->blocks[row] = 0;
}

/* One run of neighbouring mapped blocks; the block behind it. */
static uint32_t append_run(struct run_state *w, uint32_t block)
{
    begin_segment(w, block);
    uint32_t segment = w->to->segments.rows.len - 1;
    for (; block != 0 && w->m->blocks.at[block].mapped && !w->failed;
         block = w->m->blocks.at[block].next)
        append_block(w, segment, block);
    return block;
}

struct beginning {
    uint64_t address;
    uint32_t block;
};

static int by_address(const void *a, const void *b)
{
    const struct beginning *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* Where each run of mapped blocks begins, by address. */
static void append_state(struct run_state *w)
{
    VEC(struct beginning) runs = { .max = UINT32_MAX };
    const struct machine *m = w->m;
    for (uint32_t s = 0; s < m->segments.len; s++) {
        bool inside = false;
        for (uint32_t b = m->segments.at[s].first; b != 0; b = m->blocks.at[b].next) {
            bool begins = m->blocks.at[b].mapped && !inside;
            inside = m->blocks.at[b].mapped;
            if (begins && !vec_push(&runs, (struct beginning){ m->blocks.at[b].address, b }))
                w->failed = true;
        }
    }
    if (runs.len > 1)
        qsort(runs.at, runs.len, sizeof *runs.at, by_address);
    for (uint32_t i = 0; i < runs.len && !w->failed; i++)
        append_run(w, runs.at[i].block);
    vec_free(&runs);
}

bool run_state_add(struct recording *to, const struct machine *m, const struct origin_of *origin,
                   uint32_t origins)
{
    struct run_state w = { .to = to, .m = m, .origin = origin, .origins = origins };
    struct devices *d = &to->devices;
    uint32_t row = d->rows.len - 1;
    pool_id pool;
    if (!pools_intern(&to->pools, 0, 0, &pool))
        return false;
    w.default_pool = pool.n;
    append_state(&w);
    d->segments[row] = to->segments.rows.len - d->first_segment[row];
    d->blocks[row] = to->blocks.rows.len - d->first_block[row];
    return !w.failed;
}
