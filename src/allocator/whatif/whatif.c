/* whatif.c - runs a program on a machine that chooses addresses, retries and fails by itself. */
#include "allocator/whatif/whatif.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/block_set.h"
#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "allocator/replay/program.h"
#include "allocator/replay/replay.h"
#include "allocator/replay/start_state.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

/* A slot of a site that is freed early, in the list of the scope it was made in. */
struct early {
    uint32_t prev, next; /* slots plus 1 */
    uint32_t scope;      /* plus 1; 0: in no list */
    uint8_t change;
};

/* The scopes of one change: those that are open now, innermost last. */
struct scope_state {
    const struct site_change *change;
    uint32_t next; /* scope not yet begun */
    VEC(uint32_t) open;
    uint32_t *first; /* of each scope: its list of slots, plus 1 */
};

struct run {
    const struct program *p;
    const struct whatif_question *q;
    const struct run_listener *listener;
    struct machine m;
    const struct events *e;
    uint32_t *block_of; /* of each slot */
    struct early *early;
    bool *is_start;             /* of each start block: still there */
    struct scope_state *scopes; /* one for each change */
    uint32_t changes;
    uint64_t start_bytes; /* of start blocks that are still there */
    uint64_t lower, lower_peak;
    uint64_t recorded; /* reserved bytes */
    struct whatif_answer a;
    uint32_t i;
};

static uint32_t row_of(const struct run *r)
{
    return r->p->first + r->i;
}

/* The least that the memory of a slot takes: its rounded request; of memory older than the trace,
 * which no setting changes, its block. */
static uint64_t lower_size(const struct run *r, uint32_t slot, uint32_t block)
{
    bool older = slot < r->p->starts && r->is_start[slot];
    const struct machine_block *b = &r->m.blocks.at[block];
    return older ? b->size : machine_round(&r->m, b->requested);
}

/* Slots. */

static void unlink_early(struct run *r, uint32_t slot)
{
    struct early *e = &r->early[slot];
    if (e->scope == 0)
        return;
    if (e->prev != 0)
        r->early[e->prev - 1].next = e->next;
    else
        r->scopes[e->change].first[e->scope - 1] = e->next;
    if (e->next != 0)
        r->early[e->next - 1].prev = e->prev;
    e->scope = 0;
}

static void note_gone(struct run *r, uint32_t slot, uint32_t block)
{
    r->lower -= lower_size(r, slot, block);
    unlink_early(r, slot);
    if (slot < r->p->starts && r->is_start[slot]) {
        r->is_start[slot] = false;
        r->start_bytes -= r->m.blocks.at[block].size;
    }
    r->block_of[slot] = 0;
}

static void complete(struct run *r, uint32_t slot)
{
    uint32_t block = slot == NO_ROW ? 0 : r->block_of[slot];
    if (block == 0)
        return;
    if (r->m.blocks.at[block].use == BLOCK_IN_USE && r->listener != NULL)
        r->listener->freed(r->listener->arg, r->i, slot, block, false);
    if (r->listener != NULL)
        r->listener->freed(r->listener->arg, r->i, slot, block, true);
    note_gone(r, slot, block);
    machine_complete(&r->m, block);
}

/* A full release waits for everything: the machine says which block it completes. */
static void completed_by_release(void *arg, uint32_t block)
{
    struct run *r = arg;
    uint32_t slot = r->m.blocks.at[block].tag;
    if (r->listener != NULL)
        r->listener->freed(r->listener->arg, r->m.event, slot, block, true);
    if (r->block_of[slot] == block)
        note_gone(r, slot, block);
}

static void observed(void *arg, const struct machine_call *call)
{
    struct run *r = arg;
    r->listener->device(r->listener->arg, r->m.event, call);
}

/* Sites. */

static const struct site_change *change_of(const struct run *r, uint32_t stack, uint32_t *ret)
{
    uint8_t change = r->q->change_of_stack == NULL || stack == 0 ? 0 : r->q->change_of_stack[stack];
    *ret = change == 0 ? 0 : change - 1u;
    return change == 0 ? NULL : &r->q->change[change - 1];
}

