/* story.c - asks each analysis what belongs on the page, in the order of their needs. */
#include "api/story.h"

/* Why the last request failed, with what grows as its trend. */
static enum vrs_status tell_oom(struct study *s, struct story *story, struct vrs_error *err)
{
    const struct growth *g = &story->growth;
    struct oom_options options = {
        .has_growth = g->moments > 1 && g->slope_total_bytes > 0,
        .growth_bytes = g->slope_total_bytes,
        .first_step_bytes = s->steps.count > 0 ? s->steps.boundary[0].live_bytes : 0,
    };
    if (s->curves.oom_events == 0)
        return VRS_OK;
    TRY(oom_compute(s, &options, &story->oom, err));
    story->has_oom = story->oom.basis != OOM_NOTHING;
    return VRS_OK;
}

static enum vrs_status tell_advice(struct study *s, struct story *story, struct vrs_error *err)
{
    struct counterfactual c;
    struct timeline *timeline = NULL;
    struct advise_inputs in = { .fragments = story->fragments, .growth = &story->growth };
    if (story->categories.has_estimate)
        in.estimate = &story->categories.estimate;
    TRY(timeline_compute(s, &timeline, err));
    TRY(counterfactual_make(s, &c, err));
    in.timeline = timeline;
    TRY(advise_compute(s, &in, &c, &story->advise, err));
    story->has_advice = true;
    return VRS_OK;
}

enum vrs_status story_make(struct study *s, const struct story **ret, struct vrs_error *err)
{
    struct story *story = arena_take(s->keep, sizeof *story);
    struct category_table_options at = { s->curves.of[CURVE_REQUESTED].peak_event };
    if (story == NULL)
        return vrs_no_memory(err);
    TRY(category_table_compute(s, &at, &story->categories, err));
    TRY(fragments_compute(s, (int64_t)s->events - 1, &story->fragments, err));
    if (s->traced) {
        TRY(growth_compute(s, 0, &story->growth, err));
        TRY(tell_oom(s, story, err));
        TRY(tell_advice(s, story, err));
    }
    *ret = story;
    return VRS_OK;
}
