/* Two measurements against each other: each limit of a verdict on both its sides. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/measurement/compare/compare.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/noise.h"
#include "base/str.h"
#include "base/vec.h"
#include "made/fault.h"
#include "model/ids.h"
#include "model/measurement.h"

/* A row judged. */

static struct compared_row judged(double a, double a_noise, double b, double b_noise,
                                  uint64_t count)
{
    struct compared_row row = { .a = { .count = count, .median = a, .noise = a_noise },
                                .b = { .count = 100, .median = b, .noise = b_noise } };
    compared_row_judge(&row);
    return row;
}

static void check_verdict(struct compared_row row, enum noise_verdict verdict,
                          enum compared_reason reason)
{
    assert_int_equal(row.verdict, verdict);
    assert_int_equal(row.reason, reason);
}

static void each_limit_of_a_verdict_has_two_sides(void **state)
{
    (void)state;
    /* One percent of 1000 is 10. */
    check_verdict(judged(1000, 2, 1006, 2, 6), NOISE_SAME, COMPARED_JUDGED);
    check_verdict(judged(1000, 2, 1007, 2, 6), NOISE_SLOWER, COMPARED_JUDGED);
    check_verdict(judged(1000, 2, 993, 2, 6), NOISE_FASTER, COMPARED_JUDGED);
    check_verdict(judged(1000, 5, 1000, 5, 6), NOISE_SAME, COMPARED_JUDGED);
    check_verdict(judged(1000, 5, 1000, 6, 6), NOISE_WITHIN, COMPARED_JUDGED);
    check_verdict(judged(1000, 20, 1040, 20, 6), NOISE_WITHIN, COMPARED_JUDGED);
    check_verdict(judged(1000, 20, 1041, 20, 6), NOISE_SLOWER, COMPARED_JUDGED);
    check_verdict(judged(1000, 20, 959, 20, 6), NOISE_FASTER, COMPARED_JUDGED);
    check_verdict(judged(0, 0, 0, 0, 6), NOISE_SAME, COMPARED_JUDGED);
    check_verdict(judged(0, 0, 1, 0, 6), NOISE_SLOWER, COMPARED_JUDGED);
}

static struct compared_row judged_between(double b, double between_runs)
{
    struct compared_row row = { .a = { .count = 6, .median = 1000, .noise = 20 },
                                .b = { .count = 6, .median = b, .noise = 20 },
                                .between_runs = between_runs };
    compared_row_judge(&row);
    return row;
}

static void what_runs_differ_by_is_noise(void **state)
{
    (void)state;
    check_verdict(judged_between(1041, NAN), NOISE_SLOWER, COMPARED_JUDGED);
    check_verdict(judged_between(1041, 0), NOISE_SLOWER, COMPARED_JUDGED);
    check_verdict(judged_between(1041, 1), NOISE_WITHIN, COMPARED_JUDGED);
    check_verdict(judged_between(1140, 100), NOISE_WITHIN, COMPARED_JUDGED);
    check_verdict(judged_between(1141, 100), NOISE_SLOWER, COMPARED_JUDGED);
    check_verdict(judged_between(860, 100), NOISE_WITHIN, COMPARED_JUDGED);
    check_verdict(judged_between(859, 100), NOISE_FASTER, COMPARED_JUDGED);
    struct compared_row row = judged_between(1141, 100);
    assert_true(row.low == 1 && row.high == 281);
    row = judged_between(1141, NAN);
    assert_true(row.low == 101 && row.high == 181);
}

static void few_values_are_not_judged(void **state)
{
    (void)state;
    check_verdict(judged(1000, 2, 2000, 2, 6), NOISE_SLOWER, COMPARED_JUDGED);
    check_verdict(judged(1000, 2, 2000, 2, 5), NOISE_NOT_JUDGED, COMPARED_FEW_VALUES);
    check_verdict(judged(1000, 2, 2000, 2, 0), NOISE_NOT_JUDGED, COMPARED_FEW_VALUES);
    check_verdict(judged(1000, NAN, 2000, 2, 6), NOISE_NOT_JUDGED, COMPARED_NO_VALUES);
    check_verdict(judged(1000, 2, 2000, NAN, 6), NOISE_NOT_JUDGED, COMPARED_NO_VALUES);
    check_verdict(judged(NAN, NAN, 2000, 2, 6), NOISE_NOT_JUDGED, COMPARED_UNKNOWN);
}

