/* naming.c - chooses culprit and owner of a stack, from the innermost frame outwards. */
#include "analysis/attribution/naming.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"

/* What a frame may be to a stack, and the order in which the culprit is chosen among them.  Of each
 * the innermost counts. */
enum role {
    ROLE_USER,      /* a line of the user's own */
    ROLE_OWNER,     /* of the user or a library, and not only passing a call on */
    ROLE_NODE,      /* runs a node of the autograd graph */
    ROLE_OPERATOR,  /* runs an operator */
    ROLE_MEMORY_OP, /* runs one that only makes memory for another */
    ROLE_PYTHON,    /* as ROLE_OWNER, of any class */
    ROLES
};
#define ROLE_BIT(role) (1u << (role))
#define ROLES_KNOWN ROLE_BIT(ROLES)

struct naming {
    const struct code *code;
    struct frame_class_options options;
    struct arena *arena;
    const str *passed; /* parts of paths, besides those that every naming passes over */
    uint32_t passes;
    uint8_t *class_of; /* of a file (string_id): enum frame_class plus 1, or 0: not asked */
    uint8_t *plumbing; /* of a file: enum plumbing */
    uint8_t *roles;    /* of a frame: ROLE_BIT of each, and ROLES_KNOWN; 0: not asked */
    str *text;         /* of a frame as a culprit; ptr NULL: not asked */
    struct stack_names **names; /* of a stack, or NULL: not yet asked */
};

enum plumbing { PLUMBING_NOT_ASKED, PLUMBING_NO, PLUMBING_YES };

enum vrs_status naming_make(const struct code *code, const struct frame_class_options *options,
                            struct arena *arena, struct naming **ret, struct vrs_error *err)
{
    struct naming *n = arena_array(arena, struct naming, 1);
    if (n == NULL)
        return vrs_no_memory(err);
    *n = (struct naming){ .code = code, .arena = arena };
    n->options.user_root = arena_copy(arena, options->user_root);
    n->options.library = arena_copy(arena, options->library);
    n->class_of = arena_array(arena, uint8_t, code->strings.rows.len);
    n->plumbing = arena_array(arena, uint8_t, code->strings.rows.len);
    n->roles = arena_array(arena, uint8_t, code->frames.rows.len);
    n->text = arena_array(arena, str, code->frames.rows.len);
    n->names = arena_array(arena, struct stack_names *, code->stacks.rows.len);
    if (n->options.user_root.ptr == NULL || n->options.library.ptr == NULL || n->class_of == NULL ||
        n->plumbing == NULL || n->roles == NULL || n->text == NULL || n->names == NULL)
        return vrs_no_memory(err);
    *ret = n;
    return VRS_OK;
}

enum vrs_status naming_again(const struct naming *n, struct arena *texts, struct arena *tables,
                             struct naming **ret, struct vrs_error *err)
{
    TRY(naming_make(n->code, &n->options, tables, ret, err));
    (*ret)->arena = texts;
    naming_pass_over(*ret, n->passed, n->passes);
    return VRS_OK;
}

static str file_of(const struct naming *n, frame_id frame)
{
    return path_tail(strings_text(&n->code->strings, frames_get(&n->code->frames, frame).file));
}

static str function_of(const struct naming *n, frame_id frame)
{
    return strings_text(&n->code->strings, frames_get(&n->code->frames, frame).name);
}

void naming_pass_over(struct naming *n, const str *parts, uint32_t count)
{
    n->passed = parts;
    n->passes = count;
}

enum frame_class naming_class(const struct naming *n, frame_id frame)
{
    assert(frame.n < n->code->frames.rows.len);
    uint32_t file = n->code->frames.file[frame.n];
    if (n->class_of[file] == 0)
        n->class_of[file] = (uint8_t)(classify_file(file_of(n, frame), &n->options) + 1);
    return (enum frame_class)(n->class_of[file] - 1);
}

/* Does all code of a file only pass calls on?  Asked once: the rules are searches in its path. */
static bool is_plumbing(const struct naming *n, frame_id frame)
{
    uint8_t *known = &n->plumbing[n->code->frames.file[frame.n]];
    if (*known == PLUMBING_NOT_ASKED) {
        str file = file_of(n, frame);
        bool yes = file_is_plumbing(file);
        for (uint32_t i = 0; i < n->passes && !yes; i++)
            yes = path_has(file, n->passed[i]);
        *known = yes ? PLUMBING_YES : PLUMBING_NO;
    }
    return *known == PLUMBING_YES || call_is_plumbing(file_of(n, frame), function_of(n, frame));
}

static uint32_t native_roles(str name)
{
    str op = native_operator(name);
    uint32_t roles = backward_node(name).len == 0 ? 0 : ROLE_BIT(ROLE_NODE);
    if (op.len == 0)
        return roles;
    return roles | ROLE_BIT(operator_only_makes_memory(op) ? ROLE_MEMORY_OP : ROLE_OPERATOR);
}

static uint32_t python_roles(const struct naming *n, frame_id frame, enum frame_class kind)
{
    bool user = kind == FRAME_USER, owns = user || kind == FRAME_LIBRARY;
    uint32_t roles = user ? ROLE_BIT(ROLE_USER) : 0;
    if (is_plumbing(n, frame))
        return roles;
    return roles | ROLE_BIT(ROLE_PYTHON) | (owns ? ROLE_BIT(ROLE_OWNER) : 0);
}

/* Asked once a frame, since many stacks run through it. */
static uint32_t roles_of(const struct naming *n, frame_id frame)
{
    uint8_t *known = &n->roles[frame.n];
    if (*known == 0) {
        enum frame_class kind = naming_class(n, frame);
        uint32_t roles = kind == FRAME_NATIVE ? native_roles(function_of(n, frame))
                                              : python_roles(n, frame, kind);
        *known = (uint8_t)(roles | ROLES_KNOWN);
    }
    return *known & ~ROLES_KNOWN;
}

