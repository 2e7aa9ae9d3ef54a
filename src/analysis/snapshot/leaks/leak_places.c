/* leak_places.c - allocations alive at moments, sorted by place. */
#include "analysis/snapshot/leaks/leak_places.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leak_moments.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/radix_sort.h"

/* POINTS_MIN: places seen at fewer moments are told apart by function, not line.  CELLS_MOST
 * bounds places times moments. */
enum { POINTS_MIN = 3, CELLS_MOST = 1 << 22 };

/* What makes a place: the upper bits of a key say how it is told apart, the next one whether it is
 * of scalars. */
enum key_kind { SITE_BY_LINE = 1, SITE_BY_FUNCTION, SITE_BY_STACK, SITE_BY_SIZE };
#define KEY_SHIFT 60
#define SCALAR_KEY ((uint64_t)1 << (KEY_SHIFT - 1))

static uint64_t key_of(enum key_kind kind, uint64_t id)
{
    return (uint64_t)kind << KEY_SHIFT | (id & (((uint64_t)1 << KEY_SHIFT) - 1));
}

/* The same, of an allocation of so many bytes. */
static uint64_t key_of_code(enum key_kind kind, uint32_t id, uint64_t bytes)
{
    return key_of(kind, id) | (bytes <= LEAK_SCALAR_BYTES ? SCALAR_KEY : 0);
}

struct gather {
    const struct study *s;
    const struct leak_moments *moments;
    struct leak_places *to;
    struct radix_room sort;
};

static void add_to_first_step(struct leak_places *to, uint8_t category, uint64_t change)
{
    int64_t *of = &to->first_step[category];
    *of = (int64_t)((uint64_t)*of + change);
    to->first_step_bytes = (int64_t)((uint64_t)to->first_step_bytes + change);
}

static enum vrs_status find_stays(struct gather *a, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    const struct leak_moments *m = a->moments;
    struct leak_places *to = a->to;
    to->stay = arena_array(a->s->scratch, struct radix_row, l->count);
    if (to->stay == NULL)
        return vrs_no_memory(err);
    uint32_t older = leak_moment_from(m, -1), next = older;
    for (uint32_t i = 0; i < l->count; i++) {
        /* Allocations seen stand in the order of their allocs. */
        while (next < m->count && m->event[next] < l->at[i].birth)
            next++;
        uint32_t first = l->at[i].birth < 0 ? older : next;
        if (first == m->count || l->at[i].freed <= m->event[first])
            continue;
        uint32_t end = leak_moment_from(m, l->at[i].freed);
        if (first >= end)
            continue;
        to->stay[to->stays++] = (struct radix_row){ .id = i, .first = first, .last = end - 1 };
        uint64_t bytes = l->at[i].bytes;
        add_to_first_step(to, a->s->categories.of[i],
                          (first == 1 ? bytes : 0) - (first == 0 && end == 1 ? bytes : 0));
    }
    return VRS_OK;
}

static enum vrs_status key_stays(struct gather *a, struct sites *sites, bool all,
                                 struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    for (uint32_t i = 0; i < a->to->stays; i++) {
        struct radix_row *stay = &a->to->stay[i];
        const struct lifetime *one = &l->at[stay->id];
        uint32_t site = 0;
        if (!all && stay->key >> KEY_SHIFT != SITE_BY_FUNCTION)
            continue;
        if (!sites_of(sites, one->alloc_stack, &site))
            return vrs_no_memory(err);
        if (one->alloc_stack.n == 0)
            stay->key = key_of(SITE_BY_SIZE, one->bytes);
        else if (site == 0)
            stay->key = key_of_code(SITE_BY_STACK, one->alloc_stack.n, one->bytes);
        else
            stay->key = key_of_code(all ? SITE_BY_LINE : SITE_BY_FUNCTION, site, one->bytes);
    }
    return VRS_OK;
}

