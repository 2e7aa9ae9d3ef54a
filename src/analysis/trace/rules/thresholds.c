/* thresholds.c - the thresholds of the rules, as they are or as a user sets them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/rules/rules.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/size.h"
#include "base/str.h"

const struct trace_threshold_row trace_thresholds[TRACE_THRESHOLDS] = {
    [GPU_LOW_BUSY] = { "gpu-low-busy_ratio", 0.70, "a device that works less is poorly used" },
    [GPU_LOW_HOST] = { "gpu-low-host_ratio", 0.50, "below, the host is the reason" },
    [GPU_HIGH_BUSY] = { "gpu-high-busy_ratio", 0.90, "a device that works more is fully used" },
    [GPU_HIGH_COMPUTE] = { "gpu-high-compute_ratio", 0.80, "share of computation for that" },
    [DATA_COMPUTE] = { "data-compute_ratio", 1.0, "loading by all computing" },
    [DATA_MODEL] = { "data-model_ratio", 1.0, "loading by forward and backward" },
    [DATA_STEP] = { "data-step_ratio", 0.05, "loading by the time of steps" },
    [DATA_IDLE] = { "data-idle_ratio", 0.20, "idle time owed to loading by all idle time" },
    [HOST_BUSY] = { "host-busy_ratio", 0.70, "a device that works less waits for the host" },
    [HOST_LAUNCHES] = { "host-launches", 10, "launches of a step from which fewer are advised" },
    [FORWARD_BACKWARD] = { "forward-backward_ratio", 2.0, "forward by backward" },
    [BACKWARD_FORWARD] = { "backward-forward_ratio", 2.0, "backward by forward" },
    [COPY_SHARE] = { "copy_ratio", 0.40, "aten::copy_ by all self time" },
    [LAUNCH_STEP] = { "launch-step_ratio", 0.20, "launch calls by the time of steps" },
    [LAUNCH_KERNELS] = { "launch-kernels", 1000, "kernels of a step" },
    [LAUNCH_KERNEL_NS] = { "launch-kernel_ns", 10000, "their median is shorter" },
    [LAUNCH_EMPTY] = { "launch-empty_ratio", 0.30, "time in which nothing was queued" },
    [SMALL_KERNEL_NS] = { "small-kernel_ns", 5000, "a kernel is small below" },
    [SMALL_COUNT] = { "small-count_ratio", 0.50, "small kernels by all" },
    [SMALL_TIME] = { "small-time_ratio", 0.20, "their time by that of all work" },
    [SLOW_LAUNCH_STEP] = { "slow-launch_ratio", 0.01, "slow launches by a step, or the span" },
    [PAGEABLE_STEP] = { "pageable-step_ratio", 0.01, "pageable copies by the time of steps" },
    [PAGEABLE_BYTES] = { "pageable_bytes", 16777216, "pageable copies in a step" },
    [COPY_EXPOSED] = { "copy-exposed_ratio", 0.03, "copies beside no computation by the span" },
    [SYNC_IDLE] = { "sync-idle_ratio", 0.02, "idle time owed to waiting by the span" },
    [ALLOC_CALLS] = { "alloc-calls", 0, "allocations of device memory after two steps" },
    [COMM_EXPOSED] = { "comm-exposed_ratio", 0.10, "collectives beside no computation by the span" },
    [TENSOR_TIME] = { "tensor-time_ratio", 0, "time of products by that of all device work" },
    [TENSOR_ALIGN] = { "tensor-align", 8, "sizes of products in 16 bits are multiples of it" },
    [TENSOR_ALIGN_TIME] = { "tensor-align-time_ratio", 0.01, "time of those that are not, by all" },
    [MEM_PEAK] = { "mem-peak_ratio", 0.90, "peak by the memory of the device" },
    [MEM_FORWARD] = { "mem-forward_ratio", 0.80, "peak of forward by that of backward" },
    [MEM_BACKWARD] = { "mem-backward_ratio", 1.50, "peak of backward by that of forward" },
    [MEM_RESERVED] = { "mem-reserved_ratio", 1.50, "reserved by allocated at the peak" },
    [MEM_GROWTH] = { "mem-growth_ratio", 0.01, "growth from the end of one step to the next" },
    [MEM_STEPS] = { "mem-growth-steps", 3, "steps that grow, one after another" },
    [MEM_HELD] = { "mem-held-steps", 2,
                   "steps, one after another, that hold more gradients and activations" },
    [COPY_BYTES] = { "copy_bytes", 1e9, "copies within the device of one operator" },
    [COPY_NS] = { "copy_ns", 1e7, "their time" },
    [COPY_RATE] = { "copy-rate_bytes", 250e9, "bytes in a second that are few" },
    [OPT_KERNELS] = { "optimizer-kernels", 200, "tiny kernels of one step of an optimizer" },
    [OPT_KERNEL_NS] = { "optimizer-kernel_ns", 10000, "such a kernel is tiny below" },
    [ZERO_CALLS] = { "zero-fill-calls", 0, "fills with zero inside zero_grad" },
    [SELECT_RUN] = { "select-run", 10, "equal groups that begin with aten::select" },
    [TO_PAIRS] = { "to-after-pairs", 0, "tensors made on the host and moved at once" },
    [PROF_STEPS] = { "profiler-steps", 10, "steps that were recorded" },
    [PROF_WARM] = { "profiler-warm_ratio", 1.50, "first step by the median" },
    [PROF_SYNCS] = { "profiler-syncs", 1, "waits for the whole device in a step, by no operator" },
    [PROF_COST] = { "profiler-cost_ratio", 0.02, "time of the profiler itself by the span" },
    [ITEM_STEPS] = { "item-steps_ratio", 0.90, "steps that take a value of a tensor, by all" },
    [STEP_OTHER] = { "step-other_ratio", 0.10, "work outside the phases by the time of steps" },
    [COPY_STEP] = { "copy-step_ratio", 0.02, "copies of the program by the time of steps" },
    [LEAD_GAIN] = { "lead-gain_ratio", 0.01, "gain by the judged time that the first screen tells" },
    [BOTTLENECK_IDLE] = { "bottleneck-idle_ratio", 0.50, "idle time owed to the host by all" },
};

void trace_limits_init(struct trace_limits *ret)
{
    for (uint32_t i = 0; i < TRACE_THRESHOLDS; i++)
        ret->at[i] = trace_thresholds[i].value;
    ret->processors = 0;
    ret->workers = -1;
}

/* A number in the unit of the threshold's name, or as people write it: 70%, 10us, 16MiB. */
static bool read_threshold(str name, str text, double *ret)
{
    const double most = 1e18, million = 1e6;
    uint64_t n = 0;
    int64_t ns = 0;
    if (str_ends(name, S("_ratio")) && share_read(text, &n))
        *ret = (double)n / million;
    else if (str_ends(name, S("_ns")) && duration_read(text, &ns))
        *ret = (double)ns;
    else if (str_ends(name, S("_bytes")) && size_read(text, &n))
        *ret = (double)n;
    else if (!number_real(text, ret))
        return false;
    return *ret >= 0 && *ret <= most;
}

enum vrs_status trace_limits_set(struct trace_limits *limits, str text, struct vrs_error *err)
{
    enum { SHOWN = 40 };
    size_t equals = str_find(text, S("="));
    str name = { text.ptr, equals };
    uint32_t at = 0;
    while (at < TRACE_THRESHOLDS && !str_equal(name, str_from(trace_thresholds[at].name)))
        at++;
    if (at == TRACE_THRESHOLDS)
        return vrs_fail(err, VRS_USAGE, "no rule has a threshold \"%.*s\"",
                        (int)(name.len < SHOWN ? name.len : SHOWN), name.ptr);
    str number = { text.ptr + equals, text.len - equals };
    double value;
    if (number.len > 0)
        number = (str){ number.ptr + 1, number.len - 1 };
    if (!read_threshold(name, number, &value))
        return vrs_fail(err, VRS_USAGE, "the threshold %s is a number from 0 on, or as 70%%, 10us or 16MiB by the "
                        "unit in its name, not \"%.*s\"",
                        trace_thresholds[at].name, (int)(number.len < SHOWN ? number.len : SHOWN),
                        number.ptr);
    limits->at[at] = value;
    return VRS_OK;
}
