/* frame_class.c - the rules of frame classes, as tables. */
#include "analysis/attribution/frame_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static char folded(char c)
{
    if (c == '\\')
        return '/';
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

static bool starts_at(str text, size_t at, str needle)
{
    if (needle.len > text.len - at)
        return false;
    for (size_t i = 0; i < needle.len; i++)
        if (folded(text.ptr[at + i]) != folded(needle.ptr[i]))
            return false;
    return true;
}

static bool path_starts(str path, str needle)
{
    return starts_at(path, 0, needle);
}

static bool path_ends(str path, str needle)
{
    return path.len >= needle.len && starts_at(path, path.len - needle.len, needle);
}

/* Where `needle` stands in `path` at or after `from`, or path.len. */
static size_t path_find(str path, str needle, size_t from)
{
    char first = needle.len == 0 ? '\0' : folded(needle.ptr[0]);
    for (size_t at = from; at + needle.len <= path.len; at++)
        if (folded(path.ptr[at]) == first && starts_at(path, at, needle))
            return at;
    return path.len;
}

bool path_has(str path, str needle)
{
    return path_find(path, needle, 0) < path.len;
}

str path_tail(str path)
{
    size_t from = path.len > PATH_TAIL_BYTES ? path.len - PATH_TAIL_BYTES : 0;
    while (from > 0 && from < path.len && ((unsigned char)path.ptr[from] & 0xc0) == 0x80)
        from++;
    return (str){ path.ptr + from, path.len - from };
}

str path_base(str path)
{
    path = path_tail(path);
    size_t from = path.len;
    while (from > 0 && folded(path.ptr[from - 1]) != '/')
        from--;
    return (str){ path.ptr + from, path.len - from };
}

bool glob_matches(str glob, str text)
{
    size_t g = 0, t = 0, star = SIZE_MAX, tried = 0;
    while (t < text.len) {
        if (g < glob.len && glob.ptr[g] == '*') {
            star = g++;
            tried = t;
        } else if (g < glob.len &&
                   (glob.ptr[g] == '?' || folded(glob.ptr[g]) == folded(text.ptr[t]))) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            /* The last star takes one byte more. */
            g = star + 1;
            t = ++tried;
        } else {
            return false;
        }
    }
    while (g < glob.len && glob.ptr[g] == '*')
        g++;
    return g == glob.len;
}

/* Code that a person typed into a notebook or a prompt. */
static bool is_cell(str file)
{
    return path_starts(file, S("<ipython-input")) || path_starts(file, S("<cell line")) ||
           path_starts(file, S("<command-")) || path_starts(file, S("<stdin>")) ||
           path_has(file, S("/ipykernel_"));
}

static bool in_packages(str file)
{
    return path_has(file, S("/site-packages/")) || path_has(file, S("/dist-packages/"));
}

static bool is_torch(str file)
{
    static const char *const tops[] = {
        "nn",      "optim",     "autograd",   "utils", "cuda",    "distributed",
        "_dynamo", "_inductor", "_functorch", "fx",    "_tensor", "functional",
    };
    for (size_t at = path_find(file, S("/torch/"), 0); at < file.len;
         at = path_find(file, S("/torch/"), at + 1)) {
        str before = { file.ptr, at };
        size_t after = at + 7;
        if (path_ends(before, S("/site-packages")) || path_ends(before, S("/dist-packages")))
            return true;
        for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
            str top = str_from(tops[i]);
            if (starts_at(file, after, top) && (starts_at(file, after + top.len, S("/")) ||
                                                starts_at(file, after + top.len, S(".py"))))
                return true;
        }
    }
    return false;
}

/* Inductor names a file by the hash of its code, in a folder of the hash's first two letters. */
static bool is_inductor(str file)
{
    if (path_has(file, S("/torchinductor_")) || path_has(file, S("/torchinductor/")))
        return true;
    str base = path_base(file);
    if (base.len < 40 || base.ptr[0] != 'c' || file.len < base.len + 4)
        return false;
    const char *folder = base.ptr - 4;
    return folded(folder[0]) == '/' && folder[1] == base.ptr[1] && folder[2] == base.ptr[2];
}

/* `/lib/python3.12/` of any version, or on Windows the `lib` of an installed Python. */
static bool is_std(str file)
{
    static const char *const libs[] = { "/lib/python", "/lib64/python" };
    for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
        str lib = str_from(libs[i]);
        size_t at = path_find(file, lib, 0);
        if (at < file.len && at + lib.len < file.len && is_digit(file.ptr[at + lib.len]))
            return true;
    }
    if (file.len < 3 || file.ptr[1] != ':')
        return false;
    size_t lib = path_find(file, S("/lib/"), 0);
    if (lib == file.len)
        return false;
    str before = { file.ptr, lib }, parent = path_base(before);
    bool python =
        path_starts(parent, S("cpython-")) ||
        (path_starts(parent, S("python")) && (parent.len == 6 || is_digit(parent.ptr[6])));
    return python || path_has(before, S("conda3/")) || path_ends(before, S("conda3"));
}

