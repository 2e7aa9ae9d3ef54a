/* advise_table.c - the table of the rules of advice. */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/categories/category_rules.h"

const struct advice_entry advice_entries[] = {
    {
        .id = "grad-late-zero",
        .rule = advise_grad_late_zero,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_HIGH,
        .needs_saving = true,
        .text = "{bytes} of gradients of the step before stay alive through the "
                "forward and are freed after it: call "
                "optimizer.zero_grad(set_to_none=True) before the forward.",
    },
    {
        .id = "grad-not-cleared",
        .rule = advise_grad_not_cleared,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .text = "{bytes} of gradients are added to and never released in this recording: if "
                "that is not intended, call optimizer.zero_grad(set_to_none=True) before "
                "the forward.",
    },
    {
        .id = "two-generations",
        .rule = advise_two_generations,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_HIGH,
        .needs_saving = true,
        .text = "{bytes} allocated at {line} in one step are freed only after the next "
                "step has allocated its own: del the variable, or put the body of the "
                "loop in a function, so that the old value is freed first.",
    },
    {
        .id = "no-grad",
        .rule = advise_no_grad,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_root = true,
        .text = "{bytes} are saved at {line} for a backward that never runs: run this "
                "part under torch.no_grad() or torch.inference_mode().",
    },
    {
        .id = "checkpoint",
        .rule = advise_checkpoint,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_owner = true,
        .text = "{bytes} of the peak are kept for the backward by the layers that the forward "
                "repeats at {line}: checkpoint each of them (torch.utils.checkpoint).",
        .cost = "one more forward of the layer",
    },
    {
        .id = "logits-loss",
        .rule = advise_logits_loss,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_owner = true,
        .text = "{bytes} of the peak belong to the loss at {line}: chunk the loss, or "
                "use a fused linear-cross-entropy kernel.",
    },
    {
        .id = "attention-math",
        .rule = advise_attention_math,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_owner = true,
        .text = "{bytes} of the peak belong to unfused attention at {line}: make the "
                "call eligible for a fused kernel (mask, dtype, head size).",
    },
    {
        .id = "bucket-view",
        .rule = advise_bucket_view,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} of gradients are held twice, in the reducer's buckets too: "
                "pass gradient_as_bucket_view=True to DistributedDataParallel.",
    },
    {
        .id = "optimizer-foreach",
        .rule = advise_optimizer_foreach,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_owner = true,
        .text = "the peak lies in the optimizer at {line}, with {bytes} of temporaries "
                "of all parameters at once: pass fused=True or foreach=False.",
        .cost = "foreach=False makes the step slower",
    },
    {
        .id = "optimizer-replace",
        .rule = advise_optimizer_replace,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_owner = true,
        .text = "the optimizer at {line} allocates {bytes} of new tensors before it "
                "frees the old ones: update state and parameters in place.",
    },
    {
        .id = "optimizer-heavy",
        .rule = advise_optimizer_heavy,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_MEDIUM,
        .text = "optimizer state takes {bytes} and decides how much memory is needed: "
                "consider 8-bit, sharded or offloaded state.",
    },
    {
        .id = "expandable",
        .rule = advise_expandable,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} of reserved memory is stranded {event}, where it can neither "
                "serve larger requests nor be returned to the device: set "
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (vramscope replay with "
                "that setting tells how much it saves).",
    },
    {
        .id = "max-split",
        .rule = advise_max_split,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} lie in large segments that small blocks such as {line} pin: "
                "set max_split_size_mb in PYTORCH_CUDA_ALLOC_CONF.",
    },
    {
        .id = "empty-cache",
        .rule = advise_empty_cache,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_HIGH,
        .text = "torch.cuda.empty_cache() at {line} returns {bytes} to the device that "
                "are then reserved again: remove the call from the loop.",
        .cost = "{device} while the call stays",
    },
    {
        .id = "retained-output",
        .rule = advise_retained_output,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} allocated at {line} in an earlier step are still alive at the "
                "peak: del the variable, or put the body of the loop in a function.",
    },
    {
        .id = "graph-kept",
        .rule = advise_graph_kept,
        .severity = SEVERITY_PROBLEM,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} accumulate because an autograd graph is kept from step to "
                "step at {line}: keep loss.item() or .detach(), not the tensor.",
    },
    {
        .id = "kept-each-step",
        .rule = advise_kept_each_step,
        .severity = SEVERITY_PROBLEM,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "each step leaves more at {line}, and the peak holds {bytes} of earlier "
                "steps: keep a number or a copy on the host, bound the cache, or drop it "
                "at the end of the step (see vramscope leaks).",
    },
    {
        .id = "kv-prealloc",
        .rule = advise_kv_prealloc,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .text = "the cache at {line} is copied into a larger one again and again, up to "
                "{bytes} held twice and left behind as a hole: allocate it once at its "
                "final length.",
    },
    {
        .id = "inputs-ahead",
        .rule = advise_inputs_ahead,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} of inputs allocated at {line} are on the device two steps or "
                "more before their use: copy the next batch later, or keep it on the "
                "host.",
    },
    {
        .id = "pending-free",
        .rule = advise_pending_free,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "at the peak {bytes} from {line} are freed but wait for another "
                "stream: drop record_stream where wait_stream is enough, or allocate "
                "on the stream that frees.",
    },
    {
        .id = "side-stream-cache",
        .rule = advise_side_stream_cache,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} are cached for a stream that no longer allocates: allocate on "
                "the stream that frees.",
    },
    {
        .id = "collector",
        .rule = advise_collector,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_MEDIUM,
        .text = "{bytes} were freed by Python's garbage collector: break the reference "
                "cycle; find it with a cycle detector.",
    },
    {
        .id = "capture",
        .rule = advise_capture,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_HIGH,
        .untraced = true,
        .text = "the recording has too little for more advice: record from the start, "
                "two steps or more, with stacks=\"all\" or \"python\" and a larger "
                "max_entries.",
    },
    {
        .id = "held-over-backward",
        .rule = advise_held_over_backward,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} made at {line} are held by a name over the whole backward, which "
                "does not need them: del the variable before the backward.",
    },
    {
        .id = "autocast-cache",
        .rule = advise_autocast_cache,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .at_owner = true,
        .text = "{bytes} of the peak are copies of parameters in half precision that "
                "autocast made at {line}: hold the model in that type, and no copies are "
                "made.",
        .cost = "parameters of lower precision, or a master copy in the optimizer",
    },
    {
        .id = "second-model",
        .rule = advise_second_model,
        .severity = SEVERITY_ADVICE,
        .confidence = CONFIDENCE_MEDIUM,
        .needs_saving = true,
        .text = "{bytes} with the sizes of all parameters lie beside them over the whole "
                "recording, made at {line}: keep a moving average or a teacher on the "
                "host, and del a model that is no longer used.",
        .cost = "a copy from the host where it is used",
    },
    {
        .id = "reserved-gap",
        .rule = advise_reserved_gap,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_HIGH,
        .untraced = true,
        .text = "{reserved} are reserved {moment}, of which blocks in use take {active}: {gap}.",
    },
    {
        .id = "kv-pool",
        .rule = advise_kv_pool,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_MEDIUM,
        .untraced = true,
        .text = "{bytes} are a cache of keys and values allocated at {line}: its size is a "
                "setting of the program (length, batch, data type, share of the memory "
                "that a server takes).",
    },
    {
        .id = "near-limit",
        .rule = advise_near_limit,
        .severity = SEVERITY_NOTE,
        .confidence = CONFIDENCE_HIGH,
        .text = "PyTorch gave {bytes} of cached memory back {event} to serve a request: the "
                "card could give no more then, and a larger batch is likely to fail.",
    },
};
const uint32_t advice_entry_count = sizeof advice_entries / sizeof *advice_entries;
_Static_assert(sizeof advice_entries / sizeof *advice_entries <= ADVICE_RULES_MOST, "");
