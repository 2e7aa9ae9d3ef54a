/* oom.c - why a request for memory failed, proven with numbers. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_message.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "render/write/human.h"
#include "vramscope/snapshot.h"

struct oom_question {
    struct oom_message message;
    bool has_message;
    uint64_t capacity_bytes;
};

static enum vrs_status say(const struct study *s, struct device_answer *d,
                           enum answer_status status, const char *id, const char *text,
                           struct vrs_error *err)
{
    return ask_reason(s, d, status, id, str_from(text), err);
}

static enum vrs_status say_nothing_found(const struct study *s, struct device_answer *d,
                                         struct vrs_error *err)
{
    if (!s->traced)
        return say(s, d, ANSWER_NEEDS_TRACE, "needs_trace",
                   s->events == 0
                       ? "no events were recorded, so it cannot be told whether a request failed; "
                         "if one did, give the text of its error with --message"
                       : "the trace has one event, so it cannot be told whether a request failed "
                         "before it; if one did, give the text of its error with --message",
                   err);
    if ((s->r->devices.parts[s->device] & PART_TRACE) == 0)
        return say(s, d, ANSWER_NEEDS_TRACE, "incomplete",
                   "the file is cut inside the trace: an out-of-memory event may be missing", err);
    return say(s, d, ANSWER_NOT_APPLICABLE, "no_oom",
               "the trace has no out-of-memory event; if the run failed, the snapshot was not "
               "written at the failure: vramscope doctor tells how",
               err);
}

static void add_difference(struct buf *b, bool *any, const char *what, uint64_t said,
                           uint64_t measured)
{
    buf_format(b, "%s %s ", *any ? ";" : "", what);
    human_known_bytes(b, said);
    buf_text(b, " in the text, ");
    human_known_bytes(b, measured);
    buf_text(b, " recorded");
    *any = true;
}

/* The text and the event disagree beyond what printing rounds away. */
static enum vrs_status say_differences(const struct study *s, const struct oom *oom,
                                       struct device_answer *d, struct vrs_error *err)
{
    const struct oom_figures *f = &oom->measured.figures;
    const struct oom_message *m = &oom->text;
    struct buf b;
    bool any = false;
    if (!oom_text_differs(oom))
        return VRS_OK;
    buf_init(&b, 4096);
    if (oom->text_over_bytes > 0) {
        buf_text(&b, "the text is of another run: the recording had ");
        human_known_bytes(&b, oom->text_over_bytes);
        buf_text(&b, ", more than the card of the text, which has ");
        human_known_bytes(&b, m->capacity.bytes);
    } else {
        buf_text(&b, "the text and the recording differ, and the recording's figures are used:");
    }
    if (oom->text_free)
        add_difference(&b, &any, "free", m->free.bytes, f->device_free);
    if (oom->text_reserved)
        add_difference(&b, &any, "reserved", oom_message_reserved(m).bytes, f->reserved);
    if (oom->text_tried)
        add_difference(&b, &any, "requested", m->tried.bytes, f->segment);
    if (oom->text_allocated)
        add_difference(&b, &any, "allocated", m->allocated.bytes, f->active - f->pending);
    if (oom->text_capacity)
        add_difference(&b, &any, "on the card", m->capacity.bytes, oom->most_reserved_bytes);
    enum vrs_status status = b.failed
                                 ? vrs_no_memory(err)
                                 : ask_reason(s, d, d->status, "text_differs", buf_slice(&b), err);
    buf_free(&b);
    return status;
}

/* "the recording had 23.35 GiB reserved: it cannot be from a card of 16.00 GiB" */
static enum vrs_status say_capacity(const struct study *s, const struct oom *oom,
                                    uint64_t capacity_bytes, struct device_answer *d,
                                    struct vrs_error *err)
{
    const struct oom_figures *f = &oom->measured.figures;
    bool free_too = f->reserved != UNKNOWN_U64 && capacity_bytes >= f->reserved;
    struct buf b;
    if (!oom->capacity_refused)
        return VRS_OK;
    buf_init(&b, 4096);
    buf_text(&b, "the recording had ");
    human_known_bytes(&b, free_too ? oom->most_reserved_bytes : f->reserved);
    buf_text(&b, free_too ? " of its card" : " reserved");
    buf_text(&b, ": it cannot be from a card of ");
    human_known_bytes(&b, capacity_bytes);
    buf_text(&b, ", so that size is not used");
    enum vrs_status status =
        b.failed ? vrs_no_memory(err)
                 : ask_reason(s, d, d->status, "capacity_too_small", buf_slice(&b), err);
    buf_free(&b);
    return status;
}

