/* fragments.c - sums over the layout of a moment, and which blocks to move first. */
#include "analysis/snapshot/layout/fragments.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "allocator/replay/recorded.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/layout/layout.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/sorted.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

/* The size of PyTorch's workspace for cuBLAS on many cards: a block of it in a segment of 20 MiB is
 * in every process. */
enum { WORKSPACE_BYTES = 8519680 };

/* A move that frees less of what is stranded is not worth a row; nor is one that does not return at
 * least so many times what it moves, which needs room elsewhere: at twice it wins what it moves. */
enum { MOVE_LEAST_PERCENT = 1, MOVES_ENOUGH_PERCENT = 90, MOVE_RETURNS_TIMES = 2 };

struct finding_fragments {
    const struct study *s;
    const struct layout *l;
    struct fragments *to;
    struct rounding rounding;
};

/* a / b against c / d, without loss; nothing is larger than a division by 0. */
static int compare_ratios(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    for (int sign = 1;; sign = -sign) {
        if (b == 0 || d == 0)
            return sign * ((b == 0) - (d == 0));
        uint64_t x = a / b, y = c / d;
        if (x != y)
            return x > y ? sign : -sign;
        /* The parts behind the point, upside down. */
        uint64_t a_rest = a % b, c_rest = c % d;
        a = b;
        c = d;
        b = a_rest;
        d = c_rest;
    }
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* Groups. */

/* Free blocks that touch count as one. */
static uint64_t largest_free_run(const struct layout *l, const struct layout_segment *segment)
{
    uint64_t run = 0, largest = 0;
    for (uint32_t i = 0; i < segment->blocks; i++) {
        const struct layout_block *b = &l->block[segment->first_block + i];
        run = b->state == BLOCK_INACTIVE ? run + b->size : 0;
        largest = run > largest ? run : largest;
    }
    return largest;
}

/* The largest request whose block fits in `room` bytes and is of the class. */
static uint64_t servable(const struct rounding *rounding, uint64_t room, bool small)
{
    if (small && room > SMALL_BLOCK_MAX)
        room = SMALL_BLOCK_MAX;
    uint64_t low = 0, high = room;
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (rounding_apply(rounding, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return small || low > SMALL_BLOCK_MAX ? low : 0;
}

static void add_to_group(struct fragment_group *g, const struct layout *l,
                         const struct layout_segment *segment)
{
    uint64_t unused = layout_segment_free(segment), returned = layout_returnable(l, segment);
    uint64_t largest = largest_free_run(l, segment);
    if (returned > unused)
        returned = unused;
    g->reserved_bytes += segment->size;
    g->active_bytes += segment->active;
    g->pending_bytes += segment->pending;
    g->slack_bytes += segment->active - segment->requested;
    g->free_bytes += unused;
    g->returnable_bytes += returned;
    g->stranded_bytes += unused - returned;
    if (largest > g->largest_free_bytes)
        g->largest_free_bytes = largest;
}

static void find_ratios(struct fragment_group *g)
{
    g->stranded_ratio = ratio(g->stranded_bytes, g->reserved_bytes);
    g->naive_ratio = g->free_bytes == 0 ? -1 : 1 - ratio(g->largest_free_bytes, g->free_bytes);
}

static int by_stranded(const void *a, const void *b)
{
    const struct fragment_group *x = a, *y = b;
    if (x->stranded_bytes != y->stranded_bytes)
        return x->stranded_bytes > y->stranded_bytes ? -1 : 1;
    if (x->reserved_bytes != y->reserved_bytes)
        return x->reserved_bytes > y->reserved_bytes ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (x->pool_ids[i] != y->pool_ids[i])
            return x->pool_ids[i] < y->pool_ids[i] ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (int)x->small - (int)y->small;
}

static bool same_lane(const struct fragment_group *g, const struct layout_segment *segment)
{
    if (g->pool != 0)
        return g->pool == segment->pool;
    return segment->pool == 0 && g->stream == segment->stream && g->small == segment->small;
}

static enum vrs_status make_groups(struct finding_fragments *f, struct vrs_error *err)
{
    const struct layout *l = f->l;
    struct fragments *to = f->to;
    const struct pools *pools = &f->s->r->pools;
    const struct layout_segment **segment =
        arena_array(f->s->scratch, const struct layout_segment *, l->segments);
    struct fragment_group *group = arena_array(f->s->keep, struct fragment_group, l->segments);
    if (segment == NULL || group == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < l->segments; i++)
        segment[i] = &l->segment[i];
    if (l->segments > 1)
        qsort(segment, l->segments, sizeof *segment, layout_by_lane);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < l->segments; i++) {
        const struct layout_segment *next = segment[i];
        if (groups == 0 || !same_lane(&group[groups - 1], next))
            group[groups++] = (struct fragment_group){
                .pool = next->pool,
                .pool_ids = { next->pool == 0 ? 0 : pools->first[next->pool],
                              next->pool == 0 ? 0 : pools->second[next->pool] },
                .stream = next->stream,
                .small = next->small,
            };
        add_to_group(&group[groups - 1], l, next);
        if (next->pool == 0)
            add_to_group(&to->total, l, next);
    }
    /* The default pool has been sorted to the front. */
    while (to->groups < groups && group[to->groups].pool == 0) {
        struct fragment_group *g = &group[to->groups++];
        g->servable_bytes = servable(&f->rounding, g->largest_free_bytes, g->small);
        find_ratios(g);
    }
    to->group = group;
    to->pool = group + to->groups;
    to->pools = groups - to->groups;
    if (to->groups > 1)
        qsort(to->group, to->groups, sizeof *group, by_stranded);
    if (to->pools > 1)
        qsort(to->pool, to->pools, sizeof *group, by_stranded);
    return VRS_OK;
}

/* Pins. */

static uint32_t category_of(const struct study *s, const struct layout_block *b)
{
    if (b->lifetime == NO_ROW || b->lifetime >= s->categories.count)
        return CATEGORY_UNKNOWN;
    return s->categories.of[b->lifetime];
}

static bool is_workspace(const struct study *s, const struct layout_block *b)
{
    return category_of(s, b) == CATEGORY_WORKSPACE || b->requested == WORKSPACE_BYTES;
}

static enum vrs_status blame(const struct study *s, const struct layout_block *b,
                             struct fragment_culprit *ret, struct vrs_error *err)
{
    stack_id stack = { 0 };
    if (b->lifetime != NO_ROW)
        stack = s->lifetimes.at[b->lifetime].alloc_stack;
    ret->category = category_of(s, b);
    ret->expected = is_workspace(s, b);
    return study_site(s, stack, &ret->site, err);
}

static void add_name(const struct study *s, const struct layout_block *b, struct names_sum *sum)
{
    if (b->lifetime != NO_ROW)
        names_sum_add(sum, s->lifetimes.first + b->lifetime);
}

static uint64_t returned_if_empty(const struct layout *l, const struct layout_segment *segment)
{
    if (!segment->expandable)
        return segment->size;
    uint64_t end = segment->address + segment->size;
    return layout_whole_pages(l, segment, segment->address, end) - layout_returnable(l, segment);
}

static uint64_t stranded_in(const struct layout *l, const struct layout_segment *segment)
{
    uint64_t unused = layout_segment_free(segment), returned = layout_returnable(l, segment);
    return segment->pool != 0 || segment->active == 0 || returned > unused ? 0 : unused - returned;
}

static int by_pinned(const void *a, const void *b)
{
    const struct fragment_pin *x = a, *y = b;
    if (x->stranded_bytes != y->stranded_bytes)
        return x->stranded_bytes > y->stranded_bytes ? -1 : 1;
    int leverage = compare_ratios(y->free_bytes, y->active_bytes, x->free_bytes, x->active_bytes);
    if (leverage != 0)
        return leverage;
    return (x->address > y->address) - (x->address < y->address);
}

/* Which of two blocks was there before: what is not paired with an alloc is older than the
 * recording. */
static uint32_t older_of(const struct study *s, uint32_t x, uint32_t y)
{
    if (x == NO_ROW || y == NO_ROW)
        return NO_ROW;
    return s->lifetimes.at[y].birth < s->lifetimes.at[x].birth ? y : x;
}

static enum vrs_status make_pin(const struct finding_fragments *f,
                                const struct layout_segment *segment, struct fragment_pin *pin,
                                struct vrs_error *err)
{
    const struct layout_block *largest = NULL;
    struct names_sum named = { .r = f->s->r };
    bool expected = true;
    *pin = (struct fragment_pin){
        .address = segment->address,
        .total_bytes = segment->size,
        .free_bytes = layout_segment_free(segment),
        .active_bytes = segment->active,
        .stranded_bytes = stranded_in(f->l, segment),
        .returned_bytes = returned_if_empty(f->l, segment),
        .leverage_ratio = ratio(layout_segment_free(segment), segment->active),
        .oldest = NO_ROW,
    };
    for (uint32_t i = 0; i < segment->blocks; i++) {
        const struct layout_block *b = &f->l->block[segment->first_block + i];
        if (b->state == BLOCK_INACTIVE)
            continue;
        pin->oldest = pin->blocks++ == 0 ? b->lifetime : older_of(f->s, pin->oldest, b->lifetime);
        expected = expected && is_workspace(f->s, b);
        add_name(f->s, b, &named);
        if (largest == NULL || b->size > largest->size)
            largest = b;
    }
    if (largest != NULL)
        TRY(blame(f->s, largest, &pin->by, err));
    pin->by.expected = expected;
    return names_sum_end(&named, f->s->keep, &pin->names, err);
}

static enum vrs_status make_pins(const struct finding_fragments *f, struct vrs_error *err)
{
    struct fragments *to = f->to;
    uint32_t pins = 0;
    for (uint32_t i = 0; i < f->l->segments; i++)
        pins += stranded_in(f->l, &f->l->segment[i]) > 0;
    to->pin = arena_array(f->s->keep, struct fragment_pin, pins);
    if (to->pin == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < f->l->segments; i++)
        if (stranded_in(f->l, &f->l->segment[i]) > 0)
            TRY(make_pin(f, &f->l->segment[i], &to->pin[to->pins++], err));
    if (pins > 1)
        qsort(to->pin, pins, sizeof *to->pin, by_pinned);
    return VRS_OK;
}

/* Moves. */

/* Neighbouring active blocks that would have to move together. */
struct bundle {
    uint32_t first, last; /* blocks of the layout; those between that are free do not count */
    uint32_t blocks;
    uint64_t moved, returned;
};

static uint64_t gained(const struct bundle *bundle)
{
    return bundle->returned > bundle->moved ? bundle->returned - bundle->moved : 0;
}

static int by_worth(const void *a, const void *b)
{
    const struct bundle *x = a, *y = b;
    int ratio = compare_ratios(y->returned, y->moved, x->returned, x->moved);
    if (ratio != 0)
        return ratio;
    if (gained(x) != gained(y))
        return gained(x) > gained(y) ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

static uint64_t block_end(const struct layout_block *b)
{
    return b->size > UINT64_MAX - b->address ? UINT64_MAX : b->address + b->size;
}

/* Ends of the free room around blocks `first` to `last` of an expandable segment. */
static void room_around(const struct layout *l, const struct layout_segment *segment,
                        uint32_t first, uint32_t last, uint64_t *ret_from, uint64_t *ret_to)
{
    *ret_from = segment->address;
    *ret_to = segment->address + segment->size;
    if (first > segment->first_block)
        *ret_from = l->block[first - 1].state == BLOCK_INACTIVE ? l->block[first - 1].address
                                                                : block_end(&l->block[first - 1]);
    if (last + 1 < segment->first_block + segment->blocks)
        *ret_to = l->block[last + 1].state == BLOCK_INACTIVE ? block_end(&l->block[last + 1])
                                                             : l->block[last + 1].address;
}

static struct bundle bundle_of_pages(const struct layout *l, const struct layout_segment *segment,
                                     uint32_t block)
{
    uint64_t from, to;
    const struct layout_block *b = &l->block[block];
    room_around(l, segment, block, block, &from, &to);
    uint64_t before = layout_whole_pages(l, segment, from, b->address) +
                      layout_whole_pages(l, segment, block_end(b), to);
    return (struct bundle){ block, block, 1, b->size,
                            layout_whole_pages(l, segment, from, to) - before };
}

static struct bundle bundle_of_segment(const struct layout *l, const struct layout_segment *segment)
{
    struct bundle bundle = { .moved = segment->active, .returned = segment->size };
    for (uint32_t i = 0; i < segment->blocks; i++) {
        uint32_t block = segment->first_block + i;
        if (l->block[block].state == BLOCK_INACTIVE)
            continue;
        if (bundle.blocks++ == 0)
            bundle.first = block;
        bundle.last = block;
    }
    return bundle;
}

static void offer(struct bundle *bundles, uint32_t *count, struct bundle bundle, uint64_t least)
{
    if (bundle.blocks > 0 && bundle.blocks <= FRAGMENT_MOVES_MOST && gained(&bundle) >= least &&
        bundle.returned / MOVE_RETURNS_TIMES >= bundle.moved && bundle.returned > 0)
        bundles[(*count)++] = bundle;
}

static enum vrs_status make_move(const struct finding_fragments *f, const struct bundle *bundle,
                                 struct vrs_error *err)
{
    struct fragments *to = f->to;
    for (uint32_t i = bundle->first; i <= bundle->last; i++) {
        const struct layout_block *b = &f->l->block[i];
        if (b->state == BLOCK_INACTIVE)
            continue;
        struct fragment_move *move = &to->move[to->moves++];
        int64_t birth = b->lifetime == NO_ROW ? -1 : f->s->lifetimes.at[b->lifetime].birth;
        *move = (struct fragment_move){
            .address = b->address,
            .bytes = b->size,
            .returned_bytes = i == bundle->last ? bundle->returned : 0,
            .age_events = birth < 0 ? -1 : to->at_event - birth,
        };
        TRY(blame(f->s, b, &move->by, err));
        struct names_sum named = { .r = f->s->r };
        add_name(f->s, b, &named);
        TRY(names_sum_end(&named, f->s->keep, &move->names, err));
    }
    return VRS_OK;
}

/* By bytes returned for each byte moved, until nine tenths of what is stranded are free. */
static enum vrs_status make_moves(const struct finding_fragments *f, struct vrs_error *err)
{
    const struct layout *l = f->l;
    uint64_t stranded = f->to->total.stranded_bytes;
    uint64_t least = percent_of(stranded, MOVE_LEAST_PERCENT), covered = 0;
    uint32_t bundles = 0;
    struct bundle *bundle =
        arena_array(f->s->scratch, struct bundle, (size_t)l->blocks + l->segments);
    if (bundle == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < l->segments; i++) {
        const struct layout_segment *segment = &l->segment[i];
        if (stranded_in(l, segment) == 0)
            continue;
        if (!segment->expandable)
            offer(bundle, &bundles, bundle_of_segment(l, segment), least);
        for (uint32_t b = 0; segment->expandable && b < segment->blocks; b++)
            if (l->block[segment->first_block + b].state != BLOCK_INACTIVE)
                offer(bundle, &bundles, bundle_of_pages(l, segment, segment->first_block + b),
                      least);
    }
    if (bundles > 1)
        qsort(bundle, bundles, sizeof *bundle, by_worth);
    for (uint32_t i = 0; i < bundles; i++) {
        if (covered >= percent_of(stranded, MOVES_ENOUGH_PERCENT))
            break;
        if (bundle[i].blocks > FRAGMENT_MOVES_MOST - f->to->moves)
            continue;
        covered += gained(&bundle[i]);
        TRY(make_move(f, &bundle[i], err));
    }
    return VRS_OK;
}

/* Streams. */

static int by_bytes(const void *a, const void *b)
{
    const struct fragment_stream *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

/* The last alloc of each row of streams up to the moment; -1: none. */
static enum vrs_status last_allocs(const struct finding_fragments *f, int64_t **ret,
                                   struct vrs_error *err)
{
    const struct recording *r = f->s->r;
    int64_t *last = arena_array(f->s->scratch, int64_t, r->streams.rows.len);
    if (last == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < r->streams.rows.len; i++)
        last[i] = -1;
    uint32_t first = r->devices.first_event[f->s->device], missing = r->streams.rows.len;
    int64_t from = (int64_t)f->s->events - 1;
    for (int64_t i = f->to->at_event < from ? f->to->at_event : from; i >= 0 && missing > 0; i--) {
        uint32_t row = first + (uint32_t)i;
        int64_t *of = &last[r->events.stream[row]];
        if (r->events.action[row] != ACTION_ALLOC || *of != -1)
            continue;
        *of = i;
        missing--;
    }
    *ret = last;
    return VRS_OK;
}

struct handle {
    uint64_t stream;
    uint32_t row;
};

static int by_handle(const void *a, const void *b)
{
    const struct handle *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Free bytes of each row of streams. */
static enum vrs_status free_by_stream(const struct finding_fragments *f, uint64_t **ret,
                                      struct vrs_error *err)
{
    const struct streams *s = &f->s->r->streams;
    uint64_t *bytes = arena_array(f->s->scratch, uint64_t, s->rows.len);
    struct handle *handle = arena_array(f->s->scratch, struct handle, s->rows.len);
    if (bytes == NULL || handle == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->rows.len; i++)
        handle[i] = (struct handle){ s->handle[i], i };
    if (s->rows.len > 1)
        qsort(handle, s->rows.len, sizeof *handle, by_handle);
    for (uint32_t i = 0; i < f->to->groups; i++) {
        uint32_t at;
        SORTED_FIND(at, s->rows.len, handle[at].stream < f->to->group[i].stream);
        if (at < s->rows.len)
            bytes[handle[at].row] += f->to->group[i].free_bytes;
    }
    *ret = bytes;
    return VRS_OK;
}

static enum vrs_status make_streams(const struct finding_fragments *f, struct vrs_error *err)
{
    struct fragments *to = f->to;
    const struct streams *s = &f->s->r->streams;
    if (!f->s->traced || to->at_event < 0)
        return VRS_OK;
    int64_t *last = NULL;
    uint64_t *bytes = NULL;
    TRY(last_allocs(f, &last, err));
    TRY(free_by_stream(f, &bytes, err));
    to->stream = arena_array(f->s->keep, struct fragment_stream, to->groups);
    if (to->stream == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->rows.len; i++)
        if (bytes[i] > 0 && last[i] < (to->at_event + 1) / 2)
            to->stream[to->streams++] = (struct fragment_stream){ s->handle[i], bytes[i], last[i] };
    if (to->streams > 1)
        qsort(to->stream, to->streams, sizeof *to->stream, by_bytes);
    return VRS_OK;
}

static enum vrs_status compute(const struct proven_study *proven, int64_t event,
                               struct fragments **ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct layout layout;
    bool known = false;
    *ret = NULL;
    TRY(layout_at(proven, event, s->scratch, &layout, &known, err));
    if (!known)
        return VRS_OK;
    struct fragments *made = arena_array(s->keep, struct fragments, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    struct finding_fragments f = { s, &layout, made, rounding_of(s->r) };
    made->at_event = event;
    made->at_end = event + 1 >= s->events;
    made->exact = layout.exact;
    for (uint32_t i = 0; i < layout.segments; i++)
        made->expandable |= layout.segment[i].expandable;
    TRY(make_groups(&f, err));
    TRY(make_pins(&f, err));
    TRY(make_moves(&f, err));
    TRY(make_streams(&f, err));
    *ret = made;
    return VRS_OK;
}

enum vrs_status fragments_compute(const struct proven_study *proven, int64_t event,
                                  struct fragments **ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct arena_mark mark = arena_mark(s->scratch);
    enum vrs_status status = compute(proven, event, ret, err);
    arena_release(s->scratch, mark);
    return status;
}
