/* timeline.c - one walk over the events, with the group and the block of each.
 *
 * Groups start from nothing; what each held at the start is its end less its changes, as for the
 * device, so that their sum is the device's curve at every event. */
#include "analysis/snapshot/timeline/timeline.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/replay/block_sizes.h"
#include "allocator/replay/release_runs.h"
#include "allocator/replay/replay.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/layout.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

const char *const time_curve_names[TIME_CURVES] = {
    [TIME_REQUESTED] = "requested", [TIME_ACTIVE] = "active",     [TIME_ALLOCATED] = "allocated",
    [TIME_PENDING] = "pending",     [TIME_RESERVED] = "reserved", [TIME_IDLE] = "idle",
};

const char *const burst_cause_names[BURST_CAUSES] = {
    [BURST_UNKNOWN] = "unknown",
    [BURST_EMPTY_CACHE] = "empty_cache",
    [BURST_RETRY] = "retry",
};

/* A curve while it is walked. */
struct pen {
    int64_t value, top_since;      /* the event that brought it to its maximum */
    struct time_point least, most; /* of the span */
    struct time_curve *to;
};

/* What the walk needs of an allocation, close together: it is met in no order. */
struct life {
    uint64_t block_bytes;
    uint32_t asked; /* event that asks for its free; NO_ROW: none, or before the first */
    uint32_t group : 31;
    uint32_t rounded : 1; /* a large block that may be larger */
};

/* What a group has since the start, and its tops. */
struct share {
    uint64_t requested, reserved;
    uint64_t end_requested, end_reserved;
    struct time_point top_requested, top_reserved; /* since the start */
    uint64_t at_peak;
};

struct walk {
    const struct proven_study *proven;
    const struct study *s; /* its study */
    const struct recording *r;
    const struct events *e;
    uint32_t first;
    int64_t events;
    struct memory_groups groups;
    struct life *life; /* of each allocation */
    uint32_t *life_of; /* of each event: the place of its allocation, or NO_ROW */
    struct share *share;
    uint32_t shares; /* room */
    bool requests;   /* the trace tells when a free is asked for */
    uint64_t start_active, start_allocated;
    struct pen pen[TIME_CURVES];
    struct local_peaks locals;
    int64_t peak_event; /* of the requested curve */
    uint64_t waiting;   /* requested bytes whose free is asked for */
    uint64_t requested_at_reserved_peak, waiting_at_reserved_peak;
    uint64_t states, spans, span;   /* states 0 … events, in equal spans */
    uint64_t span_end;              /* the state that begins the next one */
    uint64_t rounded, rounded_most; /* large blocks alive that may own more */
};

static void pen_begin(struct pen *p, struct time_curve *to, int64_t value)
{
    struct time_point point = { -1, value };
    *p = (struct pen){ .value = value, .top_since = -1, .least = point, .most = point, .to = to };
    to->point[to->points++] = point;
    to->peak_bytes = value;
    to->peak_event = to->last_event = p->top_since = -1;
    to->ties = 0;
}

static void pen_move(struct pen *p, uint64_t change, int64_t event)
{
    struct time_curve *to = p->to;
    if (change == 0)
        return;
    if (p->value == to->peak_bytes) {
        to->last_event = event - 1;
        to->ties += (uint64_t)(event - p->top_since);
    }
    int64_t value = (int64_t)((uint64_t)p->value + change);
    p->value = value;
    if (value >= to->peak_bytes) {
        to->peak_event = value > to->peak_bytes ? event : to->peak_event;
        to->ties = value > to->peak_bytes ? 0 : to->ties;
        to->peak_bytes = value;
        p->top_since = event;
    }
    if (value > p->most.bytes)
        p->most = (struct time_point){ event, value };
    if (value < p->least.bytes)
        p->least = (struct time_point){ event, value };
}

static void add_point(struct time_curve *to, struct time_point point)
{
    if (to->points == 0 || to->point[to->points - 1].bytes != point.bytes)
        to->point[to->points++] = point;
}

/* What the span had; the next one begins with the value to come. */
static void pen_lift(struct pen *p)
{
    bool rises = p->least.event <= p->most.event;
    add_point(p->to, rises ? p->least : p->most);
    add_point(p->to, rises ? p->most : p->least);
    p->least.bytes = INT64_MAX;
    p->most.bytes = INT64_MIN;
}

