/* program.c - builds the stacks from chains of shared frames. */
#include "program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caching.h"

#define OPERATORS 48u
#define MODULES 180u
#define ENTRIES 60u /* ways into a module: a pair of frames each */
#define VARIANT_BITS 6u
#define VARIANTS (1u << VARIANT_BITS)
#define VARIANT_DIGITS 5u
#define INNER_LEN 6u

static const char *const inner_name[INNER_LEN] = {
    "torch::unwind::unwind()",
    "torch::CapturedTraceback::gather(bool, bool, bool)",
    "torch::cuda::(anonymous namespace)::gather_with_cpp()",
    "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, "
    "unsigned long, CUstream_st*)",
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(void**, signed char, "
    "unsigned long, CUstream_st*)",
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)",
};

static const char *const empty_cache_name[] = {
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::emptyCache()",
    "THCPModule_emptyCache(_object*, _object*)",
    "empty_cache",
};
#define EMPTY_CACHE_LEN ((uint32_t)(sizeof empty_cache_name / sizeof *empty_cache_name))

static const char *const outer_name[] = {
    "training_step",
    "train_one_epoch",
    "fit",
    "run",
    "main",
    "<module>",
    "PyEval_EvalCode",
    "pymain_run_file",
    "Py_RunMain",
    "Py_BytesMain",
    "__libc_start_call_main",
    "__libc_start_main",
    "_start",
};
#define OUTER_LEN ((uint32_t)(sizeof outer_name / sizeof *outer_name))

static uint32_t below(struct program *p, uint32_t limit)
{
    return (uint32_t)(random_next(&p->random) >> 32) % limit;
}

/* Texts are few and made once, so a search of all of them will do. */
static uint32_t text_of(struct program *p, const char *chars)
{
    uint32_t len = (uint32_t)strlen(chars);
    for (uint32_t i = 0; i < p->text_len; i++) {
        if (p->text[i].len == len && memcmp(p->text[i].at, chars, len) == 0)
            return i;
    }
    if (p->text_len == p->text_cap)
        p->text = grown(p->text, &p->text_cap, sizeof *p->text);
    uint32_t cap = len;
    char *copy = grown(NULL, &cap, 1);
    memcpy(copy, chars, len);
    p->text[p->text_len] = (struct text){ copy, len, NO_MEMO };
    return p->text_len++;
}

static uint32_t new_frame(struct program *p, const char *name, const char *file, uint32_t line)
{
    uint32_t name_text = text_of(p, name);
    uint32_t file_text = text_of(p, file);
    if (p->frame_len == p->frame_cap)
        p->frame = grown(p->frame, &p->frame_cap, sizeof *p->frame);
    p->frame[p->frame_len] = (struct frame){ name_text, file_text, line, NO_MEMO, 0 };
    return p->frame_len++;
}

static void add_member(struct program *p, uint32_t frame)
{
    if (p->member_len == p->member_cap)
        p->member = grown(p->member, &p->member_cap, sizeof *p->member);
    p->member[p->member_len++] = frame;
}

/* The C++ frames of one operator; one in six has a name longer than a short string may be. */
static void add_operator(struct program *p, uint32_t op)
{
    static const char *const layer[] = {
        "at::detail::empty_generic",
        "at::native::empty_cuda",
        "at::(anonymous namespace)::wrapper_CUDA",
        "c10::Dispatcher::redispatch",
        "at::_ops::redispatch",
        "torch::autograd::VariableType",
        "at::_ops::call",
        "torch::autograd::THPVariable",
    };
    uint32_t len = 4 + below(p, 17);
    p->op[op] = p->member_len;
    for (uint32_t i = 0; i < INNER_LEN; i++)
        add_member(p, i);
    for (uint32_t i = 0; i < len; i++) {
        char name[512];
        const char *pad =
            (op + i) % 6 == 0
                ? "<at::Tensor const&, std::optional<c10::ScalarType>, std::optional<c10::Layout>, "
                  "std::optional<c10::Device>, std::optional<bool>, "
                  "std::optional<c10::MemoryFormat>, "
                  "c10::ArrayRef<c10::SymInt>, c10::ArrayRef<c10::SymInt>, c10::DispatchKeySet>"
                : "<at::Tensor const&>";
        snprintf(name, sizeof name, "%s%s::operator_%u_%u(c10::DispatchKeySet, at::Tensor const&)",
                 layer[i % 8], pad, op, i);
        add_member(p, new_frame(p, name, i % 3 ? "??" : "RegisterCUDA.cpp", 0));
    }
}

