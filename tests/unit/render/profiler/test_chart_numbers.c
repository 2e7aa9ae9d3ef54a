#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "render/profiler/chart.h"
#include "render/profiler/chart_numbers.h"

enum { MANY = 2000 };

static struct arena arena;

static void a_range_is_of_what_is_known(void **state)
{
    (void)state;
    static const double value[] = { 3, NAN, -2, INFINITY, 1e301, 7 };
    struct chart_range range = chart_range_empty();
    assert_true(range.low > range.high);
    chart_range_take(&range, value, 6);
    assert_true(range.low == -2 && range.high == 7);
}

static void check_widened(double low, double high, double wanted_low, double wanted_high)
{
    struct chart_range range = { low, high };
    chart_range_widen(&range);
    assert_true(range.low == wanted_low && range.high == wanted_high);
}

static void a_range_has_two_ends(void **state)
{
    (void)state;
    check_widened(INFINITY, -INFINITY, 0, 1);
    check_widened(0, 0, 0, 1);
    check_widened(8, 8, 8, 16);
    check_widened(-8, -8, -8, 0);
    check_widened(1e18, 1e18 + 512, 1e18, 2e18);
    check_widened(0, 1e-12, 0, 1e-12);
    check_widened(2, 5, 2, 5);
}

static void check_reduced(bool most, const double *wanted)
{
    static const uint32_t group[] = { 2, 0, 2, 0, 1, 2 };
    static const double y[] = { 4, 1, 8, 2, NAN, NAN };
    const struct chart_series s = { .most = most, .count = 6, .y = y, .group = group };
    const double *value = chart_reduce(&s, 4, &arena);
    for (int g = 0; g < 4; g++)
        assert_true(value[g] == wanted[g] || (isnan(value[g]) && isnan(wanted[g])));
}

static void groups_have_a_mean_or_a_largest_value(void **state)
{
    (void)state;
    check_reduced(false, (const double[]){ 1.5, NAN, 6, NAN });
    check_reduced(true, (const double[]){ 2, NAN, 8, NAN });
}

static void orders_end_in_the_number(void **state)
{
    (void)state;
    static const double value[] = { 1, NAN, 5, 1, 5, -3 };
    static const uint32_t down[] = { 2, 4, 0, 3, 5, 1 }, up[] = { 5, 0, 3, 2, 4, 1 };
    const struct chart_series s = { .count = 6, .x = value };
    assert_memory_equal(chart_descending(value, 6, &arena), down, sizeof down);
    assert_memory_equal(chart_by_x(&s, &arena), up, sizeof up);
}

static void check_bins(const double *value, uint32_t count, uint32_t bins, double low, double width,
                       const uint32_t *in)
{
    struct chart_bins b = chart_bins_of(value, count);
    assert_int_equal(b.bins, bins);
    assert_true(fabs(b.low - low) < 1e-9 && fabs(b.width - width) < 1e-9);
    assert_memory_equal(b.in, in, bins * sizeof *in);
}

static void bins_hold_every_known_value_once(void **state)
{
    (void)state;
    static const double eight[] = { 0, 1, 2, 3, 4, 5, 6, 8, NAN, INFINITY };
    check_bins(eight, 10, 4, 0, 2, (const uint32_t[]){ 2, 2, 2, 2 }); /* the last has its end, 8 */
    check_bins(eight, 7, 3, 0, 2, (const uint32_t[]){ 2, 2, 3 });
    check_bins(eight, 1, 1, 0, 1, (const uint32_t[]){ 1 });
    check_bins((const double[]){ 5, 5, 5, 5 }, 4, 1, 5, 5, (const uint32_t[]){ 4 });
    check_bins(eight + 8, 2, 1, 0, 1, (const uint32_t[]){ 0 });
    check_bins((const double[]){ -1e299, 1e299 }, 2, 2, -1e299, 1e299,
               (const uint32_t[]){ 1, 1 });
}

static void many_values_are_counted_too(void **state)
{
    (void)state;
    static double value[MANY];
    uint32_t sum = 0, highest = 0;
    for (uint32_t i = 0; i < MANY; i++)
        value[i] = (double)(i * 7919 % 1009) / 3;
    struct chart_bins b = chart_bins_of(value, MANY);
    assert_int_equal(b.bins, 11); /* 1 + log2 of 2,000, rounded down */
    for (uint32_t i = 0; i < b.bins; i++) {
        sum += b.in[i];
        highest = b.in[i] > highest ? b.in[i] : highest;
    }
    assert_int_equal(sum, MANY);
    assert_int_equal(b.highest, highest);
    assert_int_equal(b.known, MANY);
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, SIZE_MAX / 2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_of_what_is_known),
        cmocka_unit_test(a_range_has_two_ends),
        cmocka_unit_test(groups_have_a_mean_or_a_largest_value),
        cmocka_unit_test(orders_end_in_the_number),
        cmocka_unit_test(bins_hold_every_known_value_once),
        cmocka_unit_test(many_values_are_counted_too),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
