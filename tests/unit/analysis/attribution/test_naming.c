#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"

static const struct frame_class_options no_options = { { "", 0 }, { "", 0 } };

static void files_have_classes(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum frame_class class;
    } cases[] = {
        { "", FRAME_NATIVE },
        { "??", FRAME_NATIVE },
        { "RegisterCUDA_0.cpp", FRAME_NATIVE },
        { "/home/ann/Python-3.13.0/Objects/call.c", FRAME_NATIVE },
        { "/e/lib/python3.12/site-packages/torch/_C.so", FRAME_NATIVE },
        { "/e/lib/python3.12/site-packages/torch/nn/functional.py", FRAME_TORCH },
        { "/usr/lib/python3/dist-packages/torch/_ops.py", FRAME_TORCH },
        { "D:\\Dev\\.venv\\Lib\\site-packages\\torch\\nn\\modules\\module.py", FRAME_TORCH },
        { "/src/torch/_tensor.py", FRAME_TORCH },
        { "/src/torch/optim/adam.py", FRAME_TORCH },
        { "/src/torch/models/net.py", FRAME_USER },
        { "/src/torch/nnx/net.py", FRAME_USER },
        { "/src/torch/x/torch/nn/net.py", FRAME_TORCH },
        { "/tmp/torchinductor_ann/nq/cnqtho2nij4af6swya42kmd2tvb2py3brmcdj3mike6uxkmojqam.py",
          FRAME_GENERATED },
        { "/cache/nq/cnqtho2nij4af6swya42kmd2tvb2py3brmcdj3mike6uxkmojqam.py", FRAME_GENERATED },
        { "/cache/xx/cnqtho2nij4af6swya42kmd2tvb2py3brmcdj3mike6uxkmojqam.py", FRAME_USER },
        { "cnqtho2nij4af6swya42kmd2tvb2py3brmcdj3mike6uxkmojqam.py", FRAME_USER },
        { "<string>", FRAME_GENERATED },
        { "<eval_with_key>.12", FRAME_GENERATED },
        { "<frozen runpy>", FRAME_STD },
        { "<stdin>", FRAME_USER },
        { "<ipython-input-5-0d1e>", FRAME_USER },
        { "<cell line: 3>", FRAME_USER },
        { "/tmp/ipykernel_123/456.py", FRAME_USER },
        { "C:\\Users\\a\\AppData\\Local\\Temp\\ipykernel_9\\45.py", FRAME_USER },
        { "/e/lib/python3.10/site-packages/ipykernel/kernelapp.py", FRAME_LIBRARY },
        { "/e/lib/python3.10/site-packages/transformers/trainer.py", FRAME_LIBRARY },
        { "/e/lib/python3.10/asyncio/events.py", FRAME_STD },
        { "/e/lib64/python3.9/runpy.py", FRAME_STD },
        { "C:\\Python311\\Lib\\threading.py", FRAME_STD },
        { "C:\\uv\\cpython-3.10.19-windows-x86_64-none\\lib\\copy.py", FRAME_STD },
        { "C:\\Users\\a\\miniconda3\\envs\\x\\lib\\copy.py", FRAME_STD },
        { "C:\\work\\python-tools\\lib\\copy.py", FRAME_USER },
        { "/mnt/select/lib/transformers/modeling_llama.py", FRAME_USER },
        { "/home/a/.vscode/extensions/x/libs/debugpy/_vendored/pydevd/pydevd.py", FRAME_LIBRARY },
        { "train.py", FRAME_USER },
        { "ext.pyx", FRAME_USER },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum frame_class got = classify_file(str_from(cases[i].file), &no_options);
        if (got != cases[i].class)
            print_error("%s\n", cases[i].file);
        assert_int_equal(got, cases[i].class);
    }
}

