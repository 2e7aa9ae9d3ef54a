/* test_tokens.c - what single frames say, and what stacks make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/attribution/tokens.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/ids.h"

/* Innermost first; `expected` besides Python, native, user. */
struct example {
    struct line line[4];
    token_set expected;
};

#define TORCH "/e/lib/python3.12/site-packages/torch/"

static const struct line loop = { "train", "/home/u/train.py", 3 };
/* Words rather than constants: clang takes no object's value to begin another with. */
#define ENGINE                                                                                     \
    "torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)",    \
        "??", 0
#define MODULE_CALL "_call_impl", TORCH "nn/modules/module.py", 9
#define ADAM_STEP "step", TORCH "optim/adam.py", 1
#define OPTIMIZER_WRAPPER "wrapper", TORCH "optim/optimizer.py", 1
#define DECORATED "decorate_context", TORCH "utils/_contextlib.py", 1

static const struct example examples[] = {
    { { { "step", TORCH "optim/adam.py", 1 } }, TOKEN_OPTIMIZER },
    { { { "_multi_tensor_adam", TORCH "optim/adam.py", 1 } },
      TOKEN_OPTIMIZER | TOKEN_MULTI_TENSOR },
    { { { "_single_tensor_sgd", TORCH "optim/sgd.py", 1 } }, TOKEN_OPTIMIZER },
    { { { "wrapper", TORCH "optim/optimizer.py", 1 } }, TOKEN_OPTIMIZER },
    { { { "_use_grad", TORCH "optim/optimizer.py", 1 } }, 0 },
    { { { "step", TORCH "optim/lr_scheduler.py", 1 } }, 0 },
    { { { "wrapper", TORCH "optim/lr_scheduler.py", 1 } }, 0 },
    { { { "step", "/home/u/my_optimizers.py", 1 } }, TOKEN_OPTIMIZER },
    { { { "step", "C:\\work\\OptimMine.py", 1 } }, TOKEN_OPTIMIZER },
    { { { "step", "/home/u/env.py", 1 } }, 0 },
    { { { "step", "/home/u/optim_scheduler.py", 1 } }, 0 },
    { { { "__init__", TORCH "optim/adam.py", 1 } }, TOKEN_INIT },
    { { { "zero_grad", TORCH "optim/optimizer.py", 1 } }, TOKEN_ZERO_GRAD },
    { { { "backward", TORCH "autograd/__init__.py", 1 } }, TOKEN_BACKWARD },
    { { { "backward", "/home/u/autograd/mine.py", 1 } }, 0 },
    { { { ENGINE } }, TOKEN_ENGINE },
    { { { "torch::autograd::python::PythonEngine::thread_init(int)", "??", 0 } }, TOKEN_ENGINE },
    { { { "Engine::run()", "??", 0 } }, 0 },
    { { { MODULE_CALL } }, TOKEN_MODULE | TOKEN_CALL },
    { { { "forward", "/home/u/model.py", 1 } }, TOKEN_MODULE },
    { { { MODULE_CALL }, { ENGINE } }, TOKEN_ENGINE | TOKEN_MODULE | TOKEN_CALL | TOKEN_RECOMPUTE },
    { { { ENGINE }, { MODULE_CALL } }, TOKEN_ENGINE | TOKEN_MODULE | TOKEN_CALL },
    { { { "forward", "/home/u/model.py", 1 }, { ENGINE } }, TOKEN_ENGINE | TOKEN_MODULE },
    { { { "fetch", TORCH "utils/data/_utils/fetch.py", 1 } }, TOKEN_DATA },
    { { { "_apply", TORCH "nn/modules/module.py", 1 } }, TOKEN_APPLY | TOKEN_INIT },
    { { { "_apply", "/home/u/model.py", 1 } }, 0 },
    { { { "from_pretrained", "/home/u/x.py", 1 } }, TOKEN_INIT },
    { { { "torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool)", "??", 0 } },
      TOKEN_COPY },
    { { { "torch::autograd::dispatch_to(at::Tensor const&, c10::ScalarType, bool)", "??", 0 } },
      0 },
    { { { "void torch::autograd::AccumulateGrad::accumulateGrad<int>(at::Tensor)", "??", 0 } },
      TOKEN_ACCUMULATE },
    { { { "torch::autograd::generated::MmBackward0::release_variables()", "??", 0 } },
      TOKEN_SAVED },
    { { { "torch::autograd::SavedVariable::reset_data()", "??", 0 } }, TOKEN_SAVED },
    { { { "at::cuda::getNewWorkspace()", "??", 0 } }, 0 },
    { { { "at::native::run_conv_plan(cudnnContext*)", "??", 0 } }, 0 },
    { { { "void at::cuda::cub::inclusive_scan<long>(long)", "??", 0 } }, 0 },
    { { { "c10d::all_reduce(at::Tensor const&)", "??", 0 } }, TOKEN_COMMUNICATION },
    { { { "c10d::Reducer::initialize_buckets()", "??", 0 } }, TOKEN_COMMUNICATION | TOKEN_REDUCER },
    { { { "all_gather_tensor", TORCH "distributed/_functional_collectives.py", 1 } },
      TOKEN_COMMUNICATION },
    { { { "forward", TORCH "distributed/fsdp/fully_sharded_data_parallel.py", 1 } }, TOKEN_MODULE },
    { { { "allocate_kv_cache", "/home/u/serve.py", 1 } }, TOKEN_KV_CACHE },
    { { { "update", "/e/site-packages/transformers/cache_utils.py", 1 } }, TOKEN_KV_CACHE },
    { { { "allocate", "/e/site-packages/vllm/worker/cache_engine.py", 1 } },
      TOKEN_KV_CACHE | TOKEN_PAGED_CACHE },
    { { { "append", "/e/site-packages/serve/paged_attention.py", 1 } }, TOKEN_PAGED_CACHE },
    { { { "get_block_table", "/home/u/serve.py", 1 } }, TOKEN_PAGED_CACHE },
    { { { "vllm::paged_attention_v2(at::Tensor&)", "??", 0 } }, TOKEN_PAGED_CACHE },
    { { { "pageable_copy", "/home/u/paged.py", 1 } }, 0 },
    { { { "cross_entropy", TORCH "nn/functional.py", 1 } }, TOKEN_LOSS },
    { { { "at::_ops::nll_loss_forward::call(at::Tensor const&)", "??", 0 } }, TOKEN_LOSS },
    { { { "cross_entropy_forward", "/e/site-packages/liger_kernel/ops/cross_entropy.py", 1 } },
      TOKEN_LOSS | TOKEN_FUSED_LOSS },
    { { { "at::native::_scaled_dot_product_attention_math(at::Tensor const&)", "??", 0 } },
      TOKEN_MATH_ATTENTION },
    { { { "at::_ops::_scaled_dot_product_flash_attention::call(at::Tensor const&)", "??", 0 } },
      0 },
    { { { "gc_collect_main", "??", 0 } }, TOKEN_COLLECTOR },
    { { { "collect", "/usr/lib/python3.12/gc.py", 1 } }, TOKEN_COLLECTOR },
    { { { "collect", "/home/u/stats.py", 1 } }, 0 },
    { { { "empty_cache", TORCH "cuda/memory.py", 1 } }, TOKEN_EMPTY_CACHE },
    { { { "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(int)", "??",
          0 } },
      TOKEN_DEVICE_MALLOC },
    /* The innermost frame that says what is done decides: a closure's forward and backward are
     * none of the optimizer that calls it, and an optimizer in a hook of the engine is one. */
    { { { MODULE_CALL }, { "closure", "/home/u/train.py", 9 }, { ADAM_STEP } },
      TOKEN_MODULE | TOKEN_CALL },
    { { { "loss_of", "/home/u/train.py", 9 }, { "closure", "/home/u/train.py", 8 }, { ADAM_STEP } },
      0 },
    { { { "evaluate", "/home/u/train.py", 9 }, { ADAM_STEP } }, 0 },
    { { { "evaluate", "/home/u/train.py", 9 }, { DECORATED }, { ADAM_STEP } }, 0 },
    { { { ENGINE }, { "closure", "/home/u/train.py", 9 }, { ADAM_STEP } }, TOKEN_ENGINE },
    { { { "backward", TORCH "autograd/__init__.py", 1 },
        { "closure", "/home/u/train.py", 9 },
        { ADAM_STEP } },
      TOKEN_BACKWARD },
    { { { MODULE_CALL }, { ADAM_STEP } }, TOKEN_MODULE | TOKEN_CALL },
    { { { "zero_grad", TORCH "optim/optimizer.py", 1 }, { ADAM_STEP } }, TOKEN_ZERO_GRAD },
    { { { ADAM_STEP }, { "hook", "/home/u/train.py", 9 }, { ENGINE } },
      TOKEN_OPTIMIZER | TOKEN_ENGINE },
    { { { ADAM_STEP }, { "closure", "/home/u/train.py", 9 }, { OPTIMIZER_WRAPPER } },
      TOKEN_OPTIMIZER },
    /* What an optimizer calls of its own is its own. */
    { { { "orthogonalize", "/home/u/muon.py", 9 },
        { "step", "/home/u/muon.py", 5 },
        { OPTIMIZER_WRAPPER } },
      TOKEN_OPTIMIZER },
    { { { "_init_group", "/home/u/muon.py", 9 }, { ADAM_STEP } }, TOKEN_OPTIMIZER },
    { { { "loss", "/home/u/muon.py", 9 }, { "_foreach", "/home/u/muon.py", 9 }, { ADAM_STEP } },
      TOKEN_OPTIMIZER },
    { { { "zeros_like", TORCH "_tensor.py", 9 }, { ADAM_STEP } }, TOKEN_OPTIMIZER },
    /* A forward in a data loader is a forward, a loader called by a module is a loader. */
    { { { MODULE_CALL }, { "fetch", TORCH "utils/data/_utils/fetch.py", 1 } },
      TOKEN_MODULE | TOKEN_CALL | TOKEN_DATA },
    { { { "fetch", TORCH "utils/data/_utils/fetch.py", 1 }, { MODULE_CALL } }, TOKEN_DATA },
    /* Where Python's frames alone are recorded, a checkpoint's own tell the backward. */
    { { { MODULE_CALL }, { "recompute_fn", TORCH "utils/checkpoint.py", 1 } },
      TOKEN_BACKWARD | TOKEN_MODULE | TOKEN_CALL | TOKEN_RECOMPUTE },
    { { { MODULE_CALL }, { "checkpoint", TORCH "utils/checkpoint.py", 1 } },
      TOKEN_MODULE | TOKEN_CALL },
    { { { "backward", "/home/u/swiglu.py", 1 }, { "apply", TORCH "autograd/function.py", 1 } },
      TOKEN_BACKWARD },
    { { { "forward", "/home/u/swiglu.py", 1 }, { "apply", TORCH "autograd/function.py", 1 } },
      TOKEN_MODULE },
    { { { "_start", "??", 0 } }, 0 },
    { { { "PyDict_DelItem", "??", 0 } }, 0 },
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static void make(struct studied *s, stack_id stack[EXAMPLES])
{
    studied_begin(s);
    for (uint32_t i = 0; i < EXAMPLES; i++) {
        struct line lines[5];
        uint32_t count = 0;
        for (uint32_t k = 0; k < 4 && examples[i].line[k].function != NULL; k++)
            lines[count++] = examples[i].line[k];
        lines[count++] = loop;
        stack[i] = sample_stack(&s->r, lines, count);
    }
    studied_make(s, "");
}

static void frames_say_what_they_do(void **state)
{
    (void)state;
    struct studied s;
    stack_id stack[EXAMPLES];
    make(&s, stack);
    const struct tokens *tokens = s.study.tokens;
    for (uint32_t i = 0; i < EXAMPLES; i++) {
        token_set plain = TOKEN_PYTHON | TOKEN_NATIVE | TOKEN_USER;
        token_set found = tokens->of_stack[stack[i].n] & ~plain;
        if (found != examples[i].expected)
            fail_msg("%s in %s: %llx, not %llx", examples[i].line[0].function,
                     examples[i].line[0].file, (unsigned long long)found,
                     (unsigned long long)examples[i].expected);
        assert_true((tokens->of_stack[stack[i].n] & TOKEN_USER) != 0);
    }
    assert_int_equal(tokens->of_stack[0], 0);
    studied_end(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct studied s;
    stack_id stack[EXAMPLES];
    make(&s, stack);
    studied_without_memory(&s, NULL);
    studied_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_say_what_they_do),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
