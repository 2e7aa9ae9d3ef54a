/* leaks.c - allocations alive between steps, by the place that made them. */
#include "analysis/snapshot/leaks/leaks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/gc_hint.h"
#include "analysis/snapshot/leaks/leak_class.h"
#include "analysis/snapshot/leaks/leak_lengthened.h"
#include "analysis/snapshot/leaks/leak_moments.h"
#include "analysis/snapshot/leaks/leak_places.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/growth.h"
#include "base/radix_sort.h"
#include "base/sorted.h"
#include "base/str.h"
#include "model/ids.h"

/* What grows by less than the smaller of both over the recording is too small to matter:
 * FLOOR_BYTES, and one part in FLOOR_PARTS of the peak. */
enum { STEPS_MIN = 2, FLOOR_BYTES = 1 << 20, FLOOR_PARTS = 10000 };

struct gather {
    const struct study *s;
    struct leaks *g;
    struct leak_moments moments;
    struct leak_places places;
    int64_t *room;      /* for slopes */
    uint32_t *backward; /* the first event of each backward, ascending */
    uint32_t backwards;
    struct radix_row *let_go; /* sizes of what steps before the recording made and let go of */
    uint32_t let_go_count;
};

/* A backward is what follows a forward, or what no phase has where no module is called; what is
 * computed again within it does not end it. */
static enum vrs_status find_backwards(struct gather *a, struct vrs_error *err)
{
    const struct phases *p = &a->s->phases;
    uint8_t forward_phase = phases_forward(p);
    bool forward = true;
    a->backward = arena_array(a->s->scratch, uint32_t, p->intervals);
    if (a->backward == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < p->intervals; i++) {
        forward = forward || p->interval[i].phase == forward_phase;
        if (p->interval[i].phase != PHASE_BACKWARD || !forward)
            continue;
        a->backward[a->backwards++] = p->interval[i].first_event;
        forward = false;
    }
    return VRS_OK;
}

/* How many backwards have begun by an event. */
static uint32_t backwards_until(const struct gather *a, int64_t event)
{
    uint32_t at;
    SORTED_FIND(at, a->backwards, (int64_t)a->backward[at] <= event);
    return at;
}

static void tell_first_step(struct gather *a)
{
    struct leaks *g = a->g;
    g->first_step_bytes = a->places.first_step_bytes;
    for (int i = 0; i < CATEGORIES; i++)
        if (a->places.first_step[i] != 0)
            g->first_step[g->first_steps++] =
                (struct first_step_row){ (uint8_t)i, a->places.first_step[i] };
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

/* Bytes and counts at each moment: what comes and goes at each, summed up.  With `staying` only of
 * those stays of the place. */
static void fill_series(const struct gather *a, const struct leak_place *p, const bool *staying,
                        uint64_t *bytes, uint32_t *counts)
{
    uint32_t moments = a->moments.count;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct radix_row *stay = &a->places.stay[p->first + i];
        uint64_t each = a->s->lifetimes.at[stay->id].bytes;
        if (staying != NULL && !staying[i])
            continue;
        bytes[stay->first] += each;
        counts[stay->first]++;
        if (stay->last + 1 < moments) {
            bytes[stay->last + 1] -= each;
            counts[stay->last + 1]--;
        }
    }
    for (uint32_t t = 1; t < moments; t++) {
        bytes[t] += bytes[t - 1];
        counts[t] += counts[t - 1];
    }
}

/* Where nothing can be more than a suspect, whatever its growth. */
static bool at_most_suspect(const struct study *s)
{
    return !s->stacked || s->steps.source == STEPS_PERIOD;
}

/* Whether an allocation is known to go with the step after its own; of what can only be suspected,
 * to go at all. */