static void a_change_has_its_interval(void **state)
{
    (void)state;
    struct compared_row row = judged(200, 3, 150, 7, 6);
    assert_true(row.change == -50 && row.low == -60 && row.high == -40 && row.ratio == -0.25);
    row = judged(200, 3, 150, 7, 5);
    assert_true(row.change == -50 && isnan(row.low) && isnan(row.high) && row.ratio == -0.25);
    assert_true(isnan(judged(0, 0, 1, 0, 6).ratio));
    row = (struct compared_row){ .reason = COMPARED_CLOCKS,
                                 .a = { .count = 9, .median = 1 },
                                 .b = { .count = 9, .median = 2 } };
    compared_row_judge(&row);
    assert_true(isnan(row.change) && isnan(row.ratio) && row.reason == COMPARED_CLOCKS);
}

/* Whole measurements. */

static void add_time(struct measurement *m, const char *name, const char *clock,
                     const double *value, uint32_t values)
{
    struct measured_time t = { .name = str_from(name),
                               .unit = S("ms"),
                               .clock = str_from(clock),
                               .count = values,
                               .median = 77,
                               .has_values = true,
                               .first_value = m->value.len,
                               .values = values };
    for (uint32_t i = 0; i < values; i++)
        assert_true(vec_push(&m->value, value[i]));
    assert_true(vec_push(&m->time, t));
}

static void add_figure(struct measurement *m, const char *name, const char *unit, double value)
{
    struct measured_figure f = { .name = str_from(name), .unit = str_from(unit), .value = value };
    assert_true(vec_push(&m->figure, f));
}

static void add_phase(struct measurement *m, const char *path, uint64_t peak, uint64_t delta)
{
    struct measured_phase p = { .path = str_from(path),
                                .peak_bytes = peak,
                                .peak_delta_bytes = delta };
    assert_true(vec_push(&m->phase, p));
}

struct two {
    struct measurement m[2];
    struct arena arena;
    struct comparison d;
    struct noise_limit limit;
    bool is_limited;
    struct measurement repeat[2];
    uint32_t repeats; /* of them, given */
};

static void begin(struct two *t)
{
    *t = (struct two){ .is_limited = false };
    arena_init(&t->arena, SIZE_MAX / 2);
    for (int i = 0; i < 2; i++) {
        measurement_init(&t->m[i]);
        t->m[i].what = S("training");
        measurement_init(&t->repeat[i]);
        t->repeat[i].what = S("training");
    }
}

static void end(struct two *t)
{
    for (int i = 0; i < 2; i++)
        measurement_free(&t->m[i]);
    for (int i = 0; i < 2; i++)
        measurement_free(&t->repeat[i]);
    arena_free(&t->arena);
}

static enum vrs_status compare(void *arg)
{
    struct two *t = arg;
    const struct measurement *const again[] = { &t->repeat[0], &t->repeat[1] };
    const struct comparison_question q = { .a = &t->m[0],
                                           .b = &t->m[1],
                                           .limit = t->is_limited ? &t->limit : NULL,
                                           .again = again,
                                           .repeats = t->repeats };
    arena_free(&t->arena);
    arena_init(&t->arena, SIZE_MAX / 2);
    return comparison_make(&q, &t->arena, &t->d, NULL);
}

static const double six[] = { 4, 6, 5, 5, 4, 6 }, more[] = { 8, 10, 9, 9, 8, 10, 9 };

