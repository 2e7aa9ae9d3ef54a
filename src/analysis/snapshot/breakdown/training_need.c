/* training_need.c - one walk along the trace with a sum for each category. */
#include "analysis/snapshot/breakdown/training_need.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"

enum { WEAK_PART = 20 }; /* a twentieth of a term may be less sure than the rest */

const char *const term_names[TERMS] = {
    [TERM_P] = "P",       [TERM_S] = "S", [TERM_B] = "B",   [TERM_G] = "G", [TERM_OI] = "OI",
    [TERM_G_OI] = "G_OI", [TERM_A] = "A", [TERM_LG] = "LG", [TERM_H] = "H", [TERM_W] = "W",
};

const char *const residual_names[RESIDUALS] = {
    [RESIDUAL_A] = "A",
    [RESIDUAL_H] = "H",
    [RESIDUAL_W] = "W",
    [RESIDUAL_B] = "B",
    [RESIDUAL_G] = "G",
    [RESIDUAL_OI] = "OI",
    [RESIDUAL_G_OI] = "G_OI",
    [RESIDUAL_GENERATIONS] = "generations",
    [RESIDUAL_UNKNOWN] = "unknown",
};

#define BIT(category) (1u << (category))

/* Beside the categories: activations that are held by names. */
enum { HELD = CATEGORIES, KINDS };

static const uint32_t categories_of[TERMS] = {
    [TERM_P] = BIT(CATEGORY_PARAMETER),
    [TERM_S] = BIT(CATEGORY_OPTIMIZER_STATE),
    [TERM_G] = BIT(CATEGORY_GRADIENT),
    [TERM_OI] = BIT(CATEGORY_OPTIMIZER_TEMP),
    [TERM_G_OI] = BIT(CATEGORY_GRADIENT) | BIT(CATEGORY_OPTIMIZER_TEMP),
    [TERM_B] = BIT(CATEGORY_BUFFER) | BIT(CATEGORY_PARAMETER_COPY) | BIT(CATEGORY_KV_CACHE) |
               BIT(CATEGORY_COMMUNICATION),
    [TERM_A] = BIT(CATEGORY_ACTIVATION),
    [TERM_LG] = BIT(CATEGORY_ACTIVATION) | BIT(CATEGORY_AUTOGRAD_DETAIL),
    [TERM_H] = BIT(HELD) | BIT(CATEGORY_INPUT),
    [TERM_W] = BIT(CATEGORY_WORKSPACE),
};

/* Terms that a category is in, at most: gradients, and what an optimizer works with, are in one of
 * their own and in the one of both, as activations are. */
enum { TERMS_OF_ONE = 2 };

struct walk {
    const struct study *s;
    bool inference;
    uint32_t wanted[TERMS];             /* bits of categories */
    uint8_t terms[KINDS][TERMS_OF_ONE]; /* TERMS: none */
    uint64_t live[KINDS], at_peak[KINDS];
    uint64_t now[TERMS + 1]; /* sums of `live` */
    uint32_t changed;        /* bits of terms, since a maximum was looked for */
    uint64_t most[TERMS];
    int64_t event[TERMS];
};

static uint64_t sum_of(const uint64_t *live, uint32_t wanted)
{
    uint64_t sum = 0;
    for (int i = 0; i < KINDS; i++)
        sum += wanted >> i & 1 ? live[i] : 0;
    return sum;
}

static void find_terms(struct walk *w)
{
    for (int category = 0; category < KINDS; category++) {
        uint32_t found = 0;
        for (int term = 0; term < TERMS; term++)
            if ((w->wanted[term] >> category & 1) != 0) {
                assert(found < TERMS_OF_ONE);
                w->terms[category][found++] = (uint8_t)term;
            }
        while (found < TERMS_OF_ONE)
            w->terms[category][found++] = TERMS;
    }
}

/* Its category, or HELD. */
static uint8_t kind_of(const struct study *s, uint32_t i)
{
    return s->categories.held[i] ? (uint8_t)HELD : s->categories.of[i];
}

static void change(struct walk *w, uint32_t i, bool born)
{
    uint64_t bytes = w->s->lifetimes.at[i].bytes;
    uint64_t by = born ? bytes : 0 - bytes;
    uint8_t category = kind_of(w->s, i);
    const uint8_t *terms = w->terms[category];
    w->live[category] += by;
    for (int k = 0; k < TERMS_OF_ONE; k++) {
        w->now[terms[k]] += by;
        w->changed |= BIT(terms[k]);
    }
}

