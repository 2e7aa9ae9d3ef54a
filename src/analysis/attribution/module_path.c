/* module_path.c - the files of a stack's forward functions. */
#include "analysis/attribution/module_path.h"

#include "base/utf8.h"

enum vrs_status module_path(const struct code *code, const struct naming *naming, stack_id stack,
                            struct arena *scratch, struct buf *to, struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    str *file = arena_array(scratch, str, stacks_depth(&code->stacks, stack));
    uint32_t files = 0;
    if (file == NULL)
        return vrs_no_memory(err);
    for (; stack.n != 0; stack = stacks_caller(&code->stacks, stack)) {
        frame_id id = stacks_frame(&code->stacks, stack);
        enum frame_class kind = naming_class(naming, id);
        struct frame frame = frames_get(&code->frames, id);
        str path = strings_text(&code->strings, frame.file), base = path_base(path);
        bool module = kind == FRAME_USER || kind == FRAME_LIBRARY ||
                      (kind == FRAME_TORCH && path_has(path_tail(path), S("/torch/nn/")));
        if (module && str_equal(strings_text(&code->strings, frame.name), S("forward")) &&
            (files == 0 || !str_equal(file[files - 1], base)))
            file[files++] = base;
    }
    while (files-- > 0) {
        utf8_append_clipped(to, file[files], NAME_BYTES_MAX);
        buf_text(to, files == 0 ? "" : " > ");
    }
    arena_release(scratch, mark);
    return to->failed ? vrs_no_memory(err) : VRS_OK;
}
