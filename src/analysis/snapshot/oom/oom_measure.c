/* oom_measure.c - sums over the layout at the moment of a failed request. */
#include "analysis/snapshot/oom/oom_measure.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/replay/recorded.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

/* Sums while segments are walked. */
struct tally {
    const struct oom_request *request;
    struct allocator_config config;
    bool small; /* the request's class */
    struct oom_measured *m;
};

static bool same_lane(const struct layout_segment *segment, const struct oom_request *request)
{
    return segment->pool == request->pool && segment->stream == request->stream;
}

/* May a free block of that size be taken for the request, if it is large enough? */
static bool may_take(const struct tally *t, uint64_t size)
{
    uint64_t want = t->request->bytes, split = t->config.max_split_bytes;
    if (want == UNKNOWN_U64 || size < want)
        return true;
    if (want < split)
        return size < split;
    return size - want < t->config.non_split_rounding_bytes;
}

/* Pages that the device still has for memory that grows. */
static uint64_t pages_free(const struct tally *t, const struct layout_segment *segment)
{
    uint64_t page = layout_page(&t->m->layout, segment), free = t->m->figures.device_free;
    return page == 0 || free == UNKNOWN_U64 ? 0 : free / page * page;
}

static void count_run(struct tally *t, const struct layout_segment *segment, uint32_t i)
{
    struct oom_figures *f = &t->m->figures;
    uint64_t size = t->m->layout.block[segment->first_block + i].size, grown = size;
    t->m->free_runs++;
    t->m->largest_run = size > t->m->largest_run ? size : t->m->largest_run;
    if (segment->small != t->small || !may_take(t, size))
        return;
    if (segment->expandable && i + 1 == segment->blocks)
        grown += pages_free(t, segment);
    f->largest_usable = size > f->largest_usable ? size : f->largest_usable;
    f->largest_growable = grown > f->largest_growable ? grown : f->largest_growable;
}

static void count_segment(struct tally *t, const struct layout_segment *segment)
{
    struct oom_figures *f = &t->m->figures;
    uint64_t free = layout_segment_free(segment);
    f->active += segment->active;
    f->pending += segment->pending;
    f->returnable += layout_returnable(&t->m->layout, segment);
    if (segment->pool != t->request->pool)
        f->private_free += free;
    else if (segment->stream != t->request->stream)
        f->other_stream_free += free;
    else
        f->internal_free += free;
    for (uint32_t i = 0; same_lane(segment, t->request) && i < segment->blocks; i++)
        if (t->m->layout.block[segment->first_block + i].state == BLOCK_INACTIVE)
            count_run(t, segment, i);
}

/* Without a layout: blocks alive have a size, but no place. */
static void count_living(const struct proven_study *proven, int64_t event, struct oom_figures *f)
{
    const struct study *s = proven->study;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *life = &s->lifetimes.at[i];
        if (!lifetime_alive(life, event))
            continue;
        uint64_t block = proven_block(proven, i).bytes;
        f->active += block;
        f->pending += life->requested <= event ? block : 0;
    }
}

enum vrs_status oom_measure(const struct proven_study *proven, int64_t event,
                            const struct oom_request *request, struct arena *arena,
                            struct oom_measured *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct oom_measured m = { .figures = { .request = request->bytes,
                                           .segment = UNKNOWN_U64,
                                           .device_free = UNKNOWN_U64,
                                           .total = UNKNOWN_U64,
                                           .process = UNKNOWN_U64,
                                           .allowed = UNKNOWN_U64,
                                           .said_private = UNKNOWN_U64 } };
    struct tally t = { .request = request,
                       .config = config_of_recording(s->r),
                       .small = request->bytes <= SMALL_BLOCK_MAX,
                       .m = &m };
    struct oom_figures *f = &m.figures;
    int64_t reserved = curve_at(s->r, s->device, CURVE_RESERVED, event);
    f->reserved = reserved < 0 ? UNKNOWN_U64 : (uint64_t)reserved;
    if (request->bytes != UNKNOWN_U64)
        f->segment = config_segment_bytes(&t.config, request->bytes);
    if (event >= 0 &&
        s->r->events.action[s->r->devices.first_event[s->device] + event] == ACTION_OOM)
        f->device_free = s->r->events.address[s->r->devices.first_event[s->device] + event];
    TRY(layout_at(proven, event, arena, &m.layout, &m.laid_out, err));
    if (m.laid_out) {
        for (uint32_t i = 0; i < m.layout.segments; i++)
            count_segment(&t, &m.layout.segment[i]);
    } else {
        count_living(proven, event, f);
        f->internal_free = f->largest_usable = f->largest_growable = f->returnable = UNKNOWN_U64;
        f->other_stream_free = f->private_free = m.free_runs = m.largest_run = UNKNOWN_U64;
    }
    /* Sums that leave out what has no size say nothing. */
    if (!s->curves.sizes_known) {
        f->reserved = f->active = f->pending = f->returnable = UNKNOWN_U64;
        f->internal_free = f->largest_usable = f->largest_growable = UNKNOWN_U64;
        f->other_stream_free = f->private_free = m.free_runs = m.largest_run = UNKNOWN_U64;
    }
    *ret = m;
    return VRS_OK;
}