static void look(struct walk *w, enum term term, int64_t event)
{
    uint64_t now = w->now[term];
    if (now > w->most[term] && now <= INT64_MAX) {
        w->most[term] = now;
        w->event[term] = event;
    }
}

/* Parameters and state are looked at where no optimizer is at work: before each interval begins,
 * and at the end. */
static bool quiet_after(const struct study *s, int64_t event, uint32_t *interval)
{
    bool quiet = event == -1 || event + 1 == (int64_t)s->events;
    while (*interval < s->phases.intervals &&
           (int64_t)s->phases.interval[*interval].first_event <= event + 1) {
        quiet |= (int64_t)s->phases.interval[*interval].first_event == event + 1;
        ++*interval;
    }
    return quiet;
}

/* Only an alloc can make a new maximum. */
static void look_around(struct walk *w, int64_t event, bool born, int64_t peak, uint32_t *interval)
{
    if (quiet_after(w->s, event, interval)) {
        look(w, TERM_P, event);
        look(w, TERM_S, event);
    }
    /* A name that is bound anew holds two values while the second is made. */
    bool holds = w->inference ||
                 (*interval != 0 && w->s->phases.interval[*interval - 1].phase == PHASE_BACKWARD);
    if (born) {
        for (int term = TERM_B; term < TERMS; term++)
            if ((w->changed & BIT(term)) != 0 && (term != TERM_H || holds))
                look(w, (enum term)term, event);
        w->changed = holds ? 0 : w->changed & BIT(TERM_H);
    }
    if (event != peak)
        return;
    for (int i = 0; i < KINDS; i++)
        w->at_peak[i] = w->live[i];
}

static void walk_trace(struct walk *w, int64_t peak)
{
    const struct lifetimes *l = &w->s->lifetimes;
    int64_t events = w->s->events;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->at[i].birth < 0)
            change(w, i, true);
    uint32_t next = 0, interval = 0;
    look_around(w, -1, true, peak, &interval);
    for (int64_t event = 0; event < events; event++) {
        if (l->freed_at[event] != NO_ROW)
            change(w, l->freed_at[event], false);
        /* Allocations seen stand in the order of their allocs. */
        while (next < l->count && l->at[next].birth < event)
            next++;
        bool born = next < l->count && l->at[next].birth == event;
        if (born)
            change(w, next, true);
        look_around(w, event, born, peak, &interval);
    }
}

/* Memory of one site in one term. */
struct share {
    uint32_t site; /* reduced stack */
    stack_id stack;
    uint64_t bytes, largest;
    uint32_t first; /* allocation */
};

static int by_site(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->largest != y->largest)
        return x->largest > y->largest ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_bytes(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* What the shares of one device need, made once. */
struct sharing {
    uint32_t present; /* bits of the categories that some allocation has */
    struct sites sites;
    struct share *share;
    uint32_t *of_stack; /* share of a stack, plus 1; cleared after use */
};

/* The live set of a term by stack; also how sure it is. */
static uint32_t gather_shares(const struct study *s, uint32_t wanted, int64_t event,
                              struct sharing *g, uint64_t *sure)
{
    uint32_t shares = 0;
    if ((wanted & g->present) == 0)
        return 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if ((wanted >> kind_of(s, i) & 1) == 0 || !lifetime_alive(l, event))
            continue;
        uint32_t *known = &g->of_stack[l->alloc_stack.n];
        if (*known == 0) {
            g->share[shares] = (struct share){ 0, l->alloc_stack, 0, l->bytes, i };
            *known = ++shares;
        }
        struct share *share = &g->share[*known - 1];
        share->bytes += l->bytes;
        if (l->bytes > share->largest) {
            share->largest = l->bytes;
            share->first = i;
        }
        sure[s->categories.confidence[i]] += l->bytes;
    }
    for (uint32_t i = 0; i < shares; i++)
        g->of_stack[g->share[i].stack.n] = 0;
    return shares;
}

static enum confidence weakest(const uint64_t *sure)
{
    uint64_t all = 0, weak = 0;
    for (int i = 0; i < CONFIDENCES; i++)
        all += sure[i];
    if (all == 0)
        return CONFIDENCE_NONE;
    for (int i = CONFIDENCE_LOW; i < CONFIDENCE_HIGH; i++) {
        weak += sure[i];
        if (weak > all / WEAK_PART)
            return (enum confidence)i;
    }
    return CONFIDENCE_HIGH;
}

