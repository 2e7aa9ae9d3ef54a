/* curves.c - running sums over the events of a device.
 *
 * A pass keeps the sum of changes since the start, d.  Where the end is known the start follows
 * from it: start = end - d(n).  All sums are kept unsigned, so that hostile sizes wrap instead of
 * being undefined, and are read as signed when compared. */
#include "analysis/snapshot/curves/curves.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/rounding.h"
#include "allocator/replay/recorded.h"
#include "base/table.h"
#include "model/ids.h"

const char *const curve_names[CURVES] = {
    [CURVE_REQUESTED] = "requested",
    [CURVE_ALLOCATED] = "allocated",
    [CURVE_ACTIVE] = "active",
    [CURVE_RESERVED] = "reserved",
};

int64_t forward_start_bytes(const struct recording *r, uint32_t device)
{
    const struct allocations *a = &r->allocations;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        uint32_t row = r->devices.first_allocation[device] + i;
        if (a->alloc_event[row] == NO_ROW)
            sum += known_or_0(a->size[row]);
    }
    return (int64_t)sum;
}

/* The top of d, and at which events d stands there. */
struct top {
    int64_t value, first, last;
};

/* Memory of the trace that waits at its end for another stream: its block is known, and taken
 * back at its request.  Few wait at a time; those beyond count as rounded requests. */
enum { WAITING_MAX = 64 };
struct waiting {
    uint32_t requested_event; /* row */
    uint64_t block_bytes;
};

/* A walk over the events of one device. */
struct walk {
    const struct recording *r;
    struct rounding rounding;
    uint32_t event, events_begin, events_end; /* rows */
    uint32_t allocation, allocations_end;     /* the rows not yet met */
    struct waiting waiting[WAITING_MAX];
    uint32_t waits;
    bool completion_is_request;
    bool size_missing; /* an event that should change a curve had no size */
    uint64_t ooms;
    uint64_t d[CURVES];
    struct top top[CURVES];
    int64_t most_above_reserved; /* of the differences of d */
    uint64_t reserved_at_top;    /* d of the reserved curve where the requested one is highest */
};

/* Was a request skipped for an allocation whose alloc and completion are both here? */
static bool requests_skipped(const struct recording *r, uint32_t device)
{
    const struct allocations *a = &r->allocations;
    uint32_t first = r->devices.first_event[device];
    for (uint32_t i = 0; i < r->devices.events[device]; i++)
        if (r->events.action[first + i] == ACTION_FREE_REQUESTED)
            return false;
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        uint32_t row = r->devices.first_allocation[device] + i;
        if (a->alloc_event[row] != NO_ROW && a->free_completed_event[row] != NO_ROW &&
            r->events.action[a->free_completed_event[row]] == ACTION_FREE_COMPLETED)
            return true;
    }
    return false;
}

static struct walk walk_of(const struct recording *r, uint32_t device)
{
    const struct devices *d = &r->devices;
    return (struct walk){
        .r = r,
        .rounding = rounding_of(r),
        .event = d->first_event[device],
        .events_begin = d->first_event[device],
        .events_end = d->first_event[device] + d->events[device],
        .allocation = d->first_allocation[device],
        .allocations_end = d->first_allocation[device] + d->allocations[device],
        .completion_is_request = requests_skipped(r, device),
        .top = { { 0, -1, -1 }, { 0, -1, -1 }, { 0, -1, -1 }, { 0, -1, -1 } },
    };
}

/* A curve's top ends where the curve leaves it, so that events that change nothing cost nothing. */
static void walk_change(struct walk *w, enum curve_name which, uint64_t change)
{
    struct top *top = &w->top[which];
    int64_t event = w->event - w->events_begin;
    if ((int64_t)w->d[which] == top->value)
        top->last = event - 1;
    w->d[which] += change;
    if ((int64_t)w->d[which] > top->value) {
        top->value = (int64_t)w->d[which];
        top->first = event;
    }
}

/* The allocation that this event is the first sight of, or NO_ROW.  Allocations stand in the
 * order of their first events, those that only the final blocks show behind all others. */
static uint32_t walk_find(struct walk *w)
{
    const struct allocations *a = &w->r->allocations;
    while (w->allocation < w->allocations_end) {
        uint32_t row = w->allocation, first = a->alloc_event[row];
        if (first == NO_ROW)
            first = a->free_requested_event[row];
        if (first == NO_ROW || first > w->event)
            break;
        w->allocation++;
        if (first == w->event)
            return row;
    }
    return NO_ROW;
}

