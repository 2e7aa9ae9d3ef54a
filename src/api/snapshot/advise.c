/* advise.c - what to change, and the bytes it frees. */
#include <stddef.h>

#include "analysis/snapshot/advise/advise_answer.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *read,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct advise_answer *answer = NULL;
    TRY(advise_answer_make(parts, proven, read, &answer, err));
    ret->result = answer;
    if (!s->traced)
        return ask_reason(s, ret, ANSWER_PARTIAL, "no_trace",
                          s->events == 0
                              ? S("the recording has no trace of events: only what its final state "
                                  "tells is said")
                              : S("the trace has one event: only what the final state tells is "
                                  "said"),
                          err);
    if (s->stacked)
        return VRS_OK;
    return ask_reason(s, ret, ANSWER_PARTIAL, "no_stacks",
                      S("the recording has no stacks, and most rules need them"), err);
}

enum vrs_status vrs_advise(const struct vrs_recording *recording,
                           const struct vrs_advise_options *options, struct vrs_result **ret,
                           struct vrs_error *err)
{
    struct vrs_advise_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct ask_options common = { o.about.path, o.about.user_root, o.about.library,
                                  o.about.device.plus_one };
    struct advise_question question = { o.capacity_bytes, o.waste, o.explain_silent };
    return ask_devices(recording, &advise_answer, &common, ask, &question, ret, err);
}
