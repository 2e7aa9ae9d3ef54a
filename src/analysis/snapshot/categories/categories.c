/* categories.c - the rules, twice: once to find the gradients, then with what these tell. */
#include "analysis/snapshot/categories/categories.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/snapshot/categories/alike.h"
#include "analysis/snapshot/categories/by_name.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/lists.h"
#include "analysis/snapshot/categories/replaced.h"
#include "analysis/snapshot/categories/split.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"

/* What is worked out for each allocation before any rule is asked. */
struct evidence {
    uint8_t *born;
    uint32_t *interval;
    stack_id *freed_by;
    struct replaced replaced;
};

struct deciding {
    const struct lifetimes *lifetimes;
    const struct phases *phases;
    const struct category_rules *rules;
    uint32_t first_allocation;
    int64_t events;
    struct evidence evidence;
    struct pattern_room room;
    struct matcher matcher;
    struct split split;
    uint8_t *alike, *list; /* enum category of each, or NULL: not looked for yet */
    bool *final;           /* of each allocation: what the gradients tell changes nothing */
    struct categories *to;
};

/* Its stack says in which phase it was born; an annotation around it says more. */
static uint8_t phase_born(const struct deciding *d, const struct lifetime *l, uint32_t interval)
{
    const struct phases *p = d->phases;
    if (l->birth < 0)
        return l->alloc_stack.n == 0 ? (uint8_t)PHASES : p->of_stack[l->alloc_stack.n];
    if (!p->known)
        return (uint8_t)PHASES;
    bool annotated = p->by_annotation != 0 && interval != NO_ROW &&
                     l->birth <= (int64_t)p->interval[interval].last_event;
    return annotated ? p->interval[interval].phase : p->of_stack[l->alloc_stack.n];
}

static enum vrs_status gather(struct deciding *d, struct arena *arena, struct arena *scratch,
                              struct vrs_error *err)
{
    uint32_t count = d->lifetimes->count, at = 0, frees = 0, repeats = 0;
    struct evidence *e = &d->evidence;
    e->born = arena_array(scratch, uint8_t, count);
    e->interval = arena_array(scratch, uint32_t, count);
    e->freed_by = arena_array(scratch, stack_id, count);
    if (e->born == NULL || e->interval == NULL || e->freed_by == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct lifetime *l = &d->lifetimes->at[i];
        /* Allocations seen stand in the order of their allocs. */
        while (at < d->phases->intervals &&
               (int64_t)d->phases->interval[at].first_event <= l->birth)
            at++;
        e->interval[i] = l->birth < 0 || at == 0 ? NO_ROW : at - 1;
        e->born[i] = phase_born(d, l, e->interval[i]);
        e->freed_by[i] = l->free_stack;
        bool freed = l->birth >= 0 && l->requested < d->events;
        frees += freed;
        repeats += freed && l->alloc_stack.n != 0 && l->alloc_stack.n == l->free_stack.n;
    }
    /* Where most frees repeat the stack of the alloc, their stacks say nothing of the free. */
    if ((uint64_t)repeats * 10 > (uint64_t)frees * 9)
        memset(e->freed_by, 0, count * sizeof *e->freed_by);
    return replaced_make(d->lifetimes, d->phases, d->events, e->born, e->interval, e->freed_by,
                         arena, scratch, &e->replaced, err);
}

static uint8_t category_of(const struct category_rule *decided, const struct subject *s)
{
    enum category category = decided->category;
    return category == CATEGORY_INHERITED ? s->inherited
           : category == CATEGORY_SPLIT   ? s->split
           : category == CATEGORY_ALIKE   ? s->alike
           : category == CATEGORY_LIST    ? s->list
                                          : (uint8_t)category;
}

