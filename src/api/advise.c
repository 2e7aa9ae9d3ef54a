/* advise.c - what to change, and the bytes it frees. */
#include "analysis/oom.h"
#include "api/study.h"

/* Did the last request that failed fail for want of memory in one piece? */
static enum vrs_status find_fragmentation(struct study *s, const struct vrs_advise_options *o,
                                          bool *ret, struct vrs_error *err)
{
    struct oom oom;
    struct oom_options options = { .capacity_bytes = o->capacity_bytes };
    TRY(oom_compute(s, &options, &oom, err));
    *ret = oom.basis != OOM_NOTHING && oom.tests.verdict == OOM_FRAGMENTATION;
    return VRS_OK;
}

static enum vrs_status ask(struct study *s, const void *wish, struct study_device *ret,
                           struct vrs_error *err)
{
    const struct vrs_advise_options *o = wish;
    struct counterfactual c;
    struct advise_answer *answer = arena_take(s->keep, sizeof *answer);
    if (answer == NULL)
        return vrs_no_memory(err);
    if (!s->traced)
        return study_reason(s, ret, ANSWER_NEEDS_TRACE, "no_trace",
                            S("the recording has no trace: advice rests on how memory moved"), err);
    struct timeline *timeline = NULL;
    struct fragments *fragments = NULL;
    TRY(timeline_compute(s, &timeline, err));
    TRY(fragments_compute(s, (int64_t)s->events - 1, &fragments, err));
    struct estimate estimate;
    struct growth growth;
    TRY(estimate_compute(s, &estimate, err));
    TRY(growth_compute(s, 0, &growth, err));
    struct advise_inputs in = {
        .timeline = timeline,
        .fragments = fragments,
        .estimate = &estimate,
        .growth = &growth,
        .capacity_bytes = o->capacity_bytes,
    };
    TRY(find_fragmentation(s, o, &in.fragmented, err));
    TRY(counterfactual_make(s, &c, err));
    TRY(advise_compute(s, &in, &c, &answer->advise, err));
    answer->leaks = growth.leaks;
    answer->explain_silent = o->explain_silent;
    answer->has_waste = o->waste;
    if (o->waste)
        TRY(waste_compute(s, &c, &answer->waste, err));
    if (!s->stacked)
        TRY(study_reason(s, ret, ANSWER_PARTIAL, "no_stacks",
                         S("the recording has no stacks: most rules cannot speak"), err));
    ret->result = answer;
    return VRS_OK;
}

enum vrs_status vrs_advise(const struct vrs_recording *recording,
                           const struct vrs_advise_options *options, struct vrs_result **ret,
                           struct vrs_error *err)
{
    struct vrs_advise_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct study_wish common = { o.path, o.user_root, o.library, o.device };
    return study_ask(recording, RESULT_ADVISE, &common, ask, &o, ret, err);
}
