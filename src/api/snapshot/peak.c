/* peak.c - who held the memory at one moment. */
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/study.h"
#include "api/result.h"
#include "api/stack_texts.h"
#include "render/snapshot/answers.h"

/* The caller's words, read. */
struct options_read {
    struct moment moment;
    enum peak_by by;
    enum site_key key;
    bool categories; /* of each row */
};

static enum vrs_status read_options(const struct vrs_peak_options *o, struct options_read *ret,
                                    struct vrs_error *err)
{
    *ret =
        (struct options_read){ .moment = { .kind = AT_PEAK }, .by = BY_CULPRIT, .key = SITE_LINE };
    ret->categories = o->categories;
    if (o->at != NULL)
        TRY(moment_parse(str_from(o->at), &ret->moment, err));
    if (o->by != NULL) {
        uint32_t by = 0;
        while (by < PEAK_BYS && !str_equal(str_from(peak_by_names[by]), str_from(o->by)))
            by++;
        if (by == PEAK_BYS)
            return vrs_fail(err, VRS_USAGE,
                            "cannot group by \"%.40s\"; vrs_peak_options has what is accepted",
                            o->by);
        ret->by = (enum peak_by)by;
        ret->categories = ret->categories || ret->by == BY_CATEGORY;
    }
    if (o->key != NULL) {
        str key = str_from(o->key);
        if (key.len != 2 || key.ptr[0] != 'K' || key.ptr[1] < '0' || key.ptr[1] > '3')
            return vrs_fail(err, VRS_USAGE, "a key is K0, K1, K2 or K3, not \"%.40s\"", o->key);
        ret->key = (enum site_key)(key.ptr[1] - '0');
    }
    return VRS_OK;
}

static enum vrs_status add_reason(struct call *a, struct peak_device *d, const char *id, str text,
                                  struct vrs_error *err)
{
    return answer_reason_add(a->keep, &d->reason, &d->reasons, id, text, err);
}

static enum vrs_status add_reasons(struct call *a, uint32_t row, struct peak_device *d,
                                   struct vrs_error *err)
{
    uint32_t events = a->r->devices.events[row];
    if (events == 0)
        TRY(add_reason(a, d, "no_trace", S("the recording has no trace: this is its final state"),
                       err));
    else if (d->trust.window == WINDOW_ONE_EVENT)
        TRY(add_reason(a, d, "one_event", S("the trace is one event long"), err));
    if (d->bound)
        TRY(add_reason(a, d, "incomplete",
                       S("the file is cut: memory older than the part read is "
                         "missing"),
                       err));
    d->status = d->reasons > 0 ? ANSWER_PARTIAL : ANSWER_OK;
    return VRS_OK;
}

