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
#include "render/write/gzip_out.h"
#include "render/write/out.h"
#include "render/write/protobuf.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14
};
enum value_type_field { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2 };
enum location_field { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

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
    struct out *out;
    struct buf message, inner;
    uint32_t *word;                /* of each string that is shown: its row */
    uint32_t words;                /* rows so far */
    uint32_t category[CATEGORIES]; /* of each that is shown: its row */
    uint8_t *shown;                /* of each frame; that of no stack has the number 0 */
};

static void flush(struct profile *p, uint32_t field)
{
    proto_message(&p->out->text, field, &p->message);
    out_flush(p->out, OUT_ENOUGH);
}

static uint32_t put_string(struct profile *p, str text)
{
    proto_str(&p->out->text, PROFILE_STRING, text);
    out_flush(p->out, OUT_ENOUGH);
    return p->words++;
}

static uint32_t word_of(struct profile *p, string_id id)
{
    if (id.n != 0 && p->word[id.n] == 0)
        p->word[id.n] = put_string(p, strings_text(&p->e->r->code.strings, id));
    return id.n == 0 ? WORD_NONE : p->word[id.n];
}

static void put_type(struct profile *p, uint32_t type, uint32_t unit)
{
    proto_u64(&p->message, VALUE_TYPE, type);
    proto_u64(&p->message, VALUE_UNIT, unit);
    flush(p, PROFILE_SAMPLE_TYPE);
}

static void put_label(struct profile *p, uint32_t key, uint32_t word)
{
    proto_u64(&p->inner, LABEL_KEY, key);
    proto_u64(&p->inner, LABEL_STR, word);
    proto_message(&p->message, SAMPLE_LABEL, &p->inner);
}

/* Locations are numbered from 1, so that of frame f is f + 1. */
static void put_sample(struct profile *p, const struct export_sample *s, uint32_t device)
{
    const struct stacks *stacks = &p->e->r->code.stacks;
    for (stack_id id = { s->stack }; id.n != 0; id = stacks_caller(stacks, id)) {
        uint32_t frame = stacks_frame(stacks, id).n;
        p->shown[frame] = 1;
        proto_number(&p->inner, frame + (uint64_t)1);
    }
    if (s->stack == 0) {
        p->shown[0] = 1;
        proto_number(&p->inner, 1);
    }
    proto_message(&p->message, SAMPLE_LOCATION, &p->inner);
    proto_number(&p->inner, s->count);
    proto_number(&p->inner, s->bytes);
    proto_message(&p->message, SAMPLE_VALUE, &p->inner);
    put_label(p, WORD_DEVICE, device);
    if (s->category < CATEGORIES)
        put_label(p, WORD_CATEGORY, p->category[s->category]);
    flush(p, PROFILE_SAMPLE);
}

static void put_frame(struct profile *p, uint32_t frame)
{
    struct frame f = frames_get(&p->e->r->code.frames, (frame_id){ frame });
    str file;
    uint32_t line, name = frame == 0 ? WORD_NO_STACK : word_of(p, f.name);
    uint64_t id = frame + (uint64_t)1;
    proto_u64(&p->message, FUNCTION_ID, id);
    proto_u64(&p->message, FUNCTION_NAME, name);
    if (export_frame_file(p->e->r, frame, &file))
        proto_u64(&p->message, FUNCTION_FILE, word_of(p, f.file));
    flush(p, PROFILE_FUNCTION);
    proto_u64(&p->inner, LINE_FUNCTION, id);
    if (export_frame_line(p->e->r, frame, &line))
        proto_u64(&p->inner, LINE_LINE, line);
    proto_u64(&p->message, LOCATION_ID, id);
    proto_message(&p->message, LOCATION_LINE, &p->inner);
    flush(p, PROFILE_LOCATION);
}

static enum vrs_status put_device(struct profile *p, const struct export_device *d,
                                  struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(p->e->scratch);
    struct export_samples samples;
    TRY(export_samples_make(p->e, d, true, p->e->scratch, &samples, err));
    export_device_text(d, &p->message);
    uint32_t name = put_string(p, buf_slice(&p->message));
    p->message.len = 0;
    for (uint32_t i = 0; i < samples.len; i++) {
        uint8_t c = samples.at[i].category;
        if (c < CATEGORIES && p->category[c] == 0)
            p->category[c] = put_string(p, str_from(category_names[c]));
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
        proto_u64(&p->out->text, PROFILE_TIME_NANOS, time_us * 1000);
}

static enum vrs_status put_all(struct profile *p, struct vrs_error *err)
{
    uint32_t frames = p->e->r->code.frames.rows.len;
    p->word = arena_array(p->e->scratch, uint32_t, p->e->r->code.strings.rows.len);
    p->shown = arena_array(p->e->scratch, uint8_t, frames);
    if (p->word == NULL || p->shown == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < WORDS_FIRST; i++)
        put_string(p, str_from(fixed_words[i]));
    put_type(p, WORD_OBJECTS, WORD_COUNT);
    put_type(p, WORD_SPACE, WORD_BYTES);
    for (uint32_t i = 0; i < p->e->devices; i++)
        TRY(put_device(p, &p->e->device[i], err));
    for (uint32_t i = 0; i < frames; i++)
        if (p->shown[i] != 0)
            put_frame(p, i);
    buf_text(&p->message, "vramscope ");
    buf_text(&p->message, p->e->tool);
    uint32_t comment = put_string(p, buf_slice(&p->message));
    uint32_t cut = p->e->cut.len > 0 ? put_string(p, p->e->cut) : WORD_NONE;
    p->message.len = 0;
    put_time(p);
    proto_u64(&p->out->text, PROFILE_COMMENT, comment);
    if (cut != WORD_NONE)
        proto_u64(&p->out->text, PROFILE_COMMENT, cut);
    proto_u64(&p->out->text, PROFILE_DEFAULT_TYPE, WORD_SPACE);
    return p->message.failed || p->inner.failed ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status export_pprof(struct exporting *e, struct out *out, struct vrs_error *err)
{
    struct gzip_out gzip;
    struct profile p = { .e = e, .out = &gzip.plain };
    TRY(gzip_out_begin(&gzip, out, err));
    buf_init(&p.message, SIZE_MAX / 2);
    buf_init(&p.inner, SIZE_MAX / 2);
    enum vrs_status status = put_all(&p, err);
    buf_free(&p.message);
    buf_free(&p.inner);
    enum vrs_status ended = gzip_out_end(&gzip, status == VRS_OK ? err : NULL);
    return status != VRS_OK ? status : ended;
}
