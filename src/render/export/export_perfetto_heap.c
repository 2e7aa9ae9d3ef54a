/* export_perfetto_heap.c - writes the tables of a heap profile (strings, frames, stacks) and the
 * bytes and allocations of each stack. */
#include "render/export/export_perfetto_heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "render/export/export.h"
#include "render/export/export_stacks.h"
#include "render/write/protobuf.h"

enum profile_field {
    PROFILE_STRING = 1,
    PROFILE_FRAME = 2,
    PROFILE_CALLSTACK = 3,
    PROFILE_MAPPING = 4,
    PROFILE_PROCESS = 5,
    PROFILE_INDEX = 7
};
enum string_field { STRING_ID = 1, STRING_TEXT = 2 };
enum mapping_field { MAPPING_ID = 1, MAPPING_BUILD = 2 };
enum frame_field { FRAME_ID = 1, FRAME_NAME = 2, FRAME_MAPPING = 3, FRAME_ADDRESS = 4 };
enum callstack_field { CALLSTACK_ID = 1, CALLSTACK_FRAME = 2 };
enum process_field {
    PROCESS_PID = 1,
    PROCESS_SAMPLE = 2,
    PROCESS_TIME = 9,
    PROCESS_HEAP = 11,
    PROCESS_INTERVAL = 12
};
enum sample_field { SAMPLE_CALLSTACK = 1, SAMPLE_BYTES = 2, SAMPLE_COUNT = 5 };

/* Numbers begin at 1, and a frame has to lie in a mapping with a build: one, without a name, is
 * enough.  Strings: the name of that build, then those of frames. */
enum { THE_MAPPING = 1, NO_BUILD = 1, FIRST_NAME = 2 };

uint64_t perfetto_process(const struct export_device *d)
{
    return (uint64_t)d->row + 1;
}

struct heap {
    const struct exporting *e;
    struct buf *to;
    struct buf message, inner;
    uint8_t *shown; /* of each frame; that of no stack has the number 0 */
};

static void put_string(struct heap *h, uint64_t id, str text)
{
    proto_u64(&h->message, STRING_ID, id);
    proto_str(&h->message, STRING_TEXT, text);
    proto_message(h->to, PROFILE_STRING, &h->message);
}

static void put_mapping(struct heap *h)
{
    put_string(h, NO_BUILD, S(""));
    proto_u64(&h->message, MAPPING_ID, THE_MAPPING);
    proto_u64(&h->message, MAPPING_BUILD, NO_BUILD);
    proto_message(h->to, PROFILE_MAPPING, &h->message);
}

/* Frames of one name are told apart by their address, for which their number stands. */
static void put_frame(struct heap *h, uint32_t frame)
{
    uint64_t id = frame + (uint64_t)1, name = frame + (uint64_t)FIRST_NAME;
    if (h->shown[frame] != 0)
        return;
    h->shown[frame] = 1;
    if (frame == 0)
        buf_text(&h->inner, EXPORT_NO_STACK);
    else
        export_frame_text(h->e->r, frame, &h->inner);
    put_string(h, name, buf_slice(&h->inner));
    h->inner.len = 0;
    proto_u64(&h->message, FRAME_ID, id);
    proto_u64(&h->message, FRAME_NAME, name);
    proto_u64(&h->message, FRAME_MAPPING, THE_MAPPING);
    proto_u64(&h->message, FRAME_ADDRESS, id);
    proto_message(h->to, PROFILE_FRAME, &h->message);
}

/* The outermost frame first.  `path` has room for the deepest stack. */
static void put_callstack(struct heap *h, uint32_t stack, uint32_t *path)
{
    const struct stacks *stacks = &h->e->r->code.stacks;
    size_t depth = 0;
    for (stack_id id = { stack }; id.n != 0; id = stacks_caller(stacks, id))
        path[depth++] = stacks_frame(stacks, id).n;
    if (depth == 0)
        path[depth++] = 0;
    for (size_t i = 0; i < depth; i++)
        put_frame(h, path[i]);
    proto_u64(&h->message, CALLSTACK_ID, stack + (uint64_t)1);
    while (depth > 0)
        proto_u64(&h->message, CALLSTACK_FRAME, path[--depth] + (uint64_t)1);
    proto_message(h->to, PROFILE_CALLSTACK, &h->message);
}

static void put_process(struct heap *h, const struct export_device *d,
                        const struct export_samples *samples, uint64_t time_ns)
{
    proto_u64(&h->message, PROCESS_PID, perfetto_process(d));
    proto_u64(&h->message, PROCESS_TIME, time_ns);
    buf_text(&h->inner, "memory of ");
    export_device_text(d, &h->inner);
    proto_str(&h->message, PROCESS_HEAP, buf_slice(&h->inner));
    h->inner.len = 0;
    /* Every allocation is in it. */
    proto_u64(&h->message, PROCESS_INTERVAL, 1);
    for (uint32_t i = 0; i < samples->len; i++) {
        proto_u64(&h->inner, SAMPLE_CALLSTACK, samples->at[i].stack + (uint64_t)1);
        proto_u64(&h->inner, SAMPLE_BYTES, samples->at[i].bytes);
        proto_u64(&h->inner, SAMPLE_COUNT, samples->at[i].count);
        proto_message(&h->message, PROCESS_SAMPLE, &h->inner);
    }
    proto_message(h->to, PROFILE_PROCESS, &h->message);
}

static size_t deepest(const struct exporting *e, const struct export_samples *samples)
{
    const struct stacks *stacks = &e->r->code.stacks;
    size_t most = 1;
    for (uint32_t i = 0; i < samples->len; i++) {
        size_t depth = 0;
        for (stack_id id = { samples->at[i].stack }; id.n != 0; id = stacks_caller(stacks, id))
            depth++;
        most = depth > most ? depth : most;
    }
    return most;
}

static enum vrs_status put_heap(struct heap *h, const struct export_device *d, uint64_t time_ns,
                                uint64_t index, struct vrs_error *err)
{
    struct arena *arena = h->e->scratch;
    struct export_samples samples;
    TRY(export_samples_make(h->e, d, false, arena, &samples, err));
    uint32_t *path = arena_array(arena, uint32_t, deepest(h->e, &samples));
    h->shown = arena_array(arena, uint8_t, h->e->r->code.frames.rows.len);
    if (path == NULL || h->shown == NULL)
        return vrs_no_memory(err);
    put_mapping(h);
    for (uint32_t i = 0; i < samples.len; i++)
        put_callstack(h, samples.at[i].stack, path);
    put_process(h, d, &samples, time_ns);
    proto_u64(h->to, PROFILE_INDEX, index);
    return VRS_OK;
}

enum vrs_status perfetto_heap(const struct exporting *e, const struct export_device *d,
                              uint64_t time_ns, uint64_t index, struct buf *to,
                              struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(e->scratch);
    struct heap h = { .e = e, .to = to };
    buf_init(&h.message, SIZE_MAX / 2);
    buf_init(&h.inner, SIZE_MAX / 2);
    enum vrs_status status = put_heap(&h, d, time_ns, index, err);
    if (status == VRS_OK && (h.message.failed || h.inner.failed))
        status = vrs_no_memory(err);
    buf_free(&h.message);
    buf_free(&h.inner);
    arena_release(e->scratch, mark);
    return status;
}
