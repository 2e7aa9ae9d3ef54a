/* tokens.c - one look at each frame, one pass over the stacks.
 *
 * What names mean is data: the words of native names, and pairs of a path and a function of
 * Python.  Only the head of a name is read, so that a long one that many frames share costs little.
 */
#include "analysis/attribution/tokens.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/code.h"

enum match { EXACT, PREFIX, CONTAINS };

static bool word_is(str text, enum match match, const char *word)
{
    switch (match) {
    case EXACT:
        return str_equal(text, str_from(word));
    case PREFIX:
        return str_starts(text, str_from(word));
    case CONTAINS:
        return str_find(text, str_from(word)) < text.len;
    }
    return false;
}

/* A word of a native name, underscores before it aside, and the word it is qualified by, or NULL
 * for any.  Nothing here may be a word of an interpreter or of libc: where their symbols are
 * stripped, the nearest name is nonsense.  The collector is named as evidence only. */
static const struct native_rule {
    token_set tokens;
    const char *scope;
    enum match match;
    const char *word;
} native_rules[] = {
    { TOKEN_ENGINE, "autograd", EXACT, "Engine" },
    { TOKEN_ENGINE, "python", EXACT, "PythonEngine" },
    { TOKEN_ACCUMULATE, NULL, EXACT, "AccumulateGrad" },
    { TOKEN_SAVED, NULL, EXACT, "SavedVariable" },
    { TOKEN_SAVED, NULL, EXACT, "release_variables" },
    { TOKEN_COMMUNICATION, NULL, EXACT, "c10d" },
    { TOKEN_COMMUNICATION, NULL, PREFIX, "ProcessGroup" },
    { TOKEN_COMMUNICATION, NULL, PREFIX, "nccl" },
    { TOKEN_COMMUNICATION | TOKEN_REDUCER, "c10d", EXACT, "Reducer" },
    { TOKEN_LOSS, NULL, PREFIX, "cross_entropy" },
    { TOKEN_LOSS, NULL, PREFIX, "log_softmax" },
    { TOKEN_LOSS, NULL, PREFIX, "LogSoftmax" },
    { TOKEN_LOSS, NULL, PREFIX, "nll_loss" },
    { TOKEN_LOSS, NULL, PREFIX, "NllLoss" },
    { TOKEN_MATH_ATTENTION, NULL, PREFIX, "scaled_dot_product_attention_math" },
    { TOKEN_SOFTMAX, NULL, EXACT, "softmax" },
    { TOKEN_PRODUCTS, NULL, EXACT, "bmm" },
    { TOKEN_PRODUCTS, NULL, EXACT, "baddbmm" },
    { TOKEN_CONCATENATE, NULL, EXACT, "cat" },
    { TOKEN_AUTOCAST, NULL, EXACT, "cached_cast" },
    { TOKEN_PAGED_CACHE, NULL, PREFIX, "paged_attention" },
    { TOKEN_PAGED_CACHE, NULL, PREFIX, "PagedAttention" },
    { TOKEN_PAGED_CACHE, NULL, PREFIX, "BatchDecodeWithPagedKV" },
    { TOKEN_PAGED_CACHE, NULL, PREFIX, "BatchPrefillWithPagedKV" },
    { TOKEN_COLLECTOR, NULL, PREFIX, "gc_collect" },
    { TOKEN_EMPTY_CACHE, NULL, EXACT, "emptyCache" },
    { TOKEN_EMPTY_CACHE, NULL, EXACT, "THCPModule_emptyCache" },
    { TOKEN_DEVICE_MALLOC, "DeviceCachingAllocator", EXACT, "malloc" },
    { TOKEN_DEVICE_MALLOC, "NativeCachingAllocator", EXACT, "malloc" },
    { TOKEN_COPY, NULL, EXACT, "THPVariable_cuda" },
    { TOKEN_COPY, NULL, EXACT, "dispatch_to" },
    { TOKEN_TO_COPY, NULL, EXACT, "to_copy" },
};

