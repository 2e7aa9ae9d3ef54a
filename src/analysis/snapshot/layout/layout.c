/* layout.c - the final state as it stands, or segments of a moment with live blocks in them. */
#include "analysis/snapshot/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/replay/block_sizes.h"
#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/replay/start_state.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

/* Where an allocation that is alive lies. */
struct held {
    uint64_t address;
    uint32_t lifetime;
};

static int by_address(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->lifetime > y->lifetime) - (x->lifetime < y->lifetime);
}

static void count_block(struct layout_segment *segment, const struct layout_block *b)
{
    segment->blocks++;
    if (b->state == BLOCK_INACTIVE)
        return;
    segment->active += b->size;
    segment->requested += b->requested;
    if (b->state == BLOCK_PENDING)
        segment->pending += b->size;
}

/* The final state. */

/* Of each final block of the device, the lifetime that survives in it. */
static enum vrs_status survivors_of(const struct study *s, struct arena *arena, uint32_t **ret,
                                    struct vrs_error *err)
{
    const struct devices *d = &s->r->devices;
    uint32_t blocks = d->blocks[s->device], first = d->first_block[s->device];
    uint32_t *survivor = arena_array(arena, uint32_t, blocks);
    if (survivor == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < blocks; i++)
        survivor[i] = NO_ROW;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        uint32_t block = s->r->allocations.block[d->first_allocation[s->device] + i];
        if (block != NO_ROW)
            survivor[block - first] = i;
    }
    *ret = survivor;
    return VRS_OK;
}

static struct layout_segment final_segment(const struct recording *r, uint32_t row)
{
    const struct segments *segments = &r->segments;
    uint64_t size = known_or_0(segments->total_size[row]);
    uint8_t class = segments->size_class[row];
    return (struct layout_segment){
        .address = segments->address[row],
        .size = size,
        .stream = r->streams.handle[segments->stream[row]],
        .pool = pool_number(r, segments->pool[row]),
        .small = class == CLASS_UNKNOWN ? size <= SMALL_SEGMENT_BYTES : class == CLASS_SMALL,
        .expandable = segments->expandable[row] != 0,
    };
}

static struct layout_block final_block(const struct recording *r, uint32_t row, uint32_t lifetime)
{
    bool live = block_live(r, row);
    return (struct layout_block){
        .address = r->blocks.address[row],
        .size = known_or_0(r->blocks.size[row]),
        .requested = live ? block_requested(r, row) : 0,
        .lifetime = live ? lifetime : NO_ROW,
        .state = live ? r->blocks.state[row] : BLOCK_INACTIVE,
    };
}

static enum vrs_status lay_final(const struct study *s, struct arena *arena, struct layout *l,
                                 struct vrs_error *err)
{
    const struct recording *r = s->r;
    uint32_t first_segment = r->devices.first_segment[s->device];
    uint32_t first_block = r->devices.first_block[s->device], *survivor = NULL;
    uint32_t segments = r->devices.segments[s->device], blocks = r->devices.blocks[s->device];
    TRY(survivors_of(s, arena, &survivor, err));
    l->segment = arena_array(arena, struct layout_segment, segments);
    l->block = arena_array(arena, struct layout_block, blocks);
    if (l->segment == NULL || l->block == NULL)
        return vrs_no_memory(err);
    for (; l->segments < segments; l->segments++) {
        uint32_t row = first_segment + l->segments;
        struct layout_segment *segment = &l->segment[l->segments];
        *segment = final_segment(r, row);
        segment->first_block = l->blocks;
        for (uint32_t i = 0; i < r->segments.blocks[row]; i++) {
            uint32_t block = r->segments.first_block[row] + i;
            struct layout_block *b = &l->block[l->blocks++];
            *b = final_block(r, block, survivor[block - first_block]);
            b->segment = l->segments;
            count_block(segment, b);
        }
    }
    l->exact = true;
    return VRS_OK;
}

/* The state at another event. */

