#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/ranks/alignment.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "analysis/snapshot/ranks/mad.h"
#include "analysis/attribution/rank_of_path.h"
#include "analysis/snapshot/ranks/ranks.h"
#include "analysis/snapshot/ranks/summary_moments.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "made/fault.h"
#include "model/ids.h"
#include "render/snapshot/ranks/ranks.h"
#include "render/write/human.h"

enum { UNITS_MOST = 16, SITES_MOST = 4 };

/* Units made by hand: of one rank each, whole, with a name for each site. */
struct made {
    struct device_summary unit[UNITS_MOST];
    struct summary_site site[UNITS_MOST][SITES_MOST];
    struct summary_name name[UNITS_MOST][SITES_MOST];
    struct rank_unit rank[UNITS_MOST];
    uint32_t units;
    bool one_clock;
    struct arena keep, scratch;
    struct ranks ranks;
};

static void add_unit(struct made *m, int64_t peak)
{
    uint32_t i = m->units++;
    m->unit[i] = (struct device_summary){ .peak_bytes = peak,
                                          .common_peak_bytes = peak,
                                          .after_peer_oom_event = -1,
                                          .steps = -1,
                                          .spike_step = -1,
                                          .stranded_bytes = UNKNOWN_U64,
                                          .site = m->site[i],
                                          .name = m->name[i] };
    m->rank[i] = (struct rank_unit){
        .summary = &m->unit[i], .path = S("run"), .file = i, .rank = i, .grade = 'A', .whole = true
    };
}

/* A site of the newest unit; equal keys are one place. */
static void add_site(struct made *m, uint64_t key, const char *name, uint64_t bytes, uint64_t count)
{
    struct device_summary *u = &m->unit[m->units - 1];
    m->site[m->units - 1][u->sites] = (struct summary_site){ key, bytes, count };
    m->name[m->units - 1][u->sites] = (struct summary_name){ str_from(name), str_from(name) };
    u->names = ++u->sites;
}

static enum vrs_status compare(struct made *m)
{
    arena_init(&m->keep, SIZE_MAX);
    arena_init(&m->scratch, SIZE_MAX);
    return ranks_compute(m->rank, m->units, m->one_clock, &m->keep, &m->scratch, &m->ranks, NULL);
}

static void leave(struct made *m)
{
    arena_free(&m->keep);
    arena_free(&m->scratch);
}

static void check_rank(const char *path, int64_t expected)
{
    assert_int_equal(rank_of_path(str_from(path)), expected);
}

static void ranks_are_read_from_names(void **state)
{
    (void)state;
    check_rank("snapshot_rank3.pickle", 3);
    check_rank("snapshot-Rank_12.pickle", 12);
    check_rank("rank-0-step_100.pickle", 0);
    check_rank("rank1_of_rank7.pickle", 7);
    check_rank("out/rank5/snapshot.pickle", 5);
    check_rank("rank5/snapshot_rank6.pickle", 6);
    check_rank("snapshot_7.pickle", 7);
    check_rank("run_2/snapshot.pickle", -1);
    check_rank("a_3_final.pickle", 3);
    check_rank("snapshot.pickle", -1);
    check_rank("snapshot_.pickle", -1);
    check_rank("frank.pickle", -1);
    check_rank("snapshot_20250812101112.pickle", -1);
    check_rank("", -1);
}

static void check_limit(int64_t a, int64_t b, int64_t c, int64_t d, int64_t median, int64_t limit)
{
    int64_t value[] = { a, b, c, d }, got;
    assert_int_equal(mad_limit(value, 4, &got), limit);
    assert_int_equal(got, median);
}

static void limits_of_outliers(void **state)
{
    (void)state;
    check_limit(100, 100, 100, 100, 100, 105);
    check_limit(104, 98, 100, 102, 101, 111);
    check_limit(0, 0, 0, 9, 0, 0);
    check_limit(INT64_MIN, INT64_MAX, 0, 0, 0, INT64_MAX);
    check_limit(INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX, -1, INT64_MAX - 1);
    check_limit(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX);
}