/* The innermost frame of each role. */
struct found {
    frame_id of[ROLES];
};

/* A line of the user and an owner are all that is shown of a stack that has both. */
static struct found look(const struct naming *n, stack_id stack)
{
    const uint32_t enough = ROLE_BIT(ROLE_USER) | ROLE_BIT(ROLE_OWNER);
    struct found found = { .of = { { 0 } } };
    uint32_t seen = 0;
    for (stack_id at = stack; at.n != 0 && (seen & enough) != enough;
         at = stacks_caller(&n->code->stacks, at)) {
        frame_id frame = stacks_frame(&n->code->stacks, at);
        uint32_t fresh = roles_of(n, frame) & ~seen;
        seen |= fresh;
        for (; fresh != 0; fresh &= fresh - 1)
            found.of[__builtin_ctz(fresh)] = frame;
    }
    return found;
}

/* "model.py:84 forward" */
static void put_python(const struct naming *n, frame_id frame, struct buf *to)
{
    uint32_t line = frames_get(&n->code->frames, frame).line;
    utf8_append_clipped(to, path_base(file_of(n, frame)), NAME_BYTES_MAX);
    if (line != NO_LINE) {
        buf_char(to, ':');
        buf_u64(to, line);
    }
    buf_char(to, ' ');
    utf8_append_clipped(to, function_of(n, frame), NAME_BYTES_MAX);
}

/* "autograd:MmBackward0", "native:empty" */
static void put_native(const struct naming *n, frame_id frame, struct buf *to)
{
    str name = function_of(n, frame), node = backward_node(name);
    buf_str(to, node.len != 0 ? S("autograd:") : S("native:"));
    utf8_append_clipped(to, node.len != 0 ? node : native_operator(name), NAME_BYTES_MAX);
}

/* Made once a frame; ptr is NULL on failure.  Torch's own Python, with nobody's line above it,
 * still says more than nothing. */
static str text_of(const struct naming *n, frame_id frame)
{
    str *text = &n->text[frame.n];
    if (frame.n == 0)
        return S("(no stack)");
    if (text->ptr == NULL) {
        struct buf b;
        buf_init(&b, SIZE_MAX);
        if (naming_class(n, frame) == FRAME_NATIVE)
            put_native(n, frame, &b);
        else
            put_python(n, frame, &b);
        *text = b.failed ? (str){ NULL, 0 } : arena_copy(n->arena, buf_slice(&b));
        buf_free(&b);
    }
    return *text;
}

str naming_operator(const struct naming *n, stack_id stack)
{
    str maker = S("");
    for (; stack.n != 0; stack = stacks_caller(&n->code->stacks, stack)) {
        frame_id frame = stacks_frame(&n->code->stacks, stack);
        uint32_t roles = roles_of(n, frame);
        if (roles & ROLE_BIT(ROLE_OPERATOR))
            return native_operator(function_of(n, frame));
        if (maker.len == 0 && (roles & ROLE_BIT(ROLE_MEMORY_OP)))
            maker = native_operator(function_of(n, frame));
    }
    return maker;
}

enum vrs_status naming_innermost(struct naming *n, stack_id stack, str *ret, struct vrs_error *err)
{
    while (stack.n != 0 &&
           !(roles_of(n, stacks_frame(&n->code->stacks, stack)) & ROLE_BIT(ROLE_PYTHON)))
        stack = stacks_caller(&n->code->stacks, stack);
    *ret = stack.n == 0 ? S("") : text_of(n, stacks_frame(&n->code->stacks, stack));
    return ret->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status naming_called_from(struct naming *n, stack_id stack, str *ret,
                                   struct vrs_error *err)
{
    struct stack_names names;
    bool inside = true; /* of the owner, or still below it */
    TRY(naming_of(n, stack, &names, err));
    *ret = S("");
    for (; stack.n != 0 && names.owner_frame.n != 0;
         stack = stacks_caller(&n->code->stacks, stack)) {
        frame_id frame = stacks_frame(&n->code->stacks, stack);
        if (!inside && frame.n != names.owner_frame.n &&
            roles_of(n, frame) & ROLE_BIT(ROLE_PYTHON)) {
            *ret = text_of(n, frame);
            return ret->ptr == NULL ? vrs_no_memory(err) : VRS_OK;
        }
        inside = inside && frame.n != names.owner_frame.n;
    }
    return VRS_OK;
}

static frame_id first_of(const struct found *found)
{
    uint32_t role = 0;
    while (role + 1 < ROLES && found->of[role].n == 0)
        role++;
    return found->of[role];
}

enum vrs_status naming_of(struct naming *n, stack_id stack, struct stack_names *ret,
                          struct vrs_error *err)
{
    assert(stack.n < n->code->stacks.rows.len);
    if (n->names[stack.n] == NULL) {
        struct stack_names *names = arena_array(n->arena, struct stack_names, 1);
        if (names == NULL)
            return vrs_no_memory(err);
        struct found found = look(n, stack);
        frame_id user = found.of[ROLE_USER], owner = found.of[ROLE_OWNER];
        names->owner_frame = owner;
        names->culprit_frame = user.n != 0 ? user : owner;
        names->culprit = text_of(n, first_of(&found));
        names->owner = owner.n == 0 ? names->culprit : text_of(n, owner);
        if (names->culprit.ptr == NULL || names->owner.ptr == NULL)
            return vrs_no_memory(err);
        n->names[stack.n] = names;
    }
    *ret = *n->names[stack.n];
    return VRS_OK;
}
