/* module_path.c - the forward functions of a stack. */
#include "analysis/attribution/module_path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/code.h"

static str path_of(const struct code *code, frame_id frame)
{
    return path_tail(strings_text(&code->strings, frames_get(&code->frames, frame).file));
}

static bool is_module(const struct code *code, const struct naming *naming, frame_id frame)
{
    enum frame_class kind = naming_class(naming, frame);
    bool module = kind == FRAME_USER || kind == FRAME_LIBRARY ||
                  (kind == FRAME_TORCH && path_has(path_of(code, frame), S("/torch/nn/")));
    return module && str_equal(strings_text(&code->strings, frames_get(&code->frames, frame).name),
                               S("forward"));
}

static bool told_alike(const struct code *code, enum module_detail detail, frame_id a, frame_id b)
{
    if (detail == MODULE_LINES)
        return a.n == b.n;
    return str_equal(path_base(path_of(code, a)), path_base(path_of(code, b)));
}

static void put_module(const struct code *code, enum module_detail detail, frame_id frame,
                       struct buf *to)
{
    uint32_t line = frames_get(&code->frames, frame).line;
    utf8_append_clipped(to, path_base(path_of(code, frame)), NAME_BYTES_MAX);
    if (detail == MODULE_LINES && line != NO_LINE) {
        buf_char(to, ':');
        buf_u64(to, line);
    }
}

enum vrs_status module_path(const struct code *code, const struct naming *naming, stack_id stack,
                            enum module_detail detail, struct arena *scratch, struct buf *to,
                            struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    frame_id *module = arena_array(scratch, frame_id, stacks_depth(&code->stacks, stack));
    uint32_t modules = 0;
    if (module == NULL)
        return vrs_no_memory(err);
    for (; stack.n != 0; stack = stacks_caller(&code->stacks, stack)) {
        frame_id frame = stacks_frame(&code->stacks, stack);
        if (is_module(code, naming, frame) &&
            (modules == 0 || !told_alike(code, detail, module[modules - 1], frame)))
            module[modules++] = frame;
    }
    while (modules-- > 0) {
        put_module(code, detail, module[modules], to);
        buf_text(to, modules == 0 ? "" : " > ");
    }
    arena_release(scratch, mark);
    return to->failed ? vrs_no_memory(err) : VRS_OK;
}
