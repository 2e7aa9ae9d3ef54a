/* test_study_jobs.c - what jobs about a study leave behind, on one thread and on several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/parts.h"
#include "analysis/study_jobs.h"
#include "studied.h"

enum { JOBS = 20, STACKS = 2 };

static const struct line user = { "step", "/home/user/train.py", 7 };

static void make(struct studied *s, uint32_t threads)
{
    studied_begin(s);
    s->agreement.refusal = REFUSED_ASKED;
    sample_segment(&s->r, 0x1000, 2 << 20);
    sample_block(&s->r, 2 << 20, 0, BLOCK_INACTIVE);
    sample_stack(&s->r, &user, 1);
    sample_events(&s->r, "a 1000 600; f 1000 600; a 1000 700; f 1000 700");
    studied_make(s, "");
    s->study.threads = threads;
    assert_int_equal(s->r.stacks.rows.len, STACKS);
}

struct work {
    bool done[JOBS];
    uint32_t fails; /* from this job on all do */
};

/* Keeps a line, takes scratch that stays, and shows the stack. */
static enum vrs_status job(void *arg, uint32_t i, struct study *s, struct vrs_error *err)
{
    struct work *work = arg;
    struct site_ref site;
    work->done[i] = true;
    if (i >= work->fails)
        return vrs_fail(err, VRS_USAGE, "job %u", i);
    if (arena_copy(s->keep, S("kept")).ptr == NULL || arena_take(s->scratch, 100) == NULL)
        return vrs_no_memory(err);
    return study_site(s, (stack_id){ STACKS - 1 }, &site, err);
}

static void all_jobs_are_done_and_their_stacks_shown(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads < 2 * JOBS; threads += 3) {
        struct studied s;
        struct work work = { .fails = JOBS };
        make(&s, threads);
        assert_int_equal(study_jobs_run(&s.study, JOBS, job, &work, NULL), VRS_OK);
        for (uint32_t i = 0; i < JOBS; i++)
            assert_true(work.done[i]);
        assert_true(s.study.shown[STACKS - 1]);
        studied_end(&s);
    }
}

static void the_first_job_that_fails_tells_why(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads < 2 * JOBS; threads += 3) {
        struct studied s;
        struct work work = { .fails = 3 };
        struct vrs_error err = { .status = VRS_OK };
        make(&s, threads);
        assert_int_equal(study_jobs_run(&s.study, JOBS, job, &work, &err), VRS_USAGE);
        assert_string_equal(err.message, "job 3");
        studied_end(&s);
    }
}

/* The parts themselves, as the study has them afterwards. */
static void parts_are_made_once_wherever_that_was(void **state)
{
    (void)state;
    for (uint32_t threads = 2; threads < 8; threads++) {
        struct studied s;
        const struct timeline *timeline = NULL;
        make(&s, threads);
        assert_int_equal(parts_make(&s.study, PARTS_OF_REPORT, NULL), VRS_OK);
        assert_true(s.study.proven);
        assert_non_null(s.study.made.growth);
        assert_non_null(s.study.made.estimate);
        assert_non_null(s.study.made.categories);
        assert_non_null(s.study.made.sites);
        assert_non_null(s.study.made.counterfactual);
        assert_int_equal(parts_timeline(&s.study, &timeline, NULL), VRS_OK);
        assert_ptr_equal(timeline, s.study.made.timeline);
        assert_int_equal(timeline->curve[TIME_REQUESTED].peak_bytes, 700);
        studied_end(&s);
    }
}

static enum vrs_status run_on_three(struct studied *s)
{
    struct work work = { .fails = JOBS };
    s->study.threads = 3;
    return study_jobs_run(&s->study, JOBS, job, &work, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct studied s;
    make(&s, 3);
    studied_without_memory(&s, run_on_three);
    studied_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_jobs_are_done_and_their_stacks_shown),
        cmocka_unit_test(the_first_job_that_fails_tells_why),
        cmocka_unit_test(parts_are_made_once_wherever_that_was),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
