#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sorted.h"

static const uint64_t values[] = { 0, 0, 3, 3, 3, 7, 512, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX };
enum { VALUES = sizeof values / sizeof *values };

static const uint64_t asked[] = { 0, 1, 2, 3, 4, 7, 8, 511, 512, 513, UINT64_MAX - 1, UINT64_MAX };
enum { ASKED = sizeof asked / sizeof *asked };

static uint32_t count_below(uint32_t count, uint64_t value, bool itself)
{
    uint32_t below = 0;
    for (uint32_t i = 0; i < count; i++)
        below += values[i] < value || (itself && values[i] == value);
    return below;
}

static void places_are_those_of_a_count(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= VALUES; count++)
        for (uint32_t k = 0; k < ASKED; k++) {
            uint32_t below = count_below(count, asked[k], false), at;
            assert_int_equal(sorted_at_least(values, count, asked[k]), below);
            assert_int_equal(sorted_above(values, count, asked[k]),
                             count_below(count, asked[k], true));
            SORTED_FIND(at, count, values[at] < asked[k]);
            assert_int_equal(at, below);
        }
}

static void nothing_is_read_of_nothing(void **state)
{
    (void)state;
    uint32_t at = 7;
    const uint64_t *none = NULL;
    SORTED_FIND(at, 0, none[at] < 1);
    assert_int_equal(at, 0);
    assert_int_equal(sorted_at_least(none, 0, 1), 0);
    assert_int_equal(sorted_above(none, 0, UINT64_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_those_of_a_count),
        cmocka_unit_test(nothing_is_read_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
