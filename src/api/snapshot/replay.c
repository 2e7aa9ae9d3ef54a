/* replay.c - does the model reproduce the recording, and what would have been otherwise. */
#include "allocator/replay/recorded.h"
#include "allocator/replay/start_state.h"
#include "allocator/whatif/run_recording.h"
#include "api/snapshot/replay_sites.h"
#include "base/buf.h"
#include "base/task_list.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

/* The settings that a sweep tries; each is one question. */
static const char *const sweep_settings[] = {
    "max_split_size_mb:32",
    "max_split_size_mb:64",
    "max_split_size_mb:128",
    "max_split_size_mb:256",
    "max_split_size_mb:512",
    "roundup_power2_divisions:2",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "roundup_power2_divisions:16",
    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "large_segment_size_mb:40",
    "large_segment_size_mb:64",
    "max_split_size_mb:128,roundup_power2_divisions:8",
    "expandable_segments:True,roundup_power2_divisions:8",
    "expandable_segments:True,max_split_size_mb:128",
};

enum { SWEEP = sizeof sweep_settings / sizeof *sweep_settings };

static enum vrs_status apply_sets(const struct vrs_replay_options *o, struct allocator_config *c,
                                  struct vrs_error *err)
{
    for (uint32_t i = 0; i < o->sets; i++)
        TRY(config_set(c, str_from(o->set[i]), err));
    return VRS_OK;
}

/* The caller's words, read. */
struct replay_options_read {
    struct site_options sites;
    const struct vrs_replay_options *o;
    bool asked; /* for more than agreement */
};

static enum vrs_status read_options(const struct vrs_replay_options *o, struct arena *arena,
                                    struct replay_options_read *ret, struct vrs_error *err)
{
    struct allocator_config config = config_default();
    *ret = (struct replay_options_read){ .o = o };
    TRY(apply_sets(o, &config, err));
    if (o->sweep && o->keep_run)
        return vrs_fail(err, VRS_USAGE,
                        "a sweep asks many questions, and the run of one can be kept; name its "
                        "setting instead of the sweep");
    TRY(site_options_read(o, arena, &ret->sites, err));
    ret->asked = o->sets > 0 || ret->sites.options > 0 || o->capacity_bytes != 0 || o->sweep ||
                 o->smallest || o->keep_run;
    return VRS_OK;
}

enum vrs_status vrs_replay_check(const struct vrs_replay_options *options, struct vrs_error *err)
{
    struct vrs_replay_options o = { 0 };
    struct replay_options_read read;
    struct arena scratch;
    options_take(&o, sizeof o, options);
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = read_options(&o, &scratch, &read, err);
    arena_free(&scratch);
    return status;
}

/* One question of one device, answered by one task. */
struct inquiry {
    struct allocator_config config;
    struct whatif_question question;
    struct replay_row *row;
    const struct program *program;
    const struct start_state *start;
    bool smallest;
};

struct inquiries {
    struct inquiry *at;
    uint32_t count;
};

static enum vrs_status answer_inquiry(void *arg, uint32_t i, uint32_t thread, struct vrs_error *err)
{
    const struct inquiries *all = arg;
    const struct inquiry *q = &all->at[i];
    struct whatif_answer ascending;
    struct whatif_question question = q->question;
    (void)thread;
    question.config = &q->config;
    TRY(whatif_run(q->program, q->start, &question, &q->row->answer, err));
    question.addresses_ascend = true;
    TRY(whatif_run(q->program, q->start, &question, &ascending, err));
    q->row->reserved_ascending_bytes = ascending.reserved.bytes;
    if (!q->smallest)
        return VRS_OK;
    /* The need is that of the question on a device without an end. */
    struct whatif_answer free = q->row->answer;
    question.addresses_ascend = false;
    if (question.capacity_bytes != UNKNOWN_U64) {
        question.capacity_bytes = UNKNOWN_U64;
        TRY(whatif_run(q->program, q->start, &question, &free, err));
    }
    TRY(whatif_smallest(q->program, q->start, &question, &free, &q->row->smallest, err));
    q->row->has_smallest = q->row->smallest.completes;
    return VRS_OK;
}

static void add_words(struct buf *b, const char *option, const char *value)
{
    if (b->len > 0)
        buf_text(b, " ");
    buf_text(b, option);
    buf_text(b, value);
}

/* The caller's question in the words of the command line. */
static str question_words(const struct vrs_replay_options *o, struct arena *keep)
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
    str words = b.failed ? (str){ NULL, 0 } : arena_copy(keep, buf_slice(&b));
    buf_free(&b);
    return words;
}