/* A text about a device that the recording does not have under that number. */
static enum vrs_status say_device(const struct study *s, const struct oom_question *q,
                                  struct device_answer *d, struct vrs_error *err)
{
    char text[160];
    if (!oom_message_is_foreign(s->r, &q->message))
        return VRS_OK;
    snprintf(text, sizeof text, "the text is about GPU %lld, which the recording does not name%s",
             (long long)q->message.device,
             oom_message_is_of(s, &q->message) ? "; it is used for this device"
                                               : ": it is not used");
    return say(s, d, d->status, "text_device", text, err);
}

static enum vrs_status say_limits(const struct study *s, const struct oom *oom,
                                  uint64_t capacity_bytes, struct device_answer *d,
                                  struct vrs_error *err)
{
    if (oom->basis == OOM_TEXT_ALONE)
        TRY(say(s, d, ANSWER_PARTIAL, "text_only",
                s->traced
                    ? "the trace has no out-of-memory event, and its end is not the state that the "
                      "text describes: these figures are from the text alone"
                : s->events == 0
                    ? "no trace of events was recorded: these figures are from the text alone"
                    : "the trace has one event, not of this failure: these figures are from the "
                      "text alone",
                err));
    else if (!oom->measured.laid_out)
        TRY(say(
            s, d, ANSWER_PARTIAL, "no_layout",
            "segments and trace contradict each other, so it is not known where free memory lay",
            err));
    else if (!oom->exact)
        TRY(say(s, d, ANSWER_PARTIAL, "not_proven",
                "no replay proves the sizes of blocks: active bytes are a lower bound, free bytes "
                "an upper bound",
                err));
    if (oom->tests.verdict == OOM_UNDECIDED)
        TRY(say(s, d, ANSWER_PARTIAL, "undecided",
                oom->text.any ? "too little is known for a verdict"
                              : "too little is known for a verdict; the text of the error has what "
                                "is missing (--message)",
                err));
    TRY(say_differences(s, oom, d, err));
    return say_capacity(s, oom, capacity_bytes, d, err);
}

static enum vrs_status ask(struct parts *parts, const struct proven_study *proven, const void *read,
                           struct device_answer *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct oom_question *q = read;
    struct oom *oom = arena_array(s->keep, struct oom, 1);
    if (oom == NULL)
        return vrs_no_memory(err);
    TRY(oom_compute(parts, proven, &q->message, q->capacity_bytes, oom, err));
    if (oom->basis == OOM_NOTHING) {
        TRY(say_nothing_found(s, ret, err));
    } else {
        ret->result = oom;
        TRY(say_limits(s, oom, q->capacity_bytes, ret, err));
    }
    TRY(say_device(s, q, ret, err));
    if (q->has_message && !q->message.any)
        return say(s, ret, ret->status, "text_unread",
                   "the text was not recognised as an out-of-memory error", err);
    return VRS_OK;
}

/* An out-of-memory event was asked for: one is enough, and a device without a trace cannot tell. */
static enum vrs_verdict verdict_of(const struct answer_set *set)
{
    enum vrs_verdict verdict = VRS_NO_VERDICT;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < set->study[i].devices; k++) {
            const struct device_answer *d = &set->study[i].device[k];
            if (d->result != NULL)
                return VRS_YES;
            if (d->status == ANSWER_NOT_APPLICABLE)
                verdict = VRS_NO;
        }
    return verdict;
}

enum vrs_status vrs_oom(const struct vrs_recording *recording,
                        const struct vrs_oom_options *options, struct vrs_result **ret,
                        struct vrs_error *err)
{
    struct vrs_oom_options o = { 0 };
    struct arena scratch;
    options_take(&o, sizeof o, options);
    struct ask_options common = { o.about.path, o.about.user_root, o.about.library,
                                  o.about.device.plus_one };
    struct oom_question q = { .message = oom_message_none(),
                              .has_message = o.message != NULL,
                              .capacity_bytes = o.capacity_bytes };
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = VRS_OK;
    if (o.message != NULL)
        status = oom_message_read(str_from(o.message), &scratch, &q.message, err);
    arena_free(&scratch);
    TRY(status);
    TRY(ask_devices(recording, &oom_answer, &common, ask, &q, ret, err));
    (*ret)->verdict = verdict_of;
    return VRS_OK;
}