static bool is_passing(const struct gather *a, const struct radix_row *stay)
{
    const struct study *s = a->s;
    uint32_t last = a->moments.count - 1;
    bool any = s->steps.count < GROWTH_STEPS_MIN || at_most_suspect(s);
    /* Behind a last moment that is at another point of the cycle one is still within it. */
    bool young = stay->first == stay->last || (!a->moments.end_compares && stay->first + 1 >= last);
    return s->lifetimes.at[stay->id].freed < (int64_t)s->events && (young || any);
}

/* Allocations of the step before the last one that go with the next, by size. */
struct gone {
    uint64_t bytes;
    uint32_t taken; /* of the first of its size: how many of them stand for newer ones */
};

static int by_bytes(const void *a, const void *b)
{
    const struct gone *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Whether one of that size is left to stand for a newer one. */
static bool take_gone(struct gone *gone, uint32_t count, uint64_t bytes)
{
    uint32_t at;
    SORTED_FIND(at, count, gone[at].bytes < bytes);
    if (at == count || at + gone[at].taken >= count || gone[at + gone[at].taken].bytes != bytes)
        return false;
    gone[at].taken++;
    return true;
}

/* Which stays of a place do not go with the next step.  What the last step made is not known to go:
 * its counterpart of the step before tells, of the same size, or all of them where sizes vary. */
static void find_staying(const struct gather *a, const struct leak_place *p, bool *staying,
                         struct gone *gone)
{
    const struct lifetime *l = a->s->lifetimes.at;
    uint32_t newest = a->moments.count - 1, before = 0, passed = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct radix_row *stay = &a->places.stay[p->first + i];
        staying[i] = !is_passing(a, stay);
        before += stay->first + 1 == newest;
        if (stay->first + 1 == newest && !staying[i])
            gone[passed++] = (struct gone){ l[stay->id].bytes, 0 };
    }
    if (passed == 0)
        return;
    qsort(gone, passed, sizeof *gone, by_bytes);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct radix_row *stay = &a->places.stay[p->first + i];
        if (stay->first == newest && staying[i])
            staying[i] = passed < before && !take_gone(gone, passed, l[stay->id].bytes);
    }
}

/* Made by a backward: a gradient, or what it needed on the way. */
static bool made_backward(const struct study *s, uint32_t i)
{
    uint8_t phase = s->phases.of_stack[s->lifetimes.at[i].alloc_stack.n];
    return phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE;
}

/* What is alive at the last moment, by the step it was born in. */
struct generation {
    uint32_t step;     /* the first moment that sees it */
    uint32_t backward; /* the last one begun before; one backward makes one generation */
    bool stays;        /* some of it */
    struct survivor survivor;
};

/* Generations, earliest first; stays come in the order of their first moment, so those of one step
 * stand together.  Returns how many there are. */
static uint32_t find_generations(const struct gather *a, const struct leak_place *p,
                                 const bool *staying, struct generation *to)
{
    uint32_t last = a->moments.count - 1, count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct radix_row *stay = &a->places.stay[p->first + i];
        const struct lifetime *one = &a->s->lifetimes.at[stay->id];
        if (stay->last != last)
            continue;
        uint32_t backward = backwards_until(a, one->birth);
        const struct generation *was = count == 0 ? NULL : &to[count - 1];
        if (was == NULL || (was->step != stay->first &&
                            !(was->backward == backward && made_backward(a->s, stay->id))))
            to[count++] = (struct generation){ .step = stay->first, .backward = backward };
        struct generation *g = &to[count - 1];
        g->stays |= staying[i];
        if (g->survivor.bytes == 0 || one->bytes > g->survivor.bytes)
            g->survivor = (struct survivor){ one->birth, one->bytes, one->alloc_stack };
    }
    return count;
}

