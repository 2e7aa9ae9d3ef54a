#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/busy/busy.h"
#include "analysis/trace/diff/trace_diff.h"
#include "analysis/trace/diff/trace_diff_rows.h"
#include "base/noise.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"

/* The values that are not 0, of so many steps, against sums over all. */
static void check_value(const double *value, uint32_t count, uint32_t steps, int64_t median)
{
    double room[16], mean = 0, squares = 0;
    assert_true(steps <= 16);
    for (uint32_t i = 0; i < count; i++) {
        room[i] = value[i];
        mean += value[i] / steps;
    }
    for (uint32_t i = 0; i < steps; i++) {
        double v = i < count ? value[i] : 0;
        squares += (v - mean) * (v - mean);
    }
    struct trace_diff_value found = diff_value_of(room, count, steps);
    assert_int_equal(found.median_ns, median);
    if (steps == 1) {
        assert_true(found.std_ns < 0 && found.noise_ns < 0);
        return;
    }
    double deviation = sqrt(squares / (steps - 1));
    assert_true(fabs(found.std_ns - deviation) <= 1e-9 * (1 + deviation));
    double noise = 1.96 * 1.253 * deviation / sqrt(steps);
    assert_true(fabs(found.noise_ns - noise) <= 1e-9 * (1 + deviation));
}

static void medians_count_steps_without_the_row(void **state)
{
    (void)state;
    check_value((const double[]){ 5 }, 1, 1, 5);
    check_value(NULL, 0, 1, 0);
    check_value((const double[]){ 8, 2, 5 }, 3, 3, 5);
    check_value((const double[]){ 8, 2 }, 2, 3, 2);
    check_value((const double[]){ 8, 2 }, 2, 5, 0);
    check_value((const double[]){ 8, 2, 5, 6 }, 4, 4, 6); /* 5.5, halves away from 0 */
    check_value((const double[]){ 8, -2, 5 }, 3, 5, 0);
    check_value((const double[]){ -8, -2, -5 }, 3, 4, -4); /* -3.5 */
    check_value((const double[]){ 7, 7, 7 }, 3, 3, 7);
}

static struct trace_diff_row judged(double a, double a_noise, double b, double b_noise)
{
    struct trace_diff_row row = {
        .a = { .count = 1, .median_ns = (int64_t)a, .noise_ns = a_noise },
        .b = { .count = 1, .median_ns = (int64_t)b, .noise_ns = b_noise },
    };
    diff_row_judge(&row);
    return row;
}

static void intervals_that_meet_are_noise(void **state)
{
    (void)state;
    assert_int_equal(judged(100, 5, 110, 5).verdict, NOISE_WITHIN);
    assert_int_equal(judged(100, 5, 110, 4.9).verdict, NOISE_SLOWER);
    assert_int_equal(judged(110, 4.9, 100, 5).verdict, NOISE_FASTER);
    assert_int_equal(judged(100, 0, 101, 0).verdict, NOISE_SLOWER);
    assert_int_equal(judged(100, 9, 100, 9).verdict, NOISE_SAME);
    assert_int_equal(judged(100, -1, 100, -1).verdict, NOISE_SAME);
    assert_int_equal(judged(100, -1, 900, 1).verdict, NOISE_NOT_JUDGED);
    assert_int_equal(judged(100, 1, 900, -1).verdict, NOISE_NOT_JUDGED);
    assert_true(isnan(judged(0, 1, 900, 1).change));
    assert_true(judged(200, 1, 150, 1).change == -0.25);
}

/* Steps of `ns`, in each an operator with a call, and a kernel half as long from 2 ns on. */
static void make(struct traced *m, const int *ns, uint32_t steps)
{
    char text[200];
    int at = 0;
    traced_begin(m);
    for (uint32_t i = 0; i < steps; i++) {
        snprintf(text, sizeof text,
                 "annotation ProfilerStep#%u 1/1 %d+%d; op mm 1/1 %d+%d; "
                 "runtime launch 1/1 %d+2 c%u; kernel gemm 0/7 %d+%d c%u",
                 i, at, ns[i], at, ns[i] / 2, at, i + 1, at + 2, ns[i] / 2, i + 1);
        traced_spans(m, text);
        at += ns[i];
    }
}