static void times_are_paired_by_name_and_values_count(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    add_time(&t.m[0], "data", "host", six, 6);
    add_time(&t.m[0], "step", "device", six, 6);
    add_time(&t.m[0], "copy", "device", six, 6);
    add_time(&t.m[1], "step", "device", more, 7);
    add_time(&t.m[1], "data", "host", six, 5);
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.timings, 2);
    assert_int_equal(t.d.left_out, 1);
    const struct compared_row *data = &t.d.timing[0], *step = &t.d.timing[1];
    assert_true(t.d.row == step && t.d.loading == data && str_equal(t.d.judged, S("step")));
    assert_true(step->a.median == 5 && step->b.median == 9); /* not the 77 of the document */
    assert_true(fabs(step->a.deviation - sqrt(4.0 / 5)) < 1e-12);
    assert_true(fabs(step->a.noise - noise_of_median(sqrt(4.0 / 5), 6)) < 1e-12);
    assert_int_equal(step->b.count, 7);
    assert_int_equal(t.d.verdict, NOISE_SLOWER);
    assert_int_equal(data->reason, COMPARED_FEW_VALUES);
    end(&t);
}

static void documents_without_values_have_no_interval(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    add_time(&t.m[0], "latency", "device", six, 6);
    add_time(&t.m[1], "latency", "device", six, 6);
    t.m[1].time.at[0].has_values = false;
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(t.d.row->a.median == 5 && t.d.row->b.median == 77);
    assert_int_equal(t.d.row->reason, COMPARED_NO_VALUES);
    assert_int_equal(t.d.verdict, NOISE_NOT_JUDGED);
    end(&t);
}

static void two_clocks_are_two_things(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    add_time(&t.m[0], "step", "device", six, 6);
    add_time(&t.m[1], "step", "host", six, 6);
    add_figure(&t.m[0], "x", "ms", 1);
    add_figure(&t.m[1], "x", "s", 1);
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.row->reason, COMPARED_CLOCKS);
    assert_int_equal(t.d.figure[0].reason, COMPARED_UNITS);
    t.is_limited = true;
    t.limit = (struct noise_limit){ .ns = INT64_MAX };
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(t.d.limit->exceeded); /* it cannot be told */
    end(&t);
}

static void figures_are_one_number(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    add_figure(&t.m[0], "throughput", "samples/s", 100);
    add_figure(&t.m[1], "throughput", "samples/s", 150);
    add_figure(&t.m[0], "utilisation", "percent", NAN);
    add_figure(&t.m[1], "utilisation", "percent", 3);
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(str_equal(t.d.judged, S("throughput")) && t.d.row->ratio == 0.5);
    assert_int_equal(t.d.row->reason, COMPARED_ONE_VALUE);
    assert_int_equal(t.d.figure[1].reason, COMPARED_UNKNOWN);
    /* A limit is one of times: more of a throughput is not worse. */
    t.is_limited = true;
    t.limit = (struct noise_limit){ .is_ratio = true, .ratio = 10 };
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(t.d.limit->exceeded && !t.d.limit->is_told);
    end(&t);
}

static void loading_in_bursts_is_not_judged(void **state)
{
    /* Means of 1.5 and of more than 1.5 times the median, which is 2. */
    static const double even[6] = { 2, 2, 2, 2, 2, 8 }, bursts[6] = { 2, 2, 2, 2, 2, 8.001 };
    struct two t;
    (void)state;
    begin(&t);
    add_time(&t.m[0], "data", "host", even, 6);
    add_time(&t.m[1], "data", "host", even, 6);
    add_time(&t.m[0], "step", "host", bursts, 6);
    add_time(&t.m[1], "step", "host", bursts, 6);
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.loading->reason, COMPARED_JUDGED);
    assert_true(t.d.loading->a.mean == 3);
    assert_int_equal(t.d.row->reason, COMPARED_JUDGED);
    end(&t);
    begin(&t);
    add_time(&t.m[0], "data", "host", even, 6);
    add_time(&t.m[1], "data", "host", bursts, 6);
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.loading->reason, COMPARED_BURSTS);
    assert_int_equal(t.d.loading->verdict, NOISE_NOT_JUDGED);
    end(&t);
}

