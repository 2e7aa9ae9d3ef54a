#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/study/study.h"
#include "made/traced.h"
#include "model/trace.h"

/* Rows of the trace in their order. */
static void check(const char *spans, const uint32_t *order)
{
    struct traced m;
    traced_study_of(&m, spans);
    assert_memory_equal(m.study.sorted, order, m.trace.spans.rows.len * sizeof *order);
    traced_end(&m);
}

static void by_start_then_the_longer_then_as_in_the_file(void **state)
{
    (void)state;
    check("op a 1/1 5+1; op b 1/1 3+1; op c 1/1 4+1", (uint32_t[]){ 1, 2, 0 });
    check("op a 1/1 5+1; op b 1/1 5+3; op c 1/1 5+2", (uint32_t[]){ 1, 2, 0 });
    check("op a 1/1 5+2; op b 2/1 5+2; op c 1/1 5+2", (uint32_t[]){ 0, 1, 2 });
    check("op a 1/1 5+0; op b 1/1 5+0; op c 1/1 4+1", (uint32_t[]){ 2, 0, 1 });
    check("op a 1/1 1+0; op b 1/1 -2+1; op c 1/1 -3+9", (uint32_t[]){ 2, 1, 0 });
}

static void extremes_of_time(void **state)
{
    (void)state;
    struct traced m;
    traced_begin(&m);
    uint32_t on = traced_track(&m, 1, 1);
    traced_span(&m, SPAN_OP, "late", on, INT64_MAX, 0);
    traced_span(&m, SPAN_OP, "early", on, INT64_MIN, 0);
    traced_span(&m, SPAN_OP, "short", on, 0, 0);
    traced_span(&m, SPAN_OP, "long", on, 0, INT64_MAX);
    uint32_t *sorted;
    assert_true(sort_spans(&m.trace, &m.arena, &sorted));
    assert_memory_equal(sorted, ((uint32_t[]){ 1, 3, 2, 0 }), 4 * sizeof *sorted);
    traced_end(&m);
}

/* Neighbours in the right order one and all; that also makes them different rows. */
static void assert_in_order(const struct spans *s, const uint32_t *sorted)
{
    for (uint32_t i = 1; i < s->rows.len; i++) {
        uint32_t a = sorted[i - 1], b = sorted[i];
        bool right = s->start[a] != s->start[b]         ? s->start[a] < s->start[b]
                     : s->duration[a] != s->duration[b] ? s->duration[a] > s->duration[b]
                                                        : a < b;
        if (!right)
            fail_msg("rows %u and %u stand in the wrong order", a, b);
    }
}

/* Few and many of one start take different ways. */
static void stretches_of_equal_starts(void **state)
{
    (void)state;
    static const uint32_t lengths[] = { 2, 15, 16, 17, 18, 40, 10000 };
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct traced m;
        uint32_t *sorted;
        traced_begin(&m);
        for (uint32_t k = 0; k < lengths[i] * 3; k++)
            traced_span(&m, SPAN_OP, "op", traced_track(&m, 1, 1), 1000 * (k % 3),
                        (int64_t)traced_draw(&random, 1 + k % 300));
        assert_true(sort_spans(&m.trace, &m.arena, &sorted));
        assert_in_order(&m.trace.spans, sorted);
        traced_end(&m);
    }
}

static void no_span(void **state)
{
    (void)state;
    struct traced m;
    traced_study_of(&m, "");
    assert_false(m.study.has_range);
    assert_int_equal(m.study.host.used, 0);
    traced_end(&m);
}

static void range_of_what_ran(void **state)
{
    (void)state;
    static const struct {
        const char *spans;
        int64_t first, last;
    } cases[] = {
        { "op a 1/1 5+3; kernel k 0/7 9+1", 5, 10 },
        { "op a 1/1 5+30; op b 1/1 6+1", 5, 35 },
        { "span Profile 1/1 0+99; op a 1/1 5+3; other x 1/1 1+50", 5, 8 },
        { "span Profile 1/1 0+99; other x 1/1 1+50", 1, 51 }, /* nothing that is known */
        { "gpu_annotation a 0/7 2+1; overhead o -1/0 4+1", 2, 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        traced_study_of(&m, cases[i].spans);
        assert_true(m.study.has_range);
        assert_int_equal(m.study.first_ns, cases[i].first);
        assert_int_equal(m.study.last_ns, cases[i].last);
        traced_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_start_then_the_longer_then_as_in_the_file),
        cmocka_unit_test(extremes_of_time),
        cmocka_unit_test(stretches_of_equal_starts),
        cmocka_unit_test(no_span),
        cmocka_unit_test(range_of_what_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
