/* sim_device.c - drives the machine, and counts and records what it does. */
#include "profiler/sim_device.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "base/vec.h"

enum { EVENT_NS = 1000 };

/* Devices get addresses apart from each other, of which the first devices have the highest. */
#define SEGMENTS_APART ((uint64_t)1 << 43)
#define RESERVATIONS_APART ((uint64_t)1 << 54)

/* History. */

static void record(struct sim_device *d, enum sim_action action, uint64_t address, uint64_t size,
                   uint32_t side, struct sim_origin origin)
{
    struct sim_common *c = d->common;
    c->clock_ns += EVENT_NS;
    if (!c->recording || !c->trace)
        return;
    struct sim_event event = {
        .address = address,
        .size = size,
        .stream = d->m.lanes.at[side / 2].stream,
        .time_us = c->clock_ns / EVENT_NS,
        .origin = origin,
        .action = (uint8_t)action,
    };
    if (c->stacks < SIM_STACKS_ALLOCS)
        event.origin.stack = 0;
    sim_events_add(&d->history, c->history_most, &event);
}

static void record_block(struct sim_device *d, enum sim_action action, uint32_t block,
                         uint32_t stack)
{
    const struct machine_block *b = &d->m.blocks.at[block];
    record(d, action, b->address, b->requested, b->side,
           (struct sim_origin){ stack, d->life.at[block].origin.context });
}

/* What a free tells: its own stack where that is kept, else that of the allocation. */
static uint32_t stack_of_free(const struct sim_device *d, uint32_t block, uint32_t stack)
{
    bool kept = d->common->recording && d->common->stacks == SIM_STACKS_ALL && stack != 0;
    return kept ? stack : d->life.at[block].origin.stack;
}

static void heard(void *arg, const struct machine_call *call)
{
    static const enum sim_action action[] = {
        [SEGMENT_MADE] = SIM_SEGMENT_ALLOC,
        [SEGMENT_RETURNED] = SIM_SEGMENT_FREE,
        [PAGES_MAPPED] = SIM_MAP,
        [PAGES_UNMAPPED] = SIM_UNMAP,
    };
    struct sim_device *d = arg;
    record(d, action[call->call], call->address, call->bytes, call->side, d->now);
}

/* Free parts of segments. */

static const struct machine_block *block_at(const struct sim_device *d, uint32_t block)
{
    return &d->m.blocks.at[block];
}

/* What a neighbour (0: none) adds to a segment of which only one block is in use: its bytes, and
 * in `*ret` whether it is that. */
static uint64_t free_end(const struct sim_device *d, uint32_t neighbour, bool before, bool *ret)
{
    const struct machine_block *n = block_at(d, neighbour);
    *ret = neighbour == 0 || (n->use == BLOCK_FREE && (before ? n->prev : n->next) == 0);
    return neighbour == 0 ? 0 : n->size;
}

/* The bytes of the block's segment where all the rest of it is free; else 0. */
static uint64_t alone_in_segment(const struct sim_device *d, uint32_t block)
{
    const struct machine_block *b = block_at(d, block);
    bool first, last;
    uint64_t before = free_end(d, b->prev, true, &first);
    uint64_t behind = free_end(d, b->next, false, &last);
    return first && last ? before + b->size + behind : 0;
}

static void count_used(struct sim_device *d, uint32_t block)
{
    if (block_expandable(&d->m, block_at(d, block)))
        return;
    d->active_in_segments += block_at(d, block)->size;
    d->used_segment_bytes += alone_in_segment(d, block);
}

/* Before the block is completed. */
static void count_unused(struct sim_device *d, uint32_t block)
{
    if (block_expandable(&d->m, block_at(d, block)))
        return;
    d->active_in_segments -= block_at(d, block)->size;
    d->used_segment_bytes -= alone_in_segment(d, block);
}

static void before_completion(void *arg, uint32_t block)
{
    struct sim_device *d = arg;
    record_block(d, SIM_FREE_COMPLETED, block, d->life.at[block].origin.stack);
    count_unused(d, block);
}

