/* lifetime.c - reads allocations, their events and blocks together. */
#include "analysis/snapshot/curves/lifetime.h"

#include <stdint.h>
#include <string.h>

#include "base/table.h"
#include "model/ids.h"

static stack_id stack_of_event(const struct recording *r, uint32_t event)
{
    return (stack_id){ event == NO_ROW ? 0 : r->events.stack[event] };
}

static int32_t index_of(const struct recording *r, uint32_t device, uint32_t event)
{
    if (event == NO_ROW)
        return (int32_t)r->devices.events[device];
    return (int32_t)(event - r->devices.first_event[device]);
}

static struct lifetime lifetime_of(const struct recording *r, uint32_t device, uint32_t row)
{
    const struct allocations *a = &r->allocations;
    uint32_t alloc = a->alloc_event[row], block = a->block[row];
    uint32_t asked = a->free_requested_event[row], done = a->free_completed_event[row];
    struct lifetime l = {
        .birth = alloc == NO_ROW ? -1 : index_of(r, device, alloc),
        .requested = index_of(r, device, asked),
        .freed = index_of(r, device, done),
        .bytes = known_or_0(a->size[row]),
        .alloc_stack = stack_of_event(r, alloc),
        .free_stack = stack_of_event(r, asked != NO_ROW ? asked : done),
        .origin = alloc != NO_ROW                     ? ORIGIN_TRACED
                  : asked == NO_ROW && done == NO_ROW ? ORIGIN_PRE_LIVE
                                                      : ORIGIN_PRE_FREED,
    };
    if (l.alloc_stack.n == 0 && block != NO_ROW)
        l.alloc_stack.n = r->blocks.stack[block];
    return l;
}

static uint32_t count_older(const struct recording *r, uint32_t first, uint32_t count)
{
    uint32_t older_count = 0;
    for (uint32_t i = 0; i < count; i++)
        older_count += r->allocations.alloc_event[first + i] == NO_ROW;
    return older_count;
}

enum vrs_status lifetimes_make(const struct recording *r, uint32_t device, struct arena *arena,
                               struct lifetimes *ret, struct vrs_error *err)
{
    uint32_t count = r->devices.allocations[device], first = r->devices.first_allocation[device];
    uint32_t events = r->devices.events[device];
    struct lifetimes made = {
        .at = arena_array(arena, struct lifetime, count),
        .older = arena_array(arena, uint32_t, count_older(r, first, count)),
        .freed_at = arena_array(arena, uint32_t, events),
        .count = count,
        .first = first,
    };
    if (made.at == NULL || made.older == NULL || made.freed_at == NULL)
        return vrs_no_memory(err);
    memset(made.freed_at, 0xff, (size_t)events * sizeof *made.freed_at); /* NO_ROW */
    for (uint32_t i = 0; i < count; i++) {
        made.at[i] = lifetime_of(r, device, first + i);
        if (made.at[i].birth < 0)
            made.older[made.older_count++] = i;
        if (made.at[i].freed < (int64_t)events)
            made.freed_at[made.at[i].freed] = i;
    }
    *ret = made;
    return VRS_OK;
}
