/* replay.c - does the model reproduce the recording, and what would have been otherwise. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/whatif/changed_sites.h"
#include "allocator/whatif/questions.h"
#include "allocator/whatif/run_recording.h"
#include "allocator/whatif/whatif.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/trust/trust.h"
#include "api/file.h"
#include "api/result.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/file_facts.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/answer/answer.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

/* Words. */

/* The caller's sites, of one kind. */
static enum vrs_status read_sites(enum change_kind kind, const char *const *text, uint32_t count,
                                  struct site_options *ret, struct vrs_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(site_option_read(kind, str_from(text[i]), &ret->read[ret->options++], err));
    return VRS_OK;
}

static enum vrs_status read_all_sites(const struct vrs_replay_options *o, struct arena *arena,
                                      struct site_options *ret, struct vrs_error *err)
{
    uint64_t count = (uint64_t)o->drops + o->scales + o->free_earlies;
    if (count > SITE_CHANGES_MAX)
        return vrs_fail(err, VRS_USAGE, "%llu changed sites; at most %d at once",
                        (unsigned long long)count, SITE_CHANGES_MAX);
    ret->read = arena_array(arena, struct site_option, count);
    if (ret->read == NULL)
        return vrs_no_memory(err);
    TRY(read_sites(CHANGE_DROP, o->drop, o->drops, ret, err));
    TRY(read_sites(CHANGE_SCALE, o->scale, o->scales, ret, err));
    return read_sites(CHANGE_FREE_EARLY, o->free_early, o->free_earlies, ret, err);
}

static void add_words(struct buf *b, const char *option, const char *value)
{
    if (b->len > 0)
        buf_text(b, " ");
    buf_text(b, option);
    buf_text(b, value);
}

/* The caller's question in the words of the command line. */
static str question_words(const struct vrs_replay_options *o, struct arena *arena)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    for (uint32_t i = 0; i < o->sets; i++)
        add_words(&b, "", o->set[i]);
    for (uint32_t i = 0; i < o->drops; i++)
        add_words(&b, "--drop ", o->drop[i]);
    for (uint32_t i = 0; i < o->scales; i++)
        add_words(&b, "--scale ", o->scale[i]);
    for (uint32_t i = 0; i < o->free_earlies; i++)
        add_words(&b, "--free-early ", o->free_early[i]);
    if (b.len == 0 && !b.failed)
        buf_text(&b, "same");
    str words = b.failed ? (str){ NULL, 0 } : arena_copy(arena, buf_slice(&b));
    buf_free(&b);
    return words;
}

