/* advise_leaks.c - what leaks calls a leak, as advice: its places, the memory that earlier steps
 * left there.  A graph that is kept has a rule of its own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"

static bool is_meant(const struct leak_site *site)
{
    return site->class == LEAK_CLASS_LEAK && site->kind != LEAK_GRAPH;
}

/* Marks the sites of these leaks; `*ret` is the first of them, which grows most. */
static bool find_sites(const struct advising *a, bool *leaks, const struct leak_site **ret)
{
    const struct study *s = a->s;
    const struct leaks *g = a->in->leaks;
    bool *stack = arena_array(s->scratch, bool, s->r->code.stacks.rows.len);
    if (stack == NULL)
        return false;
    for (uint32_t i = 0; i < g->sites; i++) {
        if (!is_meant(&g->site[i]))
            continue;
        stack[g->site[i].site.stack.n] = true;
        *ret = *ret == NULL ? &g->site[i] : *ret;
    }
    stack[0] = false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (stack[s->lifetimes.at[i].alloc_stack.n])
            leaks[a->sites.of[i]] = true;
    return true;
}

/* What earlier steps left would have been let go of at their ends. */
static bool remove_left(struct advising *a, const bool *leaks)
{
    const struct study *s = a->s;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!leaks[a->sites.of[i]] || l->birth < 0)
            continue;
        int64_t end = advise_step_end(s, l->birth);
        if (!advise_remove(a, i, end, l->freed, l->bytes))
            return false;
        if (!lifetime_alive(l, a->peak_event) || end > a->peak_event)
            continue;
        a->now.bytes += l->bytes;
        advise_event(a, l->birth);
    }
    return true;
}

bool advise_kept_each_step(struct advising *a)
{
    const struct leak_site *most = NULL;
    if (a->in->leaks == NULL || a->in->leaks->moments == 0)
        return advise_silent(a, "fewer than two steps");
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool *leaks = arena_array(a->s->scratch, bool, a->sites.sites);
    bool ok = leaks != NULL && find_sites(a, leaks, &most) && remove_left(a, leaks);
    arena_release(a->s->scratch, mark);
    if (!ok)
        return false;
    if (most == NULL)
        return advise_silent(a, "no line keeps memory of every step");
    if (a->now.bytes == 0)
        return advise_silent(a, "what lines keep of every step is not alive at the peak");
    return advise_site(a, most->site.stack);
}
