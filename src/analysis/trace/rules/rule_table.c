/* rule_table.c - the rules, with what each needs, what it says and what to do. */
#include <stddef.h>

#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"

const struct rule_row rule_rows[RULES_MOST] = {
    { "GPU-LOW", TRACE_PROBLEM, NEED_TORCH | NEED_DEVICE, rule_gpu_low,
      "the device was busy for {busy_ratio} of {window_ns} and idle for the other {idle_ns}",
      "look at the gaps (--gaps) and at the kernels (--kernels): neither host nor device alone "
      "holds it back" },
    { "GPU-HIGH", TRACE_NOTE, NEED_TORCH | NEED_DEVICE, rule_gpu_high,
      "the device was busy for {busy_ratio} of {window_ns}, for {compute_ratio} without copies",
      "the time is in what runs there: look at the kernels (--kernels)" },
    { "GPU-MIXED", TRACE_NOTE, NEED_TORCH | NEED_DEVICE, rule_gpu_mixed,
      "the device was busy for {busy_ratio} of {window_ns}, for {compute_ratio} without copies",
      "look at the longest gaps (--gaps), then at whether the largest kernels wait for memory" },
    { "DATA-1", TRACE_PROBLEM, NEED_TORCH | NEED_STEPS, rule_data_1,
      "{data_ns} of {steps_ns} of steps on the host went into loading data: {data_compute_ratio} "
      "of what forward, backward and optimizer took",
      NULL },
    { "DATA-2", TRACE_PROBLEM, NEED_TORCH | NEED_STEPS, rule_data_2,
      "{data_ns} of {steps_ns} of steps on the host went into loading data: {data_model_ratio} of "
      "what forward and backward took",
      NULL },
    { "DATA-3", TRACE_ADVICE, NEED_TORCH | NEED_STEPS, rule_data_3,
      "{data_ns} of {steps_ns} of steps on the host went into loading data ({data_step_ratio})",
      NULL },
    { "HOST-1", TRACE_PROBLEM, NEED_TORCH | NEED_DEVICE, rule_host,
      "the device waited {late_ns} for the host to launch, of {idle_ns} idle between its first "
      "event and its last; it was busy for {busy_ratio} of {window_ns}",
      "see what the host does in the gaps (--gaps)" },
    { "PH-FWD", TRACE_NOTE, NEED_TORCH | NEED_STEPS, rule_forward,
      "{forward_ns} of forward are {forward_backward_ratio} of the {backward_ns} of backward",
      "look at the operators of the forward (--ops)" },
    { "PH-BWD", TRACE_NOTE, NEED_TORCH | NEED_STEPS, rule_backward,
      "{backward_ns} of backward are {backward_forward_ratio} of the {forward_ns} of forward",
      "look at the operators of the backward (--ops); a checkpoint runs its forward again" },
    { "COPY-40", TRACE_ADVICE, NEED_TORCH, rule_copies,
      "{calls} calls of aten::copy_ took {host_ratio} of the host's time and {device_ratio} of the "
      "device's",
      "make tensors where they are used, move them once, and keep them contiguous" },
    { "LAUNCH-BOUND", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE | NEED_STEPS | NEED_CALLS,
      rule_launch_bound,
      "{launch_ns} of the host went into {launches} launches, {launch_step_ratio} of the time of "
      "steps",
      "larger batches, fused operators, torch.compile or CUDA graphs launch less" },
    { "SMALL-OPS", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_small_ops,
      "{small_kernels} of {kernels} kernels are shorter than {below_ns}; all of them together are "
      "{small_time_ratio} of the device's time",
      "fuse them: torch.compile, or one operator for several" },
    { "SLOW-LAUNCH", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_slow_launch,
      "the device waited {slow_ns} for launches that took 100 us or more, the longest "
      "{longest_ns}",
      "run some steps before those that count, or load kernels at the start "
      "(CUDA_MODULE_LOADING=EAGER)" },
    { "H2D-PAGEABLE", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_pageable,
      "{pageable_ns} in {copies} copies from pageable memory, {pageable_bytes} in a step",
      "copy from pinned memory (pin_memory=True) with non_blocking=True" },
    { "H2D-EXPOSED", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_exposed_copies,
      "for {exposed_ns} the device did nothing but copy ({copy_exposed_ratio} of its time)",
      "copy with non_blocking=True, and the next batch on a stream of its own" },
    { "SYNC-STEP", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_sync,
      "the host waited {waits_ns} for the device in steps ({waits} calls, in {steps_with_waits} of "
      "{steps} steps); {sync_idle_ns} of the device's idle time are owed to that",
      "take .item(), .cpu(), prints of tensors and timers out of the loop, or do them every so "
      "many steps" },
    { "ALLOC-STEP", TRACE_ADVICE, NEED_TORCH | NEED_STEPS, rule_alloc,
      "{alloc_calls} calls for device memory behind the second step took {alloc_ns}",
      "look for retries of the allocator in a snapshot (vramscope report), and try "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
    { "COMM-EXPOSED", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_comm_exposed,
      "for {exposed_ns} the device did nothing but collectives ({comm_exposed_ratio} of its time)",
      "let them run beside the backward: bucket sizes, accumulation of gradients" },
    { "COMM-SKEW", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_comm_skew, NULL,
      "balance the work of the ranks" },
    { "TC-IDLE", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_tensor_cores,
      "{products_ns} of matrix products and convolutions, and no kernel whose name shows tensor "
      "cores",
      "use mixed precision (torch.autocast)" },
    { "TC-ALIGN", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_tensor_align,
      "{unaligned_ns} of matrix products in 16 bits have a size that is no multiple of {multiple}, "
      "the longest {rows} x {inner} by {inner} x {columns}",
      "pad sizes (vocabulary, features, batch) to multiples of {multiple}, of 16 in bfloat16" },
    { "MEM-90", TRACE_PROBLEM, NEED_TORCH | NEED_MEMORY, rule_mem_peak,
      "{peak_bytes} of {device_bytes} were allocated at the peak ({peak_ratio})",
      "checkpoint activations, or keep smaller states; vramscope advise says more of a snapshot" },
    { "MEM-ACT", TRACE_NOTE, NEED_TORCH | NEED_MEMORY, rule_mem_forward,
      "{forward_bytes} at the peak of forward, {forward_backward_ratio} of that of backward",
      "what the forward keeps for the backward makes the peak: checkpoint activations" },
    { "MEM-GRAD", TRACE_NOTE, NEED_TORCH | NEED_MEMORY, rule_mem_backward,
      "{backward_bytes} at the peak of backward, {backward_forward_ratio} of that of forward",
      "gradients and what backwards work in make the peak: smaller buckets, set_to_none=True" },
    { "MEM-FRAG", TRACE_NOTE, NEED_TORCH | NEED_MEMORY, rule_mem_reserved,
      "{reserved_bytes} were reserved at the peak of {peak_bytes} ({reserved_ratio})",
      "look at a snapshot (vramscope fragments) before fragmentation is blamed" },
    { "MEM-LEAK", TRACE_PROBLEM, NEED_TORCH | NEED_MEMORY | NEED_STEPS, rule_mem_growth,
      "{growing_steps} steps, one after another, end with more memory than they began with, each "
      "by {growth_ratio} or more",
      "keep nothing of a step for the next: losses as numbers, lists of outputs; vramscope leaks "
      "says more of a snapshot" },
    { "BW-LOW", TRACE_NOTE, NEED_TORCH | NEED_DEVICE, rule_bandwidth,
      "{copied_bytes} copied within the device in {copied_ns}, {rate_bytes} a second",
      "copy less, or contiguous tensors" },
    { "OPT-LOOP", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_optimizer_loop,
      "{optimizer_ns} of the host in steps of the optimizer, which goes tensor by tensor "
      "({kernels_of_a_step} tiny kernels in one)",
      "make the optimizer with foreach=True or fused=True" },
    { "ZERO-FILL", TRACE_ADVICE, NEED_TORCH, rule_zero_fill,
      "{fill_ns} in {fills} fills of gradients with zero", "zero_grad(set_to_none=True)" },
    { "SELECT-LOOP", TRACE_ADVICE, NEED_TORCH, rule_select_loop,
      "{groups} times in a row the same operators follow an aten::select: a loop over a tensor",
      "do them once on the whole tensor" },
    { "TO-AFTER", TRACE_ADVICE, NEED_TORCH | NEED_DEVICE, rule_to_after,
      "{made_ns} went into making tensors on the host, each right before an aten::to that copies to "
      "the device ({pairs})",
      "make them there: device=\"cuda\"" },
    { "ITEM-STEP", TRACE_ADVICE, NEED_TORCH | NEED_STEPS, rule_item_step,
      "{reads} times the program took a value out of a tensor, in {steps_with_reads} of {steps} "
      "steps: {reads_ns} on the host, and on a GPU each of them waits until the device is done",
      "keep the value a tensor (loss.detach()), and take it with .item(), float(), .tolist(), "
      ".cpu() or print every so many steps" },
    { "STEP-OTHER", TRACE_ADVICE, NEED_TORCH | NEED_STEPS, rule_step_other,
      "{other_ns} of {steps_ns} of steps ({step_other_ratio}) went into work outside loading, "
      "forward, backward and optimizer",
      "see what it is (--tree)" },
    { "COPY-STEP", TRACE_ADVICE, NEED_TORCH | NEED_STEPS, rule_copy_step,
      "{copies} copies of tensors that the program asks for, in {steps_with_copies} of {steps} "
      "steps, took {copied_ns} ({copy_step_ratio} of the time of steps)",
      "make the tensor once as it is needed (dtype, layout, device), and copy only what is "
      "changed afterwards" },
    { "PROF-LONG", TRACE_NOTE, NEED_TORCH | NEED_STEPS, rule_prof_long,
      "{steps} steps were recorded", "a few say the same and make smaller files: active=3" },
    { "PROF-NOWARM", TRACE_NOTE, NEED_TORCH | NEED_STEPS, rule_prof_warm,
      "{first_ns} the first step took, {first_ratio} of the median of plain steps",
      "leave the first steps out: schedule(wait=1, warmup=2, active=3)" },
    { "PROF-MODE", TRACE_NOTE, NEED_TORCH, rule_prof_mode,
      "an optimizer ran and no backward was recorded",
      "record whole steps, with the backward in them" },
    { "PROF-NOMEM", TRACE_NOTE, NEED_TORCH, rule_prof_memory, "memory was not recorded",
      "record with profile_memory=True" },
    { "PROF-COARSE", TRACE_NOTE, NEED_TORCH, rule_prof_coarse,
      "neither ranges of the program nor frames of Python were recorded, so that no operator is "
      "told to be of a part of the model",
      "record with with_stack=True, or put record_function(\"forward\") and the like around the "
      "parts" },
    { "PROF-SYNC", TRACE_NOTE, NEED_TORCH | NEED_DEVICE | NEED_STEPS, rule_prof_sync,
      "{waits_ns} of steps went into waits for the whole device that no operator called ({waits} "
      "calls)",
      "such waits, as timers make them, change what is measured: take them out, or use CUDA "
      "events" },
    { "PROF-COST", TRACE_NOTE, NEED_TORCH, rule_prof_cost,
      "{overhead_ns} went into the profiler itself ({overhead_ratio} of the recording)",
      "record less at once: without stacks, shapes or memory" },
};
