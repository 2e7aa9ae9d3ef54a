/* cpp_name.c - what a name keeps is found in walks over its brackets. */
#include "render/write/cpp_name.h"

#include <stdbool.h>
#include <stddef.h>

/* Deeper arguments are kept as they are. */
enum { DEPTH_MOST = 32 };

static const str anonymous = { "(anonymous namespace)", 21 };

static str from(str s, size_t at)
{
    return (str){ s.ptr + at, s.len - at };
}

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '{' || c == '[';
}

/* The ">" of "->" closes nothing. */
static bool closes(str s, size_t at)
{
    char c = s.ptr[at];
    return c == ')' || c == '}' || c == ']' || (c == '>' && (at == 0 || s.ptr[at - 1] != '-'));
}

/* The bracket at the start with all up to its match; all of `s` where it has none. */
static size_t group_len(str s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (opens(s.ptr[i]))
            depth++;
        else if (closes(s, i) && depth-- == 1)
            return i + 1;
    }
    return s.len;
}

static bool has_matches(str s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (opens(s.ptr[i]))
            depth++;
        else if (closes(s, i) && depth-- == 0)
            return false;
    }
    return depth == 0;
}

/* Whether parameters begin here: "(" behind a blank begins a remark, and that of
 * "train.py(12): step" a line. */
static bool begins_parameters(str s, size_t at)
{
    str rest = from(s, at);
    if (rest.ptr[0] != '(' || at == 0 || s.ptr[at - 1] == ' ' || str_starts(rest, anonymous))
        return false;
    str behind = from(rest, group_len(rest));
    return behind.len == 0 || str_starts(behind, S("::")) || str_starts(behind, S(" const")) ||
           str_starts(behind, S(" ["));
}

/* A function without its parameters and what is inside it, as its lambdas. */
static str without_parameters(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        str rest = from(s, i);
        bool inside = str_starts(rest, S("::{")) || str_starts(rest, S("::operator"));
        if (i > 0 && (inside || begins_parameters(s, i)))
            return (str){ s.ptr, i };
        if (opens(s.ptr[i]))
            i += group_len(rest) - 1;
    }
    return s;
}

/* The last part of "a::b<c::d>::e". */
static str without_namespaces(str s)
{
    size_t begin = 0;
    for (size_t i = 0; i + 1 < s.len; i++) {
        if (s.ptr[i] == ':' && s.ptr[i + 1] == ':')
            begin = i + 2;
        else if (opens(s.ptr[i]))
            i += group_len(from(s, i)) - 1;
    }
    return from(s, begin);
}

static str trimmed(str s)
{
    while (s.len > 0 && s.ptr[0] == ' ')
        s = from(s, 1);
    while (s.len > 0 && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

/* The next of some arguments, which is taken from `*rest`. */
static str next_argument(str *rest)
{
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != ',')
        len += opens(rest->ptr[len]) ? group_len(from(*rest, len)) : 1;
    str one = { rest->ptr, len < rest->len ? len : rest->len };
    *rest = from(*rest, one.len < rest->len ? one.len + 1 : rest->len);
    return trimmed(one);
}

/* "name" and "a, b" of "name<a, b>"; without arguments these are empty. */
static str split(str s, str *ret_arguments)
{
    size_t open = str_find(s, S("<"));
    *ret_arguments = (str){ s.ptr + s.len, 0 };
    if (open == 0 || open == s.len || s.ptr[s.len - 1] != '>')
        return s;
    *ret_arguments = (str){ s.ptr + open + 1, s.len - open - 2 };
    return (str){ s.ptr, open };
}

/* A number, or a type that most functions have one of. */
static bool is_plain(str argument)
{
    static const static_text types[] = {
        "true",   "false",    "bool",       "char",   "short",  "int",    "long",    "float",
        "double", "unsigned", "Half",       "half",   "__half", "half_t", "complex", "BFloat16",
        "array",  "Array",    "bfloat16_t", "float2", "float4", "",
    };
    enum { TYPES = sizeof types / sizeof *types };
    str arguments, last = split(without_namespaces(without_parameters(argument)), &arguments);
    char first = argument.len > 0 ? argument.ptr[0] : '0';
    char end = argument.len > 0 ? argument.ptr[argument.len - 1] : '0';
    last.len = str_find(last, S(" "));
    return (first >= '0' && first <= '9') || first == '-' || end == '*' || end == '&' ||
           str_is_one_of_texts(last, types, TYPES);
}

static void put(struct buf *to, str name, enum cpp_name how, unsigned depth);

/* The one argument that is not plain; ptr NULL where there is none, or are several. */
static str lone_functor(str arguments)
{
    str lone = { NULL, 0 };
    while (arguments.len > 0) {
        str one = next_argument(&arguments);
        if (is_plain(one))
            continue;
        if (lone.ptr != NULL)
            return (str){ NULL, 0 };
        lone = one;
    }
    return lone;
}

static void put_arguments(struct buf *to, str arguments, enum cpp_name how, unsigned depth)
{
    bool any = false;
    while (arguments.len > 0) {
        str one = next_argument(&arguments);
        if (how == CPP_NAME_FUNCTORS && is_plain(one))
            continue;
        buf_text(to, any ? ", " : "<");
        put(to, one, how, depth + 1);
        any = true;
    }
    buf_text(to, any ? ">" : "");
}

static void put(struct buf *to, str name, enum cpp_name how, unsigned depth)
{
    str arguments, last = split(without_namespaces(without_parameters(name)), &arguments);
    str inner = how == CPP_NAME_FUNCTORS && depth > 0 ? lone_functor(arguments) : (str){ NULL, 0 };
    if (depth > DEPTH_MOST) {
        buf_str(to, name);
    } else if (inner.ptr != NULL) {
        put(to, inner, how, depth + 1);
    } else {
        buf_str(to, last);
        put_arguments(to, arguments, how, depth);
    }
}

void cpp_name(struct buf *to, str name, enum cpp_name how)
{
    bool has_lists = str_find(name, S("<")) < name.len || without_parameters(name).len < name.len;
    if (!has_lists || !has_matches(name)) {
        buf_str(to, name);
        return;
    }
    if (str_starts(name, S("void ")))
        name = from(name, 5);
    put(to, name, how, 0);
}
