/* test_study_jobs.c - what jobs about a study leave behind, on one thread and on several. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/study/study_jobs.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/ids.h"
#include "model/recording.h"

/* EVENTS are enough for every number of lanes; STACKS: none, and one for each job. */
enum { JOBS = 20, LANES_MOST = 4, STACKS = JOBS + 1, EVENTS = 40000 };

/* Each job has a stack, which the allocs and frees of its turns have too. */
static void make_stacks(struct recording *r)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        struct line line = { "step", "/home/user/train.py", 7 + i };
        assert_int_equal(sample_stack(r, &line, 1).n, i + 1);
    }
    assert_int_equal(r->code.stacks.rows.len, STACKS);
}

/* Room for all that was made, a few at a time. */
static void make_events(struct recording *r)
{
    char text[64];
    for (uint32_t i = 0; i < EVENTS; i += 2) {
        uint32_t size = 512 + i % 400 * 512;
        snprintf(text, sizeof text, "a 1000 %u; f 1000 %u", size, size);
        sample_events(r, text);
        r->events.stack[i] = r->events.stack[i + 1] = 1 + i / 2 % JOBS;
    }
}

static void make(struct studied *s, uint32_t threads)
{
    studied_begin(s);
    s->agreement.refusal = REFUSED_ASKED;
    sample_segment(&s->r, 0x1000, 2 << 20);
    sample_block(&s->r, 2 << 20, 0, BLOCK_INACTIVE);
    make_stacks(&s->r);
    make_events(&s->r);
    studied_make(s, "");
    s->study.threads = threads;
    /* To be judged again, as a job. */
    s->proven = proven_study_of(&s->study, &s->proof, NULL);
}

struct work {
    const struct study *study; /* that the jobs are about, the first lane's */
    uint32_t fails;            /* from this job on all do */
    bool done[JOBS];
    str kept[JOBS];
    uint32_t *left[JOBS]; /* in scratch */
    atomic_uint by_others;
    bool held; /* the first lane was */
};

/* Keeps its number in words, leaves it in scratch, and shows its own stack. */
static enum vrs_status job(void *arg, uint32_t i, const struct proven_study *proven,
                           struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct work *work = arg;
    struct site_ref site;
    char text[16];
    work->done[i] = true;
    if (i >= work->fails)
        return vrs_fail(err, VRS_USAGE, "job %u", i);
    snprintf(text, sizeof text, "kept %u", i);
    work->kept[i] = arena_copy(s->keep, str_from(text));
    work->left[i] = arena_array(s->scratch, uint32_t, 1);
    if (work->kept[i].ptr == NULL || work->left[i] == NULL)
        return vrs_no_memory(err);
    *work->left[i] = i;
    return study_site(s, (stack_id){ 1 + i }, &site, err);
}

static void check_left(const struct study *s, const struct work *work)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        char text[16];
        snprintf(text, sizeof text, "kept %u", i);
        assert_true(work->done[i]);
        assert_true(str_equal(work->kept[i], str_from(text)));
        assert_int_equal(*work->left[i], i);
        assert_true(s->shown[1 + i]);
    }
    assert_false(s->shown[0]);
}

static void all_jobs_are_done_and_their_stacks_shown(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads < 2 * JOBS; threads += 6) {
        struct studied s;
        struct work work = { .fails = JOBS };
        make(&s, threads);
        assert_int_equal(study_jobs_run(&s.proven, JOBS, job, &work, NULL), VRS_OK);
        check_left(&s.study, &work);
        studied_end(&s);
    }
}

static void the_first_job_that_fails_tells_why(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads < 2 * JOBS; threads += 6) {
        struct studied s;
        struct work work = { .fails = 3 };
        struct vrs_error err = { .status = VRS_OK };
        make(&s, threads);
        assert_int_equal(study_jobs_run(&s.proven, JOBS, job, &work, &err), VRS_USAGE);
        assert_string_equal(err.message, "job 3");
        studied_end(&s);
    }
}

/* Lanes besides the first. */

static bool alone; /* there are none: this machine has no second thread to give */

/* Returns when so many jobs were done by others, or after a while. */
static void wait_for_others(atomic_uint *by_others, uint32_t jobs)
{
    enum { WAITS = 20000 };
    const struct timespec millisecond = { 0, 1000000 };
    for (uint32_t i = 0; i < WAITS && atomic_load(by_others) < jobs; i++)
        nanosleep(&millisecond, NULL);
}

static void hold_the_first(void *arg, uint32_t i, uint32_t thread)
{
    (void)thread;
    if (i == 0)
        wait_for_others(arg, 1);
    else
        atomic_fetch_add((atomic_uint *)arg, 1);
    /* The second is done by the same thread where there is no other: too late to be counted. */
    if (i == 0 && atomic_load((atomic_uint *)arg) == 0)
        atomic_store((atomic_uint *)arg, UINT32_MAX / 2);
}