/* What a path is, as bits; each is asked once a frame and used by several rules. */
#define PATH_ANY 0u
#define PATH_OPTIM 1u       /* torch/optim, schedulers of the learning rate aside */
#define PATH_NAMED_OPTIM 2u /* the base name contains "optim", as above */
#define PATH_AUTOGRAD 4u
#define PATH_DATA 8u
#define PATH_MODULE 16u
#define PATH_COLLECTIVE 32u
#define PATH_CACHE 64u
#define PATH_FUSED_LOSS 128u
#define PATH_MEMORY 256u
#define PATH_COLLECTOR 512u
#define PATH_PAGED 1024u
#define PATH_FUNCTION 2048u   /* functions of the graph that are written in Python */
#define PATH_CHECKPOINT 4096u /* forwards that run again in a backward */
#define PATH_DECORATOR 8192u  /* stands between a caller and what it decorates */
#define PATH_FUNCTIONAL 16384u

static const struct path_word {
    uint32_t path;
    bool in_base; /* else anywhere in the path */
    const char *word;
} path_words[] = {
    { PATH_OPTIM, false, "/torch/optim/" },
    { PATH_NAMED_OPTIM, true, "optim" },
    { PATH_AUTOGRAD, false, "/torch/autograd/" },
    { PATH_FUNCTION, false, "/torch/autograd/function.py" },
    { PATH_CHECKPOINT, false, "/torch/utils/checkpoint.py" },
    { PATH_DECORATOR, false, "/torch/utils/_contextlib.py" },
    { PATH_DATA, false, "/torch/utils/data/" },
    { PATH_MODULE, false, "/torch/nn/modules/module.py" },
    { PATH_COLLECTIVE, false, "/torch/distributed/distributed_c10d.py" },
    { PATH_COLLECTIVE, false, "/torch/distributed/_functional_collectives" },
    { PATH_COLLECTIVE, true, "_fsdp_collectives.py" },
    { PATH_CACHE, true, "kv_cache" },
    { PATH_CACHE, true, "kvcache" },
    { PATH_CACHE, true, "cache_engine" },
    { PATH_CACHE, true, "cache_utils" },
    { PATH_FUSED_LOSS, false, "/liger_kernel/" },
    { PATH_FUSED_LOSS, false, "/cut_cross_entropy/" },
    { PATH_MEMORY, false, "/torch/cuda/memory.py" },
    { PATH_COLLECTOR, false, "/gc.py" },
    { PATH_FUNCTIONAL, false, "/torch/nn/functional.py" },
    { PATH_PAGED, true, "paged_" },
    { PATH_PAGED, true, "block_manager" },
    { PATH_PAGED, true, "block_pool" },
    { PATH_PAGED, true, "cache_engine" },
};

/* What a frame is to those it calls; in no set that anybody else sees. */
#define BESIDE_OPTIMIZER TOKEN(58) /* the step of one of torch's optimizers */
#define BESIDE_FUNCTION TOKEN(59)  /* runs a function of the graph that is written in Python */
#define BESIDE TOKEN(60)           /* passes over to its callee what its caller is */
#define IS_CLOSURE TOKEN(61)       /* named so */
#define IS_FOREIGN TOKEN(62)       /* not torch's, and not named as a part of something */
#define IS_BACKWARD TOKEN(63)      /* a function `backward` */
#define CALLED_BY (BESIDE_OPTIMIZER | BESIDE_FUNCTION)
#define OF_FRAMES (CALLED_BY | BESIDE | IS_CLOSURE | IS_FOREIGN | IS_BACKWARD)