static void note_changed(struct run *r, uint64_t bytes)
{
    r->a.changed++;
    r->a.changed_bytes += bytes;
}

static void free_at_end_of_scope(struct run *r, uint32_t change, uint32_t slot)
{
    struct scope_state *s = &r->scopes[change];
    if (s->open.len == 0)
        return;
    uint32_t scope = s->open.at[s->open.len - 1], first = s->first[scope];
    r->early[slot] = (struct early){ 0, first, scope + 1, (uint8_t)change };
    if (first != 0)
        r->early[first - 1].prev = slot + 1;
    s->first[scope] = slot + 1;
}

static void end_scope(struct run *r, struct scope_state *s, uint32_t scope)
{
    while (s->first[scope] != 0)
        complete(r, s->first[scope] - 1);
}

/* Scopes that end or begin right before the event at hand. */
static bool move_scopes(struct run *r, int64_t event)
{
    for (uint32_t c = 0; c < r->changes; c++) {
        struct scope_state *s = &r->scopes[c];
        if (s->change->kind != CHANGE_FREE_EARLY)
            continue;
        while (s->open.len > 0 && s->change->scope[s->open.at[s->open.len - 1]].end <= event)
            end_scope(r, s, s->open.at[--s->open.len]);
        for (; s->next < s->change->scopes && s->change->scope[s->next].begin <= event; s->next++)
            if (s->change->scope[s->next].end > event && !vec_push(&s->open, s->next))
                return false;
    }
    return true;
}

/* Does the trace never use the address of this start block again?  Then its stack is known. */
static bool has_stack(const struct start_block *b)
{
    return b->size != UNKNOWN_U64 && b->stack != 0;
}

static void change_start(struct run *r)
{
    for (uint32_t i = 0; i < r->p->starts; i++) {
        uint32_t number;
        const struct site_change *change = change_of(r, r->p->start[i].stack, &number);
        if (change == NULL || !has_stack(&r->p->start[i]) || r->block_of[i] == 0 ||
            change->kind == CHANGE_SCALE)
            continue;
        note_changed(r, r->p->start[i].requested);
        if (change->kind == CHANGE_DROP) {
            uint32_t block = r->block_of[i];
            note_gone(r, i, block);
            machine_complete(&r->m, block);
        } else if (change->kind == CHANGE_FREE_EARLY) {
            free_at_end_of_scope(r, number, i);
        }
    }
    r->m.peak_active.bytes = r->m.active;
    r->m.peak_requested.bytes = r->m.requested;
}

/* Running out. */

static uint64_t returnable_bytes(struct run *r)
{
    release_vec releases = { .max = UINT32_MAX };
    uint64_t bytes = 0;
    if (!machine_releasable(&r->m, &releases))
        r->m.no_memory = true;
    for (uint32_t i = 0; i < releases.len; i++)
        bytes += releases.at[i].bytes;
    vec_free(&releases);
    return bytes;
}

static void run_out(struct run *r, uint32_t side, uint64_t rounded)
{
    uint32_t largest = set_last(&r->m.sides.at[side].free);
    uint64_t returnable = returnable_bytes(r);
    r->a.ran_out = true;
    r->a.oom = (struct oom_answer){
        .event = r->i,
        .want_bytes = rounded,
        .segment_bytes = config_segment_bytes(&r->m.config, rounded),
        .reserved_bytes = r->m.reserved,
        .active_bytes = r->m.active,
        .largest_free_bytes = largest == 0 ? 0 : r->m.blocks.at[largest].size,
        .returnable_bytes = returnable,
        .stranded_bytes = r->m.reserved - r->m.active - returnable,
    };
    if (r->listener != NULL)
        r->listener->ran_out(r->listener->arg, r->i, rounded, r->m.capacity - r->m.reserved);
}

