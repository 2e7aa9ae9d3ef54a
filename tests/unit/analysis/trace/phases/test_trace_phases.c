#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/report/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

static void make(struct traced *m, const char *spans, struct trace_report *ret)
{
    *ret = (struct trace_report){ .steps = 0 };
    traced_study_of(m, spans);
    assert_true(trace_steps_make(&m->study, &m->arena, ret));
    assert_true(trace_phases_make(&m->study, &m->arena, ret));
}

/* Phases as "data 10/0, forward 4/5": on the wall and on devices. */
static void check(const char *spans, const char *wanted)
{
    struct traced m;
    struct trace_report r;
    char text[400] = "";
    make(&m, spans, &r);
    for (uint32_t i = 0, at = 0; i < r.phases.rows; i++)
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s %d/%d", i > 0 ? ", " : "",
                                 trace_phase_names[r.phases.row[i].phase],
                                 (int)r.phases.row[i].wall_ns, (int)r.phases.row[i].device_ns);
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s:\n  %s, wanted\n  %s", spans, text, wanted);
    traced_end(&m);
}

static void names_of_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum trace_phase phase;
    } cases[] = {
        { "enumerate(DataLoader)#iter.__next__", PHASE_DATA },
        { "next batch", PHASE_DATA },
        { "Optimizer.zero_grad#SGD.zero_grad", PHASE_OPTIMIZER },
        { "Zero-Grad", PHASE_OPTIMIZER },
        { "optim_step", PHASE_OPTIMIZER },
        { "my bwd", PHASE_BACKWARD },
        { "forward_backward", PHASE_BACKWARD },
        { "## FORWARD ##", PHASE_FORWARD },
        { "loss", PHASE_FORWARD },
        { "ProfilerStep#3", PHASE_OTHER },
        { "warm_up", PHASE_OTHER },
        { "", PHASE_OTHER },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(trace_phase_of_range(str_from(cases[i].name)), cases[i].phase);
}

#define STEP "annotation ProfilerStep#1 1/1 0+100; "

static void parts_of_a_step(void **state)
{
    (void)state;
    check(STEP, "other 100/0");
    /* From the last loading to the first backward it is forward, whatever runs there. */
    check(STEP "annotation enumerate(DataLoader)#x 1/1 5+10; "
               "op 'autograd::engine::evaluate_function: A' 1/2 40+20; "
               "annotation Optimizer.step#A.step 1/1 70+20",
          "data 10/0, forward 25/0, backward 20/0, optimizer 20/0, other 25/0");
    /* The first phase of the order counts where two meet. */
    check(STEP "annotation enumerate(DataLoader)#x 1/1 0+30; annotation backward 1/1 0+60; "
               "annotation forward 1/1 50+20",
          "data 30/0, forward 10/0, backward 30/0, other 30/0");
    /* A loader's own thread takes no time of the loop. */
    check(STEP "annotation fetch 1/2 0+50", "other 100/0");
    /* Operators with :: name no phase, old ranges do. */
    check(STEP "op aten::nll_loss_forward 1/1 0+10; op Optimizer.step#SGD.step 1/1 20+10",
          "optimizer 10/0, other 90/0");
}

static void device_work_by_what_launched_it(void **state)
{
    (void)state;
    check(STEP "op 'autograd::engine::evaluate_function: A' 1/2 40+20; "
               "runtime l 1/2 45+1 c1; runtime l 1/1 10+1 c2; runtime l 1/1 90+1 c3; "
               "kernel k 0/7 95+10 c1; kernel k 0/7 105+3 c2; kernel k 0/7 110+2 c3; "
               "kernel k 0/7 120+7 c9",
          "forward 40/3, backward 20/10, other 40/2");
    check("runtime l 1/1 10+1 c2; kernel k 0/7 20+5 c2; kernel k 0/7 30+7 c9",
          "other 27/5, unknown 0/7");
}

static void recomputation_is_apart(void **state)
{
    (void)state;
    check(STEP "op 'autograd::engine::evaluate_function: CheckpointFunctionBackward' 1/2 20+60; "
               "op CheckpointFunctionBackward 1/2 20+60; op aten::mm 1/2 25+10; "
               "op 'autograd::engine::evaluate_function: MmBackward0' 1/2 50+20; "
               "runtime l 1/2 26+1 c1; runtime l 1/2 55+1 c2; "
               "kernel k 0/7 30+4 c1; kernel k 0/7 60+5 c2",
          "forward 20/0, recompute 40/4, backward 20/5, other 20/0");
}

