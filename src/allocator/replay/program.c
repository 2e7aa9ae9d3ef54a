/* program.c - turns events into operations on slots (alloc, free, release), each in its lane. */
#include "allocator/replay/program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/replay/recorded.h"
#include "allocator/replay/release_runs.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/sorted.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/other_events.h"

uint32_t pool_number(const struct recording *r, uint32_t pool_row)
{
    bool is_default = r->pools.first[pool_row] == 0 && r->pools.second[pool_row] == 0;
    return pool_row == 0 || is_default ? 0 : pool_row;
}

/* What making a program works with. */
struct make_context {
    const struct recording *r;
    struct program *p;
    struct arena *arena;
    struct arena scratch;
    VEC(uint64_t) held;   /* of each slot: the recorded address; slots out of use hold none */
    VEC(uint32_t) unused; /* slots */
    struct idtab index;   /* address to slot plus 1 */
    VEC(struct lane) lanes;
    uint32_t last_pool, last_lane; /* most events have the lane of the one before */
    uint64_t last_stream;
    bool *ended;        /* of each start block: its free was seen */
    bool private_pools; /* of final segments */
    bool later_lives;
    bool unusual; /* pairing does not tell the slots: addresses have to */
    enum replay_refusal refusal;
};

/* Memory older than the trace. */

static bool is_free(uint8_t action)
{
    return action == ACTION_FREE_COMPLETED || action == ACTION_FREE;
}

/* The start block that an allocation is, if its beginning was not recorded. */
static bool start_block_of(const struct recording *r, uint32_t row, struct start_block *ret)
{
    const struct allocations *a = &r->allocations;
    uint32_t asked = a->free_requested_event[row], done = a->free_completed_event[row];
    uint32_t block = a->block[row];
    bool ended = done != NO_ROW && is_free(r->events.action[done]);
    if (a->alloc_event[row] != NO_ROW || (!ended && block == NO_ROW))
        return false;
    *ret = (struct start_block){ .requested = known_or_0(a->size[row]), .size = UNKNOWN_U64 };
    if (ended) {
        ret->address = r->events.address[done];
        ret->waiting = asked == done && r->events.action[done] == ACTION_FREE_COMPLETED;
        return true;
    }
    ret->address = r->blocks.address[block];
    ret->size = r->blocks.size[block];
    ret->requested = block_requested(r, block);
    ret->stack = r->blocks.stack[block];
    ret->waiting = r->blocks.state[block] == BLOCK_PENDING && asked == NO_ROW;
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct start_block *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* At most so many of a device's allocations are start blocks: few of very many. */
static uint32_t most_start_blocks(const struct recording *r, uint32_t first, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most += r->allocations.alloc_event[first + i] == NO_ROW;
    return most;
}

/* Of several at one address the first in the trace counts. */
static enum vrs_status find_start_blocks(struct make_context *k, struct vrs_error *err)
{
    const struct recording *r = k->r;
    struct program *p = k->p;
    uint32_t first = r->devices.first_allocation[p->device];
    uint32_t count = r->devices.allocations[p->device];
    p->start = arena_array(k->arena, struct start_block, most_start_blocks(r, first, count));
    if (p->start == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        struct start_block *s = &p->start[p->starts];
        if (!start_block_of(r, first + i, s) || s->address == UNKNOWN_U64)
            continue;
        s->order = i;
        p->starts++;
    }
    qsort(p->start, p->starts, sizeof *p->start, by_address);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->starts; i++)
        if (kept == 0 || p->start[kept - 1].address != p->start[i].address)
            p->start[kept++] = p->start[i];
    k->unusual = kept < p->starts;
    p->starts = kept;
    return VRS_OK;
}

/* Slots. */

/* The place of an address in the index, or where it would be. */
static uint32_t slot_place(const struct make_context *k, uint64_t address)
{
    uint64_t hash = hash_u64(address);
    uint32_t at = idtab_first(&k->index, hash);
    while (k->index.slot[at].id != 0 && k->held.at[k->index.slot[at].id - 1] != address)
        at = idtab_next(&k->index, hash, at);
    return at;
}

