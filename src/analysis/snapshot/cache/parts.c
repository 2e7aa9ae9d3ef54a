/* parts.c - runs each shared analysis once, in parallel where there are threads. */
#include "analysis/snapshot/cache/parts.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/study/study_jobs.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pool.h"

/* The row of a study, old or new. */
static enum vrs_status know(struct parts *parts, const struct study *of, struct study_parts **ret,
                            struct vrs_error *err)
{
    struct study_parts *p = parts->first;
    while (p != NULL && p->of != of)
        p = p->next;
    if (p == NULL) {
        p = arena_array(of->keep, struct study_parts, 1);
        if (p == NULL)
            return vrs_no_memory(err);
        *p = (struct study_parts){ .next = parts->first, .of = of };
        parts->first = p;
    }
    *ret = p;
    return VRS_OK;
}

enum vrs_status parts_know(struct parts *parts, const struct study *of, struct vrs_error *err)
{
    struct study_parts *ignored = NULL;
    return know(parts, of, &ignored, err);
}

static enum vrs_status make_timeline(struct study_parts *p, const struct proven_study *by,
                                     struct vrs_error *err)
{
    struct timeline *made = NULL;
    if (p->timeline != NULL)
        return VRS_OK;
    TRY(timeline_compute(by, &made, err));
    p->timeline = made;
    return VRS_OK;
}

static enum vrs_status make_fragments(struct study_parts *p, const struct proven_study *by,
                                      struct vrs_error *err)
{
    struct fragments *made = NULL;
    if (p->fragments != NULL)
        return VRS_OK;
    TRY(fragments_compute(by, (int64_t)by->study->events - 1, &made, err));
    p->fragments = made;
    return VRS_OK;
}

static enum vrs_status make_leaks(struct study_parts *p, const struct study *by,
                                  struct vrs_error *err)
{
    if (p->leaks != NULL)
        return VRS_OK;
    struct leaks *made = arena_array(by->keep, struct leaks, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    TRY(leaks_compute(by, 0, made, err));
    p->leaks = made;
    return VRS_OK;
}

static enum vrs_status make_training_need(struct study_parts *p, const struct study *by,
                                          struct vrs_error *err)
{
    if (p->training_need != NULL)
        return VRS_OK;
    struct training_need *made = arena_array(by->keep, struct training_need, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    TRY(training_need_compute(by, made, err));
    p->training_need = made;
    return VRS_OK;
}

static enum vrs_status make_categories(struct study_parts *p, const struct study *by,
                                       struct vrs_error *err)
{
    /* Without a trace all is told of the final state. */
    struct category_table_options options = {
        .at_event =
            by->traced ? by->curves.of[CURVE_REQUESTED].peak_event : (int64_t)by->events - 1,
    };
    if (p->categories != NULL)
        return VRS_OK;
    if (by->traced && by->phases.known) {
        TRY(make_training_need(p, by, err));
        options.training_need = p->training_need;
    }
    struct category_table *made = arena_array(by->keep, struct category_table, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    TRY(category_table_compute(by, &options, made, err));
    p->categories = made;
    return VRS_OK;
}

static enum vrs_status make_counterfactual(struct study_parts *p, const struct study *by,
                                           struct vrs_error *err)
{
    if (p->counterfactual != NULL)
        return VRS_OK;
    struct counterfactual *made = arena_array(by->scratch, struct counterfactual, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    TRY(counterfactual_make(by, made, err));
    p->counterfactual = made;
    return VRS_OK;
}

static enum vrs_status make_sites(struct study_parts *p, const struct study *by,
                                  struct vrs_error *err)
{
    if (p->sites != NULL)
        return VRS_OK;
    struct site_table *made = arena_array(by->scratch, struct site_table, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    TRY(site_table_make(by, SITE_LINE, made, err));
    p->sites = made;
    return VRS_OK;
}

enum vrs_status parts_timeline(struct parts *parts, const struct proven_study *proven,
                               const struct timeline **ret, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, proven->study, &p, err));
    TRY(make_timeline(p, proven, err));
    *ret = p->timeline;
    return VRS_OK;
}

enum vrs_status parts_fragments(struct parts *parts, const struct proven_study *proven,
                                const struct fragments **ret, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, proven->study, &p, err));
    TRY(make_fragments(p, proven, err));
    *ret = p->fragments;
    return VRS_OK;
}

enum vrs_status parts_leaks(struct parts *parts, const struct study *s, const struct leaks **ret,
                            struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, s, &p, err));
    TRY(make_leaks(p, s, err));
    *ret = p->leaks;
    return VRS_OK;
}

