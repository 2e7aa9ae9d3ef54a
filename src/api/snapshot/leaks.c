/* leaks.c - what grows from step to step. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

/* Why there is nothing to compare: how many steps were found, and what else was seen. */
static enum vrs_status too_few_steps(const struct study *s, struct device_answer *ret,
                                     struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    if (s->steps.count == 0)
        buf_text(&text, "no complete step was found");
    else
        buf_format(&text, "only %u complete step was found", s->steps.count);
    buf_text(&text, ", and growth is measured from step to step: record several steps, each "
                    "inside torch.profiler.record_function(f\"step {i}\")");
    if (s->steps.inners != 0)
        buf_format(&text, "; what repeats %u times here is a loop inside a step",
                   s->steps.inner[0].repeats);
    enum vrs_status status = text.failed ? vrs_no_memory(err)
                                         : ask_reason(s, ret, ANSWER_NOT_APPLICABLE,
                                                      "too_few_steps", buf_slice(&text), err);
    buf_free(&text);
    return status;
}

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *read,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct vrs_leaks_options *o = read;
    (void)parts;
    if (!s->traced)
        return ask_reason(s, ret, ANSWER_NEEDS_TRACE, "no_trace",
                          s->events == 0
                              ? S("no events were recorded, so growth from step to step cannot be "
                                  "seen")
                              : S("the trace has one event, so growth from step to step cannot be "
                                  "seen"),
                          err);
    struct leaks *leaks = arena_array(s->keep, struct leaks, 1);
    if (leaks == NULL)
        return vrs_no_memory(err);
    TRY(leaks_compute(s, o->capacity_bytes, leaks, err));
    ret->result = leaks;
    if (leaks->moments == 0)
        return too_few_steps(s, ret, err);
    if (!s->stacked)
        TRY(ask_reason(s, ret, ANSWER_PARTIAL, "no_stacks",
                       S("the recording has no stacks: sites are told apart by size alone, so that "
                         "a leak can only be suspected"),
                       err));
    return ask_tell_cut(s, ret, err);
}

enum vrs_status vrs_leaks(const struct vrs_recording *recording,
                          const struct vrs_leaks_options *options, struct vrs_result **ret,
                          struct vrs_error *err)
{
    struct vrs_leaks_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct ask_options common = { o.about.path, o.about.user_root, o.about.library,
                                  o.about.device.plus_one };
    return ask_devices(recording, &leaks_answer, &common, ask, &o, ret, err);
}
