/* peak.c - who held the memory at one moment. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/breakdown/peak_moment.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

static enum vrs_status refuse_by(const char *by, struct vrs_error *err)
{
    char names[160] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < PEAK_BYS && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i == 0 ? "" : ", ",
                                peak_by_names[i]);
    return vrs_fail(err, VRS_USAGE, "cannot group by \"%.40s\"; these are known: %s", by, names);
}

/* The caller's words, read. */
static enum vrs_status read_options(const struct vrs_peak_options *o, struct peak_question *ret,
                                    struct vrs_error *err)
{
    *ret = (struct peak_question){ .moment = { .kind = AT_PEAK },
                                   .by = BY_CULPRIT,
                                   .key = SITE_LINE,
                                   .categories = o->categories };
    if (o->at != NULL)
        TRY(moment_parse(str_from(o->at), &ret->moment, err));
    if (o->by != NULL) {
        uint32_t by = 0;
        while (by < PEAK_BYS && !str_equal(str_from(peak_by_names[by]), str_from(o->by)))
            by++;
        if (by == PEAK_BYS)
            return refuse_by(o->by, err);
        ret->by = (enum peak_by)by;
    }
    if (o->key != NULL) {
        str key = str_from(o->key);
        if (key.len != 2 || key.ptr[0] != 'K' || key.ptr[1] < '0' || key.ptr[1] > '3')
            return vrs_fail(err, VRS_USAGE, "a key is K0, K1, K2 or K3, not \"%.40s\"", o->key);
        ret->key = (enum site_key)(key.ptr[1] - '0');
    }
    return VRS_OK;
}

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *read,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct vrs_error why;
    (void)parts;
    struct peak_moment *found = arena_take(s->keep, sizeof *found);
    if (found == NULL)
        return vrs_no_memory(err);
    enum vrs_status status = peak_moment_find(proven, read, found, &why);
    if (status != VRS_OK)
        return ask_refuse_moment(s, ret, &why, err);
    ret->result = found;
    if (!found->has_trace)
        TRY(ask_reason(s, ret, ANSWER_PARTIAL, "no_trace",
                       S("the recording has no trace: this is its final state"), err));
    else if (proven->trust.window == WINDOW_ONE_EVENT)
        TRY(ask_reason(s, ret, ANSWER_PARTIAL, "one_event", S("the trace is one event long"), err));
    return ask_tell_cut(s, ret, err);
}

static bool needs_study(const struct recording *r, uint32_t device, const void *read)
{
    return peak_needs_study(r, device, read);
}

/* A moment that no device has is a question without an answer. */
static enum vrs_status check_any(const struct devices_answer *answer, struct vrs_error *err)
{
    for (uint32_t i = 0; i < answer->devices; i++) {
        if (answer->device[i].status != ANSWER_NOT_APPLICABLE)
            return VRS_OK;
    }
    if (answer->devices == 0)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%s", answer->device[0].reason[0].text.ptr);
}

enum vrs_status vrs_peak_check(const struct vrs_peak_options *options, struct vrs_error *err)
{
    struct vrs_peak_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct peak_question ignored;
    return read_options(&o, &ignored, err);
}

enum vrs_status vrs_peak(const struct vrs_recording *recording,
                         const struct vrs_peak_options *options, struct vrs_result **ret,
                         struct vrs_error *err)
{
    struct vrs_peak_options o = { 0 };
    struct peak_question q;
    struct vrs_result *result;
    options_take(&o, sizeof o, options);
    TRY(read_options(&o, &q, err));
    struct ask_options common = { o.about.path, o.about.user_root, o.about.library,
                                  o.about.device.plus_one };
    TRY(ask_devices_needing(recording, &peak_answer, &common, needs_study, ask, &q, &result, err));
    enum vrs_status status = check_any(result->set.study, err);
    if (status == VRS_OK)
        *ret = result;
    else
        vrs_result_free(result);
    return status;
}