static void the_fullest_bounds_the_job(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    static const int64_t peaks[] = { 1000, 1010, 2000, 990, 1005 };
    for (size_t i = 0; i < 5; i++)
        add_unit(&m, peaks[i]);
    assert_int_equal(compare(&m), VRS_OK);
    assert_int_equal(m.ranks.straggler, 2);
    assert_int_equal(m.ranks.straggler_saving_bytes, 990);
    assert_true(m.ranks.skew_ratio == 2000 / 1005.0);
    assert_int_equal(m.ranks.median_bytes, 1005);
    assert_int_equal(m.ranks.outliers, 1);
    assert_int_equal(m.ranks.outlier[0], 2);
    assert_false(m.ranks.has_pair); /* no unit has sites */
    assert_int_equal(m.ranks.groups, 1);
    assert_int_equal(m.ranks.group[0].units, 5);
    assert_int_equal(m.ranks.group[0].parameter_bytes, UNKNOWN_U64);
    leave(&m);
}

static void few_units_have_no_outliers(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    add_unit(&m, 1000);
    assert_int_equal(compare(&m), VRS_OK);
    assert_true(m.ranks.skew_ratio < 0);
    assert_int_equal(m.ranks.straggler, NO_ROW);
    leave(&m);
    add_unit(&m, 1000);
    add_unit(&m, 9000);
    m.ranks = (struct ranks){ 0 };
    assert_int_equal(compare(&m), VRS_OK);
    assert_true(m.ranks.skew_ratio == 9);
    assert_int_equal(m.ranks.outliers, 0);
    leave(&m);
}

static void cut_files_are_left_out_of_the_median(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    add_unit(&m, 1000);
    add_unit(&m, 1200);
    add_unit(&m, 10);
    m.rank[2].whole = false;
    assert_int_equal(compare(&m), VRS_OK);
    assert_int_equal(m.ranks.median_bytes, 1100);
    assert_true(m.ranks.skew_ratio == 1200 / 1100.0);
    leave(&m);
}

/* The pair of a unit with the sites given and one with half the bytes of "base". */
static void check_pair(struct made *m, const char *verdict, double code, double size, double count)
{
    assert_int_equal(compare(m), VRS_OK);
    assert_true(m->ranks.has_pair);
    const struct rank_pair *pair = &m->ranks.pair;
    assert_string_equal(pair->verdict == NULL ? "none" : pair->verdict, verdict);
    assert_true(pair->code_ratio == code && pair->size_ratio == size && pair->count_ratio == count);
    leave(m);
}

static void make_pair(struct made *m)
{
    *m = (struct made){ .units = 0 };
    add_unit(m, 100);
    add_site(m, 1, "base", 100, 10);
    add_unit(m, 1000);
}

static void pairs_have_a_cause(void **state)
{
    (void)state;
    struct made m;
    make_pair(&m);
    add_site(&m, 1, "base", 1000, 10);
    check_pair(&m, "larger tensors", 0, 0.9, 0);
    make_pair(&m);
    add_site(&m, 1, "base", 1000, 100);
    check_pair(&m, "more tensors", 0, 0, 0.9);
    make_pair(&m);
    add_site(&m, 2, "new", 900, 1);
    add_site(&m, 1, "base", 100, 10);
    check_pair(&m, "different code", 0.9, 0, 0);
    make_pair(&m);
    add_site(&m, 1, "base", 500, 30); /* 200 more by number, 200 by size */
    add_site(&m, 2, "new", 500, 1);
    check_pair(&m, "mixed", 0.5, 0.2, 0.2);
    make_pair(&m);
    add_site(&m, 1, "base", 1000, 5); /* fewer, but much larger */
    check_pair(&m, "larger tensors", 0, 0.9, 0);
    make_pair(&m);
    add_site(&m, 1, "base", 90, 10);
    check_pair(&m, "none", 0, 0, 0);
}

