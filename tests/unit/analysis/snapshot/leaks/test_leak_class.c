/* test_leak_class.c - the class of a row of numbers, and moments of which one would be no later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/snapshot/leaks/leak_class.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "base/fail.h"
#include "base/growth.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/recording.h"

/* Bytes at each moment, up to the first NONE. */
#define NONE UINT64_MAX
enum { MOST = 12 };

struct example {
    uint64_t bytes[MOST];
    uint32_t generations;
    bool all_from_last_step;
    bool at_most_suspect;
    int64_t slope;
    enum leak_class expected;
    uint32_t every_steps;
};

static const struct example examples[] = {
    { { 0, 10, 20, 30, 40, 50, NONE }, 5, false, false, 10, LEAK_CLASS_LEAK, 1 },
    { { 0, 10, 20, 30, 40, 50, NONE }, 2, false, false, 10, LEAK_CLASS_STABLE, 0 },
    { { 0, 10, 20, 30, 40, 50, NONE }, 5, false, true, 10, LEAK_CLASS_SUSPECT, 1 },
    { { 7, 17, 27, 37, 47, NONE }, 3, false, false, 10, LEAK_CLASS_LEAK, 1 },
    { { 0, 10, 20, 30, NONE }, 3, false, false, 10, LEAK_CLASS_SUSPECT, 1 },
    { { 0, 10, 20, NONE }, 2, false, false, 10, LEAK_CLASS_SUSPECT, 1 },
    { { 0, 10, 20, NONE }, 1, false, false, 10, LEAK_CLASS_STABLE, 0 },
    { { 0, 10, 10, NONE }, 1, true, false, 0, LEAK_CLASS_REPLACED, 0 },
    { { 0, 10, 10, NONE }, 1, false, false, 0, LEAK_CLASS_ONE_TIME, 0 },
    { { 10, 10, 10, NONE }, 1, true, false, 0, LEAK_CLASS_REPLACED, 0 },
    { { 10, 10, 10, NONE }, 1, false, false, 0, LEAK_CLASS_STABLE, 0 },
    { { 0, 1000, 1005, 1000, 1001, NONE }, 2, false, false, 0, LEAK_CLASS_ONE_TIME, 0 },
    { { 0, 10, 20, 30, 30, 30, NONE }, 3, false, false, 5, LEAK_CLASS_PLATEAU, 0 },
    { { 0, 10, 20, 30, 5, 15, 25, 35, 5, 15, NONE }, 3, false, false, -1, LEAK_CLASS_SAWTOOTH, 0 },
    { { 0, 10, 20, 30, 5, 15, 25, 35, NONE }, 7, false, false, 3, LEAK_CLASS_LEAK, 1 },
    { { 50, 40, 30, 20, 10, NONE }, 1, false, false, -10, LEAK_CLASS_STABLE, 0 },
    { { 0, 0, 0, 0, 0, 90, NONE }, 1, false, false, 0, LEAK_CLASS_STABLE, 0 },
    { { 0, NONE - 1, 0, NONE - 1, 0, NONE }, 1, false, false, 0, LEAK_CLASS_STABLE, 0 },
    /* Sizes of few allocations that grow, as a cache that is copied, are of too few generations. */
    { { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99, NONE },
      3,
      false,
      false,
      10,
      LEAK_CLASS_STABLE,
      0 },
    { { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99, NONE },
      4,
      false,
      false,
      10,
      LEAK_CLASS_LEAK,
      1 },
    /* In each second step; not where a step is left out, it falls, or too few of it are alive. */
    { { 0, 0, 2, 2, 4, 4, 6, 6, 8, NONE }, 4, false, false, 1, LEAK_CLASS_LEAK, 2 },
    { { 0, 2, 2, 4, 4, 6, NONE }, 3, false, false, 1, LEAK_CLASS_LEAK, 2 },
    { { 0, 2, 2, 4, 4, 6, NONE }, 3, false, true, 1, LEAK_CLASS_SUSPECT, 2 },
    { { 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, NONE }, 3, false, false, 1, LEAK_CLASS_LEAK, 3 },
    { { 0, 0, 2, 2, 4, 4, 6, 6, 8, NONE }, 3, false, false, 1, LEAK_CLASS_STABLE, 0 },
    { { 0, 0, 2, 2, 4, 4, 4, 6, 8, NONE }, 4, false, false, 1, LEAK_CLASS_STABLE, 0 },
    { { 0, 0, 2, 2, 4, 4, 3, 6, 6, NONE }, 4, false, false, 0, LEAK_CLASS_STABLE, 0 },
    { { 0, 0, 2, 2, 4, 4, 6, 6, 6, 6, NONE }, 3, false, false, 0, LEAK_CLASS_PLATEAU, 0 },
    { { 9, 9, 9, 9, 9, 11, 11, 13, 13, 15, NONE }, 4, false, false, 1, LEAK_CLASS_STABLE, 0 },
};