/* What is cached at the start and passes the capacity: an earlier retry would have dropped it. */
static void fit_start(struct run *r)
{
    uint64_t end = r->m.limit < r->m.capacity ? r->m.limit : r->m.capacity;
    if (r->m.reserved <= end)
        return;
    machine_release_all(&r->m); /* completes what waits, too */
    r->m.peak_reserved.bytes = r->m.reserved;
    r->m.peak_active.bytes = r->m.active;
    r->m.peak_requested.bytes = r->m.requested;
    r->a.active_start_bytes = r->start_bytes;
    if (r->m.reserved <= end)
        return;
    r->a.ran_out = true;
    r->a.oom = (struct oom_answer){
        .event = -1,
        .reserved_bytes = r->m.reserved,
        .active_bytes = r->m.active,
        .stranded_bytes = r->m.reserved - r->m.active,
    };
}

/* Events. */

static void fill(struct run *r, uint32_t slot, uint32_t block)
{
    /* Memory handed out twice at one address: the older is lost sight of, and stays. */
    unlink_early(r, slot);
    if (slot < r->p->starts)
        r->is_start[slot] = false;
    r->block_of[slot] = block;
    r->m.blocks.at[block].tag = slot;
    r->lower += lower_size(r, slot, block);
    if (r->lower > r->lower_peak)
        r->lower_peak = r->lower;
    if (r->m.peak_active.event == r->i && r->m.active == r->m.peak_active.bytes)
        r->a.active_start_bytes = r->start_bytes;
}

/* A request, by an alloc or by one that failed when it was recorded; false ends the run. */
static bool request(struct run *r, bool recorded_oom)
{
    uint32_t row = row_of(r), number, lane = r->p->lane[r->i];
    uint64_t bytes = known_or_0(r->e->size[row]);
    const struct site_change *change = change_of(r, r->e->stack[row], &number);
    if (change != NULL && change->kind == CHANGE_DROP) {
        note_changed(r, bytes);
        return true;
    }
    if (change != NULL && change->kind == CHANGE_SCALE) {
        double scaled = (double)bytes * change->factor;
        bytes = scaled < 1 ? 1 : scaled >= 0x1p62 ? (uint64_t)1 << 62 : (uint64_t)scaled;
    }
    if (change != NULL)
        note_changed(r, bytes);
    uint32_t block = machine_request(&r->m, lane, bytes);
    if (r->m.no_memory)
        return false;
    if (block == 0) {
        uint64_t rounded = machine_round(&r->m, bytes);
        run_out(r, lane_side(lane, rounded), rounded);
        return false;
    }
    if (recorded_oom) {
        r->a.served_oom_event = r->i;
        r->a.served_active_bytes = r->m.active;
        if (r->m.peak_active.event == r->i)
            r->a.active_start_bytes = r->start_bytes;
        if (r->listener != NULL)
            r->listener->allocated(r->listener->arg, r->i, NO_ROW, block);
        return false;
    }
    uint32_t slot = r->p->slot[r->i];
    fill(r, slot, block);
    if (r->listener != NULL)
        r->listener->allocated(r->listener->arg, r->i, slot, block);
    if (change != NULL && change->kind == CHANGE_FREE_EARLY)
        free_at_end_of_scope(r, number, slot);
    return true;
}

static void wait_for(struct run *r, uint32_t slot)
{
    uint32_t block = slot == NO_ROW ? 0 : r->block_of[slot];
    if (block == 0 || r->m.blocks.at[block].use != BLOCK_IN_USE)
        return;
    machine_wait(&r->m, block);
    if (r->listener != NULL)
        r->listener->freed(r->listener->arg, r->i, slot, block, false);
}