static enum vrs_status decide(struct deciding *d, uint32_t i, struct vrs_error *err)
{
    const struct evidence *e = &d->evidence;
    struct categories *to = d->to;
    uint32_t old = e->replaced.replaces[i], rule = NO_ROW;
    struct subject subject = {
        .life = &d->lifetimes->at[i],
        .allocation = d->first_allocation + i,
        .interval = e->interval[i],
        .born = e->born[i],
        .freed_by = e->freed_by[i],
        .replaces = old != 0,
        .replaced = e->replaced.replaced[i],
        .inherited = old == 0 ? (uint8_t)CATEGORY_UNKNOWN : to->of[old - 1],
        .split = d->split.of == NULL ? (uint8_t)CATEGORY_UNKNOWN : d->split.of[i],
        .alike = d->alike == NULL ? (uint8_t)CATEGORY_UNKNOWN : d->alike[i],
        .list = d->list == NULL ? (uint8_t)CATEGORY_UNKNOWN : d->list[i],
    };
    TRY(matcher_ask(&d->matcher, &subject, &rule, &d->final[i], err));
    to->of[i] = CATEGORY_UNKNOWN;
    to->confidence[i] = CONFIDENCE_NONE;
    to->rule[i] = 0;
    to->undecided[i] = to->retained[i] = to->held[i] = false;
    if (rule == NO_ROW)
        return VRS_OK;
    const struct category_rule *decided = &d->rules->rule.at[rule];
    bool inherited = decided->category == CATEGORY_INHERITED;
    to->of[i] = category_of(decided, &subject);
    to->confidence[i] = (uint8_t)decided->confidence;
    to->rule[i] = (uint16_t)(rule + 1);
    /* One of equal copies, or what has the size of such and is none. */
    to->undecided[i] =
        inherited || (d->split.undecided != NULL && d->split.undecided[i] &&
                      (decided->category == CATEGORY_SPLIT || decided->category == CATEGORY_ALIKE ||
                       decided->category == CATEGORY_PERSISTENT));
    to->held[i] = str_equal(decided->id, S("F4"));
    to->retained[i] = to->held[i] && matcher_steps_lived(&d->matcher, subject.life) != 0;
    return VRS_OK;
}

/* What the process itself said goes before all rules. */
static void take_named(struct deciding *d, const struct named_categories *named)
{
    struct categories *to = d->to;
    for (uint32_t i = 0; named->how != NULL && i < to->count; i++) {
        if (named->how[i] == BY_NAME_NOT)
            continue;
        to->of[i] = named->of[i];
        to->confidence[i] = CONFIDENCE_HIGH;
        to->rule[i] = (uint16_t)(d->rules->rule.len + named->how[i]);
        d->final[i] = true;
    }
}

/* Older allocations first: what an optimizer replaces is decided before what replaces it. */
static enum vrs_status decide_all(struct deciding *d, struct vrs_error *err)
{
    for (uint32_t k = 0; k < d->lifetimes->older_count; k++)
        if (!d->final[d->lifetimes->older[k]])
            TRY(decide(d, d->lifetimes->older[k], err));
    for (uint32_t i = 0; i < d->lifetimes->count; i++)
        if (!d->final[i] && d->lifetimes->at[i].birth >= 0)
            TRY(decide(d, i, err));
    return VRS_OK;
}

const char **category_rule_names(const struct categories *c, struct arena *arena)
{
    const char **names = arena_array(arena, const char *, c->rules);
    for (uint32_t i = 0; names != NULL && i < c->rules; i++) {
        names[i] = arena_copy(arena, str_from(c->rule_names[i])).ptr;
        if (names[i] == NULL)
            return NULL;
    }
    return names;
}

static enum vrs_status name_rules(const struct category_rules *rules, bool named,
                                  struct arena *arena, struct categories *to, struct vrs_error *err)
{
    const char **names = arena_array(arena, const char *, rules->rule.len + BY_NAMES);
    if (names == NULL)
        return vrs_no_memory(err);
    names[0] = "U";
    for (uint32_t i = 0; i < rules->rule.len; i++) {
        str kept = arena_copy(arena, rules->rule.at[i].id);
        if (kept.ptr == NULL)
            return vrs_no_memory(err);
        names[i + 1] = kept.ptr;
    }
    for (int how = BY_NAME_SAID; how < BY_NAMES; how++)
        names[rules->rule.len + (uint32_t)how] = by_name_rules[how];
    to->rule_names = names;
    to->rules = rules->rule.len + (named ? (uint32_t)BY_NAMES : 1);
    return VRS_OK;
}

static enum vrs_status make_room(uint32_t count, struct arena *arena, struct categories *to,
                                 struct vrs_error *err)
{
    *to = (struct categories){
        .count = count,
        .of = arena_array(arena, uint8_t, count),
        .confidence = arena_array(arena, uint8_t, count),
        .rule = arena_array(arena, uint16_t, count),
        .undecided = arena_array(arena, bool, count),
        .retained = arena_array(arena, bool, count),
        .held = arena_array(arena, bool, count),
    };
    bool room = to->of != NULL && to->confidence != NULL && to->rule != NULL &&
                to->undecided != NULL && to->retained != NULL && to->held != NULL;
    return room ? VRS_OK : vrs_no_memory(err);
}