static bool in_root(str file, str root)
{
    if (root.len == 0)
        return false;
    while (root.len > 1 && folded(root.ptr[root.len - 1]) == '/')
        root.len--;
    bool absolute = folded(root.ptr[0]) == '/' || (root.len > 1 && root.ptr[1] == ':');
    for (size_t at = path_find(file, root, 0); at < file.len; at = path_find(file, root, at + 1)) {
        bool begins = at == 0 || (!absolute && folded(file.ptr[at - 1]) == '/');
        bool ends =
            root.len == 1 || at + root.len == file.len || folded(file.ptr[at + root.len]) == '/';
        if (begins && ends)
            return true;
        if (absolute)
            break;
    }
    return false;
}

bool file_is_native(str file)
{
    bool angled = file.len != 0 && file.ptr[0] == '<';
    return !path_ends(file, S(".py")) && !path_ends(file, S(".pyx")) && !angled && !is_cell(file);
}

enum frame_class classify_file(str file, const struct frame_class_options *options)
{
    if (file_is_native(file))
        return FRAME_NATIVE;
    if (options->library.len != 0 && glob_matches(options->library, file))
        return FRAME_LIBRARY;
    if (is_cell(file) || in_root(file, options->user_root))
        return FRAME_USER;
    if (is_torch(file))
        return FRAME_TORCH;
    if (path_starts(file, S("<frozen")))
        return FRAME_STD;
    if ((file.len != 0 && file.ptr[0] == '<') || is_inductor(file))
        return FRAME_GENERATED;
    if (in_packages(file))
        return FRAME_LIBRARY;
    if (is_std(file))
        return FRAME_STD;
    /* A debugger that starts the program stands under every line of it and owns none. */
    if (path_has(file, S("/debugpy/")))
        return FRAME_LIBRARY;
    return FRAME_USER;
}

bool frame_is_module_call(str file, str function)
{
    return str_equal(function, S("_call_impl")) || str_equal(function, S("_wrapped_call_impl")) ||
           (path_ends(file, S("/torch/nn/modules/module.py")) &&
            (str_equal(function, S("inner")) || str_equal(function, S("__call__")))) ||
           (path_ends(file, S("/accelerate/hooks.py")) && str_equal(function, S("new_forward")));
}

bool file_is_plumbing(str file)
{
    static const char *const parts[] = {
        "/einops/", "/jaxtyping/", "/beartype/", "/debugpy/", "/accelerate/hooks.py",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (path_has(file, str_from(parts[i])))
            return true;
    return false;
}

bool call_is_plumbing(str file, str function)
{
    static const char *const names[] = {
        "decorate_context", "decorate_autocast", "decorate_fwd", "decorate_bwd",
        "wrapper",          "wrapped",           "wrapped_func", "wrapped_fn",
        "inner_wrapper",    "_wrapper",          "_fn",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(function, str_from(names[i])))
            return true;
    return frame_is_module_call(file, function) ||
           (str_equal(function, S("__call__")) &&
            path_has(file, S("/transformers/modeling_layers.py")));
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/* The word that `s` starts with. */
static str first_word(str s)
{
    size_t len = 0;
    while (len < s.len && is_word(s.ptr[len]))
        len++;
    return (str){ s.ptr, len };
}

static str after(str s, size_t skip)
{
    return (str){ s.ptr + skip, s.len - skip };
}

static str begin_of(str native)
{
    return native.len > NATIVE_NAME_BYTES ? (str){ native.ptr, NATIVE_NAME_BYTES } : native;
}

str backward_node(str native)
{
    static const char *const scopes[] = { "torch::autograd::generated::", "torch::autograd::" };
    native = begin_of(native);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        str scope = str_from(scopes[i]);
        if (!str_starts(native, scope))
            continue;
        str rest = after(native, scope.len), node = first_word(rest);
        if (node.len != 0 && str_starts(after(rest, node.len), S("::apply(")))
            return node;
    }
    return S("");
}

/* "ne_Tensor" is overload "Tensor" of "ne". */
static str without_overload(str name)
{
    str memory_format = S("_memory_format");
    if (str_ends(name, memory_format))
        name.len -= memory_format.len;
    for (size_t i = 1; i + 1 < name.len; i++)
        if (name.ptr[i] == '_' && name.ptr[i + 1] >= 'A' && name.ptr[i + 1] <= 'Z')
            return (str){ name.ptr, i };
    return name;
}

str native_operator(str native)
{
    str ops = S("at::_ops::");
    native = begin_of(native);
    if (str_starts(native, ops))
        return without_overload(first_word(after(native, ops.len)));
    static const char *const scopes[] = { "at::native::", "at::cuda::", "c10d::" };
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        str scope = str_from(scopes[i]);
        if (!str_starts(native, scope))
            continue;
        str name = first_word(after(native, scope.len));
        /* Memory that a library asks for itself, below any operator. */
        bool own = str_equal(name, S("run_conv_plan")) ||
                   str_find(name, S("Workspace")) < name.len || str_equal(scope, S("c10d::"));
        return own ? name : S("");
    }
    return S("");
}

bool operator_only_makes_memory(str operator_name)
{
    static const char *const names[] = {
        "empty",          "empty_strided", "empty_like",
        "empty_permuted", "new_empty",     "new_empty_strided",
        "resize_",        "resize",        "resize_as_",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(operator_name, str_from(names[i])))
            return true;
    return false;
}
