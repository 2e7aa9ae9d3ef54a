/* parts.c - asks each analysis once, and takes its working memory back. */
#include "analysis/parts.h"

#include "base/pool.h"

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
        options.has_growth = growth != NULL && growth->moments > 1 && growth->slope_total_bytes > 0;
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

/* Side by side. */

enum { LANES = 2 };

/* What one thread makes, with memory and names of its own. */
struct lane {
    struct study study;
    struct arena keep, scratch;
    enum vrs_status status;
    struct vrs_error error;
};

static enum vrs_status make_first(struct study *s, struct vrs_error *err)
{
    const struct timeline *timeline = NULL;
    TRY(study_prove(s, err));
    return parts_timeline(s, &timeline, err);
}

static enum vrs_status make_second(struct study *s, struct vrs_error *err)
{
    const struct growth *growth = NULL;
    const struct estimate *estimate = NULL;
    TRY(parts_growth(s, &growth, err));
    return parts_estimate(s, &estimate, err);
}

static void run_lane(void *arg, uint32_t i)
{
    struct lane *lane = (struct lane *)arg + i;
    if (lane->status == VRS_OK)
        lane->status = (i == 0 ? make_first : make_second)(&lane->study, &lane->error);
}

static enum vrs_status begin_lane(const struct study *s, struct lane *lane, struct vrs_error *err)
{
    lane->study = *s;
    arena_init(&lane->keep, SIZE_MAX / 2);
    arena_init(&lane->scratch, SIZE_MAX / 2);
    lane->study.keep = &lane->keep;
    lane->study.scratch = &lane->scratch;
    lane->study.shown = arena_array(&lane->scratch, bool, s->r->stacks.rows.len);
    if (lane->study.shown == NULL)
        return vrs_no_memory(err);
    return naming_again(s->naming, &lane->keep, &lane->study.naming, err);
}

/* Its answers become the study's; what it alone used ends. */
static void end_lane(struct study *s, struct lane *lane)
{
    for (uint32_t i = 0; lane->study.shown != NULL && i < s->r->stacks.rows.len; i++)
        s->shown[i] = s->shown[i] || lane->study.shown[i];
    arena_join(s->keep, &lane->keep);
    arena_free(&lane->scratch);
}

enum vrs_status parts_make(struct study *s, struct vrs_error *err)
{
    struct lane lane[LANES] = { 0 };
    enum vrs_status status = VRS_OK;
    if (s->threads == 1 || !s->traced)
        return study_prove(s, err);
    curves_prove(&s->curves, s->agreement);
    for (int i = 0; i < LANES; i++)
        lane[i].status = begin_lane(s, &lane[i], &lane[i].error);
    pool_run(s->threads, &(struct pool_work){ LANES, run_lane, NULL, lane });
    for (int i = LANES - 1; i >= 0; i--) {
        end_lane(s, &lane[i]);
        if (lane[i].status == VRS_OK)
            continue;
        status = lane[i].status;
        if (err != NULL)
            *err = lane[i].error;
    }
    if (status != VRS_OK)
        return status;
    s->curves = lane[0].study.curves;
    s->trust = lane[0].study.trust;
    s->proven = true;
    s->made.timeline = lane[0].study.made.timeline;
    s->made.growth = lane[1].study.made.growth;
    s->made.estimate = lane[1].study.made.estimate;
    return VRS_OK;
}
