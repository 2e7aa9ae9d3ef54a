/* recorder.c - from what machines do to the tables of a recording. */
#include "recorder.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/machine/config.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

/* Addresses like those of real devices, apart from each other. */
#define SEGMENTS_BELOW 0x7f8000000000u
#define RESERVATIONS_FROM 0x302000000000u
#define DEVICE_APART 0x10000000000u

static void append(struct recorded_device *d, struct made_event event)
{
    event.time_us = d->recorder->time_us;
    if (!vec_push(&d->event, event))
        d->recorder->failed = true;
}

static uint16_t stream_of(struct recorded_device *d, uint32_t side)
{
    uint16_t row = 0;
    if (!streams_intern(&d->recorder->to->streams, d->m.lanes.at[side / 2].stream, &row))
        d->recorder->failed = true;
    return row;
}

static void heard(void *arg, const struct machine_call *call)
{
    static const uint8_t action[] = {
        [SEGMENT_MADE] = ACTION_SEGMENT_ALLOC,
        [SEGMENT_RETURNED] = ACTION_SEGMENT_FREE,
        [PAGES_MAPPED] = ACTION_SEGMENT_MAP,
        [PAGES_UNMAPPED] = ACTION_SEGMENT_UNMAP,
    };
    struct recorded_device *d = arg;
    append(d, (struct made_event){ .action = action[call->call],
                                   .stream = stream_of(d, call->side),
                                   .origin = d->now,
                                   .address = call->address,
                                   .size = call->bytes });
}

static void block_event(struct recorded_device *d, uint8_t action, uint32_t block,
                        struct origin_of origin)
{
    const struct machine_block *b = &d->m.blocks.at[block];
    append(d, (struct made_event){ .action = action,
                                   .stream = stream_of(d, b->side),
                                   .origin = origin,
                                   .address = b->address,
                                   .size = b->requested });
}

static void completed_by_release(void *arg, uint32_t block)
{
    struct recorded_device *d = arg;
    block_event(d, ACTION_FREE_COMPLETED, block, d->origin[block]);
}

struct recorded_device *recorder_device(struct recorder *r, uint32_t number,
                                        const struct allocator_config *config, uint64_t capacity)
{
    uint32_t place = 0;
    while (place < r->devices && r->device[place]->number < number)
        place++;
    if (place < r->devices && r->device[place]->number == number)
        return r->device[place];
    struct recorded_device *d = r->devices < DEVICES_MAX ? calloc(1, sizeof *d) : NULL;
    if (d == NULL)
        return NULL;
    d->recorder = r;
    d->number = number;
    d->device_free = UNKNOWN_U64;
    d->event.max = UINT32_MAX / 2;
    r->failed = !machine_init(&d->m, config) || r->failed;
    d->m.capacity = capacity;
    if (capacity != UINT64_MAX && config->memory_fraction < 1)
        d->m.limit = (uint64_t)(config->memory_fraction * (double)capacity);
    d->m.next_low = SEGMENTS_BELOW - number * DEVICE_APART;
    d->m.next_reservation = RESERVATIONS_FROM + number * DEVICE_APART;
    d->m.listen = heard;
    d->m.completed = completed_by_release;
    d->m.listen_arg = d->m.completed_arg = d;
    memmove(r->device + place + 1, r->device + place, (r->devices - place) * sizeof *r->device);
    r->devices++;
    return r->device[place] = d;
}

static void keep_origin(struct recorded_device *d, uint32_t block, struct origin_of origin)
{
    if (block >= d->origins) {
        uint32_t more = d->m.blocks.cap;
        struct origin_of *grown = realloc(d->origin, more * sizeof *grown);
        if (grown == NULL) {
            d->recorder->failed = true;
            return;
        }
        memset(grown + d->origins, 0, (more - d->origins) * sizeof *grown);
        d->origin = grown;
        d->origins = more;
    }
    d->origin[block] = origin;
}