/* How many stays share the key of the first of them. */
static uint32_t same_key(const struct radix_row *stay, uint32_t most)
{
    uint32_t count = 1;
    while (count < most && stay[count].key == stay[0].key)
        count++;
    return count;
}

/* Moments at which something of a place is alive; its stays are in the order of `first`. */
static uint32_t points_of(const struct radix_row *stay, uint32_t count)
{
    uint32_t points = 0, next = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = stay[i].first > next ? stay[i].first : next;
        if (stay[i].last < from)
            continue;
        points += stay[i].last - from + 1;
        next = stay[i].last + 1;
    }
    return points;
}

/* A place seen too seldom is widened from its line to its function; not where the recording is
 * so short that what the first step makes cannot be seen oftener. */
static bool mark_seldom(struct gather *a)
{
    struct leak_places *to = a->to;
    uint32_t least = a->moments->count - 1 < POINTS_MIN ? a->moments->count - 1 : POINTS_MIN;
    bool any = false;
    for (uint32_t i = 0, count; i < to->stays; i += count) {
        count = same_key(to->stay + i, to->stays - i);
        if (to->stay[i].key >> KEY_SHIFT != SITE_BY_LINE || points_of(to->stay + i, count) >= least)
            continue;
        any = true;
        for (uint32_t k = 0; k < count; k++)
            to->stay[i + k].key = key_of(SITE_BY_FUNCTION, 0);
    }
    return any;
}

static enum vrs_status group_by(struct gather *a, enum site_key key, bool all,
                                struct vrs_error *err)
{
    struct sites sites;
    if (!sites_init(&sites, &a->s->r->code, a->s->naming, key, a->s->scratch))
        return vrs_no_memory(err);
    enum vrs_status status = key_stays(a, &sites, all, err);
    sites_free(&sites);
    a->to->stay = radix_sort(a->to->stay, a->to->stays, &a->sort);
    return status;
}

static int compare_places(const void *a, const void *b)
{
    const struct leak_place *x = a, *y = b;
    if (x->end_bytes != y->end_bytes)
        return x->end_bytes > y->end_bytes ? -1 : 1;
    if (x->largest_bytes != y->largest_bytes)
        return x->largest_bytes > y->largest_bytes ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* By what is left of them at the last moment; at most as many as there is room for. */
static enum vrs_status find_places(struct gather *a, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    struct leak_places *to = a->to;
    uint32_t most = CELLS_MOST / a->moments->count + 64;
    to->place = arena_array(a->s->scratch, struct leak_place, to->stays);
    if (to->place == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0, stays; i < to->stays; i += stays) {
        stays = same_key(to->stay + i, to->stays - i);
        struct leak_place p = { .first = i, .count = stays };
        for (uint32_t k = i; k < i + stays; k++) {
            uint64_t bytes = l->at[to->stay[k].id].bytes;
            p.end_bytes += to->stay[k].last == a->moments->count - 1 ? bytes : 0;
            p.largest_bytes = bytes > p.largest_bytes ? bytes : p.largest_bytes;
        }
        to->place[to->places++] = p;
    }
    if (to->places != 0)
        qsort(to->place, to->places, sizeof *to->place, compare_places);
    to->folded = to->places > most ? to->places - most : 0;
    to->places -= to->folded;
    return VRS_OK;
}

enum vrs_status leak_places_find(const struct study *s, const struct leak_moments *moments,
                                 struct leak_places *ret, struct vrs_error *err)
{
    *ret = (struct leak_places){ .stays = 0 };
    struct gather a = { .s = s, .moments = moments, .to = ret };
    TRY(find_stays(&a, err));
    if (!radix_room_make(&a.sort, ret->stays, s->scratch))
        return vrs_no_memory(err);
    TRY(group_by(&a, SITE_LINE, true, err));
    if (mark_seldom(&a))
        TRY(group_by(&a, SITE_FUNCTION_IN_FILE, false, err));
    return find_places(&a, err);
}
