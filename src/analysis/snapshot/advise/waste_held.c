/* waste_held.c - memory that is held unusually long. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/advise/waste_parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

enum { LONGER = 10, HELD_INTERVALS_MOST = 64 };

static uint64_t life_of(const struct lifetime *l)
{
    return (uint64_t)(l->freed - l->birth);
}

static bool is_candidate(const struct wasting *g, uint32_t i)
{
    const struct lifetime *l = &g->s->lifetimes.at[i];
    return g->s->categories.of[i] == CATEGORY_TEMPORARY && l->bytes >= g->floor_bytes &&
           l->bytes > 0 && l->birth >= 0;
}

struct life {
    uint32_t site;
    uint64_t events;
};

static int by_life(const void *a, const void *b)
{
    const struct life *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->events > y->events) - (x->events < y->events);
}

/* The median life of the allocations of each site that has a candidate; lives that the recording
 * cuts short count as they stand. */
static bool find_medians(const struct wasting *g, const bool *asked, uint64_t *median)
{
    const struct study *s = g->s;
    struct arena_mark mark = arena_mark(s->scratch);
    struct life *life = arena_array(s->scratch, struct life, s->lifetimes.count);
    uint32_t lives = 0;
    for (uint32_t i = 0; life != NULL && i < s->lifetimes.count; i++)
        if (asked[g->sites.of[i]])
            life[lives++] = (struct life){ g->sites.of[i], life_of(&s->lifetimes.at[i]) };
    if (lives > 1)
        qsort(life, lives, sizeof *life, by_life);
    for (uint32_t i = 0, count; i < lives; i += count) {
        for (count = 1; i + count < lives && life[i + count].site == life[i].site;)
            count++;
        median[life[i].site] = life[i + count / 2].events;
    }
    arena_release(s->scratch, mark);
    return life != NULL;
}

static bool crosses_phase(const struct study *s, const struct lifetime *l)
{
    return s->phases.known && phases_at(&s->phases, l->birth) != phases_at(&s->phases, l->freed);
}

static int by_size(const void *a, const void *b)
{
    const struct long_temporary *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->first_event > y->first_event) - (x->first_event < y->first_event);
}

enum vrs_status waste_find_long(struct wasting *g)
{
    const struct study *s = g->s;
    struct arena_mark mark = arena_mark(s->scratch);
    uint64_t *median = arena_array(s->scratch, uint64_t, g->sites.sites);
    bool *asked = arena_array(s->scratch, bool, g->sites.sites);
    uint32_t candidates = 0;
    for (uint32_t i = 0; asked != NULL && i < s->lifetimes.count; i++)
        if (is_candidate(g, i)) {
            asked[g->sites.of[i]] = true;
            candidates++;
        }
    g->w->long_temporary = arena_array(s->keep, struct long_temporary, candidates);
    if (median == NULL || asked == NULL || g->w->long_temporary == NULL ||
        !find_medians(g, asked, median))
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; candidates > 0 && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t site = g->sites.of[i];
        if (!is_candidate(g, i))
            continue;
        if (life_of(l) / LONGER < median[site] && !crosses_phase(s, l))
            continue;
        struct long_temporary *row = &g->w->long_temporary[g->w->long_temporaries++];
        *row = (struct long_temporary){ .bytes = l->bytes,
                                        .first_event = l->birth,
                                        .last_event = l->freed,
                                        .median_life_events = median[site] };
        TRY(study_site(s, l->alloc_stack, &row->site, g->err));
    }
    if (g->w->long_temporaries > 1)
        qsort(g->w->long_temporary, g->w->long_temporaries, sizeof *g->w->long_temporary, by_size);
    arena_release(s->scratch, mark);
    return VRS_OK;
}

static bool is_forward(const struct recording *r, uint32_t frame)
{
    return str_equal(strings_text(&r->code.strings, (string_id){ r->code.frames.name[frame] }),
                     S("forward"));
}

/* The module of each stack: its innermost `forward`, as a frame; 0: none. */
static uint32_t *modules_of(const struct study *s)
{
    const struct recording *r = s->r;
    uint32_t *module = arena_array(s->scratch, uint32_t, r->code.stacks.rows.len);
    bool *forward = arena_array(s->scratch, bool, r->code.frames.rows.len);
    if (module == NULL || forward == NULL)
        return NULL;
    for (uint32_t i = 1; i < r->code.frames.rows.len; i++)
        forward[i] = is_forward(r, i);
    for (uint32_t i = 1; i < r->code.stacks.rows.len; i++)
        module[i] = forward[r->code.stacks.frame[i]] ? r->code.stacks.frame[i]
                                                     : module[r->code.stacks.caller[i]];
    return module;
}

