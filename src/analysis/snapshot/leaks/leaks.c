/* leaks.c - allocations alive between steps, by the place that made them. */
#include "analysis/snapshot/leaks/leaks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/site.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/gc_hint.h"
#include "analysis/snapshot/leaks/leak_class.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/radix_sort.h"
#include "base/sorted.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"

/* POINTS_MIN: places seen at fewer moments are told apart by function, not line.  CELLS_MOST
 * bounds sites times moments. */
enum { POINTS_MIN = 3, STEPS_MIN = 2, MOMENTS_MIN = 3, CELLS_MOST = 1 << 22, SCALAR_BYTES = 8 };

/* What makes a place: the upper bits of a key say how it is told apart. */
enum key_kind { SITE_BY_LINE = 1, SITE_BY_FUNCTION, SITE_BY_STACK, SITE_BY_SIZE };
#define KEY_SHIFT 60

static uint64_t key_of(enum key_kind kind, uint64_t id)
{
    return (uint64_t)kind << KEY_SHIFT | (id & (((uint64_t)1 << KEY_SHIFT) - 1));
}

struct gather {
    const struct study *s;
    struct leaks *g;
    int64_t *moment; /* the event after which it is */
    struct radix_row *stay;
    uint32_t stays;
    struct radix_room sort;
    uint64_t *total;                /* at each moment */
    int64_t *room;                  /* for slopes */
    int64_t first_step[CATEGORIES]; /* what the first step adds */
};

/* What is freed behind the last alloc makes room for a step that was not recorded.  Moments ascend:
 * where the last step allocates nothing, its end is that of the step before. */
static void rewind_to_alloc(struct gather *a)
{
    const struct recording *r = a->s->r;
    uint32_t first = r->devices.first_event[a->s->device], t = a->g->moments - 1;
    while (a->moment[t] > 0 && a->moment[t] > a->moment[t - 1] &&
           r->events.action[first + a->moment[t]] != ACTION_ALLOC)
        a->total[t] -= requested_change(r, first + (uint32_t)a->moment[t]--);
}

static void find_moments(struct gather *a)
{
    const struct steps *steps = &a->s->steps;
    for (uint32_t t = 0; t < steps->count; t++) {
        a->moment[t] = (int64_t)steps->boundary[t].event - 1;
        a->total[t] = (uint64_t)steps->boundary[t].live_bytes;
    }
    if (a->g->moments == steps->count)
        return;
    a->moment[steps->count] = steps->end_event;
    a->total[steps->count] = (uint64_t)steps->end_bytes;
    if (!steps->end_is_boundary)
        rewind_to_alloc(a);
}

/* The first moment at or after an event. */
static uint32_t moment_from(const struct gather *a, int64_t event)
{
    uint32_t at;
    SORTED_FIND(at, a->g->moments, a->moment[at] < event);
    return at;
}

static void tell_first_step(struct gather *a)
{
    for (int i = 0; i < CATEGORIES; i++)
        if (a->first_step[i] != 0)
            a->g->first_step[a->g->first_steps++] =
                (struct first_step_row){ (uint8_t)i, a->first_step[i] };
}

static enum vrs_status find_stays(struct gather *a, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    a->stay = arena_array(a->s->scratch, struct radix_row, l->count);
    if (a->stay == NULL)
        return vrs_no_memory(err);
    uint32_t older = moment_from(a, -1), next = older;
    for (uint32_t i = 0; i < l->count; i++) {
        /* Allocations seen stand in the order of their allocs. */
        while (next < a->g->moments && a->moment[next] < l->at[i].birth)
            next++;
        uint32_t first = l->at[i].birth < 0 ? older : next;
        if (first == a->g->moments || l->at[i].freed <= a->moment[first])
            continue;
        uint32_t end = moment_from(a, l->at[i].freed);
        if (first >= end)
            continue;
        a->stay[a->stays++] = (struct radix_row){ .id = i, .first = first, .last = end - 1 };
        int64_t *category = &a->first_step[a->s->categories.of[i]];
        uint64_t change =
            (first == 1 ? l->at[i].bytes : 0) - (first == 0 && end == 1 ? l->at[i].bytes : 0);
        *category = (int64_t)((uint64_t)*category + change);
        a->g->first_step_bytes = (int64_t)((uint64_t)a->g->first_step_bytes + change);
    }
    tell_first_step(a);
    return VRS_OK;
}

