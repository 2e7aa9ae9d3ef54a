/* oom.c - the requests that failed, or the text of the error alone; the verdict on the last. */
#include "analysis/snapshot/oom/oom.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/program.h"
#include "allocator/replay/recorded.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/layout.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/oom/oom_sites.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

enum {
    GROUP_EVENTS = 64,       /* one request tried again: at most so far apart */
    EARLIER_WORK = 64 << 20, /* allocations and events looked at for the verdicts on earlier ones */
    EARLIER_LEAST = 4        /* of them that are judged all the same */
};

/* What is known beside the study. */
struct oom_options {
    const struct oom_message *message;
    uint64_t capacity_bytes;
    /* What grows from step to step, where that was worked out. */
    const struct leaks *leaks; /* NULL: it was not */
    bool has_growth;
    uint32_t steps;           /* that were seen */
    int64_t growth_bytes;     /* a step, of live memory */
    int64_t first_step_bytes; /* live at the first step */
};

/* A request that failed. */
struct failure {
    uint32_t event;
    uint32_t site;
    bool begins; /* a group: the one before is another request */
};

struct failures {
    struct failure *at;
    uint32_t count;
};

static uint32_t row_of(const struct study *s, uint32_t event)
{
    return s->r->devices.first_event[s->device] + event;
}

static stack_id stack_at(const struct study *s, uint32_t event)
{
    return (stack_id){ s->r->events.stack[row_of(s, event)] };
}

static enum vrs_status find_failures(const struct study *s, struct sites *sites,
                                     struct failures *ret, struct vrs_error *err)
{
    uint64_t count = s->traced ? s->curves.oom_events : 0;
    struct failures found = { arena_array(s->scratch, struct failure, count), 0 };
    if (found.at == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->events && found.count < count; i++) {
        if (s->r->events.action[row_of(s, i)] != ACTION_OOM)
            continue;
        struct failure *failure = &found.at[found.count];
        const struct failure *before = found.count == 0 ? NULL : failure - 1;
        failure->event = i;
        if (!sites_of(sites, stack_at(s, i), &failure->site))
            return vrs_no_memory(err);
        failure->begins =
            before == NULL || before->site != failure->site || i - before->event > GROUP_EVENTS;
        found.count++;
    }
    *ret = found;
    return VRS_OK;
}

static struct oom_request request_at(const struct study *s, uint32_t event)
{
    const struct events *e = &s->r->events;
    uint32_t row = row_of(s, event);
    return (struct oom_request){
        .bytes = e->size[row],
        .stream = s->r->streams.handle[e->stream[row]],
        .pool = pool_number(s->r, s->r->contexts.pool[e->context[row]]),
    };
}

/* The verdict on an earlier request: by the recording alone, since a text is about the last. */
static enum vrs_status judge_earlier(const struct proven_study *proven, const struct oom_options *o,
                                     uint32_t event, uint64_t most_reserved, enum oom_verdict *ret,
                                     struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct oom_measured m;
    struct oom_answer_of_tests tests;
    struct oom_request request = request_at(s, event);
    struct arena_mark mark = arena_mark(s->scratch);
    enum vrs_status status = oom_measure(proven, event, &request, s->scratch, &m, err);
    arena_release(s->scratch, mark);
    TRY(status);
    if (o->capacity_bytes != 0 && o->capacity_bytes >= most_reserved)
        m.figures.total = o->capacity_bytes;
    oom_test_all(&m.figures, &tests);
    *ret = tests.verdict;
    return VRS_OK;
}