/* The survivors, one for each generation. */
static enum vrs_status tell_generations(const struct gather *a, const struct leak_place *p,
                                        const bool *staying, struct leak_site *site,
                                        struct leak_series *series, struct vrs_error *err)
{
    uint32_t last = a->moments.count - 1;
    struct generation *of = arena_array(a->s->scratch, struct generation, site->counts[last]);
    site->survivor = arena_array(a->s->keep, struct survivor, site->counts[last]);
    if (of == NULL || site->survivor == NULL)
        return vrs_no_memory(err);
    site->survivors = find_generations(a, p, staying, of);
    for (uint32_t i = 0; i < site->survivors; i++) {
        site->survivor[i] = of[i].survivor;
        series->staying_generations += of[i].stays;
    }
    series->generations = site->generations = site->survivors;
    series->all_from_last_step =
        site->survivors == 1 && of[0].step == last && of[0].survivor.event >= 0;
    return VRS_OK;
}

/* The sizes of what is older than the recording and is freed behind the first moment. */
static enum vrs_status find_let_go(struct gather *a, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    struct radix_room room;
    a->let_go = arena_array(a->s->scratch, struct radix_row, l->older_count);
    if (a->let_go == NULL || !radix_room_make(&room, l->older_count, a->s->scratch))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < l->older_count; i++) {
        const struct lifetime *one = &l->at[l->older[i]];
        if (one->freed > a->moments.event[0] && one->freed < (int64_t)a->s->events)
            a->let_go[a->let_go_count++] = (struct radix_row){ .key = one->bytes };
    }
    a->let_go = radix_sort(a->let_go, a->let_go_count, &room);
    return VRS_OK;
}

/* Whether steps before the recording made the like, and it went while as many new ones came: those
 * will go too.  Asked of few steps, in which as many generations as are kept may be all there are.
 */
static bool older_were_let_go(const struct gather *a, const struct leak_site *site)
{
    uint64_t bytes = site->survivor[0].bytes;
    uint32_t first, end;
    SORTED_FIND(first, a->let_go_count, a->let_go[first].key < bytes);
    SORTED_FIND(end, a->let_go_count, a->let_go[end].key <= bytes);
    return end - first >= site->generations;
}

/* What becomes of the memory of a place from step to step. */
static enum vrs_status judge_place(const struct gather *a, const struct leak_place *p,
                                   struct leak_site *site, struct vrs_error *err)
{
    struct arena *scratch = a->s->scratch;
    uint32_t moments = a->moments.count;
    bool *staying = arena_array(scratch, bool, p->count);
    struct gone *gone = arena_array(scratch, struct gone, p->count);
    uint64_t *bytes = arena_array(scratch, uint64_t, moments);
    uint32_t *counts = arena_array(scratch, uint32_t, moments);
    site->moments = moments;
    site->bytes = arena_array(a->s->keep, uint64_t, moments);
    site->counts = arena_array(a->s->keep, uint32_t, moments);
    if (staying == NULL || gone == NULL || bytes == NULL || counts == NULL || site->bytes == NULL ||
        site->counts == NULL)
        return vrs_no_memory(err);
    find_staying(a, p, staying, gone);
    fill_series(a, p, NULL, site->bytes, site->counts);
    fill_series(a, p, staying, bytes, counts);
    struct leak_series series = {
        .bytes = site->bytes,
        .staying_bytes = bytes,
        .counts = site->counts,
        .moments = moments,
        .steps = a->s->steps.count,
        .end_compares = a->moments.end_compares,
        .at_most_suspect = at_most_suspect(a->s),
    };
    TRY(tell_generations(a, p, staying, site, &series, err));
    struct leak_trend trend = leak_judge(&series, a->room);
    if (trend.class == LEAK_CLASS_SUSPECT && series.steps < GROWTH_STEPS_MIN &&
        older_were_let_go(a, site))
        trend = (struct leak_trend){ .class = LEAK_CLASS_REPLACED };
    site->class = trend.class;
    site->slope_bytes = trend.slope_bytes;
    site->every_steps = trend.every_steps;
    return VRS_OK;
}