static void pen_end(struct pen *p, int64_t event)
{
    struct time_curve *to = p->to;
    if (p->value == to->peak_bytes) {
        to->last_event = event;
        to->ties += (uint64_t)(event - p->top_since + 1);
    }
    if (to->point[to->points - 1].event != event)
        to->point[to->points++] = (struct time_point){ event, p->value };
}

/* State i is that after event i - 1. */
static bool span_ends(struct walk *w, uint64_t state)
{
    if (state != w->span_end)
        return false;
    for (uint32_t c = 0; c < TIME_CURVES; c++)
        pen_lift(&w->pen[c]);
    w->span++;
    w->span_end = (w->span + 1) * w->states / w->spans;
    return true;
}

static void span_begins(struct walk *w, int64_t event)
{
    for (uint32_t c = 0; c < TIME_CURVES; c++)
        w->pen[c].least = w->pen[c].most = (struct time_point){ event, w->pen[c].value };
}

static void count_rounded(struct walk *w, const struct life *life, bool born)
{
    if (!life->rounded)
        return;
    if (born)
        w->rounded++;
    else if (w->rounded > 0)
        w->rounded--;
    if (w->rounded > w->rounded_most)
        w->rounded_most = w->rounded;
}

/* Freed before the first event and completed after it. */
static bool pending_at_start(const struct walk *w, const struct lifetime *life)
{
    return life->birth < 0 && w->requests && life->requested < w->events &&
           w->e->action[w->first + (uint32_t)life->requested] == ACTION_FREE_COMPLETED;
}

/* Freed before the recording, and never completed in it. */
static bool waits_at_end(const struct walk *w, uint32_t life)
{
    uint32_t row = w->r->devices.first_allocation[w->s->device] + life;
    uint32_t block = w->r->allocations.block[row];
    return block != NO_ROW && w->s->lifetimes.at[life].requested >= w->events &&
           w->r->blocks.state[block] == BLOCK_PENDING;
}

/* Both curves of blocks at the start are what was there then. */
static void add_to_start(struct walk *w, uint32_t i)
{
    const struct lifetime *life = &w->s->lifetimes.at[i];
    bool pending = waits_at_end(w, i) || pending_at_start(w, life);
    uint64_t block = w->life[i].block_bytes;
    w->start_active += block;
    w->start_allocated += pending ? 0 : block;
    w->waiting += pending ? life->bytes : 0;
    count_rounded(w, &w->life[i], true);
}

static bool map_allocation(struct walk *w, uint32_t i)
{
    const struct lifetime *life = &w->s->lifetimes.at[i];
    uint32_t row = w->r->devices.first_allocation[w->s->device] + i;
    struct block_size block = proven_block(w->proven, i);
    uint32_t group = memory_group_of_allocation(&w->groups, row, block.bytes);
    bool asked = life->requested < w->events && !pending_at_start(w, life);
    w->life[i] = (struct life){
        .block_bytes = block.bytes,
        .asked = asked ? (uint32_t)life->requested : NO_ROW,
        .group = group & INT32_MAX,
        .rounded = block.source == SOURCE_ROUNDED && block.bytes > SMALL_BLOCK_MAX,
    };
    /* An alloc that finds its address taken ends the older life, but is not its event. */
    if (life->requested < w->events && w->life_of[life->requested] == NO_ROW)
        w->life_of[life->requested] = i;
    if (life->freed < w->events && w->life_of[life->freed] == NO_ROW)
        w->life_of[life->freed] = i;
    if (life->birth >= 0)
        w->life_of[life->birth] = i;
    else
        add_to_start(w, i);
    return group != 0;
}

static enum vrs_status map_events(struct walk *w, struct vrs_error *err)
{
    const struct study *s = w->s;
    w->life_of = arena_array(s->scratch, uint32_t, s->events);
    w->life = arena_array(s->scratch, struct life, s->lifetimes.count);
    if (w->life_of == NULL || w->life == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < w->events; i++) {
        w->life_of[i] = NO_ROW;
        w->requests |= w->e->action[w->first + i] == ACTION_FREE_REQUESTED;
    }
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (!map_allocation(w, i))
            return vrs_no_memory(err);
    return VRS_OK;
}