static void tell_split(const struct split *s, const struct replaced *replaced,
                       struct categories *to)
{
    to->multiset = s->multiset;
    to->multiset_entries = s->sizes;
    to->multiset_bytes = s->multiset_bytes;
    to->copies = s->copies;
    to->in_copy = s->in_copy;
    to->copies_parameter_bytes = s->parameter_bytes;
    to->copies_gradient_bytes = s->gradient_bytes;
    to->copies_state_bytes = s->optimizer_state_bytes;
    to->copies_copy_bytes = s->parameter_copy_bytes;
    to->replaces = replaced->replaces;
    to->replaced_bytes = replaced->bytes;
    to->replaced_count = replaced->count;
}

/* What is known of the others tells what some are of which nothing is known yet. */
static enum vrs_status decide_by_others(struct deciding *d, struct naming *naming,
                                        struct arena *scratch, struct vrs_error *err)
{
    struct lists_input lists = {
        .lifetimes = d->lifetimes,
        .naming = naming,
        .events = d->events,
        .category = d->to->of,
        .multiset = d->split.multiset,
        .sizes = d->split.sizes,
    };
    struct alike_input alike = {
        .lifetimes = d->lifetimes,
        .events = d->events,
        .stacks = d->matcher.r->code.stacks.rows.len,
        .category = d->to->of,
        .retained = d->to->retained,
        .freed_by = d->evidence.freed_by,
    };
    bool any_list, any_alike;
    TRY(lists_find(&lists, scratch, &d->list, &any_list, err));
    TRY(alike_find(&alike, scratch, &d->alike, &any_alike, err));
    return any_list || any_alike ? decide_all(d, err) : VRS_OK;
}

/* Everything in `arena` is of the answer; what only decides it is in `scratch`. */
static enum vrs_status make(struct deciding *d, const struct categories_input *in,
                            struct arena *arena, struct arena *scratch, struct vrs_error *err)
{
    struct categories *made = d->to;
    TRY(make_room(in->lifetimes->count, arena, made, err));
    struct named_categories named;
    TRY(named_categories_find(in->r, in->lifetimes, d->events, scratch, &named, err));
    TRY(name_rules(in->rules, named.how != NULL, arena, made, err));
    TRY(gather(d, arena, scratch, err));
    TRY(matcher_make(in->r, in->device, in->rules, in->phases, in->steps, in->naming, &d->room,
                     scratch, &d->matcher, err));
    TRY(matcher_know(&d->matcher, in->lifetimes, in->tokens, d->evidence.born, d->evidence.interval,
                     d->evidence.freed_by, scratch, err));
    d->final = arena_array(scratch, bool, in->lifetimes->count);
    if (d->final == NULL)
        return vrs_no_memory(err);
    take_named(d, &named);
    TRY(decide_all(d, err));
    struct split_input input = {
        .lifetimes = in->lifetimes,
        .phases = in->phases,
        .tokens = in->tokens,
        .events = d->events,
        .stacks = in->r->code.stacks.rows.len,
        .category = made->of,
        .replaced = d->evidence.replaced.replaced,
        .replaces = d->evidence.replaced.replaces,
        .freed_by = d->evidence.freed_by,
        .interval = d->evidence.interval,
    };
    TRY(split_multiset(&input, arena, scratch, &d->split, err));
    TRY(split_copies(&input, arena, scratch, &d->split, err));
    matcher_know_gradients(&d->matcher, d->split.multiset, d->split.sizes);
    if (d->split.sizes > 0 || d->evidence.replaced.count > 0)
        TRY(decide_all(d, err));
    TRY(decide_by_others(d, in->naming, scratch, err));
    tell_split(&d->split, &d->evidence.replaced, made);
    return VRS_OK;
}

enum vrs_status categories_make(const struct categories_input *in, struct arena *arena,
                                struct categories *ret, struct vrs_error *err)
{
    struct categories made;
    struct deciding d = {
        .lifetimes = in->lifetimes,
        .phases = in->phases,
        .rules = in->rules,
        .first_allocation = in->r->devices.first_allocation[in->device],
        .events = in->r->devices.events[in->device],
        .to = &made,
    };
    struct arena scratch;
    TRY(pattern_room_make(&d.room, err));
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = make(&d, in, arena, &scratch, err);
    arena_free(&scratch);
    pattern_room_free(&d.room);
    if (status == VRS_OK)
        *ret = made;
    return status;
}
