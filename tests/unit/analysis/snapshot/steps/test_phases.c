/* test_phases.c - runs of phases, and annotations over them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/snapshot/steps/phases.h"
#include "base/table.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/ids.h"
#include "model/recording.h"

#define TORCH "/e/lib/python3.12/site-packages/torch/"

/* Letters of a program: each is one alloc of one byte with such a stack. */
static const struct stack_letter kinds[] = {
    { 'f', { { "_call_impl", TORCH "nn/modules/module.py", 1 } } },
    { 'b', { { "torch::autograd::Engine::thread_main(int)", "??", 0 } } },
    { 'p', { { "backward", TORCH "autograd/__init__.py", 1 } } },
    { 'o', { { "step", TORCH "optim/adam.py", 1 } } },
    { 'z', { { "zero_grad", TORCH "optim/optimizer.py", 1 } } },
    { 'd', { { "fetch", TORCH "utils/data/fetch.py", 1 } } },
    { 'i', { { "__init__", "/home/u/model.py", 1 } } },
    { 'c',
      { { "_call_impl", TORCH "nn/modules/module.py", 1 },
        { "closure", "/home/u/train.py", 1 },
        { "step", TORCH "optim/lbfgs.py", 1 } } },
    { 'g',
      { { "torch::autograd::Engine::execute(int)", "??", 0 },
        { "closure", "/home/u/train.py", 1 },
        { "step", TORCH "optim/lbfgs.py", 1 } } },
    { 'x', { { "main", "/home/u/train.py", 1 } } },
};

/* "-" is an alloc without a stack. */
static void make(struct studied *s, const char *program)
{
    static char text[4096];
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; program[i] != '\0'; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%sa %zx 8", i == 0 ? "" : "; ",
                                0x1000 + 512 * i);
    studied_begin(s);
    sample_events(&s->r, text);
    sample_letters(&s->r, kinds, sizeof kinds / sizeof *kinds, program);
}

static void mark(struct studied *s, const char *name, enum stage stage, uint64_t time_us)
{
    sample_mark(&s->r, 0, name, stage, time_us);
}

/* "forward 0-3*4; backward 5-6*2" */
static void check_intervals(const struct phases *p, const char *expected)
{
    char text[512] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < p->intervals; i++) {
        const struct phase_interval *one = &p->interval[i];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %u-%u*%u", i == 0 ? "" : "; ",
                                phase_names[one->phase], one->first_event, one->last_event,
                                one->allocs);
        assert_int_equal(one->alloc_bytes, 8 * (uint64_t)one->allocs);
    }
    assert_string_equal(text, expected);
}

static void check(const char *program, const char *expected)
{
    struct studied s;
    make(&s, program);
    studied_make(&s, "");
    check_intervals(&s.study.phases, expected);
    studied_end(&s);
}

static void runs_are_intervals(void **state)
{
    (void)state;
    check("ddffbbo", "data 0-1*2; forward 2-3*2; backward 4-5*2; optimizer 6-6*1");
    check("iiffzz", "init 0-1*2; forward 2-3*2; zero_grad 4-5*2");
    check("", "");
    /* Four allocs of no phase are a phase; three are glue, counted where the same one goes on. */
    check("ffxxxxff", "forward 0-1*2; other 2-5*4; forward 6-7*2");
    check("ffxxxff", "forward 0-6*7");
    check("ffxxxbb", "forward 0-1*2; backward 5-6*2");
    check("xxff", "other 0-1*2; forward 2-3*2");
    /* Python's own part of backward is none where the engine is seen. */
    check("ffpbb", "forward 0-1*2; backward 2-4*3");
}

/* Where only Python's frames are recorded, no frames are autograd's threads. */
static void no_frames_are_backward_among_python(void **state)
{
    (void)state;
    check("ff--oo", "forward 0-1*2; backward 2-3*2; optimizer 4-5*2");
    check("ff----b", "forward 0-1*2; other 2-5*4; backward 6-6*1");
    check("----", "other 0-3*4");
}

static void annotations_override(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "ffffxfff");
    mark(&s, "## backward ##", STAGE_START, 2);
    mark(&s, "Optimizer.step#AdamW.step", STAGE_START, 4);
    mark(&s, "Optimizer.step#AdamW.step", STAGE_END, 5);
    mark(&s, "## backward ##", STAGE_END, 7);
    mark(&s, "something else", STAGE_START, 0);
    studied_make(&s, "");
    const struct phases *p = &s.study.phases;
    check_intervals(p, "forward 0-1*2; backward 2-3*2; optimizer 4-4*1; backward 5-6*2; "
                       "forward 7-7*1");
    assert_int_equal(p->by_annotation, 5);
    assert_int_equal(p->by_stack, 3);
    assert_int_equal(p->annotation_agrees, 0);
    assert_int_equal(phases_at(p, 3), 1);
    assert_int_equal(phases_at(p, -1), NO_ROW);
    assert_int_equal(phases_at(p, 100), 4);
    studied_end(&s);
}

/* An optimizer's annotation stands around the closure that it calls, too. */
static void closures_are_not_the_optimizer(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "dcgfbo");
    mark(&s, "Optimizer.step#LBFGS.step", STAGE_START, 1);
    mark(&s, "Optimizer.step#LBFGS.step", STAGE_END, 6);
    studied_make(&s, "");
    check_intervals(&s.study.phases, "data 0-0*1; forward 1-1*1; backward 2-2*1; "
                                     "forward 3-3*1; backward 4-4*1; optimizer 5-5*1");
    studied_end(&s);
}

/* A start without an end goes on; an end without a start, or out of order, says nothing. */
static void broken_annotations_do_no_harm(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "fffffx");
    mark(&s, "forward", STAGE_END, 1);
    mark(&s, "optimizer", STAGE_START, 5);
    mark(&s, "backward", STAGE_START, 3);
    mark(&s, "Backward", STAGE_END, 4);
    mark(&s, "backward", STAGE_START, UNKNOWN_U64);
    studied_make(&s, "");
    const struct phases *p = &s.study.phases;
    check_intervals(p, "forward 0-2*3; backward 3-4*2; optimizer 5-5*1");
    studied_end(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "ffbboo");
    mark(&s, "forward", STAGE_START, 1);
    studied_make(&s, "");
    studied_without_memory(&s, NULL);
    studied_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_intervals),
        cmocka_unit_test(no_frames_are_backward_among_python),
        cmocka_unit_test(annotations_override),
        cmocka_unit_test(closures_are_not_the_optimizer),
        cmocka_unit_test(broken_annotations_do_no_harm),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