static const struct trace_diff_row *row_named(const struct trace_diff_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->rows; i++)
        if (str_equal(t->row[i].name, str_from(name)))
            return &t->row[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void check_row(const struct trace_diff_table *t, const char *name, int64_t a, int64_t b)
{
    const struct trace_diff_row *row = row_named(t, name);
    if (row->a.median_ns != a || row->b.median_ns != b)
        fail_msg("%s: %lld, %lld; wanted %lld, %lld", name, (long long)row->a.median_ns,
                 (long long)row->b.median_ns, (long long)a, (long long)b);
    assert_int_equal(row->change_ns, b - a);
}

static struct trace_diff_question question(const struct traced *a, const struct traced *b,
                                           int64_t a_step, int64_t b_step)
{
    return (struct trace_diff_question){ .trace = { &a->trace, &b->trace },
                                         .step = { a_step, b_step } };
}

static void steps_against_steps(void **state)
{
    (void)state;
    struct traced a, b;
    struct trace_diff d;
    make(&a, (const int[]){ 900, 100, 120, 140 }, 4); /* the first warms up */
    make(&b, (const int[]){ 200, 220, 240 }, 3);
    struct trace_diff_question q = question(&a, &b, -1, -1);
    assert_int_equal(trace_diff_make(&q, &a.arena, &d, NULL), VRS_OK);
    assert_int_equal(d.a.steps, 3);
    assert_int_equal(d.a.dropped, 1);
    assert_int_equal(d.b.steps, 3);
    check_row(&d.step, "host", 120, 220);
    check_row(&d.step, "device", 60, 110);
    check_row(&d.op, "ProfilerStep*", 60, 110);
    check_row(&d.op, "mm", 58, 108);
    check_row(&d.op, "launch", 2, 2);
    check_row(&d.kernel, "gemm", 60, 110);
    assert_int_equal(row_named(&d.op, "launch")->verdict, NOISE_SAME);
    assert_int_equal(d.step.row[1].verdict, NOISE_SLOWER);
    assert_int_equal(row_named(&d.op, "mm")->a.count, 3);
    traced_end(&a);
    traced_end(&b);
}

static void one_step_against_another(void **state)
{
    (void)state;
    struct traced a;
    struct trace_diff d;
    make(&a, (const int[]){ 900, 100, 120, 140 }, 4);
    struct trace_diff_question q = question(&a, &a, 0, 3);
    assert_int_equal(trace_diff_make(&q, &a.arena, &d, NULL), VRS_OK);
    check_row(&d.step, "host", 900, 140);
    check_row(&d.op, "mm", 448, 68);
    check_row(&d.kernel, "gemm", 450, 70);
    assert_int_equal(d.step.row[0].verdict, NOISE_NOT_JUDGED);
    q = question(&a, &a, 0, 4);
    assert_int_equal(trace_diff_make(&q, &a.arena, &d, NULL), VRS_USAGE);
    traced_end(&a);
}

/* Of a trace without steps all of it counts, what nobody launched too. */
static void wholes(void **state)
{
    (void)state;
    struct traced a, b;
    struct trace_diff d;
    traced_begin(&a);
    traced_spans(&a, "op mm 1/1 0+10; op old 1/1 20+5; kernel gemm 0/7 0+10; kernel gemm 0/7 30+10");
    traced_begin(&b);
    traced_spans(&b, "op mm 1/1 0+30; kernel gemm 0/7 0+10; kernel other 0/7 15+10");
    struct trace_diff_question q = question(&a, &b, -1, -1);
    assert_int_equal(trace_diff_make(&q, &a.arena, &d, NULL), VRS_OK);
    assert_true(d.a.is_whole && d.b.is_whole);
    check_row(&d.step, "step", 40, 30);
    check_row(&d.op, "mm", 10, 30);
    check_row(&d.op, "old", 5, 0);
    check_row(&d.kernel, "gemm", 20, 10);
    check_row(&d.kernel, "other", 0, 10);
    check_row(&d.gap, "no_launch", 20, 5);
    assert_int_equal(row_named(&d.op, "old")->status, TRACE_DIFF_GONE);
    assert_int_equal(row_named(&d.kernel, "other")->status, TRACE_DIFF_NEW);
    traced_end(&a);
    traced_end(&b);
}

/* The classes of a whole trace add up to what busy.c finds. */
static void gaps_are_those_of_the_devices(void **state)
{
    (void)state;
    struct traced a;
    struct trace_diff d;
    traced_begin(&a);
    traced_spans(&a, "runtime launch 1/1 0+2 c1; kernel k 0/7 5+5 c1; runtime launch 1/1 20+2 c2; "
                     "kernel k 0/7 30+5 c2; runtime launch 1/1 21+2 c3; kernel k 0/8 50+5 c3; "
                     "kernel k 0/7 50+0 c9; kernel k 0/7 90+5; runtime launch 1/1 100+200000 c4; "
                     "kernel k 0/7 150+5 c4");
    traced_study(&a);
    struct trace_diff_question q = question(&a, &a, -1, -1);
    assert_int_equal(trace_diff_make(&q, &a.arena, &d, NULL), VRS_OK);
    struct busy busy;
    assert_int_equal(busy_make(&a.study, &a.arena, &busy, NULL), VRS_OK);
    for (uint32_t c = 0; c < GAP_CLASSES; c++)
        if (busy.device[0].class_gaps[c] > 0)
            check_row(&d.gap, gap_class_names[c], busy.device[0].class_ns[c],
                      busy.device[0].class_ns[c]);
    traced_end(&a);
}

static void limits(void **state)
{
    (void)state;
    struct traced a, b;
    struct trace_diff d;
    make(&a, (const int[]){ 100, 100 }, 2);
    make(&b, (const int[]){ 110, 110 }, 2);
    const struct {
        struct noise_limit limit;
        bool exceeded;
    } cases[] = {
        { { .ns = 10 }, false },
        { { .ns = 9 }, true },
        { { .is_ratio = true, .ratio = 0.1 }, false },
        { { .is_ratio = true, .ratio = 0.09 }, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace_diff_question q = question(&a, &b, -1, -1);
        q.limit = &cases[i].limit;
        assert_int_equal(trace_diff_make(&q, &a.arena, &d, NULL), VRS_OK);
        assert_int_equal(d.limit->exceeded, cases[i].exceeded);
    }
    traced_end(&a);
    traced_end(&b);
}

static enum vrs_status compare_once(void *arg)
{
    const struct traced *a = arg;
    struct arena arena;
    struct trace_diff d;
    struct trace_diff_question q = question(a, a, -1, -1);
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = trace_diff_make(&q, &arena, &d, NULL);
    arena_free(&arena);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct traced a;
    make(&a, (const int[]){ 100, 120, 140 }, 3);
    fault_each(compare_once, NULL, &a);
    traced_end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_count_steps_without_the_row),
        cmocka_unit_test(intervals_that_meet_are_noise),
        cmocka_unit_test(steps_against_steps),
        cmocka_unit_test(one_step_against_another),
        cmocka_unit_test(wholes),
        cmocka_unit_test(gaps_are_those_of_the_devices),
        cmocka_unit_test(limits),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
