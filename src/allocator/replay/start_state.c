/* start_state.c - finds what was there before the trace by undoing it, last event first. */
#include "allocator/replay/start_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/machine/rounding.h"
#include "allocator/replay/replay.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/other_events.h"
#include "model/recording.h"

/* Ranges while the trace is undone, in a set by address; range 0 is none. */
struct undoing {
    struct program *p;
    VEC(struct range) ranges;
    struct block_set by_address;
    uint32_t unused; /* linked by side */
    VEC(struct lane) lanes;
    struct arena *arena;
    uint64_t page;           /* of large expandable memory */
    bool inconsistent, full; /* of lanes */
};

static bool add_range(struct undoing *u, struct range range)
{
    uint32_t id = u->unused;
    if (id != 0) {
        u->unused = u->ranges.at[id].side;
    } else {
        if (!vec_reserve(&u->ranges, 1))
            return false;
        id = u->ranges.len++;
    }
    u->ranges.at[id] = range;
    return set_insert(&u->by_address, id, (struct set_key){ 0, range.address });
}

static void remove_range(struct undoing *u, uint32_t id)
{
    set_remove(&u->by_address, id, (struct set_key){ 0, u->ranges.at[id].address });
    u->ranges.at[id].side = u->unused;
    u->unused = id;
}

/* The range that begins at `address`, or 0. */
static uint32_t range_at(struct undoing *u, uint64_t address)
{
    uint32_t id = set_at_least(&u->by_address, (struct set_key){ 0, address });
    return id != 0 && u->ranges.at[id].address == address ? id : 0;
}

/* The lane of a pool and stream, appended where it is new. */
static bool find_lane(struct undoing *u, uint32_t pool, uint64_t stream, uint32_t *ret)
{
    for (*ret = 0; *ret < u->lanes.len; ++*ret)
        if (u->lanes.at[*ret].pool == pool && u->lanes.at[*ret].stream == stream)
            return true;
    u->full = u->lanes.len == LANES_MAX;
    return vec_push(&u->lanes, (struct lane){ pool, stream });
}

static bool note_segment(struct undoing *u, uint32_t row)
{
    const struct segments *s = &u->p->r->segments;
    uint32_t lane;
    if (s->total_size[row] == UNKNOWN_U64 || s->total_size[row] == 0 ||
        s->address[row] >= ADDRESS_END || s->total_size[row] >= ADDRESS_END) {
        u->inconsistent = true;
        return true;
    }
    return find_lane(u, pool_number(u->p->r, s->pool[row]), u->p->r->streams.handle[s->stream[row]],
                     &lane) &&
           add_range(u, (struct range){ s->address[row], s->total_size[row],
                                        lane * 2 + (s->size_class[row] == CLASS_SMALL),
                                        s->expandable[row] != 0 });
}

/* Takes [from, to) out of the expandable ranges. */
static bool cut_out(struct undoing *u, uint64_t from, uint64_t to)
{
    uint32_t id = set_before(&u->by_address, (struct set_key){ 0, from });
    if (id == 0)
        id = set_at_least(&u->by_address, (struct set_key){ 0, from });
    while (id != 0 && u->ranges.at[id].address < to) {
        struct range r = u->ranges.at[id];
        uint32_t next = set_after(&u->by_address, (struct set_key){ 0, r.address });
        uint64_t end = r.address + r.size;
        if (!r.expandable && end > from) {
            u->inconsistent = true; /* pages mapped where a fixed segment lies */
            return true;
        }
        if (end > from) {
            remove_range(u, id);
            if (r.address < from &&
                !add_range(u, (struct range){ r.address, from - r.address, r.side, true }))
                return false;
            if (end > to && !add_range(u, (struct range){ to, end - to, r.side, true }))
                return false;
        }
        id = next;
    }
    return true;
}

/* The side of pages that were returned: that of mapped memory beside them, whose pool counts where
 * the event names none; else by their size. */
static uint32_t side_of_pages(struct undoing *u, uint64_t address, uint64_t bytes, uint32_t lane,
                              bool pool_named)
{
    uint64_t stream = u->lanes.at[lane].stream;
    uint32_t beside[2] = {
        set_before(&u->by_address, (struct set_key){ 0, address }),
        range_at(u, address + bytes),
    };
    for (uint32_t i = 0; i < 2; i++) {
        const struct range *r = &u->ranges.at[beside[i]];
        bool touches = beside[i] != 0 && (i == 1 || r->address + r->size == address);
        if (touches && r->expandable && u->lanes.at[r->side / 2].stream == stream)
            return pool_named ? lane * 2 + (r->side & 1) : r->side;
    }
    return lane * 2 + (bytes % u->page != 0);
}

