/* machine.c - blocks: best-fit search, splitting, freeing, merging with neighbours. */
#include "allocator/machine/machine.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/rounding.h"
#include "base/table.h"

/* Addresses that recordings do not have: new segments below 2^49 or from 2^50 on, reservations from
 * 2^54 on. */
#define FIRST_LOW ((uint64_t)1 << 49)
#define FIRST_HIGH ((uint64_t)1 << 50)
#define FIRST_RESERVATION ((uint64_t)1 << 54)

bool machine_init(struct machine *m, const struct allocator_config *config)
{
    *m = (struct machine){
        .config = *config,
        .blocks.max = UINT32_MAX / 2,
        .segments.max = UINT32_MAX / 2,
        .lanes.max = LANES_MAX,
        .sides.max = 2 * LANES_MAX,
        .release_order.max = 2 * LANES_MAX,
        .waiting.max = UINT32_MAX / 2,
        .capacity = UINT64_MAX,
        .limit = UINT64_MAX,
        .next_low = FIRST_LOW,
        .next_high = FIRST_HIGH,
        .next_reservation = FIRST_RESERVATION,
        .event = -1,
        .peak_reserved.event = -1,
        .peak_active.event = -1,
        .peak_requested.event = -1,
    };
    return vec_push(&m->blocks, (struct machine_block){ .prev = 0 });
}

void machine_free(struct machine *m)
{
    for (uint32_t i = 0; i < m->sides.len; i++) {
        set_free(&m->sides.at[i].free);
        set_free(&m->sides.at[i].unmapped);
    }
    vec_free(&m->blocks);
    vec_free(&m->segments);
    vec_free(&m->lanes);
    vec_free(&m->sides);
    vec_free(&m->release_order);
    vec_free(&m->waiting);
}

/* Does side `a` come before `b` in a full release?  Pools, then large before small, then streams.
 */
static bool released_before(const struct machine *m, uint32_t a, uint32_t b)
{
    const struct lane *x = &m->lanes.at[a / 2], *y = &m->lanes.at[b / 2];
    if (x->pool != y->pool)
        return x->pool < y->pool;
    if (side_small(a) != side_small(b))
        return side_small(b);
    return x->stream < y->stream;
}

static void order_side(struct machine *m, uint32_t side)
{
    uint32_t place = m->release_order.len++;
    for (; place > 0 && released_before(m, side, m->release_order.at[place - 1]); place--)
        m->release_order.at[place] = m->release_order.at[place - 1];
    m->release_order.at[place] = side;
}

uint32_t machine_lane(struct machine *m, uint32_t pool, uint64_t stream)
{
    for (uint32_t i = 0; i < m->lanes.len; i++)
        if (m->lanes.at[i].pool == pool && m->lanes.at[i].stream == stream)
            return i;
    if (!vec_reserve(&m->lanes, 1) || !vec_reserve(&m->sides, 2) ||
        !vec_reserve(&m->release_order, 2))
        return NO_ROW;
    uint32_t lane = m->lanes.len++;
    m->lanes.at[lane] = (struct lane){ pool, stream };
    for (uint32_t i = 0; i < 2; i++) {
        m->sides.at[m->sides.len++] = (struct side){ .free.parts.len = 0 };
        order_side(m, lane * 2 + i);
    }
    return lane;
}

/* Blocks. */

uint32_t block_make(struct machine *m, struct machine_block like)
{
    uint32_t block = m->unused_block;
    if (block != 0) {
        m->unused_block = m->blocks.at[block].next;
    } else if (vec_reserve(&m->blocks, 1)) {
        block = m->blocks.len++;
    } else {
        m->no_memory = true;
        return 0;
    }
    m->blocks.at[block] = like;
    return block;
}

void block_drop(struct machine *m, uint32_t block)
{
    m->blocks.at[block].next = m->unused_block;
    m->unused_block = block;
}

static struct block_set *set_of(struct machine *m, const struct machine_block *b)
{
    struct side *side = &m->sides.at[b->side];
    return b->mapped ? &side->free : &side->unmapped;
}

void block_enter(struct machine *m, uint32_t block)
{
    struct machine_block *b = &m->blocks.at[block];
    if (b->use != BLOCK_FREE || m->no_memory)
        return;
    b->since = m->searches;
    if (!set_insert(set_of(m, b), block, block_key(b)))
        m->no_memory = true;
}