static struct leak_series series_of(const struct example *e, const uint32_t counts[MOST])
{
    uint32_t moments = 0;
    while (e->bytes[moments] != NONE)
        moments++;
    return (struct leak_series){
        .bytes = e->bytes,
        .staying_bytes = e->bytes,
        .counts = counts,
        .moments = moments,
        .steps = moments - 1,
        .generations = e->generations,
        .staying_generations = e->generations,
        .all_from_last_step = e->all_from_last_step,
        .end_compares = true,
        .at_most_suspect = e->at_most_suspect,
    };
}

static int64_t room[SLOPE_PAIRS_MAX];

static void each_row_has_its_class(void **state)
{
    (void)state;
    static const uint32_t one[MOST] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    static const uint32_t more[MOST] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        struct leak_series s = series_of(e, e->expected == LEAK_CLASS_REPLACED ? one : more);
        struct leak_trend got = leak_judge(&s, room);
        int64_t slope = growth_slope(e->bytes, s.moments, leak_warm_up(s.steps), room);
        slope = e->every_steps != 0 ? got.slope_bytes : slope;
        if (got.class != e->expected || got.every_steps != e->every_steps || slope != e->slope)
            fail_msg("row %zu: %lld %s every %u, not %lld %s every %u", i, (long long)slope,
                     leak_class_names[got.class], got.every_steps, (long long)e->slope,
                     leak_class_names[e->expected], e->every_steps);
    }
}

/* What rises is let go of with the next step: two of one value are alive at a time. */
static void what_is_let_go_is_replaced(void **state)
{
    (void)state;
    static const struct example growing[] = {
        { { 0, 10, 20, NONE }, 2, false, false, 0, LEAK_CLASS_REPLACED, 0 },
        { { 0, 10, 20, 30, 40, 50, NONE }, 5, false, false, 0, LEAK_CLASS_REPLACED, 0 },
    };
    static const uint32_t counts[MOST] = { 0, 1, 2, 3, 4, 5 };
    static const uint64_t none[MOST];
    for (size_t i = 0; i < 2; i++) {
        struct leak_series s = series_of(&growing[i], counts);
        s.staying_generations = 1;
        s.staying_bytes = none;
        assert_int_equal(leak_judge(&s, room).class, LEAK_CLASS_REPLACED);
    }
    /* Of two steps the end tells, where it is that of a step. */
    struct leak_series s = series_of(&growing[0], counts);
    assert_int_equal(leak_judge(&s, room).class, LEAK_CLASS_SUSPECT);
    s.end_compares = false;
    assert_int_equal(leak_judge(&s, room).class, LEAK_CLASS_STABLE);
}

/* Of memory that stays, all of it made anew in each step, the bytes alone tell as much; what
 * warms up is left out of them. */
