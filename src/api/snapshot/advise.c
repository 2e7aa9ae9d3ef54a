/* advise.c - what to change, and the bytes it frees. */
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/cache/parts.h"
#include "api/snapshot/ask.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

static enum vrs_status ask(struct study *s, const void *read, struct device_answer *ret,
                           struct vrs_error *err)
{
    const struct vrs_advise_options *o = read;
    struct counterfactual *c = NULL;
    struct advise_answer *answer = arena_take(s->keep, sizeof *answer);
    if (answer == NULL)
        return vrs_no_memory(err);
    if (!s->traced)
        return ask_reason(s, ret, ANSWER_NEEDS_TRACE, "no_trace",
                          S("the recording has no trace: advice rests on how memory moved"), err);
    struct oom oom;
    TRY(parts_make(s, PARTS_OF_ADVICE, err));
    const struct leaks *leaks = NULL;
    TRY(oom_compute(s, NULL, o->capacity_bytes, &oom, err));
    TRY(advise_compute(s, &oom, o->capacity_bytes, &answer->advise, err));
    TRY(parts_growth(s, &leaks, err));
    answer->leaks = leaks->leaks;
    answer->explain_silent = o->explain_silent;
    answer->has_waste = o->waste;
    TRY(parts_counterfactual(s, &c, err));
    if (o->waste)
        TRY(waste_compute(s, c, &answer->waste, err));
    if (!s->stacked)
        TRY(ask_reason(s, ret, ANSWER_PARTIAL, "no_stacks",
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
    struct ask_options common = { o.path, o.user_root, o.library, o.device };
    return ask_devices(recording, &advise_answer, &common, ask, &o, ret, err);
}