/* The device. */

bool sim_device_init(struct sim_device *d, struct sim_common *common, uint32_t number,
                     const struct allocator_config *config, uint64_t total_bytes,
                     uint64_t context_bytes)
{
    *d = (struct sim_device){
        .common = common,
        .life.max = UINT32_MAX / 2,
        .load.max = UINT32_MAX / 2,
        .total_bytes = total_bytes,
        .context_bytes = context_bytes,
    };
    bool ok = machine_init(&d->m, config);
    d->m.capacity = total_bytes - context_bytes;
    if (config->memory_fraction < 1)
        d->m.limit = (uint64_t)(config->memory_fraction * (double)total_bytes);
    d->first_low = d->m.next_low - number * SEGMENTS_APART;
    d->first_reservation = d->m.next_reservation + number * RESERVATIONS_APART;
    d->m.listen = heard;
    d->m.completed = before_completion;
    d->m.listen_arg = d->m.completed_arg = d;
    return ok;
}

void sim_device_free(struct sim_device *d)
{
    machine_free(&d->m);
    vec_free(&d->life);
    vec_free(&d->load);
    sim_events_free(&d->history);
}

void sim_device_other(struct sim_device *d, uint64_t bytes)
{
    assert(bytes <= d->total_bytes - d->context_bytes);
    d->other_bytes = bytes;
    d->m.capacity = d->total_bytes - d->context_bytes - bytes;
}

uint64_t sim_device_left(const struct sim_device *d)
{
    return d->m.reserved < d->m.capacity ? d->m.capacity - d->m.reserved : 0;
}

uint64_t sim_device_private_free(const struct sim_device *d)
{
    uint64_t bytes = 0;
    for (uint32_t side = 0; side < d->m.sides.len; side++) {
        if (d->m.lanes.at[side / 2].pool == 0)
            continue;
        struct set_walk walk = set_walk_begin(&d->m.sides.at[side].free);
        for (uint32_t b = set_walk_next(&walk); b != 0; b = set_walk_next(&walk))
            bytes += block_at(d, b)->size;
    }
    return bytes;
}

/* Requests. */

/* A place for each block that the machine has. */
static bool lives_reserve(struct sim_device *d)
{
    uint32_t missing = d->m.blocks.len - d->life.len;
    if (!vec_reserve(&d->life, missing))
        return false;
    for (; d->life.len < d->m.blocks.len; d->life.len++)
        d->life.at[d->life.len] = (struct sim_life){ .turn = 0 };
    return true;
}

/* The machine never gives an address twice, and would come to their end in long programs. */
static void begin_anew_where_empty(struct sim_device *d)
{
    if (d->m.reserved > 0)
        return;
    d->m.next_low = d->first_low;
    d->m.next_reservation = d->first_reservation;
}

static void refuse(struct sim_device *d, uint32_t lane, uint64_t rounded, struct sim_origin origin)
{
    d->ooms++;
    record(d, SIM_OOM, sim_device_left(d), rounded, lane_side(lane, rounded), origin);
}

static void grant(struct sim_device *d, uint32_t block, uint64_t turn, struct sim_origin origin)
{
    if (!d->common->recording || d->common->stacks == SIM_STACKS_NONE)
        origin.stack = 0;
    d->life.at[block] = (struct sim_life){ .turn = turn, .origin = origin };
    count_used(d, block);
    d->allocated_bytes += block_at(d, block)->size;
    d->allocations++;
    if (d->m.allocated > d->peak_allocated)
        d->peak_allocated = d->m.allocated;
    record_block(d, SIM_ALLOC, block, origin.stack);
}