/* The frames of a call that empties the cache. */
static void add_empty_cache(struct program *p)
{
    static const char *const file[EMPTY_CACHE_LEN] = {
        "CUDACachingAllocator.cpp", "Module.cpp",
        "/usr/lib/python3/dist-packages/torch/cuda/memory.py"
    };
    p->op[OPERATORS] = p->member_len;
    for (uint32_t i = 0; i < 3; i++)
        add_member(p, i);
    for (uint32_t i = 0; i < EMPTY_CACHE_LEN; i++)
        add_member(p, new_frame(p, empty_cache_name[i], file[i], i == 2 ? 222 : 0));
    p->op[OPERATORS + 1] = p->member_len;
}

/* A path through modules, outermost first: it follows an older path for a while, then leaves
 * it.  Every third frame is a module's own, the others are the ways into it. */
static void add_path(struct program *p, uint32_t entry)
{
    uint32_t len = 8 + below(p, 37);
    uint32_t first = p->member_len;
    uint32_t keep = 0, from = 0;
    if (p->path_len > 0) {
        uint32_t older = below(p, p->path_len);
        from = p->path[older];
        uint32_t older_end = older + 1 < p->path_len ? p->path[older + 1] : first;
        keep = (older_end - from) * (5 + below(p, 51)) / 100;
        if (keep >= len)
            keep = len - 1;
    }
    for (uint32_t i = 0; i < len; i++) {
        if (i < keep) {
            add_member(p, p->member[from + i]);
        } else if (i % 3 == 0 || i == len - 1) {
            char file[96];
            snprintf(file, sizeof file, "/home/user/project/src/models/blocks/module_%u.py",
                     below(p, MODULES));
            add_member(p, new_frame(p, "forward", file, 1 + below(p, 900)));
        } else {
            add_member(p, entry + 2 * below(p, ENTRIES) + i % 3 - 1);
        }
    }
    if (p->path_len == p->path_cap)
        p->path = grown(p->path, &p->path_cap, sizeof *p->path);
    p->path[p->path_len++] = first;
}

void program_open(struct program *p, uint32_t stacks, bool distinct, uint64_t seed)
{
    *p = (struct program){ .stack_count = stacks, .distinct = distinct, .random = seed };
    for (uint32_t i = 0; i < INNER_LEN; i++)
        new_frame(p, inner_name[i], i < 2 ? "??" : "CUDACachingAllocator.cpp", 0);
    uint32_t entry = p->frame_len;
    for (uint32_t i = 0; i < 2 * ENTRIES; i++)
        new_frame(p, i % 2 ? "_wrapped_call_impl" : "_call_impl",
                  "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1700 + 11 * i);
    p->outer = p->frame_len;
    p->outer_len = OUTER_LEN;
    for (uint32_t i = 0; i < OUTER_LEN; i++)
        new_frame(p, outer_name[i], i < 6 ? "/home/user/project/train.py" : "??",
                  i < 6 ? 40 * i : 0);
    p->variant = p->frame_len;
    for (uint32_t i = 0; distinct && i < VARIANTS; i++)
        new_frame(p, "forward", "/home/user/project/src/models/dispatch.py", 100 + i);

    for (uint32_t op = 0; op < OPERATORS; op++)
        add_operator(p, op);
    add_empty_cache(p);
    for (uint32_t i = 0; i < (stacks + OPERATORS - 1) / OPERATORS; i++)
        add_path(p, entry);
}

void program_close(struct program *p)
{
    for (uint32_t i = 0; i < p->text_len; i++)
        free((void *)(uintptr_t)p->text[i].at);
    free(p->text);
    free(p->frame);
    free(p->member);
    free(p->path);
}

void program_reset(struct program *p)
{
    for (uint32_t i = 0; i < p->text_len; i++)
        p->text[i].memo = NO_MEMO;
    for (uint32_t i = 0; i < p->frame_len; i++) {
        p->frame[i].memo = NO_MEMO;
        p->frame[i].uses = 0;
    }
}

uint32_t program_stack(const struct program *p, uint32_t stack, uint32_t capture,
                       uint32_t ret_frames[STACK_MAX])
{
    bool empties = stack == p->stack_count;
    uint32_t op = empties ? OPERATORS : stack % OPERATORS, path = empties ? 0 : stack / OPERATORS;
    uint32_t len = 0;
    for (uint32_t i = p->op[op]; i < p->op[op + 1]; i++)
        ret_frames[len++] = p->member[i];
    uint32_t inner_len = len;
    uint32_t path_end = path + 1 < p->path_len ? p->path[path + 1] : p->member_len;
    for (uint32_t i = path_end; i > p->path[path]; i--)
        ret_frames[len++] = p->member[i - 1];
    if (p->distinct) {
        for (uint32_t i = 0; i < VARIANT_DIGITS; i++)
            ret_frames[inner_len + i] =
                p->variant + ((capture >> (VARIANT_BITS * i)) & (VARIANTS - 1));
    }
    for (uint32_t i = 0; i < p->outer_len; i++)
        ret_frames[len++] = p->outer + i;
    return len;
}
