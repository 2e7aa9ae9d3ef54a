#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"

/* A file may name any size: the sanitizer that this runs under ends it at a signed overflow. */
static void sums_of_hostile_sizes_stay_in_range(void **state)
{
    (void)state;
    assert_true(i64_plus(3, -5) == -2);
    assert_true(i64_plus(INT64_MAX, 1) == INT64_MAX);
    assert_true(i64_plus(INT64_MIN, -1) == INT64_MIN);
    assert_true(i64_plus(INT64_MIN, INT64_MAX) == -1);
    assert_true(i64_minus(3, 5) == -2);
    assert_true(i64_minus(INT64_MAX, -1) == INT64_MAX);
    assert_true(i64_minus(INT64_MIN, 1) == INT64_MIN);
    assert_true(i64_minus(0, INT64_MIN) == INT64_MAX);
    assert_true(i64_minus(-1, INT64_MIN) == INT64_MAX);
}

static void products_of_hostile_sizes_wrap(void **state)
{
    (void)state;
    assert_true(i64_times(-3, 5) == -15);
    assert_true(i64_times(INT64_MAX, 2) == -2);
}

static void a_product_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    size_t product = 7;
    assert_true(size_mul(3, 5, &product));
    assert_int_equal(product, 15);
    assert_false(size_mul(SIZE_MAX, 2, &product));
    assert_int_equal(product, 15);
}

static void percentages_of_all_sizes_fit(void **state)
{
    (void)state;
    assert_true(percent_of(UINT64_MAX, 100) == UINT64_MAX);
    assert_true(percent_of(99, 50) == 49);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_hostile_sizes_stay_in_range),
        cmocka_unit_test(products_of_hostile_sizes_wrap),
        cmocka_unit_test(a_product_that_does_not_fit_is_refused),
        cmocka_unit_test(percentages_of_all_sizes_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