/* Applies the event at hand; false ends the run. */
static bool apply(struct run *r, uint32_t *run)
{
    const struct release_run *releases = &r->p->run[*run];
    switch ((enum event_action)r->e->action[row_of(r)]) {
    case ACTION_ALLOC:
        return request(r, false);
    case ACTION_OOM:
        return r->q->identity || request(r, true);
    case ACTION_FREE_REQUESTED:
        wait_for(r, r->p->slot[r->i]);
        break;
    case ACTION_FREE_COMPLETED:
    case ACTION_FREE:
        complete(r, r->p->slot[r->i]);
        break;
    case ACTION_SEGMENT_FREE:
    case ACTION_SEGMENT_UNMAP:
        if (*run < r->p->runs && releases->first == r->i) {
            if (r->q->identity || releases->cause == RUN_EMPTY_CACHE)
                machine_release_all(&r->m);
            ++*run;
        }
        break;
    case ACTION_SEGMENT_ALLOC:
    case ACTION_SEGMENT_MAP:
        break;
    case ACTION_OTHER:
    case ACTION_SNAPSHOT:
    case ACTION_ANNOTATE:
    case ACTION_USER_DEFINED:
    case ACTIONS:
        if (r->listener != NULL)
            r->listener->passed(r->listener->arg, r->i);
        break;
    }
    return !r->m.no_memory;
}

/* Reserved bytes are compared where the recorded ones stand still: not while memory is obtained,
 * nor inside a run of releases, nor, unless they are all kept, after one. */
static void compare_curve(struct run *r)
{
    const uint8_t *action = r->e->action + r->p->first;
    r->recorded += program_reserved_change(r->p, r->i);
    if (action_obtains(action[r->i]))
        return;
    bool last = r->i + 1 == r->p->events || !action_returns(action[r->i + 1]);
    if (action_returns(action[r->i]) && !(r->q->identity && last))
        return;
    if (r->m.reserved == r->recorded)
        return;
    if (r->a.same_curve)
        r->a.parted_event = r->i;
    r->a.same_curve = false;
}

static bool run_events(struct run *r)
{
    uint32_t run = 0;
    for (r->i = 0; r->i < r->p->events; r->i++) {
        r->m.event = r->i;
        if (r->changes > 0 && !move_scopes(r, r->i))
            return false;
        if (!apply(r, &run))
            return !r->m.no_memory;
        compare_curve(r);
    }
    return !r->m.no_memory;
}

/* Setting up. */

static bool set_up_scopes(struct run *r, struct arena *scratch)
{
    r->changes = 0;
    for (uint32_t s = 0; r->q->change_of_stack != NULL && s < r->p->r->code.stacks.rows.len; s++)
        if (r->q->change_of_stack[s] > r->changes)
            r->changes = r->q->change_of_stack[s];
    r->scopes = arena_array(scratch, struct scope_state, r->changes);
    if (r->scopes == NULL)
        return false;
    for (uint32_t c = 0; c < r->changes; c++) {
        struct scope_state *s = &r->scopes[c];
        s->change = &r->q->change[c];
        s->open.max = UINT32_MAX;
        s->first = arena_array(scratch, uint32_t, s->change->scopes);
        if (s->first == NULL)
            return false;
    }
    return true;
}

static bool set_up(struct run *r, const struct start_state *start, struct arena *scratch)
{
    const struct program *p = r->p;
    r->block_of = arena_array(scratch, uint32_t, p->slots);
    r->early = arena_array(scratch, struct early, p->slots);
    r->is_start = arena_array(scratch, bool, p->starts);
    if (r->block_of == NULL || r->early == NULL || r->is_start == NULL ||
        !set_up_scopes(r, scratch) || !start_state_build(start, &r->m, r->block_of))
        return false;
    for (uint32_t i = 0; i < p->starts; i++) {
        uint32_t block = r->block_of[i];
        r->is_start[i] = block != 0;
        r->start_bytes += block == 0 ? 0 : r->m.blocks.at[block].size;
        r->lower += block == 0 ? 0 : lower_size(r, i, block);
        if (block != 0)
            r->m.blocks.at[block].tag = i;
    }
    return true;
}

static void take_question(struct run *r)
{
    const struct whatif_question *q = r->q;
    r->m.config = *q->config;
    r->m.capacity = q->capacity_bytes == UNKNOWN_U64 ? UINT64_MAX : q->capacity_bytes;
    if (q->capacity_bytes != UNKNOWN_U64 && q->config->memory_fraction < 1)
        r->m.limit = (uint64_t)(q->config->memory_fraction * (double)q->capacity_bytes);
    r->m.ascend = q->addresses_ascend;
    if (q->below_address != 0)
        r->m.next_low = q->below_address;
    r->m.completed = completed_by_release;
    r->m.completed_arg = r;
}

