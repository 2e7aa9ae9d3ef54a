#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/expectation.h"
#include "vramscope/profiler.h"

static void check(uint64_t step_events, uint64_t steps, uint64_t most, struct vrs_expected wanted)
{
    struct vrs_expected e;
    expectation_make(step_events, steps, most, &e);
    assert_true(e.events == wanted.events);
    assert_true(e.least_bytes == wanted.least_bytes && e.most_bytes == wanted.most_bytes);
    assert_true(e.steps_that_fit == wanted.steps_that_fit);
}

static void a_free_is_two_events(void **state)
{
    (void)state;
    assert_true(expectation_events(3, 2) == 7);
    assert_true(expectation_events(0, 0) == 0);
    assert_true(expectation_events(VRS_UNKNOWN, 2) == VRS_UNKNOWN);
    assert_true(expectation_events(3, VRS_UNKNOWN) == VRS_UNKNOWN);
    assert_true(expectation_events(3, UINT64_MAX / 2) == VRS_UNKNOWN);
}

static void a_recorder_keeps_the_last_events(void **state)
{
    (void)state;
    check(100, 3, 1000, (struct vrs_expected){ 300, 12000, 120000, 10 });
    check(100, 30, 1000, (struct vrs_expected){ 1000, 40000, 400000, 10 });
    check(100, 30, 99, (struct vrs_expected){ 99, 3960, 39600, 0 });
    check(0, 30, 1000, (struct vrs_expected){ 0, 0, 0, VRS_UNKNOWN });
}

static void what_is_not_known_stays_so(void **state)
{
    (void)state;
    check(VRS_UNKNOWN, 3, 1000,
          (struct vrs_expected){ VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN });
}

static void large_numbers_do_not_wrap(void **state)
{
    (void)state;
    const uint64_t most = INT64_MAX;
    check(UINT64_C(1) << 40, UINT64_C(1) << 40, 1000,
          (struct vrs_expected){ 1000, 40000, 400000, 0 });
    check(3, most, most, (struct vrs_expected){ most, UINT64_MAX, UINT64_MAX, most / 3 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_is_two_events),
        cmocka_unit_test(a_recorder_keeps_the_last_events),
        cmocka_unit_test(what_is_not_known_stays_so),
        cmocka_unit_test(large_numbers_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
