#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/cpp_name.h"

static void check(const char *name, const char *arguments, const char *functors)
{
    const char *expected[] = { [CPP_NAME_ARGUMENTS] = arguments, [CPP_NAME_FUNCTORS] = functors };
    for (int how = CPP_NAME_ARGUMENTS; how <= CPP_NAME_FUNCTORS; how++) {
        struct buf text;
        buf_init(&text, 1 << 16);
        cpp_name(&text, str_from(name), (enum cpp_name)how);
        buf_char(&text, '\0');
        assert_string_equal(text.at, expected[how]);
        buf_free(&text);
    }
}

static void functors_stay(void **state)
{
    (void)state;
    check("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
          "at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>, "
          "at::detail::Array<char*, 3>)",
          "vectorized_elementwise_kernel<4, AddFunctor<float>, Array<char*, 3>>",
          "vectorized_elementwise_kernel<AddFunctor>");
    check("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, "
          "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
          "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
          "float, 4, 4> >(at::native::ReduceOp<float>)",
          "reduce_kernel<128, 4, ReduceOp<float, func_wrapper_t<float, sum_functor<float, float, "
          "float>>, unsigned int, float, 4, 4>>",
          "reduce_kernel<sum_functor>");
    check("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
          "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()()"
          " const::{lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, "
          "int)::{lambda(int)#1}>(int, int)",
          "elementwise_kernel<128, 2, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>",
          "elementwise_kernel<direct_copy_kernel_cuda>");
    check("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
          " namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
          "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)",
          "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, 2, "
          "0>, plus<float>, float>",
          "multi_tensor_apply_kernel<TensorListMetadata, BinaryOpListAlphaFunctor, plus>");
}

static void functions_stay(void **state)
{
    (void)state;
    check("void cudnn::detail::dgrad_engine<float, 512, false>(int, float const*)",
          "dgrad_engine<float, 512, false>", "dgrad_engine");
    check("void (anonymous namespace)::softmax_warp_forward<float, 7>(float*, bool const*)",
          "softmax_warp_forward<float, 7>", "softmax_warp_forward");
    check("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
}

static void what_is_no_such_name_stays(void **state)
{
    static const char *const names[] = {
        "",      "volta_sgemm_64x64_nt", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)",
        "a<b",   "a>b",                  "(x)",                              "triton_poi_fused_0",
        "void ", "f(((",                 "\xe5\xad\x97",
        "torch/nn/modules/activation.py(1139): forward", "torch::autograd::AccumulateGrad",
        "autograd::engine::evaluate_function: AddmmBackward0", "train.py(12): <listcomp>",
        "<built-in method item of Tensor object at 0x7f>", "nn.Module: Linear_0", "a -> b",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(names[i], names[i], names[i]);
}

/* However deep the brackets are. */
static void nesting_is_bounded(void **state)
{
    enum { DEEP = 5000 };
    struct buf name, text;
    (void)state;
    buf_init(&name, 1 << 20);
    buf_init(&text, 1 << 20);
    for (int i = 0; i < DEEP; i++)
        buf_text(&name, "a<");
    for (int i = 0; i < DEEP; i++)
        buf_char(&name, '>');
    for (int how = CPP_NAME_ARGUMENTS; how <= CPP_NAME_FUNCTORS; how++)
        cpp_name(&text, buf_slice(&name), (enum cpp_name)how);
    assert_false(text.failed);
    buf_free(&name);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functors_stay),
        cmocka_unit_test(functions_stay),
        cmocka_unit_test(what_is_no_such_name_stays),
        cmocka_unit_test(nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