static enum vrs_status read_options(const struct vrs_replay_options *o, struct arena *arena,
                                    struct questions *ret, struct vrs_error *err)
{
    struct allocator_config config = config_default();
    *ret = (struct questions){
        .set = o->set,
        .sets = o->sets,
        .capacity_bytes = o->capacity_bytes,
        .words = S(""),
        .sweep = o->sweep,
        .smallest = o->smallest,
        .anyway = o->anyway,
        .threads = o->threads,
    };
    TRY(questions_config(ret, &config, err));
    if (o->sweep && o->keep_run)
        return vrs_fail(err, VRS_USAGE,
                        "only one run can be kept, and a sweep makes many; name one setting "
                        "instead of the sweep");
    TRY(read_all_sites(o, arena, &ret->sites, err));
    bool changed = o->sets > 0 || ret->sites.options > 0 || o->capacity_bytes != 0;
    if (changed)
        ret->words = question_words(o, arena);
    ret->any = changed || o->sweep || o->smallest || o->keep_run;
    return ret->words.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status vrs_replay_check(const struct vrs_replay_options *options, struct vrs_error *err)
{
    struct vrs_replay_options o = { 0 };
    struct questions read;
    struct arena scratch;
    options_take(&o, sizeof o, options);
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = read_options(&o, &scratch, &read, err);
    arena_free(&scratch);
    return status;
}

static enum vrs_status name_stack(void *arg, stack_id stack, str *ret_culprit, str *ret_owner,
                                  struct vrs_error *err)
{
    struct stack_names names;
    TRY(naming_of(arg, stack, &names, err));
    *ret_culprit = names.culprit;
    *ret_owner = names.owner;
    return VRS_OK;
}

/* Reasons. */

static enum vrs_status add_reason(struct call *a, struct device_answer *d,
                                  enum answer_status status, const char *id, const char *text,
                                  struct vrs_error *err)
{
    d->status = status;
    return answer_reason_add(a->keep, &d->reason, &d->reasons, id, str_from(text), err);
}

static const struct {
    const char *text;
    enum answer_status status;
} refusal_reasons[REFUSALS] = {
    [REFUSED_NO_EVENTS] = { "the recording has no allocations in its trace, so there is nothing to "
                            "replay; call torch.cuda.memory._record_memory_history() before the "
                            "first step",
                            ANSWER_NEEDS_TRACE },
    [REFUSED_CUT] = { "the file is cut: without its end the state at the start is not known",
                      ANSWER_REFUSED },
    [REFUSED_HOST] = { "host memory is counted, not replayed", ANSWER_NOT_APPLICABLE },
    [REFUSED_INCONSISTENT] = { "segments, blocks and trace contradict each other: an edited or "
                               "anonymised file",
                               ANSWER_REFUSED },
    [REFUSED_LANES] = { "the recording has more than 1,024 pairs of stream and pool, which the "
                        "model does not follow",
                        ANSWER_REFUSED },
    [REFUSED_WORK] = { "so many allocations lie elsewhere than in the model that the replay was "
                       "given up",
                       ANSWER_REFUSED },
    [REFUSED_BACKEND] = { "the recording was made by another allocator", ANSWER_REFUSED },
};

/* Settings that can do nothing in this question, and why. */
static enum vrs_status add_setting_notes(struct call *a, const struct questions *q,
                                         struct device_answer *d, struct vrs_error *err)
{
    bool capacity = q->capacity_bytes != 0;
    struct allocator_config asked = config_of_recording(a->r);
    TRY(questions_config(q, &asked, err));
    if (asked.memory_fraction < 1 && !capacity)
        TRY(add_reason(a, d, ANSWER_PARTIAL, "no_limit",
                       "per_process_memory_fraction does nothing without --capacity, of which it "
                       "is a fraction",
                       err));
    if (asked.gc_threshold > 0 && (asked.memory_fraction >= 1 || !capacity))
        TRY(add_reason(a, d, ANSWER_PARTIAL, "no_garbage_collection",
                       "garbage_collection_threshold does nothing without a limit: it needs "
                       "per_process_memory_fraction and --capacity",
                       err));
    return VRS_OK;
}

/* Whether questions are answered, and with which reserve. */
static enum vrs_status add_reasons(struct call *a, const struct questions *q,
                                   const struct replay_result *found, struct device_answer *d,
                                   struct vrs_error *err)
{
    enum replay_refusal refusal = found->agreement.refusal;
    enum replay_grade grade = found->agreement.grade;
    if (refusal != REFUSED_NOT)
        return add_reason(a, d, refusal_reasons[refusal].status, replay_refusal_names[refusal],
                          refusal_reasons[refusal].text, err);
    if (found->has_identities)
        TRY(add_setting_notes(a, q, d, err));
    if (grade == GRADE_POOR)
        TRY(add_reason(a, d, q->anyway ? ANSWER_PARTIAL : ANSWER_REFUSED, "poor",
                       "the model does not reproduce this recording", err));
    else if (grade == GRADE_MOSTLY)
        TRY(add_reason(a, d, ANSWER_PARTIAL, "mostly",
                       "the model reproduces most of this recording: answers are approximate",
                       err));
    if (found->has_identities && !found->identities.reproduces)
        TRY(add_reason(a, d, ANSWER_PARTIAL, "curves_part",
                       "choosing addresses itself, the model reserves other amounts than recorded: "
                       "answers are approximate",
                       err));
    if (found->has_identities && !found->identities.reproduces_at_capacity)
        TRY(add_reason(a, d, ANSWER_PARTIAL, "capacity_unproven",
                       "at the recorded capacity the model does not retry where the recording did: "
                       "which capacity suffices is not known",
                       err));
    return VRS_OK;
}

/* The whole. */

static enum vrs_status replay_device(struct call *a, const struct questions *q, uint32_t device,
                                     struct device_answer *d, struct vrs_error *err)
{
    struct curves curves;
    struct trust_basis basis;
    struct replay_result *found = arena_take(a->keep, sizeof *found);
    if (found == NULL)
        return vrs_no_memory(err);
    d->name = device_name_of(a->r, device);
    curves_compute(a->r, device, &curves);
    TRY(trust_basis_find(a->r, device, &basis, err));
    TRY(trust_assess(a->r, device, &basis, &curves, NULL, a->keep, &d->trust, err));
    TRY(questions_answer(q, a->r, device, a->keep, &a->scratch, found, err));
    found->overflowed =
        d->trust.window == WINDOW_OVERFLOWED || d->trust.window == WINDOW_OVERFLOW_SUSPECTED;
    TRY(add_reasons(a, q, found, d, err));
    if (d->status != ANSWER_NOT_APPLICABLE && d->status != ANSWER_NEEDS_TRACE)
        d->result = found;
    return VRS_OK;
}

/* A run is written whole or not at all. */
static enum vrs_status check_kept(const struct devices_answer *answer, struct vrs_error *err)
{
    for (uint32_t i = 0; i < answer->devices; i++) {
        const struct device_answer *d = &answer->device[i];
        const struct replay_result *found = d->result;
        if (found == NULL || found->rows == 0)
            return vrs_fail(err, VRS_USAGE, "%s %u cannot be written (--device chooses one): %s",
                            d->name.host ? "host memory" : "device", (unsigned)d->name.number,
                            d->reasons > 0 ? d->reason[0].text.ptr : "it was not replayed");
    }
    return VRS_OK;
}

static enum vrs_status begin_run(struct call *a, struct questions *q, struct vrs_error *err)
{
    struct allocator_config config = config_of_recording(a->r);
    TRY(questions_config(q, &config, err));
    struct recording *run = arena_array(a->keep, struct recording, 1);
    if (run == NULL || !recording_init(run, a->r->events.rows.max, a->r->code.strings.bytes.max))
        return vrs_no_memory(err);
    a->result->run = q->run = run;
    return run_recording_begin(run, a->r, &config, err);
}

static enum vrs_status replay_all(struct call *a, const struct vrs_replay_options *o,
                                  struct questions *q, struct vrs_error *err)
{
    struct devices_answer *answer = &a->result->set.study[0];
    TRY(file_facts_of(a->recording, o->about.path, a->keep, &answer->file, err));
    answer->device = arena_array(a->keep, struct device_answer, a->r->devices.rows.len);
    if (answer->device == NULL)
        return vrs_no_memory(err);
    q->namer = (struct stack_namer){ name_stack, a->naming };
    if (o->keep_run)
        TRY(begin_run(a, q, err));
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d))
            TRY(replay_device(a, q, d, &answer->device[answer->devices++], err));
    if (!o->keep_run)
        return VRS_OK;
    TRY(check_kept(answer, err));
    return run_recording_finish(a->result->run, err);
}

enum vrs_status vrs_replay(const struct vrs_recording *recording,
                           const struct vrs_replay_options *options, struct vrs_result **ret,
                           struct vrs_error *err)
{
    struct vrs_replay_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct call a;
    struct questions q;
    enum vrs_status status = call_begin(&a, recording, &replay_answer, o.about.user_root,
                                        o.about.library, o.about.device.plus_one, err);
    if (status == VRS_OK)
        status = read_options(&o, &a.scratch, &q, err);
    if (status == VRS_OK)
        status = replay_all(&a, &o, &q, err);
    return call_end(&a, status, ret);
}
