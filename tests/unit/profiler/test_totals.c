#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made/fault.h"
#include "profiler/totals.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"

static void intervals_of_a_path_are_summed(void **state)
{
    (void)state;
    struct totals t;
    totals_init(&t);
    struct interval i = { .path = 5,
                          .device = 1,
                          .duration_ns = 10,
                          .start = 100,
                          .end = 130,
                          .peak = 180,
                          .gross = 90,
                          .allocations = 3 };
    totals_add(&t, &i);
    i = (struct interval){ .path = 5,
                           .device = 1,
                           .duration_ns = 4,
                           .start = 130,
                           .end = 110,
                           .peak = 150,
                           .gross = 20,
                           .allocations = 1,
                           .raised = true,
                           .state = VRS_LOST };
    totals_add(&t, &i);
    assert_int_equal(t.rows.len, 1);
    const struct total *row = &t.rows.at[0];
    assert_int_equal(row->calls, 2);
    assert_int_equal(row->raised, 1);
    assert_int_equal(row->total_ns, 14);
    assert_int_equal(row->longest_ns, 10);
    assert_int_equal(row->start, 100);
    assert_int_equal(row->end, 110);
    assert_int_equal(row->peak, 180);
    assert_int_equal(row->peak_delta, 80);
    assert_int_equal(row->growth, 10);
    assert_int_equal(row->gross, 110);
    assert_int_equal(row->kept, 30); /* the second gave more back than it took */
    assert_int_equal(row->allocations, 4);
    assert_int_equal(row->states[VRS_EXACT], 1);
    assert_int_equal(row->states[VRS_LOST], 1);
    totals_clear(&t);
    assert_int_equal(t.rows.len, 0);
    totals_free(&t);
}

static void the_devices_time_is_of_those_that_have_one(void **state)
{
    (void)state;
    struct totals t;
    totals_init(&t);
    struct interval i = { .path = 5, .device = 1 }, other = { .path = 5, .device = 2 };
    totals_timed(&t, &i, 9);
    assert_int_equal(t.rows.len, 0);
    for (uint32_t n = 0; n < 3; n++)
        totals_add(&t, &i);
    totals_add(&t, &other);
    totals_timed(&t, &i, 0);
    totals_timed(&t, &i, 7);
    i.kind = INTERVAL_CHECKPOINT;
    totals_timed(&t, &i, 9);
    assert_int_equal(t.rows.len, 2);
    assert_int_equal(t.rows.at[0].timed, 2);
    assert_int_equal(t.rows.at[0].device_ns, 7);
    assert_int_equal(t.rows.at[1].timed, 0);
    totals_free(&t);
}

static void a_path_has_a_row_for_each_device_and_kind(void **state)
{
    (void)state;
    struct totals t;
    totals_init(&t);
    for (uint32_t n = 0; n < 4000; n++)
        totals_add(&t, &(struct interval){ .path = n / 4 % 500,
                                           .device = n / 2 % 2,
                                           .kind = (enum interval_kind)(n % 2),
                                           .start = 1 });
    assert_int_equal(t.rows.len, 2000);
    for (uint32_t n = 0; n < 2000; n++) {
        assert_int_equal(t.rows.at[n].path, n / 4);
        assert_int_equal(t.rows.at[n].device, n / 2 % 2);
        assert_int_equal(t.rows.at[n].kind, n % 2);
        assert_int_equal(t.rows.at[n].calls, 2);
    }
    totals_free(&t);
}

static struct interval unknown(void)
{
    return (struct interval){ .path = 2,
                              .duration_ns = 7,
                              .start = VRS_UNKNOWN,
                              .end = VRS_UNKNOWN,
                              .peak = VRS_UNKNOWN,
                              .gross = VRS_UNKNOWN,
                              .allocations = VRS_UNKNOWN,
                              .state = VRS_STATE_UNKNOWN };
}

static void what_is_unknown_adds_nothing(void **state)
{
    (void)state;
    struct totals t;
    totals_init(&t);
    struct interval i = unknown();
    totals_add(&t, &i);
    const struct total *row = &t.rows.at[0];
    assert_int_equal(row->calls, 1);
    assert_int_equal(row->total_ns, 7);
    assert_int_equal(row->states[VRS_STATE_UNKNOWN], 1);
    assert_int_equal(row->start, VRS_UNKNOWN);
    assert_int_equal(row->end, VRS_UNKNOWN);
    assert_int_equal(row->peak, VRS_UNKNOWN);
    assert_int_equal(row->peak_delta, VRS_UNKNOWN);
    assert_int_equal(row->gross, VRS_UNKNOWN);
    assert_int_equal(row->kept, VRS_UNKNOWN);
    assert_int_equal(row->allocations, VRS_UNKNOWN);
    totals_add(&t, &(struct interval){ .path = 2, .start = 5, .end = 0, .peak = 5 });
    totals_add(&t, &i);
    assert_int_equal(row->start, 5);
    assert_int_equal(row->end, 0);
    assert_int_equal(row->peak, 5);
    assert_int_equal(row->peak_delta, 0);
    assert_int_equal(row->gross, 0);
    assert_int_equal(row->growth, -5);
    totals_free(&t);
}

enum { PATHS = 200 };

static enum vrs_status add_many(void *arg)
{
    (void)arg;
    struct totals t;
    totals_init(&t);
    for (uint32_t n = 0; n < PATHS; n++)
        totals_add(&t, &(struct interval){ .path = n });
    assert_int_equal(t.rows.len + t.refused, PATHS);
    enum vrs_status status = t.refused == 0 ? VRS_OK : VRS_NOMEM;
    totals_free(&t);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(add_many, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_of_a_path_are_summed),
        cmocka_unit_test(the_devices_time_is_of_those_that_have_one),
        cmocka_unit_test(a_path_has_a_row_for_each_device_and_kind),
        cmocka_unit_test(what_is_unknown_adds_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
