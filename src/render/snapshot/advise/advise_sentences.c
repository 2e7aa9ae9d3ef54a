/* advise_sentences.c - the sentences of advice. */
#include "render/snapshot/advise/advise.h"

#include <string.h>

/* In texts, "@" is the line, "#" the bytes, "&" the first event; "%" what the device was asked for
 * after empty_cache; "!" that a replay told the saving, or how to ask one. */
struct words {
    const char *id, *text, *cost;
};

static const struct words table[] = {
    { "grad-late-zero",
      "# of gradients of the step before stay alive through the forward and are freed after it: "
      "call optimizer.zero_grad(set_to_none=True) before the forward.",
      NULL },
    { "grad-not-cleared",
      "# of gradients are accumulated and never released in this recording; if that is not "
      "intended, call optimizer.zero_grad(set_to_none=True) before the forward.",
      NULL },
    { "two-generations",
      "# allocated at @ in one step are freed only after the next step has allocated its own: del "
      "the variable, or put the body of the loop in a function, so that the old value is freed "
      "first.",
      NULL },
    { "no-grad",
      "# are saved at @ for a backward that never runs: run this part under torch.no_grad() or "
      "torch.inference_mode().",
      NULL },
    { "checkpoint",
      "activations dominate the peak, and the forward repeats a layer at @: checkpoint that layer "
      "(torch.utils.checkpoint).",
      "one more forward of the layer" },
    { "logits-loss",
      "# of the peak belong to the loss at @: chunk the loss, or use a fused linear-cross-entropy "
      "kernel.",
      NULL },
    { "attention-math",
      "# of the peak belong to unfused attention at @: make the call eligible for a fused kernel "
      "(mask, dtype, head size).",
      NULL },
    { "bucket-view",
      "# of gradients are held twice, in the reducer's buckets too: pass "
      "gradient_as_bucket_view=True to DistributedDataParallel.",
      NULL },
    { "optimizer-foreach",
      "the peak lies in the optimizer at @, with # of temporaries of all parameters at once: pass "
      "fused=True or foreach=False.",
      "foreach=False makes the step slower" },
    { "optimizer-replace",
      "the optimizer at @ allocates # of new tensors before it frees the old ones: update state "
      "and parameters in place.",
      NULL },
    { "optimizer-heavy",
      "optimizer state takes # and decides how much memory is needed: consider 8-bit, sharded or "
      "offloaded state.",
      NULL },
    { "expandable",
      "# of reserved memory is stranded &, where it can neither serve larger requests nor be "
      "returned to the device: set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (!).",
      NULL },
    { "max-split",
      "# lie in large segments that small blocks such as @ pin: set max_split_size_mb in "
      "PYTORCH_CUDA_ALLOC_CONF.",
      NULL },
    { "empty-cache",
      "torch.cuda.empty_cache() at @ returns # to the device that are then reserved again: remove "
      "the call from the loop.",
      "% while the call stays" },
    { "retained-output",
      "# allocated at @ in an earlier step are still alive at the peak: del the variable, or put "
      "the body of the loop in a function.",
      NULL },
    { "graph-kept",
      "# accumulate because an autograd graph is kept from step to step at @: keep loss.item() or "
      ".detach(), not the tensor.",
      NULL },
    { "kv-prealloc",
      "the cache at @ is copied into a larger one again and again, # of it held twice: allocate it "
      "once at its final length.",
      NULL },
    { "inputs-ahead",
      "# of inputs allocated at @ are on the device two steps or more before their use: copy the "
      "next batch later, or keep it on the host.",
      NULL },
    { "pending-free",
      "at the peak # from @ are freed but wait for another stream: drop record_stream where "
      "wait_stream is enough, or allocate on the stream that frees.",
      NULL },
    { "side-stream-cache",
      "# are cached for a stream that no longer allocates: allocate on the stream that frees.",
      NULL },
    { "collector",
      "# were freed by Python's garbage collector: break the reference cycle; find it with a cycle "
      "detector.",
      NULL },
    { "capture",
      "the recording has too little for more advice: record from the start, two steps or more, "
      "with stacks=\"all\" or \"python\" and a larger max_entries.",
      NULL },
    { "near-limit",
      "the card was full &, though no request failed: the next larger batch will not fit.", NULL },
};

static const struct words *words_of(const struct advice *advice)
{
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].id, advice->id) == 0)
            return &table[i];
    return NULL;
}

static void put_calls(struct buf *to, const struct advice *advice)
{
    const char *what = advice->mapped ? "mapping" : "cudaMalloc call";
    buf_format(to, "%u %s%s for ", (unsigned)advice->calls, what, advice->calls == 1 ? "" : "s");
    human_known_bytes(to, advice->call_bytes);
}

static void put_first_event(struct buf *to, const struct advice *advice)
{
    if (advice->at_events == 0)
        buf_text(to, "once");
    else if (advice->at_event[0] < 0)
        buf_text(to, "before the first event");
    else
        buf_format(to, "at event %lld", (long long)advice->at_event[0]);
}

static void put_template(struct buf *to, const char *text, const struct advice *advice)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '@' && advice->has_site)
            buf_str(to, advice->site.culprit);
        else if (*at == '@')
            buf_text(to, "an unknown line");
        else if (*at == '#')
            human_known_bytes(to, advice->bytes);
        else if (*at == '%')
            put_calls(to, advice);
        else if (*at == '&')
            put_first_event(to, advice);
        else if (*at == '!')
            buf_text(to, advice->source == SAVING_VERIFIED
                             ? "a replay of this run with it reserves that much less"
                             : "verify with vramscope replay --set expandable_segments:True");
        else
            buf_char(to, *at);
    }
}

void advice_words(struct buf *to, const struct advice *advice)
{
    const struct words *w = words_of(advice);
    put_template(to, w == NULL ? "" : w->text, advice);
}

bool advice_cost(struct buf *to, const struct advice *advice)
{
    const struct words *w = words_of(advice);
    if (w == NULL || w->cost == NULL)
        return false;
    put_template(to, w->cost, advice);
    return true;
}

bool advise_sentence(struct buf *to, const struct field *f, const void *row)
{
    if (f->sentence == ADVICE_COST)
        return advice_cost(to, row);
    advice_words(to, row);
    return true;
}

void advice_saving(struct buf *to, const struct advice *advice)
{
    if (advice->saving_bytes == UNKNOWN_U64 || advice->source == SAVING_NONE) {
        buf_text(to, severity_names[advice->severity]);
        return;
    }
    if (advice->saving_bytes == 0) {
        buf_text(to, "frees nothing at the peak");
        return;
    }
    buf_text(to, advice->at_most                      ? "frees up to ~"
                 : advice->source == SAVING_ESTIMATED ? "frees ~"
                                                      : "frees ");
    human_known_bytes(to, advice->saving_bytes);
}

bool advice_joint(struct buf *to, const struct advise *a)
{
    if (a->joint_rules < 2 || a->joint_saving_bytes <= 0)
        return false;
    buf_text(to, "the peak would be ");
    human_bytes(to, a->joint_peak_bytes);
    if (a->joint_peak_event < 0)
        buf_text(to, " at the start, ");
    else
        buf_format(to, " at event %lld, ", (long long)a->joint_peak_event);
    human_bytes(to, a->joint_saving_bytes);
    buf_text(to, " less; the savings of two rules may overlap");
    return true;
}
