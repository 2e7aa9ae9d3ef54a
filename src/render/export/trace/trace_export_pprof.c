/* trace_export_pprof.c - the call tree as pprof reads it: calls, host time, device time and bytes of
 * each path, gzip'd protobuf.
 *
 * The message is Profile of google/pprof, proto/profile.proto.  A location and its function stand
 * for a name, so that equal names are one function.  The thread of a sample is a label. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"
#include "render/export/pprof.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_stacks.h"
#include "render/write/gzip_out.h"
#include "render/write/out.h"
#include "render/write/protobuf.h"

/* Rows of the profile's table of strings; those of the trace follow as they are met. */
enum {
    WORD_NONE,
    WORD_CALLS,
    WORD_COUNT,
    WORD_HOST,
    WORD_DEVICE,
    WORD_NANOSECONDS,
    WORD_BYTES_TYPE,
    WORD_BYTES,
    WORD_THREAD,
    WORDS_FIRST
};
static const char *const fixed_words[WORDS_FIRST] = {
    "",       "calls",           "count", "host",   "device", "nanoseconds",
    "allocated_space", "bytes", "thread",
};

/* The types of values, in the order that samples have them. */
static const struct {
    enum trace_weight weight;
    uint32_t type, unit;
} types[TRACE_WEIGHTS] = {
    { TRACE_WEIGHT_CALLS, WORD_CALLS, WORD_COUNT },
    { TRACE_WEIGHT_HOST, WORD_HOST, WORD_NANOSECONDS },
    { TRACE_WEIGHT_DEVICE, WORD_DEVICE, WORD_NANOSECONDS },
    { TRACE_WEIGHT_BYTES, WORD_BYTES_TYPE, WORD_BYTES },
};

struct profile {
    struct trace_exporting *e;
    struct pprof to;
    struct buf text;
    uint32_t *root, *root_place; /* of each path that is a root: its row of strings; as `place` */
    uint32_t *place;   /* of each string that is the name of a frame: its location, from 1 */
    uint32_t *path_of; /* of each location the first path, from 1 */
    uint32_t places;
    uint32_t rest; /* the location of frames that are left out; 0: none */
};

static uint32_t new_place(struct profile *p, uint32_t path)
{
    p->path_of[++p->places] = path;
    return p->places;
}

static uint32_t place_of(struct profile *p, uint32_t frame)
{
    const struct call_path *path = &p->e->calls->at[frame];
    if (p->place[path->name] == 0)
        p->place[path->name] = new_place(p, frame);
    return p->place[path->name];
}

/* Threads are labels, so no frames, unless there is nothing else. */
static void put_locations(struct profile *p, uint32_t path)
{
    const struct call_paths *c = p->e->calls;
    uint32_t frame[TRACE_FRAMES_MOST + 2];
    uint32_t frames = trace_stack(p->e, path, frame);
    for (uint32_t i = 0; i < frames; i++) {
        if (frame[i] == TRACE_FRAME_REST) {
            p->rest = p->rest != 0 ? p->rest : new_place(p, TRACE_FRAME_REST);
            proto_number(&p->to.inner, p->rest);
        } else if (c->at[frame[i]].parent != NO_ROW) {
            proto_number(&p->to.inner, place_of(p, frame[i]));
        } else if (frames == 1) {
            p->root_place[frame[i]] = p->root_place[frame[i]] != 0 ? p->root_place[frame[i]]
                                                                   : new_place(p, frame[i]);
            proto_number(&p->to.inner, p->root_place[frame[i]]);
        }
    }
    proto_message(&p->to.message, SAMPLE_LOCATION, &p->to.inner);
}

static void put_sample(struct profile *p, uint32_t path)
{
    uint64_t value[TRACE_WEIGHTS], any = 0;
    for (uint32_t i = 0; i < TRACE_WEIGHTS; i++)
        any |= value[i] = trace_weight_of(p->e, types[i].weight, path);
    if (any == 0)
        return;
    put_locations(p, path);
    for (uint32_t i = 0; i < TRACE_WEIGHTS; i++)
        proto_number(&p->to.inner, value[i]);
    proto_message(&p->to.message, SAMPLE_VALUE, &p->to.inner);
    pprof_label(&p->to, WORD_THREAD, p->root[p->e->calls->at[path].root]);
    pprof_flush(&p->to, PROFILE_SAMPLE);
}