/* Groups come into sight while events are walked. */
static struct share *share_of(struct walk *w, uint32_t group)
{
    if (group == 0)
        return NULL;
    if (group >= w->shares) {
        uint32_t room = w->shares == 0 ? 64 : w->shares;
        while (room <= group)
            room *= 2;
        struct share *more = arena_array(w->s->scratch, struct share, room);
        if (more == NULL)
            return NULL;
        for (uint32_t i = 0; i < room; i++)
            if (i < w->shares)
                more[i] = w->share[i];
            else
                more[i].top_requested.event = more[i].top_reserved.event = -1;
        w->share = more;
        w->shares = room;
    }
    return &w->share[group];
}

static void top_of(struct time_point *top, uint64_t value, int64_t event)
{
    if ((int64_t)value > top->bytes)
        *top = (struct time_point){ event, (int64_t)value };
}

static bool share_requested(struct walk *w, uint32_t group, uint64_t change, int64_t event)
{
    struct share *share = share_of(w, group);
    if (share == NULL)
        return false;
    share->requested += change;
    top_of(&share->top_requested, share->requested, event);
    return true;
}

static bool share_reserved(struct walk *w, uint32_t row, uint64_t change, int64_t event)
{
    struct share *share = share_of(w, memory_group_of_event(&w->groups, row));
    if (share == NULL)
        return false;
    share->reserved += change;
    top_of(&share->top_reserved, share->reserved, event);
    return true;
}

/* What an event adds to the blocks that are active, and to those that are allocated. */
static void move_blocks(struct walk *w, uint64_t active, uint64_t allocated, int64_t event)
{
    pen_move(&w->pen[TIME_ACTIVE], active, event);
    pen_move(&w->pen[TIME_ALLOCATED], allocated, event);
    pen_move(&w->pen[TIME_PENDING], active - allocated, event);
    pen_move(&w->pen[TIME_IDLE], -active, event);
}

/* An event of an allocation.  The sizes of events themselves count as requested. */
static bool apply_life(struct walk *w, uint32_t i, uint8_t action, uint64_t size)
{
    uint32_t id = w->life_of[i], row = w->first + i;
    const struct life *life = id == NO_ROW ? NULL : &w->life[id];
    uint64_t block = life == NULL ? 0 : life->block_bytes;
    bool born = action == ACTION_ALLOC, asks = !born && life != NULL && life->asked == i;
    if (action == ACTION_FREE_REQUESTED) {
        w->waiting += asks ? size : 0;
        move_blocks(w, 0, asks ? -block : 0, i);
        return true;
    }
    uint32_t group = life != NULL
                         ? life->group
                         : memory_group_of(&w->groups, w->r->contexts.pool[w->e->context[row]],
                                           w->e->stream[row], size <= SMALL_BLOCK_MAX);
    w->waiting -= !born && !asks && life != NULL ? size : 0;
    if (life != NULL)
        count_rounded(w, life, born);
    pen_move(&w->pen[TIME_REQUESTED], born ? size : -size, i);
    move_blocks(w, born ? block : -block, born ? block : asks ? -block : 0, i);
    if (size != 0)
        local_peaks_next(&w->locals, w->pen[TIME_REQUESTED].value, i);
    return share_requested(w, group, born ? size : -size, i);
}

static bool apply(struct walk *w, uint32_t i)
{
    uint32_t row = w->first + i;
    uint8_t action = w->e->action[row];
    uint64_t size = known_or_0(w->e->size[row]);
    if (action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
        action == ACTION_FREE_COMPLETED || action == ACTION_FREE)
        return apply_life(w, i, action, size);
    if (!action_obtains(action) && !action_returns(action))
        return true;
    uint64_t change = action_obtains(action) ? size : -size;
    pen_move(&w->pen[TIME_RESERVED], change, i);
    pen_move(&w->pen[TIME_IDLE], change, i);
    return share_reserved(w, row, change, i);
}

static void mark_reserved_peak(struct walk *w)
{
    w->requested_at_reserved_peak = (uint64_t)w->pen[TIME_REQUESTED].value;
    w->waiting_at_reserved_peak = w->waiting;
}

