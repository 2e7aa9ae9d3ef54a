/* What a memory timeline says, of small ones whose figures are plain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/timeline/timeline.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/text_trace.h"
#include "model/memory_timeline.h"
#include "model/trace.h"

struct said {
    struct arena arena;
    struct trace_timeline t;
};

static const struct trace_timeline *say(struct said *s, const char *text)
{
    struct text_trace r;
    const struct trace *t = text_trace_of(text, &r);
    arena_init(&s->arena, SIZE_MAX / 2);
    assert_int_equal(trace_timeline_make(t, &s->arena, &s->t, NULL), VRS_OK);
    text_trace_free(&r);
    return &s->t;
}

static void stop(struct said *s)
{
    arena_free(&s->arena);
}

static const struct timeline_row *row_of(const struct trace_timeline *t,
                                         enum timeline_category category)
{
    for (uint32_t i = 0; i < t->categories; i++)
        if (t->category[i].category == category)
            return &t->category[i];
    fail();
    return NULL;
}

/* 10 before; then an activation of 50, a gradient of 30 for part of it, a peak of 90 at 30. */
static const char plain[] = "[[-1, 1, 10, 0], [10, 2, 50, 4], [30, 2, 30, 5], [40, 4, -50, 4],"
                            " [110, 2, 20, 4], [111, 2, 30, 3], [120, 4, -30, 3]]";

static void the_peak_is_of_all_categories(void **state)
{
    struct said s;
    (void)state;
    const struct trace_timeline *t = say(&s, plain);
    assert_int_equal(t->states, 6);
    assert_int_equal(t->first_ns, 10);
    assert_int_equal(t->last_ns, 120);
    assert_int_equal(t->length_ns, 110);
    assert_int_equal(t->sum.peak, 90);
    assert_int_equal(t->sum.peak_ns, 30); /* and not 111, which has as much */
    assert_int_equal(t->sum.before, 10);
    assert_int_equal(t->sum.end, 60);
    assert_int_equal(t->sum.lowest, 10);
    const struct timeline_row *r = row_of(t, TIMELINE_ACTIVATION);
    assert_int_equal(r->at_peak, 50);
    assert_true(r->at_peak_ratio == 50. / 90);
    assert_int_equal(r->peak, 50);
    assert_int_equal(r->peak_ns, 10);
    assert_int_equal(r->end, 20);
    r = row_of(t, TIMELINE_TEMPORARY);
    assert_int_equal(r->at_peak, 0);
    assert_int_equal(r->peak, 30);
    assert_int_equal(r->peak_ns, 111);
    assert_int_equal(r->end, 0);
    r = row_of(t, TIMELINE_PARAMETER);
    assert_int_equal(r->before, 10);
    assert_int_equal(r->peak_ns, TRACE_UNKNOWN);
    stop(&s);
}

static void categories_stand_by_their_bytes_at_the_peak(void **state)
{
    struct said s;
    (void)state;
    const struct trace_timeline *t = say(&s, plain);
    static const enum timeline_category wanted[] = {
        TIMELINE_ACTIVATION, TIMELINE_GRADIENT,  TIMELINE_PARAMETER,       TIMELINE_OPTIMIZER_STATE,
        TIMELINE_INPUT,      TIMELINE_TEMPORARY, TIMELINE_AUTOGRAD_DETAIL, TIMELINE_UNKNOWN,
    };
    for (uint32_t i = 0; i < TIMELINE_CATEGORIES; i++)
        assert_int_equal(t->category[i].category, wanted[i]);
    stop(&s);
}

static void sums_below_zero_are_counted(void **state)
{
    struct said s;
    (void)state;
    const struct trace_timeline *t =
        say(&s, "[[10, 4, -5, 3], [20, 4, -2, 3], [30, 2, 100, 3], [40, 4, -100, 3]]");
    const struct timeline_row *r = row_of(t, TIMELINE_TEMPORARY);
    assert_int_equal(r->below_zero, 3);
    assert_int_equal(r->lowest, -7);
    assert_int_equal(t->sum.below_zero, 3);
    assert_int_equal(t->sum.peak, 93);
    stop(&s);
}

/* Of a sum that is never above 0 nothing has a share. */
static void nothing_has_a_share_of_less_than_nothing(void **state)
{
    struct said s;
    (void)state;
    const struct trace_timeline *t = say(&s, "[[10, 4, -5, 3], [20, 4, -2, 3]]");
    assert_int_equal(t->sum.peak, -5);
    assert_true(row_of(t, TIMELINE_TEMPORARY)->at_peak_ratio < 0);
    stop(&s);
}

static void there_may_be_only_what_was_before(void **state)
{
    struct said s;
    (void)state;
    const struct trace_timeline *t = say(&s, "[[-1, 1, 10, 0]]");
    assert_int_equal(t->states, 0);
    assert_false(t->has_bins);
    assert_int_equal(t->sum.peak, 10);
    assert_int_equal(t->sum.end, 10);
    assert_int_equal(t->sum.peak_ns, TRACE_UNKNOWN);
    stop(&s);
}

/* 120 parts of 120 ns: each is a nanosecond, but for the last. */
static void parts_of_the_time_have_their_most(void **state)
{
    struct said s;
    (void)state;
    const struct trace_timeline *t =
        say(&s, "[[0, 2, 10, 3], [2, 2, 5, 3], [3, 4, -14, 3], [120, 2, 7, 3]]");
    assert_true(t->has_bins);
    assert_int_equal(t->bin[0], 10);
    assert_int_equal(t->bin[1], 10);
    assert_int_equal(t->bin[2], 15);
    assert_int_equal(t->bin[3], 15); /* until the moment at which it fell */
    assert_int_equal(t->bin[4], 1);
    assert_int_equal(t->bin[118], 1);
    assert_int_equal(t->bin[119], 8);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_of_all_categories),
        cmocka_unit_test(categories_stand_by_their_bytes_at_the_peak),
        cmocka_unit_test(sums_below_zero_are_counted),
        cmocka_unit_test(nothing_has_a_share_of_less_than_nothing),
        cmocka_unit_test(there_may_be_only_what_was_before),
        cmocka_unit_test(parts_of_the_time_have_their_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