/* Once: a lane that is alone would wait for each of its jobs. */
static void hold_the_first_lane(struct work *work, uint32_t jobs)
{
    if (!work->held && !alone)
        wait_for_others(&work->by_others, jobs - 1);
    work->held = true;
}

/* The first lane then does all, and the outcome has to be the same. */
static int find_whether_alone(void **state)
{
    (void)state;
    atomic_uint by_others = 0;
    pool_run(2, &(struct pool_work){ 2, hold_the_first, NULL, &by_others });
    alone = by_others != 1;
    if (alone)
        print_message("# no second thread can be had here: one lane is tested\n");
    return 0;
}

/* As `job`, but the first lane gets only one, which it holds until all others are done. */
static enum vrs_status job_elsewhere(void *arg, uint32_t i, const struct proven_study *proven,
                                     struct vrs_error *err)
{
    struct work *work = arg;
    enum vrs_status status = job(arg, i, proven, err);
    if (proven->study == work->study)
        hold_the_first_lane(work, JOBS);
    else
        atomic_fetch_add(&work->by_others, 1);
    return status;
}

static void what_other_lanes_left_is_the_studys(void **state)
{
    (void)state;
    for (uint32_t threads = 2; threads <= LANES_MOST; threads++) {
        struct studied s;
        make(&s, threads);
        struct work work = { .study = &s.study, .fails = JOBS };
        assert_int_equal(study_jobs_run(&s.proven, JOBS, job_elsewhere, &work, NULL), VRS_OK);
        assert_true(alone || work.by_others >= JOBS - 1);
        check_left(&s.study, &work);
        studied_end(&s);
    }
}

/* Parts. */

static const enum part_job part_jobs[] = { JOB_TIMELINE, JOB_LEAKS,     JOB_CATEGORIES,
                                           JOB_TRUST,    JOB_FRAGMENTS, JOB_SITES };
enum { PART_JOBS = sizeof part_jobs / sizeof *part_jobs };

struct part_work {
    struct work work;
    struct parts parts;
    struct studied *s;
    struct lock *lock[PART_JOBS]; /* a part is made by one thread */
};

static enum vrs_status make_part(struct part_work *w, uint32_t job, const struct proven_study *by,
                                 struct vrs_error *err)
{
    const struct parts_of_study of = { &w->parts, &w->s->study, &w->s->proven };
    return parts_do_job(&of, part_jobs[job], by, err);
}

/* Each part twice: the first lane holds one job and makes nothing, so another made each; unless it
 * is alone. */
static enum vrs_status part_elsewhere(void *arg, uint32_t i, const struct proven_study *proven,
                                      struct vrs_error *err)
{
    struct part_work *w = arg;
    uint32_t job = i % PART_JOBS;
    if (proven->study == w->work.study && !alone) {
        hold_the_first_lane(&w->work, 2 * PART_JOBS);
        return VRS_OK;
    }
    lock_take(w->lock[job]);
    enum vrs_status status = make_part(w, job, proven, err);
    lock_give(w->lock[job]);
    atomic_fetch_add(&w->work.by_others, 1);
    return status;
}

static void check_timeline(const struct timeline *a, const struct timeline *b)
{
    for (uint32_t i = 0; i < TIME_CURVES; i++) {
        const struct time_curve *x = &a->curve[i], *y = &b->curve[i];
        assert_int_equal(x->exact, y->exact);
        assert_int_equal(x->peak_bytes, y->peak_bytes);
        assert_int_equal(x->peak_event, y->peak_event);
        assert_int_equal(x->points, y->points);
        for (uint32_t k = 0; k < x->points; k++) {
            assert_int_equal(x->point[k].event, y->point[k].event);
            assert_int_equal(x->point[k].bytes, y->point[k].bytes);
        }
    }
}

static void check_tables(const struct study_parts *a, const struct study_parts *b)
{
    const struct category_table *x = a->categories, *y = b->categories;
    assert_int_equal(x->at_event, y->at_event);
    assert_int_equal(x->total_bytes, y->total_bytes);
    assert_int_equal(x->rows, y->rows);
    for (uint32_t i = 0; i < x->rows; i++) {
        assert_int_equal(x->row[i].category, y->row[i].category);
        assert_int_equal(x->row[i].bytes, y->row[i].bytes);
        assert_true(str_equal(x->row[i].largest.culprit, y->row[i].largest.culprit));
    }
    const struct site_table *s = a->sites, *t = b->sites;
    assert_int_equal(s->sites, t->sites);
    for (uint32_t i = 0; i < a->of->lifetimes.count; i++)
        assert_int_equal(s->of[i], t->of[i]);
}

static void check_trust(const struct trust *a, const struct trust *b)
{
    assert_in_range(a->grade, 'A', 'D');
    assert_int_equal(a->grade, b->grade);
    assert_int_equal(a->items, b->items);
    for (uint32_t i = 0; i < a->items; i++)
        assert_true(str_equal(a->item[i].text, b->item[i].text));
}