static void walk_alloc(struct walk *w, uint64_t size)
{
    const struct allocations *a = &w->r->allocations;
    uint64_t active = rounding_apply(&w->rounding, size), allocated = active;
    uint32_t row = walk_find(w);
    if (row != NO_ROW && a->block[row] != NO_ROW) {
        uint32_t requested = a->free_requested_event[row];
        active = known_or_0(w->r->blocks.size[a->block[row]]);
        if (requested == NO_ROW || w->waits < WAITING_MAX)
            allocated = active;
        if (requested != NO_ROW && w->waits < WAITING_MAX)
            w->waiting[w->waits++] = (struct waiting){ requested, active };
    }
    walk_change(w, CURVE_REQUESTED, size);
    if (w->top[CURVE_REQUESTED].first == w->event - w->events_begin)
        w->reserved_at_top = w->d[CURVE_RESERVED];
    walk_change(w, CURVE_ACTIVE, active);
    walk_change(w, CURVE_ALLOCATED, allocated);
}

static void walk_request(struct walk *w, uint64_t size)
{
    uint32_t row = walk_find(w), block = row == NO_ROW ? NO_ROW : w->r->allocations.block[row];
    uint64_t held = rounding_apply(&w->rounding, size);
    /* Older than the trace and still waiting at its end. */
    if (block != NO_ROW)
        held = known_or_0(w->r->blocks.size[block]);
    for (uint32_t i = 0; i < w->waits; i++)
        if (w->waiting[i].requested_event == w->event)
            held = w->waiting[i].block_bytes;
    walk_change(w, CURVE_ALLOCATED, -held);
}

/* Only an alloc or a returned segment brings the requested bytes nearer to the reserved ones. */
static void walk_compare(struct walk *w)
{
    int64_t above = (int64_t)(w->d[CURVE_REQUESTED] - w->d[CURVE_RESERVED]);
    if (above > w->most_above_reserved)
        w->most_above_reserved = above;
}

/* Applies one event.  Called from one place, where it becomes part of the loop. */
static inline void walk_step(struct walk *w)
{
    const struct events *e = &w->r->events;
    enum event_action action = (enum event_action)e->action[w->event];
    uint64_t size = e->size[w->event];
    bool missing = size == UNKNOWN_U64;
    switch (action) {
    case ACTION_ALLOC:
        if (!missing)
            walk_alloc(w, size);
        walk_compare(w);
        break;
    case ACTION_FREE_REQUESTED:
        if (!missing)
            walk_request(w, size);
        break;
    case ACTION_FREE_COMPLETED:
    case ACTION_FREE:
        if (missing)
            break;
        walk_change(w, CURVE_REQUESTED, -size);
        walk_change(w, CURVE_ACTIVE, -rounding_apply(&w->rounding, size));
        if (action == ACTION_FREE || w->completion_is_request)
            walk_change(w, CURVE_ALLOCATED, -rounding_apply(&w->rounding, size));
        break;
    case ACTION_SEGMENT_ALLOC:
    case ACTION_SEGMENT_MAP:
        walk_change(w, CURVE_RESERVED, known_or_0(size));
        break;
    case ACTION_SEGMENT_FREE:
    case ACTION_SEGMENT_UNMAP:
        walk_change(w, CURVE_RESERVED, -known_or_0(size));
        walk_compare(w);
        break;
    case ACTION_OOM:
        w->ooms++;
        missing = false;
        break;
    case ACTION_OTHER:
    case ACTION_SNAPSHOT:
    case ACTION_ANNOTATE:
    case ACTION_USER_DEFINED:
    case ACTIONS:
        missing = false;
        break;
    }
    w->size_missing |= missing;
    w->event++;
}

/* Applies the events before `end`, a row. */
static void walk_to(struct walk *w, uint32_t end)
{
    while (w->event < end)
        walk_step(w);
}

/* The final state, as the segments and blocks give it. */
static void final_bytes(const struct recording *r, uint32_t device, uint64_t ret[CURVES])
{
    const struct devices *d = &r->devices;
    for (uint32_t i = 0; i < CURVES; i++)
        ret[i] = 0;
    for (uint32_t i = 0; i < d->segments[device]; i++)
        ret[CURVE_RESERVED] += known_or_0(r->segments.total_size[d->first_segment[device] + i]);
    for (uint32_t i = 0; i < d->blocks[device]; i++) {
        uint32_t block = d->first_block[device] + i;
        if (!block_live(r, block))
            continue;
        ret[CURVE_REQUESTED] += block_requested(r, block);
        ret[CURVE_ACTIVE] += known_or_0(r->blocks.size[block]);
        if (r->blocks.state[block] == BLOCK_ALLOCATED)
            ret[CURVE_ALLOCATED] += known_or_0(r->blocks.size[block]);
    }
}