/* A function of Python in a path; NULL is any function. */
static const struct python_rule {
    token_set tokens;
    uint32_t path;
    enum match match;
    const char *function;
} python_rules[] = {
    { TOKEN_OPTIMIZER | BESIDE_OPTIMIZER, PATH_OPTIM, EXACT, "step" },
    { TOKEN_OPTIMIZER, PATH_OPTIM, EXACT, "wrapper" },
    { TOKEN_OPTIMIZER, PATH_OPTIM, EXACT, "_init_group" },
    { TOKEN_OPTIMIZER, PATH_OPTIM, PREFIX, "_single_tensor_" },
    { TOKEN_OPTIMIZER | TOKEN_MULTI_TENSOR, PATH_OPTIM, PREFIX, "_multi_tensor_" },
    { TOKEN_OPTIMIZER, PATH_OPTIM, PREFIX, "_fused_" },
    { TOKEN_OPTIMIZER, PATH_NAMED_OPTIM, EXACT, "step" },
    { TOKEN_ZERO_GRAD, PATH_ANY, EXACT, "zero_grad" },
    { TOKEN_BACKWARD, PATH_AUTOGRAD, EXACT, "backward" },
    { TOKEN_BACKWARD, PATH_AUTOGRAD, EXACT, "_engine_run_backward" },
    { TOKEN_BACKWARD, PATH_AUTOGRAD, EXACT, "grad" },
    { TOKEN_BACKWARD, PATH_AUTOGRAD, PREFIX, "unpack_" },
    { TOKEN_BACKWARD, PATH_CHECKPOINT, EXACT, "backward" },
    { TOKEN_BACKWARD, PATH_CHECKPOINT, EXACT, "unpack_hook" },
    { TOKEN_BACKWARD, PATH_CHECKPOINT, EXACT, "recompute_fn" },
    { BESIDE_FUNCTION, PATH_FUNCTION, EXACT, NULL },
    { BESIDE, PATH_DECORATOR, EXACT, NULL },
    { IS_CLOSURE, PATH_ANY, CONTAINS, "closure" },
    { IS_BACKWARD, PATH_ANY, EXACT, "backward" },
    { TOKEN_MODULE, PATH_ANY, EXACT, "forward" },
    { TOKEN_DATA, PATH_DATA, EXACT, NULL },
    { TOKEN_APPLY | TOKEN_INIT, PATH_MODULE, EXACT, "_apply" },
    { TOKEN_APPLY | TOKEN_INIT, PATH_MODULE, EXACT, "convert" },
    { TOKEN_INIT, PATH_ANY, EXACT, "__init__" },
    { TOKEN_INIT, PATH_ANY, EXACT, "load_state_dict" },
    { TOKEN_INIT, PATH_ANY, EXACT, "from_pretrained" },
    { TOKEN_INIT, PATH_ANY, EXACT, "reset_parameters" },
    { TOKEN_INIT, PATH_ANY, EXACT, "set_module_tensor_to_device" },
    { TOKEN_INIT, PATH_ANY, PREFIX, "init_weight" },
    { TOKEN_INIT, PATH_ANY, PREFIX, "load_weight" },
    { TOKEN_INIT, PATH_ANY, PREFIX, "load_checkpoint" },
    { TOKEN_INIT, PATH_ANY, EXACT, "load_model" },
    { TOKEN_COMMUNICATION, PATH_COLLECTIVE, EXACT, NULL },
    { TOKEN_COMMUNICATION, PATH_ANY, CONTAINS, "all_gather_copy_in" },
    { TOKEN_COMMUNICATION, PATH_ANY, CONTAINS, "split_with_sizes_copy" },
    { TOKEN_COMMUNICATION, PATH_ANY, CONTAINS, "all_gather_flat_param" },
    { TOKEN_KV_CACHE, PATH_CACHE, EXACT, NULL },
    { TOKEN_KV_CACHE, PATH_ANY, CONTAINS, "kv_cache" },
    { TOKEN_KV_CACHE, PATH_ANY, CONTAINS, "kvcache" },
    { TOKEN_KV_CACHE, PATH_ANY, PREFIX, "init_cache" },
    { TOKEN_PAGED_CACHE, PATH_PAGED, EXACT, NULL },
    { TOKEN_PAGED_CACHE, PATH_ANY, CONTAINS, "paged_" },
    { TOKEN_PAGED_CACHE, PATH_ANY, CONTAINS, "block_table" },
    { TOKEN_LOSS, PATH_ANY, CONTAINS, "cross_entropy" },
    { TOKEN_LOSS, PATH_ANY, CONTAINS, "log_softmax" },
    { TOKEN_LOSS, PATH_ANY, CONTAINS, "nll_loss" },
    { TOKEN_SOFTMAX, PATH_FUNCTIONAL, EXACT, "softmax" },
    { TOKEN_FUSED_LOSS, PATH_FUSED_LOSS, CONTAINS, "cross_entropy" },
    { TOKEN_FUSED_LOSS, PATH_ANY, CONTAINS, "linear_cross_entropy" },
    { TOKEN_EMPTY_CACHE, PATH_MEMORY, EXACT, "empty_cache" },
    { TOKEN_COLLECTOR, PATH_ANY, EXACT, "gc_collect" },
    { TOKEN_COLLECTOR, PATH_COLLECTOR, EXACT, "collect" },
};

