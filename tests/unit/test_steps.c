/* test_steps.c - steps from programs written as letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/steps.h"
#include "base/table.h"
#include "fault.h"
#include "sample.h"

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
static const struct kind {
    char letter;
    struct line line[4];
} kinds[] = {
    { 'f', { { "forward", "/home/u/model.py", 1 }, CALL, MAIN } },
    { 'g', { { "forward", "/home/u/model.py", 2 }, CALL, MAIN } },
    { 'b', { { "torch::autograd::Engine::thread_main(int)", "??", 0 } } },
    { 'c', { { "torch::autograd::Engine::evaluate_function(int)", "??", 0 } } },
    { 'o', { { "step", TORCH "optim/adam.py", 1 }, MAIN } },
    { 'x', { { "work", "/home/u/work.py", 1 }, MAIN } },
    { 'y', { { "work", "/home/u/work.py", 2 }, MAIN } },
};

struct made {
    struct recording r;
    struct arena arena;
};

/* Every alloc is freed at once, but for what "!" stands behind, which stays.  "*" is an oom. */
static void make(struct made *m, const char *program)
{
    static char text[1 << 16];
    static uint32_t stack_of[4096];
    size_t len = 0, events = 0;
    sample_init(&m->r);
    sample_device(&m->r, 0);
    stack_id stack[128] = { { 0 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t lines = 0;
        while (lines < 4 && kinds[i].line[lines].function != NULL)
            lines++;
        stack[(int)kinds[i].letter] = sample_stack(&m->r, kinds[i].line, lines);
    }
    for (size_t i = 0; program[i] != '\0'; i++) {
        char letter = (char)(program[i] | 0x20);
        unsigned size = program[i] == letter ? 512 : 2048;
        const char *gap = len == 0 ? "" : "; ";
        if (program[i] == '!')
            continue;
        if (program[i] == '*') {
            len += (size_t)snprintf(text + len, sizeof text - len, "%so 0 4096", gap);
            stack_of[events++] = 0;
            continue;
        }
        len += (size_t)snprintf(text + len, sizeof text - len, "%sa %zx %u", gap, 4096 * (i + 1),
                                size);
        stack_of[events++] = stack[(int)letter].n;
        if (program[i + 1] == '!')
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "; f %zx %u", 4096 * (i + 1), size);
        stack_of[events++] = 0;
    }
    sample_events(&m->r, text);
    for (size_t i = 0; i < events; i++)
        m->r.events.stack[i] = stack_of[i];
    arena_init(&m->arena, SIZE_MAX / 2);
}

static void mark(struct made *m, const char *name, enum stage stage, uint64_t time_us)
{
    struct marks *marks = &m->r.marks;
    assert_true(table_reserve(marks, &marks_kind, 1));
    uint32_t row = marks->rows.len++;
    marks->name[row] = sample_string(&m->r, name).n;
    marks->stage[row] = (uint8_t)stage;
    marks->device[row] = 3; /* never to be matched by */
    marks->time_us[row] = time_us;
}

static void end(struct made *m)
{
    arena_free(&m->arena);
    recording_free(&m->r);
}

static enum vrs_status find(struct made *m, struct steps *ret)
{
    struct naming_options options = { S(""), S("") };
    struct naming *naming;
    struct tokens tokens;
    struct phases phases;
    struct lifetimes lifetimes;
    struct vrs_error err;
    TRY(naming_make(&m->r, &options, &m->arena, &naming, &err));
    TRY(tokens_make(&m->r, naming, &m->arena, &tokens, &err));
    TRY(lifetimes_make(&m->r, 0, &m->arena, &lifetimes, &err));
    TRY(phases_make(&m->r, 0, &tokens, &m->arena, &phases, &err));
    return steps_make(&m->r, 0, &lifetimes, &tokens, &phases, naming, &m->arena, ret, &err);
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
    struct made m;
    struct steps s;
    make(&m, program);
    sample_finish(&m.r);
    assert_int_equal(find(&m, &s), VRS_OK);
    check_steps(&s, expected);
    end(&m);
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
    /* One step is no steps. */
    check("ffbbo", "none");
    /* The last is cut: what begins behind the last whole one is none. */
    check("ffbboffbboff", "phases 0 10 to 19");
    /* It ran out of memory. */
    check("ffbboffbboffb*", "phases 0 10 to 19");
}