/* The address of an allocation: that of its alloc, of its free, or of the block it survives in. */
static uint64_t address_of(const struct recording *r, uint32_t allocation)
{
    const struct allocations *a = &r->allocations;
    uint32_t event = a->alloc_event[allocation];
    if (event == NO_ROW)
        event = a->free_requested_event[allocation];
    if (event != NO_ROW)
        return r->events.address[event];
    return r->blocks.address[a->block[allocation]];
}

static enum vrs_status find_held(const struct study *s, int64_t event, struct arena *arena,
                                 struct held **ret, uint32_t *ret_count, struct vrs_error *err)
{
    uint32_t first = s->r->devices.first_allocation[s->device], count = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        count += lifetime_alive(&s->lifetimes.at[i], event);
    struct held *held = arena_array(arena, struct held, count);
    if (held == NULL)
        return vrs_no_memory(err);
    count = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (lifetime_alive(&s->lifetimes.at[i], event))
            held[count++] = (struct held){ address_of(s->r, first + i), i };
    if (count > 1)
        qsort(held, count, sizeof *held, by_address);
    *ret = held;
    *ret_count = count;
    return VRS_OK;
}

static void put_block(struct layout *l, struct layout_block b)
{
    b.segment = l->segments;
    l->block[l->blocks++] = b;
    count_block(&l->segment[l->segments], &b);
}

static void put_free(struct layout *l, uint64_t from, uint64_t to)
{
    if (to > from)
        put_block(l, (struct layout_block){ .address = from,
                                            .size = to - from,
                                            .lifetime = NO_ROW,
                                            .state = BLOCK_INACTIVE });
}

/* Was its free asked for?  Of memory older than the trace the request may be older, too. */
static bool waits(const struct study *s, uint32_t lifetime, int64_t event)
{
    const struct recording *r = s->r;
    const struct lifetime *life = &s->lifetimes.at[lifetime];
    uint32_t row = r->devices.first_allocation[s->device] + lifetime;
    uint32_t asked = r->allocations.free_requested_event[row], block = r->allocations.block[row];
    if (life->requested <= event || life->birth >= 0)
        return life->requested <= event;
    return asked != NO_ROW ? r->events.action[asked] == ACTION_FREE_COMPLETED
                           : block != NO_ROW && r->blocks.state[block] == BLOCK_PENDING;
}

/* One living block in its segment, with `room` bytes to what is next; where it ends. */
static uint64_t put_held(const struct proven_study *proven, struct layout *l,
                         const struct held *held, uint64_t room)
{
    const struct study *s = proven->study;
    const struct lifetime *life = &s->lifetimes.at[held->lifetime];
    struct block_size block = proven_block(proven, held->lifetime);
    uint64_t size = block.bytes;
    if (block.source == SOURCE_ROUNDED || size > room)
        l->exact = false;
    if (size > room) {
        l->lost_bytes += size - room;
        size = room;
    }
    put_block(l, (struct layout_block){
                     .address = held->address,
                     .size = size,
                     .requested = life->bytes,
                     .lifetime = held->lifetime,
                     .state = waits(s, held->lifetime, l->event) ? BLOCK_PENDING : BLOCK_ALLOCATED,
                 });
    return held->address + size;
}

static void lose(const struct proven_study *proven, struct layout *l, const struct held *held)
{
    l->lost_bytes += proven_block(proven, held->lifetime).bytes;
    l->exact = false;
}

static void lay_range(const struct proven_study *proven, struct layout *l,
                      const struct range *range, const struct held *held, uint32_t count,
                      uint32_t *next)
{
    uint64_t at = range->address, end = range->address + range->size;
    for (; *next < count && held[*next].address < at; ++*next)
        lose(proven, l, &held[*next]);
    for (; *next < count && held[*next].address < end; ++*next) {
        uint64_t limit = end;
        if (*next + 1 < count && held[*next + 1].address < end)
            limit = held[*next + 1].address;
        put_free(l, at, held[*next].address);
        at = put_held(proven, l, &held[*next], limit - held[*next].address);
    }
    put_free(l, at, end);
}

