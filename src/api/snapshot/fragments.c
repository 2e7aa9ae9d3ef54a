/* fragments.c - reserved memory that cannot be used, and the blocks that pin it. */
#include "analysis/snapshot/layout/fragments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

/* The caller's words, read. */
struct options_read {
    struct moment moment;
    bool all_metrics;
};

static enum vrs_status read_options(const struct vrs_fragments_options *o, struct options_read *ret,
                                    struct vrs_error *err)
{
    *ret = (struct options_read){ .moment = { .kind = AT_END }, .all_metrics = o->all_metrics };
    if (o->at != NULL && str_equal(str_from(o->at), S("reserved-peak")))
        ret->moment.kind = AT_RESERVED_PEAK;
    else if (o->at != NULL)
        TRY(moment_parse(str_from(o->at), &ret->moment, err));
    return VRS_OK;
}

static enum vrs_status add_reasons(const struct proven_study *proven,
                                   const struct options_read *read, const struct fragments *f,
                                   struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    if (!s->traced && read->moment.kind != AT_END)
        TRY(ask_reason(s, ret, ANSWER_PARTIAL, "no_trace",
                       S("the recording has no usable trace: this is its final state"), err));
    if (f->exact)
        return VRS_OK;
    bool unasked = proven->agreement->refusal == REFUSED_ASKED;
    return ask_reason(
        s, ret, ANSWER_PARTIAL, "blocks_rounded",
        unasked ? S("the sizes of blocks at this event are not known, but rounded up from the "
                    "requests; --replay always finds them")
                : S("the sizes of blocks at this event are not known, but rounded up from the "
                    "requests, because the allocator's model does not reproduce the recording"),
        err);
}

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *arg,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct options_read *read = arg;
    struct vrs_error why = { .status = VRS_OK };
    int64_t event = 0;
    (void)parts;
    if (moment_in_study(s, read->moment, &event, &why) != VRS_OK)
        return ask_refuse_moment(s, ret, &why, err);
    struct fragments *made = NULL;
    TRY(fragments_compute(proven, event, &made, err));
    if (made == NULL)
        return ask_reason(s, ret, ANSWER_NOT_APPLICABLE, "layout_unknown",
                          (s->r->devices.parts[s->device] & PART_ANCHOR) == 0
                              ? S("the file is cut: what was reserved then is not in it")
                              : S("the final segments and the trace contradict each other: what "
                                  "was reserved then is not known"),
                          err);
    made->all_metrics = read->all_metrics;
    ret->result = made;
    return add_reasons(proven, read, made, ret, err);
}

enum vrs_status vrs_fragments_check(const struct vrs_fragments_options *options,
                                    struct vrs_error *err)
{
    struct vrs_fragments_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct options_read ignored;
    return read_options(&o, &ignored, err);
}

enum vrs_status vrs_fragments(const struct vrs_recording *recording,
                              const struct vrs_fragments_options *options, struct vrs_result **ret,
                              struct vrs_error *err)
{
    struct vrs_fragments_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct options_read read;
    TRY(read_options(&o, &read, err));
    struct ask_options common = { o.about.path, o.about.user_root, o.about.library,
                                  o.about.device.plus_one };
    return ask_devices(recording, &fragments_answer, &common, ask, &read, ret, err);
}
