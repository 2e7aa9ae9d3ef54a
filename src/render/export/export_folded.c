/* export_folded.c - "outermost;…;innermost WEIGHT", as flame graphs are drawn from. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "render/export/export.h"
#include "render/export/export_stacks.h"
#include "render/write/escape.h"
#include "render/write/out.h"

struct folder {
    struct exporting *e;
    struct out *out;
    struct buf name;
    uint32_t *frame; /* of one stack, innermost first */
};

/* A semicolon parts frames, so none may stand in one. */
static void put_name(struct folder *f)
{
    for (size_t i = 0; i < f->name.len; i++)
        if (f->name.at[i] == ';')
            f->name.at[i] = ',';
    escape_text(&f->out->text, buf_slice(&f->name), false);
    f->name.len = 0;
}

static void put_sample(struct folder *f, const struct export_device *d,
                       const struct export_sample *s)
{
    const struct stacks *stacks = &f->e->r->code.stacks;
    struct buf *b = &f->out->text;
    uint32_t frames = 0;
    for (stack_id id = { s->stack }; id.n != 0; id = stacks_caller(stacks, id))
        f->frame[frames++] = stacks_frame(stacks, id).n;
    if (f->e->devices > 1) {
        export_device_text(d, b);
        buf_char(b, ';');
    }
    for (uint32_t i = 0; i < frames; i++) {
        export_frame_text(f->e->r, f->frame[f->e->inverse ? i : frames - 1 - i], &f->name);
        put_name(f);
        buf_char(b, i + 1 < frames ? ';' : ' ');
    }
    if (frames == 0)
        buf_text(b, EXPORT_NO_STACK " ");
    buf_u64(b, f->e->by_count ? s->count : s->bytes);
    buf_char(b, '\n');
    out_flush(f->out, OUT_ENOUGH);
}

static enum vrs_status put_device(struct folder *f, const struct export_device *d,
                                  struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(f->e->scratch);
    struct export_samples samples;
    TRY(export_samples_make(f->e, d, false, f->e->scratch, &samples, err));
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < samples.len; i++) {
        uint32_t depth = stacks_depth(&f->e->r->code.stacks, (stack_id){ samples.at[i].stack });
        deepest = depth > deepest ? depth : deepest;
    }
    f->frame = arena_array(f->e->scratch, uint32_t, deepest);
    if (f->frame == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < samples.len; i++)
        put_sample(f, d, &samples.at[i]);
    arena_release(f->e->scratch, mark);
    return f->name.failed ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status export_folded(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct folder f = { .e = e, .out = out };
    enum vrs_status status = VRS_OK;
    buf_init(&f.name, SIZE_MAX / 2);
    for (uint32_t i = 0; i < e->devices && status == VRS_OK; i++)
        status = put_device(&f, &e->device[i], err);
    buf_free(&f.name);
    return status;
}