/* Steps without a range of the profiler. */
static void check_steps(const char *spans, enum step_source source, const char *wanted)
{
    struct traced m;
    struct trace_report r;
    char text[400] = "";
    make(&m, spans, &r);
    assert_int_equal(r.step_source, source);
    for (uint32_t i = 0, at = 0; i < r.steps; i++)
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%.*s %d+%d", i > 0 ? "; " : "",
                                 (int)r.step[i].name.len, r.step[i].name.ptr,
                                 (int)r.step[i].first_ns, (int)r.step[i].ns);
    assert_string_equal(text, wanted);
    traced_end(&m);
}

static void steps_by_what_is_there(void **state)
{
    (void)state;
    check_steps("annotation Optimizer.step#A.step 1/1 10+5", STEPS_NONE, "");
    check_steps("op a 1/1 2+1; annotation Optimizer.step#A.step 1/1 10+5; "
                "annotation Optimizer.step#B.step 1/1 16+2; "
                "annotation Optimizer.step#A.step 1/1 30+5",
                STEPS_OPTIMIZER, "step 0 2+13; step 1 15+20");
    check_steps("annotation execute_4 1/1 10+5; annotation execute_2 1/1 20+5; "
                "annotation execute_in 1/1 21+1",
                STEPS_RANGES, "execute_4 10+5; execute_2 20+5");
    check_steps("annotation ProfilerStep#1 1/1 0+9; annotation Optimizer.step#A.step 1/1 2+1; "
                "annotation Optimizer.step#A.step 1/1 4+1",
                STEPS_PROFILER, "ProfilerStep#1 0+9");
}

static void phases_of_random_traces_add_up(void **state)
{
    (void)state;
    uint64_t random = 5;
    static const char *const names[] = { "forward", "backward", "Optimizer.step#A", "DataLoader",
                                         "ProfilerStep#1", "ProfilerStep#2" };
    for (int round = 0; round < 200; round++) {
        struct traced m;
        struct trace_report r = { .steps = 0 };
        traced_begin(&m);
        traced_random_hosts(&m, &random, 12, 90);
        for (int i = 0; i < 6; i++)
            traced_span(&m, SPAN_ANNOTATION, names[traced_draw(&random, 6)],
                        traced_track(&m, 1, 1 + (int64_t)traced_draw(&random, 2)),
                        (int64_t)traced_draw(&random, 80), (int64_t)traced_draw(&random, 40));
        traced_study(&m);
        assert_true(trace_steps_make(&m.study, &m.arena, &r));
        assert_true(trace_phases_make(&m.study, &m.arena, &r));
        for (uint32_t i = 0; i < r.phases.steps; i++) {
            int64_t counted[TRACE_PHASES] = { 0 };
            for (int64_t t = 0; t < r.step[i].ns; t++)
                counted[trace_phase_at(&r.phases, r.step[i].first_ns + t)]++;
            assert_memory_equal(counted, r.phases.step[i].wall_ns, sizeof counted);
        }
        traced_end(&m);
    }
}

static enum vrs_status again(void *arg)
{
    struct traced *m = arg;
    struct arena arena;
    struct trace_report r = { .steps = 0 };
    arena_init(&arena, SIZE_MAX / 2);
    bool ok = trace_steps_make(&m->study, &arena, &r) && trace_phases_make(&m->study, &arena, &r);
    arena_free(&arena);
    return ok ? VRS_OK : VRS_NOMEM;
}

static void without_memory(void **state)
{
    (void)state;
    struct traced m;
    traced_study_of(&m, STEP "annotation forward 1/1 0+9; annotation backward 1/1 10+9; "
                             "runtime l 1/1 3+1 c1; kernel k 0/7 9+9 c1");
    fault_each(again, NULL, &m);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_ranges),
        cmocka_unit_test(parts_of_a_step),
        cmocka_unit_test(device_work_by_what_launched_it),
        cmocka_unit_test(recomputation_is_apart),
        cmocka_unit_test(steps_by_what_is_there),
        cmocka_unit_test(phases_of_random_traces_add_up),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