static enum vrs_status begin_walk(struct walk *w, struct timeline *to, struct vrs_error *err)
{
    const struct study *s = w->s;
    uint64_t requested = (uint64_t)s->curves.of[CURVE_REQUESTED].start_bytes;
    uint64_t reserved = (uint64_t)s->curves.of[CURVE_RESERVED].start_bytes;
    const uint64_t start[TIME_CURVES] = {
        [TIME_REQUESTED] = requested,
        [TIME_ACTIVE] = w->start_active,
        [TIME_ALLOCATED] = w->start_allocated,
        [TIME_PENDING] = w->start_active - w->start_allocated,
        [TIME_RESERVED] = reserved,
        [TIME_IDLE] = reserved - w->start_active,
    };
    w->peak_event = s->curves.of[CURVE_REQUESTED].peak_event;
    w->states = (uint64_t)w->events + 1;
    w->spans = w->states <= TIME_POINTS_MOST ? w->states : TIME_POINTS_MOST / 2 - 1;
    w->span_end = w->states / w->spans;
    for (uint32_t c = 0; c < TIME_CURVES; c++) {
        to->curve[c].point = arena_array(s->keep, struct time_point, TIME_POINTS_MOST);
        if (to->curve[c].point == NULL)
            return vrs_no_memory(err);
        pen_begin(&w->pen[c], &to->curve[c], (int64_t)start[c]);
    }
    mark_reserved_peak(w);
    local_peaks_begin(&w->locals, (int64_t)requested);
    return VRS_OK;
}

static void mark_peak(struct walk *w)
{
    for (uint32_t i = 1; i < w->groups.at.len && i < w->shares; i++)
        w->share[i].at_peak = w->share[i].requested;
}

static enum vrs_status walk_events(struct walk *w, struct timeline *to, struct vrs_error *err)
{
    TRY(begin_walk(w, to, err));
    for (uint32_t i = 0; i < w->events; i++) {
        bool begins = span_ends(w, (uint64_t)i + 1);
        if (!apply(w, i))
            return vrs_no_memory(err);
        if (begins)
            span_begins(w, i);
        if (i == w->peak_event)
            mark_peak(w);
        if (i == to->curve[TIME_RESERVED].peak_event)
            mark_reserved_peak(w);
    }
    span_ends(w, w->states);
    for (uint32_t c = 0; c < TIME_CURVES; c++)
        pen_end(&w->pen[c], (int64_t)w->events - 1);
    local_peaks_end(&w->locals);
    return VRS_OK;
}

/* Where spans of local peaks end: out to where the curve falls below nine tenths of them. */
static void widen_locals(const struct walk *w, struct timeline *to)
{
    to->locals = w->locals.count;
    for (uint32_t k = 0; k < to->locals; k++) {
        struct local_peak *p = &to->local[k];
        *p = w->locals.at[k];
        int64_t least = local_peak_floor(p->bytes), at = p->event;
        for (uint64_t value = (uint64_t)p->bytes; at >= 0; at--) {
            value -= requested_change(w->r, w->first + (uint32_t)at);
            if ((int64_t)value < least)
                break;
        }
        p->first_event = at;
        at = p->event + 1;
        for (uint64_t value = (uint64_t)p->bytes; at < w->events; at++) {
            value += requested_change(w->r, w->first + (uint32_t)at);
            if ((int64_t)value < least)
                break;
        }
        p->last_event = at - 1;
    }
}

/* How exact the curves are. */
static void judge(const struct walk *w, struct timeline *to)
{
    const struct proven_study *proven = w->proven;
    bool requested = proven->curves.of[CURVE_REQUESTED].exact;
    bool reserved = proven->curves.of[CURVE_RESERVED].exact;
    bool active = proven->curves.of[CURVE_ACTIVE].exact;
    bool allocated = proven->curves.of[CURVE_ALLOCATED].exact;
    uint64_t blocks = w->rounded_most;
    if (grade_is_exact(proven->agreement->grade) && proven->agreement->ambiguous > blocks)
        blocks = proven->agreement->ambiguous;
    for (uint32_t c = 0; c < TIME_CURVES; c++) {
        bool of_blocks = c != TIME_REQUESTED && c != TIME_RESERVED;
        bool exact = c == TIME_REQUESTED  ? requested
                     : c == TIME_RESERVED ? reserved
                     : c == TIME_ACTIVE   ? active
                     : c == TIME_IDLE     ? active && reserved
                                          : active && allocated;
        int64_t peak = to->curve[c].peak_event;
        to->curve[c].peak_time_us =
            peak < 0 ? UNKNOWN_U64 : w->e->time_us[w->first + (uint32_t)peak];
        to->curve[c].exact = exact;
        to->curve[c].bound_bytes = exact                   ? 0
                                   : of_blocks && reserved ? blocks * SMALL_BLOCK_MAX
                                                           : UNKNOWN_U64;
    }
}

/* Groups. */