/* What one device's questions are made of. */
struct plan {
    struct call *a;
    const struct replay_options_read *read;
    const struct program *program;
    const struct start_state *start;
    struct allocator_config recorded;
    struct site_change *change;
    uint8_t *change_of_stack;
    struct inquiries inquiries;
    struct replay_device *d;
};

/* A question with the recorded settings and nothing changed; the caller changes it. */
static enum vrs_status add_inquiry(struct plan *p, str words, struct inquiry **ret,
                                   struct vrs_error *err)
{
    struct inquiry *q = &p->inquiries.at[p->inquiries.count++];
    struct replay_row *row = &p->d->row[p->d->rows++];
    row->question = arena_copy(p->a->keep, words);
    row->capacity_bytes = UNKNOWN_U64;
    row->oom_culprit = S("");
    *q = (struct inquiry){
        .config = p->recorded,
        .question = { .capacity_bytes = UNKNOWN_U64,
                      .below_address = p->d->identities.below_address },
        .row = row,
        .program = p->program,
        .start = p->start,
        .smallest = p->read->o->smallest && p->d->identities.reproduces_at_capacity,
    };
    *ret = q;
    return row->question.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* The caller's own changes, which a sweep adds one more to. */
static enum vrs_status add_changed(struct plan *p, str words, const char *setting,
                                   struct vrs_error *err)
{
    const struct vrs_replay_options *o = p->read->o;
    struct allocator_config config = p->recorded;
    struct inquiry *q = NULL;
    TRY(apply_sets(o, &config, err));
    /* A row of the sweep that PyTorch would not take beside the other settings is left out. */
    if (setting != NULL && config_set(&config, str_from(setting), NULL) != VRS_OK)
        return VRS_OK;
    TRY(add_inquiry(p, words, &q, err));
    q->config = config;
    q->question.change = p->change;
    q->question.change_of_stack = p->change_of_stack;
    if (o->capacity_bytes != 0)
        q->row->capacity_bytes = q->question.capacity_bytes = o->capacity_bytes;
    return VRS_OK;
}

static enum vrs_status add_inquiries(struct plan *p, struct vrs_error *err)
{
    const struct vrs_replay_options *o = p->read->o;
    struct inquiry *same = NULL;
    p->inquiries.at = arena_array(&p->a->scratch, struct inquiry, SWEEP + 3);
    p->d->row = arena_array(p->a->keep, struct replay_row, SWEEP + 3);
    if (p->inquiries.at == NULL || p->d->row == NULL)
        return vrs_no_memory(err);
    TRY(add_inquiry(p, S("same"), &same, err));
    if (o->sets > 0 || p->read->sites.options > 0 || o->capacity_bytes != 0) {
        str words = question_words(o, &p->a->scratch);
        if (words.ptr == NULL)
            return vrs_no_memory(err);
        TRY(add_changed(p, words, NULL, err));
    }
    if (!o->sweep)
        return VRS_OK;
    const char *expandable =
        p->recorded.expandable ? "expandable_segments:False" : "expandable_segments:True";
    TRY(add_changed(p, str_from(expandable), expandable, err));
    for (uint32_t i = 0; i < SWEEP; i++)
        TRY(add_changed(p, str_from(sweep_settings[i]), sweep_settings[i], err));
    return VRS_OK;
}

/* Names whose request ran out. */
static enum vrs_status name_oom(struct plan *p, struct replay_row *row, struct vrs_error *err)
{
    if (!row->answer.ran_out || row->answer.oom.event < 0)
        return VRS_OK;
    uint32_t event = p->program->first + (uint32_t)row->answer.oom.event;
    struct stack_names names;
    TRY(naming_of(p->a->naming, (stack_id){ p->a->r->events.stack[event] }, &names, err));
    row->oom_culprit = arena_copy(p->a->keep, names.culprit);
    return row->oom_culprit.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Writes down what the run of the caller's question did: the second one, or "same" where nothing
 * was changed. */
static enum vrs_status keep_run(struct plan *p, struct vrs_error *err)
{
    struct inquiry *q = &p->inquiries.at[p->inquiries.count - 1];
    struct whatif_answer again;
    q->question.config = &q->config;
    return run_recording_add(p->a->result->run, p->program, p->start, &q->question, &again, err);
}

static enum vrs_status answer_all(struct plan *p, struct vrs_error *err)
{
    struct task_list list = { p->inquiries.count, answer_inquiry, &p->inquiries };
    TRY(task_list_run(p->read->o->threads, &list, err));
    for (uint32_t i = 0; i < p->inquiries.count; i++)
        TRY(name_oom(p, &p->d->row[i], err));
    return p->read->o->keep_run ? keep_run(p, err) : VRS_OK;
}

/* Reasons. */

static enum vrs_status add_reason(struct call *a, struct replay_device *d, const char *id,
                                  const char *text, struct vrs_error *err)
{
    return answer_reason_add(a->keep, &d->reason, &d->reasons, id, str_from(text), err);
}

static const struct {
    const char *text;
    enum answer_status status;
} refusal_reasons[REFUSALS] = {
    [REFUSED_NO_EVENTS] = { "the recording has no allocations in its trace, so there is nothing to "
                            "replay; record with max_entries above 1",
                            ANSWER_NEEDS_TRACE },
    [REFUSED_CUT] = { "the file is cut: without its end the state at the start is not known",
                      ANSWER_REFUSED },
    [REFUSED_HOST] = { "host memory is counted, not replayed", ANSWER_NOT_APPLICABLE },
    [REFUSED_INCONSISTENT] = { "segments, blocks and trace contradict each other: an edited or "
                               "anonymised file",
                               ANSWER_REFUSED },
    [REFUSED_LANES] = { "more than 1,024 pairs of stream and pool are not followed",
                        ANSWER_REFUSED },
    [REFUSED_WORK] = { "so many allocations lie elsewhere than in the model that following them "
                       "was given up",
                       ANSWER_REFUSED },
    [REFUSED_BACKEND] = { "the recording was made by another allocator", ANSWER_REFUSED },
};

static enum vrs_status refuse(struct call *a, struct replay_device *d, enum replay_refusal refusal,
                              struct vrs_error *err)
{
    d->agreement.refusal = refusal;
    d->status = refusal_reasons[refusal].status;
    return add_reason(a, d, replay_refusal_names[refusal], refusal_reasons[refusal].text, err);
}

/* Whether questions are answered, and with which reserve. */
static enum vrs_status judge(struct call *a, const struct replay_options_read *read,
                             struct replay_device *d, struct vrs_error *err)
{
    enum replay_grade grade = d->agreement.grade;
    if (d->agreement.refusal != REFUSED_NOT)
        return refuse(a, d, d->agreement.refusal, err);
    if (grade == GRADE_POOR) {
        TRY(add_reason(a, d, "poor", "the model does not reproduce this recording", err));
        d->status = read->o->anyway ? ANSWER_PARTIAL : ANSWER_REFUSED;
    } else if (grade == GRADE_MOSTLY) {
        TRY(add_reason(a, d, "mostly",
                       "the model reproduces most of this recording: answers are approximate",
                       err));
        d->status = ANSWER_PARTIAL;
    }
    if (!d->has_identities)
        return VRS_OK;
    if (!d->identities.reproduces)
        TRY(add_reason(
            a, d, "curves_part",
            "run freely, the model's reserved bytes part from the recorded ones: answers "
            "are approximate",
            err));
    if (!d->identities.reproduces_at_capacity)
        TRY(add_reason(a, d, "capacity_unproven",
                       "at the recorded capacity the model does not retry where the recording did: "
                       "no capacity is claimed",
                       err));
    if (d->reasons > 0 && d->status == ANSWER_OK)
        d->status = ANSWER_PARTIAL;
    return VRS_OK;
}

static uint64_t recorded_peak(const struct program *p)
{
    uint64_t reserved = program_reserved_start(p), peak = reserved;
    for (uint32_t i = 0; i < p->events; i++) {
        reserved += program_reserved_change(p, i);
        peak = reserved > peak ? reserved : peak;
    }
    return peak;
}

/* Settings that can do nothing in this question, and why. */
static enum vrs_status add_setting_notes(struct call *a, const struct replay_options_read *read,
                                         const struct allocator_config *recorded,
                                         struct replay_device *d, struct vrs_error *err)
{
    bool capacity = read->o->capacity_bytes != 0;
    struct allocator_config asked = *recorded;
    TRY(apply_sets(read->o, &asked, err));
    if (asked.memory_fraction < 1 && !capacity)
        TRY(add_reason(
            a, d, "no_limit",
            "per_process_memory_fraction does nothing without --capacity, of which it is "
            "a fraction",
            err));
    if (asked.gc_threshold > 0 && (asked.memory_fraction >= 1 || !capacity))
        TRY(add_reason(a, d, "no_garbage_collection",
                       "garbage_collection_threshold does nothing without a limit: it needs "
                       "per_process_memory_fraction and --capacity",
                       err));
    return VRS_OK;
}

static enum vrs_status ask_device(struct call *a, const struct replay_options_read *read,
                                  const struct program *program, const struct start_state *start,
                                  const struct allocator_config *recorded, struct replay_device *d,
                                  struct vrs_error *err)
{
    struct plan plan = {
        .a = a, .read = read, .program = program, .start = start, .recorded = *recorded, .d = d
    };
    if (d->agreement.grade == GRADE_POOR && !read->o->anyway)
        return judge(a, read, d, err);
    TRY(add_setting_notes(a, read, recorded, d, err));
    TRY(whatif_identities(program, start, recorded, &d->identities, err));
    d->has_identities = true;
    TRY(judge(a, read, d, err));
    if (d->status == ANSWER_REFUSED)
        return VRS_OK;
    TRY(site_changes_make(&read->sites, program, a->naming, &a->scratch, &plan.change,
                          &plan.change_of_stack, err));
    TRY(add_inquiries(&plan, err));
    return answer_all(&plan, err);
}

static enum vrs_status replay_device(struct call *a, const struct replay_options_read *read,
                                     uint32_t row, struct replay_device *d, struct vrs_error *err)
{
    const struct recording *r = a->r;
    struct allocator_config recorded = config_of_recording(r);
    struct program program = { 0 };
    struct start_state start = { 0 };
    struct curves curves;
    struct trust_basis basis;
    enum replay_refusal refusal = REFUSED_NOT;
    d->name = device_name_of(r, row);
    d->events = r->devices.events[row];
    curves_compute(r, row, &curves);
    TRY(trust_basis_find(r, row, &basis, err));
    TRY(trust_assess(r, row, &basis, &curves, NULL, a->keep, &d->trust, err));
    TRY(program_make(r, row, &a->scratch, &program, &refusal, err));
    if (refusal == REFUSED_NOT)
        TRY(start_state_make(&program, &recorded, &a->scratch, &start, &refusal, err));
    if (refusal != REFUSED_NOT)
        return refuse(a, d, refusal, err);
    d->recorded_peak_bytes = recorded_peak(&program);
    TRY(replay_run(&program, &start, &recorded, NULL, &d->agreement, err));
    if (!read->asked || d->agreement.refusal != REFUSED_NOT)
        return judge(a, read, d, err);
    return ask_device(a, read, &program, &start, &recorded, d, err);
}

/* A run is written whole or not at all. */
static enum vrs_status check_kept(const struct replay_answer *answer, struct vrs_error *err)
{
    for (uint32_t i = 0; i < answer->devices; i++) {
        const struct replay_device *d = &answer->device[i];
        if (d->rows == 0)
            return vrs_fail(err, VRS_USAGE, "%s %u cannot be written (--device chooses one): %s",
                            d->name.host ? "host memory" : "device", (unsigned)d->name.number,
                            d->reasons > 0 ? d->reason[0].text.ptr : "it was not replayed");
    }
    return VRS_OK;
}

static enum vrs_status begin_run(struct call *a, const struct replay_options_read *read,
                                 struct vrs_error *err)
{
    struct allocator_config config = config_of_recording(a->r);
    TRY(apply_sets(read->o, &config, err));
    struct recording *run = arena_array(a->keep, struct recording, 1);
    if (run == NULL || !recording_init(run, a->r->events.rows.max, a->r->code.strings.bytes.max))
        return vrs_no_memory(err);
    a->result->run = run;
    return run_recording_begin(run, a->r, &config, err);
}

static enum vrs_status replay_all(struct call *a, const struct vrs_recording *recording,
                                  const struct replay_options_read *read, struct vrs_error *err)
{
    struct replay_answer *answer = &a->result->set.replay[0];
    TRY(file_facts_of(recording, read->o->path, a->keep, &answer->file, err));
    answer->asked = read->asked;
    answer->device = arena_array(a->keep, struct replay_device, a->r->devices.rows.len);
    if (answer->device == NULL)
        return vrs_no_memory(err);
    if (read->o->keep_run)
        TRY(begin_run(a, read, err));
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d))
            TRY(replay_device(a, read, d, &answer->device[answer->devices++], err));
    if (!read->o->keep_run)
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
    struct replay_options_read read;
    enum vrs_status status =
        call_begin(&a, recording, &replay_answer, o.user_root, o.library, o.device, err);
    if (status == VRS_OK)
        status = read_options(&o, &a.scratch, &read, err);
    if (status == VRS_OK)
        status = replay_all(&a, recording, &read, err);
    return call_end(&a, status, ret);
}
