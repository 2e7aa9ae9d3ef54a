/* report.c - the one page about a recording. */
#include "api/snapshot/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/report/findings.h"
#include "analysis/snapshot/report/report.h"
#include "analysis/snapshot/report/report_device.h"
#include "analysis/snapshot/report/trust_page.h"
#include "analysis/snapshot/report/units.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"
#include "api/file.h"
#include "api/result.h"
#include "api/snapshot/ask.h"
#include "api/snapshot/report_sections.h"
#include "base/arena.h"
#include "base/str.h"
#include "format/run_ranks.h"
#include "model/ids.h"
#include "render/snapshot/answers.h"
#include "vramscope/snapshot.h"

enum {
    SPANS_MOST = 1024, /* finer than any terminal is wide */
    SPANS_PART = 120,  /* of a row among many */
    ROWS_MOST = 256    /* culprits kept of each device */
};

/* What the devices of one report share. */
struct reporting {
    struct call *a;
    const struct vrs_report_options *o;
    bool compared; /* with other devices, of this file or another */
    bool joined;   /* the analyses that the page joins are asked too */
    bool studied;  /* what follows is made */
    struct category_rules rules;
    struct naming *naming; /* that studies show names by */
    struct studies studies;
    struct proven_study *proven;  /* of each device, once the replay has spoken */
    struct report_device *device; /* of each that is asked about, in order */
    struct summary_place place;
};

/* What other devices are compared with, the page of trust, how the memory moved. */
static enum vrs_status add_study(struct reporting *p, uint32_t d, struct parts *parts,
                                 const struct proven_study *proven, struct report_device *ret,
                                 struct vrs_error *err)
{
    const struct study *study = proven == NULL ? NULL : proven->study;
    struct device_summary *summary = NULL;
    const struct leaks *leaks = NULL;
    TRY(summary_make(&p->place, d, &ret->curves, &summary, err));
    if (p->joined && study->traced)
        TRY(parts_leaks(parts, study, &leaks, err));
    if (p->compared && summary != NULL)
        TRY(summary_describe(proven, leaks, summary, err));
    ret->summary = summary;
    if (p->joined)
        TRY(section_make(parts, proven, &ret->sections, err));
    if (p->o->timeline)
        TRY(parts_timeline(parts, proven, &ret->timeline, err));
    if (!p->o->trust)
        return VRS_OK;
    struct trust_page *page = arena_take(p->a->keep, sizeof *page);
    if (page == NULL)
        return vrs_no_memory(err);
    ret->trust_page = page;
    return trust_page_compute(proven, page, err);
}

/* What needs no replay. */
static enum vrs_status describe(struct reporting *p, uint32_t d, struct report_device *ret,
                                struct vrs_error *err)
{
    bool drawn = !p->o->part || p->o->curve;
    const struct study *study = p->studied ? &p->studies.of[d] : NULL;
    const struct report_device_question question = {
        .rows_most = p->o->part ? 1 : ROWS_MOST,
        .spans_most = !drawn       ? 0
                      : p->o->part ? SPANS_PART
                                   : SPANS_MOST,
        .curves = study == NULL ? NULL : &study->curves,
        .categories = study == NULL ? NULL : &study->categories,
    };
    return report_device_describe(p->a->r, d, &question, p->a->naming, p->a->keep, &p->a->scratch,
                                  ret, err);
}

static enum vrs_status describe_all(void *arg, struct vrs_error *err)
{
    struct reporting *p = arg;
    if (p->studied)
        TRY(studies_begin(&p->studies, err));
    for (uint32_t d = 0, i = 0; d < p->a->r->devices.rows.len; d++)
        if (call_wants(p->a, d))
            TRY(describe(p, d, &p->device[i++], err));
    return VRS_OK;
}

static enum vrs_status complete_bare(struct reporting *p, uint32_t d, struct parts *parts,
                                     struct report_device *ret, struct vrs_error *err)
{
    const struct call *a = p->a;
    const struct agreement *agreement = &a->proof->agreement[d];
    curves_prove(&ret->curves, agreement);
    TRY(trust_assess(a->r, d, &a->basis[d], &ret->curves, agreement, a->keep, &ret->trust, err));
    return add_study(p, d, parts, NULL, ret, err);
}