static enum vrs_status fill_term(const struct study *s, uint32_t wanted, struct sharing *g,
                                 struct need_term *term, struct vrs_error *err)
{
    uint64_t sure[CONFIDENCES] = { 0 };
    uint32_t shares = gather_shares(s, wanted, term->event, g, sure);
    for (uint32_t i = 0; i < shares; i++)
        if (!sites_of(&g->sites, g->share[i].stack, &g->share[i].site))
            return vrs_no_memory(err);
    if (shares > 1)
        qsort(g->share, shares, sizeof *g->share, by_site);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shares; i++) {
        if (kept > 0 && g->share[kept - 1].site == g->share[i].site)
            g->share[kept - 1].bytes += g->share[i].bytes;
        else
            g->share[kept++] = g->share[i];
    }
    if (kept > 1)
        qsort(g->share, kept, sizeof *g->share, by_bytes);
    for (uint32_t i = 0; i < kept && i < TERM_SITES; i++)
        TRY(study_site(s, g->share[i].stack, &term->site[term->sites++], err));
    term->confidence = weakest(sure);
    term->estimated = term->confidence == CONFIDENCE_LOW;
    return VRS_OK;
}

static enum vrs_status fill_terms(struct walk *w, struct training_need *e, struct vrs_error *err)
{
    const struct study *s = w->s;
    struct sharing g = {
        .share = arena_array(s->scratch, struct share, s->r->code.stacks.rows.len),
        .of_stack = arena_array(s->scratch, uint32_t, s->r->code.stacks.rows.len),
    };
    if (g.share == NULL || g.of_stack == NULL ||
        !sites_init(&g.sites, &s->r->code, s->naming, SITE_LINE, s->scratch))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        g.present |= BIT(kind_of(s, i));
    enum vrs_status status = VRS_OK;
    for (int i = 0; i < TERMS && status == VRS_OK; i++)
        if (e->term[i].known)
            status = fill_term(s, w->wanted[i], &g, &e->term[i], err);
    sites_free(&g.sites);
    return status;
}

static bool has_phase(const struct study *s, enum phase phase)
{
    for (uint32_t i = 0; i < s->phases.intervals; i++)
        if (s->phases.interval[i].phase == phase)
            return true;
    return false;
}

/* Gradients and optimizer state are left by a training that the recording does not show. */
static bool has_trained(const struct study *s)
{
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (s->categories.of[i] == CATEGORY_GRADIENT ||
            s->categories.of[i] == CATEGORY_OPTIMIZER_STATE)
            return true;
    return false;
}

static void set_terms(const struct walk *w, struct training_need *e)
{
    for (int i = 0; i < TERMS; i++)
        e->term[i] = (struct need_term){
            .known = true,
            .bytes = (int64_t)w->most[i],
            .event = w->event[i],
        };
    /* It was looked for together with A, which is a part of it. */
    e->term[TERM_LG].bytes = i64_minus(e->term[TERM_LG].bytes, e->term[TERM_A].bytes);
    /* What no rule saw is not known to be nothing. */
    bool state_seen = has_phase(w->s, PHASE_OPTIMIZER) || w->s->categories.copies > 0 ||
                      e->term[TERM_S].bytes != 0;
    e->term[TERM_P].known = e->term[TERM_P].bytes != 0;
    e->term[TERM_S].known = e->inference || state_seen;
    for (int i = 0; i < TERMS; i++) {
        e->term[i].id = (enum term)i;
        e->term[i].estimated = !e->term[i].known;
        e->term[i].confidence = CONFIDENCE_NONE;
    }
}

static void set_formula(struct training_need *e)
{
    const struct need_term *t = e->term;
    int64_t batch = i64_plus(i64_plus(t[TERM_A].bytes, t[TERM_LG].bytes), t[TERM_H].bytes);
    int64_t optimizer = t[TERM_G_OI].bytes, activations = i64_plus(batch, t[TERM_W].bytes);
    int64_t held =
        i64_plus(i64_plus(t[TERM_P].bytes, e->inference ? 0 : t[TERM_S].bytes), t[TERM_B].bytes);
    e->bound = !t[TERM_P].known || !t[TERM_S].known;
    e->optimizer_side = !e->inference && optimizer >= activations;
    e->margin_bytes =
        e->optimizer_side ? i64_minus(optimizer, activations) : i64_minus(activations, optimizer);
    e->formula_bytes = i64_plus(held, e->optimizer_side ? optimizer : activations);
    e->residual_bytes = i64_minus(e->measured_bytes, e->formula_bytes);
    e->residual_ratio =
        e->measured_bytes <= 0 ? 0 : (double)e->residual_bytes / (double)e->measured_bytes;
    int64_t beside = i64_minus(optimizer, t[TERM_W].bytes);
    e->crossing_ratio =
        e->inference || batch <= 0 || beside < 0 ? -1 : (double)beside / (double)batch;
}