void block_leave(struct machine *m, uint32_t block)
{
    const struct machine_block *b = &m->blocks.at[block];
    if (b->use == BLOCK_FREE && !m->no_memory)
        set_remove(set_of(m, b), block, block_key(b));
}

/* A free block comes into its set where another, of the same set, stood under `key`. */
static void block_follow(struct machine *m, uint32_t block, uint32_t other, struct set_key key)
{
    struct machine_block *b = &m->blocks.at[block];
    if (m->no_memory)
        return;
    b->since = m->searches;
    if (!set_replace(set_of(m, b), other, key, block, block_key(b)))
        m->no_memory = true;
}

/* Can a neighbour be joined to a free block: are both mapped or both not? */
static bool joins(const struct machine *m, uint32_t block, uint32_t other)
{
    const struct machine_block *o = &m->blocks.at[other];
    return other != 0 && o->use == BLOCK_FREE && o->mapped == m->blocks.at[block].mapped;
}

/* Joins a neighbour, which is in no set any more, to `block`. */
static void swallow(struct machine *m, uint32_t block, uint32_t other)
{
    struct machine_block *b = &m->blocks.at[block], *o = &m->blocks.at[other];
    b->size += o->size;
    if (b->prev == other) {
        b->address = o->address;
        b->prev = o->prev;
        if (b->prev != 0)
            m->blocks.at[b->prev].next = block;
        else
            m->segments.at[b->segment].first = block;
    } else {
        b->next = o->next;
        if (b->next != 0)
            m->blocks.at[b->next].prev = block;
    }
    block_drop(m, other);
}

static void merge_with(struct machine *m, uint32_t block, uint32_t other)
{
    if (!joins(m, block, other))
        return;
    block_leave(m, other);
    swallow(m, block, other);
}

void block_merge(struct machine *m, uint32_t block)
{
    merge_with(m, block, m->blocks.at[block].prev);
    merge_with(m, block, m->blocks.at[block].next);
}

void block_merge_enter(struct machine *m, uint32_t block)
{
    uint32_t prev = m->blocks.at[block].prev, next = m->blocks.at[block].next;
    uint32_t other = joins(m, block, prev) ? prev : next;
    if (!joins(m, block, other) || m->blocks.at[other].side != m->blocks.at[block].side) {
        block_merge(m, block);
        block_enter(m, block);
        return;
    }
    struct set_key key = block_key(&m->blocks.at[other]);
    swallow(m, block, other);
    if (other == prev)
        merge_with(m, block, next);
    block_follow(m, block, other, key);
}

uint32_t block_cut(struct machine *m, uint32_t block, uint64_t bytes)
{
    struct machine_block rest = m->blocks.at[block];
    assert(bytes != 0 && bytes < rest.size);
    rest.address += bytes;
    rest.size -= bytes;
    rest.prev = block;
    rest.use = BLOCK_FREE;
    rest.requested = 0;
    uint32_t cut = block_make(m, rest);
    if (cut == 0)
        return 0;
    m->blocks.at[block].size = bytes;
    m->blocks.at[block].next = cut;
    if (rest.next != 0)
        m->blocks.at[rest.next].prev = cut;
    return cut;
}

uint32_t block_part(struct machine *m, uint32_t block, uint64_t bytes)
{
    block_leave(m, block);
    uint32_t rest = block_cut(m, block, bytes);
    block_enter(m, block);
    if (rest != 0)
        block_enter(m, rest);
    return rest;
}

uint32_t segment_make(struct machine *m, uint64_t base, bool expandable)
{
    struct machine_segment made = { .base = base, .expandable = expandable };
    uint32_t segment = m->unused_segment;
    if (segment != 0) {
        m->unused_segment = m->segments.at[segment - 1].unused;
        m->segments.at[segment - 1] = made;
        return segment - 1;
    }
    if (!vec_push(&m->segments, made)) {
        m->no_memory = true;
        return NO_ROW;
    }
    return m->segments.len - 1;
}

void segment_drop(struct machine *m, uint32_t segment)
{
    m->segments.at[segment] = (struct machine_segment){ .unused = m->unused_segment };
    m->unused_segment = segment + 1;
}