/* What is in a group before the first event: at the end less the changes.  In a cut file without
 * its end, what the trace proves. */
static enum vrs_status ends_of_groups(struct walk *w, struct vrs_error *err)
{
    const struct recording *r = w->r;
    const struct devices *d = &r->devices;
    uint32_t device = w->s->device;
    for (uint32_t i = 0; i < d->segments[device]; i++) {
        uint32_t segment = d->first_segment[device] + i;
        struct share *share = share_of(w, memory_group_of_segment(&w->groups, segment));
        if (share == NULL)
            return vrs_no_memory(err);
        share->end_reserved += known_or_0(r->segments.total_size[segment]);
        uint32_t first = r->segments.first_block[segment];
        for (uint32_t b = first; b < first + r->segments.blocks[segment]; b++)
            if (block_live(r, b))
                share->end_requested += block_requested(r, b);
    }
    return VRS_OK;
}

static enum vrs_status proven_groups(struct walk *w, struct vrs_error *err)
{
    for (uint32_t i = 0; i < w->groups.at.len; i++) {
        struct share *share = share_of(w, i);
        if (share != NULL) {
            share->end_requested = share->requested;
            share->end_reserved = share->reserved;
        }
    }
    for (uint32_t i = 0; i < w->s->lifetimes.count; i++) {
        const struct lifetime *life = &w->s->lifetimes.at[i];
        struct share *share = share_of(w, w->life[i].group);
        if (share == NULL)
            return vrs_no_memory(err);
        if (life->birth < 0 && life->requested < w->events)
            share->end_requested += life->bytes;
    }
    return VRS_OK;
}

static int by_peak(const void *a, const void *b)
{
    const struct time_group *x = a, *y = b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes > y->peak_bytes ? -1 : 1;
    if (x->reserved_peak_bytes != y->reserved_peak_bytes)
        return x->reserved_peak_bytes > y->reserved_peak_bytes ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (x->pool[i] != y->pool[i])
            return x->pool[i] < y->pool[i] ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (int)x->group.small - (int)y->group.small;
}

static struct time_group group_of_share(const struct walk *w, uint32_t i)
{
    const struct memory_group *group = &w->groups.at.at[i];
    const struct share *share = &w->share[i];
    uint64_t requested = share->end_requested - share->requested;
    uint64_t reserved = share->end_reserved - share->reserved;
    return (struct time_group){
        .group = *group,
        .pool = { group->pool == 0 ? 0 : w->r->pools.first[group->pool],
                  group->pool == 0 ? 0 : w->r->pools.second[group->pool] },
        .stream = w->r->streams.handle[group->stream],
        .peak_bytes = (int64_t)(requested + (uint64_t)share->top_requested.bytes),
        .peak_event = share->top_requested.event,
        .reserved_peak_bytes = (int64_t)(reserved + (uint64_t)share->top_reserved.bytes),
        .reserved_peak_event = share->top_reserved.event,
        .at_peak_bytes = (int64_t)(requested + share->at_peak),
    };
}

static enum vrs_status make_groups(struct walk *w, struct timeline *to, struct vrs_error *err)
{
    bool anchored = (w->r->devices.parts[w->s->device] & PART_ANCHOR) != 0;
    TRY(anchored ? ends_of_groups(w, err) : proven_groups(w, err));
    to->group = arena_array(w->s->keep, struct time_group, w->groups.at.len);
    if (to->group == NULL || share_of(w, w->groups.at.len) == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 1; i < w->groups.at.len; i++)
        to->group[to->groups++] = group_of_share(w, i);
    if (to->groups > 1)
        qsort(to->group, to->groups, sizeof *to->group, by_peak);
    return VRS_OK;
}

/* Bursts. */

