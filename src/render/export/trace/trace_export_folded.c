/* trace_export_folded.c - "outermost;…;innermost WEIGHT", a line for each path of the call tree. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fail.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_stacks.h"
#include "render/write/escape.h"
#include "render/write/out.h"

/* A semicolon parts frames, so none may stand in one. */
static void put_frame(const struct trace_exporting *e, uint32_t frame, struct buf *name,
                      struct buf *to)
{
    name->len = 0;
    trace_frame_name(e, frame, name);
    for (size_t i = 0; i < name->len; i++)
        if (name->at[i] == ';')
            name->at[i] = ',';
    escape_text(to, buf_slice(name), false);
}

enum vrs_status trace_export_folded(struct trace_exporting *e, struct out *out,
                                    struct vrs_error *err)
{
    uint32_t frame[TRACE_FRAMES_MOST + 2];
    struct buf name;
    buf_init(&name, SIZE_MAX / 2);
    for (uint32_t path = 0; path < e->calls->len; path++) {
        uint64_t weight = trace_weight_of(e, e->weight, path);
        if (weight == 0)
            continue;
        uint32_t frames = trace_stack(e, path, frame);
        for (uint32_t i = 0; i < frames; i++) {
            put_frame(e, frame[e->inverse ? i : frames - 1 - i], &name, &out->text);
            buf_char(&out->text, i + 1 < frames ? ';' : ' ');
        }
        buf_u64(&out->text, weight);
        buf_char(&out->text, '\n');
        out_flush(out, OUT_ENOUGH);
    }
    bool failed = name.failed;
    buf_free(&name);
    return failed ? vrs_no_memory(err) : VRS_OK;
}