static enum vrs_status key_stays(struct gather *a, struct sites *sites, bool all,
                                 struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    for (uint32_t i = 0; i < a->stays; i++) {
        struct radix_row *stay = &a->stay[i];
        stack_id stack = l->at[stay->id].alloc_stack;
        uint32_t site = 0;
        if (!all && stay->key >> KEY_SHIFT != SITE_BY_FUNCTION)
            continue;
        if (!sites_of(sites, stack, &site))
            return vrs_no_memory(err);
        if (stack.n == 0)
            stay->key = key_of(SITE_BY_SIZE, l->at[stay->id].bytes);
        else if (site == 0)
            stay->key = key_of(SITE_BY_STACK, stack.n);
        else
            stay->key = key_of(all ? SITE_BY_LINE : SITE_BY_FUNCTION, site);
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
    uint32_t least = a->g->moments - 1 < POINTS_MIN ? a->g->moments - 1 : POINTS_MIN;
    bool any = false;
    for (uint32_t i = 0, count; i < a->stays; i += count) {
        count = same_key(a->stay + i, a->stays - i);
        if (a->stay[i].key >> KEY_SHIFT != SITE_BY_LINE || points_of(a->stay + i, count) >= least)
            continue;
        any = true;
        for (uint32_t k = 0; k < count; k++)
            a->stay[i + k].key = key_of(SITE_BY_FUNCTION, 0);
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
    a->stay = radix_sort(a->stay, a->stays, &a->sort);
    return status;
}

/* Stays of one place, [first, first + count) of the sorted ones. */
struct place {
    uint64_t end_bytes, largest_bytes;
    uint32_t first, count;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->end_bytes != y->end_bytes)
        return x->end_bytes > y->end_bytes ? -1 : 1;
    if (x->largest_bytes != y->largest_bytes)
        return x->largest_bytes > y->largest_bytes ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Places by what is left of them at the last moment; at most as many as there is room for. */
static enum vrs_status find_places(struct gather *a, struct place **ret, uint32_t *count,
                                   struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t places = 0, most = CELLS_MOST / a->g->moments + 64;
    struct place *place = arena_array(a->s->scratch, struct place, a->stays);
    if (place == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0, stays; i < a->stays; i += stays) {
        stays = same_key(a->stay + i, a->stays - i);
        struct place p = { .first = i, .count = stays };
        for (uint32_t k = i; k < i + stays; k++) {
            uint64_t bytes = l->at[a->stay[k].id].bytes;
            p.end_bytes += a->stay[k].last == a->g->moments - 1 ? bytes : 0;
            p.largest_bytes = bytes > p.largest_bytes ? bytes : p.largest_bytes;
        }
        place[places++] = p;
    }
    if (places != 0)
        qsort(place, places, sizeof *place, compare_places);
    a->g->sites_folded = places > most ? places - most : 0;
    *ret = place;
    *count = places > most ? most : places;
    return VRS_OK;
}

/* "size:8519680", for what has no stack. */
static bool name_by_size(const struct gather *a, uint64_t bytes, struct site_ref *ret)
{
    struct buf b;
    buf_init(&b, 64);
    buf_text(&b, "size:");
    buf_u64(&b, bytes);
    str name = b.failed ? (str){ NULL, 0 } : arena_copy(a->s->keep, buf_slice(&b));
    buf_free(&b);
    *ret = (struct site_ref){ name, name, { 0 } };
    return name.ptr != NULL;
}

/* Bytes and counts at each moment: what comes and goes at each, summed up. */
static enum vrs_status fill_series(const struct gather *a, const struct place *p,
                                   struct leak_site *site, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t moments = a->g->moments;
    site->bytes = arena_array(a->s->keep, uint64_t, moments);
    site->counts = arena_array(a->s->keep, uint32_t, moments);
    if (site->bytes == NULL || site->counts == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        const struct radix_row *stay = &a->stay[i];
        uint64_t bytes = l->at[stay->id].bytes;
        site->bytes[stay->first] += bytes;
        site->counts[stay->first]++;
        if (stay->last + 1 < moments) {
            site->bytes[stay->last + 1] -= bytes;
            site->counts[stay->last + 1]--;
        }
    }
    for (uint32_t t = 1; t < moments; t++) {
        site->bytes[t] += site->bytes[t - 1];
        site->counts[t] += site->counts[t - 1];
    }
    return VRS_OK;
}

/* The survivors, one for each step of birth; stays come in the order of their first moment, so
 * those of one step stand together. */
static enum vrs_status find_survivors(const struct gather *a, const struct place *p,
                                      struct leak_site *site, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t last = a->g->moments - 1;
    int64_t step = -2;
    site->survivor = arena_array(a->s->keep, struct survivor, site->counts[last]);
    if (site->survivor == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        const struct lifetime *one = &l->at[a->stay[i].id];
        if (a->stay[i].last != last)
            continue;
        int64_t born = one->birth < 0 ? -1 : steps_at(&a->s->steps, one->birth);
        if (born != step || site->survivors == 0)
            site->survivor[site->survivors++] = (struct survivor){ .bytes = 0 };
        struct survivor *survivor = &site->survivor[site->survivors - 1];
        if (born != step || one->bytes > survivor->bytes)
            *survivor = (struct survivor){ one->birth, one->bytes, one->alloc_stack };
        step = born;
    }
    site->generations = site->survivors;
    return VRS_OK;
}

/* The largest of a place's allocations, the earliest of equals, stands for it. */
static uint32_t representative(const struct gather *a, const struct place *p)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t best = a->stay[p->first].id;
    for (uint32_t i = p->first + 1; i < p->first + p->count; i++) {
        uint32_t one = a->stay[i].id;
        if (l->at[one].bytes > l->at[best].bytes ||
            (l->at[one].bytes == l->at[best].bytes && l->at[one].birth < l->at[best].birth))
            best = one;
    }
    return best;
}

static bool from_last_step(const struct gather *a, const struct leak_site *site)
{
    return site->survivors == 1 && site->survivor[0].event >= 0 &&
           steps_at(&a->s->steps, site->survivor[0].event) == (int64_t)a->g->moments - 2;
}

static enum vrs_status make_site(const struct gather *a, const struct place *p,
                                 struct leak_site *site, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t best = representative(a, p);
    stack_id stack = l->at[best].alloc_stack;
    site->moments = a->g->moments;
    TRY(fill_series(a, p, site, err));
    TRY(find_survivors(a, p, site, err));
    if (stack.n == 0 && !name_by_size(a, l->at[best].bytes, &site->site))
        return vrs_no_memory(err);
    if (stack.n != 0)
        TRY(study_site(a->s, stack, &site->site, err));
    site->category = a->s->categories.of[best];
    uint32_t steps = a->s->steps.count, warm_up = leak_warm_up(steps);
    site->slope_bytes = leak_slope(site->bytes, a->g->moments, warm_up, a->room);
    struct leak_series series = {
        .bytes = site->bytes,
        .counts = site->counts,
        .moments = a->g->moments,
        .steps = steps,
        .generations = site->generations,
        .all_from_last_step = from_last_step(a, site),
        .by_size = !a->s->stacked,
    };
    site->class = leak_classify(&series, site->slope_bytes);
    return VRS_OK;
}

static bool is_growing(const struct leak_site *site)
{
    return site->class == LEAK_CLASS_LEAK || site->class == LEAK_CLASS_SUSPECT;
}

static bool made_forward(const struct study *s, const struct leak_site *site)
{
    uint8_t phase = s->phases.of_stack[site->site.stack.n];
    return phase == PHASE_FORWARD || phase == PHASE_OTHER || phase == PHASE_RECOMPUTE;
}

/* A loss that is kept, not its value, keeps the activations of its step alive. */
static bool graph_is_kept(const struct study *s, const struct leaks *g)
{
    bool scalar = false, activation = false;
    for (uint32_t i = 0; i < g->sites; i++) {
        const struct leak_site *site = &g->site[i];
        uint32_t last = g->moments - 1;
        if (!is_growing(site) || !made_forward(s, site))
            continue;
        bool small = site->bytes[last] <= (uint64_t)SCALAR_BYTES * site->counts[last];
        scalar |= small;
        activation |= !small && site->category == CATEGORY_ACTIVATION;
    }
    return scalar && activation;
}

static enum leak_kind kind_of(const struct study *s, const struct leak_site *site, bool graph)
{
    token_set set = s->tokens->of_stack[site->site.stack.n];
    if (site->category == CATEGORY_GRADIENT)
        return LEAK_GRADIENTS;
    if (site->category == CATEGORY_KV_CACHE || (set & TOKEN_KV_CACHE) != 0)
        return LEAK_CACHE;
    if (site->site.stack.n == 0 || !made_forward(s, site))
        return LEAK_UNKNOWN;
    return graph ? LEAK_GRAPH : LEAK_OUTPUTS;
}

static int compare_sites(const void *a, const void *b)
{
    const struct leak_site *x = a, *y = b;
    bool x_grows = is_growing(x), y_grows = is_growing(y);
    if (x_grows != y_grows)
        return x_grows ? -1 : 1;
    if (x->slope_bytes != y->slope_bytes)
        return x->slope_bytes > y->slope_bytes ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static enum vrs_status make_sites(struct gather *a, struct vrs_error *err)
{
    struct leaks *g = a->g;
    struct place *place = NULL;
    TRY(find_places(a, &place, &g->sites, err));
    if (place == NULL)
        return vrs_no_memory(err);
    g->site = arena_array(a->s->keep, struct leak_site, g->sites);
    if (g->site == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < g->sites; i++)
        TRY(make_site(a, &place[i], &g->site[i], err));
    bool graph = graph_is_kept(a->s, g);
    for (uint32_t i = 0; i < g->sites; i++) {
        struct leak_site *site = &g->site[i];
        site->order = i;
        g->leaks += site->class == LEAK_CLASS_LEAK;
        g->suspects += site->class == LEAK_CLASS_SUSPECT;
        site->kind = is_growing(site) ? kind_of(a->s, site, graph) : LEAK_UNKNOWN;
        for (uint32_t k = 0; k < site->survivors && is_growing(site); k++)
            study_show(a->s, site->survivor[k].stack);
        if (!is_growing(site))
            site->survivors = 0;
    }
    if (g->sites != 0)
        qsort(g->site, g->sites, sizeof *g->site, compare_sites);
    return VRS_OK;
}

/* What leaks is not let go of: what earlier steps left is there at the peak. */
static void find_peak_bytes(const struct study *s, struct leaks *g)
{
    int64_t step = steps_at(&s->steps, s->curves.of[CURVE_REQUESTED].peak_event);
    if (step < 0 || g->moments == 0)
        return;
    uint32_t moment = step < (int64_t)g->moments ? (uint32_t)step : g->moments - 1;
    for (uint32_t i = 0; i < g->sites; i++)
        if (g->site[i].class == LEAK_CLASS_LEAK)
            g->site[i].peak_bytes = g->site[i].bytes[moment];
}

static void count_to_full(const struct study *s, uint64_t capacity, struct leaks *g)
{
    int64_t peak = s->curves.of[CURVE_REQUESTED].peak_bytes;
    if (capacity == 0 || capacity > INT64_MAX || g->leaks == 0 || g->slope_total_bytes <= 0)
        return;
    g->steps_to_full =
        (int64_t)capacity > peak ? ((int64_t)capacity - peak) / g->slope_total_bytes : 0;
}

static enum vrs_status look_between_steps(const struct study *s, struct leaks *ret,
                                          struct vrs_error *err)
{
    struct leaks g = *ret;
    struct gather a = { .s = s, .g = &g };
    bool end = s->steps.end_is_boundary || s->steps.count < MOMENTS_MIN;
    g.moments = s->steps.count + end;
    a.moment = arena_array(s->scratch, int64_t, g.moments);
    a.total = arena_array(s->scratch, uint64_t, g.moments);
    a.room = arena_array(s->scratch, int64_t, SLOPE_PAIRS_MAX);
    if (a.moment == NULL || a.total == NULL || a.room == NULL)
        return vrs_no_memory(err);
    find_moments(&a);
    TRY(find_stays(&a, err));
    if (!radix_room_make(&a.sort, a.stays, s->scratch))
        return vrs_no_memory(err);
    TRY(group_by(&a, SITE_LINE, true, err));
    if (mark_seldom(&a))
        TRY(group_by(&a, SITE_FUNCTION_IN_FILE, false, err));
    TRY(make_sites(&a, err));
    find_peak_bytes(s, &g);
    g.slope_total_bytes = leak_slope(a.total, g.moments, leak_warm_up(s->steps.count), a.room);
    *ret = g;
    return VRS_OK;
}

enum vrs_status leaks_compute(const struct study *s, uint64_t capacity_bytes, struct leaks *ret,
                              struct vrs_error *err)
{
    struct leaks g = { .steps_to_full = -1 };
    struct arena_mark mark = arena_mark(s->scratch);
    TRY(step_rows_make(s, &g.steps, err));
    TRY(gc_hint_find(s, &g.gc_hint, err));
    arena_release(s->scratch, mark);
    if (s->steps.count >= STEPS_MIN) {
        TRY(look_between_steps(s, &g, err));
        arena_release(s->scratch, mark);
        count_to_full(s, capacity_bytes, &g);
    }
    *ret = g;
    return VRS_OK;
}
