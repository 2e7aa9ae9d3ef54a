/* parts.c - asks each analysis once, and takes its working memory back. */
#include "analysis/parts.h"

enum vrs_status parts_timeline(struct study *s, const struct timeline **ret, struct vrs_error *err)
{
    if (s->made.timeline == NULL) {
        struct timeline *made = NULL;
        TRY(timeline_compute(s, &made, err));
        s->made.timeline = made;
    }
    *ret = s->made.timeline;
    return VRS_OK;
}

enum vrs_status parts_fragments(struct study *s, const struct fragments **ret,
                                struct vrs_error *err)
{
    if (s->made.fragments == NULL) {
        struct fragments *made = NULL;
        TRY(fragments_compute(s, (int64_t)s->events - 1, &made, err));
        s->made.fragments = made;
    }
    *ret = s->made.fragments;
    return VRS_OK;
}

enum vrs_status parts_growth(struct study *s, const struct growth **ret, struct vrs_error *err)
{
    if (s->made.growth == NULL) {
        struct growth *made = arena_array(s->keep, struct growth, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(growth_compute(s, 0, made, err));
        s->made.growth = made;
    }
    *ret = s->made.growth;
    return VRS_OK;
}

enum vrs_status parts_estimate(struct study *s, const struct estimate **ret, struct vrs_error *err)
{
    if (s->made.estimate == NULL) {
        struct estimate *made = arena_array(s->keep, struct estimate, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(estimate_compute(s, made, err));
        s->made.estimate = made;
    }
    *ret = s->made.estimate;
    return VRS_OK;
}

enum vrs_status parts_oom(struct study *s, const struct oom_message *message,
                          uint64_t capacity_bytes, struct oom *ret, struct vrs_error *err)
{
    struct oom_options options = { .message = message, .capacity_bytes = capacity_bytes };
    if (s->traced && s->curves.oom_events > 0) {
        const struct growth *growth = NULL;
        TRY(parts_growth(s, &growth, err));
        options.has_growth =
            growth != NULL && growth->moments > 1 && growth->slope_total_bytes > 0;
        options.growth_bytes = options.has_growth ? growth->slope_total_bytes : 0;
        options.first_step_bytes = s->steps.count > 0 ? s->steps.boundary[0].live_bytes : 0;
    }
    return oom_compute(s, &options, ret, err);
}

enum vrs_status parts_advise(struct study *s, const struct oom *oom, uint64_t capacity_bytes,
                             struct counterfactual *c, struct advise *ret, struct vrs_error *err)
{
    struct advise_inputs in = {
        .capacity_bytes = capacity_bytes,
        .fragmented = oom->basis != OOM_NOTHING && oom->tests.verdict == OOM_FRAGMENTATION,
    };
    TRY(parts_timeline(s, &in.timeline, err));
    TRY(parts_fragments(s, &in.fragments, err));
    TRY(parts_estimate(s, &in.estimate, err));
    TRY(parts_growth(s, &in.growth, err));
    return advise_compute(s, &in, c, ret, err);
}
