/* parts.c - asks each analysis once, on two threads where there are two. */
#include "analysis/parts.h"

#include "analysis/site_table.h"
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

enum vrs_status parts_counterfactual(struct study *s, struct counterfactual **ret,
                                     struct vrs_error *err)
{
    if (s->made.counterfactual == NULL) {
        struct counterfactual *made = arena_array(s->scratch, struct counterfactual, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(counterfactual_make(s, made, err));
        s->made.counterfactual = made;
    }
    *ret = s->made.counterfactual;
    return VRS_OK;
}

enum vrs_status parts_sites(struct study *s, const struct site_table **ret, struct vrs_error *err)
{
    if (s->made.sites == NULL) {
        struct site_table *made = arena_array(s->scratch, struct site_table, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(site_table_make(s, SITE_LINE, made, err));
        s->made.sites = made;
    }
    *ret = s->made.sites;
    return VRS_OK;
}

enum vrs_status parts_oom(struct study *s, const struct oom_message *message,
                          uint64_t capacity_bytes, struct oom *ret, struct vrs_error *err)
{
    struct oom_options options = { .message = message, .capacity_bytes = capacity_bytes };
    if (s->traced && s->curves.oom_events > 0) {
        const struct growth *growth = NULL;
        TRY(parts_growth(s, &growth, err));
        /* What only differs from step to step is no growth. */
        options.has_growth = growth != NULL && growth->moments > 1 &&
                             growth->leaks + growth->suspects > 0 && growth->slope_total_bytes > 0;
        options.growth_bytes = options.has_growth ? growth->slope_total_bytes : 0;
        options.steps = s->steps.count;
        options.first_step_bytes = s->steps.count > 0 ? s->steps.boundary[0].live_bytes : 0;
    }
    return oom_compute(s, &options, ret, err);
}

enum vrs_status parts_advise(struct study *s, const struct oom *oom, uint64_t capacity_bytes,
                             struct advise *ret, struct vrs_error *err)
{
    struct counterfactual *c = NULL;
    struct advise_inputs in = {
        .capacity_bytes = capacity_bytes,
        .fragmented = oom->basis != OOM_NOTHING && oom->tests.verdict == OOM_FRAGMENTATION,
        .what_if = oom->basis == OOM_EVENT ? &oom->what_if : NULL,
    };
    TRY(parts_timeline(s, &in.timeline, err));
    TRY(parts_fragments(s, &in.fragments, err));
    TRY(parts_estimate(s, &in.estimate, err));
    TRY(parts_growth(s, &in.growth, err));
    TRY(parts_counterfactual(s, &c, err));
    return advise_compute(s, &in, c, ret, err);
}

/* Side by side. */

/* What one more thread makes, with memory and names of its own. */
struct lane {
    struct study *of;
    struct study study;
    struct arena keep, scratch;
    enum vrs_status status[2]; /* of the lane and of the caller's own part */
    struct vrs_error error[2];
};

/* What rests on the replay; and the sites, which take as long as the other lane is longer. */
static enum vrs_status make_replayed(struct study *s, struct vrs_error *err)
{
    const struct timeline *timeline = NULL;
    const struct fragments *fragments = NULL;
    const struct site_table *sites = NULL;
    TRY(parts_timeline(s, &timeline, err));
    TRY(parts_fragments(s, &fragments, err));
    return parts_sites(s, &sites, err);
}

static enum vrs_status make_others(struct study *s, struct vrs_error *err)
{
    const struct growth *growth = NULL;
    const struct estimate *estimate = NULL;
    struct counterfactual *counterfactual = NULL;
    TRY(study_prove(s, err));
    TRY(parts_growth(s, &growth, err));
    TRY(parts_estimate(s, &estimate, err));
    return parts_counterfactual(s, &counterfactual, err);
}

static void make_part(void *arg, uint32_t i)
{
    struct lane *lane = arg;
    lane->status[i] = i == 0 ? make_replayed(&lane->study, &lane->error[0])
                             : make_others(lane->of, &lane->error[1]);
}

static enum vrs_status begin_lane(struct study *s, struct lane *lane, struct vrs_error *err)
{
    *lane = (struct lane){ .of = s, .study = *s };
    arena_init(&lane->keep, SIZE_MAX / 2);
    arena_init(&lane->scratch, SIZE_MAX / 2);
    lane->study.keep = &lane->keep;
    lane->study.scratch = &lane->scratch;
    lane->study.shown = arena_array(&lane->scratch, bool, s->r->stacks.rows.len);
    if (lane->study.shown == NULL)
        return vrs_no_memory(err);
    return naming_again(s->naming, &lane->keep, &lane->scratch, &lane->study.naming, err);
}

/* Its answers become the study's. */
static void end_lane(struct lane *lane)
{
    struct study *s = lane->of;
    for (uint32_t i = 0; lane->study.shown != NULL && i < s->r->stacks.rows.len; i++)
        s->shown[i] = s->shown[i] || lane->study.shown[i];
    s->made.timeline = lane->study.made.timeline;
    s->made.fragments = lane->study.made.fragments;
    s->made.sites = lane->study.made.sites;
    arena_join(s->keep, &lane->keep);
    arena_join(s->scratch, &lane->scratch);
}

enum vrs_status parts_make(struct study *s, struct vrs_error *err)
{
    struct lane lane;
    if (s->threads == 1 || !s->traced)
        return study_prove(s, err);
    /* Before the study is copied: both rest on it. */
    curves_prove(&s->curves, s->agreement);
    enum vrs_status status = begin_lane(s, &lane, err);
    if (status == VRS_OK)
        pool_run(s->threads, &(struct pool_work){ 2, make_part, NULL, &lane });
    for (int i = 0; i < 2 && status == VRS_OK; i++) {
        status = lane.status[i];
        if (status != VRS_OK && err != NULL)
            *err = lane.error[i];
    }
    end_lane(&lane);
    return status;
}