static void memory_is_compared_to_the_byte(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    const uint64_t peaks[][2] = {
        { 100, 99 }, { 100, 100 }, { 100, 101 }, { UNKNOWN_U64, 1 }, { 0, UNKNOWN_U64 - 1 }
    };
    static const char *const paths[] = { "a", "b", "c", "d", "e" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int k = 0; k < 2; k++)
            add_phase(&t.m[k], paths[i], peaks[i][k], 5 + (uint64_t)k);
    assert_int_equal(compare(&t), VRS_OK);
    const uint8_t wanted[] = { COMPARED_LESS, COMPARED_EQUAL, COMPARED_MORE,
                               COMPARED_MEMORY_UNKNOWN, COMPARED_MORE };
    for (size_t i = 0; i < sizeof wanted; i++)
        assert_int_equal(t.d.memory[i].verdict, wanted[i]);
    assert_int_equal(t.d.memory[0].change, -1);
    assert_int_equal(t.d.memory[0].change_delta, 1);
    assert_true(t.d.memory[4].change == INT64_MAX && isnan(t.d.memory[4].ratio));
    t.m[1].phase.at[0].device = 1;
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.memories, 4);
    end(&t);
}

static void conditions_that_differ_are_listed(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    t.m[0].condition[CONDITION_BATCH_SIZE] = S("32");
    t.m[1].condition[CONDITION_BATCH_SIZE] = S("64");
    t.m[0].condition[CONDITION_MODE] = t.m[1].condition[CONDITION_MODE] = S("train");
    t.m[1].condition[CONDITION_GPU] = S("");
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.conditions, 2);
    assert_string_equal(t.d.condition[0].name, "batch_size");
    assert_string_equal(t.d.condition[1].name, "gpu");
    assert_null(t.d.condition[1].a.ptr);
    assert_null(t.d.row);
    assert_int_equal(t.d.verdict, NOISE_NOT_JUDGED);
    end(&t);
}

static void a_limit_has_two_sides(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    add_time(&t.m[0], "step", "device", six, 6);
    add_time(&t.m[1], "step", "device", more, 7); /* 5 ms, then 9 */
    const struct {
        struct noise_limit limit;
        bool exceeded;
    } limits[] = {
        { { .ns = 4000000 }, false },
        { { .ns = 3999999 }, true },
        { { .is_ratio = true, .ratio = 0.8 }, false },
        { { .is_ratio = true, .ratio = 0.799999 }, true },
    };
    t.is_limited = true;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        t.limit = limits[i].limit;
        assert_int_equal(compare(&t), VRS_OK);
        assert_int_equal(t.d.limit->exceeded, limits[i].exceeded);
    }
    end(&t);
}

/* A's median is 5, that of `more` 9. */
static void the_repeat_that_is_farthest_away_counts(void **state)
{
    static const double seven[] = { 7, 7, 7, 7, 7, 7 }, two[] = { 2, 2, 2, 2, 2, 2 };
    struct two t;
    (void)state;
    begin(&t);
    add_time(&t.m[0], "step", "device", six, 6);
    add_time(&t.m[1], "step", "device", more, 7);
    add_time(&t.repeat[0], "step", "device", seven, 6);
    add_time(&t.repeat[1], "step", "device", two, 6);
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(isnan(t.d.row->between_runs) && t.d.row->repeats == 0 && t.d.repeats == 0);
    double noise = (t.d.row->high - t.d.row->low) / 2;
    t.repeats = 1;
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(t.d.row->between_runs == 2 && t.d.row->repeats == 1 && t.d.repeats == 1);
    assert_true(fabs((t.d.row->high - t.d.row->low) / 2 - noise - 2) < 1e-12);
    t.repeats = 2;
    assert_int_equal(compare(&t), VRS_OK);
    assert_true(t.d.row->between_runs == 3 && t.d.row->repeats == 2 && t.d.repeats == 2);
    end(&t);
}

