/* trust_checks.c - the final state, the trace and the curves, each against the others. */
#include "analysis/snapshot/trust/trust_checks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/rounding.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

enum {
    SEGMENT_UNIT = 2 << 20, /* segments are multiples of it */
    CAPACITY_TOLERANCE = 64 << 20
};

/* Keeps the first cases, by their events; those without one as they come. */
static void show_case(struct breach *f, int64_t event, uint64_t address)
{
    uint32_t at = f->count < BREACH_SHOWN ? (uint32_t)f->count : BREACH_SHOWN;
    for (; at > 0 && f->shown[at - 1].event > event; at--)
        if (at < BREACH_SHOWN)
            f->shown[at] = f->shown[at - 1];
    if (at == BREACH_SHOWN)
        return;
    f->shown[at] = (struct breach_case){ event, address };
    f->first_event = f->shown[0].event;
    f->first_address = f->shown[0].address;
}

void breach_add(struct breach *f, uint64_t bytes, int64_t event, uint64_t address)
{
    show_case(f, event, address);
    f->count++;
    f->total_bytes = bytes > UINT64_MAX - f->total_bytes ? UINT64_MAX : f->total_bytes + bytes;
    if (bytes > f->worst_bytes)
        f->worst_bytes = bytes;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void widen(uint64_t *worst, uint64_t bytes)
{
    if (bytes > *worst)
        *worst = bytes;
}

/* How far a sum is off the figure the file gives, where it gives one. */
static bool differs(uint64_t given, uint64_t sum, uint64_t *worst)
{
    if (given == UNKNOWN_U64 || given == sum)
        return false;
    widen(worst, apart(given, sum));
    return true;
}

/* What is wrong with one segment, and by how much at the most. */
struct faults {
    bool layout, totals;
    uint64_t layout_worst, totals_worst;
};

static struct faults segment_faults(const struct recording *r, uint32_t segment)
{
    const struct segments *s = &r->segments;
    const struct blocks *b = &r->blocks;
    uint64_t at = s->address[segment], allocated = 0, active = 0, requested = 0;
    bool host = r->devices.kind[s->device[segment]] == DEVICE_HOST;
    struct faults f = { .layout = false };
    for (uint32_t i = 0; i < s->blocks[segment]; i++) {
        uint32_t block = s->first_block[segment] + i;
        uint64_t size = known_or_0(b->size[block]);
        if (b->address[block] != UNKNOWN_U64)
            f.layout |= differs(b->address[block], at, &f.layout_worst);
        f.layout |= !host && size % ROUNDING_UNIT != 0;
        at += size;
        if (!block_live(r, block))
            continue;
        active += size;
        allocated += b->state[block] == BLOCK_ALLOCATED ? size : 0;
        requested += block_requested(r, block);
        if (block_requested(r, block) > size) {
            widen(&f.totals_worst, block_requested(r, block) - size);
            f.totals = true;
        }
    }
    /* Some writers leave the blocks out. */
    if (s->blocks[segment] != 0) {
        f.layout |= differs(s->total_size[segment], at - s->address[segment], &f.layout_worst);
        f.totals |= differs(s->allocated_size[segment], allocated, &f.totals_worst);
        f.totals |= differs(s->active_size[segment], active, &f.totals_worst);
        f.totals |= differs(s->requested_size[segment], requested, &f.totals_worst);
    }
    f.layout |= !host && s->total_size[segment] != UNKNOWN_U64 &&
                s->total_size[segment] % SEGMENT_UNIT != 0;
    return f;
}

static void check_sums(const struct recording *r, uint32_t device, struct checks *checks)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < r->devices.segments[device]; i++) {
        uint32_t segment = r->devices.first_segment[device] + i;
        uint64_t address = r->segments.address[segment], size = r->segments.total_size[segment];
        struct faults f = segment_faults(r, segment);
        if (i != 0 && address < end) {
            f.layout = true;
            widen(&f.layout_worst, end - address);
        }
        if (f.layout)
            breach_add(&checks->layout, f.layout_worst, -1, address);
        if (f.totals)
            breach_add(&checks->totals, f.totals_worst, -1, address);
        widen(&f.layout_worst, f.totals_worst);
        if (f.layout || f.totals)
            breach_add(&checks->sums, f.layout_worst, -1, address);
        end = size == UNKNOWN_U64 || size > UINT64_MAX - address ? address : address + size;
    }
}

