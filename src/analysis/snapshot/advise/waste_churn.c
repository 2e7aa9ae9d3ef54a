/* waste_churn.c - the same size of the same site, freed and soon made again. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/advise/waste_parts.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/idtab.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

enum { GAP_EVENTS = 64, CHURN_LEAST = 2 };

struct signature {
    uint32_t site;
    uint64_t bytes; /* of one */
    uint32_t
        freed; /* its newest freed allocation that no alloc has followed yet, plus 1; 0: none */
    uint64_t allocs, churned;
    int64_t example[2];
    uint32_t steps, in_step; /* steps it was in; allocs of the newest of them */
    int64_t step;
    uint32_t usual; /* allocs in the first of them */
    bool uneven;    /* a step had another count */
};

struct churning {
    struct wasting *g;
    VEC(struct signature) signatures; /* 0 is none */
    struct idtab index;
    struct site_table sites; /* K2: lines of one function are one place */
    uint32_t *of;            /* of each allocation */
    uint32_t *before;        /* of each: that was freed before it, as in `freed` */
    bool *counted;           /* of each: it is one of a chain */
};

static uint64_t hash_of_pair(uint32_t site, uint64_t bytes)
{
    return hash_pair(site, bytes);
}

static bool signature_of(struct churning *c, uint32_t site, uint64_t bytes, uint32_t *ret)
{
    if (!idtab_reserve(&c->index))
        return false;
    uint64_t hash = hash_of_pair(site, bytes);
    uint32_t at = idtab_first(&c->index, hash);
    for (; c->index.slot[at].id != 0; at = idtab_next(&c->index, hash, at)) {
        const struct signature *s = &c->signatures.at[c->index.slot[at].id];
        if (s->site == site && s->bytes == bytes)
            break;
    }
    if (c->index.slot[at].id == 0) {
        struct signature made = { .site = site, .bytes = bytes, .example = { -1, -1 }, .step = -1 };
        if (!vec_push(&c->signatures, made))
            return false;
        idtab_put(&c->index, hash, c->signatures.len - 1);
    }
    *ret = c->index.slot[at].id;
    return true;
}

static void end_step(struct signature *s)
{
    if (s->steps == 1)
        s->usual = s->in_step;
    s->uneven = s->uneven || s->in_step != s->usual;
}

static void count_in_step(struct signature *s, int64_t step)
{
    if (step != s->step) {
        if (s->steps > 0)
            end_step(s);
        s->step = step;
        s->steps++;
        s->in_step = 0;
    }
    s->in_step++;
}

static void count_one(struct churning *c, struct signature *s, uint32_t row)
{
    s->churned += !c->counted[row];
    c->counted[row] = true;
}

static void take_free(struct churning *c, uint32_t row)
{
    struct signature *s = &c->signatures.at[c->of[row]];
    c->before[row] = s->freed;
    s->freed = row + 1;
}

static void take_alloc(struct churning *c, uint32_t row, int64_t event)
{
    struct signature *s = &c->signatures.at[c->of[row]];
    const struct steps *steps = &c->g->s->steps;
    if (s->allocs < 2)
        s->example[s->allocs] = event;
    s->allocs++;
    /* What was freed a moment ago counts with what takes its place. */
    while (s->freed != 0) {
        uint32_t old = s->freed - 1;
        s->freed = c->before[old];
        if (event - c->g->s->lifetimes.at[old].freed > GAP_EVENTS)
            continue;
        count_one(c, s, old);
        count_one(c, s, row);
    }
    int64_t step = steps->count == 0 ? -1 : steps_at(steps, event);
    if (step >= 0 && step < (int64_t)steps->count)
        count_in_step(s, step);
}

static bool walk(struct churning *c)
{
    const struct study *s = c->g->s;
    const uint32_t *freed = s->lifetimes.freed_at;
    uint32_t next = 0;
    c->of = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    c->before = arena_array(s->scratch, uint32_t, s->lifetimes.count);
    c->counted = arena_array(s->scratch, bool, s->lifetimes.count);
    if (c->of == NULL || c->before == NULL || c->counted == NULL ||
        !vec_push(&c->signatures, (struct signature){ 0 }))
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (!signature_of(c, c->sites.of[i], s->lifetimes.at[i].bytes, &c->of[i]))
            return false;
    for (uint32_t event = 0; event < s->events; event++) {
        if (freed[event] != NO_ROW)
            take_free(c, freed[event]);
        /* Allocations stand in the order of their first events. */
        while (next < s->lifetimes.count && s->lifetimes.at[next].birth < (int64_t)event)
            next++;
        if (next < s->lifetimes.count && s->lifetimes.at[next].birth == (int64_t)event)
            take_alloc(c, next++, event);
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const struct signature *x = a, *y = b;
    uint64_t left = x->bytes * x->churned, right = y->bytes * y->churned;
    if (left != right)
        return left > right ? -1 : 1;
    return (x->example[0] > y->example[0]) - (x->example[0] < y->example[0]);
}

static uint64_t per_step(const struct churning *c, struct signature *s)
{
    const struct steps *steps = &c->g->s->steps;
    if (s->steps == 0)
        return UNKNOWN_U64;
    end_step(s);
    bool usual = (uint64_t)s->steps * 5 >= (uint64_t)steps->count * 4 && !s->uneven;
    return usual ? s->usual : UNKNOWN_U64;
}

static enum vrs_status keep(struct churning *c)
{
    struct wasting *g = c->g;
    struct signature *s = c->signatures.at + 1;
    uint32_t rows = 0;
    for (uint32_t i = 0; i + 1 < c->signatures.len; i++)
        if (s[i].churned >= CHURN_LEAST && s[i].bytes * s[i].churned >= g->floor_bytes &&
            s[i].bytes > 0)
            s[rows++] = s[i];
    if (rows > 1)
        qsort(s, rows, sizeof *s, by_bytes);
    g->w->churn = arena_array(g->s->keep, struct churn, rows);
    if (g->w->churn == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < rows; i++) {
        struct churn *row = &g->w->churn[i];
        *row = (struct churn){
            .bytes = s[i].bytes * s[i].churned,
            .size_bytes = s[i].bytes,
            .count = s[i].churned,
            .per_step = per_step(c, &s[i]),
        };
        for (int k = 0; k < 2; k++)
            if (s[i].example[k] >= 0)
                row->example_event[row->example_events++] = s[i].example[k];
        TRY(site_table_show(g->s, &c->sites, s[i].site, &row->site, g->err));
    }
    g->w->churns = rows;
    return VRS_OK;
}

enum vrs_status waste_find_churn(struct wasting *g)
{
    struct churning c = { .g = g, .signatures.max = UINT32_MAX };
    struct arena_mark mark = arena_mark(g->s->scratch);
    enum vrs_status status = site_table_make(g->s, SITE_FUNCTION_IN_FILE, &c.sites, g->err);
    if (status == VRS_OK)
        status = walk(&c) ? keep(&c) : vrs_no_memory(g->err);
    arena_release(g->s->scratch, mark);
    vec_free(&c.signatures);
    idtab_free(&c.index);
    return status;
}