static bool final_sizes_known(const struct recording *r, uint32_t device)
{
    const struct devices *d = &r->devices;
    bool known = true;
    for (uint32_t i = 0; i < d->segments[device]; i++)
        known = known && r->segments.total_size[d->first_segment[device] + i] != UNKNOWN_U64;
    for (uint32_t i = 0; i < d->blocks[device]; i++)
        known = known && r->blocks.size[d->first_block[device] + i] != UNKNOWN_U64;
    return known;
}

/* Bytes that a cut trace proves to lie before it. */
static void forward_start(const struct recording *r, uint32_t device, uint64_t ret[CURVES])
{
    const struct allocations *a = &r->allocations;
    struct rounding rounding = rounding_of(r);
    for (uint32_t i = 0; i < CURVES; i++)
        ret[i] = 0;
    ret[CURVE_RESERVED] = r->devices.returned_unobtained_bytes[device];
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        uint32_t row = r->devices.first_allocation[device] + i;
        uint32_t asked = a->free_requested_event[row];
        if (a->alloc_event[row] != NO_ROW || a->size[row] == UNKNOWN_U64 || asked == NO_ROW)
            continue;
        uint64_t block = rounding_apply(&rounding, a->size[row]);
        ret[CURVE_REQUESTED] += a->size[row];
        ret[CURVE_ACTIVE] += block;
        if (r->events.action[asked] != ACTION_FREE_COMPLETED)
            ret[CURVE_ALLOCATED] += block;
    }
}

static bool anchored(const struct recording *r, uint32_t device)
{
    return (r->devices.parts[device] & PART_ANCHOR) != 0;
}

/* The values before the first event.  A device whose end is no anchor starts at what its trace
 * proves; one without events is its final state. */
static void start_bytes(const struct recording *r, uint32_t device, uint64_t ret[CURVES])
{
    if (!anchored(r, device) && r->devices.events[device] != 0) {
        forward_start(r, device, ret);
        return;
    }
    final_bytes(r, device, ret);
    struct walk w = walk_of(r, device);
    walk_to(&w, w.events_end);
    for (uint32_t i = 0; i < CURVES; i++)
        ret[i] -= w.d[i];
}

/* Walks to the end, where a curve may still stand at its top. */
static void walk_all(struct walk *w)
{
    walk_to(w, w->events_end);
    for (uint32_t i = 0; i < CURVES; i++)
        if ((int64_t)w->d[i] == w->top[i].value)
            w->top[i].last = (int64_t)(w->events_end - w->events_begin) - 1;
}

/* Requested and reserved bytes are exact where nothing contradicts the end they are counted from;
 * block sizes are only ever all known where there is nothing to count. */
static void judge_exact(const struct recording *r, uint32_t device, bool size_missing,
                        struct curves *ret)
{
    bool whole = anchored(r, device), still = r->devices.events[device] == 0;
    struct curve *requested = &ret->of[CURVE_REQUESTED], *reserved = &ret->of[CURVE_RESERVED];
    requested->exact = whole && !size_missing && requested->start_bytes >= 0 &&
                       ret->most_above_reserved_bytes <= 0 &&
                       (still || requested->start_bytes == forward_start_bytes(r, device));
    reserved->exact = whole && !size_missing && reserved->start_bytes >= 0;
    ret->of[CURVE_ALLOCATED].exact = ret->of[CURVE_ACTIVE].exact = whole && still;
}

void curves_compute(const struct recording *r, uint32_t device, struct curves *ret)
{
    bool whole = anchored(r, device), still = r->devices.events[device] == 0;
    uint64_t start[CURVES], end[CURVES];
    struct walk w = walk_of(r, device);
    walk_all(&w);
    *ret = (struct curves){ .oom_events = w.ooms };
    final_bytes(r, device, end);
    if (whole || still)
        for (uint32_t i = 0; i < CURVES; i++)
            start[i] = end[i] - w.d[i];
    else
        forward_start(r, device, start);

    for (uint32_t i = 0; i < CURVES; i++)
        ret->of[i] = (struct curve){
            .start_bytes = (int64_t)start[i],
            .peak_bytes = (int64_t)(start[i] + (uint64_t)w.top[i].value),
            .end_bytes = (int64_t)end[i],
            .peak_event = w.top[i].first,
            .peak_last_event = w.top[i].last,
            .start_known = whole,
            .end_known = (r->devices.parts[device] & PART_SEGMENTS) != 0,
        };
    ret->reserved_at_peak_bytes = (int64_t)(start[CURVE_RESERVED] + w.reserved_at_top);
    ret->most_above_reserved_bytes =
        (int64_t)(start[CURVE_REQUESTED] - start[CURVE_RESERVED] + (uint64_t)w.most_above_reserved);
    ret->sizes_known = !w.size_missing && final_sizes_known(r, device);
    judge_exact(r, device, w.size_missing, ret);
}