static int64_t index_of(const struct recording *r, uint32_t device, uint32_t event)
{
    return event == NO_ROW ? -1 : (int64_t)event - r->devices.first_event[device];
}

/* Allocations that the trace leaves open, against the final blocks. */
static void check_end(const struct recording *r, uint32_t device, uint32_t row,
                      struct checks *checks)
{
    const struct allocations *a = &r->allocations;
    uint32_t block = a->block[row], born = a->alloc_event[row];
    uint32_t asked = a->free_requested_event[row];
    if (a->free_completed_event[row] != NO_ROW || (born == NO_ROW && asked == NO_ROW))
        return;
    uint32_t event = born != NO_ROW ? born : asked;
    uint64_t size = known_or_0(a->size[row]), address = r->events.address[event];
    bool pending = block != NO_ROW && r->blocks.state[block] == BLOCK_PENDING;
    if (asked != NO_ROW && !pending)
        breach_add(&checks->unpaired_request, size, index_of(r, device, asked), address);
    else if (asked == NO_ROW && (block == NO_ROW || pending))
        breach_add(&checks->end_mismatch, size, index_of(r, device, event), address);
    else if (block != NO_ROW && a->size[row] != UNKNOWN_U64 && size != block_requested(r, block))
        breach_add(&checks->end_mismatch, apart(size, block_requested(r, block)),
                   index_of(r, device, event), address);
}

/* Who was opened twice, freed unseen, or completed without a request. */
static void check_pairs(const struct recording *r, uint32_t device, uint32_t row,
                        struct checks *checks)
{
    const struct allocations *a = &r->allocations;
    uint32_t born = a->alloc_event[row], asked = a->free_requested_event[row];
    uint32_t done = a->free_completed_event[row];
    uint64_t size = known_or_0(a->size[row]);
    if (done == NO_ROW)
        return;
    enum event_action ended = (enum event_action)r->events.action[done];
    struct breach *found = NULL;
    if (ended == ACTION_ALLOC && born != NO_ROW)
        found = &checks->double_alloc;
    else if (ended != ACTION_ALLOC && born == NO_ROW)
        found = &checks->orphans;
    else if (ended == ACTION_FREE_COMPLETED && asked == done)
        found = &checks->skipped_actions;
    if (found != NULL)
        breach_add(found, size, index_of(r, device, done), r->events.address[done]);
}

/* Requests of which none was ever completed: the completions were not recorded. */
static void check_completions(const struct recording *r, uint32_t device, struct breach *skipped)
{
    const struct events *e = &r->events;
    uint32_t first = r->devices.first_event[device];
    struct breach requests = { 0 };
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        uint8_t action = e->action[first + i];
        if (action == ACTION_FREE_COMPLETED || action == ACTION_FREE)
            return;
        if (action == ACTION_FREE_REQUESTED)
            breach_add(&requests, known_or_0(e->size[first + i]), i, e->address[first + i]);
    }
    /* One or two may honestly wait for another stream. */
    if (requests.count > 2)
        *skipped = requests;
}

static void check_allocations(const struct recording *r, uint32_t device, bool anchored,
                              struct checks *checks)
{
    for (uint32_t i = 0; i < r->devices.allocations[device]; i++) {
        uint32_t row = r->devices.first_allocation[device] + i;
        if (anchored)
            check_end(r, device, row, checks);
        check_pairs(r, device, row, checks);
    }
    check_completions(r, device, &checks->skipped_actions);
}