static void micro_steps_are_counted(void **state)
{
    (void)state;
    struct made m;
    struct steps s;
    make(&m, "fbfbofbfbo");
    sample_finish(&m.r);
    assert_int_equal(find(&m, &s), VRS_OK);
    assert_int_equal(s.micro_steps, 2);
    assert_int_equal(s.agreement[STEPS_PHASES], 2);
    end(&m);
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
    struct made m;
    struct steps s;
    make(&m, "xX!yxX!yxX!yxX!y");
    sample_finish(&m.r);
    assert_int_equal(find(&m, &s), VRS_OK);
    check_steps(&s, "periodicity 0 5 10 15 to 19");
    /* No final block explains what stays, so the recording starts with less than nothing. */
    int64_t start = -4 * 2048;
    for (uint32_t i = 0; i < s.count; i++) {
        assert_int_equal(s.boundary[i].live_bytes, start + 2048 * i);
        assert_int_equal(s.boundary[i].peak_bytes, start + 2048 * (i + 1) + 512);
        assert_int_equal(s.boundary[i].peak_event, 5 * i + 3);
        assert_int_equal(s.boundary[i].valley_event, 5 * i + 1);
    }
    assert_int_equal(s.end_bytes, 0);
    assert_false(s.end_is_boundary);
    assert_int_equal(steps_at(&s, -1), -1);
    assert_int_equal(steps_at(&s, 4), 0);
    assert_int_equal(steps_at(&s, 5), 1);
    assert_int_equal(steps_at(&s, 19), 3);
    assert_int_equal(steps_at(&s, 20), 4);
    end(&m);
}

static void marks_come_first(void **state)
{
    static const char *const names[] = { "ProfilerStep#", "step ", "Iter:", "## iteration=" };
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct made m;
        struct steps s;
        make(&m, "ffbboffbbo");
        for (uint64_t i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s%llu", names[n], (unsigned long long)i);
            mark(&m, name, STAGE_START, i * 6);
            mark(&m, name, STAGE_END, i * 6 + 5);
        }
        sample_finish(&m.r);
        assert_int_equal(find(&m, &s), VRS_OK);
        check_steps(&s, "marks 0 6 12 to 16");
        assert_true(s.end_is_boundary);
        assert_int_equal(s.agreement[STEPS_PHASES], 2);
        end(&m);
    }
}

static void other_words_are_no_steps(void **state)
{
    static const char *const names[] = { "Optimizer.step#1", "stepping 1", "step", "1",
                                         "footstep1" };
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct made m;
        struct steps s;
        make(&m, "xyXY");
        for (uint64_t i = 0; i < 3; i++) {
            mark(&m, names[n], STAGE_START, i * 2);
            mark(&m, names[n], STAGE_END, i * 2 + 1);
        }
        sample_finish(&m.r);
        assert_int_equal(find(&m, &s), VRS_OK);
        assert_int_equal(s.agreement[STEPS_MARKS], 0);
        end(&m);
    }
}

/* The step ends with the mark, but for frees behind it; the first begins with its forward. */
static void optimizers_end_steps(void **state)
{
    (void)state;
    struct made m;
    struct steps s;
    make(&m, "xffbboffbboff");
    mark(&m, "Optimizer.step#AdamW.step", STAGE_START, 10);
    mark(&m, "Optimizer.step#AdamW.step", STAGE_END, 11);
    mark(&m, "Optimizer.step#AdamW.step", STAGE_START, 20);
    mark(&m, "Optimizer.step#AdamW.step", STAGE_END, 21);
    sample_finish(&m.r);
    assert_int_equal(find(&m, &s), VRS_OK);
    check_steps(&s, "optimizer_marks 2 12 to 21");
    assert_true(s.end_is_boundary);
    end(&m);
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    struct made m;
    struct steps s;
    make(&m, "xyxyxyxyxyfbofbo");
    mark(&m, "step 1", STAGE_START, 1);
    mark(&m, "Optimizer.step#A", STAGE_END, 1);
    sample_finish(&m.r);
    for (long n = 0;; n++) {
        fault_left = n;
        enum vrs_status status = find(&m, &s);
        bool failed = fault_left == -1;
        fault_left = -1;
        assert_int_equal(status, failed ? VRS_NOMEM : VRS_OK);
        arena_free(&m.arena);
        arena_init(&m.arena, SIZE_MAX / 2);
        if (!failed)
            break;
    }
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_of_phases),     cmocka_unit_test(micro_steps_are_counted),
        cmocka_unit_test(what_repeats_itself),  cmocka_unit_test(boundaries_are_measured),
        cmocka_unit_test(marks_come_first),     cmocka_unit_test(other_words_are_no_steps),
        cmocka_unit_test(optimizers_end_steps), cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
