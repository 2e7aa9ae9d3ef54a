#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/statistics.h"

static void check(double found, double wanted)
{
    if (isnan(wanted) ? !isnan(found) : !(fabs(found - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", found, wanted);
}

/* Each figure of values in ascending order, of which `wanted` has mean, deviation, quartiles, MAD.
 */
static void check_values(const double *value, size_t count, const double *wanted)
{
    check(statistics_mean(value, count), wanted[0]);
    check(statistics_deviation(value, count), wanted[1]);
    struct quartiles q = statistics_quartiles(value, count);
    check(q.low, wanted[2]);
    check(q.median, wanted[3]);
    check(q.high, wanted[4]);
    check(statistics_median(value, count), wanted[3]);
    check(statistics_mad(value, count), wanted[5]);
}

static void check_line(const double *x, const double *y, size_t count, struct line_fit wanted)
{
    struct line_fit fit = statistics_line(x, y, count);
    check(fit.slope, wanted.slope);
    check(fit.intercept, wanted.intercept);
    check(fit.r, wanted.r);
    check(fit.p, wanted.p);
    check(statistics_pearson(x, y, count), wanted.r);
}

static const double unknown[] = { NAN, NAN, NAN, NAN, NAN, NAN };
static const struct line_fit no_line = { NAN, NAN, NAN, NAN };

static void no_values_are_unknown(void **state)
{
    (void)state;
    check_values(NULL, 0, unknown);
    check_line(NULL, NULL, 0, no_line);
    double z = 0, value = 1;
    statistics_robust_z(NULL, 0, &value, 1, &z);
    check(z, NAN);
    statistics_sort(NULL, 0);
}

static void one_value_is_all_of_them(void **state)
{
    (void)state;
    double value = -0.1, z = 0;
    check_values(&value, 1, (double[]){ -0.1, 0, -0.1, -0.1, -0.1, 0 });
    check_line(&value, &value, 1, no_line);
    statistics_robust_z(&value, 1, &value, 1, &z);
    check(z, NAN);
}

static void equal_values_do_not_deviate(void **state)
{
    (void)state;
    double value[7], x[7] = { 1, 2, 3, 4, 5, 6, 7 }, z[1] = { 0 };
    for (int i = 0; i < 7; i++)
        value[i] = 0.1;
    check_values(value, 7, (double[]){ 0.1, 0, 0.1, 0.1, 0.1, 0 });
    statistics_robust_z(value, 7, x, 1, z);
    check(z[0], NAN);
    check_line(value, x, 7, no_line);
    check_line(x, value, 7, (struct line_fit){ 0, 0.1, NAN, NAN });
}

static void what_is_not_finite_makes_all_unknown(void **state)
{
    (void)state;
    const double odd[] = { NAN, INFINITY, -INFINITY }, plain[] = { 1, 2, 4, 9 };
    for (int i = 0; i < 3; i++)
        for (int place = 0; place < 4; place++) {
            double value[] = { 1, 2, 4, 9 }, z[4] = { 0 };
            value[place] = odd[i];
            check_values(value, 4, unknown);
            check_line(value, plain, 4, no_line);
            check_line(plain, value, 4, no_line);
            statistics_robust_z(value, 4, plain, 1, z);
            check(z[0], NAN);
            statistics_robust_z(plain, 4, value, 4, z);
            for (int k = 0; k < 4; k++)
                assert_int_equal(isnan(z[k]) != 0, k == place);
        }
}

static void few_values_are_as_by_hand(void **state)
{
    (void)state;
    const double value[] = { 1, 2, 3, 4, 10 }, y[] = { 3, 5, 7, 9, 21 }, down[] = { 1, 0, 2 };
    check_values(value, 5, (double[]){ 4, sqrt(10), 2, 3, 4, 1 });
    const double even[] = { 1, 2, 4, 9 };
    check_values(even, 4, (double[]){ 4, sqrt(9.5), 1.75, 3, 5.25, 1.5 });
    check(statistics_percentile(value, 5, 0.9), 7.6);
    check(statistics_percentile(value, 5, 0), 1);
    check(statistics_percentile(value, 5, 1), 10);
    check_line(value, y, 5, (struct line_fit){ 2, 1, 1, 0 });
    check_line(value, y, 2, (struct line_fit){ 2, 1, 1, NAN });
    /* One degree of freedom is Cauchy's distribution: 1 - 2 atan(t) / pi, where r = 1/2. */
    check_line(value, down, 3, (struct line_fit){ 0.5, 0, 0.5, 2.0 / 3 });
    double z[1];
    statistics_robust_z(value, 5, value + 4, 1, z);
    check(z[0], 7 * 0.6745);
}

static void shares_outside_are_unknown(void **state)
{
    (void)state;
    const double value[] = { 1, 2 }, share[] = { -0.01, 1.01, NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 5; i++)
        check(statistics_percentile(value, 2, share[i]), NAN);
}

static void large_values_do_not_overflow(void **state)
{
    (void)state;
    const double value[] = { -1.5e308, 1.5e308 }, x[] = { 1, 2 }, near[] = { 0, 1e-300 };
    check_values(value, 2, (double[]){ 0, 1.5e308, -0.75e308, 0, 0.75e308, 1.5e308 });
    const double same[] = { 1.5e308, 1.5e308, 1.5e308 };
    check_values(same, 3, (double[]){ 1.5e308, 0, 1.5e308, 1.5e308, 1.5e308, 0 });
    /* Unknown where the result has no double: a slope of 3e308, of 3e608. */
    check(statistics_line(x, value, 2).slope, NAN);
    check(statistics_line(near, value, 2).slope, NAN);
    check(statistics_pearson(near, value, 2), 1);
}

static void sorting_puts_nan_last(void **state)
{
    (void)state;
    double value[] = { NAN, 3, -INFINITY, NAN, 1, INFINITY };
    statistics_sort(value, 6);
    const double wanted[] = { -INFINITY, 1, 3, INFINITY };
    for (int i = 0; i < 4; i++)
        assert_true(value[i] == wanted[i]);
    assert_true(isnan(value[4]) && isnan(value[5]));
}

static void check_steady(const double *value, size_t count, double share, size_t wanted)
{
    double room[8];
    size_t found = statistics_steady(value, count, share, room);
    if (found != wanted)
        fail_msg("%zu instead of %zu", found, wanted);
}

static void values_become_steady_after_a_warm_up(void **state)
{
    (void)state;
    double warm[] = { 1234.56, 987.43, 102.34, 101.89, 102.12 };
    check_steady(warm, 5, 0.05, 2);
    /* At the limit is within it. */
    double limit[] = { 75, 100, 100, 125 }, over[] = { 100, 100, 126 };
    check_steady(limit, 4, 0.25, 0);
    check_steady(over, 3, 0.25, 1);
    double lowest[] = { -4, -4, -6, 1 };
    check_steady(lowest, 3, 0.5, 0);
    check_steady(lowest, 4, 0.5, 3);
}

static void what_is_never_steady(void **state)
{
    (void)state;
    double odd[] = { 1, INFINITY, 1 };
    check_steady(NULL, 0, 0.05, SIZE_MAX);
    check_steady(odd, 3, 0.05, SIZE_MAX);
    check_steady(odd, 1, 0.6, SIZE_MAX);
    check_steady(odd, 1, NAN, SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_values_are_unknown),
        cmocka_unit_test(one_value_is_all_of_them),
        cmocka_unit_test(equal_values_do_not_deviate),
        cmocka_unit_test(what_is_not_finite_makes_all_unknown),
        cmocka_unit_test(few_values_are_as_by_hand),
        cmocka_unit_test(shares_outside_are_unknown),
        cmocka_unit_test(large_values_do_not_overflow),
        cmocka_unit_test(sorting_puts_nan_last),
        cmocka_unit_test(values_become_steady_after_a_warm_up),
        cmocka_unit_test(what_is_never_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