/* A Python frame is a line of a function; others have a name alone. */
static void put_place(struct profile *p, uint32_t place)
{
    struct frame_name f = { .line = 0 };
    uint32_t frame = p->path_of[place];
    p->text.len = 0;
    trace_frame_name(p->e, frame, &p->text);
    str name = buf_slice(&p->text);
    bool is_python = frame != TRACE_FRAME_REST && p->e->calls->at[frame].kind == SPAN_PYTHON &&
                     frame_name_read(name, &f);
    struct pprof_place made = { .id = place,
                                .has_file = is_python,
                                .has_line = is_python,
                                .begins_there = true };
    made.name = pprof_string(&p->to, is_python ? f.function : name);
    if (is_python) {
        made.file = pprof_string(&p->to, f.file);
        made.line = f.line;
    }
    pprof_place(&p->to, &made);
}

/* When the trace began, where its clock tells, and how long it lasts. */
static void put_time(struct profile *p)
{
    const struct trace_study *s = p->e->study;
    int64_t base = p->e->t->header.base_ns;
    if (!s->has_range)
        return;
    if (base != TRACE_UNKNOWN && base > 0 && s->first_ns >= 0 && s->first_ns < INT64_MAX - base)
        proto_u64(&p->to.out->text, PROFILE_TIME_NANOS, (uint64_t)(base + s->first_ns));
    proto_u64(&p->to.out->text, PROFILE_DURATION_NANOS, (uint64_t)(s->last_ns - s->first_ns));
}

static enum vrs_status put_all(struct profile *p, struct vrs_error *err)
{
    const struct call_paths *c = p->e->calls;
    uint32_t strings = p->e->t->strings.rows.len;
    p->place = arena_array(p->e->scratch, uint32_t, strings);
    p->path_of = arena_array(p->e->scratch, uint32_t, (size_t)strings + c->roots + 2);
    p->root = arena_array(p->e->scratch, uint32_t, c->len);
    p->root_place = arena_array(p->e->scratch, uint32_t, c->len);
    if (p->place == NULL || p->path_of == NULL || p->root == NULL || p->root_place == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < WORDS_FIRST; i++)
        pprof_string(&p->to, str_from(fixed_words[i]));
    for (uint32_t i = 0; i < TRACE_WEIGHTS; i++)
        pprof_type(&p->to, types[i].type, types[i].unit);
    for (uint32_t i = 0; i < c->len; i++) {
        if (c->at[i].parent != NO_ROW)
            continue;
        p->text.len = 0;
        trace_frame_name(p->e, i, &p->text);
        p->root[i] = pprof_string(&p->to, buf_slice(&p->text));
    }
    for (uint32_t i = 0; i < c->len; i++)
        put_sample(p, i);
    for (uint32_t i = 1; i <= p->places; i++)
        put_place(p, i);
    struct pprof_comments comments = pprof_comment_words(&p->to, p->e->tool, p->e->cut);
    put_time(p);
    pprof_comments(&p->to, comments);
    for (uint32_t i = 0; i < TRACE_WEIGHTS; i++)
        if (types[i].weight == p->e->weight)
            proto_u64(&p->to.out->text, PROFILE_DEFAULT_TYPE, types[i].type);
    return pprof_failed(&p->to) || p->text.failed ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status trace_export_pprof(struct trace_exporting *e, struct out *out,
                                   struct vrs_error *err)
{
    struct gzip_out gzip;
    struct profile p = { .e = e };
    TRY(gzip_out_begin(&gzip, out, err));
    pprof_init(&p.to, &gzip.plain);
    buf_init(&p.text, SIZE_MAX / 2);
    enum vrs_status status = put_all(&p, err);
    pprof_free(&p.to);
    buf_free(&p.text);
    enum vrs_status ended = gzip_out_end(&gzip, status == VRS_OK ? err : NULL);
    return status != VRS_OK ? status : ended;
}
