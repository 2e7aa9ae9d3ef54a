#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/quickselect.h"

enum { VALUES = 4096 };

/* Fills `value` with an order that a choice of pivots may be slow with. */
typedef void fill_fn(int64_t *value, uint32_t count);

static void ascending(int64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value[i] = i;
}

static void descending(int64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value[i] = count - i;
}

static void equal(int64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value[i] = 7;
}

static void two_values(int64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value[i] = i * 2654435761u >> 31;
}

static void mixed(int64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value[i] = i * 2654435761u >> 8;
}

static void organ_pipe(int64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        value[i] = i < count / 2 ? i : count - i;
}

/* Musser's order for which the middle of three is next to the least each time. */
static void against_middle_of_three(int64_t *value, uint32_t count)
{
    uint32_t half = count / 2;
    ascending(value, count);
    for (uint32_t i = 0; i < half; i++) {
        value[i] = i % 2 == 0 ? i + 1 : half + i + (half % 2 == 0);
        value[half + i] = (int64_t)(i + 1) * 2;
    }
}

static fill_fn *const orders[] = {
    ascending, descending, equal, two_values, mixed, organ_pipe, against_middle_of_three
};
enum { ORDERS = sizeof orders / sizeof *orders };

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Negative ones too, and the ends of the range. */
static void check_i64(fill_fn *fill, uint32_t count, uint32_t wanted)
{
    static int64_t sorted[VALUES], value[VALUES];
    fill(value, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = value[i] -= 1000;
    sorted[0] = value[0] = INT64_MAX;
    sorted[count - 1] = value[count - 1] = INT64_MIN;
    qsort(sorted, count, sizeof *sorted, compare);
    assert_int_equal(quickselect_i64(value, count, wanted), sorted[wanted]);
    qsort(value, count, sizeof *value, compare);
    assert_memory_equal(value, sorted, count * sizeof *value);
}

static void check_u32(fill_fn *fill, uint32_t count, uint32_t wanted)
{
    static int64_t sorted[VALUES];
    static uint32_t value[VALUES];
    fill(sorted, count);
    sorted[count / 2] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        value[i] = (uint32_t)sorted[i];
    qsort(sorted, count, sizeof *sorted, compare);
    assert_int_equal(quickselect_u32(value, count, wanted), sorted[wanted]);
}

static void every_place_of_few_is_as_if_sorted(void **state)
{
    (void)state;
    for (uint32_t order = 0; order < ORDERS; order++)
        for (uint32_t count = 1; count <= 33; count++)
            for (uint32_t wanted = 0; wanted < count; wanted++) {
                check_i64(orders[order], count, wanted);
                check_u32(orders[order], count, wanted);
            }
}

static void places_of_many_are_as_if_sorted(void **state)
{
    (void)state;
    static const uint32_t wanted[] = { 0, 1, VALUES / 4, VALUES / 2 - 1, VALUES / 2, VALUES - 1 };
    for (uint32_t order = 0; order < ORDERS; order++)
        for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            check_i64(orders[order], VALUES, wanted[i]);
            check_u32(orders[order], VALUES, wanted[i]);
        }
}

static void one_is_itself(void **state)
{
    (void)state;
    uint32_t small = 9;
    int64_t large = INT64_MIN;
    assert_int_equal(quickselect_u32(&small, 1, 0), 9);
    assert_int_equal(quickselect_i64(&large, 1, 0), INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_of_few_is_as_if_sorted),
        cmocka_unit_test(places_of_many_are_as_if_sorted),
        cmocka_unit_test(one_is_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