struct holding {
    struct wasting *g;
    const uint32_t *module; /* of each stack */
    bool *busy;             /* of each frame: something of that module came or went */
    uint64_t *held;         /* of each frame: bytes alive all through */
    uint32_t *lead;         /* of each frame: the largest allocation of them */
};

static bool lives_through(const struct lifetime *l, const struct phase_interval *v)
{
    return l->birth < (int64_t)v->first_event && l->freed > (int64_t)v->last_event;
}

static void look(const struct holding *h, const struct phase_interval *v)
{
    const struct study *s = h->g->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        uint32_t module = h->module[l->alloc_stack.n];
        if (lives_through(l, v)) {
            bool larger = h->held[module] == 0 || l->bytes > s->lifetimes.at[h->lead[module]].bytes;
            h->lead[module] = larger ? i : h->lead[module];
            h->held[module] += l->bytes;
        } else if ((l->birth >= (int64_t)v->first_event && l->birth <= (int64_t)v->last_event) ||
                   (l->freed >= (int64_t)v->first_event && l->freed <= (int64_t)v->last_event)) {
            h->busy[module] = true;
        }
    }
}

static enum vrs_status take_interval(const struct holding *h, const struct phase_interval *v)
{
    const struct study *s = h->g->s;
    struct waste *w = h->g->w;
    look(h, v);
    for (uint32_t f = 1; f < s->r->code.frames.rows.len; f++) {
        if (!h->busy[f] && h->held[f] > 0 && h->held[f] >= h->g->floor_bytes &&
            w->held_overs < HELD_INTERVALS_MOST) {
            struct held_over *row = &w->held_over[w->held_overs++];
            int64_t step = s->steps.count == 0 ? -1 : steps_at(&s->steps, v->first_event);
            *row = (struct held_over){
                .phase = v->phase,
                .step = (uint32_t)(step + 1),
                .bytes = h->held[f],
            };
            TRY(study_site(s, s->lifetimes.at[h->lead[f]].alloc_stack, &row->site, h->g->err));
        }
        h->busy[f] = false;
        h->held[f] = 0;
    }
    return VRS_OK;
}

/* The intervals of the step that holds the peak; of a recording without steps, the one at the
 * peak. */
static bool is_asked(const struct wasting *g, uint32_t interval)
{
    const struct study *s = g->s;
    if (s->steps.count == 0)
        return interval == phases_at(&s->phases, g->peak_event);
    return steps_at(&s->steps, s->phases.interval[interval].first_event) ==
           steps_at(&s->steps, g->peak_event);
}

static int by_held(const void *a, const void *b)
{
    const struct held_over *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->site.stack.n > y->site.stack.n) - (x->site.stack.n < y->site.stack.n);
}

enum vrs_status waste_find_held(struct wasting *g)
{
    const struct study *s = g->s;
    uint32_t frames = s->r->code.frames.rows.len, taken = 0;
    struct arena_mark mark = arena_mark(s->scratch);
    struct holding h = {
        .g = g,
        .module = modules_of(s),
        .busy = arena_array(s->scratch, bool, frames),
        .held = arena_array(s->scratch, uint64_t, frames),
        .lead = arena_array(s->scratch, uint32_t, frames),
    };
    g->w->held_over = arena_array(s->keep, struct held_over, HELD_INTERVALS_MOST);
    if (h.module == NULL || h.busy == NULL || h.held == NULL || h.lead == NULL ||
        g->w->held_over == NULL)
        return vrs_no_memory(g->err);
    /* A step has a handful of intervals; what flickers is not looked at without end. */
    for (uint32_t i = 0; i < s->phases.intervals && taken < HELD_INTERVALS_MOST; i++)
        if (is_asked(g, i)) {
            taken++;
            TRY(take_interval(&h, &s->phases.interval[i]));
        }
    if (g->w->held_overs > 1)
        qsort(g->w->held_over, g->w->held_overs, sizeof *g->w->held_over, by_held);
    arena_release(s->scratch, mark);
    return VRS_OK;
}
