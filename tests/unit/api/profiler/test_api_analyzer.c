#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vramscope/analyzer.h>
#include <vramscope/error.h>
#include <vramscope/statistics.h>

#include "made/fault.h"

#define GIB (INT64_C(1) << 30)

enum { COUNT = 10 };

static const uint32_t function[COUNT], rank[COUNT] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 }, job[COUNT];
static const double at[COUNT] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
static const int64_t bytes[COUNT] = { 0,       GIB,     2 * GIB, 3 * GIB, 4 * GIB,
                                      5 * GIB, 6 * GIB, 7 * GIB, 8 * GIB, 90 * GIB };
static const int64_t grown[COUNT] = { GIB, GIB, GIB, GIB, GIB, GIB, GIB, GIB, GIB, 40 * GIB };
static const int64_t numbers[] = { 0, 1 }, none[COUNT];
static const uint8_t yes[COUNT] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static const struct vrs_calls calls = { sizeof calls, COUNT, 1,     function, at,   at,
                                        none,         bytes, bytes, bytes,    grown, grown };
static const struct vrs_samples samples = { .size = sizeof samples,
                                            .count = COUNT,
                                            .time_ns = bytes,
                                            .ranks = 2,
                                            .rank = rank,
                                            .rank_number = numbers,
                                            .job = job,
                                            .world_size = none,
                                            .interval_ms = none,
                                            .used_bytes = bytes,
                                            .total_bytes = bytes,
                                            .reserved_bytes = none,
                                            .allocated_bytes = none,
                                            .sampled = yes,
                                            .marked = yes };
static const struct vrs_collective_limits limits = { sizeof limits, 3, 0, 0, 0, 0, 0, 0, 0, 0 };

static enum vrs_status ask(int which, struct vrs_findings **ret, struct vrs_error *err)
{
    uint64_t dropped;
    switch (which) {
    case 0:
        return vrs_patterns(&calls, NULL, ret, err);
    case 1:
        return vrs_insights(&calls, NULL, ret, err);
    case 2:
        return vrs_gaps(&samples, NULL, ret, &dropped, err);
    case 3:
        return vrs_collectives(&samples, &limits, ret, &dropped, err);
    case 4:
        return vrs_first_cause(&samples, NULL, ret, &dropped, err);
    default:
        return vrs_series(at, COUNT, NULL, ret, err);
    }
}

enum { QUESTIONS = 6 };

static void every_question_finds_something(void **state)
{
    (void)state;
    for (int i = 0; i < QUESTIONS; i++) {
        struct vrs_findings *found = NULL;
        assert_int_equal(ask(i, &found, NULL), VRS_OK);
        assert_true(vrs_findings_count(found) > 0);
        struct vrs_finding row = vrs_finding(found, 0);
        assert_true(row.figures > 0 && strlen(row.kind) > 0);
        assert_true(strlen(vrs_figure(found, 0, row.figures - 1).name) > 0);
        vrs_findings_close(found);
    }
    vrs_findings_close(NULL);
}

static enum vrs_status with_less_memory(void *arg)
{
    struct vrs_findings *found = NULL;
    struct vrs_error err;
    enum vrs_status status = ask(*(const int *)arg, &found, &err);
    if (status != VRS_OK) {
        assert_null(found);
        assert_int_equal(err.status, VRS_NOMEM);
    }
    vrs_findings_close(found);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int i = 0; i < QUESTIONS; i++)
        fault_each(with_less_memory, NULL, &i);
}

static void what_does_not_exist_is_refused(void **state)
{
    (void)state;
    struct vrs_findings *found = NULL;
    struct vrs_error err;
    struct vrs_calls wrong_calls = calls;
    struct vrs_samples wrong_samples = samples;
    struct vrs_collective_limits wrong_limits = limits;
    wrong_calls.functions = 0;
    assert_int_equal(vrs_patterns(&wrong_calls, NULL, &found, &err), VRS_USAGE);
    assert_string_equal(err.message, "call 0 is of function 0, but there are only 0");
    wrong_samples.ranks = 1;
    assert_int_equal(vrs_gaps(&wrong_samples, NULL, &found, NULL, &err), VRS_USAGE);
    assert_string_equal(err.message, "sample 1 is of rank 1, but there are only 1");
    wrong_limits.padding_ns = -1;
    assert_int_equal(vrs_collectives(&samples, &wrong_limits, &found, NULL, &err), VRS_USAGE);
    wrong_calls.count = (size_t)UINT32_MAX;
    assert_int_equal(vrs_insights(&wrong_calls, NULL, &found, &err), VRS_LIMIT);
    assert_null(found);
}

static void thresholds_are_the_callers(void **state)
{
    (void)state;
    double value[64];
    size_t count = vrs_threshold_count();
    struct vrs_findings *found = NULL;
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++)
        value[i] = vrs_threshold(i).value;
    assert_string_equal(vrs_threshold(0).name, "memory_leak_ratio");
    assert_false(vrs_threshold(0).whole);
    assert_int_equal(vrs_patterns(&calls, value, &found, NULL), VRS_OK);
    assert_string_equal(vrs_finding(found, 0).kind, "memory_leak");
    vrs_findings_close(found);
    value[0] = 1;
    assert_int_equal(vrs_patterns(&calls, value, &found, NULL), VRS_OK);
    for (size_t i = 0; i < vrs_findings_count(found); i++)
        assert_string_not_equal(vrs_finding(found, i).kind, "memory_leak");
    vrs_findings_close(found);
}

static void totals_and_scores(void **state)
{
    (void)state;
    struct vrs_calls_totals total;
    assert_int_equal(vrs_calls_total(&calls, &total, NULL), VRS_OK);
    assert_true(total.grown_bytes == 49 * GIB && total.seconds == 45);
    assert_true(total.shrunk_bytes == 49 * GIB && total.net_bytes == 0);
    assert_true(total.peak_bytes == 90 * GIB && total.mean_seconds == 4.5);
    assert_true(total.mean_grown_bytes == 4.9 * (double)GIB);
    struct vrs_score score =
        vrs_score((const uint64_t[]){ 1, 1, 0 }, (const uint64_t[]){ 0, 1, 1 });
    assert_int_equal(score.points, 100 - 5 - 10 - 8 - 15);
    assert_int_equal(score.grade, 'D');
}

static void statistics_have_public_names(void **state)
{
    (void)state;
    double value[] = { 9, 1, 4, 2 }, z[1];
    vrs_statistics_sort(value, 4);
    assert_true(value[0] == 1 && value[3] == 9);
    assert_true(vrs_statistics_mean(value, 4) == 4);
    assert_true(vrs_statistics_deviation(value, 4) == sqrt(9.5));
    assert_true(vrs_statistics_percentile(value, 4, 0.5) == 3);
    assert_true(vrs_statistics_quartiles(value, 4).high == 5.25);
    assert_true(vrs_statistics_mad(value, 4) == 1.5);
    vrs_statistics_robust_z(value, 4, value, 1, z);
    assert_true(fabs(z[0] + 2 * 0.6745 / 1.5) < 1e-15);
    struct vrs_line line = vrs_statistics_line(at, at, COUNT);
    assert_true(line.slope == 1 && line.intercept == 0 && line.r == 1 && line.p == 0);
    assert_true(vrs_statistics_pearson(at, at, COUNT) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_question_finds_something),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_does_not_exist_is_refused),
        cmocka_unit_test(thresholds_are_the_callers),
        cmocka_unit_test(totals_and_scores),
        cmocka_unit_test(statistics_have_public_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