static void prove_curve(struct curve *curve, const struct exact_curve *exact, bool certain)
{
    curve->start_bytes = exact->start_bytes;
    curve->peak_bytes = exact->peak_bytes;
    curve->end_bytes = exact->end_bytes;
    curve->peak_event = exact->peak_event;
    curve->peak_last_event = exact->peak_last_event;
    curve->exact = certain;
}

void curves_prove(struct curves *curves, const struct agreement *agreement)
{
    bool certain = agreement->ambiguous == 0;
    if (!grade_is_exact(agreement->grade))
        return;
    prove_curve(&curves->of[CURVE_ALLOCATED], &agreement->allocated, certain);
    prove_curve(&curves->of[CURVE_ACTIVE], &agreement->active, certain);
}

static void note_oom(const struct recording *r, uint32_t event, int64_t index, int64_t reserved,
                     struct curve_conflicts *c)
{
    uint64_t left = r->events.address[event];
    if (r->events.action[event] != ACTION_OOM || left == UNKNOWN_U64)
        return;
    int64_t capacity = (int64_t)((uint64_t)reserved + left);
    if (c->ooms++ == 0) {
        c->first_oom_event = index;
        c->capacity_least_bytes = c->capacity_most_bytes = capacity;
    }
    if (capacity < c->capacity_least_bytes)
        c->capacity_least_bytes = capacity;
    if (capacity > c->capacity_most_bytes)
        c->capacity_most_bytes = capacity;
}

void curves_conflicts(const struct recording *r, uint32_t device, const struct curves *curves,
                      struct curve_conflicts *ret)
{
    struct curve_conflicts c = { .above_first_event = -1, .first_oom_event = -1 };
    *ret = c;
    /* In an honest file there is nothing to look for. */
    if (curves->most_above_reserved_bytes <= 0 && curves->oom_events < 2)
        return;
    uint64_t requested_start = (uint64_t)curves->of[CURVE_REQUESTED].start_bytes;
    uint64_t reserved_start = (uint64_t)curves->of[CURVE_RESERVED].start_bytes;
    struct walk w = walk_of(r, device);
    for (int64_t index = -1;; index++) {
        int64_t requested = (int64_t)(requested_start + w.d[CURVE_REQUESTED]);
        int64_t reserved = (int64_t)(reserved_start + w.d[CURVE_RESERVED]);
        if (requested > reserved) {
            uint64_t over = (uint64_t)requested - (uint64_t)reserved;
            if (c.above_events < CONFLICTS_SHOWN)
                c.above_event[c.above_events] = index;
            if (c.above_events++ == 0)
                c.above_first_event = index;
            if (over > c.above_worst_bytes)
                c.above_worst_bytes = over;
        }
        if (index >= 0)
            note_oom(r, w.event - 1, index, reserved, &c);
        if (w.event == w.events_end)
            break;
        walk_to(&w, w.event + 1);
    }
    *ret = c;
}

/* How an action changes the requested and the reserved bytes.  These two follow from the events
 * alone, so drawing and looking them up needs no walk. */
static const int8_t event_sign[ACTIONS][2] = {
    [ACTION_ALLOC] = { 1, 0 },          [ACTION_FREE_COMPLETED] = { -1, 0 },
    [ACTION_FREE] = { -1, 0 },          [ACTION_SEGMENT_ALLOC] = { 0, 1 },
    [ACTION_SEGMENT_MAP] = { 0, 1 },    [ACTION_SEGMENT_FREE] = { 0, -1 },
    [ACTION_SEGMENT_UNMAP] = { 0, -1 },
};

/* What the events [at, end), rows, add to one of the two. */
static uint64_t sum_of(const struct recording *r, bool reserved, uint32_t at, uint32_t end)
{
    uint64_t sum = 0;
    for (; at < end; at++)
        sum += reserved ? reserved_change(r, at) : requested_change(r, at);
    return sum;
}