enum vrs_status parts_training_need(struct parts *parts, const struct study *s,
                                    const struct training_need **ret, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, s, &p, err));
    TRY(make_training_need(p, s, err));
    *ret = p->training_need;
    return VRS_OK;
}

enum vrs_status parts_categories(struct parts *parts, const struct study *s,
                                 const struct category_table **ret, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, s, &p, err));
    TRY(make_categories(p, s, err));
    *ret = p->categories;
    return VRS_OK;
}

enum vrs_status parts_counterfactual(struct parts *parts, const struct study *s,
                                     struct counterfactual **ret, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, s, &p, err));
    TRY(make_counterfactual(p, s, err));
    *ret = p->counterfactual;
    return VRS_OK;
}

enum vrs_status parts_sites(struct parts *parts, const struct study *s,
                            const struct site_table **ret, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(parts, s, &p, err));
    TRY(make_sites(p, s, err));
    *ret = p->sites;
    return VRS_OK;
}

/* Side by side. */

enum vrs_status parts_do_job(const struct parts_of_study *of, enum part_job job,
                             const struct proven_study *by, struct vrs_error *err)
{
    struct study_parts *p = NULL;
    TRY(know(of->parts, of->study, &p, err));
    switch (job) {
    case JOB_TIMELINE:
        return make_timeline(p, by, err);
    case JOB_LEAKS:
        return make_leaks(p, by->study, err);
    case JOB_CATEGORIES:
        TRY(make_training_need(p, by->study, err));
        return make_categories(p, by->study, err);
    case JOB_TRAINING_NEED:
        return make_training_need(p, by->study, err);
    case JOB_TRUST:
        return proven_study_assess(of->assessed, by->study->keep, err);
    case JOB_FRAGMENTS:
        return make_fragments(p, by, err);
    case JOB_SITES:
        TRY(make_sites(p, by->study, err));
        return make_counterfactual(p, by->study, err);
    }
    return VRS_OK;
}

/* The longest first, so that those that remain fill what is left of the time. */
static const enum part_job of_report[] = { JOB_TIMELINE, JOB_LEAKS,     JOB_CATEGORIES,
                                           JOB_TRUST,    JOB_FRAGMENTS, JOB_SITES };
static const enum part_job of_advice[] = { JOB_TIMELINE, JOB_LEAKS, JOB_TRAINING_NEED,
                                           JOB_FRAGMENTS, JOB_SITES };

struct making {
    struct parts_of_study of;
    const enum part_job *job;
};

static enum vrs_status make_part(void *arg, uint32_t i, const struct proven_study *by,
                                 struct vrs_error *err)
{
    const struct making *m = arg;
    return parts_do_job(&m->of, m->job[i], by, err);
}

#ifndef NDEBUG
/* Whether no two of them write the same. */
static bool are_apart(const enum part_job *job, uint32_t jobs)
{
    uint32_t needs = 0;
    for (uint32_t i = 0; i < jobs; i++)
        needs += job[i] == JOB_CATEGORIES || job[i] == JOB_TRAINING_NEED;
    return needs <= 1;
}
#endif

static enum vrs_status make_parts(const struct proven_study *proven, struct making *making,
                                  uint32_t jobs, struct vrs_error *err)
{
    assert(are_apart(making->job, jobs));
    TRY(parts_know(making->of.parts, making->of.study, err));
    return study_jobs_run(proven, jobs, make_part, making, err);
}

static bool is_worth_threads(const struct study *s)
{
    return pool_threads(s->threads) > 1 && s->traced;
}

enum vrs_status parts_make_for_report(struct parts *parts, struct proven_study *proven,
                                      struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct making making = { { parts, s, proven }, of_report };
    if (!is_worth_threads(s))
        return proven_study_assess(proven, s->keep, err);
    return make_parts(proven, &making, sizeof of_report / sizeof *of_report, err);
}

enum vrs_status parts_make_for_advice(struct parts *parts, const struct proven_study *proven,
                                      struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct making making = { { parts, s, NULL }, of_advice };
    if (!is_worth_threads(s))
        return VRS_OK;
    return make_parts(proven, &making, sizeof of_advice / sizeof *of_advice, err);
}