static bool run_all(struct run *r, const struct start_state *start, struct arena *scratch)
{
    if (!set_up(r, start, scratch) || !move_scopes(r, -1))
        return false;
    take_question(r);
    change_start(r);
    r->lower_peak = r->lower;
    r->a.active_start_bytes = r->start_bytes;
    r->recorded = program_reserved_start(r->p);
    /* What no longer fits was given back before the run begins: nobody hears of it. */
    const struct run_listener *heard_from = r->q->listener;
    r->listener = NULL;
    fit_start(r);
    r->listener = heard_from;
    if (r->listener != NULL) {
        r->m.listen = observed;
        r->m.listen_arg = r;
        r->listener->began(r->listener->arg, &r->m, r->block_of);
    }
    bool good = r->a.ran_out || run_events(r);
    if (good && r->listener != NULL)
        r->listener->ended(r->listener->arg, &r->m, r->block_of);
    return good && !r->m.no_memory;
}

/* How many small segments the bytes fill. */
static uint64_t small_segments(uint64_t bytes)
{
    return (bytes + SMALL_SEGMENT_BYTES - 1) / SMALL_SEGMENT_BYTES;
}

static void take_answer(struct run *r)
{
    const struct machine *m = &r->m;
    r->a.reserved = (struct peak_bytes){ m->peak_reserved.bytes, m->peak_reserved.event };
    r->a.active = (struct peak_bytes){ m->peak_active.bytes, m->peak_active.event };
    r->a.requested = (struct peak_bytes){ m->peak_requested.bytes, m->peak_requested.event };
    r->a.new_memory = m->new_memory;
    r->a.retries = m->retries;
    r->a.lower_bound_bytes = small_segments(r->lower_peak) * SMALL_SEGMENT_BYTES;
}

enum vrs_status whatif_run(const struct program *p, const struct start_state *start,
                           const struct whatif_question *q, struct whatif_answer *ret,
                           struct vrs_error *err)
{
    struct run r = {
        .p = p,
        .q = q,
        .e = &p->r->events,
        .a = { .served_oom_event = -1, .same_curve = true, .parted_event = -1 },
    };
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX / 2);
    bool good = machine_init(&r.m, q->config) && run_all(&r, start, &scratch);
    take_answer(&r);
    for (uint32_t c = 0; r.scopes != NULL && c < r.changes; c++)
        vec_free(&r.scopes[c].open);
    machine_free(&r.m);
    arena_free(&scratch);
    if (!good)
        return vrs_no_memory(err);
    *ret = r.a;
    return VRS_OK;
}

/* Capacities, counted in small segments: the allocator reserves no less. */

static enum vrs_status ask_at(const struct program *p, const struct start_state *start,
                              const struct whatif_question *q, uint64_t segments,
                              struct whatif_answer *ret, struct vrs_error *err)
{
    struct whatif_question at = *q;
    at.capacity_bytes = segments * SMALL_SEGMENT_BYTES;
    at.listener = NULL;
    return whatif_run(p, start, &at, ret, err);
}

/* The least capacity in (low, high] at which the run completes, by halving; it does at `high`. */
static enum vrs_status halve(const struct program *p, const struct start_state *start,
                             const struct whatif_question *q, uint64_t low, uint64_t *high,
                             struct vrs_error *err)
{
    struct whatif_answer a;
    while (*high - low > 1) {
        uint64_t middle = low + (*high - low) / 2;
        TRY(ask_at(p, start, q, middle, &a, err));
        if (a.ran_out)
            low = middle;
        else
            *high = middle;
    }
    return VRS_OK;
}