static void check_start(int64_t backward, struct checks *checks)
{
    int64_t forward = checks->forward_start_bytes;
    if (backward < 0)
        breach_add(&checks->negative_start, 0 - (uint64_t)backward, -1, UNKNOWN_U64);
    else if (forward != backward)
        breach_add(&checks->baselines_differ,
                   forward > backward ? (uint64_t)forward - (uint64_t)backward
                                      : (uint64_t)backward - (uint64_t)forward,
                   -1, UNKNOWN_U64);
}

static void check_curves(const struct recording *r, uint32_t device, const struct curves *curves,
                         struct checks *checks)
{
    struct curve_conflicts c;
    curves_conflicts(r, device, curves, &c);
    int64_t reserved = curves->of[CURVE_RESERVED].start_bytes;
    if (c.above_events != 0)
        checks->above_reserved = (struct breach){
            .count = c.above_events,
            .total_bytes = c.above_worst_bytes,
            .worst_bytes = c.above_worst_bytes,
            .first_event = c.above_first_event,
            .first_address = UNKNOWN_U64,
        };
    for (uint32_t i = 0; i < BREACH_SHOWN; i++)
        checks->above_reserved.shown[i] = (struct breach_case){ c.above_event[i], UNKNOWN_U64 };
    if (c.above_events == 0 && reserved < 0)
        breach_add(&checks->above_reserved, 0 - (uint64_t)reserved, -1, UNKNOWN_U64);

    uint64_t spread = (uint64_t)c.capacity_most_bytes - (uint64_t)c.capacity_least_bytes;
    if (c.ooms > 1 && spread > CAPACITY_TOLERANCE) {
        breach_add(&checks->capacity_varies, spread, c.first_oom_event, UNKNOWN_U64);
        checks->capacity_varies.count = c.ooms;
    }
}

static void check_times(const struct recording *r, uint32_t device, struct checks *checks)
{
    uint32_t first = r->devices.first_event[device];
    uint64_t before = 0, gap = 0;
    for (uint32_t i = 0; i < r->devices.events[device]; i++) {
        uint64_t time = r->events.time_us[first + i];
        if (time == UNKNOWN_U64) {
            breach_add(&checks->no_time, 0, i, UNKNOWN_U64);
            continue;
        }
        if (time < before) {
            breach_add(&checks->time_backwards, 0, i, UNKNOWN_U64);
        } else if (time - before > gap && before != 0) {
            gap = time - before;
            checks->largest_gap_us = gap;
            checks->largest_gap_event = i;
        }
        before = time;
    }
}

static void count_unknown_actions(const struct recording *r, uint32_t device, struct breach *f)
{
    uint32_t first = r->devices.first_event[device];
    for (uint32_t i = 0; i < r->devices.events[device]; i++)
        if (r->events.action[first + i] == ACTION_OTHER)
            breach_add(f, 0, i, r->events.address[first + i]);
}

void checks_add_curves(const struct recording *r, uint32_t device, const struct curves *curves,
                       struct checks *checks)
{
    if (!device_traced(r, device) || (r->devices.parts[device] & PART_ANCHOR) == 0)
        return;
    check_start(curves->of[CURVE_REQUESTED].start_bytes, checks);
    check_curves(r, device, curves, checks);
}

enum vrs_status checks_run(const struct recording *r, uint32_t device, struct checks *ret,
                           struct vrs_error *err)
{
    uint8_t parts = r->devices.parts[device];
    bool anchored = (parts & PART_ANCHOR) != 0;
    struct checks checks = {
        .forward_start_bytes = forward_start_bytes(r, device),
        .largest_gap_us = UNKNOWN_U64,
        .largest_gap_event = -1,
    };
    if ((parts & PART_SEGMENTS) != 0)
        check_sums(r, device, &checks);
    count_unknown_actions(r, device, &checks.unknown_actions);
    if (device_traced(r, device)) {
        check_allocations(r, device, anchored, &checks);
        check_times(r, device, &checks);
        if (anchored)
            TRY(find_unknown_segments(r, device, &checks.unknown_segment, err));
    }
    *ret = checks;
    return VRS_OK;
}