static bool undo_return(struct undoing *u, uint32_t row)
{
    const struct recording *r = u->p->r;
    const struct events *e = &r->events;
    uint32_t lane, pool = r->contexts.pool[e->context[row]];
    uint64_t address = e->address[row], bytes = e->size[row];
    if (!find_lane(u, pool_number(r, pool), r->streams.handle[e->stream[row]], &lane))
        return false;
    bool unmaps = e->action[row] == ACTION_SEGMENT_UNMAP;
    uint32_t side = unmaps ? side_of_pages(u, address, bytes, lane, pool != 0)
                           : lane * 2 + (bytes == SMALL_SEGMENT_BYTES);
    uint32_t there = range_at(u, address);
    if (there != 0)
        remove_range(u, there);
    return add_range(u, (struct range){ address, bytes, side, unmaps });
}

static bool undo_event(struct undoing *u, uint32_t row)
{
    const struct events *e = &u->p->r->events;
    uint8_t action = e->action[row];
    if (!action_obtains(action) && !action_returns(action))
        return true;
    uint64_t address = e->address[row], bytes = e->size[row];
    if (address >= ADDRESS_END || bytes >= ADDRESS_END || bytes == 0) {
        u->inconsistent = true;
        return true;
    }
    if (action == ACTION_SEGMENT_ALLOC) {
        uint32_t id = range_at(u, address);
        if (id != 0)
            remove_range(u, id);
        return true;
    }
    return action == ACTION_SEGMENT_MAP ? cut_out(u, address, address + bytes)
                                        : undo_return(u, row);
}

static bool undo_to(struct undoing *u, int64_t event)
{
    const struct devices *d = &u->p->r->devices;
    uint32_t device = u->p->device;
    if (!vec_push(&u->ranges, (struct range){ 0 }))
        return false;
    for (uint32_t i = 0; i < u->p->lane_count; i++)
        if (!vec_push(&u->lanes, u->p->lanes[i]))
            return false;
    for (uint32_t i = 0; i < d->segments[device]; i++)
        if (!note_segment(u, d->first_segment[device] + i))
            return false;
    const uint8_t *action = u->p->r->events.action + u->p->first;
    uint32_t begin = (uint32_t)(event + 1);
    uint32_t i = u->p->events;
    while (other_event_before(action, begin, &i))
        if (!undo_event(u, u->p->first + i))
            return false;
    return true;
}

/* Pages of one side that touch are one range: a block may have lain across them. */
static bool extends(const struct range *last, const struct range *range)
{
    return last->expandable && range->expandable && last->side == range->side &&
           last->address + last->size == range->address;
}

/* The ranges in order, and the lanes that segments added to the program's. */
static bool keep_ranges(struct undoing *u, struct ranges *ret)
{
    struct ranges kept = { arena_array(u->arena, struct range, u->ranges.len), 0 };
    struct lane *lanes = arena_array(u->arena, struct lane, u->lanes.len);
    if (kept.at == NULL || lanes == NULL)
        return false;
    struct set_walk walk = set_walk_begin(&u->by_address);
    for (uint32_t id = set_walk_next(&walk); id != 0; id = set_walk_next(&walk)) {
        const struct range *range = &u->ranges.at[id];
        if (kept.count > 0 && extends(&kept.at[kept.count - 1], range))
            kept.at[kept.count - 1].size += range->size;
        else
            kept.at[kept.count++] = *range;
    }
    if (u->lanes.len > 0)
        memcpy(lanes, u->lanes.at, u->lanes.len * sizeof *lanes);
    u->p->lanes = lanes;
    u->p->lane_count = u->lanes.len;
    *ret = kept;
    return true;
}

enum vrs_status ranges_at(struct program *p, const struct allocator_config *config, int64_t event,
                          struct arena *arena, struct ranges *ret, enum replay_refusal *ret_refusal,
                          struct vrs_error *err)
{
    struct undoing u = { .p = p,
                         .arena = arena,
                         .page = config->large_segment_bytes,
                         .ranges.max = UINT32_MAX / 2,
                         .lanes.max = LANES_MAX };
    bool done = undo_to(&u, event);
    /* More was obtained than the segments hold: they are of another recording. */
    u.inconsistent = u.inconsistent || (int64_t)program_reserved_start(p) < 0;
    done = done && keep_ranges(&u, ret);
    vec_free(&u.ranges);
    set_free(&u.by_address);
    vec_free(&u.lanes);
    *ret_refusal = u.full ? REFUSED_LANES : u.inconsistent ? REFUSED_INCONSISTENT : REFUSED_NOT;
    return done || *ret_refusal != REFUSED_NOT ? VRS_OK : vrs_no_memory(err);
}