static bool hold(struct make_context *k, uint64_t address, uint32_t *ret)
{
    if (!idtab_reserve(&k->index))
        return false;
    uint32_t at = slot_place(k, address);
    if (k->index.slot[at].id != 0) {
        *ret = k->index.slot[at].id - 1;
        return true;
    }
    if (k->unused.len > 0)
        *ret = k->unused.at[--k->unused.len];
    else if (vec_push(&k->held, UNKNOWN_U64))
        *ret = k->held.len - 1;
    else
        return false;
    k->held.at[*ret] = address;
    idtab_put(&k->index, hash_u64(address), *ret + 1);
    return true;
}

static bool let_go(struct make_context *k, uint64_t address, bool completed, uint32_t *ret)
{
    uint32_t at = slot_place(k, address);
    *ret = k->index.slot[at].id == 0 ? NO_ROW : k->index.slot[at].id - 1;
    if (*ret == NO_ROW || !completed)
        return true;
    if (*ret < k->p->starts)
        k->ended[*ret] = true;
    idtab_remove(&k->index, at);
    return vec_push(&k->unused, *ret);
}

/* What was allocated in the trace at an address is no memory older than the trace, though its free
 * or its block has no alloc of its own: an event between is missing. */
static void note_later_life(struct make_context *k, uint32_t slot)
{
    if (slot < k->p->starts && !k->ended[slot])
        k->p->start[slot].later = k->later_lives = true;
}

/* Lanes. */

static bool lane_of(struct make_context *k, uint32_t pool, uint64_t stream, uint16_t *ret)
{
    if (k->lanes.len == 0 || pool != k->last_pool || stream != k->last_stream) {
        uint32_t lane = 0;
        while (lane < k->lanes.len &&
               (k->lanes.at[lane].pool != pool || k->lanes.at[lane].stream != stream))
            lane++;
        if (lane == LANES_MAX) {
            k->refusal = REFUSED_LANES;
            lane = 0;
        } else if (lane == k->lanes.len && !vec_push(&k->lanes, (struct lane){ pool, stream })) {
            return false;
        }
        k->last_lane = lane;
        k->last_pool = pool;
        k->last_stream = stream;
    }
    *ret = (uint16_t)k->last_lane;
    return true;
}

/* The segment of the final state that holds an address, or NO_ROW. */
static uint32_t segment_at(const struct make_context *k, uint64_t address)
{
    const struct segments *s = &k->r->segments;
    uint32_t first = k->r->devices.first_segment[k->p->device];
    uint32_t count = k->r->devices.segments[k->p->device];
    if (count == 0)
        return NO_ROW;
    uint32_t above = sorted_at_least(s->address + first, count, address + 1);
    if (above == 0)
        return NO_ROW;
    uint32_t row = first + above - 1;
    return address - s->address[row] < known_or_0(s->total_size[row]) ? row : NO_ROW;
}

/* The pool that an event names, or that of the segment its memory lies in at the end. */
static uint32_t pool_of_event(const struct make_context *k, uint32_t row)
{
    const struct events *e = &k->r->events;
    uint32_t pool = k->r->contexts.pool[e->context[row]];
    if (pool != 0 || !k->private_pools || e->action[row] == ACTION_OOM)
        return pool_number(k->r, pool);
    uint32_t segment = segment_at(k, e->address[row]);
    return segment == NO_ROW ? 0 : pool_number(k->r, k->r->segments.pool[segment]);
}

/* Notes the lane of an event. */
static bool take_lane(struct make_context *k, uint32_t i)
{
    const struct events *e = &k->r->events;
    uint32_t row = k->p->first + i;
    bool allocs = e->action[row] == ACTION_ALLOC;
    if (allocs && (e->address[row] == UNKNOWN_U64 || e->size[row] == UNKNOWN_U64))
        k->refusal = REFUSED_INCONSISTENT;
    if (!allocs && e->action[row] != ACTION_OOM)
        return true;
    return lane_of(k, pool_of_event(k, row), k->r->streams.handle[e->stream[row]], &k->p->lane[i]);
}

