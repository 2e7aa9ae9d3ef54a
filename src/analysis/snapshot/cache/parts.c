/* parts.c - asks each analysis once, side by side where there are threads. */
#include "analysis/snapshot/cache/parts.h"

#include "analysis/snapshot/study/study_jobs.h"
#include "base/pool.h"

enum vrs_status parts_timeline(struct study *s, const struct timeline **ret, struct vrs_error *err)
{
    if (s->made.timeline == NULL) {
        struct timeline *made = NULL;
        TRY(timeline_compute(s, &made, err));
        s->made.timeline = made;
    }
    *ret = s->made.timeline;
    return VRS_OK;
}

enum vrs_status parts_fragments(struct study *s, const struct fragments **ret,
                                struct vrs_error *err)
{
    if (s->made.fragments == NULL) {
        struct fragments *made = NULL;
        TRY(fragments_compute(s, (int64_t)s->events - 1, &made, err));
        s->made.fragments = made;
    }
    *ret = s->made.fragments;
    return VRS_OK;
}

enum vrs_status parts_growth(struct study *s, const struct leaks **ret, struct vrs_error *err)
{
    if (s->made.leaks == NULL) {
        struct leaks *made = arena_array(s->keep, struct leaks, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(leaks_compute(s, 0, made, err));
        s->made.leaks = made;
    }
    *ret = s->made.leaks;
    return VRS_OK;
}

enum vrs_status parts_estimate(struct study *s, const struct training_need **ret,
                               struct vrs_error *err)
{
    if (s->made.estimate == NULL) {
        struct training_need *made = arena_array(s->keep, struct training_need, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(training_need_compute(s, made, err));
        s->made.estimate = made;
    }
    *ret = s->made.estimate;
    return VRS_OK;
}

enum vrs_status parts_categories(struct study *s, const struct category_table **ret,
                                 struct vrs_error *err)
{
    if (s->made.categories == NULL) {
        /* Without a trace all is told of the final state. */
        struct category_table_options options = {
            .at_event =
                s->traced ? s->curves.of[CURVE_REQUESTED].peak_event : (int64_t)s->events - 1,
        };
        if (s->traced && s->phases.known)
            TRY(parts_estimate(s, &options.estimate, err));
        struct category_table *made = arena_array(s->keep, struct category_table, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(category_table_compute(s, &options, made, err));
        s->made.categories = made;
    }
    *ret = s->made.categories;
    return VRS_OK;
}

enum vrs_status parts_counterfactual(struct study *s, struct counterfactual **ret,
                                     struct vrs_error *err)
{
    if (s->made.counterfactual == NULL) {
        struct counterfactual *made = arena_array(s->scratch, struct counterfactual, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(counterfactual_make(s, made, err));
        s->made.counterfactual = made;
    }
    *ret = s->made.counterfactual;
    return VRS_OK;
}

enum vrs_status parts_sites(struct study *s, const struct site_table **ret, struct vrs_error *err)
{
    if (s->made.sites == NULL) {
        struct site_table *made = arena_array(s->scratch, struct site_table, 1);
        if (made == NULL)
            return vrs_no_memory(err);
        TRY(site_table_make(s, SITE_LINE, made, err));
        s->made.sites = made;
    }
    *ret = s->made.sites;
    return VRS_OK;
}

/* Side by side. */

typedef enum vrs_status part_maker(struct study *s, struct vrs_error *err);

static enum vrs_status make_timeline(struct study *s, struct vrs_error *err)
{
    const struct timeline *ignored = NULL;
    return parts_timeline(s, &ignored, err);
}

static enum vrs_status make_growth(struct study *s, struct vrs_error *err)
{
    const struct leaks *ignored = NULL;
    return parts_growth(s, &ignored, err);
}

static enum vrs_status make_estimate(struct study *s, struct vrs_error *err)
{
    const struct training_need *ignored = NULL;
    return parts_estimate(s, &ignored, err);
}

/* The table has the estimate in it. */
static enum vrs_status make_categories(struct study *s, struct vrs_error *err)
{
    const struct category_table *ignored = NULL;
    TRY(make_estimate(s, err));
    return parts_categories(s, &ignored, err);
}

static enum vrs_status make_fragments(struct study *s, struct vrs_error *err)
{
    const struct fragments *ignored = NULL;
    return parts_fragments(s, &ignored, err);
}

static enum vrs_status make_sites(struct study *s, struct vrs_error *err)
{
    const struct site_table *sites = NULL;
    struct counterfactual *counterfactual = NULL;
    TRY(parts_sites(s, &sites, err));
    return parts_counterfactual(s, &counterfactual, err);
}

/* The longest first, so that those that remain fill what is left of the time. */
enum { PARTS = 6 };
static part_maker *const makers[PARTS_USES][PARTS] = {
    [PARTS_OF_REPORT] = { make_timeline, make_growth, make_categories, study_prove, make_fragments,
                          make_sites },
    [PARTS_OF_ADVICE] = { make_timeline, make_growth, make_estimate, study_prove, make_fragments,
                          make_sites },
};

static enum vrs_status make_part(void *arg, uint32_t i, struct study *s, struct vrs_error *err)
{
    const enum parts_use *use = arg;
    return makers[*use][i](s, err);
}

enum vrs_status parts_make(struct study *s, enum parts_use use, struct vrs_error *err)
{
    if (pool_threads(s->threads) == 1 || !s->traced)
        return study_prove(s, err);
    /* Before the study is copied: all parts rest on it. */
    curves_prove(&s->curves, s->agreement);
    return study_jobs_run(s, PARTS, make_part, &use, err);
}
