#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/study/names.h"
#include "base/str.h"
#include "made/traced.h"
#include "model/ids.h"
#include "model/strings.h"

static const struct {
    const char *name;
    unsigned traits;
    enum blame blame;
} cases[] = {
    { "", 0, BLAME_OP },
    { "aten::mm", 0, BLAME_OP },
    /* Collectives, in any case and anywhere. */
    { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", NAME_COMMUNICATES, BLAME_OP },
    { "NCCL", NAME_COMMUNICATES, BLAME_OP },
    { "rccl_main_kernel", NAME_COMMUNICATES, BLAME_OP },
    { "hcclAllReduce", NAME_COMMUNICATES, BLAME_OP },
    { "mscclKernel", NAME_COMMUNICATES, BLAME_OP },
    { "void nvshmem_put", NAME_COMMUNICATES, BLAME_OP },
    { "deep_ep::dispatch", NAME_COMMUNICATES, BLAME_OP },
    { "sglang::Cross_Device_Reduce_1stage", NAME_COMMUNICATES, BLAME_OP },
    { "nc_cl", 0, BLAME_OP },
    { "deep_e", 0, BLAME_OP },
    { "deepep", 0, BLAME_OP },
    { "cross_device", 0, BLAME_OP },
    /* Calls that wait. */
    { "cudaDeviceSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "cudaStreamSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "cudaEventSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "hipDeviceSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "hipStreamSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "hipEventSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "wrapped cudaEventSynchronize", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "aclrtSynchronizeStream", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "AscendCL@aclrtSynchronizeDeviceWithTimeout", NAME_SYNCHRONIZES, BLAME_SYNC },
    { "cudaStreamSynchronize_ptsz", 0, BLAME_OP },
    { "cudaCtxSynchronize", 0, BLAME_OP },
    { "cudaStreamWaitEvent", 0, BLAME_OP },
    { "cudadeviceSynchronize", 0, BLAME_OP },
    { "cuStreamSynchronize", 0, BLAME_OP },
    /* Blocking copies and readers of one value are whole names. */
    { "cudaMemcpy", 0, BLAME_SYNC },
    { "hipMemcpy", 0, BLAME_SYNC },
    { "cudaMemcpyAsync", 0, BLAME_OP },
    { "hipMemcpyWithStream", 0, BLAME_OP },
    { "aten::item", 0, BLAME_SYNC },
    { "aten::_local_scalar_dense", 0, BLAME_SYNC },
    { "aten::nonzero", 0, BLAME_SYNC },
    { "aten::items", 0, BLAME_OP },
    { "aten::nonzero_numpy", 0, BLAME_OP },
    { "my aten::item", 0, BLAME_OP },
    /* Allocators of devices, by how they begin. */
    { "cudaMalloc", 0, BLAME_ALLOCATOR },
    { "cudaMallocAsync", 0, BLAME_ALLOCATOR },
    { "cudaFree", 0, BLAME_ALLOCATOR },
    { "cudaFreeHost", 0, BLAME_ALLOCATOR },
    { "hipMalloc", 0, BLAME_ALLOCATOR },
    { "hipFree", 0, BLAME_ALLOCATOR },
    { "cuMemAlloc_v2", 0, BLAME_ALLOCATOR },
    { "cuMemFree_v2", 0, BLAME_ALLOCATOR },
    { "cuMemCreate", 0, BLAME_ALLOCATOR },
    { "cuMemRelease", 0, BLAME_ALLOCATOR },
    { "cuMemMap", 0, BLAME_ALLOCATOR },
    { "cuMemUnmap", 0, BLAME_ALLOCATOR },
    { "cuMemAddressReserve", 0, BLAME_ALLOCATOR },
    { "cuMemSetAccess", 0, BLAME_ALLOCATOR },
    { "cuMemcpyHtoDAsync", 0, BLAME_OP },
    { "cuMemsetD32Async", 0, BLAME_OP },
    { "cudaHostAlloc", 0, BLAME_OP },
    { "xcudaMalloc", 0, BLAME_OP },
    { "CudaMalloc", 0, BLAME_OP },
    /* Modules and libraries. */
    { "cuModuleLoadData", 0, BLAME_MODULE_LOAD },
    { "hipModuleLoad", 0, BLAME_MODULE_LOAD },
    { "cuLibraryLoadData", 0, BLAME_MODULE_LOAD },
    { "cuModuleUnload", 0, BLAME_OP },
    { "moduleload", 0, BLAME_OP },
    /* Ranges of optimizers and loaders. */
    { "Optimizer.step#Adam.step", NAME_RANGE, BLAME_OPTIMIZER },
    { "Optimizer.zero_grad#SGD.zero_grad", NAME_RANGE, BLAME_OPTIMIZER },
    { "Optimizer", 0, BLAME_OP },
    { "my Optimizer.step", 0, BLAME_OP },
    { "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", NAME_RANGE,
      BLAME_DATALOADER },
    { "enumerate(DataPipe)#x", NAME_RANGE, BLAME_DATALOADER },
    { "enumerate(DataLoader)", NAME_RANGE, BLAME_OP },
    { "enumerate(Dataset)#1", NAME_RANGE, BLAME_OP },
    { "enumerate(data)#1", 0, BLAME_OP },
    /* Launches, in any case. */
    { "cudaLaunchKernel", NAME_LAUNCHES, BLAME_OP },
    { "hipExtModuleLaunchKernel", NAME_LAUNCHES, BLAME_OP },
    { "cudaGraphLaunch", NAME_LAUNCHES, BLAME_OP },
    { "aclnnlaunch", NAME_LAUNCHES, BLAME_OP },
    { "cudaLaunc", 0, BLAME_OP },
    /* Steps. */
    { "ProfilerStep#0", NAME_STEP, BLAME_OP },
    { "ProfilerStep#1234567890123456789012", NAME_STEP, BLAME_OP },
    { "ProfilerStep#", 0, BLAME_OP },
    { "ProfilerStep#1a", 0, BLAME_OP },
    { "ProfilerStep#-1", 0, BLAME_OP },
    { "ProfilerStep*", 0, BLAME_OP },
    { "profilerStep#1", 0, BLAME_OP },
    { "x ProfilerStep#1", 0, BLAME_OP },
    /* What tables do not list. */
    { "profiler::_record_function_enter", NAME_UNLISTED, BLAME_OP },
    { "profiler::_record_function_enter_new", NAME_UNLISTED, BLAME_OP },
    { "profiler::_record_function_exit", NAME_UNLISTED, BLAME_OP },
    { "aten::is_leaf", NAME_UNLISTED, BLAME_OP },
    { "aten::output_nr", NAME_UNLISTED, BLAME_OP },
    { "aten::_version", NAME_UNLISTED, BLAME_OP },
    { "aten::_versio", 0, BLAME_OP },
    { "aten::is_leaf_", 0, BLAME_OP },
    /* Modules as Python frames. */
    { "nn.Module: Linear_0", NAME_MODULE, BLAME_OP },
    { "nn.Module:Linear", 0, BLAME_OP },
    /* The strongest of two reasons. */
    { "enumerate(DataLoader)#cudaStreamSynchronize", NAME_RANGE | NAME_SYNCHRONIZES,
      BLAME_DATALOADER },
    { "Optimizer.ModuleLoad", NAME_RANGE, BLAME_MODULE_LOAD },
};

static void traits_and_reasons(void **state)
{
    (void)state;
    enum { COUNT = sizeof cases / sizeof *cases };
    struct traced m;
    struct names names;
    string_id id[COUNT];
    traced_begin(&m);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(strings_intern(&m.trace.strings, str_from(cases[i].name), &id[i]));
    assert_true(names_make(&m.trace, &m.arena, &names));
    for (size_t i = 0; i < COUNT; i++) {
        if (names.traits[id[i].n] != cases[i].traits)
            fail_msg("%s has traits %u", cases[i].name, names.traits[id[i].n]);
        if (names.blame[id[i].n] != cases[i].blame)
            fail_msg("%s is blamed %s", cases[i].name,
                     blame_names[names.blame[id[i].n]]);
    }
    traced_end(&m);
}

static void names_of_reasons(void **state)
{
    (void)state;
    static const char *const wanted[BLAMES] = { "dataloader", "sync",    "allocator",
                                                "module_load", "optimizer", "op",
                                                "runtime",    "python",  "none" };
    for (uint32_t i = 0; i < BLAMES; i++)
        assert_string_equal(blame_names[i], wanted[i]);
}

static void number_of_a_range(void **state)
{
    (void)state;
    static const struct {
        const char *name, *without;
    } ranges[] = {
        { "Optimizer.step#Adam.step", "Optimizer.step#Adam.step" },
        { "enumerate(DataLoader)#loader.__next__#3", "enumerate(DataLoader)#loader.__next__" },
        { "enumerate(DataLoader)#12", "enumerate(DataLoader)" },
        { "Optimizer.step#", "Optimizer.step#" },
        { "Optimizer.step2", "Optimizer.step2" },
        { "Optimizer.step#2x", "Optimizer.step#2x" },
        { "#1", "" },
        { "12", "12" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_true(str_equal(name_without_number(str_from(ranges[i].name)),
                              str_from(ranges[i].without)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traits_and_reasons),
        cmocka_unit_test(names_of_reasons),
        cmocka_unit_test(number_of_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