/* Groups before the last, each by its last failure. */
static enum vrs_status find_earlier(const struct proven_study *proven, const struct oom_options *o,
                                    const struct failures *failures, uint32_t last_group,
                                    struct oom *oom, struct vrs_error *err)
{
    const struct study *s = proven->study;
    uint64_t work = (uint64_t)s->events + s->lifetimes.count + 1;
    uint32_t judged = (uint32_t)(EARLIER_WORK / work), groups = 0;
    for (uint32_t i = 0; i < last_group; i++)
        groups += failures->at[i].begins;
    judged = judged < EARLIER_LEAST ? EARLIER_LEAST : judged;
    oom->earlier = arena_array(s->keep, struct oom_earlier, groups);
    if (oom->earlier == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0, first = 0; i < last_group; i++) {
        if (failures->at[i].begins)
            first = i;
        if (!failures->at[i + 1].begins)
            continue;
        struct oom_earlier *earlier = &oom->earlier[oom->earliers++];
        *earlier =
            (struct oom_earlier){ .event = failures->at[i].event,
                                  .request_bytes = request_at(s, failures->at[i].event).bytes,
                                  .retries = i - first,
                                  .verdict = OOM_UNDECIDED };
        if (groups - oom->earliers < judged)
            TRY(judge_earlier(proven, o, failures->at[i].event, oom->most_reserved_bytes,
                              &earlier->verdict, err));
    }
    return VRS_OK;
}

/* The text. */

static uint64_t first_known(uint64_t a, uint64_t b)
{
    return a != UNKNOWN_U64 ? a : b;
}

/* What the recording had of the card at one time, at least. */
static uint64_t most_reserved(const struct study *s, const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    int64_t peak = s->curves.of[CURVE_RESERVED].peak_bytes;
    uint64_t most = s->traced && peak > 0 ? (uint64_t)peak : 0, seen = f->reserved;
    /* A text is rounded: its sum may pass the card that it names. */
    if (oom->basis != OOM_TEXT_ALONE && oom_capacity_seen(f) != UNKNOWN_U64)
        seen = oom_capacity_seen(f);
    return seen != UNKNOWN_U64 && seen > most ? seen : most;
}

/* Allocated bytes, where the recording and the text count the same ones: those of blocks, without
 * what waits for another stream, and not free memory of private pools. */
static bool allocated_agrees(const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    const struct oom_message *m = &oom->text;
    if (oom->basis == OOM_TEXT_ALONE || !oom->exact || is_said(m->private_pools) ||
        f->private_free != 0)
        return true;
    return said_agrees(m->allocated, f->active - f->pending);
}

/* The most that the recording had in use or reserved at one time, where a text alone is read
 * beside it: more than its card has is of another run. */
static uint64_t over_the_card(const struct study *s, const struct oom *oom)
{
    const struct said card = oom->text.capacity;
    uint64_t most = 0;
    if (oom->basis != OOM_TEXT_ALONE || !is_said(card))
        return 0;
    for (uint32_t i = 0; i < CURVES; i++) {
        const struct curve *c = &s->curves.of[i];
        int64_t peak = c->peak_bytes > 0 ? c->peak_bytes : 0;
        int64_t end = c->end_known && c->end_bytes > 0 ? c->end_bytes : 0;
        uint64_t larger = (uint64_t)(peak > end ? peak : end);
        most = larger > most ? larger : most;
    }
    return most > card.bytes + card.slack ? most : 0;
}

static void take_text(const struct study *s, const struct oom_options *o, struct oom *oom)
{
    struct oom_figures *f = &oom->measured.figures;
    const struct oom_message *m = &oom->text;
    if (m->any) {
        oom->text_free = !said_agrees(m->free, f->device_free);
        oom->text_reserved = !said_agrees(oom_message_reserved(m), f->reserved);
        oom->text_tried = !said_agrees(m->tried, f->segment);
        oom->text_allocated = !allocated_agrees(oom);
        oom->text_over_bytes = over_the_card(s, oom);
        f->device_free = first_known(f->device_free, m->free.bytes);
        oom->text_capacity = is_said(m->capacity) && oom->basis != OOM_TEXT_ALONE &&
                             m->capacity.bytes + m->capacity.slack < most_reserved(s, oom);
        f->total = oom->text_capacity ? UNKNOWN_U64 : m->capacity.bytes;
        f->process = m->process.bytes;
        f->allowed = m->allowed.bytes;
        f->said_private = m->private_pools.bytes;
        f->has_text = true;
        f->preemptive = m->preemptive;
    }
    oom->most_reserved_bytes = most_reserved(s, oom);
    oom->capacity_refused = o->capacity_bytes != 0 && o->capacity_bytes < oom->most_reserved_bytes;
    if (o->capacity_bytes != 0 && !oom->capacity_refused)
        f->total = o->capacity_bytes;
}