/* The largest of a place's allocations, the earliest of equals, stands for it. */
static uint32_t representative(const struct gather *a, const struct leak_place *p)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t best = a->places.stay[p->first].id;
    for (uint32_t i = p->first + 1; i < p->first + p->count; i++) {
        uint32_t one = a->places.stay[i].id;
        if (l->at[one].bytes > l->at[best].bytes ||
            (l->at[one].bytes == l->at[best].bytes && l->at[one].birth < l->at[best].birth))
            best = one;
    }
    return best;
}

/* What the recorded process called the memory of the place: only what is in use at the end has a
 * name. */
static enum vrs_status find_names(const struct gather *a, const struct leak_place *p,
                                  struct held_names *ret, struct vrs_error *err)
{
    struct names_sum sum = { .r = a->s->r };
    for (uint32_t i = 0; i < p->count && sum.r->named.rows.len > 0; i++)
        names_sum_add(&sum, a->s->lifetimes.first + a->places.stay[p->first + i].id);
    return names_sum_end(&sum, a->s->keep, ret, err);
}

static enum vrs_status make_site(const struct gather *a, const struct leak_place *p,
                                 struct leak_site *site, struct vrs_error *err)
{
    const struct lifetimes *l = &a->s->lifetimes;
    uint32_t best = representative(a, p);
    stack_id stack = l->at[best].alloc_stack;
    struct arena_mark mark = arena_mark(a->s->scratch);
    TRY(judge_place(a, p, site, err));
    arena_release(a->s->scratch, mark);
    if (stack.n == 0 && !name_by_size(a, l->at[best].bytes, &site->site))
        return vrs_no_memory(err);
    if (stack.n != 0)
        TRY(study_site(a->s, stack, &site->site, err));
    TRY(naming_innermost(a->s->naming, stack, &site->innermost, err));
    TRY(find_names(a, p, &site->names, err));
    site->category = a->s->categories.of[best];
    return VRS_OK;
}

/* Of one allocation that each step makes longer neither counts nor generations tell.  Sites are
 * still in the order of their places. */
static enum vrs_status find_lengthened(const struct gather *a, struct vrs_error *err)
{
    struct leak_made made = { 0 };
    for (uint32_t i = 0; i < a->g->sites; i++) {
        const struct leak_place *p = &a->places.place[i];
        struct leak_site *site = &a->g->site[i];
        uint64_t longer = 0;
        if (site->class == LEAK_CLASS_STABLE)
            TRY(leak_lengthened(a->s, &a->moments, &made, a->places.stay + p->first, p->count,
                                &longer, err));
        if (longer == 0)
            continue;
        site->class = LEAK_CLASS_LEAK;
        site->slope_bytes = (int64_t)longer;
        site->every_steps = 1;
    }
    return VRS_OK;
}

static bool made_forward(const struct study *s, const struct leak_site *site)
{
    uint8_t phase = s->phases.of_stack[site->site.stack.n];
    return phase == PHASE_FORWARD || phase == PHASE_OTHER || phase == PHASE_RECOMPUTE;
}

static bool is_scalar(const struct leak_site *site)
{
    uint32_t last = site->moments - 1;
    return site->bytes[last] <= (uint64_t)LEAK_SCALAR_BYTES * site->counts[last];
}