static enum vrs_status complete_studied(struct reporting *p, uint32_t d, struct parts *parts,
                                        struct report_device *ret, struct vrs_error *err)
{
    const struct call *a = p->a;
    struct proven_study *proven = &p->proven[d];
    *proven = proven_study_of(&p->studies.of[d], a->proof, call_basis(a, d));
    TRY(p->joined ? parts_make_for_report(parts, proven, err)
                  : proven_study_assess(proven, a->keep, err));
    ret->curves = proven->curves;
    ret->trust = proven->trust;
    return add_study(p, d, parts, proven, ret, err);
}

/* What the replay tells of it, and what rests on that. */
static enum vrs_status complete(struct reporting *p, uint32_t d, struct report_device *ret,
                                struct vrs_error *err)
{
    struct parts parts = { NULL };
    struct arena_mark mark = arena_mark(&p->a->scratch);
    enum vrs_status status = p->studied ? complete_studied(p, d, &parts, ret, err)
                                        : complete_bare(p, d, &parts, ret, err);
    arena_release(&p->a->scratch, mark);
    return status;
}

/* Studies, where something is asked for that takes them. */
static enum vrs_status plan_studies(struct reporting *p, struct vrs_error *err)
{
    const struct vrs_report_options *o = p->o;
    struct call *a = p->a;
    struct frame_class_options options = { text_or_empty(o->about.user_root),
                                           text_or_empty(o->about.library) };
    p->compared = p->compared || o->part || a->r->devices.rows.len > 1;
    p->joined = !o->part && !o->trust && !o->quick;
    p->studied = p->joined || p->compared || o->trust || o->timeline;
    if (!p->studied)
        return VRS_OK;
    TRY(category_rules_read(&p->rules, str_from(category_rules_builtin), "builtin", err));
    p->naming = a->naming;
    if (p->joined)
        call_leave_basis(a);
    /* Rows of analyses have names as they are. */
    if (p->joined || o->timeline)
        TRY(naming_make(&a->r->code, &options, a->keep, &p->naming, err));
    p->studies = studies_of(a, &p->rules, p->naming);
    p->proven = arena_array(&a->scratch, struct proven_study, a->r->devices.rows.len);
    return p->proven == NULL ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status report_all(struct reporting *p, struct vrs_error *err)
{
    struct call *a = p->a;
    struct report *report = &a->result->set.report[0];
    TRY(file_facts_of(a->recording, p->o->about.path, a->keep, &report->file, err));
    report->trust_page = p->o->trust;
    report->rank = p->o->rank > 0 ? p->o->rank - 1 : -1;
    report->one_clock = p->o->one_clock;
    report_times_find(a->r, report);
    report->device = arena_array(a->keep, struct report_device, a->r->devices.rows.len);
    if (report->device == NULL)
        return vrs_no_memory(err);
    p->device = report->device;
    TRY(plan_studies(p, err));
    TRY(call_prepare(a, describe_all, p, err));
    p->place = (struct summary_place){
        .r = a->r,
        .naming = a->naming,
        .keep = a->keep,
        .scratch = &a->scratch,
        .ooms = last_ooms_of(a->r, p->o->peer_oom_us == 0 ? UNKNOWN_U64 : p->o->peer_oom_us - 1),
        .sites = p->compared,
    };
    for (uint32_t d = 0; d < a->r->devices.rows.len; d++)
        if (call_wants(a, d))
            TRY(complete(p, d, &report->device[report->devices++], err));
    TRY(findings_make(report, a->keep, err));
    return units_compare_devices(report, a->keep, err);
}

static enum vrs_status join_reports(struct vrs_result *joined,
                                    const struct vrs_result *const *parts, uint32_t count,
                                    struct vrs_error *err)
{
    const struct report_set **set = arena_array(joined->arena, const struct report_set *, count);
    struct report_set *made = arena_take(joined->arena, sizeof *made);
    if (set == NULL || made == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        set[i] = parts[i]->set.more;
    joined->set.more = made;
    return report_set_make(joined->set.report, joined->set.count, set, count, joined->arena, made,
                           err);
}

/* One report from its options to its end. */
struct kept_report {
    struct call a;
    struct vrs_report_options o;
    struct reporting reporting;
};

static enum vrs_status begin(struct kept_report *k, const struct vrs_recording *recording,
                             const struct vrs_report_options *options, bool compared,
                             struct vrs_error *err)
{
    const struct vrs_report_options *o = &k->o;
    k->o = (struct vrs_report_options){ 0 };
    k->reporting = (struct reporting){ .a = &k->a, .o = o, .compared = compared };
    options_take(&k->o, sizeof k->o, options);
    category_rules_init(&k->reporting.rules);
    TRY(call_begin_unproven(&k->a, recording, &report_answer, o->about.user_root, o->about.library,
                            o->about.device.plus_one, err));
    k->a.result->join = join_reports;
    return report_all(&k->reporting, err);
}

static enum vrs_status end(struct kept_report *k, enum vrs_status status, struct vrs_result **ret)
{
    category_rules_free(&k->reporting.rules);
    return call_end(&k->a, status, ret);
}

enum vrs_status report_begin(const struct vrs_recording *recording,
                             const struct vrs_report_options *options, bool compared,
                             struct arena *arena, struct kept_report **ret, struct vrs_error *err)
{
    struct kept_report *kept = arena_take(arena, sizeof *kept);
    if (kept == NULL)
        return vrs_no_memory(err);
    enum vrs_status status = begin(kept, recording, options, compared, err);
    if (status != VRS_OK)
        return end(kept, status, NULL);
    *ret = kept;
    return VRS_OK;
}

void report_end(struct kept_report *kept)
{
    struct vrs_result *result = NULL;
    (void)end(kept, VRS_OK, &result);
    vrs_result_free(result);
}

const struct answer_set *report_answers(const struct kept_report *kept)
{
    return &kept->a.result->set;
}

const struct proven_study *report_study(const struct kept_report *kept, uint32_t device)
{
    uint32_t row = 0;
    for (uint32_t skip = device; !call_wants(&kept->a, row) || skip > 0; row++)
        skip -= call_wants(&kept->a, row);
    return &kept->reporting.proven[row];
}

void vrs_report_times(const struct vrs_result *result, uint64_t *ret_oom_us, uint64_t *ret_last_us)
{
    *ret_oom_us = *ret_last_us = UNKNOWN_U64;
    for (uint32_t i = 0; result->set.kind == &report_answer && i < result->set.count; i++) {
        report_time_later(ret_oom_us, result->set.report[i].oom_us);
        report_time_later(ret_last_us, result->set.report[i].last_us);
    }
}

enum vrs_status vrs_report(const struct vrs_recording *recording,
                           const struct vrs_report_options *options, struct vrs_result **ret,
                           struct vrs_error *err)
{
    struct kept_report kept;
    return end(&kept, begin(&kept, recording, options, false, err), ret);
}

/* A set of no report. */
static struct report_set *bare_set(struct vrs_result **ret)
{
    *ret = result_make(&report_answer, 0);
    struct report_set *set = *ret == NULL ? NULL : arena_take((*ret)->arena, sizeof *set);
    if (set == NULL)
        return NULL;
    (*ret)->join = join_reports;
    (*ret)->several = true;
    (*ret)->set.more = set;
    return set;
}

enum vrs_status vrs_report_run(const char *path, struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_result *result;
    struct report_set *set = bare_set(&result);
    struct run_ranks read;
    enum vrs_status status =
        set == NULL ? vrs_no_memory(err) : run_ranks_read(path, result->arena, &read, err);
    if (status != VRS_OK) {
        vrs_result_free(result);
        return status;
    }
    set->job = read.job;
    set->job_ranks = read.ranks;
    set->silent = read.silent;
    *ret = result;
    return VRS_OK;
}

enum vrs_status vrs_report_unread(const char *path, const struct vrs_error *why,
                                  struct vrs_result **ret, struct vrs_error *err)
{
    struct vrs_result *result;
    struct report_set *set = bare_set(&result);
    struct unread_file *file = set == NULL ? NULL : arena_take(result->arena, sizeof *file);
    if (file != NULL)
        *file = (struct unread_file){ result_text(result->arena, str_from(path)),
                                      result_text(result->arena, str_from(why->message)) };
    if (file == NULL || file->path.ptr == NULL || file->why.ptr == NULL) {
        vrs_result_free(result);
        return vrs_no_memory(err);
    }
    *set = (struct report_set){ .unread = file, .unreads = 1 };
    *ret = result;
    return VRS_OK;
}