static enum vrs_status lay_event(const struct proven_study *proven, const struct program *p,
                                 const struct ranges *ranges, struct arena *arena, struct layout *l,
                                 struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct held *held = NULL;
    uint32_t count = 0, next = 0;
    TRY(find_held(s, l->event, arena, &held, &count, err));
    l->segment = arena_array(arena, struct layout_segment, ranges->count);
    l->block = arena_array(arena, struct layout_block, (size_t)count * 2 + ranges->count);
    if (l->segment == NULL || l->block == NULL)
        return vrs_no_memory(err);
    for (; l->segments < ranges->count; l->segments++) {
        const struct range *range = &ranges->at[l->segments];
        const struct lane *lane = &p->lanes[range->side / 2];
        l->segment[l->segments] = (struct layout_segment){
            .address = range->address,
            .size = range->size,
            .stream = lane->stream,
            .pool = lane->pool,
            .first_block = l->blocks,
            .small = side_small(range->side),
            .expandable = range->expandable,
        };
        lay_range(proven, l, range, held, count, &next);
    }
    for (; next < count; next++)
        lose(proven, l, &held[next]);
    return VRS_OK;
}

/* Do ranges lie over each other?  A file may say so; no layout then. */
static bool ranges_overlap(const struct ranges *ranges)
{
    for (uint32_t i = 1; i < ranges->count; i++)
        if (ranges->at[i - 1].address + ranges->at[i - 1].size > ranges->at[i].address)
            return true;
    return false;
}

enum vrs_status layout_at(const struct proven_study *proven, int64_t event, struct arena *arena,
                          struct layout *ret, bool *ret_known, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct devices *d = &s->r->devices;
    struct allocator_config config = config_of_recording(s->r);
    bool final = !s->traced || event + 1 >= (int64_t)s->events;
    struct layout l = { .event = event, .page_bytes = config.large_segment_bytes };
    *ret_known = (d->parts[s->device] & (final ? PART_SEGMENTS : PART_ANCHOR)) != 0;
    if (*ret_known && final) {
        TRY(lay_final(s, arena, &l, err));
    } else if (*ret_known) {
        struct program p = {
            .r = s->r, .device = s->device, .first = d->first_event[s->device], .events = s->events
        };
        struct ranges ranges = { NULL, 0 };
        enum replay_refusal refusal = REFUSED_NOT;
        TRY(ranges_at(&p, &config, event, arena, &ranges, &refusal, err));
        *ret_known = refusal == REFUSED_NOT && !ranges_overlap(&ranges);
        l.exact = grade_is_exact(proven->agreement->grade);
        if (*ret_known)
            TRY(lay_event(proven, &p, &ranges, arena, &l, err));
    }
    *ret = l;
    return VRS_OK;
}

uint64_t layout_whole_pages(const struct layout *l, const struct layout_segment *segment,
                            uint64_t from, uint64_t to)
{
    uint64_t page = layout_page(l, segment);
    if (page == 0 || from < segment->address || to < from)
        return 0;
    uint64_t begin = from - segment->address, end = to - segment->address;
    begin = begin / page + (begin % page != 0);
    end = end / page;
    return end > begin ? (end - begin) * page : 0;
}

uint64_t layout_returnable(const struct layout *l, const struct layout_segment *segment)
{
    uint64_t bytes = 0;
    if (segment->pool != 0)
        return 0;
    if (!segment->expandable)
        return segment->active == 0 ? segment->size : 0;
    for (uint32_t i = 0; i < segment->blocks; i++) {
        const struct layout_block *b = &l->block[segment->first_block + i];
        if (b->state == BLOCK_INACTIVE)
            bytes += layout_whole_pages(l, segment, b->address, b->address + b->size);
    }
    return bytes;
}

int layout_by_lane(const void *a, const void *b)
{
    const struct layout_segment *x = *(const struct layout_segment *const *)a;
    const struct layout_segment *y = *(const struct layout_segment *const *)b;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->small != y->small)
        return x->small ? 1 : -1;
    return (x > y) - (x < y);
}