static enum vrs_status ask_stacks(struct call *a, struct stack_collector *stacks,
                                  struct peak_device *d, struct vrs_error *err)
{
    d->row_stack = arena_array(a->keep, uint32_t, d->peak.rows);
    if (d->row_stack == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < d->peak.rows; i++) {
        if (!stack_texts_ask(stacks, d->peak.row[i].stack, &d->row_stack[i]))
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

static bool keep_text(struct arena *keep, str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = arena_copy(keep, *text);
    return text->ptr != NULL;
}

/* Rows as peak_compute made them point into the naming, which ends with the call. */
static enum vrs_status keep_texts(struct call *a, struct peak *peak, struct vrs_error *err)
{
    for (uint32_t i = 0; i < peak->rows; i++) {
        struct peak_row *row = &peak->row[i];
        if (!keep_text(a->keep, &row->name) || !keep_text(a->keep, &row->culprit) ||
            !keep_text(a->keep, &row->owner) || !keep_text(a->keep, &row->category) ||
            !keep_text(a->keep, &row->confidence) || !keep_text(a->keep, &row->rule))
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

/* What the devices of one recording share. */
struct shared {
    const struct options_read *read;
    bool studies; /* the question needs categories, steps or phases */
    struct stack_collector stacks;
    struct category_rules rules;
    struct study_place place;
};

static enum vrs_status peak_device(struct call *a, uint32_t row, struct shared *shared,
                                   struct peak_device *d, struct vrs_error *err)
{
    const struct options_read *read = shared->read;
    const struct recording *r = a->r;
    struct curves curves;
    struct trust_basis basis;
    d->name = device_name_of(r, row);
    d->has_trace = r->devices.events[row] > 0;
    curves_compute(r, row, &curves);
    d->bound = !curves.of[CURVE_REQUESTED].start_known;
    d->inexact = !d->bound && !curves.of[CURVE_REQUESTED].exact;
    TRY(trust_basis_find(r, row, &basis, err));
    TRY(trust_assess(r, row, &basis, &curves, &a->agreement[row], a->keep, &d->trust, err));
    int64_t event = 0;
    struct vrs_error none;
    struct study study;
    if (shared->studies)
        TRY(study_make(&shared->place, row, &study, err));
    enum vrs_status found = shared->studies ? moment_in_study(&study, read->moment, &event, &none)
                                            : moment_find(r, row, read->moment, &event, &none);
    if (found == VRS_USAGE) {
        d->status = ANSWER_NOT_APPLICABLE;
        return add_reason(a, d, "no_such_moment", str_from(none.message), err);
    }
    if (found != VRS_OK) {
        if (err != NULL)
            *err = none;
        return found;
    }
    struct peak_options options = { .by = read->by, .key = read->key, .at_event = event };
    if (shared->studies)
        options.categories = &study.categories;
    TRY(peak_compute(r, row, &options, a->naming, a->keep, &d->peak, err));
    TRY(keep_texts(a, &d->peak, err));
    TRY(ask_stacks(a, &shared->stacks, d, err));
    d->at_peak = event == curves.of[CURVE_REQUESTED].peak_event;
    d->after_us = micros_after_first(r, row, event);
    d->reserved_bytes = curve_at(r, row, CURVE_RESERVED, event);
    curves_prove(&curves, &a->agreement[row]);
    d->blocks = block_bytes_at(r, row, event);
    d->blocks_exact = d->blocks.active != UNKNOWN_U64 && curves.of[CURVE_ACTIVE].exact;
    return add_reasons(a, row, d, err);
}

/* A moment that no device has is a question without an answer. */
static enum vrs_status check_any(const struct peak_answer *answer, struct vrs_error *err)
{
    for (uint32_t i = 0; i < answer->devices; i++) {
        if (answer->device[i].status != ANSWER_NOT_APPLICABLE)
            return VRS_OK;
    }
    if (answer->devices == 0)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%s", answer->device[0].reason[0].text.ptr);
}

static enum vrs_status prepare_studies(struct call *a, struct shared *shared, struct vrs_error *err)
{
    TRY(category_rules_read(&shared->rules, str_from(category_rules_builtin), "builtin", err));
    shared->place = (struct study_place){
        .r = a->r,
        .agreement = a->agreement,
        .naming = a->naming,
        .rules = &shared->rules,
        .keep = a->keep,
        .scratch = &a->scratch,
    };
    return study_place_make(&shared->place, err);
}

/* Whether something that is asked about has no stack, so that its category is to name it. */
static bool lacks_stacks(const struct call *a)
{
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d) && live_lacks_stacks(a->r, d))
            return true;
    return false;
}

static enum vrs_status peak_all(struct call *a, const struct vrs_recording *recording,
                                const char *path, struct shared *shared, struct vrs_error *err)
{
    struct peak_answer *answer = &a->result->set.peak[0];
    TRY(file_facts_of(recording, path, a->keep, &answer->file, err));
    answer->device = arena_array(a->keep, struct peak_device, a->r->devices.rows.len);
    if (answer->device == NULL || !stack_texts_begin(&shared->stacks, a->r, &a->scratch))
        return vrs_no_memory(err);
    shared->studies = shared->read->categories || moment_needs_study(shared->read->moment) ||
                      (peak_splits(shared->read->by) && lacks_stacks(a));
    if (shared->studies)
        TRY(prepare_studies(a, shared, err));
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++) {
        if (call_wants(a, d))
            TRY(peak_device(a, d, shared, &answer->device[answer->devices++], err));
    }
    TRY(check_any(answer, err));
    return stack_texts_write(&shared->stacks, &a->scratch, a->keep, &answer->stacks)
               ? VRS_OK
               : vrs_no_memory(err);
}

enum vrs_status vrs_peak_check(const struct vrs_peak_options *options, struct vrs_error *err)
{
    struct vrs_peak_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct options_read ignored;
    return read_options(&o, &ignored, err);
}

enum vrs_status vrs_peak(const struct vrs_recording *recording,
                         const struct vrs_peak_options *options, struct vrs_result **ret,
                         struct vrs_error *err)
{
    struct vrs_peak_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct options_read read;
    TRY(read_options(&o, &read, err));
    struct call a;
    struct shared shared = { .read = &read };
    category_rules_init(&shared.rules);
    enum vrs_status status =
        call_begin(&a, recording, &peak_answer, o.user_root, o.library, o.device, err);
    if (status == VRS_OK)
        status = peak_all(&a, recording, o.path, &shared, err);
    category_rules_free(&shared.rules);
    stack_texts_end(&shared.stacks);
    return call_end(&a, status, ret);
}