static void check_parts(const struct part_work *one, const struct part_work *other)
{
    const struct study_parts *a = one->parts.first, *b = other->parts.first;
    assert_non_null(a);
    assert_ptr_equal(a->of, &one->s->study);
    assert_null(a->next);
    assert_non_null(one->s->proven.basis);
    check_trust(&one->s->proven.trust, &other->s->proven.trust);
    assert_non_null(a->timeline);
    assert_non_null(a->leaks);
    assert_non_null(a->training_need);
    assert_non_null(a->categories);
    assert_non_null(a->sites);
    assert_non_null(a->counterfactual);
    assert_int_equal(a->fragments != NULL, b->fragments != NULL);
    check_timeline(a->timeline, b->timeline);
    check_tables(a, b);
    assert_int_equal(a->leaks->moments, b->leaks->moments);
    assert_int_equal(a->leaks->sites, b->leaks->sites);
    assert_int_equal(a->counterfactual->states, b->counterfactual->states);
    for (uint32_t i = 0; i < STACKS; i++)
        assert_int_equal(a->of->shown[i], b->of->shown[i]);
}

static void make_on_one_thread(struct studied *s, struct part_work *ret)
{
    make(s, 1);
    *ret = (struct part_work){ .s = s };
    for (uint32_t i = 0; i < PART_JOBS; i++)
        assert_int_equal(make_part(ret, i, &s->proven, NULL), VRS_OK);
}

static void parts_of_other_lanes_are_the_studys(void **state)
{
    (void)state;
    struct studied one, s;
    struct part_work wanted;
    make_on_one_thread(&one, &wanted);
    for (uint32_t threads = 2; threads <= LANES_MOST; threads++) {
        make(&s, threads);
        struct part_work w = { .work.study = &s.study, .s = &s };
        for (uint32_t i = 0; i < PART_JOBS; i++)
            assert_non_null(w.lock[i] = lock_make(&s.scratch));
        assert_int_equal(parts_know(&w.parts, &s.study, NULL), VRS_OK);
        assert_int_equal(study_jobs_run(&s.proven, 2 * PART_JOBS, part_elsewhere, &w, NULL),
                         VRS_OK);
        assert_true(alone || w.work.by_others >= 2 * PART_JOBS - 1);
        check_parts(&w, &wanted);
        for (uint32_t i = 0; i < PART_JOBS; i++)
            lock_end(w.lock[i]);
        studied_end(&s);
    }
    studied_end(&one);
}

/* The parts themselves, as the cache has them afterwards. */
static void parts_are_made_once_wherever_that_was(void **state)
{
    (void)state;
    struct studied one;
    struct part_work wanted;
    make_on_one_thread(&one, &wanted);
    for (uint32_t threads = 2; threads < 8; threads += 2) {
        struct studied s;
        const struct timeline *timeline = NULL;
        make(&s, threads);
        struct part_work w = { .s = &s };
        assert_int_equal(parts_make_for_report(&w.parts, &s.proven, NULL), VRS_OK);
        check_parts(&w, &wanted);
        assert_int_equal(parts_timeline(&w.parts, &s.proven, &timeline, NULL), VRS_OK);
        assert_ptr_equal(timeline, w.parts.first->timeline);
        studied_end(&s);
    }
    studied_end(&one);
}

/* Two studies have parts of their own in one cache, each found by its address. */
static void a_part_is_of_one_study(void **state)
{
    (void)state;
    struct studied a, b;
    struct parts parts = { NULL };
    const struct leaks *of_a = NULL, *of_b = NULL, *again = NULL;
    make(&a, 1);
    make(&b, 1);
    assert_int_equal(parts_leaks(&parts, &a.study, &of_a, NULL), VRS_OK);
    assert_int_equal(parts_leaks(&parts, &b.study, &of_b, NULL), VRS_OK);
    assert_ptr_not_equal(of_a, of_b);
    assert_int_equal(parts_leaks(&parts, &a.study, &again, NULL), VRS_OK);
    assert_ptr_equal(again, of_a);
    studied_end(&a);
    studied_end(&b);
}

/* Of the lanes alone: the study is there. */
static enum vrs_status run_on_three(void *arg)
{
    struct work work = { .fails = JOBS };
    return study_jobs_run(arg, JOBS, job, &work, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct studied s;
    make(&s, 3);
    fault_each(run_on_three, NULL, &s.proven);
    studied_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_jobs_are_done_and_their_stacks_shown),
        cmocka_unit_test(the_first_job_that_fails_tells_why),
        cmocka_unit_test(what_other_lanes_left_is_the_studys),
        cmocka_unit_test(parts_of_other_lanes_are_the_studys),
        cmocka_unit_test(parts_are_made_once_wherever_that_was),
        cmocka_unit_test(a_part_is_of_one_study),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, find_whether_alone, NULL);
}
