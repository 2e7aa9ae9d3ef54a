#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "made/fault.h"

static void pushed_elements_stay(void **state)
{
    (void)state;
    VEC(uint64_t) v = { .max = 5000 };
    for (uint64_t i = 0; i < 5000; i++) {
        assert_true(vec_push(&v, i * i));
        assert_true(v.len == i + 1 && v.len <= v.cap && v.cap <= v.max);
    }
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(v.at[i], i * i);
    vec_free(&v);
    assert_null(v.at);
    assert_int_equal(v.len + v.cap, 0);
}

static void a_full_vec_refuses(void **state)
{
    (void)state;
    VEC(uint16_t) v = { .max = 3 };
    assert_true(vec_reserve(&v, 3));
    assert_false(vec_reserve(&v, 4));
    for (uint16_t i = 0; i < 3; i++)
        assert_true(vec_push(&v, i));
    assert_false(vec_push(&v, 3));
    assert_int_equal(v.len, 3);
    assert_int_equal(v.at[2], 2);
    vec_free(&v);
    VEC(uint8_t) none = { .max = 0 };
    assert_false(vec_push(&none, 1));
    assert_null(none.at);
}

static void counts_that_overflow_are_refused(void **state)
{
    (void)state;
    void *at = NULL;
    assert_false(vec_resize(&at, SIZE_MAX / 2, 4));
    assert_null(at);
    uint32_t cap = 0;
    assert_false(vec_grow(&at, &cap, 5, UINT32_MAX, UINT32_MAX, 8));
    assert_int_equal(cap, 0);
}

static void a_failed_growth_changes_nothing(void **state)
{
    (void)state;
    VEC(uint32_t) v = { .max = 1000 };
    for (uint32_t i = 0; i < 1000; i++) {
        if (v.len == v.cap) {
            fault_left = 0;
            assert_false(vec_push(&v, i));
            assert_int_equal(v.len, i);
            assert_int_equal(fault_left, -1);
        }
        assert_true(vec_push(&v, i));
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i);
    vec_free(&v);
}

static void a_large_vec_takes_what_it_can_get(void **state)
{
    (void)state;
    enum { ELEMENTS = 4 << 20 };
    VEC(uint32_t) v = { .max = ELEMENTS };
    uint32_t refused = 0;
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        uint32_t cap = v.cap;
        bool large = v.len == cap && cap >= 1 << 20;
        fault_left = large ? 0 : -1;
        assert_true(vec_push(&v, i));
        assert_int_equal(fault_left, -1);
        if (large)
            assert_int_equal(v.cap, cap + cap / 2 < ELEMENTS ? cap + cap / 2 : ELEMENTS);
        refused += large;
    }
    assert_true(refused > 0);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        assert_int_equal(v.at[i], i);
    vec_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_elements_stay),
        cmocka_unit_test(a_full_vec_refuses),
        cmocka_unit_test(counts_that_overflow_are_refused),
        cmocka_unit_test(a_failed_growth_changes_nothing),
        cmocka_unit_test(a_large_vec_takes_what_it_can_get),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