enum vrs_status whatif_smallest(const struct program *p, const struct start_state *start,
                                const struct whatif_question *q, const struct whatif_answer *free,
                                struct capacity_answer *ret, struct vrs_error *err)
{
    const uint64_t most = (uint64_t)1 << 24; /* 32 TiB */
    uint64_t high = small_segments(free->reserved.bytes);
    uint64_t low = small_segments(free->active.bytes);
    struct whatif_answer a = { 0 }, above;
    low -= low != 0;
    /* A memory fraction makes less of a capacity than it is. */
    while (q->config->memory_fraction < 1 && high < most) {
        TRY(ask_at(p, start, q, high, &a, err));
        if (!a.ran_out)
            break;
        low = high;
        high = high * 2 + 1;
    }
    TRY(halve(p, start, q, low, &high, err));
    TRY(ask_at(p, start, q, high, &a, err));
    TRY(ask_at(p, start, q, high + 1, &above, err));
    *ret = (struct capacity_answer){ high * SMALL_SEGMENT_BYTES, a.retries, !a.ran_out,
                                     !a.ran_out && !above.ran_out };
    return VRS_OK;
}

/* The capacity that the recording met: what was reserved and free at its first out-of-memory, else
 * the least that it allows. */
static uint64_t recorded_capacity(const struct program *p)
{
    const struct events *e = &p->r->events;
    uint64_t reserved = program_reserved_start(p), peak = reserved;
    for (uint32_t i = 0; i < p->events; i++) {
        uint64_t left = e->address[p->first + i];
        reserved += program_reserved_change(p, i);
        peak = reserved > peak ? reserved : peak;
        if (e->action[p->first + i] == ACTION_OOM && left != UNKNOWN_U64)
            return reserved + left;
    }
    return peak;
}

/* An address below all recorded segments, or 0 where little room is left there. */
static uint64_t lowest_address(const struct program *p, const struct start_state *start)
{
    const struct events *e = &p->r->events;
    uint64_t lowest = start->ranges == 0 ? UINT64_MAX : start->range[0].address;
    for (uint32_t i = 0; i < p->events; i++) {
        uint64_t address = e->address[p->first + i];
        if (action_obtains(e->action[p->first + i]) && address < lowest)
            lowest = address;
    }
    return lowest < (uint64_t)1 << 45 || lowest >= ADDRESS_END ? 0 : lowest;
}

/* New segments lie above or below the recorded ones; only ties in size can tell, and where they do,
 * what reproduces the recording is taken. */
static enum vrs_status ask_identity(const struct program *p, const struct start_state *start,
                                    struct whatif_question *q, struct whatif_answer *ret,
                                    struct vrs_error *err)
{
    TRY(whatif_run(p, start, q, ret, err));
    uint64_t lowest = ret->same_curve ? 0 : lowest_address(p, start);
    if (lowest == 0)
        return VRS_OK;
    struct whatif_answer below = { .same_curve = false };
    q->below_address = lowest;
    TRY(whatif_run(p, start, q, &below, err));
    if (below.same_curve)
        *ret = below;
    else
        q->below_address = 0;
    return VRS_OK;
}

enum vrs_status whatif_identities(const struct program *p, const struct start_state *start,
                                  const struct allocator_config *recorded, struct identities *ret,
                                  struct vrs_error *err)
{
    struct whatif_question q = { .config = recorded,
                                 .capacity_bytes = UNKNOWN_U64,
                                 .identity = true };
    struct whatif_answer low, high, at;
    TRY(ask_identity(p, start, &q, &low, err));
    q.addresses_ascend = true;
    TRY(whatif_run(p, start, &q, &high, err));
    q.addresses_ascend = q.identity = false;
    q.capacity_bytes = recorded_capacity(p);
    TRY(whatif_run(p, start, &q, &at, err));
    *ret = (struct identities){
        .reproduces = low.same_curve,
        .below_address = q.below_address,
        .reproduces_ascending = high.same_curve,
        .reproduces_at_capacity = at.same_curve,
        .recorded_capacity_bytes = q.capacity_bytes,
        .retries_at_capacity = at.retries,
        .first_oom_at_capacity = at.ran_out ? at.oom.event : -2,
        .parted_event = low.parted_event,
        .parted_at_capacity_event = at.parted_event,
    };
    return VRS_OK;
}
