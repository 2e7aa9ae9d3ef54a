/* lifetime.c - reads allocations, their events and blocks together. */
#include "analysis/lifetime.h"

#include "allocator/recorded.h"

static stack_id stack_of_event(const struct recording *r, uint32_t event)
{
    return (stack_id){ event == NO_ROW ? 0 : r->events.stack[event] };
}

static int64_t index_of(const struct recording *r, uint32_t device, uint32_t event)
{
    if (event == NO_ROW)
        return r->devices.events[device];
    return (int64_t)event - r->devices.first_event[device];
}

static void size_block(const struct recording *r, const struct rounding *rounding, uint32_t row,
                       struct lifetime *l)
{
    uint32_t block = r->allocations.block[row];
    if (r->block_sizes.rows.len == r->allocations.rows.len) {
        l->block_bytes = known_or_0(r->block_sizes.bytes[row]);
        l->source = (enum block_source)r->block_sizes.source[row];
    } else if (block != NO_ROW && r->blocks.size[block] != UNKNOWN_U64) {
        l->block_bytes = r->blocks.size[block];
        l->source = SOURCE_BLOCK;
    } else {
        l->block_bytes = rounding_apply(rounding, l->bytes);
        l->source = SOURCE_ROUNDED;
    }
}

static struct lifetime lifetime_of(const struct recording *r, const struct rounding *rounding,
                                   uint32_t device, uint32_t row)
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
    size_block(r, rounding, row, &l);
    return l;
}

enum vrs_status lifetimes_make(const struct recording *r, uint32_t device, struct arena *arena,
                               struct lifetimes *ret, struct vrs_error *err)
{
    uint32_t count = r->devices.allocations[device], first = r->devices.first_allocation[device];
    struct lifetimes made = { arena_array(arena, struct lifetime, count), count };
    if (made.at == NULL)
        return vrs_no_memory(err);
    struct rounding rounding = rounding_of(r);
    for (uint32_t i = 0; i < count; i++)
        made.at[i] = lifetime_of(r, &rounding, device, first + i);
    *ret = made;
    return VRS_OK;
}

uint32_t *lifetimes_freed_at(const struct lifetimes *l, uint32_t events, struct arena *arena)
{
    uint32_t *freed = arena_array(arena, uint32_t, events);
    for (uint32_t i = 0; freed != NULL && i < events; i++)
        freed[i] = NO_ROW;
    for (uint32_t i = 0; freed != NULL && i < l->count; i++)
        if (l->at[i].freed >= 0 && l->at[i].freed < (int64_t)events)
            freed[l->at[i].freed] = i;
    return freed;
}