/* Of each letter the rules whose word begins with it, as bits. */
struct native_index {
    uint64_t rules[1 << CHAR_BIT];
};
_Static_assert(sizeof native_rules / sizeof *native_rules <= 64, "a bit for each rule");

static void native_index_make(struct native_index *x)
{
    *x = (struct native_index){ { 0 } };
    for (size_t i = 0; i < sizeof native_rules / sizeof *native_rules; i++)
        x->rules[(unsigned char)native_rules[i].word[0]] |= (uint64_t)1 << i;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static token_set tokens_of_word(const struct native_index *x, str scope, str word)
{
    token_set set = 0;
    while (word.len != 0 && word.ptr[0] == '_')
        word = (str){ word.ptr + 1, word.len - 1 };
    uint64_t left = word.len == 0 ? 0 : x->rules[(unsigned char)word.ptr[0]];
    for (; left != 0; left &= left - 1) {
        const struct native_rule *rule = &native_rules[__builtin_ctzll(left)];
        if (rule->scope != NULL && !str_equal(scope, str_from(rule->scope)))
            continue;
        if (word_is(word, rule->match, rule->word))
            set |= rule->tokens;
    }
    return set;
}

/* `to` with a device makes a copy there, `to` with a type does not say where. */
static bool copies_to_device(str name)
{
    return str_find(name, S("THPVariable_cuda")) < name.len ||
           str_find(name, S("dispatch_to(at::Tensor const&, c10::Device,")) < name.len;
}

static token_set tokens_of_native(const struct native_index *x, str name)
{
    token_set set = TOKEN_NATIVE;
    str scope = S("");
    if (name.len > NATIVE_NAME_BYTES)
        name.len = NATIVE_NAME_BYTES;
    for (size_t at = 0; at < name.len;) {
        size_t end = at;
        while (end < name.len && is_word_char(name.ptr[end]))
            end++;
        if (end == at) {
            at++;
            continue;
        }
        str word = { name.ptr + at, end - at };
        set |= tokens_of_word(x, scope, word);
        bool qualifies = end + 2 < name.len && name.ptr[end] == ':' && name.ptr[end + 1] == ':';
        scope = qualifies ? word : S("");
        at = qualifies ? end + 2 : end + 1;
    }
    return (set & TOKEN_COPY) != 0 && !copies_to_device(name) ? set & ~TOKEN_COPY : set;
}

static uint32_t paths_of(str file)
{
    str base = path_base(file);
    uint32_t paths = 0;
    for (size_t i = 0; i < sizeof path_words / sizeof *path_words; i++) {
        const struct path_word *w = &path_words[i];
        if ((paths & w->path) == 0 && path_has(w->in_base ? base : file, str_from(w->word)))
            paths |= w->path;
    }
    return path_has(base, S("scheduler")) ? paths & ~(PATH_OPTIM | PATH_NAMED_OPTIM) : paths;
}

static token_set tokens_of_python(str file, uint32_t paths, str function, enum frame_class kind)
{
    token_set set = kind == FRAME_USER ? TOKEN_PYTHON | TOKEN_USER : TOKEN_PYTHON;
    if (function.len > NAME_BYTES_MAX)
        function.len = NAME_BYTES_MAX;
    for (size_t i = 0; i < sizeof python_rules / sizeof *python_rules; i++) {
        const struct python_rule *rule = &python_rules[i];
        if (rule->path != PATH_ANY && (paths & rule->path) == 0)
            continue;
        if (rule->function == NULL || word_is(function, rule->match, rule->function))
            set |= rule->tokens;
    }
    if ((kind == FRAME_USER || kind == FRAME_LIBRARY) && !str_starts(function, S("_")))
        set |= IS_FOREIGN;
    return frame_is_module_call(file, function) ? set | TOKEN_MODULE | TOKEN_CALL : set;
}

/* Paths of each file, plus a bit that says that they are known. */
#define PATHS_KNOWN 0x80000000u

/* What all frames are looked at with. */
struct look {
    const struct code *code;
    const struct naming *naming;
    struct native_index index;
    uint32_t *paths;  /* of each file (string_id) */
    uint32_t *latest; /* of each string: for frames_twin */
};

static token_set tokens_of_frame(const struct look *look, frame_id id)
{
    const struct code *code = look->code;
    uint32_t *paths = look->paths;
    struct frame frame = frames_get(&code->frames, id);
    enum frame_class kind = naming_class(look->naming, id);
    str name = strings_text(&code->strings, frame.name);
    if (kind == FRAME_NATIVE)
        return tokens_of_native(&look->index, name);
    str file = path_tail(strings_text(&code->strings, frame.file));
    if (paths[frame.file.n] == 0)
        paths[frame.file.n] = paths_of(file) | PATHS_KNOWN;
    return tokens_of_python(file, paths[frame.file.n], name, kind);
}

/* What a frame of Python is by the one that calls it.  The closure that an optimizer is given may
 * have any name, but torch's optimizers call nothing else of somebody's. */
static token_set as_called(token_set callers, token_set frame)
{
    token_set set = frame;
    if ((callers & BESIDE_OPTIMIZER) != 0 && (frame & IS_FOREIGN) != 0)
        set |= IS_CLOSURE;
    if ((callers & BESIDE_FUNCTION) != 0 && (frame & IS_BACKWARD) != 0)
        set |= TOKEN_BACKWARD;
    return set;
}

/* Of the callers' tokens those that a frame takes back: the innermost that says what is done
 * decides.  An optimizer runs forward and backward in the closure it is given. */
static token_set taken_back(token_set frame)
{
    token_set set = (frame & TOKEN_PYTHON) != 0 && (frame & BESIDE) == 0 ? CALLED_BY : 0;
    if ((frame & (TOKEN_MODULE | TOKEN_ENGINE | TOKEN_BACKWARD | TOKEN_DATA)) != 0)
        set |= TOKEN_OPTIMIZER | TOKEN_ZERO_GRAD;
    if ((frame & (TOKEN_ZERO_GRAD | IS_CLOSURE)) != 0)
        set |= TOKEN_OPTIMIZER;
    if ((frame & TOKEN_DATA) != 0)
        set |= TOKEN_MODULE | TOKEN_CALL;
    return set;
}

/* The tokens of a stack, from those of its callers and of its innermost frame: a module called
 * inside the engine is run again.  A function that is merely named forward is not: the graph has
 * such functions of its own, and a compiled backward shows the lines of the forward it was made
 * from. */
static token_set tokens_joined(token_set callers, token_set frame)
{
    token_set own = as_called(callers, frame);
    bool inside = (callers & (TOKEN_ENGINE | TOKEN_BACKWARD)) != 0;
    token_set again = inside && (own & TOKEN_CALL) != 0 ? TOKEN_RECOMPUTE : 0;
    return (callers & ~taken_back(own)) | own | again;
}

enum vrs_status tokens_make(const struct code *code, const struct naming *naming,
                            struct arena *arena, struct tokens *ret, struct vrs_error *err)
{
    const struct stacks *s = &code->stacks;
    token_set *of_frame = arena_array(arena, token_set, code->frames.rows.len);
    token_set *of_stack = arena_array(arena, token_set, s->rows.len);
    struct look look = {
        .code = code,
        .naming = naming,
        .paths = arena_array(arena, uint32_t, code->strings.rows.len),
        .latest = arena_array(arena, uint32_t, code->strings.rows.len),
    };
    if (of_frame == NULL || of_stack == NULL || look.paths == NULL || look.latest == NULL)
        return vrs_no_memory(err);
    native_index_make(&look.index);
    for (uint32_t i = 1; i < code->frames.rows.len; i++) {
        uint32_t twin = frames_twin(&code->frames, i, look.latest);
        of_frame[i] = twin != 0 ? of_frame[twin] : tokens_of_frame(&look, (frame_id){ i });
    }
    for (uint32_t i = 1; i < s->rows.len; i++)
        of_stack[i] = tokens_joined(of_stack[s->caller[i]], of_frame[s->frame[i]]);
    for (uint32_t i = 1; i < s->rows.len; i++)
        of_stack[i] &= ~OF_FRAMES;
    for (uint32_t i = 1; i < code->frames.rows.len; i++)
        of_frame[i] &= ~OF_FRAMES;
    *ret = (struct tokens){ of_frame, of_stack };
    return VRS_OK;
}
