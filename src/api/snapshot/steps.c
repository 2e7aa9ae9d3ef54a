/* steps.c - steps and phases of training, and their peaks. */
#include <stddef.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *read,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    (void)read;
    (void)parts;
    if (!s->traced)
        return ask_reason(
            s, ret, ANSWER_NEEDS_TRACE, "no_trace",
            s->events == 0
                ? S("the recording has no trace, and steps and phases are found in its events")
                : S("the trace has one event, and steps and phases are found in several"),
            err);
    if (!s->phases.known && s->steps.count == 0)
        return ask_reason(s, ret, ANSWER_NEEDS_STACKS, "no_stacks",
                          S("the events have no stacks, and no annotation names a phase or a "
                            "step: record with context=\"all\" and stacks=\"all\""),
                          err);
    struct phase_rows *rows = arena_array(s->keep, struct phase_rows, 1);
    if (rows == NULL)
        return vrs_no_memory(err);
    TRY(phase_rows_compute(s, rows, err));
    ret->result = rows;
    if (!s->phases.known)
        TRY(ask_reason(s, ret, ANSWER_PARTIAL, "no_stacks",
                       S("the events have no stacks: steps are found by annotations alone, and "
                         "phases are not known"),
                       err));
    return ask_tell_cut(s, ret, err);
}

enum vrs_status vrs_steps(const struct vrs_recording *recording,
                          const struct vrs_steps_options *options, struct vrs_result **ret,
                          struct vrs_error *err)
{
    struct vrs_steps_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct ask_options common = { o.about.path, o.about.user_root, o.about.library,
                                  o.about.device.plus_one };
    return ask_devices(recording, &steps_answer, &common, ask, &o, ret, err);
}