/* Pages mapped later below all of a side's ranges show that its reservation begins there, unless
 * they are so far away that they must be another's. */
static bool find_bases(struct start_state *s, const struct allocator_config *config,
                       struct arena *arena)
{
    const uint64_t far = (uint64_t)1 << 40;
    const struct program *p = s->program;
    const struct events *e = &p->r->events;
    uint64_t lowest = UINT64_MAX;
    s->base = arena_array(arena, uint64_t, (size_t)p->lane_count * 2);
    if (s->base == NULL)
        return false;
    for (uint32_t i = s->ranges; i-- > 0;)
        if (s->range[i].expandable)
            s->base[s->range[i].side] = s->range[i].address;
    for (uint32_t i = 0; i < p->events; i++) {
        /* Before pages are mapped no request is of interest. */
        if (lowest == UINT64_MAX && !other_event_next(e->action + p->first, &i, p->events))
            break;
        uint32_t row = p->first + i;
        uint8_t action = e->action[row];
        if (action == ACTION_SEGMENT_MAP && e->address[row] < lowest)
            lowest = e->address[row];
        if (lowest == UINT64_MAX || (action != ACTION_ALLOC && action != ACTION_OOM))
            continue;
        uint64_t rounded = rounding_apply(&config->rounding, known_or_0(e->size[row]));
        uint64_t *base = &s->base[lane_side(p->lane[i], rounded)];
        if (lowest < *base && *base - lowest < far)
            *base = lowest;
        lowest = UINT64_MAX;
    }
    return true;
}

/* The size of a block of which only the request is known, with `room` bytes to what is next. */
static uint64_t infer_size(const struct range *range, const struct allocator_config *config,
                           uint64_t request, uint64_t room)
{
    uint64_t rounded = rounding_apply(&config->rounding, request);
    if (rounded > room)
        return room;
    bool splits_small = range->expandable || side_small(range->side);
    bool whole = room - rounded <= SMALL_BLOCK_MAX || rounded >= config->max_split_bytes;
    return !splits_small && whole ? room : rounded;
}

/* Sizes of the start blocks inside one range; false where a known one does not fit. */
static bool size_range(struct start_state *s, const struct range *range,
                       const struct allocator_config *config)
{
    const struct program *p = s->program;
    uint64_t end = range->address + range->size;
    for (uint32_t i = program_start_from(p, range->address);
         i < p->starts && p->start[i].address < end; i++) {
        bool last = i + 1 == p->starts || p->start[i + 1].address >= end;
        uint64_t room = (last ? end : p->start[i + 1].address) - p->start[i].address;
        s->size[i] = p->start[i].size;
        s->inferred[i] = s->size[i] == UNKNOWN_U64;
        s->inferences += s->inferred[i];
        if (s->inferred[i])
            s->size[i] = infer_size(range, config, p->start[i].requested, room);
        s->ambiguous[i] =
            s->inferred[i] && s->size[i] != room && !range->expandable && !side_small(range->side);
        if (s->size[i] == 0 || s->size[i] > room)
            return false;
    }
    return true;
}

enum vrs_status start_state_make(struct program *p, const struct allocator_config *config,
                                 struct arena *arena, struct start_state *ret,
                                 enum replay_refusal *ret_refusal, struct vrs_error *err)
{
    struct start_state s = { .program = p };
    struct ranges ranges = { NULL, 0 };
    TRY(ranges_at(p, config, -1, arena, &ranges, ret_refusal, err));
    if (*ret_refusal != REFUSED_NOT)
        return VRS_OK;
    s.range = ranges.at;
    s.ranges = ranges.count;
    s.size = arena_array(arena, uint64_t, p->starts);
    s.inferred = arena_array(arena, bool, p->starts);
    s.ambiguous = arena_array(arena, bool, p->starts);
    if (s.size == NULL || s.inferred == NULL || s.ambiguous == NULL ||
        !find_bases(&s, config, arena))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s.ranges; i++) {
        bool overlaps = i > 0 && s.range[i - 1].address + s.range[i - 1].size > s.range[i].address;
        if (overlaps || !size_range(&s, &s.range[i], config))
            *ret_refusal = REFUSED_INCONSISTENT;
    }
    *ret = s;
    return VRS_OK;
}