/* A loss that is kept, not its value, keeps the activations of its step alive. */
static bool graph_is_kept(const struct study *s, const struct leaks *g)
{
    bool scalar = false, activation = false;
    for (uint32_t i = 0; i < g->sites; i++) {
        const struct leak_site *site = &g->site[i];
        if (!leak_is_told(site) || !made_forward(s, site))
            continue;
        scalar |= is_scalar(site);
        activation |= !is_scalar(site) && site->category == CATEGORY_ACTIVATION;
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

/* The floor; a scalar that holds a graph stands beside what it holds. */
static void leave_out_small(struct leaks *g, struct leak_site *site)
{
    uint64_t first = site->bytes[0], last = site->bytes[site->moments - 1];
    bool holds = site->kind == LEAK_GRAPH && is_scalar(site);
    if (leak_is_told(site) && !holds && (last < first || last - first < g->floor_bytes))
        site->class = LEAK_CLASS_TOO_SMALL;
}

/* Those that are told, what is too small to be, all else. */
static int rank_of(const struct leak_site *site)
{
    return leak_is_told(site) ? 0 : leak_grows(site) ? 1 : 2;
}

static int compare_sites(const void *a, const void *b)
{
    const struct leak_site *x = a, *y = b;
    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    if (leak_grows(x) && x->slope_bytes != y->slope_bytes)
        return x->slope_bytes > y->slope_bytes ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Names what grows, and counts it. */
static void tell_growth(const struct gather *a)
{
    const struct study *s = a->s;
    struct leaks *g = a->g;
    int64_t peak = s->curves.of[CURVE_REQUESTED].peak_bytes;
    g->floor_bytes = peak > 0 ? (uint64_t)peak / FLOOR_PARTS : 0;
    g->floor_bytes = g->floor_bytes < FLOOR_BYTES ? g->floor_bytes : FLOOR_BYTES;
    bool graph = graph_is_kept(s, g);
    uint64_t total = 0;
    for (uint32_t i = 0; i < g->sites; i++) {
        struct leak_site *site = &g->site[i];
        site->order = i;
        if (!leak_is_told(site)) {
            site->survivors = 0;
            continue;
        }
        site->kind = kind_of(s, site, graph);
        leave_out_small(g, site);
        g->leaks += site->class == LEAK_CLASS_LEAK;
        g->suspects += site->class == LEAK_CLASS_SUSPECT;
        g->too_small += site->class == LEAK_CLASS_TOO_SMALL;
        total += leak_is_told(site) ? (uint64_t)site->slope_bytes : 0;
        for (uint32_t k = 0; k < site->survivors; k++)
            study_show(s, site->survivor[k].stack);
    }
    g->slope_total_bytes = (int64_t)total;
}

static enum vrs_status make_sites(struct gather *a, struct vrs_error *err)
{
    struct leaks *g = a->g;
    g->sites = a->places.places;
    g->sites_folded = a->places.folded;
    g->site = arena_array(a->s->keep, struct leak_site, g->sites);
    if (g->site == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < g->sites; i++)
        TRY(make_site(a, &a->places.place[i], &g->site[i], err));
    TRY(find_lengthened(a, err));
    tell_growth(a);
    if (g->sites != 0)
        qsort(g->site, g->sites, sizeof *g->site, compare_sites);
    return VRS_OK;
}

static void count_to_full(const struct study *s, uint64_t capacity, struct leaks *g)
{
    int64_t peak = s->curves.of[CURVE_REQUESTED].peak_bytes;
    /* A peak of sizes that do not add up is not below any capacity. */
    if (capacity == 0 || capacity > INT64_MAX || peak < 0 || g->leaks == 0 ||
        g->slope_total_bytes <= 0)
        return;
    g->steps_to_full =
        (int64_t)capacity > peak ? ((int64_t)capacity - peak) / g->slope_total_bytes : 0;
}

static enum vrs_status look_between_steps(const struct study *s, struct leaks *ret,
                                          struct vrs_error *err)
{
    struct leaks g = *ret;
    struct gather a = { .s = s, .g = &g };
    TRY(leak_moments_find(s, &a.moments, err));
    g.moments = a.moments.count;
    g.end_compares = a.moments.end_compares;
    a.room = arena_array(s->scratch, int64_t, SLOPE_PAIRS_MAX);
    if (a.room == NULL)
        return vrs_no_memory(err);
    TRY(find_backwards(&a, err));
    TRY(find_let_go(&a, err));
    TRY(leak_places_find(s, &a.moments, &a.places, err));
    tell_first_step(&a);
    TRY(make_sites(&a, err));
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
