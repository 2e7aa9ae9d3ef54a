#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/categories/categories.h"
#include "analysis/trace/memory/memory.h"
#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

static enum vrs_status peaks(struct traced *m, struct arena *arena, struct trace_report *ret)
{
    *ret = (struct trace_report){ .steps = 0 };
    TRY(memory_make(&m->study, arena, &ret->figures.memory, NULL));
    bool ok = trace_steps_make(&m->study, arena, ret) &&
              trace_phases_make(&m->study, arena, ret) &&
              trace_categories_make(&m->study, arena, arena, ret);
    return ok ? VRS_OK : VRS_NOMEM;
}

static const struct trace_memory_peak *make(struct traced *m, const char *spans,
                                            const char *instants, struct trace_report *ret)
{
    traced_begin(m);
    traced_spans(m, spans);
    traced_memory(m, instants);
    traced_study(m);
    assert_int_equal(peaks(m, &m->arena, ret), VRS_OK);
    assert_true(ret->peaks.rows > 0);
    return &ret->peaks.row[0];
}

/* What the peak consists of, as "gradient 8 + unknown 4". */
static void check(const char *spans, const char *instants, const char *wanted)
{
    struct traced m;
    struct trace_report r;
    char text[300] = "";
    const struct trace_memory_peak *p = make(&m, spans, instants, &r);
    for (uint32_t i = 0, at = 0; i < p->categories; i++)
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s %d", i > 0 ? " + " : "",
                                 trace_category_names[p->category[i].category],
                                 (int)p->category[i].bytes);
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s: %s\n  %s, wanted\n  %s", spans, instants, text, wanted);
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->categories; i++)
        sum += p->category[i].bytes;
    assert_int_equal(sum, p->row->peak);
    traced_end(&m);
}

/* A loop that loads, runs forward, backward and the optimizer, in 100 ns each. */
#define LOOP                                                                                       \
    "annotation fetch 1/1 0+100; annotation forward 1/1 100+100; "                                 \
    "annotation backward 1/1 200+100; annotation Optimizer.step#SGD.step 1/1 300+100; "            \
    "annotation forward 1/1 400+100; annotation backward 1/1 500+100; "                            \
    "op aten::mm 1/1 110+10; op aten::mul 1/1 310+80; "                                            \
    "op 'autograd::engine::evaluate_function: AccumulateGrad' 1/1 210+10; "                        \
    "op aten::to 1/1 700+20; runtime copy 1/1 701+2 c9; memcpy 'Memcpy HtoD' 0/7 705+2 c9"

static void rules_in_their_order(void **state)
{
    (void)state;
    /* 1: inside one outermost operator, whatever the phase. */
    check(LOOP, "1/0 111 8 a1; 1/0 119 -8 a1", "temporary 8");
    /* 2: what is given back and was never taken, and what is neither. */
    check(LOOP, "1/0 50 -8 a1", "pre_existing 8");
    check(LOOP, "1/0 50 4 a2 t12; 1/0 60 -4 a2 t8", "pre_existing 8 + input 4");
    /* 3 */
    check(LOOP, "1/0 305 8 a1", "optimizer_state 8");
    check(LOOP, "1/0 305 8 a1; 1/0 395 -8 a1", "temporary 8");
    check(LOOP, "1/0 305 8 a1; 1/0 400 -8 a1", "optimizer_state 8");
    /* 4 */
    check(LOOP, "1/0 230 8 a1", "gradient 8");
    check(LOOP, "1/0 230 8 a1; 1/0 350 -8 a1", "gradient 8");
    check(LOOP, "1/0 230 8 a1; 1/0 450 -8 a1", "gradient 8");
    check(LOOP, "1/0 230 8 a1; 1/0 250 -8 a1", "autograd_detail 8");
    check(LOOP, "1/0 211 8 a1; 1/0 250 -8 a1", "gradient 8"); /* under AccumulateGrad */
    /* 5 */
    check(LOOP, "1/0 130 8 a1; 1/0 200 -8 a1", "activation 8");
    check(LOOP, "1/0 130 8 a1", "activation 8");
    check(LOOP, "1/0 130 8 a1; 1/0 199 -8 a1", "temporary 8");
    check("annotation forward 1/1 0+100", "1/0 30 8 a1", "unknown 8"); /* no backward ever */
    /* 6 */
    check(LOOP, "1/0 30 8 a1", "input 8");
    check(LOOP, "1/0 702 8 a1", "input 8");
    /* 7 */
    check(LOOP, "1/0 730 8 a1", "unknown 8");
}

static void only_what_is_there_at_the_peak(void **state)
{
    (void)state;
    check(LOOP, "1/0 30 8 a1; 1/0 130 16 a2; 1/0 150 -8 a1; 1/0 240 4 a3; 1/0 250 -16 a2",
          "activation 16 + input 8");
    /* A new allocation on a live address ends the old one. */
    check(LOOP, "1/0 30 8 a1; 1/0 130 16 a1 ", "activation 16 + pre_existing 8");
}