/* Evidence. */

static int by_free_of_place(const void *a, const void *b)
{
    const struct oom_place *x = a, *y = b;
    if (x->free_bytes != y->free_bytes)
        return x->free_bytes > y->free_bytes ? -1 : 1;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (int)x->small - (int)y->small;
}

/* One request takes from one block. */
static uint64_t largest_free_block(const struct layout *l, const struct layout_segment *segment)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < segment->blocks; i++) {
        const struct layout_block *b = &l->block[segment->first_block + i];
        if (b->state == BLOCK_INACTIVE && b->size > largest)
            largest = b->size;
    }
    return largest;
}

static void add_to_place(const struct layout *l, const struct layout_segment *segment,
                         struct oom_place *place)
{
    uint64_t largest = largest_free_block(l, segment);
    place->reserved_bytes += segment->size;
    place->active_bytes += segment->active;
    place->free_bytes += layout_segment_free(segment);
    place->returnable_bytes += layout_returnable(l, segment);
    if (largest > place->largest_free_bytes)
        place->largest_free_bytes = largest;
}

static struct oom_place place_of(const struct study *s, const struct layout_segment *segment)
{
    const struct pools *pools = &s->r->pools;
    uint32_t pool = segment->pool;
    return (struct oom_place){
        .pool = pool,
        .pool_ids = { pool == 0 ? 0 : pools->first[pool], pool == 0 ? 0 : pools->second[pool] },
        .stream = segment->stream,
        .small = segment->small,
    };
}

static enum vrs_status find_places(const struct study *s, const struct layout *l,
                                   struct oom_evidence *ret, struct vrs_error *err)
{
    struct layout_segment **order = arena_array(s->scratch, struct layout_segment *, l->segments);
    struct oom_place *place = arena_array(s->keep, struct oom_place, l->segments);
    uint32_t places = 0;
    if (order == NULL || place == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < l->segments; i++)
        order[i] = &l->segment[i];
    if (l->segments > 1)
        qsort(order, l->segments, sizeof *order, layout_by_lane);
    for (uint32_t i = 0; i < l->segments; i++) {
        const struct layout_segment *segment = order[i], *before = i == 0 ? NULL : order[i - 1];
        if (before == NULL || before->pool != segment->pool || before->stream != segment->stream ||
            before->small != segment->small)
            place[places++] = place_of(s, segment);
        add_to_place(l, segment, &place[places - 1]);
    }
    if (places > 1)
        qsort(place, places, sizeof *place, by_free_of_place);
    ret->place = place;
    ret->places = places;
    return VRS_OK;
}

/* The stack of a block that is not free; none where nothing is known of it. */
static stack_id stack_of(const struct study *s, const struct layout_block *b)
{
    return b->lifetime == NO_ROW ? (stack_id){ 0 } : s->lifetimes.at[b->lifetime].alloc_stack;
}

static enum vrs_status make_pin(const struct study *s, const struct layout *l,
                                const struct layout_segment *segment, struct oom_pin *ret,
                                struct vrs_error *err)
{
    const struct layout_block *largest = NULL;
    struct oom_pin pin = { .address = segment->address,
                           .total_bytes = segment->size,
                           .free_bytes = layout_segment_free(segment),
                           .active_bytes = segment->active };
    for (uint32_t i = 0; i < segment->blocks; i++) {
        const struct layout_block *b = &l->block[segment->first_block + i];
        if (b->state == BLOCK_INACTIVE)
            continue;
        pin.blocks++;
        if (largest == NULL || b->size > largest->size)
            largest = b;
    }
    stack_id stack = largest == NULL ? (stack_id){ 0 } : stack_of(s, largest);
    TRY(study_site(s, stack, &pin.site, err));
    *ret = pin;
    return VRS_OK;
}

