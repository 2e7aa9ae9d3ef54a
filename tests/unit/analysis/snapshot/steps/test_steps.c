/* test_steps.c - steps from programs written as letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/snapshot/steps/steps.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/recording.h"

#define TORCH "/e/lib/python3.12/site-packages/torch/"
#define MAIN                                                                                       \
    {                                                                                              \
        "main", "/home/u/train.py", 1                                                              \
    }
#define CALL                                                                                       \
    {                                                                                              \
        "_call_impl", TORCH "nn/modules/module.py", 1                                              \
    }

/* A letter is an alloc with such a stack; its capital is the same at another size. */
static const struct stack_letter kinds[] = {
    { 'f', { { "forward", "/home/u/model.py", 1 }, CALL, MAIN } },
    { 'g', { { "forward", "/home/u/model.py", 2 }, CALL, MAIN } },
    { 'b', { { "torch::autograd::Engine::thread_main(int)", "??", 0 } } },
    { 'c', { { "torch::autograd::Engine::evaluate_function(int)", "??", 0 } } },
    { 'o', { { "step", TORCH "optim/adam.py", 1 }, MAIN } },
    { 'x', { { "work", "/home/u/work.py", 1 }, MAIN } },
    { 'y', { { "work", "/home/u/work.py", 2 }, MAIN } },
};

/* Every alloc is freed at once, but for what "!" stands behind, which stays.  "*" is an oom. */
static void make(struct studied *s, const char *program)
{
    static char text[1 << 16], letters[4096];
    size_t len = 0, events = 0;
    for (size_t i = 0; program[i] != '\0'; i++) {
        char letter = (char)(program[i] | 0x20);
        unsigned size = program[i] == letter ? 512 : 2048;
        const char *gap = len == 0 ? "" : "; ";
        if (program[i] == '!')
            continue;
        if (program[i] == '*') {
            len += (size_t)snprintf(text + len, sizeof text - len, "%so 0 4096", gap);
            letters[events++] = '-';
            continue;
        }
        len += (size_t)snprintf(text + len, sizeof text - len, "%sa %zx %u", gap, 4096 * (i + 1),
                                size);
        letters[events++] = letter;
        if (program[i + 1] == '!')
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "; f %zx %u", 4096 * (i + 1), size);
        letters[events++] = '-';
    }
    letters[events] = '\0';
    studied_begin(s);
    sample_events(&s->r, text);
    sample_letters(&s->r, kinds, sizeof kinds / sizeof *kinds, letters);
}

/* Of a device that is not there: marks are never matched by it. */
static void mark(struct studied *s, const char *name, enum stage stage, uint64_t time_us)
{
    sample_mark(&s->r, 3, name, stage, time_us);
}

/* "phases 0 8 16 to 23", then each loop as " no 3*8 inside_module" */
static void check_steps(const struct steps *s, const char *expected)
{
    char text[512] = "";
    size_t len = (size_t)snprintf(text, sizeof text, "%s", step_source_names[s->source]);
    for (uint32_t i = 0; i < s->count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, " %u", s->boundary[i].event);
    if (s->count != 0)
        len += (size_t)snprintf(text + len, sizeof text - len, " to %u", s->end_event);
    for (uint32_t i = 0; i < s->inners; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, " no %u*%u %s",
                                s->inner[i].period_allocs, s->inner[i].repeats,
                                s->inner[i].refused_by);
    assert_string_equal(text, expected);
}

static void check(const char *program, const char *expected)
{
    struct studied made;
    make(&made, program);
    studied_make(&made, "");
    check_steps(&made.study.steps, expected);
    studied_end(&made);
}

static void cycles_of_phases(void **state)
{
    (void)state;
    check("ffbboffbbo", "phases 0 10 to 19");
    check("xffbbffbbffbb", "phases 2 10 18 to 25");
    /* Two pairs before each optimizer are one step. */
    check("fbfbofbfbo", "phases 0 10 to 19");
    /* An optimizer that allocates its state once does not end steps. */
    check("fbofbfbfb", "phases 0 6 10 14 to 17");
    /* One step is a step, where something tells that it ended. */
    check("ffbbo", "phases 0 to 9");
    check("ffbb", "none");
    /* The last is cut: what begins behind the last whole one is none. */
    check("ffbboffbboff", "phases 0 10 to 19");
    /* It ran out of memory. */
    check("ffbboffbboffb*", "phases 0 10 to 19");
}

/* "20 to 23, peak at 22"; "none" */
static void check_unended(const char *program, const char *expected)
{
    struct studied made;
    char text[64] = "none";
    make(&made, program);
    studied_make(&made, "");
    const struct steps *s = &made.study.steps;
    const struct step_boundary *b = &s->boundary[s->count];
    if (s->unended)
        snprintf(text, sizeof text, "%u to %u, peak at %lld", b->event, b->end_event,
                 (long long)b->peak_event);
    assert_string_equal(text, expected);
    studied_end(&made);
}

