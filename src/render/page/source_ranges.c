/* source_ranges.c - walks the trace; what it returns without having reserved was there before. */
#include "render/page/source_ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

struct walk {
    const struct recording *r;
    VEC(struct page_range) open; /* mapped now, by address */
    VEC(struct page_range) done;
};

static uint64_t end_of(const struct page_range *range)
{
    return range->bytes > UINT64_MAX - range->address ? UINT64_MAX : range->address + range->bytes;
}

/* The first open range that ends above `address`. */
static uint32_t find(const struct walk *w, uint64_t address)
{
    uint32_t place;
    SORTED_FIND(place, w->open.len, end_of(&w->open.at[place]) <= address);
    return place;
}

static bool open_at(struct walk *w, uint32_t place, struct page_range range)
{
    if (!vec_reserve(&w->open, 1))
        return false;
    struct page_range *at = &w->open.at[place];
    memmove(at + 1, at, (w->open.len - place) * sizeof *at);
    *at = range;
    w->open.len++;
    return true;
}

static void drop(struct walk *w, uint32_t place)
{
    struct page_range *at = &w->open.at[place];
    w->open.len--;
    memmove(at, at + 1, (w->open.len - place) * sizeof *at);
}

static bool finish(struct walk *w, struct page_range range, uint32_t state)
{
    range.until = state - range.born;
    return state <= range.born || vec_push(&w->done, range);
}

/* Ends what lies in the range; parts that no open range has were there since the start. */
static bool close_range(struct walk *w, struct page_range gone, uint32_t state)
{
    uint64_t at = gone.address, end = end_of(&gone);
    uint32_t place = find(w, at);
    while (at < end) {
        struct page_range *open = place < w->open.len ? &w->open.at[place] : NULL;
        uint64_t next = open == NULL || open->address >= end ? end : open->address;
        if (next > at) {
            struct page_range old = { at, next - at, 0, 0, gone.stream, gone.pool };
            if (!finish(w, old, state))
                return false;
            at = next;
            continue;
        }
        if (end_of(open) <= at) {
            place++; /* ranges that lie over each other, in a file that lies */
            continue;
        }
        struct page_range whole = *open, part = whole;
        uint64_t stop = end_of(&whole) < end ? end_of(&whole) : end;
        part.address = at;
        part.bytes = stop - at;
        drop(w, place);
        if (!finish(w, part, state))
            return false;
        struct page_range before = whole, after = whole;
        before.bytes = at - whole.address;
        after.address = stop;
        after.bytes = end_of(&whole) - stop;
        if (before.bytes > 0 && !open_at(w, place++, before))
            return false;
        if (after.bytes > 0 && !open_at(w, place, after))
            return false;
        at = stop;
    }
    return true;
}

static bool take_event(struct walk *w, uint32_t row, uint32_t state)
{
    const struct events *e = &w->r->events;
    struct page_range range = { e->address[row], e->size[row],
                                state,           0,
                                e->stream[row],  w->r->contexts.pool[e->context[row]] };
    if (range.address == UNKNOWN_U64 || range.bytes == UNKNOWN_U64 || range.bytes == 0)
        return true;
    if (action_returns(e->action[row]))
        return close_range(w, range, state);
    return !action_obtains(e->action[row]) || open_at(w, find(w, range.address), range);
}

/* Final segments that no event obtained were there since the start.  An event names no pool before
 * PyTorch 2.12; the segment that it obtained, if it is there at the end, does. */
static bool add_old(struct walk *w, uint32_t segment)
{
    const struct segments *s = &w->r->segments;
    uint64_t at = s->address[segment];
    if (at == UNKNOWN_U64 || s->total_size[segment] == UNKNOWN_U64)
        return true;
    uint64_t end =
        s->total_size[segment] > UINT64_MAX - at ? UINT64_MAX : at + s->total_size[segment];
    while (at < end) {
        uint32_t place = find(w, at);
        struct page_range *open = place < w->open.len ? &w->open.at[place] : NULL;
        if (open != NULL && open->address <= at && end_of(open) > at) {
            if (open->pool == 0)
                open->pool = s->pool[segment];
            at = end_of(open);
            continue;
        }
        bool ahead = open != NULL && open->address > at && open->address < end;
        uint64_t next = ahead ? open->address : end;
        struct page_range old = { at, next - at, 0, 0, s->stream[segment], s->pool[segment] };
        if (!open_at(w, place, old))
            return false;
        at = next;
    }
    return true;
}

static int by_birth(const void *a, const void *b)
{
    const struct page_range *x = a, *y = b;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->until > y->until) - (x->until < y->until);
}

static int by_address(const void *a, const void *b)
{
    const struct page_island *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void join_islands(struct page_ranges *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        r->island[i] = (struct page_island){ r->at[i].address, r->at[i].bytes, 0 };
    if (r->count > 1)
        qsort(r->island, r->count, sizeof *r->island, by_address);
    for (uint32_t i = 0; i < r->count; i++) {
        struct page_island next = r->island[i];
        struct page_island *last = r->islands == 0 ? NULL : &r->island[r->islands - 1];
        if (last != NULL && next.address - last->address <= last->bytes) {
            uint64_t inside = next.address - last->address;
            if (next.bytes > last->bytes - inside)
                last->bytes = inside + next.bytes;
            continue;
        }
        next.before = last == NULL ? 0 : last->before + last->bytes;
        r->island[r->islands++] = next;
    }
}

uint64_t page_ranges_below(const struct page_ranges *ranges, uint64_t address)
{
    uint32_t above;
    SORTED_FIND(above, ranges->islands, ranges->island[above].address <= address);
    if (above == 0)
        return UINT64_MAX;
    const struct page_island *island = &ranges->island[above - 1];
    uint64_t inside = address - island->address;
    return inside < island->bytes ? island->before + inside : UINT64_MAX;
}

enum vrs_status page_ranges_make(const struct study *s, struct arena *arena,
                                 struct page_ranges *ret, struct vrs_error *err)
{
    const struct devices *d = &s->r->devices;
    struct walk w = { .r = s->r, .open.max = UINT32_MAX / 2, .done.max = UINT32_MAX / 2 };
    bool ok = true;
    for (uint32_t i = 0; i < s->events && ok; i++)
        ok = take_event(&w, d->first_event[s->device] + i, i + 1);
    /* Of a trace that is cut they may be younger than its last event. */
    uint32_t segments = (d->parts[s->device] & PART_ANCHOR) == 0 ? 0 : d->segments[s->device];
    for (uint32_t i = 0; i < segments && ok; i++)
        ok = add_old(&w, d->first_segment[s->device] + i);
    uint32_t count = w.open.len + w.done.len;
    struct page_ranges made = {
        .at = arena_array(arena, struct page_range, count),
        .count = count,
        .island = arena_array(arena, struct page_island, count),
    };
    ok = ok && made.at != NULL && made.island != NULL;
    for (uint32_t i = 0; ok && i < count; i++)
        made.at[i] = i < w.done.len ? w.done.at[i] : w.open.at[i - w.done.len];
    if (ok && count > 1)
        qsort(made.at, count, sizeof *made.at, by_birth);
    vec_free(&w.open);
    vec_free(&w.done);
    if (!ok)
        return vrs_no_memory(err);
    join_islands(&made);
    *ret = made;
    return VRS_OK;
}