static bool take_event(struct make_context *k, uint32_t i)
{
    const struct events *e = &k->r->events;
    uint32_t row = k->p->first + i;
    uint8_t action = e->action[row];
    uint64_t address = e->address[row];
    k->p->slot[i] = NO_ROW;
    if (!take_lane(k, i))
        return false;
    if (address == UNKNOWN_U64)
        return true;
    if (action == ACTION_ALLOC) {
        bool held = hold(k, address, &k->p->slot[i]);
        if (held)
            note_later_life(k, k->p->slot[i]);
        return held;
    }
    if (is_free(action) || action == ACTION_FREE_REQUESTED)
        return let_go(k, address, action != ACTION_FREE_REQUESTED, &k->p->slot[i]);
    return true;
}

static void drop_later_lives(struct program *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->starts; i++)
        if (!p->start[i].later)
            p->start[kept++] = p->start[i];
    p->starts = kept;
}

/* All start blocks are held, in their order. */
static bool begin_events(struct make_context *k)
{
    uint32_t slot;
    idtab_free(&k->index);
    k->held.len = k->unused.len = k->lanes.len = 0;
    k->later_lives = false;
    k->ended = arena_array(&k->scratch, bool, k->p->starts);
    if (k->ended == NULL)
        return false;
    if (!idtab_reserve(&k->index))
        return false;
    for (uint32_t i = 0; i < k->p->starts; i++)
        if (!hold(k, k->p->start[i].address, &slot))
            return false;
    return true;
}

static bool take_events(struct make_context *k)
{
    if (!begin_events(k))
        return false;
    for (uint32_t i = 0; i < k->p->events; i++)
        if (!take_event(k, i))
            return false;
    k->p->slots = k->held.len;
    return true;
}

/* Slots as pairing tells them.  Where each free is that of one alloc or start block, and each
 * address is free when it is handed out, no address but those of start blocks need be looked up. */

#define OF_START ((uint32_t)1 << 31) /* a trace has fewer events than that */

/* Lets each free name its alloc, as an event, or its start block. */
static void name_frees(struct make_context *k)
{
    const struct allocations *a = &k->r->allocations;
    struct program *p = k->p;
    uint32_t begin = k->r->devices.first_allocation[p->device];
    k->unusual |= k->r->devices.double_allocs[p->device] > 0;
    memset(p->slot, 0xff, (size_t)p->events * sizeof *p->slot); /* NO_ROW */
    for (uint32_t i = begin; i < begin + k->r->devices.allocations[p->device]; i++) {
        uint32_t asked = a->free_requested_event[i], done = a->free_completed_event[i];
        uint32_t of = a->alloc_event[i] - p->first;
        if (a->alloc_event[i] == NO_ROW) {
            if (done == NO_ROW || !is_free(k->r->events.action[done]))
                continue;
            of = OF_START | program_start_from(p, k->r->events.address[done]);
        }
        if (asked != NO_ROW)
            p->slot[asked - p->first] = of;
        if (done != NO_ROW)
            p->slot[done - p->first] = of;
    }
}

/* As take_event, of an event that name_frees has seen. */
static bool take_paired(struct make_context *k, uint32_t i)
{
    const struct events *e = &k->r->events;
    uint32_t row = k->p->first + i, *slot = &k->p->slot[i];
    uint8_t action = e->action[row];
    if (!take_lane(k, i))
        return false;
    if (action == ACTION_ALLOC) {
        k->unusual |= k->index.slot[slot_place(k, e->address[row])].id != 0;
        *slot = k->unused.len > 0 ? k->unused.at[--k->unused.len] : k->p->slots++;
        return true;
    }
    bool completes = is_free(action);
    if (!completes && action != ACTION_FREE_REQUESTED)
        return true;
    if (*slot == NO_ROW) {
        k->unusual |= e->address[row] != UNKNOWN_U64;
        return true;
    }
    bool start = (*slot & OF_START) != 0;
    *slot = start ? *slot & ~OF_START : k->p->slot[*slot];
    if (start && completes)
        idtab_remove(&k->index, slot_place(k, e->address[row]));
    return !completes || vec_push(&k->unused, *slot);
}

/* False where memory ran out; what was taken counts for nothing where all is `unusual`. */
static bool take_pairs(struct make_context *k)
{
    if (k->unusual)
        return true;
    if (!begin_events(k))
        return false;
    k->p->slots = k->p->starts;
    name_frees(k);
    for (uint32_t i = 0; i < k->p->events && !k->unusual; i++)
        if (!take_paired(k, i))
            return false;
    return true;
}