/* The last one is no complete step, and yet one that moments name. */
static void steps_that_did_not_end(void **state)
{
    (void)state;
    check_unended("ffbboffbboffb*", "20 to 26, peak at 20");
    check_unended("ffbboffbbofFb*", "20 to 26, peak at 22");
    check_unended("ffbboffbbof!f", "20 to 22, peak at 21");
    check_unended("xyxyxyxyxyx", "20 to 21, peak at 20");
    check_unended("xyxyxyxyxyx*", "20 to 22, peak at 20");
    check_unended("ffbboffbbo", "none");
    check_unended("xyxyxyxyxy", "none");
    check_unended("xyXYxXyYxx*", "none");
}

static void micro_steps_are_counted(void **state)
{
    (void)state;
    struct studied made;
    make(&made, "fbfbofbfbo");
    studied_make(&made, "");
    const struct steps *s = &made.study.steps;
    assert_int_equal(s->micro_steps, 2);
    assert_int_equal(s->agreement[STEPS_PHASES], 2);
    studied_end(&made);
}

static void what_repeats_itself(void **state)
{
    (void)state;
    check("xyxyxyxyxy", "periodicity 0 4 8 12 16 to 19");
    /* Too few allocs. */
    check("xyxyxy", "none");
    /* A loop of layers inside a forward, a backward, an optimizer. */
    check("fgfgfgfgfg", "none no 2*5 inside_module");
    check("bcbcbcbcbc", "none no 2*5 no_python_frames");
    check("oOoOoOoOoO", "none no 2*5 optimizer_phase");
    /* Nothing alike. */
    check("xyYXxXyYxx", "none");
}

static void boundaries_are_measured(void **state)
{
    (void)state;
    struct studied made;
    make(&made, "xX!yxX!yxX!yxX!y");
    studied_make(&made, "");
    const struct steps *s = &made.study.steps;
    check_steps(s, "periodicity 0 5 10 15 to 19");
    /* No final block explains what stays, so the recording starts with less than nothing. */
    int64_t start = -4 * 2048;
    for (uint32_t i = 0; i < s->count; i++) {
        assert_int_equal(s->boundary[i].live_bytes, start + 2048 * i);
        assert_int_equal(s->boundary[i].peak_bytes, start + 2048 * (i + 1) + 512);
        assert_int_equal(s->boundary[i].peak_event, 5 * i + 3);
        assert_int_equal(s->boundary[i].valley_event, 5 * i + 1);
    }
    assert_int_equal(s->end_bytes, 0);
    assert_false(s->end_is_boundary);
    assert_int_equal(steps_at(s, -1), -1);
    assert_int_equal(steps_at(s, 4), 0);
    assert_int_equal(steps_at(s, 5), 1);
    assert_int_equal(steps_at(s, 19), 3);
    assert_int_equal(steps_at(s, 20), 4);
    studied_end(&made);
}

static void marks_come_first(void **state)
{
    static const char *const names[] = { "ProfilerStep#", "step ", "Iter:", "## iteration=" };
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct studied made;
        make(&made, "ffbboffbbo");
        for (uint64_t i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s%llu", names[n], (unsigned long long)i);
            mark(&made, name, STAGE_START, i * 6);
            mark(&made, name, STAGE_END, i * 6 + 5);
        }
        studied_make(&made, "");
        const struct steps *s = &made.study.steps;
        check_steps(s, "marks 0 6 12 to 16");
        assert_true(s->end_is_boundary);
        assert_int_equal(s->agreement[STEPS_PHASES], 2);
        studied_end(&made);
    }
}

static void other_words_are_no_steps(void **state)
{
    static const char *const names[] = { "Optimizer.step#1", "stepping 1", "step", "1",
                                         "footstep1" };
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct studied made;
        make(&made, "xyXY");
        for (uint64_t i = 0; i < 3; i++) {
            mark(&made, names[n], STAGE_START, i * 2);
            mark(&made, names[n], STAGE_END, i * 2 + 1);
        }
        studied_make(&made, "");
        const struct steps *s = &made.study.steps;
        assert_int_equal(s->agreement[STEPS_MARKS], 0);
        studied_end(&made);
    }
}

/* The step ends with the mark, but for frees behind it; the first begins with its forward. */
static void optimizers_end_steps(void **state)
{
    (void)state;
    struct studied made;
    make(&made, "xffbboffbboff");
    mark(&made, "Optimizer.step#AdamW.step", STAGE_START, 10);
    mark(&made, "Optimizer.step#AdamW.step", STAGE_END, 11);
    mark(&made, "Optimizer.step#AdamW.step", STAGE_START, 20);
    mark(&made, "Optimizer.step#AdamW.step", STAGE_END, 21);
    studied_make(&made, "");
    const struct steps *s = &made.study.steps;
    check_steps(s, "optimizer_marks 2 12 to 21");
    assert_true(s->end_is_boundary);
    studied_end(&made);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct studied made;
    make(&made, "xyxyxyxyxyfbofbo");
    mark(&made, "step 1", STAGE_START, 1);
    mark(&made, "Optimizer.step#A", STAGE_END, 1);
    studied_make(&made, "");
    studied_without_memory(&made, NULL);
    studied_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_of_phases),     cmocka_unit_test(steps_that_did_not_end),
        cmocka_unit_test(micro_steps_are_counted),
        cmocka_unit_test(what_repeats_itself),  cmocka_unit_test(boundaries_are_measured),
        cmocka_unit_test(marks_come_first),     cmocka_unit_test(other_words_are_no_steps),
        cmocka_unit_test(optimizers_end_steps), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
