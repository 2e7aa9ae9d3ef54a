/* parts.h - a cache of analyses that several answers share, each run when it is first asked for.
 *
 * It is keyed by the address of the study they are about: who asks again is given the
 * same one.  Nobody below it knows that it is there.  A part lives in the study's `keep` unless
 * said otherwise, and so does what the cache itself takes, a row of pointers for each study:
 * a question may release `scratch` and go on asking, as check does after every limit. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CACHE_PARTS_H
#define VRS_ANALYSIS_SNAPSHOT_CACHE_PARTS_H

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "base/fail.h"

/* What was made for one study; NULL: not yet, or there is nothing to be made. */
struct study_parts {
    struct study_parts *next;
    const struct study *of;
    const struct timeline *timeline;
    const struct fragments *fragments;
    const struct leaks *leaks;
    const struct training_need *training_need;
    const struct category_table *categories;
    struct counterfactual *counterfactual;
    const struct site_table *sites;
};

/* Of one question, and to be forgotten with it: a study's address may then be another's.  All zero
 * it is empty. */
struct parts {
    struct study_parts *first; /* the study asked about last */
};

/* What is made of a study beside other such jobs. */
enum part_job {
    JOB_TIMELINE,
    JOB_LEAKS,
    JOB_CATEGORIES,    /* and the training need, of which they take some */
    JOB_TRAINING_NEED, /* alone; never beside JOB_CATEGORIES, which writes the same */
    JOB_TRUST,         /* which is the proven study's; the cache does not have it */
    JOB_FRAGMENTS,
    JOB_SITES /* and the counterfactual curve */
};

/* Whose jobs they are. */
struct parts_of_study {
    struct parts *parts; /* that know the study */
    const struct study *study;
    struct proven_study *assessed; /* by JOB_TRUST, and asked by no other job; NULL: that is none */
};

/* Makes what a job is to make, unless it is there; `by` is of the study or of the copy that a
 * thread has.  Threads may do so side by side, each another job. */
enum vrs_status parts_do_job(const struct parts_of_study *of, enum part_job job,
                             const struct proven_study *by, struct vrs_error *err) MUST_CHECK;

/* Makes room for the parts of a study. */
enum vrs_status parts_know(struct parts *parts, const struct study *of,
                           struct vrs_error *err) MUST_CHECK;

/* Finds trust and makes, side by side, all parts: those that a report rests on.  Where it was not
 * called, or there is one thread, parts that are asked for are made one after the other. */
enum vrs_status parts_make_for_report(struct parts *parts, struct proven_study *proven,
                                      struct vrs_error *err) MUST_CHECK;

/* The same where trust is known, but for the table of categories, which advice does not need. */
enum vrs_status parts_make_for_advice(struct parts *parts, const struct proven_study *proven,
                                      struct vrs_error *err) MUST_CHECK;

/* NULL in `*ret` where the device has no trace. */
enum vrs_status parts_timeline(struct parts *parts, const struct proven_study *proven,
                               const struct timeline **ret, struct vrs_error *err) MUST_CHECK;

/* At the end of the recording; NULL in `*ret` where the layout is not known. */
enum vrs_status parts_fragments(struct parts *parts, const struct proven_study *proven,
                                const struct fragments **ret, struct vrs_error *err) MUST_CHECK;

/* Of a device with a trace; without a capacity, so that `steps_to_full` stays unknown. */
enum vrs_status parts_leaks(struct parts *parts, const struct study *s, const struct leaks **ret,
                            struct vrs_error *err) MUST_CHECK;

enum vrs_status parts_training_need(struct parts *parts, const struct study *s,
                                    const struct training_need **ret,
                                    struct vrs_error *err) MUST_CHECK;

/* What the peak consists of, or the final state where there is no trace. */
enum vrs_status parts_categories(struct parts *parts, const struct study *s,
                                 const struct category_table **ret,
                                 struct vrs_error *err) MUST_CHECK;

/* In the study's scratch: who asks for it first releases that only when nobody asks again. */
enum vrs_status parts_counterfactual(struct parts *parts, const struct study *s,
                                     struct counterfactual **ret, struct vrs_error *err) MUST_CHECK;

/* Allocations by line; in the study's scratch too. */
enum vrs_status parts_sites(struct parts *parts, const struct study *s,
                            const struct site_table **ret, struct vrs_error *err) MUST_CHECK;

#endif