/* The device. */

static void tell(const struct machine *m, enum device_call call, uint64_t address, uint64_t bytes,
                 uint32_t side)
{
    struct machine_call c = { call, address, bytes, side };
    if (m->listen != NULL)
        m->listen(m->listen_arg, &c);
}

static void note_peak(const struct machine *m, struct machine_peak *peak, uint64_t bytes)
{
    if (bytes > peak->bytes)
        *peak = (struct machine_peak){ bytes, m->event };
}

void machine_grew(struct machine *m, enum device_call call, uint64_t address, uint64_t bytes,
                  uint32_t side)
{
    m->reserved += bytes;
    note_peak(m, &m->peak_reserved, m->reserved);
    tell(m, call, address, bytes, side);
}

void machine_shrank(struct machine *m, enum device_call call, uint64_t address, uint64_t bytes,
                    uint32_t side)
{
    m->reserved -= bytes;
    tell(m, call, address, bytes, side);
}

uint32_t machine_add_segment(struct machine *m, uint64_t address, uint64_t bytes, uint32_t side)
{
    uint32_t segment = segment_make(m, address, false);
    uint32_t block = segment == NO_ROW ? 0
                                       : block_make(m, (struct machine_block){
                                                           .address = address,
                                                           .size = bytes,
                                                           .segment = segment,
                                                           .side = side,
                                                           .mapped = true,
                                                       });
    if (block == 0)
        return 0;
    m->segments.at[segment].first = block;
    block_enter(m, block);
    machine_grew(m, SEGMENT_MADE, address, bytes, side);
    return block;
}

/* Would so many bytes more pass what the device, or the limit, has? */
static bool too_many(uint64_t end, uint64_t reserved, uint64_t more)
{
    return reserved > end || more > end - reserved;
}

static uint32_t new_segment(struct machine *m, uint32_t side, uint64_t bytes)
{
    uint64_t address = m->ascend ? m->next_high : m->next_low - bytes;
    if (too_many(m->capacity, m->reserved, bytes) || bytes > FIRST_LOW ||
        (m->ascend ? m->next_high > FIRST_RESERVATION - bytes : m->next_low < bytes))
        return 0;
    uint32_t block = machine_add_segment(m, address, bytes, side);
    if (m->ascend)
        m->next_high += bytes;
    else
        m->next_low = address;
    return block;
}

/* Addresses far apart, so that no two reservations ever meet. */
static uint32_t new_reservation(struct machine *m, uint32_t side)
{
    uint64_t address = m->next_reservation;
    if (address > ADDRESS_END / 2)
        return 0;
    m->next_reservation += (uint64_t)1 << 44;
    return machine_reserve(m, address, side);
}

/* A free block of at least `rounded` bytes, new from the device; 0: it has none. */
static uint32_t new_memory(struct machine *m, uint32_t side, uint64_t rounded)
{
    uint64_t bytes = config_segment_bytes(&m->config, rounded);
    uint32_t block;
    if (too_many(m->limit, m->reserved, bytes))
        return 0;
    if (m->config.expandable) {
        bool full = false;
        block = machine_grow(m, side, rounded, &full);
        if (block == 0 && !full && new_reservation(m, side) != 0)
            block = machine_grow(m, side, rounded, &full);
    } else {
        block = new_segment(m, side, bytes);
    }
    m->new_memory += block != 0;
    return block;
}

/* Requests. */

/* How large a free block could become by mapping what follows it. */
static uint64_t could_grow_to(const struct machine *m, uint32_t block)
{
    const struct machine_block *b = &m->blocks.at[block], *next = &m->blocks.at[b->next];
    return b->size + (b->next != 0 && !next->mapped ? next->size : 0);
}

/* Among free expandable blocks that fit, one that is enclosed is taken before one that could grow.
 */
static uint32_t least_growable(struct machine *m, const struct block_set *free, uint32_t block)
{
    while (block_expandable(m, &m->blocks.at[block])) {
        uint32_t next = set_after(free, block_key(&m->blocks.at[block]));
        if (next == 0 || could_grow_to(m, next) >= could_grow_to(m, block))
            break;
        block = next;
        m->steps++;
    }
    return block;
}