uint32_t sim_device_alloc(struct sim_device *d, uint32_t lane, uint64_t bytes, uint64_t turn,
                          struct sim_origin origin)
{
    uint32_t block = 0;
    d->now = origin;
    begin_anew_where_empty(d);
    if (d->failures > 0)
        d->failures--;
    else
        block = machine_request(&d->m, lane, bytes);
    if (d->m.no_memory || !lives_reserve(d)) {
        d->common->no_memory = true;
        return 0;
    }
    if (block != 0)
        grant(d, block, turn, origin);
    else
        refuse(d, lane, machine_round(&d->m, bytes), origin);
    return block;
}

static void complete(struct sim_device *d, uint32_t block, uint32_t stack)
{
    record_block(d, SIM_FREE_COMPLETED, block, stack);
    count_unused(d, block);
    machine_complete(&d->m, block);
}

static void note_memory(struct sim_device *d)
{
    d->common->no_memory = d->common->no_memory || d->m.no_memory;
}

void sim_device_release(struct sim_device *d, uint32_t block, uint32_t stack)
{
    struct sim_life *life = &d->life.at[block];
    assert(life->turn != 0 && block_at(d, block)->use == BLOCK_IN_USE);
    uint32_t shown = stack_of_free(d, block, stack);
    life->turn = 0;
    d->freed_bytes += block_at(d, block)->size;
    d->frees++;
    record_block(d, SIM_FREE_REQUESTED, block, shown);
    if (life->elsewhere)
        machine_wait(&d->m, block);
    else
        complete(d, block, shown);
    note_memory(d);
}

void sim_device_synchronize(struct sim_device *d)
{
    while (d->m.waiting.len > 0 && !d->m.no_memory) {
        uint32_t block = d->m.waiting.at[d->m.waiting.len - 1];
        complete(d, block, d->life.at[block].origin.stack);
    }
    note_memory(d);
}

void sim_device_empty_cache(struct sim_device *d, struct sim_origin origin)
{
    d->now = origin;
    machine_release_all(&d->m);
    note_memory(d);
}

/* Counters. */

void sim_device_stats(const struct sim_device *d, struct vrs_stats *ret)
{
    const struct machine *m = &d->m;
    *ret = (struct vrs_stats){
        .now = { [VRS_ALLOCATED] = m->allocated,
                 [VRS_RESERVED] = m->reserved,
                 [VRS_ACTIVE] = m->active,
                 [VRS_REQUESTED] = m->requested },
        .peak = { [VRS_ALLOCATED] = d->peak_allocated,
                  [VRS_RESERVED] = m->peak_reserved.bytes,
                  [VRS_ACTIVE] = m->peak_active.bytes,
                  [VRS_REQUESTED] = m->peak_requested.bytes },
        .inactive_split = d->used_segment_bytes - d->active_in_segments,
        .allocated_bytes = d->allocated_bytes,
        .freed_bytes = d->freed_bytes,
        .allocations = d->allocations,
        .frees = d->frees,
        .retries = m->retries,
        .ooms = d->ooms,
    };
}

void sim_device_reset_peak(struct sim_device *d)
{
    d->peak_allocated = d->m.allocated;
    d->m.peak_reserved.bytes = d->m.reserved;
    d->m.peak_active.bytes = d->m.active;
    d->m.peak_requested.bytes = d->m.requested;
}

bool sim_device_load(struct sim_device *d, double percent, uint64_t ns)
{
    uint64_t from = d->common->clock_ns;
    if (d->load.len > d->load_at && d->load.at[d->load.len - 1].end_ns > from)
        from = d->load.at[d->load.len - 1].end_ns;
    uint64_t end = ns < UINT64_MAX - from ? from + ns : UINT64_MAX;
    return vec_push(&d->load, (struct sim_load){ end, percent });
}

bool sim_device_busy(struct sim_device *d, double *ret_percent)
{
    while (d->load_at < d->load.len && d->load.at[d->load_at].end_ns <= d->common->clock_ns)
        d->load_at++;
    if (d->load_at == d->load.len) {
        d->load_at = d->load.len = 0;
        return false;
    }
    *ret_percent = d->load.at[d->load_at].percent;
    return true;
}
