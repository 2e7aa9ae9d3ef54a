/* export_speedscope.c - speedscope's own JSON: for each device a profile of bytes and one of
 * allocations. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "render/export/export.h"
#include "render/export/export_stacks.h"
#include "render/write/json.h"
#include "render/write/out.h"

struct speedscope {
    struct exporting *e;
    struct out *out;
    struct json json;
    struct export_samples *samples; /* of each device */
    uint32_t *place;                /* of each frame that is shown: plus 1 */
    uint32_t *frame;                /* of each place */
    uint32_t frames;
    uint32_t *line; /* of one stack, innermost first */
};

/* Gives every frame of the samples its place; the greatest depth. */
static uint32_t place_frames(struct speedscope *s, const struct export_samples *samples)
{
    const struct stacks *stacks = &s->e->r->code.stacks;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < samples->len; i++) {
        uint32_t depth = 0;
        for (stack_id id = { samples->at[i].stack }; id.n != 0; id = stacks_caller(stacks, id)) {
            uint32_t frame = stacks_frame(stacks, id).n;
            if (s->place[frame] == 0) {
                s->frame[s->frames++] = frame;
                s->place[frame] = s->frames;
            }
            depth++;
        }
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* The frame of what has no stack stands behind all others. */
static void put_frames(struct speedscope *s)
{
    const struct recording *r = s->e->r;
    struct json *j = &s->json;
    json_object(j, "shared");
    json_array(j, "frames");
    for (uint32_t i = 0; i < s->frames; i++) {
        struct frame f = frames_get(&r->code.frames, (frame_id){ s->frame[i] });
        str name = strings_text(&r->code.strings, f.name), file;
        uint32_t line;
        json_line_object(j, NULL);
        json_str(j, "name", name.len == 0 ? S("??") : name);
        if (export_frame_file(r, s->frame[i], &file)) {
            json_str(j, "file", file);
            if (export_frame_line(r, s->frame[i], &line))
                json_u64(j, "line", line);
        }
        json_close(j);
        out_flush(s->out, OUT_ENOUGH);
    }
    json_line_object(j, NULL);
    json_text(j, "name", EXPORT_NO_STACK);
    json_close(j);
    json_close(j);
    json_close(j);
}

static void put_stack(struct speedscope *s, uint32_t stack)
{
    const struct stacks *stacks = &s->e->r->code.stacks;
    uint32_t depth = 0;
    for (stack_id id = { stack }; id.n != 0; id = stacks_caller(stacks, id))
        s->line[depth++] = s->place[stacks_frame(stacks, id).n] - 1;
    json_line_array(&s->json, NULL);
    for (uint32_t i = depth; i > 0; i--)
        json_u64(&s->json, NULL, s->line[i - 1]);
    if (depth == 0)
        json_u64(&s->json, NULL, s->frames);
    json_close(&s->json);
    out_flush(s->out, OUT_ENOUGH);
}

static void put_profile(struct speedscope *s, uint32_t device, bool count, struct buf *name)
{
    const struct export_samples *samples = &s->samples[device];
    struct json *j = &s->json;
    uint64_t total = 0;
    for (uint32_t i = 0; i < samples->len; i++)
        total += count ? samples->at[i].count : samples->at[i].bytes;
    name->len = 0;
    export_device_text(&s->e->device[device], name);
    buf_text(name, count ? ": allocations alive" : ": bytes alive");
    if (s->e->cut.len > 0) {
        buf_text(name, ", ");
        buf_str(name, s->e->cut);
    }
    json_object(j, NULL);
    json_text(j, "type", "sampled");
    json_str(j, "name", buf_slice(name));
    json_text(j, "unit", count ? "none" : "bytes");
    json_u64(j, "startValue", 0);
    json_u64(j, "endValue", total);
    json_array(j, "samples");
    for (uint32_t i = 0; i < samples->len; i++)
        put_stack(s, samples->at[i].stack);
    json_close(j);
    json_line_array(j, "weights");
    for (uint32_t i = 0; i < samples->len; i++)
        json_u64(j, NULL, count ? samples->at[i].count : samples->at[i].bytes);
    json_close(j);
    json_close(j);
}

static enum vrs_status prepare(struct speedscope *s, struct vrs_error *err)
{
    struct arena *arena = s->e->scratch;
    uint32_t deepest = 0, frames = s->e->r->code.frames.rows.len;
    s->samples = arena_array(arena, struct export_samples, s->e->devices);
    s->place = arena_array(arena, uint32_t, frames);
    s->frame = arena_array(arena, uint32_t, frames);
    if (s->samples == NULL || s->place == NULL || s->frame == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < s->e->devices; i++) {
        TRY(export_samples_make(s->e, &s->e->device[i], false, arena, &s->samples[i], err));
        uint32_t depth = place_frames(s, &s->samples[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    s->line = arena_array(arena, uint32_t, deepest);
    return s->line == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status export_speedscope(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct speedscope s = { .e = e, .out = out };
    struct json *j = &s.json;
    TRY(prepare(&s, err));
    struct buf name;
    buf_init(&name, SIZE_MAX / 2);
    json_start(j, &out->text);
    json_object(j, NULL);
    json_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    buf_text(&name, "vramscope ");
    buf_text(&name, e->tool);
    json_str(j, "exporter", buf_slice(&name));
    json_str(j, "name", e->file->path);
    json_u64(j, "activeProfileIndex", 0);
    put_frames(&s);
    json_array(j, "profiles");
    for (uint32_t i = 0; i < e->devices; i++)
        for (uint32_t count = 0; count < 2 && e->device[i].has_moment; count++)
            put_profile(&s, i, count == 1, &name);
    json_close(j);
    json_close(j);
    json_finish(j);
    bool failed = name.failed;
    buf_free(&name);
    return failed ? vrs_no_memory(err) : VRS_OK;
}
