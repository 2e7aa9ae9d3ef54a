/* Intervals of medians: how often they hold the truth, and what a change is called at each limit.
 * */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/noise.h"
#include "base/statistics.h"

/* A generator of our own (splitmix64), so that every machine draws the same. */
static uint64_t seed;

static double uniform(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = seed;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((x ^ x >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

struct drawn {
    double median, noise;
};

static struct drawn draw(double mean, double deviation, uint32_t count)
{
    double value[100];
    assert_in_range(count, 2, 100);
    for (uint32_t i = 0; i < count; i++)
        value[i] = mean + deviation * normal();
    statistics_sort(value, count);
    double found = statistics_deviation(value, count) * sqrt(count / (count - 1.0));
    return (struct drawn){ statistics_median(value, count), noise_of_median(found, count) };
}

enum { DRAWS = 1000 };

static void a_median_lies_in_its_interval_as_often_as_is_said(void **state)
{
    static const uint32_t counts[] = { 20, 50, 100 };
    (void)state;
    seed = 1;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        uint32_t held = 0;
        for (uint32_t i = 0; i < DRAWS; i++) {
            struct drawn d = draw(10, 1, counts[k]);
            held += fabs(d.median - 10) <= d.noise;
        }
        assert_in_range(held, 930, 980);
    }
}

static void the_interval_of_a_change_holds_it_more_often(void **state)
{
    (void)state;
    seed = 2;
    uint32_t held = 0, called = 0, found = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct drawn a = draw(10, 1, 40), b = draw(12, 1, 40), same = draw(10, 1, 40);
        held += fabs(b.median - a.median - 2) <= a.noise + b.noise;
        found += noise_judge(b.median - a.median, a.noise + b.noise, 0) == NOISE_SLOWER;
        called += noise_judge(same.median - a.median, a.noise + same.noise, 0) != NOISE_WITHIN;
    }
    assert_in_range(held, 980, 1000);
    assert_in_range(found, 990, 1000); /* what is there: two deviations of 40 values */
    assert_in_range(called, 0, 20);    /* what is not there is called so seldom */
}

static void each_limit_has_two_sides(void **state)
{
    (void)state;
    assert_int_equal(noise_judge(5, 5, 0), NOISE_WITHIN);
    assert_int_equal(noise_judge(-5, 5, 0), NOISE_WITHIN);
    assert_int_equal(noise_judge(5, 4, 0), NOISE_SLOWER);
    assert_int_equal(noise_judge(-5, 4, 0), NOISE_FASTER);
    assert_int_equal(noise_judge(4, 6, 10), NOISE_SAME);
    assert_int_equal(noise_judge(-4, 6, 10), NOISE_SAME);
    assert_int_equal(noise_judge(4, 7, 10), NOISE_WITHIN);
    assert_int_equal(noise_judge(7, 4, 10), NOISE_SLOWER);
    assert_int_equal(noise_judge(10, 0, 10), NOISE_SAME);
    assert_int_equal(noise_judge(11, 0, 10), NOISE_SLOWER);
    assert_int_equal(noise_judge(0, 0, 0), NOISE_SAME);
    assert_int_equal(noise_judge(0, 1, 0), NOISE_WITHIN);
}

static void half_of_an_interval_is_as_it_is_defined(void **state)
{
    (void)state;
    assert_true(fabs(noise_of_median(2, 4) - 1.96 * 1.253) < 1e-12);
    assert_true(noise_of_median(0, 7) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_median_lies_in_its_interval_as_often_as_is_said),
        cmocka_unit_test(the_interval_of_a_change_holds_it_more_often),
        cmocka_unit_test(each_limit_has_two_sides),
        cmocka_unit_test(half_of_an_interval_is_as_it_is_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