static uint32_t first_fixed(struct machine *m, const struct block_set *free, uint32_t block)
{
    while (block != 0 && block_expandable(m, &m->blocks.at[block])) {
        block = set_after(free, block_key(&m->blocks.at[block]));
        m->steps++;
    }
    return block;
}

uint32_t machine_best_fit(struct machine *m, uint32_t side, uint64_t rounded)
{
    const struct allocator_config *c = &m->config;
    struct block_set *free = &m->sides.at[side].free;
    m->searches += !side_small(side) && m->lanes.at[side / 2].pool == 0;
    uint32_t block = set_at_least(free, (struct set_key){ rounded, 0 });
    if (block != 0 && block_expandable(m, &m->blocks.at[block]))
        block = c->expandable ? least_growable(m, free, block) : first_fixed(m, free, block);
    if (block == 0)
        return 0;
    uint64_t size = m->blocks.at[block].size;
    if (rounded < c->max_split_bytes && size >= c->max_split_bytes)
        return 0;
    if (rounded >= c->max_split_bytes && size - rounded >= c->non_split_rounding_bytes)
        return 0;
    return block;
}

static bool splits(const struct machine *m, const struct machine_block *b, uint64_t rounded)
{
    uint64_t rest = b->size - rounded;
    if (side_small(b->side) || m->config.expandable)
        return rest >= ROUNDING_UNIT;
    return rounded < m->config.max_split_bytes && rest > SMALL_BLOCK_MAX;
}

/* Cuts the first `bytes` bytes of a free block off and out of its set, where the rest stays. */
static void take_front(struct machine *m, uint32_t block, uint64_t bytes)
{
    struct set_key key = block_key(&m->blocks.at[block]);
    uint32_t rest = block_cut(m, block, bytes);
    if (rest != 0)
        block_follow(m, rest, block, key);
}

void machine_take(struct machine *m, uint32_t block, uint64_t rounded, uint64_t request)
{
    if (splits(m, &m->blocks.at[block], rounded))
        take_front(m, block, rounded);
    else
        block_leave(m, block);
    struct machine_block *b = &m->blocks.at[block];
    b->use = BLOCK_IN_USE;
    b->requested = request;
    m->active += b->size;
    m->allocated += b->size;
    m->requested += request;
    note_peak(m, &m->peak_active, m->active);
    note_peak(m, &m->peak_requested, m->requested);
}

uint32_t machine_request(struct machine *m, uint32_t lane, uint64_t request)
{
    uint64_t rounded = machine_round(m, request);
    uint32_t side = lane_side(lane, rounded);
    uint32_t block = machine_best_fit(m, side, rounded);
    if (block == 0) {
        machine_collect(m);
        block = new_memory(m, side, rounded);
    }
    if (block == 0 && machine_release_oversize(m, side, rounded))
        block = new_memory(m, side, rounded);
    if (block == 0) {
        m->retries++;
        machine_release_all(m);
        block = new_memory(m, side, rounded);
    }
    if (block != 0)
        machine_take(m, block, rounded, request);
    return m->no_memory ? 0 : block;
}

void machine_wait(struct machine *m, uint32_t block)
{
    struct machine_block *b = &m->blocks.at[block];
    if (b->use != BLOCK_IN_USE)
        return;
    if (!vec_push(&m->waiting, block)) {
        m->no_memory = true;
        return;
    }
    b->use = BLOCK_WAITING;
    b->since = m->waiting.len - 1;
    m->allocated -= b->size;
}

/* The last of those that wait takes the place. */
static void stop_waiting(struct machine *m, uint32_t block)
{
    uint32_t place = m->blocks.at[block].since, last = m->waiting.at[--m->waiting.len];
    m->waiting.at[place] = last;
    m->blocks.at[last].since = place;
}

void machine_complete(struct machine *m, uint32_t block)
{
    struct machine_block *b = &m->blocks.at[block];
    assert(b->use != BLOCK_FREE);
    if (b->use == BLOCK_WAITING)
        stop_waiting(m, block);
    else
        m->allocated -= b->size;
    m->active -= b->size;
    m->requested -= b->requested;
    b->use = BLOCK_FREE;
    b->requested = 0;
    block_merge_enter(m, block);
}