/* Can this device be replayed at all? */
static enum replay_refusal refusal_of(const struct recording *r, uint32_t device)
{
    if (r->devices.kind[device] == DEVICE_HOST)
        return REFUSED_HOST;
    if ((r->devices.parts[device] & PART_ANCHOR) == 0)
        return REFUSED_CUT;
    if (recorded_by_another(r))
        return REFUSED_BACKEND;
    return r->devices.events[device] == 0 ? REFUSED_NO_EVENTS : REFUSED_NOT;
}

/* Files list segments by address, which finding the one of an event relies on; others are edited.
 */
static bool segments_ascend(const struct recording *r, uint32_t device)
{
    const uint64_t *address = r->segments.address;
    uint32_t first = r->devices.first_segment[device];
    for (uint32_t i = first; i < first + r->devices.segments[device]; i++)
        if (address[i] == UNKNOWN_U64 || (i > first && address[i] < address[i - 1]))
            return false;
    return true;
}

static bool has_private_pools(const struct recording *r, uint32_t device)
{
    uint32_t first = r->devices.first_segment[device];
    for (uint32_t i = first; i < first + r->devices.segments[device]; i++)
        if (pool_number(r, r->segments.pool[i]) != 0)
            return true;
    return false;
}

static enum vrs_status make(struct make_context *k, struct vrs_error *err)
{
    struct program *p = k->p;
    p->slot = arena_array(k->arena, uint32_t, p->events);
    p->lane = arena_array(k->arena, uint16_t, p->events);
    if (p->slot == NULL || p->lane == NULL)
        return vrs_no_memory(err);
    k->private_pools = has_private_pools(k->r, p->device);
    if (!segments_ascend(k->r, p->device))
        k->refusal = REFUSED_INCONSISTENT;
    TRY(find_start_blocks(k, err));
    bool taken = take_pairs(k);
    if (taken && k->unusual)
        taken = take_events(k);
    if (taken && k->later_lives) {
        drop_later_lives(p);
        taken = take_events(k);
    }
    if (!taken)
        return vrs_no_memory(err);
    p->lanes = arena_array(k->arena, struct lane, k->lanes.len);
    if (p->lanes == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < k->lanes.len; i++)
        p->lanes[i] = k->lanes.at[i];
    p->lane_count = k->lanes.len;
    return release_runs_find(p, k->arena, &k->scratch, err);
}

enum vrs_status program_make(const struct recording *r, uint32_t device, struct arena *arena,
                             struct program *ret, enum replay_refusal *ret_refusal,
                             struct vrs_error *err)
{
    struct program p = {
        .r = r,
        .device = device,
        .first = r->devices.first_event[device],
        .events = r->devices.events[device],
    };
    struct make_context k = {
        .r = r,
        .p = &p,
        .arena = arena,
        .held.max = UINT32_MAX - 1,
        .unused.max = UINT32_MAX - 1,
        .lanes.max = LANES_MAX,
        .refusal = refusal_of(r, device),
    };
    enum vrs_status status = VRS_OK;
    arena_init(&k.scratch, SIZE_MAX / 2);
    if (k.refusal == REFUSED_NOT)
        status = make(&k, err);
    arena_free(&k.scratch);
    vec_free(&k.held);
    vec_free(&k.unused);
    vec_free(&k.lanes);
    idtab_free(&k.index);
    TRY(status);
    *ret = p;
    *ret_refusal = k.refusal;
    return VRS_OK;
}

uint32_t program_start_from(const struct program *p, uint64_t address)
{
    uint32_t at;
    SORTED_FIND(at, p->starts, p->start[at].address < address);
    return at;
}

uint64_t program_reserved_start(const struct program *p)
{
    const struct devices *d = &p->r->devices;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < d->segments[p->device]; i++)
        bytes += known_or_0(p->r->segments.total_size[d->first_segment[p->device] + i]);
    const uint8_t *action = p->r->events.action + p->first;
    for (uint32_t i = 0; other_event_next(action, &i, p->events); i++)
        bytes -= program_reserved_change(p, i);
    return bytes;
}