uint32_t recorder_alloc(struct recorded_device *d, uint32_t pool, uint64_t stream, uint64_t size,
                        uint32_t tag, struct origin_of origin)
{
    uint32_t lane = machine_lane(&d->m, pool, stream);
    d->now = origin;
    d->m.event++;
    if (lane == NO_ROW) {
        d->recorder->failed = true;
        return 0;
    }
    uint32_t block = machine_request(&d->m, lane, size);
    if (block != 0) {
        d->m.blocks.at[block].tag = tag;
        keep_origin(d, block, origin);
        block_event(d, ACTION_ALLOC, block, origin);
        return block;
    }
    uint64_t end = d->m.limit < d->m.capacity ? d->m.limit : d->m.capacity;
    uint64_t left = d->device_free != UNKNOWN_U64 ? d->device_free : end - d->m.reserved;
    append(d, (struct made_event){ .action = ACTION_OOM,
                                   .stream = stream_of(d, lane * 2),
                                   .origin = origin,
                                   .address = left,
                                   .size = machine_round(&d->m, size) });
    d->recorder->failed = d->recorder->failed || d->m.no_memory;
    return 0;
}

static struct origin_of with_stack(const struct recorded_device *d, uint32_t block, uint32_t stack)
{
    return (struct origin_of){ stack, d->origin[block].context };
}

void recorder_free_requested(struct recorded_device *d, uint32_t block, uint32_t stack)
{
    block_event(d, ACTION_FREE_REQUESTED, block, with_stack(d, block, stack));
    machine_wait(&d->m, block);
}

void recorder_free_completed(struct recorded_device *d, uint32_t block, uint32_t stack)
{
    uint32_t shown = stack == 0 ? d->origin[block].stack : stack;
    block_event(d, ACTION_FREE_COMPLETED, block, with_stack(d, block, shown));
    machine_complete(&d->m, block);
}

void recorder_empty_cache(struct recorded_device *d, struct origin_of origin)
{
    d->now = origin;
    d->m.event++;
    machine_release_all(&d->m);
}

void recorder_note(struct recorded_device *d, uint8_t action, uint64_t size,
                   struct origin_of origin)
{
    uint16_t stream = 0;
    if (!streams_intern(&d->recorder->to->streams, 0, &stream))
        d->recorder->failed = true;
    append(d, (struct made_event){
                  .action = action, .stream = stream, .origin = origin, .size = size });
}

void recorder_forget(struct recorder *r, bool begins)
{
    for (uint32_t i = 0; i < r->devices; i++) {
        r->device[i]->event.len = 0;
        for (uint32_t b = 0; b < r->device[i]->origins && begins; b++)
            r->device[i]->origin[b].stack = 0;
    }
}

static bool add_events(struct recording *to, const struct recorded_device *d)
{
    struct events *e = &to->events;
    if (!table_reserve(e, &events_kind, d->event.len))
        return false;
    for (uint32_t i = 0; i < d->event.len; i++) {
        const struct made_event *made = &d->event.at[i];
        uint32_t row = e->rows.len++;
        e->action[row] = made->action;
        e->stream[row] = made->stream;
        e->stack[row] = made->origin.stack;
        e->context[row] = made->origin.context;
        e->address[row] = made->address;
        e->size[row] = made->size;
        e->time_us[row] = made->time_us;
    }
    return true;
}

static bool add_device(struct recording *to, const struct recorded_device *made, bool trace)
{
    struct devices *d = &to->devices;
    if (!table_reserve(d, &devices_kind, 1))
        return false;
    uint32_t row = d->rows.len++;
    d->kind[row] = DEVICE_CUDA;
    d->number[row] = made->number;
    d->parts[row] = PART_SEGMENTS | PART_TRACE | PART_ANCHOR;
    d->first_segment[row] = to->segments.rows.len;
    d->first_block[row] = to->blocks.rows.len;
    d->first_event[row] = to->events.rows.len;
    d->events[row] = trace ? made->event.len : 0;
    d->first_allocation[row] = d->allocations[row] = 0;
    d->orphan_frees[row] = d->double_allocs[row] = d->returned_unobtained_bytes[row] = 0;
    return run_state_add(to, &made->m, made->origin, made->origins) &&
           (!trace || add_events(to, made));
}

bool recorder_finish(struct recorder *r, bool trace)
{
    for (uint32_t i = 0; i < r->devices && !r->failed; i++)
        r->failed = !add_device(r->to, r->device[i], trace);
    return !r->failed;
}

void recorder_free(struct recorder *r)
{
    for (uint32_t i = 0; i < r->devices; i++) {
        machine_free(&r->device[i]->m);
        vec_free(&r->device[i]->event);
        free(r->device[i]->origin);
        free(r->device[i]);
    }
    r->devices = 0;
}
