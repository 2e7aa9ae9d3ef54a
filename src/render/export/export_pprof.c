/* export_pprof.c - a heap profile as pprof reads it: objects and bytes in use, gzip'd protobuf.
 *
 * The message is Profile of google/pprof, proto/profile.proto.  A location is a frame, a function
 * is a name and a file; both have the number of the frame.  The device of a sample is a
 * label, and its category another one. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "render/export/export.h"
#include "render/export/export_stacks.h"
#include "render/export/pprof.h"
#include "render/write/gzip_out.h"
#include "render/write/out.h"
#include "render/write/protobuf.h"

/* Rows of the profile's table of strings; those of the recording follow as they are met. */
enum {
    WORD_NONE,
    WORD_OBJECTS,
    WORD_COUNT,
    WORD_SPACE,
    WORD_BYTES,
    WORD_DEVICE,
    WORD_CATEGORY,
    WORD_NO_STACK,
    WORDS_FIRST
};
static const char *const fixed_words[WORDS_FIRST] = {
    "", "inuse_objects", "count", "inuse_space", "bytes", "device", "category", EXPORT_NO_STACK,
};

struct profile {
    struct exporting *e;
    struct pprof to;
    uint32_t *word;                /* of each string that is shown: its row */
    uint32_t category[CATEGORIES]; /* of each that is shown: its row */
    uint8_t *shown;                /* of each frame; that of no stack has the number 0 */
};

static uint32_t word_of(struct profile *p, string_id id)
{
    if (id.n != 0 && p->word[id.n] == 0)
        p->word[id.n] = pprof_string(&p->to, strings_text(&p->e->r->code.strings, id));
    return id.n == 0 ? WORD_NONE : p->word[id.n];
}

/* Locations are numbered from 1, so that of frame f is f + 1. */
static void put_sample(struct profile *p, const struct export_sample *s, uint32_t device)
{
    const struct stacks *stacks = &p->e->r->code.stacks;
    for (stack_id id = { s->stack }; id.n != 0; id = stacks_caller(stacks, id)) {
        uint32_t frame = stacks_frame(stacks, id).n;
        p->shown[frame] = 1;
        proto_number(&p->to.inner, frame + (uint64_t)1);
    }
    if (s->stack == 0) {
        p->shown[0] = 1;
        proto_number(&p->to.inner, 1);
    }
    proto_message(&p->to.message, SAMPLE_LOCATION, &p->to.inner);
    proto_number(&p->to.inner, s->count);
    proto_number(&p->to.inner, s->bytes);
    proto_message(&p->to.message, SAMPLE_VALUE, &p->to.inner);
    pprof_label(&p->to, WORD_DEVICE, device);
    if (s->category < CATEGORIES)
        pprof_label(&p->to, WORD_CATEGORY, p->category[s->category]);
    pprof_flush(&p->to, PROFILE_SAMPLE);
}

static void put_frame(struct profile *p, uint32_t frame)
{
    struct frame f = frames_get(&p->e->r->code.frames, (frame_id){ frame });
    str file;
    uint32_t name = frame == 0 ? WORD_NO_STACK : word_of(p, f.name);
    struct pprof_place place = { .id = frame + (uint64_t)1, .name = name };
    place.has_file = export_frame_file(p->e->r, frame, &file);
    if (place.has_file)
        place.file = word_of(p, f.file);
    place.has_line = export_frame_line(p->e->r, frame, &place.line);
    pprof_place(&p->to, &place);
}

static enum vrs_status put_device(struct profile *p, const struct export_device *d,
                                  struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(p->e->scratch);
    struct export_samples samples;
    TRY(export_samples_make(p->e, d, true, p->e->scratch, &samples, err));
    export_device_text(d, &p->to.message);
    uint32_t name = pprof_string(&p->to, buf_slice(&p->to.message));
    p->to.message.len = 0;
    for (uint32_t i = 0; i < samples.len; i++) {
        uint8_t c = samples.at[i].category;
        if (c < CATEGORIES && p->category[c] == 0)
            p->category[c] = pprof_string(&p->to, str_from(category_names[c]));
    }
    for (uint32_t i = 0; i < samples.len; i++)
        put_sample(p, &samples.at[i], name);
    arena_release(p->e->scratch, mark);
    return VRS_OK;
}

/* When the memory was as it is shown: at the first device's moment. */
static void put_time(struct profile *p)
{
    const struct export_device *d = &p->e->device[0];
    if (p->e->devices == 0 || !d->has_moment || d->at_event < 0)
        return;
    uint64_t time_us = p->e->r->events.time_us[d->steps.first + (uint32_t)d->at_event];
    if (time_us != UNKNOWN_U64)
        proto_u64(&p->to.out->text, PROFILE_TIME_NANOS, time_us * 1000);
}

static enum vrs_status put_all(struct profile *p, struct vrs_error *err)
{
    uint32_t frames = p->e->r->code.frames.rows.len;
    p->word = arena_array(p->e->scratch, uint32_t, p->e->r->code.strings.rows.len);
    p->shown = arena_array(p->e->scratch, uint8_t, frames);
    if (p->word == NULL || p->shown == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < WORDS_FIRST; i++)
        pprof_string(&p->to, str_from(fixed_words[i]));
    pprof_type(&p->to, WORD_OBJECTS, WORD_COUNT);
    pprof_type(&p->to, WORD_SPACE, WORD_BYTES);
    for (uint32_t i = 0; i < p->e->devices; i++)
        TRY(put_device(p, &p->e->device[i], err));
    for (uint32_t i = 0; i < frames; i++)
        if (p->shown[i] != 0)
            put_frame(p, i);
    struct pprof_comments comments = pprof_comment_words(&p->to, p->e->tool, p->e->cut);
    put_time(p);
    pprof_comments(&p->to, comments);
    proto_u64(&p->to.out->text, PROFILE_DEFAULT_TYPE, WORD_SPACE);
    return pprof_failed(&p->to) ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status export_pprof(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct gzip_out gzip;
    struct profile p = { .e = e };
    TRY(gzip_out_begin(&gzip, out, err));
    pprof_init(&p.to, &gzip.plain);
    enum vrs_status status = put_all(&p, err);
    pprof_free(&p.to);
    enum vrs_status ended = gzip_out_end(&gzip, status == VRS_OK ? err : NULL);
    return status != VRS_OK ? status : ended;
}
