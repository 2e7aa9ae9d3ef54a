/* memory_group.c - finds the pool, the stream and the class of memory, as far as the file tells. */
#include "analysis/snapshot/curves/memory_group.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/replay/program.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

const char *const memory_class_names[2] = { "large", "small" };

/* Mapped at once, or all of a final expandable segment. */
struct mapped_range {
    uint64_t address, size;
    uint32_t pool, stream;
    uint32_t order;
    bool small;
};

static uint64_t group_hash(const struct memory_group *group)
{
    return hash_pair(group->pool, (uint64_t)group->stream * 2 + group->small);
}

static bool same_group(const struct memory_group *a, const struct memory_group *b)
{
    return a->pool == b->pool && a->stream == b->stream && a->small == b->small;
}

uint32_t memory_group_of(struct memory_groups *g, uint32_t pool, uint32_t stream, bool small)
{
    struct memory_group want = { pool_number(g->r, pool), stream, small };
    uint32_t *last = &g->last[small];
    if (*last != 0 && same_group(&g->at.at[*last], &want))
        return *last;
    if (!idtab_reserve(&g->index) || !vec_reserve(&g->at, 1))
        return 0;
    uint64_t hash = group_hash(&want);
    uint32_t at = idtab_first(&g->index, hash);
    while (g->index.slot[at].id != 0 && !same_group(&g->at.at[g->index.slot[at].id], &want))
        at = idtab_next(&g->index, hash, at);
    *last = g->index.slot[at].id;
    if (*last == 0) {
        *last = g->at.len++;
        g->at.at[*last] = want;
        idtab_put(&g->index, hash, *last);
    }
    return *last;
}

/* The final segment's class; where it names none, by its size. */
static bool segment_is_small(const struct recording *r, uint32_t segment)
{
    if (r->segments.size_class[segment] != CLASS_UNKNOWN)
        return r->segments.size_class[segment] == CLASS_SMALL;
    return known_or_0(r->segments.total_size[segment]) <= SMALL_SEGMENT_BYTES;
}

uint32_t memory_group_of_segment(struct memory_groups *g, uint32_t segment)
{
    return memory_group_of(g, g->r->segments.pool[segment], g->r->segments.stream[segment],
                           segment_is_small(g->r, segment));
}

uint32_t memory_group_of_allocation(struct memory_groups *g, uint32_t allocation,
                                    uint64_t block_bytes)
{
    const struct recording *r = g->r;
    uint32_t block = r->allocations.block[allocation], pool = 0;
    if (g->private_pools)
        pool = allocation_pool(r, &g->segment, allocation).n;
    bool small = block == NO_ROW ? block_bytes <= SMALL_BLOCK_MAX
                                 : segment_is_small(r, r->blocks.segment[block]);
    return memory_group_of(g, pool, allocation_stream(r, allocation), small);
}

/* The range that begins last at or below an address and reaches it. */
static const struct mapped_range *range_at(const struct memory_groups *g, uint64_t address)
{
    uint32_t at;
    SORTED_FIND(at, g->ranges, g->mapped[at].address <= address);
    const struct mapped_range *range = at == 0 ? NULL : &g->mapped[at - 1];
    return range != NULL && address - range->address < range->size ? range : NULL;
}

/* Pages may be returned in other runs than they were mapped in, so the class of unmapped memory is
 * that of what was mapped there, or beside it. */
static const struct mapped_range *range_of_event(const struct memory_groups *g, uint32_t event)
{
    uint64_t address = g->r->events.address[event], size = known_or_0(g->r->events.size[event]);
    const struct mapped_range *range = range_at(g, address);
    if (range == NULL && size <= UINT64_MAX - address)
        range = range_at(g, address + size);
    if (range == NULL && address != 0)
        range = range_at(g, address - 1);
    return range != NULL && range->stream == g->r->events.stream[event] ? range : NULL;
}