static void rows_are_the_sites_of_both(void **state)
{
    (void)state;
    struct made m;
    make_pair(&m);
    add_site(&m, 9, "new", 600, 2);
    add_site(&m, 1, "base", 300, 10);
    m.unit[0].sites = m.unit[0].names = 2;
    m.site[0][1] = (struct summary_site){ 5, 50, 1 };
    m.name[0][1] = (struct summary_name){ S("gone"), S("gone") };
    assert_int_equal(compare(&m), VRS_OK);
    const struct rank_pair *pair = &m.ranks.pair;
    static const char *const names[] = { "new", "base", "gone" };
    assert_int_equal(pair->rows, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(str_equal(pair->row[i].name, str_from(names[i])));
    assert_int_equal(pair->row[1].worst_bytes, 300);
    assert_int_equal(pair->row[1].reference_bytes, 100);
    assert_int_equal(pair->row[2].worst_count, 0);
    assert_int_equal(pair->row[2].reference_count, 1);
    assert_int_equal(pair->largest_row, 0);
    leave(&m);
}

/* Shards are compared with their like: the large one is no outlier among large ones. */
static void groups_have_equal_parameters(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    for (uint32_t i = 0; i < 8; i++) {
        add_unit(&m, i < 4 ? 1000 + i : 5000 + i);
        add_site(&m, 1, "base", 100, 10);
        m.unit[i].categorised = true;
        m.unit[i].category_bytes[CATEGORY_PARAMETER] = i < 4 ? 10000 + i : 40000;
    }
    assert_int_equal(compare(&m), VRS_OK);
    assert_int_equal(m.ranks.groups, 2);
    assert_int_equal(m.ranks.group[0].parameter_bytes, 10000);
    assert_int_equal(m.ranks.group[0].units, 4);
    assert_int_equal(m.ranks.group[1].unit[3], 7);
    assert_int_equal(m.ranks.outliers, 0);
    assert_int_equal(m.ranks.straggler, 7);
    assert_int_equal(m.ranks.pair.reference, 5);
    leave(&m);
}

/* Steps, ranges of one name and a clock of a microsecond a span. */
static void give_moments(struct made *m, int64_t *step, uint32_t steps, struct summary_range *range,
                         uint32_t ranges, uint64_t begin_us)
{
    struct device_summary *u = &m->unit[m->units - 1];
    u->moments = (struct summary_moments){ .step_peak = step,
                                           .steps = steps,
                                           .range = range,
                                           .ranges = ranges,
                                           .timed = begin_us != 0,
                                           .begin_us = begin_us,
                                           .end_us = begin_us + UNIT_SPANS - 1,
                                           .span_us = 1 };
    for (uint32_t i = 0; i < UNIT_SPANS; i++)
        u->moments.most[i] = (int64_t)i;
}

static void moments_of(struct made *m, enum aligned_by by, uint32_t moments, uint32_t straggler)
{
    assert_int_equal(compare(m), VRS_OK);
    assert_int_equal(m->ranks.alignment.by, by);
    assert_int_equal(m->ranks.alignment.moments, moments);
    assert_int_equal(m->ranks.straggler_moments, straggler);
}

static void steps_then_annotations_then_clocks_are_aligned(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    int64_t one[] = { 10, 30, 50 }, two[] = { 20, 15 };
    struct summary_range a[] = { { S("x"), 0, 7 }, { S("y"), 0, 1 }, { S("x"), 1, 9 } };
    struct summary_range b[] = { { S("x"), 1, 8 }, { S("z"), 0, 5 }, { S("x"), 0, 8 } };
    add_unit(&m, 100);
    give_moments(&m, one, 3, a, 3, 1000);
    add_unit(&m, 200);
    give_moments(&m, two, 2, b, 3, 1020);
    moments_of(&m, ALIGNED_STEP, 2, 1);
    assert_int_equal(m.ranks.alignment.moment[1].worst, 0);
    assert_int_equal(m.ranks.alignment.moment[1].median_bytes, 22);
    assert_true(m.ranks.alignment.moment[1].skew_ratio == 30 / 22.0);
    leave(&m);
    m.unit[0].moments.steps = 0;
    moments_of(&m, ALIGNED_ANNOTATION, 2, 1);
    assert_int_equal(m.ranks.alignment.moment[1].nth, 1);
    assert_int_equal(m.ranks.alignment.moment[1].worst_bytes, 9);
    leave(&m);
    m.unit[1].moments.ranges = 0;
    moments_of(&m, ALIGNED_NOT, 0, 0);
    leave(&m);
    m.one_clock = true;
    moments_of(&m, ALIGNED_CLOCK, 1, 0);
    assert_true(m.ranks.alignment.exact);
    assert_true(m.ranks.alignment.from_us == 1020 && m.ranks.alignment.to_us == 1063);
    assert_int_equal(m.ranks.alignment.moment[0].worst_bytes, 63);
    assert_int_equal(m.ranks.alignment.moment[0].median_bytes, 53);
    leave(&m);
    give_moments(&m, NULL, 0, NULL, 0, 1040); /* less than half is common */
    moments_of(&m, ALIGNED_NOT, 0, 0);
    leave(&m);
    give_moments(&m, NULL, 0, NULL, 0, UINT64_MAX - UNIT_SPANS);
    moments_of(&m, ALIGNED_NOT, 0, 0);
    leave(&m);
}

/* Whether the straggler is counted in the steps, and the rest of what is said of them. */
static void check_counted(struct made *m, bool counted, const char *words)
{
    static const struct style style = { .width = 300, .ascii = true };
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    assert_int_equal(compare(m), VRS_OK);
    assert_int_equal(m->ranks.straggler, 2);
    assert_int_equal(m->ranks.straggler_aligned, counted);
    assert_int_equal(m->ranks.alignment.by, ALIGNED_STEP);
    ranks_text(&text, &style, &m->ranks, false);
    ranks_worst_text(&text, &style, &m->ranks, false);
    buf_char(&text, '\0');
    assert_int_equal(strstr(text.at, "has the highest peak") != NULL, counted);
    if (strstr(text.at, words) == NULL)
        fail_msg("\"%s\" is not in %s", words, text.at);
    buf_free(&text);
    leave(m);
}

static void a_straggler_may_be_in_none_of_the_moments(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    int64_t one[] = { 1024, 1024 }, two[] = { 1024, 2048 }, three[] = { 3072, 1024 };
    int64_t *steps[] = { one, two, three };
    for (uint32_t i = 0; i < 3; i++) {
        add_unit(&m, 1000 + 500 * i);
        give_moments(&m, steps[i], 2, NULL, 0, 0);
        m.rank[i].rank_named = true;
    }
    check_counted(&m, true, "in 1 of 2 steps rank 2 has the highest peak; most uneven is step 1");
    m.rank[2].whole = false;
    check_counted(&m, false, "steps    most uneven is step 2: rank 1 with 2.00 KiB, 1.33 times");
    m.rank[2].whole = true;
    m.unit[2].moments.steps = 0;
    check_counted(&m, false, "steps    most uneven is step 2: rank 1 with 2.00 KiB, 1.33 times");
    two[1] = 1024; /* then nothing is left to be said of the steps */
    check_counted(&m, false, "rank 2 (run) bounds the job");
}

/* A span that ends beyond the largest time there is. */
static void spans_at_the_end_of_time_do_not_wrap(void **state)
{
    (void)state;
    struct summary_moments m = {
        .timed = true,
        .begin_us = ((uint64_t)1 << 63) + 1,
        .end_us = UINT64_MAX - 1,
        .span_us = (uint64_t)1 << 57,
        .most = { [UNIT_SPANS - 1] = 7 },
    };
    int64_t most;
    assert_false(summary_moments_between(&m, m.begin_us, m.end_us - 1, &most));
    assert_int_equal(most, 7);
    assert_true(summary_moments_between(&m, m.begin_us, m.end_us, &most));
    assert_int_equal(most, 7);
}

/* What is said of groups of two, of which all but the first differ in their gradients. */
static void check_shards(uint32_t groups, const char *more)
{
    static const struct style style = { .width = 300, .ascii = true };
    struct made m = { .units = 0 };
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    for (uint32_t i = 0; i < 2 * groups; i++) {
        add_unit(&m, 1000);
        m.unit[i].categorised = true;
        m.unit[i].category_bytes[CATEGORY_PARAMETER] = 10000 * (i / 2 + 1);
        m.unit[i].gradients_most_bytes = i > 1 && i % 2 == 1 ? 2000 : 1000;
    }
    assert_int_equal(compare(&m), VRS_OK);
    assert_int_equal(m.ranks.groups, groups);
    ranks_text(&text, &style, &m.ranks, false);
    buf_char(&text, '\0');
    uint32_t said = 0;
    for (const char *at = text.at; (at = strstr(at, "the gradients differ")) != NULL; at++)
        said++;
    assert_int_equal(said, groups < 6 ? groups - 1 : 5);
    if (more == NULL)
        assert_null(strstr(text.at, " more group"));
    else if (strstr(text.at, more) == NULL)
        fail_msg("\"%s\" is not in %s", more, text.at);
    buf_free(&text);
    leave(&m);
}

static void groups_that_are_not_told_are_counted(void **state)
{
    (void)state;
    check_shards(6, NULL);
    check_shards(7, "in 1 more group of equal parameters the gradients or optimizer states differ");
    check_shards(8, "in 2 more groups of equal parameters the gradients");
}

static void a_group_may_differ_in_what_should_be_equal(void **state)
{
    (void)state;
    struct made m = { .units = 0 };
    for (uint32_t i = 0; i < 4; i++) {
        add_unit(&m, 1000);
        m.unit[i].categorised = true;
        m.unit[i].category_bytes[CATEGORY_PARAMETER] = i < 3 ? 10000 : 90000;
        m.unit[i].category_bytes[CATEGORY_OPTIMIZER_STATE] = 20000 + i * 100;
        m.unit[i].gradients_most_bytes = i == 1 ? 0 : 10000 + i * 51; /* of one not known */
    }
    assert_int_equal(compare(&m), VRS_OK);
    assert_int_equal(m.ranks.group[0].differences, 1);
    const struct rank_difference *d = &m.ranks.group[0].difference[0];
    assert_int_equal(d->category, CATEGORY_GRADIENT);
    assert_int_equal(d->least, 0);
    assert_int_equal(d->most, 2);
    assert_true(d->least_bytes == 10000 && d->most_bytes == 10102);
    assert_int_equal(m.ranks.group[1].differences, 0);
    leave(&m);
    m.unit[2].gradients_most_bytes = 10100; /* 1 % is equal */
    m.unit[2].category_bytes[CATEGORY_OPTIMIZER_STATE] = 30000;
    m.rank[2].whole = false;
    assert_int_equal(compare(&m), VRS_OK);
    assert_int_equal(m.ranks.group[0].differences, 0);
    leave(&m);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct made m;
    int64_t step[] = { 1, 2 };
    struct summary_range range[] = { { S("x"), 0, 7 } };
    make_pair(&m);
    add_site(&m, 9, "new", 600, 2);
    m.one_clock = true;
    for (uint32_t i = m.units = 0; i < 2; i++) {
        m.units++;
        give_moments(&m, step, i, range, 1, 1000);
    }
    bool fired = true;
    for (long n = 0; fired; n++) {
        fault_left = n;
        enum vrs_status status = compare(&m);
        fired = fault_left < 0;
        fault_left = -1;
        leave(&m);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_read_from_names),
        cmocka_unit_test(limits_of_outliers),
        cmocka_unit_test(the_fullest_bounds_the_job),
        cmocka_unit_test(few_units_have_no_outliers),
        cmocka_unit_test(cut_files_are_left_out_of_the_median),
        cmocka_unit_test(pairs_have_a_cause),
        cmocka_unit_test(rows_are_the_sites_of_both),
        cmocka_unit_test(groups_have_equal_parameters),
        cmocka_unit_test(steps_then_annotations_then_clocks_are_aligned),
        cmocka_unit_test(a_straggler_may_be_in_none_of_the_moments),
        cmocka_unit_test(spans_at_the_end_of_time_do_not_wrap),
        cmocka_unit_test(groups_that_are_not_told_are_counted),
        cmocka_unit_test(a_group_may_differ_in_what_should_be_equal),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
