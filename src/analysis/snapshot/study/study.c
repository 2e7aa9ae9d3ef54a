/* study.c - each part from the parts before it. */
#include "analysis/snapshot/study/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

enum vrs_status study_place_make_bare(struct study_place *place, struct vrs_error *err)
{
    place->shown = arena_array(place->scratch, bool, place->r->code.stacks.rows.len);
    return place->shown == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status study_place_make(struct study_place *place, struct vrs_error *err)
{
    TRY(study_place_make_bare(place, err));
    return tokens_make(&place->r->code, place->naming, place->scratch, &place->tokens, err);
}

void study_make_bare(struct study_place *place, uint32_t device, struct study *ret)
{
    const struct recording *r = place->r;
    *ret = (struct study){
        .r = r,
        .device = device,
        .events = r->devices.events[device],
        .threads = place->threads,
        .traced = device_traced(r, device),
        .stacked = r->code.stacks.rows.len > 1,
        .naming = place->naming,
        .keep = place->keep,
        .scratch = place->scratch,
        .bare = true,
        .shown = place->shown,
    };
    curves_compute(r, device, &ret->curves);
}

enum vrs_status study_make(struct study_place *place, uint32_t device, struct study *ret,
                           struct vrs_error *err)
{
    const struct recording *r = place->r;
    struct arena *scratch = place->scratch;
    struct mark_events marks;
    study_make_bare(place, device, ret);
    ret->bare = false;
    ret->tokens = &place->tokens;
    TRY(lifetimes_make(r, device, scratch, &ret->lifetimes, err));
    TRY(mark_events_make(r, device, scratch, &marks, err));
    TRY(phases_make(r, device, ret->tokens, &marks, scratch, &ret->phases, err));
    struct steps_input steps = { r, device, ret->tokens, &ret->phases, &marks, &ret->lifetimes };
    TRY(steps_make(&steps, scratch, &ret->steps, err));
    static const struct category_rules no_rules = { 0 };
    struct categories_input input = {
        .r = r,
        .device = device,
        .rules = place->rules == NULL ? &no_rules : place->rules,
        .lifetimes = &ret->lifetimes,
        .tokens = ret->tokens,
        .phases = &ret->phases,
        .steps = &ret->steps,
        .naming = ret->naming,
    };
    return categories_make(&input, scratch, &ret->categories, err);
}

enum vrs_status study_site(const struct study *s, stack_id stack, struct site_ref *ret,
                           struct vrs_error *err)
{
    struct stack_names names;
    TRY(naming_of(s->naming, stack, &names, err));
    *ret = (struct site_ref){ names.culprit, names.owner, stack };
    study_show(s, stack);
    return VRS_OK;
}

void study_show(const struct study *s, stack_id stack)
{
    s->shown[stack.n] = true;
}