uint32_t memory_group_of_event(struct memory_groups *g, uint32_t event)
{
    const struct recording *r = g->r;
    uint32_t stream = r->events.stream[event], pool = r->contexts.pool[r->events.context[event]];
    uint8_t action = r->events.action[event];
    uint64_t size = r->events.size[event], address = r->events.address[event];
    const struct mapped_range *range = NULL;
    if ((action == ACTION_SEGMENT_UNMAP || action == ACTION_SEGMENT_MAP) && address != UNKNOWN_U64)
        range = range_of_event(g, event);
    if (pool == 0 && range != NULL)
        pool = range->pool;
    if (pool == 0 && g->private_pools && address != UNKNOWN_U64) {
        uint32_t segment = segment_index_at(r, &g->segment, address);
        pool = segment == NO_ROW ? 0 : r->segments.pool[segment];
    }
    return memory_group_of(g, pool, stream,
                           range != NULL ? range->small : size == SMALL_SEGMENT_BYTES);
}

static int by_address(const void *a, const void *b)
{
    const struct mapped_range *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* A final segment says what it is; a mapping, which its pages' size shows, only stands behind it.
 */
static enum vrs_status collect_mapped(struct memory_groups *g, uint32_t device, struct arena *arena,
                                      struct vrs_error *err)
{
    const struct recording *r = g->r;
    const struct devices *d = &r->devices;
    uint32_t maps = 0, segments = 0, end = d->first_segment[device] + d->segments[device];
    for (uint32_t i = 0; i < d->events[device]; i++)
        maps += r->events.action[d->first_event[device] + i] == ACTION_SEGMENT_MAP;
    for (uint32_t i = d->first_segment[device]; i < end; i++)
        segments += r->segments.expandable[i];
    g->mapped = arena_array(arena, struct mapped_range, (size_t)maps + segments);
    if (g->mapped == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; maps > 0 && i < d->events[device]; i++) {
        uint32_t row = d->first_event[device] + i;
        if (r->events.action[row] == ACTION_SEGMENT_MAP && r->events.address[row] != UNKNOWN_U64)
            g->mapped[g->ranges++] = (struct mapped_range){
                .address = r->events.address[row],
                .size = known_or_0(r->events.size[row]),
                .pool = r->contexts.pool[r->events.context[row]],
                .stream = r->events.stream[row],
                .order = g->ranges,
                .small = r->events.size[row] == SMALL_SEGMENT_BYTES,
            };
    }
    for (uint32_t i = d->first_segment[device]; segments > 0 && i < end; i++)
        if (r->segments.expandable[i])
            g->mapped[g->ranges++] = (struct mapped_range){
                .address = r->segments.address[i],
                .size = r->segments.total_size[i],
                .pool = r->segments.pool[i],
                .stream = r->segments.stream[i],
                .order = g->ranges,
                .small = segment_is_small(r, i),
            };
    if (g->ranges > 1)
        qsort(g->mapped, g->ranges, sizeof *g->mapped, by_address);
    return VRS_OK;
}

enum vrs_status memory_groups_begin(const struct recording *r, uint32_t device, struct arena *arena,
                                    struct memory_groups *ret, struct vrs_error *err)
{
    *ret = (struct memory_groups){ .r = r, .at = { .max = INT32_MAX } };
    for (uint32_t i = 0; i < r->pools.rows.len; i++)
        ret->private_pools |= pool_number(r, i) != 0;
    TRY(segment_index_make(r, device, arena, &ret->segment, err));
    TRY(collect_mapped(ret, device, arena, err));
    return vec_push(&ret->at, (struct memory_group){ 0 }) ? VRS_OK : vrs_no_memory(err);
}

void memory_groups_end(struct memory_groups *g)
{
    vec_free(&g->at);
    idtab_free(&g->index);
}

void memory_group_pool_name(const struct recording *r, uint32_t pool, char to[POOL_NAME_MOST])
{
    unsigned long long first = r->pools.first[pool], second = r->pools.second[pool];
    if (pool == 0)
        snprintf(to, POOL_NAME_MOST, "unknown");
    else if (first == 0 && second == 0)
        snprintf(to, POOL_NAME_MOST, "default");
    else if (second == 0)
        snprintf(to, POOL_NAME_MOST, "graph %llu", first);
    else if (first == 0)
        snprintf(to, POOL_NAME_MOST, "pool %llu", second);
    else
        snprintf(to, POOL_NAME_MOST, "pool %llu, %llu", first, second);
}