static void a_repeat_that_is_not_like_a_tells_nothing(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    t.repeats = 2;
    static const char *const names[] = { "copy", "data", "step", "optimizer", "backward" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 2; k++)
            add_time(&t.m[k], names[i], "device", six, 6);
    add_figure(&t.m[0], "throughput", "samples/s", 1);
    add_figure(&t.m[1], "throughput", "samples/s", 1);
    add_figure(&t.repeat[0], "throughput", "samples/s", 2);
    add_time(&t.repeat[0], "data", "device", more, 5); /* too few */
    add_time(&t.repeat[0], "step", "host", more, 6);
    add_time(&t.repeat[0], "optimizer", "device", more, 6);
    t.repeat[0].time.at[2].unit = S("s");
    add_time(&t.repeat[0], "backward", "device", more, 6);
    assert_int_equal(compare(&t), VRS_OK);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(isnan(t.d.timing[i].between_runs) && t.d.timing[i].repeats == 0);
        assert_int_equal(t.d.timing[i].reason, COMPARED_JUDGED);
    }
    assert_true(t.d.timing[4].between_runs == 4 && t.d.timing[4].repeats == 1);
    assert_true(isnan(t.d.figure[0].between_runs));
    end(&t);
}

static void conditions_of_repeats_are_listed(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    t.repeats = 2;
    for (int i = 0; i < 2; i++)
        t.m[i].condition[CONDITION_DTYPE] = t.repeat[i].condition[CONDITION_DTYPE] = S("float32");
    t.repeat[1].condition[CONDITION_DTYPE] = S("bfloat16");
    assert_int_equal(compare(&t), VRS_OK);
    assert_int_equal(t.d.conditions, 0);
    assert_int_equal(t.d.again[0].conditions, 0);
    assert_int_equal(t.d.again[1].conditions, 1);
    assert_string_equal(t.d.again[1].condition[0].name, "dtype");
    assert_true(str_equal(t.d.again[1].condition[0].b, S("bfloat16")));
    t.repeat[1].what = S("latency");
    assert_int_equal(compare(&t), VRS_USAGE);
    t.repeats = 1;
    assert_int_equal(compare(&t), VRS_OK);
    end(&t);
}

static void other_things_are_not_compared(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    t.m[1].what = S("latency");
    assert_int_equal(compare(&t), VRS_USAGE);
    end(&t);
}

static void every_allocation_may_fail(void **state)
{
    struct two t;
    (void)state;
    begin(&t);
    for (int i = 0; i < 2; i++) {
        add_time(&t.m[i], "step", "device", more, 7);
        add_figure(&t.m[i], "throughput", "samples/s", 1);
        add_phase(&t.m[i], "forward", 1, 2);
        add_time(&t.repeat[i], "step", "device", six, 6);
    }
    t.repeats = 2;
    t.m[0].condition[CONDITION_GPU] = S("H100");
    t.is_limited = true;
    fault_each(compare, NULL, &t);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_limit_of_a_verdict_has_two_sides),
        cmocka_unit_test(what_runs_differ_by_is_noise),
        cmocka_unit_test(few_values_are_not_judged),
        cmocka_unit_test(a_change_has_its_interval),
        cmocka_unit_test(times_are_paired_by_name_and_values_count),
        cmocka_unit_test(documents_without_values_have_no_interval),
        cmocka_unit_test(two_clocks_are_two_things),
        cmocka_unit_test(figures_are_one_number),
        cmocka_unit_test(loading_in_bursts_is_not_judged),
        cmocka_unit_test(memory_is_compared_to_the_byte),
        cmocka_unit_test(conditions_that_differ_are_listed),
        cmocka_unit_test(a_limit_has_two_sides),
        cmocka_unit_test(the_repeat_that_is_farthest_away_counts),
        cmocka_unit_test(a_repeat_that_is_not_like_a_tells_nothing),
        cmocka_unit_test(conditions_of_repeats_are_listed),
        cmocka_unit_test(other_things_are_not_compared),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