/* What the text alone tells.  Memory that waits for another stream, or lies on one, is in what it
 * calls unallocated; that the request failed says that no block of it was large enough. */
static struct oom_figures figures_of_text(const struct oom_message *m)
{
    uint64_t reserved = oom_message_reserved(m).bytes, unallocated = m->unallocated.bytes;
    if (unallocated == UNKNOWN_U64 && reserved != UNKNOWN_U64 && is_said(m->allocated))
        unallocated = reserved > m->allocated.bytes ? reserved - m->allocated.bytes : 0;
    return (struct oom_figures){
        .request = m->tried.bytes,
        .segment = m->tried.bytes,
        .device_free = m->free.bytes,
        .active = m->allocated.bytes,
        .reserved = reserved,
        .internal_free = unallocated,
        .largest_usable = UNKNOWN_U64,
        .returnable = UNKNOWN_U64,
        .other_stream_free = UNKNOWN_U64,
        .private_free = UNKNOWN_U64,
        .total = UNKNOWN_U64,
        .process = UNKNOWN_U64,
        .allowed = UNKNOWN_U64,
        .said_private = UNKNOWN_U64,
    };
}

/* Does the final state look like the one that the text tells of? */
static bool text_tells_of_end(const struct proven_study *proven, const struct oom_message *m)
{
    const struct curve *reserved = &proven->curves.of[CURVE_RESERVED];
    const struct curve *allocated = &proven->curves.of[CURVE_ALLOCATED];
    struct said said = oom_message_reserved(m);
    /* What the text calls allocated has free memory of private pools in it. */
    bool compares = !is_said(m->private_pools);
    if (!is_said(said) || !reserved->end_known || !allocated->end_known)
        return false;
    return said_agrees(said, (uint64_t)reserved->end_bytes) &&
           (!compares || said_agrees(m->allocated, (uint64_t)allocated->end_bytes));
}

bool oom_message_is_of(const struct study *s, const struct oom_message *m)
{
    const struct devices *d = &s->r->devices;
    bool cuda = d->kind[s->device] == DEVICE_CUDA;
    return cuda && m->any &&
           (m->device < 0 || m->device == d->number[s->device] || d->rows.len == 1);
}

bool oom_message_is_foreign(const struct recording *r, const struct oom_message *m)
{
    const struct devices *d = &r->devices;
    if (!m->any || m->device < 0)
        return false;
    for (uint32_t i = 0; i < d->rows.len; i++)
        if (d->kind[i] == DEVICE_CUDA && d->number[i] == m->device)
            return false;
    return true;
}

/* Judging. */

/* A text of another failure. */
bool oom_text_differs(const struct oom *oom)
{
    return oom->text_free || oom->text_reserved || oom->text_tried || oom->text_capacity ||
           oom->text_allocated || oom->text_over_bytes > 0;
}