static enum vrs_status make_bursts(struct walk *w, struct timeline *to, struct vrs_error *err)
{
    const struct study *s = w->s;
    const uint8_t *action = w->e->action + w->first;
    for (uint32_t i = 0; i < w->events; i++)
        to->bursts += action_returns(action[i]) && (i == 0 || !action_returns(action[i - 1]));
    to->burst = arena_array(s->keep, struct time_burst, to->bursts);
    uint8_t *says = arena_array(s->scratch, uint8_t, w->r->code.stacks.rows.len);
    if (to->burst == NULL || says == NULL)
        return vrs_no_memory(err);
    struct time_burst *burst = to->burst;
    for (uint32_t i = 0; i < w->events; i++) {
        if (!action_returns(action[i]))
            continue;
        stack_id stack = { w->e->stack[w->first + i] };
        if (says[stack.n] == 0)
            says[stack.n] = (uint8_t)release_stack_says(w->r, stack);
        burst->cause = says[stack.n] == RELEASE_EMPTY_CACHE ? BURST_EMPTY_CACHE
                       : says[stack.n] == RELEASE_MALLOC    ? BURST_RETRY
                                                            : BURST_UNKNOWN;
        TRY(study_site(s, stack, &burst->site, err));
        burst->first_event = i;
        for (; i < w->events && action_returns(action[i]); i++)
            burst->bytes += known_or_0(w->e->size[w->first + i]);
        burst->last_event = i - 1;
        burst++;
    }
    return VRS_OK;
}

/* The gap. */

static enum vrs_status make_gap(struct walk *w, struct timeline *to, struct vrs_error *err)
{
    const struct study *s = w->s;
    struct time_gap *gap = &to->gap;
    gap->event = to->curve[TIME_RESERVED].peak_event;
    gap->reserved_bytes = to->curve[TIME_RESERVED].peak_bytes;
    gap->requested_bytes = (int64_t)w->requested_at_reserved_peak;
    gap->pending_bytes = w->waiting_at_reserved_peak;
    struct layout layout;
    bool known = false, final = gap->event + 1 == (int64_t)w->events;
    if (!final && !grade_is_exact(w->proven->agreement->grade))
        return VRS_OK;
    TRY(layout_at(w->proven, gap->event, s->scratch, &layout, &known, err));
    if (!known || !layout.exact)
        return VRS_OK;
    for (uint32_t i = 0; i < layout.segments; i++) {
        const struct layout_segment *segment = &layout.segment[i];
        uint64_t unused = layout_segment_free(segment);
        uint64_t returned = layout_returnable(&layout, segment);
        gap->slack_bytes += segment->active - segment->requested;
        if (segment->pool != 0)
            gap->held_for_graph_bytes += unused;
        else
            gap->returnable_bytes += returned;
        gap->stranded_bytes += segment->pool != 0 ? 0 : unused - returned;
    }
    uint64_t sum =
        gap->slack_bytes + gap->returnable_bytes + gap->stranded_bytes + gap->held_for_graph_bytes;
    /* In a file that contradicts itself it does not add up, and is not shown. */
    gap->known = sum == (uint64_t)gap->reserved_bytes - (uint64_t)gap->requested_bytes;
    return VRS_OK;
}

static void list_peaks(struct timeline *to)
{
    static const enum time_curve_name shown[TIME_PEAKS] = { TIME_REQUESTED, TIME_ACTIVE,
                                                            TIME_RESERVED };
    for (int i = 0; i < TIME_PEAKS; i++) {
        const struct time_curve *c = &to->curve[shown[i]];
        to->peak[i] = (struct time_peak){
            .curve = shown[i],
            .bytes = c->peak_bytes,
            .event = c->peak_event,
            .last_event = c->last_event,
            .ties = c->ties,
            .time_us = c->peak_time_us,
        };
    }
}

static enum vrs_status compute(struct walk *w, struct timeline *to, struct vrs_error *err)
{
    TRY(map_events(w, err));
    TRY(walk_events(w, to, err));
    widen_locals(w, to);
    judge(w, to);
    list_peaks(to);
    TRY(make_groups(w, to, err));
    TRY(make_bursts(w, to, err));
    return make_gap(w, to, err);
}

enum vrs_status timeline_compute(const struct proven_study *proven, struct timeline **ret,
                                 struct vrs_error *err)
{
    const struct study *s = proven->study;
    *ret = NULL;
    if (!s->traced)
        return VRS_OK;
    struct timeline *made = arena_array(s->keep, struct timeline, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    struct walk w = {
        .proven = proven,
        .s = s,
        .r = s->r,
        .e = &s->r->events,
        .first = s->r->devices.first_event[s->device],
        .events = s->events,
    };
    struct arena_mark mark = arena_mark(s->scratch);
    enum vrs_status status = memory_groups_begin(s->r, s->device, s->scratch, &w.groups, err);
    if (status == VRS_OK)
        status = compute(&w, made, err);
    memory_groups_end(&w.groups);
    arena_release(s->scratch, mark);
    if (status == VRS_OK)
        *ret = made;
    return status;
}