/* The items and the formula add up to the live set at the peak. */
static void set_items(const struct walk *w, struct training_need *e)
{
    const struct need_term *t = e->term;
    int64_t live[KINDS], item[RESIDUALS] = { 0 }, sum = 0;
    for (int i = 0; i < KINDS; i++)
        live[i] = (int64_t)w->at_peak[i];
    int64_t gradients = live[CATEGORY_GRADIENT], temporary = live[CATEGORY_OPTIMIZER_TEMP];
    item[RESIDUAL_A] = i64_plus(i64_plus(live[CATEGORY_ACTIVATION], live[CATEGORY_TEMPORARY]),
                                live[CATEGORY_AUTOGRAD_DETAIL]);
    item[RESIDUAL_H] = (int64_t)sum_of(w->at_peak, w->wanted[TERM_H]);
    item[RESIDUAL_W] = live[CATEGORY_WORKSPACE];
    item[RESIDUAL_B] = i64_minus((int64_t)sum_of(w->at_peak, w->wanted[TERM_B]), t[TERM_B].bytes);
    if (e->optimizer_side) {
        item[RESIDUAL_G_OI] = i64_minus(i64_plus(gradients, temporary), t[TERM_G_OI].bytes);
    } else {
        item[RESIDUAL_A] = i64_minus(item[RESIDUAL_A], i64_plus(t[TERM_A].bytes, t[TERM_LG].bytes));
        item[RESIDUAL_H] = i64_minus(item[RESIDUAL_H], t[TERM_H].bytes);
        item[RESIDUAL_W] = i64_minus(item[RESIDUAL_W], t[TERM_W].bytes);
        item[RESIDUAL_G] = gradients;
        item[RESIDUAL_OI] = temporary;
    }
    int64_t state = e->inference ? 0 : t[TERM_S].bytes;
    item[RESIDUAL_GENERATIONS] = i64_plus(i64_minus(live[CATEGORY_PARAMETER], t[TERM_P].bytes),
                                          i64_minus(live[CATEGORY_OPTIMIZER_STATE], state));
    item[RESIDUAL_UNKNOWN] = i64_plus(live[CATEGORY_UNKNOWN], live[CATEGORY_PERSISTENT]);
    for (int i = 0; i < RESIDUALS; i++) {
        sum = i64_plus(sum, item[i]);
        if (item[i] != 0)
            e->item[e->items++] = (struct residual_item){ (enum residual)i, item[i] };
    }
    e->unexplained_bytes = i64_minus(e->residual_bytes, sum);
}

enum vrs_status training_need_compute(const struct study *s, struct training_need *ret,
                                      struct vrs_error *err)
{
    const struct curve *requested = &s->curves.of[CURVE_REQUESTED];
    struct training_need e = {
        .measured_bytes = requested->peak_bytes,
        .measured_event = requested->peak_event,
    };
    struct walk w = { .s = s };
    e.inference = !has_phase(s, PHASE_BACKWARD) && !has_phase(s, PHASE_RECOMPUTE) &&
                  !has_phase(s, PHASE_OPTIMIZER) && !has_trained(s);
    for (int i = 0; i < TERMS; i++) {
        w.wanted[i] = categories_of[i];
        w.event[i] = -1;
    }
    w.inference = e.inference;
    if (e.inference) {
        w.wanted[TERM_A] |= BIT(CATEGORY_TEMPORARY);
        w.wanted[TERM_LG] |= BIT(CATEGORY_TEMPORARY);
    }
    find_terms(&w);
    struct arena_mark mark = arena_mark(s->scratch);
    walk_trace(&w, e.measured_event);
    set_terms(&w, &e);
    set_formula(&e);
    set_items(&w, &e);
    w.wanted[TERM_LG] = BIT(CATEGORY_AUTOGRAD_DETAIL);
    TRY(fill_terms(&w, &e, err));
    arena_release(s->scratch, mark);
    *ret = e;
    return VRS_OK;
}