void curves_draw(const struct recording *r, uint32_t device, const struct curves *curves,
                 uint32_t columns, int64_t *ret_requested, int64_t *ret_reserved)
{
    const struct events *e = &r->events;
    uint64_t states = (uint64_t)r->devices.events[device] + 1, state = 0;
    uint64_t d[2] = { (uint64_t)curves->of[CURVE_REQUESTED].start_bytes,
                      (uint64_t)curves->of[CURVE_RESERVED].start_bytes };
    for (uint32_t i = 0; i < columns; i++) {
        uint64_t from = i * states / columns, to = (i + (uint64_t)1) * states / columns;
        int64_t most[2] = { (int64_t)d[0], (int64_t)d[1] };
        /* State s is reached by the first s events; a span of none holds the state before it. */
        for (; state < (to > from ? to - 1 : from); state++) {
            uint32_t event = r->devices.first_event[device] + (uint32_t)state;
            uint64_t size = known_or_0(e->size[event]);
            for (int c = 0; c < 2; c++) {
                d[c] += (uint64_t)(int64_t)event_sign[e->action[event]][c] * size;
                if (state < from || (int64_t)d[c] > most[c])
                    most[c] = (int64_t)d[c];
            }
        }
        ret_requested[i] = most[0];
        ret_reserved[i] = most[1];
    }
}

int64_t curve_peak_event(const struct recording *r, uint32_t device, enum curve_name which)
{
    uint32_t first = r->devices.first_event[device];
    uint64_t d = 0;
    int64_t most = 0, found = -1;
    bool reserved = which == CURVE_RESERVED;
    assert(reserved || which == CURVE_REQUESTED);
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        d += reserved ? reserved_change(r, first + i) : requested_change(r, first + i);
        if ((int64_t)d > most) {
            most = (int64_t)d;
            found = i;
        }
    }
    return found;
}

int64_t curve_peak_before(const struct recording *r, uint32_t device, const struct curves *curves,
                          int64_t event, int64_t *ret_event)
{
    uint32_t at = r->devices.first_event[device];
    uint64_t d = (uint64_t)curves->of[CURVE_REQUESTED].start_bytes;
    int64_t most = (int64_t)d;
    *ret_event = -1;
    for (int64_t i = 0; i < event; i++) {
        d += requested_change(r, at++);
        if ((int64_t)d > most) {
            most = (int64_t)d;
            *ret_event = i;
        }
    }
    return most;
}

int64_t curve_at(const struct recording *r, uint32_t device, enum curve_name which, int64_t event)
{
    uint32_t first = r->devices.first_event[device], events = r->devices.events[device];
    uint32_t applied = event + 1 < (int64_t)events ? (uint32_t)(event + 1) : events;
    bool reserved = which == CURVE_RESERVED;
    if (which == CURVE_REQUESTED || reserved) {
        uint64_t bytes[CURVES];
        if (anchored(r, device) || events == 0) {
            final_bytes(r, device, bytes);
            return (int64_t)(bytes[which] - sum_of(r, reserved, first + applied, first + events));
        }
        forward_start(r, device, bytes);
        return (int64_t)(bytes[which] + sum_of(r, reserved, first, first + applied));
    }
    uint64_t start[CURVES];
    start_bytes(r, device, start);
    struct walk w = walk_of(r, device);
    walk_to(&w, first + applied);
    return (int64_t)(start[which] + w.d[which]);
}

bool device_traced(const struct recording *r, uint32_t device)
{
    if (r->devices.events[device] != 1 || !anchored(r, device))
        return r->devices.events[device] != 0;
    if (r->events.action[r->devices.first_event[device]] == ACTION_OOM)
        return true;
    uint64_t start[CURVES];
    start_bytes(r, device, start);
    return start[CURVE_REQUESTED] == 0 && start[CURVE_RESERVED] == 0;
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

uint64_t micros_after_first(const struct recording *r, uint32_t device, int64_t event)
{
    if (event < 0 || event >= (int64_t)r->devices.events[device])
        return UNKNOWN_U64;
    uint32_t first = r->devices.first_event[device];
    uint64_t start = r->events.time_us[first], then = r->events.time_us[first + (uint32_t)event];
    /* A time below 0 is read as one beyond what is signed. */
    if (start > INT64_MAX || then > INT64_MAX || then < start)
        return UNKNOWN_U64;
    return then - start;
}
