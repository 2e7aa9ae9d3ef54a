#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/module_path.h"
#include "analysis/attribution/naming.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"

#define TORCH "/e/lib/python3.12/site-packages/torch/"
#define PACKAGE "/e/lib/python3.12/site-packages/"

/* Innermost first. */
static const struct line lines[] = {
    { "at::_ops::add_Tensor::call()", "??", 0 },
    { "forward", TORCH "nn/modules/linear.py", 125 },
    { "_call_impl", TORCH "nn/modules/module.py", 1787 },
    { "forward", PACKAGE "llama/model.py", 31 },
    { "forward", PACKAGE "llama/model.py", 31 },
    { "forward", PACKAGE "llama/model.py", 84 },
    { "helper", PACKAGE "llama/model.py", 90 },
    { "forward", TORCH "autograd/function.py", 5 },
    { "forward", "C:\\work\\train.py", 12 },
    { "forward", "/home/ann/train.py", NO_LINE },
    { "step", "/home/ann/train.py", 7 },
};

struct asked {
    const struct recording *r;
    stack_id stack;
    enum module_detail detail;
    struct buf text;
};

static enum vrs_status ask(struct asked *a)
{
    static const struct frame_class_options options = { { "", 0 }, { "", 0 } };
    struct arena arena;
    struct naming *naming;
    arena_init(&arena, SIZE_MAX);
    buf_init(&a->text, SIZE_MAX);
    enum vrs_status status = naming_make(&a->r->code, &options, &arena, &naming, NULL);
    if (status == VRS_OK)
        status = module_path(&a->r->code, naming, a->stack, a->detail, &arena, &a->text, NULL);
    arena_free(&arena);
    return status;
}

static void check(const struct recording *r, stack_id stack, enum module_detail detail,
                  const char *expected)
{
    struct asked a = { .r = r, .stack = stack, .detail = detail };
    assert_int_equal(ask(&a), VRS_OK);
    assert_int_equal(a.text.len, strlen(expected));
    assert_memory_equal(a.text.at, expected, a.text.len);
    buf_free(&a.text);
}

static void forward_functions_are_modules(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    stack_id id = sample_stack(&r, lines, sizeof lines / sizeof *lines);
    check(&r, id, MODULE_FILES, "train.py > model.py > linear.py");
    check(&r, id, MODULE_LINES,
          "train.py > train.py:12 > model.py:84 > model.py:31 > linear.py:125");
    check(&r, (stack_id){ 0 }, MODULE_FILES, "");
    check(&r, sample_stack(&r, &lines[10], 1), MODULE_LINES, "");
    recording_free(&r);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    struct asked a = { .r = &r, .detail = MODULE_LINES };
    a.stack = sample_stack(&r, lines, sizeof lines / sizeof *lines);
    for (long n = 0;; n++) {
        fault_left = n;
        enum vrs_status status = ask(&a);
        bool fired = fault_left < 0;
        fault_left = -1;
        buf_free(&a.text);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        if (!fired)
            break;
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_functions_are_modules),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