static void who_held_the_peak(void **state)
{
    (void)state;
    struct traced m;
    struct trace_report r;
    const struct trace_memory_peak *p =
        make(&m, "annotation ProfilerStep#4 1/1 0+100; op aten::mm 1/1 10+30; op aten::empty 1/1 15+5",
             "1/0 16 8 a1 t28 r64; 1/0 25 16 a2 t44 r128; 1/0 60 -8 a1 t36 r128", &r);
    assert_true(str_equal(p->op, S("aten::mm")) && str_equal(p->step, S("ProfilerStep#4")));
    assert_int_equal(p->row->peak_reserved, 128);
    assert_int_equal(p->live, 2);
    assert_int_equal(p->live_bytes, 24);
    assert_int_equal(p->before_bytes, 20);
    assert_int_equal(p->tops, 2);
    assert_int_equal(p->top[0].bytes, 16);
    assert_int_equal(p->top[0].allocated_ns, 25);
    assert_true(str_equal(p->top[0].op, S("aten::mm")));
    assert_true(str_equal(p->top[1].op, S("aten::empty")));
    assert_int_equal(p->top[1].address, 1);
    traced_end(&m);
    /* Nothing above what was there before: no event reached the peak. */
    p = make(&m, "op a 1/1 0+9", "1/0 1 -8 a1 t8", &r);
    assert_null(p->op.ptr);
    assert_int_equal(p->live, 0);
    assert_int_equal(p->before_bytes, 16);
    traced_end(&m);
    /* Without addresses nothing is paired. */
    p = make(&m, "op a 1/1 0+9", "1/0 1 8 t8", &r);
    assert_true(!p->has_blocks && p->categories == 0 && p->unknown < 0);
    traced_end(&m);
}

/* Four steps of 100 ns that end with these bytes in use. */
static const struct trace_memory_peak *grown(struct traced *m, const int64_t ends[4],
                                             struct trace_report *ret)
{
    char instants[200];
    int64_t before = 0, at = 0;
    for (int i = 0; i < 4; i++) {
        at += snprintf(instants + at, sizeof instants - (size_t)at, "%s1/0 %d %lld t%lld",
                       i > 0 ? "; " : "", i * 100 + 50, (long long)(ends[i] - before),
                       (long long)ends[i]);
        before = ends[i];
    }
    return make(m, "annotation ProfilerStep#1 1/1 0+100; annotation ProfilerStep#2 1/1 100+100; "
                   "annotation ProfilerStep#3 1/1 200+100; annotation ProfilerStep#4 1/1 300+100",
                instants, ret);
}

static void growth_of_more_than_a_hundredth(void **state)
{
    (void)state;
    static const struct {
        int64_t ends[4];
        uint32_t grown;
        bool leaks;
    } cases[] = {
        { { 1000, 1011, 1022, 1033 }, 3, true },
        { { 1000, 1010, 1022, 1033 }, 2, false }, /* exactly 1 % is not more */
        { { 1000, 1100, 1200, 1200 }, 0, false },
        { { 1000, 1000, 1200, 1300 }, 2, false },
        { { 0, 100, 200, 300 }, 3, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct trace_report r;
        const struct trace_memory_peak *p = grown(&m, cases[i].ends, &r);
        assert_int_equal(p->steps, 4);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(p->step_end[k], cases[i].ends[k]);
        assert_int_equal(p->grown, cases[i].grown);
        assert_int_equal(p->leaks, cases[i].leaks);
        traced_end(&m);
    }
}

/* Whatever the trace, the categories add up to the peak. */
static void sums_of_random_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct traced m;
        struct trace_report r;
        char instants[4000];
        uint64_t random = seed;
        int at = 0;
        for (int i = 0; i < 60; i++)
            at += snprintf(instants + at, sizeof instants - (size_t)at, "%s1/0 %d %s%d a%d",
                           i > 0 ? "; " : "", (int)traced_draw(&random, 700),
                           traced_draw(&random, 2) == 0 ? "-" : "",
                           8 * (1 + (int)traced_draw(&random, 9)), (int)traced_draw(&random, 12));
        const struct trace_memory_peak *p = make(&m, LOOP, instants, &r);
        int64_t sum = 0, live = 0;
        for (uint32_t i = 0; i < p->categories; i++)
            sum += p->category[i].bytes;
        for (uint32_t i = 0; i < p->tops; i++)
            live += p->top[i].bytes;
        if (p->before_bytes != TRACE_UNKNOWN)
            assert_int_equal(sum, p->row->peak);
        assert_true(live <= p->live_bytes && p->tops <= p->live);
        traced_end(&m);
    }
}

static enum vrs_status again(void *arg)
{
    struct traced *m = arg;
    struct trace_report r;
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status = peaks(m, &arena, &r);
    arena_free(&arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    struct traced m;
    struct trace_report r;
    make(&m, LOOP, "1/0 30 8 a1; 1/0 130 16 a2; 1/0 150 -8 a1; 1/0 240 4 a3; 0/-1 250 16 a2", &r);
    fault_each(again, NULL, &m);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_in_their_order),
        cmocka_unit_test(only_what_is_there_at_the_peak),
        cmocka_unit_test(who_held_the_peak),
        cmocka_unit_test(growth_of_more_than_a_hundredth),
        cmocka_unit_test(sums_of_random_traces),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
