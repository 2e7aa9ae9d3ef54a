/* naming.c - chooses culprit and owner of a stack, from the innermost frame outwards. */
#include "analysis/naming.h"

#include <assert.h>

#include "analysis/frame_class.h"
#include "base/buf.h"
#include "base/utf8.h"

struct naming {
    const struct recording *r;
    struct naming_options options;
    struct arena *arena;
    const str *passed; /* parts of paths, besides those that every naming passes over */
    uint32_t passes;
    uint8_t *class_of; /* of a file (string_id): enum frame_class plus 1, or 0: not asked */
    uint8_t *plumbing; /* of a frame: enum plumbing */
    struct stack_names **names; /* of a stack, or NULL: not yet asked */
};

enum plumbing { PLUMBING_NOT_ASKED, PLUMBING_NO, PLUMBING_YES };

enum vrs_status naming_make(const struct recording *r, const struct naming_options *options,
                            struct arena *arena, struct naming **ret, struct vrs_error *err)
{
    struct naming *n = arena_array(arena, struct naming, 1);
    if (n == NULL)
        return vrs_no_memory(err);
    *n = (struct naming){ .r = r, .arena = arena };
    n->options.user_root = arena_copy(arena, options->user_root);
    n->options.library = arena_copy(arena, options->library);
    n->class_of = arena_array(arena, uint8_t, r->strings.rows.len);
    n->plumbing = arena_array(arena, uint8_t, r->frames.rows.len);
    n->names = arena_array(arena, struct stack_names *, r->stacks.rows.len);
    if (n->options.user_root.ptr == NULL || n->options.library.ptr == NULL || n->class_of == NULL ||
        n->plumbing == NULL || n->names == NULL)
        return vrs_no_memory(err);
    *ret = n;
    return VRS_OK;
}

enum vrs_status naming_again(const struct naming *n, struct arena *texts, struct arena *tables,
                             struct naming **ret, struct vrs_error *err)
{
    TRY(naming_make(n->r, &n->options, tables, ret, err));
    (*ret)->arena = texts;
    naming_pass_over(*ret, n->passed, n->passes);
    return VRS_OK;
}

static str file_of(const struct naming *n, frame_id frame)
{
    return path_tail(strings_text(&n->r->strings, frames_get(&n->r->frames, frame).file));
}

static str function_of(const struct naming *n, frame_id frame)
{
    return strings_text(&n->r->strings, frames_get(&n->r->frames, frame).name);
}

void naming_pass_over(struct naming *n, const str *parts, uint32_t count)
{
    n->passed = parts;
    n->passes = count;
}

enum frame_class naming_class(const struct naming *n, frame_id frame)
{
    assert(frame.n < n->r->frames.rows.len);
    uint32_t file = n->r->frames.file[frame.n];
    if (n->class_of[file] == 0)
        n->class_of[file] = (uint8_t)(classify_file(file_of(n, frame), &n->options) + 1);
    return (enum frame_class)(n->class_of[file] - 1);
}

/* Does the frame only pass a call on?  Asked once a frame: the rules are searches in its path. */
static bool is_plumbing(const struct naming *n, frame_id frame)
{
    uint8_t *known = &n->plumbing[frame.n];
    if (*known == PLUMBING_NOT_ASKED) {
        str file = file_of(n, frame);
        bool yes = frame_is_plumbing(file, function_of(n, frame));
        for (uint32_t i = 0; i < n->passes && !yes; i++)
            yes = path_has(file, n->passed[i]);
        *known = yes ? PLUMBING_YES : PLUMBING_NO;
    }
    return *known == PLUMBING_YES;
}

/* What one walk along a stack finds; the innermost of each kind. */
struct found {
    frame_id user, owner, other; /* other: a Python frame of any class */
    str node;                    /* the autograd node that ran */
    str op, memory_op;           /* memory_op: only makes memory for another one */
};

static void look_native(const struct naming *n, frame_id frame, struct found *found)
{
    str name = function_of(n, frame);
    if (found->node.len == 0)
        found->node = backward_node(name);
    if (found->op.len != 0)
        return;
    str op = native_operator(name);
    if (!operator_only_makes_memory(op))
        found->op = op;
    else if (found->memory_op.len == 0)
        found->memory_op = op;
}

static struct found look(const struct naming *n, stack_id stack)
{
    struct found found = { .node = S(""), .op = S(""), .memory_op = S("") };
    for (stack_id at = stack; at.n != 0; at = stacks_caller(&n->r->stacks, at)) {
        frame_id frame = stacks_frame(&n->r->stacks, at);
        enum frame_class kind = naming_class(n, frame);
        if (kind == FRAME_NATIVE) {
            look_native(n, frame, &found);
            continue;
        }
        if (kind == FRAME_USER && found.user.n == 0)
            found.user = frame;
        bool owns = kind == FRAME_USER || kind == FRAME_LIBRARY;
        bool wanted = (owns && found.owner.n == 0) || found.other.n == 0;
        if (wanted && !is_plumbing(n, frame)) {
            if (owns && found.owner.n == 0)
                found.owner = frame;
            if (found.other.n == 0)
                found.other = frame;
        }
    }
    return found;
}

/* "model.py:84 forward" */
static str frame_text(const struct naming *n, frame_id frame)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    uint32_t line = frames_get(&n->r->frames, frame).line;
    utf8_append_clipped(&b, path_base(file_of(n, frame)), NAME_BYTES_MAX);
    if (line != NO_LINE) {
        buf_char(&b, ':');
        buf_u64(&b, line);
    }
    buf_char(&b, ' ');
    utf8_append_clipped(&b, function_of(n, frame), NAME_BYTES_MAX);
    str text = b.failed ? (str){ NULL, 0 } : arena_copy(n->arena, buf_slice(&b));
    buf_free(&b);
    return text;
}

static str labelled(const struct naming *n, str label, str name)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    buf_str(&b, label);
    utf8_append_clipped(&b, name, NAME_BYTES_MAX);
    str text = b.failed ? (str){ NULL, 0 } : arena_copy(n->arena, buf_slice(&b));
    buf_free(&b);
    return text;
}

static str native_text(const struct naming *n, const struct found *found)
{
    if (found->node.len != 0)
        return labelled(n, S("autograd:"), found->node);
    if (found->op.len != 0)
        return labelled(n, S("native:"), found->op);
    if (found->memory_op.len != 0)
        return labelled(n, S("native:"), found->memory_op);
    /* Torch's own Python, with nobody's line above it, still says more than nothing. */
    return found->other.n != 0 ? frame_text(n, found->other) : S("(no stack)");
}

enum vrs_status naming_of(struct naming *n, stack_id stack, struct stack_names *ret,
                          struct vrs_error *err)
{
    assert(stack.n < n->r->stacks.rows.len);
    if (n->names[stack.n] == NULL) {
        struct stack_names *names = arena_array(n->arena, struct stack_names, 1);
        if (names == NULL)
            return vrs_no_memory(err);
        struct found found = look(n, stack);
        names->owner_frame = found.owner;
        names->culprit_frame = found.user.n != 0 ? found.user : found.owner;
        names->from_user = found.user.n != 0;
        names->culprit = names->culprit_frame.n != 0 ? frame_text(n, names->culprit_frame)
                                                     : native_text(n, &found);
        names->owner = found.owner.n == 0 || found.owner.n == names->culprit_frame.n
                           ? names->culprit
                           : frame_text(n, found.owner);
        if (names->culprit.ptr == NULL || names->owner.ptr == NULL)
            return vrs_no_memory(err);
        n->names[stack.n] = names;
    }
    *ret = *n->names[stack.n];
    return VRS_OK;
}
