#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "profiler/analyzer/calls.h"
#include "profiler/analyzer/findings.h"
#include "profiler/analyzer/insights.h"
#include "profiler/analyzer/patterns.h"
#include "profiler/analyzer/score.h"
#include "profiler/analyzer/series.h"
#include "profiler/analyzer/thresholds.h"

#define MIB (1 << 20)

/* Calls of one test: each of the columns, changed where the test is about it. */
struct made {
    uint32_t function[12];
    double started[12], seconds[12];
    int64_t before[12], after[12], reserved[12], peak[12], grown[12], shrunk[12];
};

/* Twelve calls of functions 0 and 1 in turn, of which each leaves `grown` behind. */
static struct made made_of(int64_t grown)
{
    struct made m;
    for (uint32_t i = 0; i < 12; i++) {
        m.function[i] = i % 2;
        m.started[i] = i;
        m.seconds[i] = 1;
        m.before[i] = i * grown;
        m.after[i] = m.peak[i] = m.reserved[i] = (i + 1) * grown;
        m.grown[i] = grown;
        m.shrunk[i] = i;
    }
    return m;
}

static struct calls calls_of(const struct made *m, uint32_t count)
{
    return (struct calls){ count,    2,           m->function, m->started, m->seconds, m->before,
                           m->after, m->reserved, m->peak,     m->grown,   m->shrunk };
}

static const double *defaults(void)
{
    static double value[THRESHOLD_COUNT];
    for (int i = 0; i < THRESHOLD_COUNT; i++)
        value[i] = threshold_table[i].value;
    return value;
}

/* The row of a kind, or NULL; there is at most one of them. */
static const struct finding *of_kind(const struct findings *f, const char *kind)
{
    const struct finding *found = NULL;
    for (uint32_t i = 0; i < f->rows.len; i++)
        if (strcmp(f->rows.at[i].kind, kind) == 0) {
            assert_null(found);
            found = &f->rows.at[i];
        }
    return found;
}

static const struct figure *figure_of(const struct finding *row, const char *name)
{
    for (uint32_t i = 0; i < row->figures; i++)
        if (strcmp(row->figure[i].name, name) == 0)
            return &row->figure[i];
    fail_msg("%s has no figure %s", row->kind, name);
    return NULL;
}

static void every_threshold_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < THRESHOLD_COUNT; i++) {
        assert_non_null(threshold_table[i].name);
        assert_true(threshold_table[i].value > 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(threshold_table[i].name, threshold_table[k].name);
    }
}

static void calls_are_sorted_by_function(void **state)
{
    (void)state;
    struct arena arena;
    struct calls_of of;
    const uint32_t function[] = { 2, 0, 2, 2, 0 };
    struct calls calls = { .count = 5, .functions = 4, .function = function };
    arena_init(&arena, SIZE_MAX / 2);
    assert_true(calls_of_each(&calls, &arena, &of));
    const uint32_t first[] = { 0, 2, 2, 5, 5 }, call[] = { 1, 4, 0, 2, 3 };
    assert_memory_equal(of.first, first, sizeof first);
    assert_memory_equal(of.call, call, sizeof call);
    arena_free(&arena);
}

static void what_is_unknown_counts_as_0_in_totals(void **state)
{
    (void)state;
    struct made m = made_of(MIB);
    m.grown[3] = m.shrunk[2] = m.peak[11] = BYTES_UNKNOWN;
    m.seconds[4] = NAN;
    struct calls calls = calls_of(&m, 12);
    struct calls_totals total = calls_total(&calls);
    assert_int_equal(total.grown_bytes, 11 * MIB);
    assert_int_equal(total.shrunk_bytes, 64);
    assert_int_equal(total.net_bytes, 11 * MIB - 64);
    assert_int_equal(total.peak_bytes, 11 * MIB);
    assert_true(total.seconds == 11 && total.mean_seconds == 11.0 / 12);
    assert_true(total.mean_grown_bytes == 11.0 * (double)MIB / 12);
    calls.shrunk_bytes = NULL;
    assert_int_equal(calls_total(&calls).net_bytes, 11 * MIB);
    calls.count = 0;
    total = calls_total(&calls);
    assert_true(total.mean_seconds == 0 && total.mean_grown_bytes == 0 && total.peak_bytes == 0);
    assert_int_equal(calls_growth(&calls, 5), MIB);
    m.before[5] = BYTES_UNKNOWN;
    assert_int_equal(calls_growth(&calls, 5), BYTES_UNKNOWN);
}