/* The few segments of the request's kind with most free memory held back by blocks, in order. */
static enum vrs_status find_pins(const struct study *s, const struct layout *l,
                                 const struct oom_request *request, struct oom_evidence *ret,
                                 struct vrs_error *err)
{
    const struct layout_segment *most[OOM_PINS_MOST] = { NULL };
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->segments; i++) {
        const struct layout_segment *segment = &l->segment[i];
        uint64_t free = layout_segment_free(segment);
        if (!same_lane(segment, request) || free == 0 || segment->active == 0)
            continue;
        uint32_t at = count < OOM_PINS_MOST ? count++ : OOM_PINS_MOST;
        for (; at > 0 && free > layout_segment_free(most[at - 1]); at--)
            if (at < OOM_PINS_MOST)
                most[at] = most[at - 1];
        if (at < OOM_PINS_MOST)
            most[at] = segment;
    }
    ret->pin = arena_array(s->keep, struct oom_pin, count);
    if (ret->pin == NULL)
        return vrs_no_memory(err);
    for (; ret->pins < count; ret->pins++)
        TRY(make_pin(s, l, most[ret->pins], &ret->pin[ret->pins], err));
    return VRS_OK;
}

static int by_stack(const void *a, const void *b)
{
    const struct oom_pending *x = a, *y = b;
    return (x->site.stack.n > y->site.stack.n) - (x->site.stack.n < y->site.stack.n);
}

static int by_bytes(const void *a, const void *b)
{
    const struct oom_pending *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->oldest_event != y->oldest_event)
        return x->oldest_event < y->oldest_event ? -1 : 1;
    return by_stack(a, b);
}

/* Rows of equal stacks stand side by side; the first of them takes the rest. */
static uint32_t join_pending(struct oom_pending *row, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct oom_pending *last = kept == 0 ? NULL : &row[kept - 1];
        if (last == NULL || last->site.stack.n != row[i].site.stack.n) {
            row[kept++] = row[i];
            continue;
        }
        last->bytes += row[i].bytes;
        last->count++;
        if (row[i].oldest_event < last->oldest_event)
            last->oldest_event = row[i].oldest_event;
    }
    return kept;
}

static enum vrs_status find_pending(const struct study *s, const struct layout *l,
                                    struct oom_evidence *ret, struct vrs_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->blocks; i++)
        count += l->block[i].state == BLOCK_PENDING;
    struct oom_pending *row = arena_array(s->keep, struct oom_pending, count);
    if (row == NULL)
        return vrs_no_memory(err);
    count = 0;
    for (uint32_t i = 0; i < l->blocks; i++) {
        const struct layout_block *b = &l->block[i];
        if (b->state != BLOCK_PENDING)
            continue;
        int64_t asked = b->lifetime == NO_ROW ? -1 : s->lifetimes.at[b->lifetime].requested;
        row[count++] = (struct oom_pending){ .site = { .stack = stack_of(s, b) },
                                             .bytes = b->size,
                                             .count = 1,
                                             .oldest_event = asked > l->event ? -1 : asked };
    }
    if (count > 1)
        qsort(row, count, sizeof *row, by_stack);
    count = join_pending(row, count);
    if (count > 1)
        qsort(row, count, sizeof *row, by_bytes);
    ret->pending = row;
    for (; ret->pendings < count; ret->pendings++)
        TRY(study_site(s, row[ret->pendings].site.stack, &row[ret->pendings].site, err));
    return VRS_OK;
}

enum vrs_status oom_evidence_find(const struct study *s, const struct oom_measured *m,
                                  const struct oom_request *request, struct oom_evidence *ret,
                                  struct vrs_error *err)
{
    struct oom_evidence found = { 0 };
    if (m->laid_out) {
        TRY(find_places(s, &m->layout, &found, err));
        TRY(find_pins(s, &m->layout, request, &found, err));
        TRY(find_pending(s, &m->layout, &found, err));
    }
    *ret = found;
    return VRS_OK;
}