static void options_override(void **state)
{
    (void)state;
    static const struct {
        const char *root, *library, *file;
        enum frame_class class;
    } cases[] = {
        { "/e/lib/python3.10/site-packages/mine", "", "/e/lib/python3.10/site-packages/mine/a.py",
          FRAME_USER },
        { "/e/lib/python3.10/site-packages/mine/", "", "/e/lib/python3.10/site-packages/mine2/a.py",
          FRAME_LIBRARY },
        { "site-packages/mine", "", "/e/site-packages/mine/a.py", FRAME_USER },
        { "packages/mine", "", "/e/site-packages/mine/a.py", FRAME_LIBRARY },
        { "c:/work", "", "C:\\Work\\site-packages\\a.py", FRAME_USER },
        { "/", "", "/e/site-packages/a.py", FRAME_USER },
        { "", "*/vendor/*", "/src/vendor/x/a.py", FRAME_LIBRARY },
        { "/src", "*/vendor/*", "/src/vendor/x/a.py", FRAME_LIBRARY },
        { "/src", "*/vendor/*", "/src/a.py", FRAME_USER },
        { "/", "*", "a.cpp", FRAME_NATIVE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame_class_options o = { str_from(cases[i].root), str_from(cases[i].library) };
        assert_int_equal(classify_file(str_from(cases[i].file), &o), cases[i].class);
    }
}

static void globs_match(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *text;
        bool matches;
    } cases[] = {
        { "", "", true },        { "", "a", false },           { "*", "", true },
        { "a*c", "abbc", true }, { "a*c", "abbcd", false },    { "*b*", "abc", true },
        { "a?c", "abc", true },  { "a?c", "ac", false },       { "*.py", "A/B.PY", true },
        { "a/b", "A\\B", true }, { "*a*b*c", "xxabac", true }, { "*a*b*c", "xxaba", false },
        { "**x", "yyyx", true }, { "?", "", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(glob_matches(str_from(cases[i].glob), str_from(cases[i].text)),
                         cases[i].matches);
}

static void check_text(str got, const char *expected)
{
    assert_int_equal(got.len, strlen(expected));
    assert_memory_equal(got.len == 0 ? "" : got.ptr, expected, got.len);
}

static void native_names_are_shortened(void **state)
{
    (void)state;
    static const struct {
        const char *native, *operator_name, *node;
    } cases[] = {
        { "", "", "" },
        { "at::_ops::ne_Tensor::call(at::Tensor const&)", "ne", "" },
        { "at::_ops::empty_memory_format::redispatch(c10::DispatchKeySet)", "empty", "" },
        { "at::_ops::_to_copy::call(at::Tensor const&)", "_to_copy", "" },
        { "at::_ops::pow_Tensor_Scalar::call()", "pow", "" },
        { "at::native::run_conv_plan(cudnnContext*)", "run_conv_plan", "" },
        { "at::native::isnan(at::Tensor const&)", "", "" },
        { "at::cuda::getNewWorkspace()", "getNewWorkspace", "" },
        { "c10d::all_reduce(at::Tensor const&)", "all_reduce", "" },
        { "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", "",
          "MmBackward0" },
        { "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)", "",
          "AccumulateGrad" },
        { "torch::autograd::Engine::evaluate_function()", "", "" },
        { "torch::autograd::Node::operator()(std::vector<at::Tensor>&&)", "", "" },
        { "_PyEval_EvalFrameDefault", "", "" },
        { "_start", "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_text(native_operator(str_from(cases[i].native)), cases[i].operator_name);
        check_text(backward_node(str_from(cases[i].native)), cases[i].node);
    }
}

/* Many frames may share a name of megabytes: of each the begin alone is read. */
static void only_the_begin_of_a_native_name_is_read(void **state)
{
    (void)state;
    static const char *const begins[] = { "at::_ops::", "at::native::Workspace",
                                          "torch::autograd::" };
    char name[4 * NATIVE_NAME_BYTES];
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        memset(name, 'a', sizeof name);
        memcpy(name, begins[i], strlen(begins[i]));
        str native = { name, sizeof name };
        assert_true(native_operator(native).len <= NATIVE_NAME_BYTES);
        assert_int_equal(backward_node(native).len, 0);
    }
    memcpy(name + sizeof name - strlen("::apply("), "::apply(", strlen("::apply("));
    assert_int_equal(backward_node((str){ name, sizeof name }).len, 0);
}

#define TORCH "/e/lib/python3.12/site-packages/torch/"
#define PACKAGE "/e/lib/python3.12/site-packages/"

static const struct line allocator = { "allocate(unsigned long)", "??", 0 };
static const struct line empty = { "at::_ops::empty_memory_format::call()", "??", 0 };
static const struct line add = { "at::_ops::add_Tensor::call()", "??", 0 };
static const struct line node = {
    "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", "??", 0
};
static const struct line call = { "_call_impl", TORCH "nn/modules/module.py", 1787 };
static const struct line linear = { "forward", TORCH "nn/modules/linear.py", 125 };
static const struct line einsum = { "einsum", PACKAGE "einops/einops.py", 907 };
static const struct line trainer = { "train", PACKAGE "transformers/trainer.py", 10 };
static const struct line wrapper = { "wrapper", PACKAGE "transformers/utils/generic.py", 5 };
static const struct line user = { "step", "/home/ann/model.py", 84 };
static const struct line windows = { "main", "C:\\work\\train.py", 7 };
static const struct line cell = { "<cell line: 1>", "/tmp/ipykernel_12/345.py", 3 };
static const struct line generated = { "call", "/tmp/torchinductor_a/ab/cab.py", 5 };
static const struct line nowhere = { "text of a preformatted line", "", NO_LINE };

/* `passed`: parts of paths that own nothing. */
static void check_passing(const struct line *const *lines, const str *passed, uint32_t passes,
                          const char *culprit, const char *owner)
{
    struct recording r;
    struct arena arena;
    struct naming *naming;
    struct stack_names names;
    struct line stack[8];
    uint32_t len = 0;
    while (lines[len] != NULL) {
        stack[len] = *lines[len];
        len++;
    }
    sample_init(&r);
    stack_id id = sample_stack(&r, stack, len);
    arena_init(&arena, SIZE_MAX);
    assert_int_equal(naming_make(&r.code, &no_options, &arena, &naming, NULL), VRS_OK);
    naming_pass_over(naming, passed, passes);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(naming_of(naming, id, &names, NULL), VRS_OK);
        check_text(names.culprit, culprit);
        check_text(names.owner, owner);
        /* Another one names alike. */
        assert_int_equal(naming_again(naming, &arena, &arena, &naming, NULL), VRS_OK);
    }
    arena_free(&arena);
    recording_free(&r);
}

static void check_names(const struct line *const *lines, const char *culprit, const char *owner)
{
    check_passing(lines, NULL, 0, culprit, owner);
}

#define LINES(...) ((const struct line *const[]){ __VA_ARGS__, NULL })

static void stacks_have_culprits(void **state)
{
    (void)state;
    check_names((const struct line *const[]){ NULL }, "(no stack)", "(no stack)");
    check_names(LINES(&allocator, &add, &linear, &call, &user), "model.py:84 step",
                "model.py:84 step");
    check_names(LINES(&linear, &wrapper, &trainer, &cell), "345.py:3 <cell line: 1>",
                "trainer.py:10 train");
    check_names(LINES(&einsum, &user, &windows), "model.py:84 step", "model.py:84 step");
    check_names(LINES(&windows, &user), "train.py:7 main", "train.py:7 main");
    check_names(LINES(&linear, &trainer), "trainer.py:10 train", "trainer.py:10 train");
    check_names(LINES(&generated, &user), "model.py:84 step", "model.py:84 step");
    check_names(LINES(&allocator, &empty, &add, &node), "autograd:MmBackward0",
                "autograd:MmBackward0");
    check_names(LINES(&allocator, &empty, &add), "native:add", "native:add");
    check_names(LINES(&allocator, &empty), "native:empty", "native:empty");
    check_names(LINES(&call, &linear), "linear.py:125 forward", "linear.py:125 forward");
    check_names(LINES(&allocator, &nowhere), "(no stack)", "(no stack)");
}

static void parts_of_paths_are_passed_over(void **state)
{
    (void)state;
    static const str passed[] = { { "/nothing/", 9 }, { "/transformers/", 14 } };
    const struct line *const *lines = LINES(&linear, &trainer, &windows, &user);
    check_passing(lines, passed, 1, "train.py:7 main", "trainer.py:10 train");
    check_passing(lines, passed, 2, "train.py:7 main", "train.py:7 main");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    stack_id id = sample_stack(&r, (struct line[]){ linear, trainer, user }, 3);
    for (long n = 0;; n++) {
        struct arena arena;
        struct naming *naming;
        struct stack_names names;
        arena_init(&arena, SIZE_MAX);
        fault_left = n;
        enum vrs_status status = naming_make(&r.code, &no_options, &arena, &naming, NULL);
        if (status == VRS_OK)
            status = naming_of(naming, id, &names, NULL);
        bool fired = fault_left < 0;
        fault_left = -1;
        arena_free(&arena);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        if (!fired)
            break;
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_classes),
        cmocka_unit_test(options_override),
        cmocka_unit_test(globs_match),
        cmocka_unit_test(native_names_are_shortened),
        cmocka_unit_test(only_the_begin_of_a_native_name_is_read),
        cmocka_unit_test(stacks_have_culprits),
        cmocka_unit_test(parts_of_paths_are_passed_over),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