static void functions_that_grow_leak(void **state)
{
    (void)state;
    struct made m = made_of(20 * MIB);
    struct calls calls = calls_of(&m, 12);
    struct findings found;
    findings_init(&found);
    patterns_find(&calls, defaults(), &found);
    assert_false(found.failed);
    assert_int_equal(found.rows.len, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct finding *row = &found.rows.at[i];
        assert_string_equal(row->kind, "memory_leak");
        assert_int_equal(row->severity, SEVERITY_WARNING);
        assert_int_equal(row->functions, 1);
        assert_int_equal(row->function[0], i);
        assert_int_equal(figure_of(row, "total_memory_growth")->count, 6 * 20 * MIB);
        assert_int_equal(figure_of(row, "call_count")->count, 6);
        assert_true(figure_of(row, "positive_growth_ratio")->value == 1);
    }
    findings_free(&found);
}

static void no_calls_have_no_findings(void **state)
{
    (void)state;
    struct calls none = { 0 };
    struct findings found;
    findings_init(&found);
    patterns_find(&none, defaults(), &found);
    insights_find(&none, defaults(), &found);
    series_find(NULL, 0, defaults(), &found);
    assert_false(found.failed);
    assert_int_equal(found.rows.len, 0);
    findings_free(&found);
}

/* Neither an overflow nor a division by zero, which the sanitizers would tell. */
static void figures_may_be_anything(void **state)
{
    (void)state;
    const int64_t odd[] = { INT64_MAX, INT64_MIN + 1, BYTES_UNKNOWN, 0, -1, INT64_MAX - 1 };
    const double odd_s[] = { 0, -1, NAN, INFINITY, 1e308, 5e-324 };
    for (uint32_t turn = 0; turn < 6; turn++) {
        struct made m = made_of(MIB);
        for (uint32_t i = 0; i < 12; i++) {
            m.before[i] = odd[(i + turn) % 6];
            m.after[i] = odd[(i * 5 + turn) % 6];
            m.reserved[i] = odd[(i + 2) % 6];
            m.peak[i] = odd[(i * 5 + 3) % 6];
            m.shrunk[i] = odd[(i + 4) % 6];
            m.grown[i] = turn == 0 ? INT64_MAX : odd[(i + turn * 2) % 6];
            m.started[i] = odd_s[(i + turn) % 6];
            m.seconds[i] = odd_s[(i * 5 + turn) % 6];
        }
        struct calls calls = calls_of(&m, 12);
        struct findings found;
        findings_init(&found);
        patterns_find(&calls, defaults(), &found);
        insights_find(&calls, defaults(), &found);
        calls_total(&calls);
        assert_false(found.failed);
        for (uint32_t i = 0; i < found.rows.len; i++)
            for (uint32_t k = 0; k < found.rows.at[i].figures; k++)
                assert_true(found.rows.at[i].figure[k].whole ||
                            !isinf(found.rows.at[i].figure[k].value));
        findings_free(&found);
    }
}

static void a_line_in_time_is_growth(void **state)
{
    (void)state;
    struct made m = made_of(MIB);
    struct calls calls = calls_of(&m, 12);
    struct findings found;
    findings_init(&found);
    insights_find(&calls, defaults(), &found);
    const struct finding *row = of_kind(&found, "memory_growth");
    assert_non_null(row);
    assert_int_equal(row->severity, SEVERITY_CRITICAL);
    assert_true(figure_of(row, "growth_rate")->value == MIB);
    assert_true(figure_of(row, "time_span")->value == 11);
    assert_null(of_kind(&found, "slow_functions"));
    findings_free(&found);
}

static void large_numbers_are_cut(void **state)
{
    (void)state;
    struct finding row = { 0 };
    finding_rounded(&row, "a", 1e300);
    finding_rounded(&row, "b", -1e300);
    finding_rounded(&row, "c", -7);
    assert_true(row.figure[0].count == INT64_MAX && row.figure[1].count == INT64_MIN);
    assert_int_equal(row.figure[2].count, -7);
}

static void a_score_does_not_fall_below_zero(void **state)
{
    (void)state;
    struct found_counts none = { { 0 } }, some = { { 1, 1, 1 } },
                        many = { { UINT64_MAX, UINT64_MAX, UINT64_MAX } };
    struct score score = score_of(&none, &none);
    assert_int_equal(score.points, 100);
    assert_int_equal(score.grade, 'A');
    score = score_of(&some, &none);
    assert_int_equal(score.points, 65);
    score = score_of(&none, &some);
    assert_int_equal(score.points, 74);
    assert_int_equal(score.grade, 'C');
    score = score_of(&many, &many);
    assert_int_equal(score.points, 0);
    assert_int_equal(score.grade, 'F');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_threshold_has_a_name_of_its_own),
        cmocka_unit_test(calls_are_sorted_by_function),
        cmocka_unit_test(what_is_unknown_counts_as_0_in_totals),
        cmocka_unit_test(functions_that_grow_leak),
        cmocka_unit_test(no_calls_have_no_findings),
        cmocka_unit_test(figures_may_be_anything),
        cmocka_unit_test(a_line_in_time_is_growth),
        cmocka_unit_test(large_numbers_are_cut),
        cmocka_unit_test(a_score_does_not_fall_below_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
