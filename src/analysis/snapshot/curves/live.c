/* live.c - the live set and where its members lie. */
#include "analysis/snapshot/curves/live.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"

/* The event that says most about an allocation: its alloc, else the free that showed it. */
static uint32_t witness(const struct recording *r, uint32_t allocation)
{
    uint32_t event = r->allocations.alloc_event[allocation];
    return event != NO_ROW ? event : r->allocations.free_requested_event[allocation];
}

static stack_id stack_of(const struct recording *r, uint32_t allocation)
{
    uint32_t event = r->allocations.alloc_event[allocation];
    uint32_t block = r->allocations.block[allocation];
    stack_id stack = { event == NO_ROW ? 0 : r->events.stack[event] };
    if (stack.n == 0 && block != NO_ROW)
        stack.n = r->blocks.stack[block];
    return stack;
}

enum vrs_status live_at(const struct recording *r, uint32_t device, int64_t at_event,
                        struct arena *arena, struct live_set *ret, struct vrs_error *err)
{
    const struct allocations *a = &r->allocations;
    int64_t first = r->devices.first_event[device];
    struct live_set set = { .len = 0 };
    for (int pass = 0; pass < 2; pass++) {
        uint32_t len = 0;
        for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
            uint32_t row = r->devices.first_allocation[device] + i;
            int64_t born = a->alloc_event[row] == NO_ROW ? -1 : a->alloc_event[row] - first;
            uint32_t freed = a->free_completed_event[row];
            if (born > at_event || (freed != NO_ROW && freed - first <= at_event))
                continue;
            if (pass == 1) {
                uint64_t bytes = known_or_0(a->size[row]);
                set.at[len] = (struct live){ row, 0, born, bytes, stack_of(r, row) };
                set.bytes += bytes;
            }
            len++;
        }
        if (pass == 0 && (set.at = arena_array(arena, struct live, len)) == NULL)
            return vrs_no_memory(err);
        set.len = len;
    }
    *ret = set;
    return VRS_OK;
}

bool live_lacks_stacks(const struct recording *r, uint32_t device)
{
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++)
        if (stack_of(r, r->devices.first_allocation[device] + i).n == 0)
            return true;
    return false;
}

uint64_t old_bytes(const struct recording *r, uint32_t device, int64_t event, uint64_t *ret_unknown)
{
    const struct allocations *a = &r->allocations;
    uint64_t bytes = 0, unknown = 0;
    uint32_t first = r->devices.first_allocation[device];
    uint64_t state = (uint64_t)((int64_t)r->devices.first_event[device] + event + 1);
    for (uint32_t i = first; i < first + r->devices.allocations[device]; i++) {
        bool alive = a->free_completed_event[i] == NO_ROW || a->free_completed_event[i] >= state;
        uint64_t size = a->alloc_event[i] == NO_ROW && alive ? known_or_0(a->size[i]) : 0;
        bytes += size;
        unknown += stack_of(r, i).n == 0 ? size : 0;
    }
    *ret_unknown = unknown;
    return bytes;
}

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

uint32_t allocation_stream(const struct recording *r, uint32_t allocation)
{
    uint32_t event = witness(r, allocation);
    if (event != NO_ROW)
        return r->events.stream[event];
    return r->segments.stream[r->blocks.segment[r->allocations.block[allocation]]];
}

struct place {
    uint64_t address;
    uint32_t row;
};

static int by_address(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

enum vrs_status segment_index_make(const struct recording *r, uint32_t device, struct arena *arena,
                                   struct segment_index *ret, struct vrs_error *err)
{
    uint32_t len = r->devices.segments[device], first = r->devices.first_segment[device];
    struct segment_index index = { arena_array(arena, uint32_t, len), len };
    struct place *place = arena_array(arena, struct place, len);
    if (index.row == NULL || place == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < len; i++)
        place[i] = (struct place){ r->segments.address[first + i], first + i };
    if (len > 1)
        qsort(place, len, sizeof *place, by_address);
    for (uint32_t i = 0; i < len; i++)
        index.row[i] = place[i].row;
    *ret = index;
    return VRS_OK;
}

uint32_t segment_index_at(const struct recording *r, const struct segment_index *index,
                          uint64_t address)
{
    uint32_t at;
    SORTED_FIND(at, index->len, r->segments.address[index->row[at]] <= address);
    if (at == 0)
        return NO_ROW;
    uint32_t row = index->row[at - 1];
    return address - r->segments.address[row] < r->segments.total_size[row] ? row : NO_ROW;
}

pool_id allocation_pool(const struct recording *r, const struct segment_index *index,
                        uint32_t allocation)
{
    uint32_t event = witness(r, allocation), block = r->allocations.block[allocation];
    uint32_t segment = block == NO_ROW ? NO_ROW : r->blocks.segment[block];
    if (event != NO_ROW) {
        uint32_t pool = r->contexts.pool[r->events.context[event]];
        if (pool != 0)
            return (pool_id){ pool };
        if (segment == NO_ROW && r->events.address[event] != UNKNOWN_U64)
            segment = segment_index_at(r, index, r->events.address[event]);
    }
    return (pool_id){ segment == NO_ROW ? 0 : r->segments.pool[segment] };
}