static enum confidence confidence_of(const struct oom *oom)
{
    const struct oom_test *test = oom->tests.test;
    bool certain = oom->exact && oom->basis != OOM_TEXT_ALONE;
    enum oom_verdict verdict = oom->tests.verdict;
    if (verdict == OOM_CAPACITY_LIMIT)
        certain = certain && oom->measured.figures.allowed != UNKNOWN_U64;
    if (verdict == OOM_SINGLE_REQUEST_TOO_LARGE)
        certain = oom->measured.figures.total != UNKNOWN_U64;
    /* What comes after the request is known by an earlier step alone. */
    if (verdict == OOM_FRAGMENTATION)
        certain = certain && oom->program.next_bytes != UNKNOWN_U64;
    if (verdict == OOM_LIVE_EXCEEDS_CAPACITY) {
        /* The figures contradict that it failed. */
        if (oom->has_short_by && oom->short_by_bytes <= 0)
            return CONFIDENCE_LOW;
        certain = certain && test[OOM_OUTSIDE_PYTORCH].holds == OOM_NO;
    }
    return certain && !oom_text_differs(oom) ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

static uint64_t need_of(const struct oom *oom)
{
    const struct oom_figures *f = &oom->measured.figures;
    const struct oom_program *p = &oom->program;
    if (p->lack == OOM_LACK_STATE)
        return p->state_left_bytes - p->free_bytes;
    if (p->lack == OOM_LACK_NEXT)
        return p->next_bytes - p->free_bytes;
    if (oom->has_short_by && oom->short_by_bytes > 0)
        return (uint64_t)oom->short_by_bytes;
    if (f->request == UNKNOWN_U64 || f->device_free == UNKNOWN_U64 ||
        f->internal_free == UNKNOWN_U64 || f->request < f->device_free)
        return 0;
    uint64_t missing = f->request - f->device_free;
    return missing > f->internal_free ? missing - f->internal_free : 0;
}

/* The program's verdict, where that of the request alone would promise too much. */
static enum vrs_status judge_program(const struct study *s, const struct leaks *leaks,
                                     struct oom *oom, struct vrs_error *err)
{
    const struct oom_moment moment = { oom->event, oom->request_stack, oom->live_bytes, leaks };
    struct oom_test *test = &oom->tests.test[OOM_FRAGMENTATION];
    TRY(oom_program_ask(s, &moment, &oom->measured.figures, oom->tests.verdict, &oom->program,
                        err));
    test->asked = oom->program.asked;
    test->enough = oom->program.lack == OOM_LACK_NONE;
    if (!test->asked || test->enough)
        return VRS_OK;
    test->reason = oom_lack_names[oom->program.lack];
    oom->tests.verdict = OOM_LIVE_EXCEEDS_CAPACITY;
    oom->tests.also_trues = 0;
    oom->has_short_by = false;
    return VRS_OK;
}

static enum vrs_status judge(const struct study *s, const struct leaks *leaks, struct oom *oom,
                             struct vrs_error *err)
{
    const struct oom_figures *f = &oom->measured.figures;
    oom_test_all(f, &oom->tests);
    oom->capacity_seen_bytes = oom_capacity_seen(f);
    oom->outside_process_bytes = oom_outside_process(f);
    oom->other_processes_bytes = oom_other_processes(f);
    oom->has_short_by = oom_short_by(f, &oom->short_by_bytes);
    TRY(judge_program(s, leaks, oom, err));
    oom->need_bytes = need_of(oom);
    oom->confidence = confidence_of(oom);
    return VRS_OK;
}

static double growth_of(const struct oom_options *o, const struct oom *oom)
{
    if (!o->has_growth || o->growth_bytes <= 0 || oom->live_bytes == UNKNOWN_U64)
        return -1;
    double grown =
        ((double)oom->live_bytes - (double)o->first_step_bytes) / (double)o->growth_bytes;
    /* Far more steps than there were: something else filled the memory. */
    return grown > 2.0 * o->steps ? -1 : grown;
}

/* All about one state: that at `oom->event`. */
/* What of the memory in use at the failure has a name. */
static enum vrs_status names_at(const struct study *s, struct oom *oom, struct vrs_error *err)
{
    struct names_sum sum = { .r = s->r };
    for (uint32_t i = 0; s->r->named.rows.len > 0 && i < s->lifetimes.count; i++)
        if (lifetime_alive(&s->lifetimes.at[i], oom->event))
            names_sum_add(&sum, s->lifetimes.first + i);
    return names_sum_end(&sum, s->keep, &oom->names, err);
}

static enum vrs_status study_state(const struct proven_study *proven, const struct oom_options *o,
                                   struct oom *oom, struct vrs_error *err)
{
    const struct study *s = proven->study;
    TRY(oom_measure(proven, oom->event, &oom->request, s->scratch, &oom->measured, err));
    oom->exact = oom->measured.laid_out && oom->measured.layout.exact;
    take_text(s, o, oom);
    int64_t live = curve_at(s->r, s->device, CURVE_REQUESTED, oom->event);
    oom->live_bytes = live < 0 ? UNKNOWN_U64 : (uint64_t)live;
    TRY(judge(s, o->leaks, oom, err));
    oom->previous_step_bytes = oom_previous_step(s, oom->event, oom->request_stack);
    oom->steps_of_growth = growth_of(o, oom);
    TRY(names_at(s, oom, err));
    TRY(oom_sites_find(s, oom, err));
    TRY(oom_evidence_find(s, &oom->measured, &oom->request, &oom->evidence, err));
    return study_site(s, oom->request_stack, &oom->request_site, err);
}

static enum vrs_status study_event(const struct proven_study *proven,
                                   const struct failures *failures, const struct oom_options *o,
                                   struct oom *oom, struct vrs_error *err)
{
    const struct study *s = proven->study;
    uint32_t last = failures->count - 1, first = last;
    while (!failures->at[first].begins)
        first--;
    uint32_t event = failures->at[last].event;
    oom->basis = OOM_EVENT;
    oom->event = event;
    oom->time_us = s->r->events.time_us[row_of(s, event)];
    oom->request = request_at(s, event);
    oom->request_stack = stack_at(s, event);
    oom->retries = last - first;
    int64_t step = s->steps.count == 0 ? -1 : steps_at(&s->steps, event);
    oom->step = step < 0 ? 0 : (uint32_t)step + 1;
    if (s->phases.known && oom->request_stack.n != 0)
        oom->phase = (enum phase)s->phases.of_stack[oom->request_stack.n];
    TRY(study_state(proven, o, oom, err));
    TRY(find_earlier(proven, o, failures, first, oom, err));
    return oom_what_if_ask(proven, oom->capacity_seen_bytes, failures->at[first].event, event,
                           &oom->what_if, err);
}

static enum vrs_status device_answer_text(const struct proven_study *proven,
                                          const struct oom_options *o, struct oom *oom,
                                          struct vrs_error *err)
{
    const struct study *s = proven->study;
    int64_t last = (int64_t)s->events - 1;
    oom->request = (struct oom_request){ .bytes = oom->text.tried.bytes };
    if (s->traced && text_tells_of_end(proven, &oom->text)) {
        oom->basis = OOM_LAST;
        oom->event = last;
        return study_state(proven, o, oom, err);
    }
    oom->basis = OOM_TEXT_ALONE;
    oom->measured.figures = figures_of_text(&oom->text);
    oom->measured.free_runs = UNKNOWN_U64;
    take_text(s, o, oom);
    TRY(judge(s, NULL, oom, err));
    return study_site(s, oom->request_stack, &oom->request_site, err);
}

static enum vrs_status explain(const struct proven_study *proven, const struct oom_options *options,
                               struct oom *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct oom oom = { .event = -1,
                       .time_us = UNKNOWN_U64,
                       .live_bytes = UNKNOWN_U64,
                       .previous_step_bytes = UNKNOWN_U64,
                       .steps_of_growth = -1,
                       .expandable = config_of_recording(s->r).expandable };
    struct failures failures = { NULL, 0 };
    struct sites sites;
    oom.text = options->message == NULL ? oom_message_none() : *options->message;
    if (!sites_init(&sites, &s->r->code, s->naming, SITE_LINE, s->scratch))
        return vrs_no_memory(err);
    enum vrs_status status = find_failures(s, &sites, &failures, err);
    if (status == VRS_OK && failures.count > 0)
        status = study_event(proven, &failures, options, &oom, err);
    else if (status == VRS_OK && oom.text.any)
        status = device_answer_text(proven, options, &oom, err);
    sites_free(&sites);
    oom.measured.layout = (struct layout){ .event = oom.event };
    if (status == VRS_OK)
        *ret = oom;
    return status;
}

enum vrs_status oom_compute(struct parts *parts, const struct proven_study *proven,
                            const struct oom_message *message, uint64_t capacity_bytes,
                            struct oom *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    bool told = message != NULL && oom_message_is_of(s, message);
    struct oom_options options = { .message = told ? message : NULL,
                                   .capacity_bytes = capacity_bytes };
    if (s->traced && s->curves.oom_events > 0) {
        const struct leaks *leaks = NULL;
        TRY(parts_leaks(parts, s, &leaks, err));
        options.leaks = leaks;
        /* What only differs from step to step is no leaks. */
        options.has_growth = leaks != NULL && leaks->moments > 1 &&
                             leaks->leaks + leaks->suspects > 0 && leaks->slope_total_bytes > 0;
        options.growth_bytes = options.has_growth ? leaks->slope_total_bytes : 0;
        options.steps = s->steps.count;
        options.first_step_bytes = s->steps.count > 0 ? s->steps.boundary[0].live_bytes : 0;
    }
    return explain(proven, &options, ret, err);
}
