/* questions.c - replays a device under each question, side by side. */
#include "allocator/whatif/questions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "allocator/replay/start_state.h"
#include "allocator/whatif/run_recording.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/task_list.h"
#include "model/ids.h"
#include "model/recording.h"

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

enum vrs_status questions_config(const struct questions *q, struct allocator_config *config,
                                 struct vrs_error *err)
{
    for (uint32_t i = 0; i < q->sets; i++)
        TRY(config_set(config, str_from(q->set[i]), err));
    return VRS_OK;
}

/* One question, answered by one task. */
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

/* What one device's questions are made of. */
struct plan {
    const struct questions *q;
    const struct program *program;
    const struct start_state *start;
    struct allocator_config recorded;
    struct site_change *change;
    uint8_t *change_of_stack;
    struct inquiries inquiries;
    struct arena *keep, *scratch;
    struct replay_result *result;
};

/* A question with the recorded settings and nothing changed; the caller changes it. */
static enum vrs_status add_inquiry(struct plan *p, str words, struct inquiry **ret,
                                   struct vrs_error *err)
{
    const struct identities *identities = &p->result->identities;
    struct inquiry *q = &p->inquiries.at[p->inquiries.count++];
    struct replay_row *row = &p->result->row[p->result->rows++];
    row->question = arena_copy(p->keep, words);
    row->capacity_bytes = UNKNOWN_U64;
    row->oom_culprit = S("");
    *q = (struct inquiry){
        .config = p->recorded,
        .question = { .capacity_bytes = UNKNOWN_U64, .below_address = identities->below_address },
        .row = row,
        .program = p->program,
        .start = p->start,
        .smallest = p->q->smallest && identities->reproduces_at_capacity,
    };
    *ret = q;
    return row->question.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* The caller's own changes, which a sweep adds one more to. */
static enum vrs_status add_changed(struct plan *p, str words, const char *setting,
                                   struct vrs_error *err)
{
    struct allocator_config config = p->recorded;
    struct inquiry *q = NULL;
    TRY(questions_config(p->q, &config, err));
    /* A row of the sweep that PyTorch would not take beside the other settings is left out. */
    if (setting != NULL && config_set(&config, str_from(setting), NULL) != VRS_OK)
        return VRS_OK;
    TRY(add_inquiry(p, words, &q, err));
    q->config = config;
    q->question.change = p->change;
    q->question.change_of_stack = p->change_of_stack;
    if (p->q->capacity_bytes != 0)
        q->row->capacity_bytes = q->question.capacity_bytes = p->q->capacity_bytes;
    return VRS_OK;
}

static enum vrs_status add_inquiries(struct plan *p, struct vrs_error *err)
{
    struct inquiry *same = NULL;
    p->inquiries.at = arena_array(p->scratch, struct inquiry, SWEEP + 3);
    p->result->row = arena_array(p->keep, struct replay_row, SWEEP + 3);
    if (p->inquiries.at == NULL || p->result->row == NULL)
        return vrs_no_memory(err);
    TRY(add_inquiry(p, S("same"), &same, err));
    if (p->q->words.len > 0)
        TRY(add_changed(p, p->q->words, NULL, err));
    if (!p->q->sweep)
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
    const struct stack_namer *namer = &p->q->namer;
    uint32_t event = p->program->first + (uint32_t)row->answer.oom.event;
    stack_id stack = { p->program->r->events.stack[event] };
    str culprit, owner;
    TRY(namer->name(namer->arg, stack, &culprit, &owner, err));
    row->oom_culprit = arena_copy(p->keep, culprit);
    return row->oom_culprit.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Writes down what the run of the caller's question did: the second one, or "same" where nothing
 * was changed. */
static enum vrs_status keep_run(struct plan *p, struct vrs_error *err)
{
    struct inquiry *q = &p->inquiries.at[p->inquiries.count - 1];
    struct whatif_answer again;
    q->question.config = &q->config;
    return run_recording_add(p->q->run, p->program, p->start, &q->question, &again, err);
}

static enum vrs_status answer_all(struct plan *p, struct vrs_error *err)
{
    struct task_list list = { p->inquiries.count, answer_inquiry, &p->inquiries };
    TRY(task_list_run(p->q->threads, &list, err));
    for (uint32_t i = 0; i < p->inquiries.count; i++)
        TRY(name_oom(p, &p->result->row[i], err));
    return p->q->run != NULL ? keep_run(p, err) : VRS_OK;
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

static enum vrs_status ask(struct plan *p, struct vrs_error *err)
{
    struct allocator_config config = p->recorded;
    TRY(questions_config(p->q, &config, err));
    TRY(whatif_identities(p->program, p->start, &p->recorded, &p->result->identities, err));
    p->result->has_identities = true;
    TRY(site_changes_make(&p->q->sites, p->program, &p->q->namer, p->scratch, &p->change,
                          &p->change_of_stack, err));
    TRY(add_inquiries(p, err));
    return answer_all(p, err);
}

void replay_conclude(struct replay_result *result)
{
    const struct identities *i = &result->identities;
    const struct replay_row *same = result->row;
    result->certain = grade_is_exact(result->agreement.grade) && result->has_identities &&
                      i->reproduces && i->reproduces_at_capacity;
    for (uint32_t k = 0; k < result->rows; k++) {
        struct replay_row *row = &result->row[k];
        row->delta_reserved_bytes =
            (int64_t)(row->answer.reserved.bytes - same->answer.reserved.bytes);
        row->delta_active_bytes = (int64_t)(row->answer.active.bytes - same->answer.active.bytes);
        row->smallest_compared = row->has_smallest && same->has_smallest;
        row->delta_smallest_bytes = (int64_t)(row->smallest.bytes - same->smallest.bytes);
    }
}

enum vrs_status questions_answer(const struct questions *q, const struct recording *r,
                                 uint32_t device, struct arena *keep, struct arena *scratch,
                                 struct replay_result *ret, struct vrs_error *err)
{
    struct program program = { 0 };
    struct start_state start = { 0 };
    struct replay_result result = { .events = r->devices.events[device] };
    struct agreement *agreement = &result.agreement;
    struct plan plan = { q, &program, &start, .recorded = config_of_recording(r) };
    plan.keep = keep;
    plan.scratch = scratch;
    plan.result = &result;
    TRY(program_make(r, device, scratch, &program, &agreement->refusal, err));
    if (agreement->refusal == REFUSED_NOT)
        TRY(start_state_make(&program, &plan.recorded, scratch, &start, &agreement->refusal, err));
    if (agreement->refusal == REFUSED_NOT) {
        result.recorded_peak_bytes = recorded_peak(&program);
        TRY(replay_run(&program, &start, &plan.recorded, NULL, agreement, err));
        if (q->any && agreement->refusal == REFUSED_NOT &&
            (q->anyway || agreement->grade != GRADE_POOR))
            TRY(ask(&plan, err));
    }
    replay_conclude(&result);
    *ret = result;
    return VRS_OK;
}
