/* test_growth.c - the class of a row of bytes of which nothing else is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/growth.h"

/* Bytes at each moment, up to the first NONE. */
#define NONE UINT64_MAX
enum { MOST = 12 };

static const struct example {
    uint64_t bytes[MOST];
    int64_t slope;
    enum growth_class expected;
    uint32_t every_steps;
} examples[] = {
    { { 0, 10, 20, 30, 40, 50, NONE }, 10, GROWTH_LEAK, 1 },
    { { 0, 10, 20, 30, 40, NONE }, 10, GROWTH_LEAK, 1 },
    { { 0, 10, 20, 30, NONE }, 10, GROWTH_SUSPECT, 1 },
    { { 0, 10, 20, NONE }, 10, GROWTH_SUSPECT, 1 },
    { { 0, 10, 10, NONE }, 5, GROWTH_STABLE, 0 },
    { { 0, 0, 0, 0, 0, NONE }, 0, GROWTH_STABLE, 0 },
    { { 50, 40, 30, 20, 10, NONE }, -10, GROWTH_STABLE, 0 },
    /* One of five may stand still, two may not. */
    { { 0, 10, 20, 20, 30, 40, NONE }, 7, GROWTH_LEAK, 1 },
    { { 0, 10, 20, 20, 20, 30, NONE }, 5, GROWTH_STABLE, 0 },
    /* Once, in the middle: a cache that is made late. */
    { { 0, 0, 90, 90, 90, 90, NONE }, 18, GROWTH_PLATEAU, 0 },
    { { 0, 10, 20, 30, 30, 30, NONE }, 6, GROWTH_PLATEAU, 0 },
    { { 0, 0, 0, 0, 0, 90, NONE }, 0, GROWTH_STABLE, 0 },
    { { 0, 10, 20, 30, 5, 15, 25, 35, 5, 15, NONE }, 1, GROWTH_SAWTOOTH, 0 },
    /* In each second step, and third; not where it falls between. */
    { { 0, 2, 2, 4, 4, 6, 6, NONE }, 1, GROWTH_LEAK, 2 },
    { { 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, NONE }, 1, GROWTH_LEAK, 3 },
    { { 0, 2, 1, 4, 3, 6, 5, NONE }, 1, GROWTH_STABLE, 0 },
};

static int64_t room[SLOPE_PAIRS_MAX];

static void each_row_has_its_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        uint32_t moments = 0;
        while (e->bytes[moments] != NONE)
            moments++;
        struct growth_trend got = growth_judge(e->bytes, moments, room);
        if (got.class != e->expected || got.every_steps != e->every_steps ||
            got.slope_bytes != e->slope)
            fail_msg("row %zu: %lld %s every %u, not %lld %s every %u", i,
                     (long long)got.slope_bytes, growth_class_names[got.class], got.every_steps,
                     (long long)e->slope, growth_class_names[e->expected], e->every_steps);
    }
}

/* Of many moments some are looked at, the last among them. */
static void a_long_row_has_a_slope(void **state)
{
    (void)state;
    static uint64_t bytes[5000];
    for (uint32_t i = 0; i < 5000; i++)
        bytes[i] = 7 * (uint64_t)i;
    struct growth_trend got = growth_judge(bytes, 5000, room);
    assert_int_equal(got.class, GROWTH_LEAK);
    assert_int_equal(got.slope_bytes, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_its_class),
        cmocka_unit_test(a_long_row_has_a_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