static void bytes_alone_tell_the_same(void **state)
{
    (void)state;
    static const enum leak_class same[GROWTH_CLASSES] = {
        [GROWTH_STABLE] = LEAK_CLASS_STABLE,     [GROWTH_PLATEAU] = LEAK_CLASS_PLATEAU,
        [GROWTH_SAWTOOTH] = LEAK_CLASS_SAWTOOTH, [GROWTH_SUSPECT] = LEAK_CLASS_SUSPECT,
        [GROWTH_LEAK] = LEAK_CLASS_LEAK,
    };
    static const uint32_t more[MOST] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    enum { WARM = 2, MOMENTS = 7, VALUES = 4 };
    uint32_t seen[GROWTH_CLASSES] = { 0 };
    for (uint32_t n = 0; n < 1u << (2 * MOMENTS); n++) {
        struct example e = { .generations = MOST };
        for (uint32_t t = 0; t < MOMENTS; t++)
            e.bytes[WARM + t] = 100 * (uint64_t)(n >> (2 * t) & (VALUES - 1));
        for (uint32_t t = 0; t < WARM; t++)
            e.bytes[t] = e.bytes[WARM];
        e.bytes[WARM + MOMENTS] = NONE;
        struct leak_series s = series_of(&e, more);
        struct leak_trend all = leak_judge(&s, room);
        struct growth_trend alone = growth_judge(e.bytes + WARM, MOMENTS, room);
        assert_int_equal(all.class, same[alone.class]);
        assert_int_equal(all.slope_bytes, alone.slope_bytes);
        assert_int_equal(all.every_steps, alone.every_steps);
        seen[alone.class]++;
    }
    assert_true(seen[GROWTH_STABLE] > 0 && seen[GROWTH_PLATEAU] > 0 && seen[GROWTH_SAWTOOTH] > 0 &&
                seen[GROWTH_LEAK] > 0);
}

/* A window of three takes larger and larger values: as many are alive at the end as before. */
static void what_grows_in_size_alone_is_no_leak(void **state)
{
    (void)state;
    static const struct example sizes[] = {
        { { 0, 10, 30, 60, 90, 120, 150, NONE }, 3, false, false, 0, LEAK_CLASS_STABLE, 0 },
        { { 0, 10, 30, 60, 90, 120, 150, NONE }, 3, false, true, 0, LEAK_CLASS_STABLE, 0 },
        { { 10, 20, 30, NONE }, 2, false, false, 0, LEAK_CLASS_STABLE, 0 },
    };
    static const uint32_t window[MOST] = { 0, 1, 2, 3, 3, 3, 3 };
    static const uint32_t two[MOST] = { 2, 2, 2 };
    static const uint32_t kept[MOST] = { 0, 1, 2, 3, 4, 5, 6 };
    static const enum leak_class of_kept[] = { LEAK_CLASS_LEAK, LEAK_CLASS_SUSPECT,
                                               LEAK_CLASS_SUSPECT };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct leak_series s = series_of(&sizes[i], i == 2 ? two : window);
        assert_int_equal(leak_judge(&s, room).class, LEAK_CLASS_STABLE);
        s.counts = kept;
        assert_int_equal(leak_judge(&s, room).class, of_kept[i]);
    }
}

/* Thousands of moments are thinned evenly; a straight line keeps its slope. */
static void long_rows_keep_their_slope(void **state)
{
    (void)state;
    static uint64_t bytes[5000];
    for (uint32_t t = 0; t < 5000; t++)
        bytes[t] = (uint64_t)t * 512;
    assert_int_equal(growth_slope(bytes, 5000, 2, room), 512);
    bytes[4999] = 0;
    assert_int_equal(growth_slope(bytes, 5000, 2, room), 512);
    assert_int_equal(growth_slope(bytes, 3, 2, room), 0);
}

/* The recording ends in a step that only frees: no moment is before that of the step before. */
static void a_last_step_without_allocs(void **state)
{
    (void)state;
    struct studied made;
    struct leaks g;
    studied_begin(&made);
    sample_events(&made.r, "a 1000 512; a 2000 512; f 1000 512; f 2000 512");
    for (uint64_t i = 0; i < 3; i++) {
        sample_mark(&made.r, 0, "Optimizer.step#SGD.step", STAGE_START, i);
        sample_mark(&made.r, 0, "Optimizer.step#SGD.step", STAGE_END, i + 1);
    }
    studied_make(&made, "");
    assert_int_equal(made.study.steps.count, 2);
    assert_int_equal(leaks_compute(&made.study, 0, &g, NULL), VRS_OK);
    assert_int_equal(g.moments, 3);
    assert_int_equal(g.slope_total_bytes, 0);
    studied_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_its_class),
        cmocka_unit_test(what_is_let_go_is_replaced),
        cmocka_unit_test(bytes_alone_tell_the_same),
        cmocka_unit_test(what_grows_in_size_alone_is_no_leak),
        cmocka_unit_test(long_rows_keep_their_slope),
        cmocka_unit_test(a_last_step_without_allocs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
