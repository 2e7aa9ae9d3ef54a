/* figures.c - one pass for each figure. */
#include "analysis/snapshot/curves/figures.h"

enum vrs_status distinct_stacks(const struct recording *r, uint32_t device, struct arena *scratch,
                                uint64_t *ret, struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    uint8_t *seen = arena_array(scratch, uint8_t, r->code.stacks.rows.len);
    if (seen == NULL)
        return vrs_no_memory(err);
    const struct devices *d = &r->devices;
    for (uint32_t i = 0; i < d->events[device]; i++)
        seen[r->events.stack[d->first_event[device] + i]] = 1;
    for (uint32_t i = 0; i < d->blocks[device]; i++)
        seen[r->blocks.stack[d->first_block[device] + i]] = 1;
    for (uint32_t i = 0; i < d->segments[device]; i++)
        seen[r->segments.stack[d->first_segment[device] + i]] = 1;
    uint64_t count = 0;
    for (uint32_t i = 1; i < r->code.stacks.rows.len; i++)
        count += seen[i];
    arena_release(scratch, mark);
    *ret = count;
    return VRS_OK;
}

uint64_t pending_bytes(const struct recording *r, uint32_t device)
{
    if ((r->devices.parts[device] & PART_SEGMENTS) == 0)
        return UNKNOWN_U64;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->devices.blocks[device]; i++) {
        uint32_t block = r->devices.first_block[device] + i;
        if (r->blocks.state[block] == BLOCK_PENDING)
            bytes += block_requested(r, block);
    }
    return bytes;
}

uint64_t old_bytes(const struct recording *r, uint32_t device, int64_t event)
{
    const struct allocations *a = &r->allocations;
    uint64_t bytes = 0;
    uint32_t first = r->devices.first_allocation[device];
    uint64_t state = (uint64_t)((int64_t)r->devices.first_event[device] + event + 1);
    for (uint32_t i = first; i < first + r->devices.allocations[device]; i++) {
        bool alive = a->free_completed_event[i] == NO_ROW || a->free_completed_event[i] >= state;
        if (a->alloc_event[i] == NO_ROW && alive)
            bytes += known_or_0(a->size[i]);
    }
    return bytes;
}

struct block_bytes block_bytes_at(const struct recording *r, const struct proof *proof,
                                  uint32_t device, int64_t event)
{
    const struct allocations *a = &r->allocations;
    struct block_bytes sum = { UNKNOWN_U64, UNKNOWN_U64 };
    if (proof->never)
        return sum;
    sum = (struct block_bytes){ 0, 0 };
    uint32_t first = r->devices.first_allocation[device];
    uint64_t state = (uint64_t)((int64_t)r->devices.first_event[device] + event + 1);
    for (uint32_t i = first; i < first + r->devices.allocations[device]; i++) {
        uint64_t bytes = block_of(&proof->block_sizes, i).bytes;
        bool born = a->alloc_event[i] == NO_ROW || a->alloc_event[i] < state;
        bool done = a->free_completed_event[i] != NO_ROW && a->free_completed_event[i] < state;
        bool asked = a->free_requested_event[i] != NO_ROW && a->free_requested_event[i] < state;
        /* What waits at the end of a device without such events was freed before. */
        bool waits = a->block[i] != NO_ROW && a->free_requested_event[i] == NO_ROW &&
                     r->blocks.state[a->block[i]] == BLOCK_PENDING;
        if (born && !done)
            sum.active += bytes;
        if (born && !done && !asked && !waits)
            sum.allocated += bytes;
    }
    return sum;
}

uint64_t micros_after_first(const struct recording *r, uint32_t device, int64_t event)
{
    if (event < 0 || event >= (int64_t)r->devices.events[device])
        return UNKNOWN_U64;
    uint32_t first = r->devices.first_event[device];
    uint64_t start = r->events.time_us[first], then = r->events.time_us[first + (uint32_t)event];
    if (start == UNKNOWN_U64 || then == UNKNOWN_U64 || then < start)
        return UNKNOWN_U64;
    return then - start;
}
