/* advise_held.c - values that a name holds over the whole backward.
 *
 * What a saved variable holds dies within the backward.  What outlives it and was made by the
 * forward before it, a name of the program holds: deleted before the backward, it would be gone
 * when memory is needed most. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/table.h"

/* A backward, recomputed forwards in it included: its first and its last alloc. */
struct pass {
    int64_t first_event, last_event;
};

struct passes {
    struct pass *at;
    uint32_t count;
};

static bool is_backward(uint8_t phase)
{
    return phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE;
}

static struct passes passes_of(const struct study *s)
{
    const struct phases *p = &s->phases;
    struct passes passes = { arena_array(s->scratch, struct pass, p->intervals), 0 };
    for (uint32_t i = 0; passes.at != NULL && i < p->intervals; i++) {
        const struct phase_interval *v = &p->interval[i];
        if (!is_backward(v->phase))
            continue;
        if (i == 0 || !is_backward(p->interval[i - 1].phase))
            passes.at[passes.count++].first_event = v->first_event;
        passes.at[passes.count - 1].last_event = v->last_event;
    }
    return passes;
}

/* The first backward that begins after an event; NO_ROW: none. */
static uint32_t pass_after(const struct passes *passes, int64_t event)
{
    uint32_t low = 0, high = passes->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (passes->at[middle].first_event <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low < passes->count ? low : NO_ROW;
}

/* Is it let go between the backward behind it and the next?  What outlives that one, too, is kept
 * by more than the name of one step, or is what the next one needs. */
static bool outlives_one(const struct passes *passes, uint32_t pass, const struct lifetime *l)
{
    if (pass == NO_ROW || l->freed <= passes->at[pass].last_event)
        return false;
    return pass + 1 == passes->count || l->freed <= passes->at[pass + 1].first_event;
}

/* What a forward made and nothing else explains. */
static bool is_output(const struct advising *a, uint32_t i)
{
    const struct study *s = a->s;
    const struct lifetime *l = &s->lifetimes.at[i];
    token_set freed = advise_freed_by(a, i);
    uint8_t category = s->categories.of[i];
    if (category != CATEGORY_UNKNOWN && category != CATEGORY_ACTIVATION &&
        category != CATEGORY_TEMPORARY)
        return false;
    return l->birth >= 0 && s->phases.of_stack[l->alloc_stack.n] == PHASE_FORWARD &&
           (l->freed < a->first_oom || l->freed == (int64_t)s->events) &&
           (freed & (TOKEN_ENGINE | TOKEN_SAVED)) == 0;
}

/* From when on the backward does without it: a loss keeps what it made of it, not the value itself;
 * of any other the gradient of its size is waited for. */
static int64_t needed_until(const struct advising *a, const struct lifetime *l,
                            const struct pass *pass)
{
    const struct study *s = a->s;
    int64_t gradient = pass->first_event;
    /* Allocations seen stand in the order of their allocs. */
    for (uint32_t i = (uint32_t)(l - s->lifetimes.at) + 1; i < s->lifetimes.count; i++) {
        const struct lifetime *x = &s->lifetimes.at[i];
        if (x->birth > pass->last_event)
            break;
        if (x->bytes != l->bytes || x->birth <= l->birth)
            continue;
        bool loss = (s->tokens->of_stack[x->alloc_stack.n] & TOKEN_LOSS) != 0;
        if (loss && x->birth < pass->first_event)
            return pass->first_event;
        if (x->birth >= pass->first_event && gradient == pass->first_event)
            gradient = x->birth + 1;
    }
    return gradient;
}

/* Of each site whether a value of it is seen to be let go after a backward: what stays to the end
 * may be meant to. */
static bool *find_sites(const struct advising *a, const struct passes *passes)
{
    const struct study *s = a->s;
    bool *at = arena_array(s->scratch, bool, a->sites.sites);
    for (uint32_t i = 0; at != NULL && i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->bytes < a->floor_bytes || l->freed == (int64_t)s->events || !is_output(a, i))
            continue;
        if (outlives_one(passes, pass_after(passes, l->birth), l))
            at[a->sites.of[i]] = true;
    }
    return at;
}

static bool judge(struct advising *a)
{
    const struct study *s = a->s;
    struct largest largest = { 0 };
    struct passes passes = passes_of(s);
    bool *let_go = passes.at == NULL ? NULL : find_sites(a, &passes);
    if (let_go == NULL)
        return false;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (l->bytes < a->floor_bytes || !let_go[a->sites.of[i]] || !is_output(a, i))
            continue;
        uint32_t pass = pass_after(&passes, l->birth);
        if (!outlives_one(&passes, pass, l))
            continue;
        int64_t from = needed_until(a, l, &passes.at[pass]);
        if (lifetime_alive(l, a->peak_event))
            a->now.bytes += l->bytes;
        if (largest_take(&largest, l->bytes, l->alloc_stack)) {
            a->now.at_events = 0;
            advise_event(a, l->birth);
            advise_event(a, passes.at[pass].first_event);
            advise_event(a, l->freed);
        }
        if (!advise_remove(a, i, from, l->freed, l->bytes))
            return false;
    }
    if (largest.bytes == 0)
        return advise_silent(a, "no value of the forward that is worth a line is let go after one "
                                "backward and before the next");
    if (a->now.bytes == 0)
        return advise_silent(a, "what is held over a backward is not alive at the peak");
    return advise_site(a, largest.stack);
}

bool advise_held_over_backward(struct advising *a)
{
    if (!a->backward_seen)
        return advise_silent(a, "no backward in the recording");
    struct arena_mark mark = arena_mark(a->s->scratch);
    bool ok = judge(a);
    arena_release(a->s->scratch, mark);
    return ok;
}
