/* read_trace.c - the way from an input to a trace: unpack, look what it is, read. */
#include "format/read_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/counted.h"
#include "format/detect.h"
#include "format/html.h"
#include "format/input/source.h"
#include "format/input/unpack.h"
#include "format/input/unpack_ahead.h"
#include "format/input/window.h"
#include "format/trace/from_json.h"
#include "format/trace/timeline.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"
#include "model/trace.h"

/* Looks as far as the first snapshot in it. */
static enum vrs_status refuse_page(struct window *w, struct vrs_error *err)
{
    struct html page;
    bool found = false;
    if (detect_is_view(w))
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a page that vramscope wrote, which holds no profiler trace: open it in a "
                        "browser");
    html_init(&page, w);
    enum vrs_status status = html_next(&page, &found, err);
    html_free(&page);
    if (status != VRS_OK && status != VRS_CORRUPT)
        return status;
    if (found)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a page with a memory snapshot, and no profiler trace: vramscope report "
                        "reads it");
    return vrs_fail(err, VRS_UNSUPPORTED,
                    "a page, and no profiler trace: what export_chrome_trace() of torch.profiler "
                    "writes is one");
}

static enum vrs_status refuse(struct window *w, enum form form, struct vrs_error *err)
{
    switch (form) {
    case FORM_PICKLE:
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a pickle, and no profiler trace: vramscope report reads memory snapshots");
    case FORM_HTML:
        return refuse_page(w, err);
    case FORM_GZIP:
    case FORM_ZSTD:
        return vrs_fail(err, VRS_UNSUPPORTED, "compressed twice; unpack it once");
    case FORM_JSON:
    case FORM_OTHER:
        break;
    }
    return detect_refuse(w, WANTED_TRACE, err);
}

static enum vrs_status read_unpacked(struct window *w, const struct limits *limits,
                                     const struct trace_parts *parts, struct trace *t,
                                     struct vrs_error *err)
{
    enum form form = detect_form(w);
    if (form != FORM_JSON)
        return refuse(w, form, err);
    if (timeline_begins(w))
        return timeline_from_json(w, limits, t, err);
    return trace_from_json(w, limits, parts, t, err);
}

/* What is being read, and how. */
struct input {
    const struct limits *limits;
    struct counted counted; /* the stored bytes */
    uint32_t threads, part_bytes, packed_part_bytes;
};

/* Unpacked on another thread: that one counts the stored bytes, and this one tells of them, since
 * who is told is a caller's function. */
struct told {
    struct unpack_ahead ahead;
    struct source unpacked;
    struct counted counted;
};

static enum vrs_status read_told(void *self, uint8_t *to, size_t len, size_t *ret,
                                 struct vrs_error *err)
{
    struct told *t = self;
    TRY(t->unpacked.read(t->unpacked.self, to, len, ret, err));
    return counted_tell(&t->counted, t->ahead.packed, err);
}

static void say_unpacked(struct vrs_error *err)
{
    static const char words[] = " (offset in the unpacked bytes)";
    size_t len = err == NULL ? 0 : strlen(err->message);
    if (err != NULL && err->offset != VRS_NO_OFFSET && len + sizeof words <= sizeof err->message)
        memcpy(err->message + len, words, sizeof words);
}

static enum vrs_status read_from(struct source unpacked, const struct limits *limits,
                                 struct trace *t, struct vrs_error *err)
{
    struct window w;
    TRY(window_init(&w, unpacked, err));
    enum vrs_status status = read_unpacked(&w, limits, NULL, t, err);
    /* The packing words its own failures, with places in the packed bytes. */
    if (status == VRS_CORRUPT && window_status(&w, NULL) == VRS_OK)
        say_unpacked(err);
    window_free(&w);
    return status;
}

static enum vrs_status read_ahead(struct input *in, struct unpack *u, struct trace *t,
                                  struct vrs_error *err)
{
    struct told told = { .counted = in->counted };
    in->counted.progress = NULL;
    TRY(unpack_ahead_begin(&told.ahead, u, true, err));
    told.unpacked = source_of_unpack_ahead(&told.ahead);
    enum vrs_status status =
        read_from((struct source){ .read = read_told, .self = &told }, in->limits, t, err);
    unpack_ahead_end(&told.ahead);
    return status;
}

/* What the packing alone tells of its end. */
static void look_at_end(const struct unpack *u, struct trace *t)
{
    if (u->cut && t->damage[DAMAGE_TRUNCATED].count == 0)
        trace_damaged(t, DAMAGE_TRUNCATED, t->read_bytes);
    if (u->cut)
        t->cut_stream = (struct cut_stream){ u->codec->name, u->cut_at, u->damaged };
    t->damage[DAMAGE_CHECKSUM] = (struct damage){ u->wrong_checksums, u->wrong_at };
    t->damage[DAMAGE_PACKED_BYTES] = (struct damage){ u->junk_bytes, u->junk_at };
}

/* Of what could not be read: nothing is wrong with it but that the stream around it ends early. */
static enum vrs_status say_cut(const struct unpack *u, const struct trace *t,
                               enum vrs_status status, struct vrs_error *err)
{
    enum { FORM_BYTES = 5 }; /* fewer do not tell what they begin */
    /* Who gave up, or reached a limit, has not seen the end. */
    if (!u->cut || (status != VRS_CORRUPT && status != VRS_UNSUPPORTED))
        return status;
    if (u->given_bytes == 0)
        return unpack_fail_cut(u, "its first byte of data", err);
    if (u->given_bytes < FORM_BYTES ||
        (t->damage[DAMAGE_TRUNCATED].count > 0 && t->events == 0))
        return unpack_fail_cut(u, "the first whole event", err);
    return status;
}

static enum vrs_status tell(void *arg, uint64_t done_bytes, struct vrs_error *err)
{
    return counted_tell(arg, done_bytes, err);
}

/* Unpacked a part at a time by whichever thread has no other to read.  What is not as it should be
 * is left to who reads it as one, `*ret_done` then being false, and `t` new. */
static enum vrs_status read_unpacked_parts(struct input *in, struct unpack *u, uint64_t *cuts,
                                           struct trace *t, bool *ret_done, struct vrs_error *err)
{
    const struct trace_parts parts = { .threads = in->threads,
                                       .part_bytes = in->packed_part_bytes,
                                       .cuts = cuts,
                                       .stored = u->packed,
                                       .progress = tell,
                                       .progress_arg = &in->counted };
    struct window w;
    TRY(window_init(&w, source_of_unpack(u), err));
    enum vrs_status status = VRS_OK;
    if (detect_form(&w) == FORM_JSON && !timeline_begins(&w))
        status = trace_from_json_in_parts(&w, in->limits, &parts, t, ret_done, err);
    if (status == VRS_CORRUPT && window_status(&w, NULL) == VRS_OK)
        say_unpacked(err);
    window_free(&w);
    bool sound = u->ended && !u->cut && u->junk_bytes == 0 && u->wrong_checksums == 0;
    if (status != VRS_OK || !*ret_done || sound)
        return status;
    *ret_done = false;
    trace_free(t);
    return trace_init(t, in->limits->items, in->limits->strings_bytes) ? VRS_OK
                                                                       : vrs_no_memory(err);
}

/* From the first byte of the file on, so that whoever reads it as one has lost nothing. */
static enum vrs_status read_packed_parts(struct input *in, enum compression compression,
                                         struct trace *t, bool *ret_done, struct vrs_error *err)
{
    struct section all = { &in->counted.input, 0, UINT64_MAX };
    struct window packed;
    struct unpack u;
    uint64_t cuts = 0;
    TRY(window_init(&packed, source_of_section(&all), err));
    enum vrs_status status = unpack_init(&u, &packed, compression, in->limits, &cuts, err);
    if (status == VRS_OK) {
        status = read_unpacked_parts(in, &u, &cuts, t, ret_done, err);
        unpack_free(&u);
    }
    window_free(&packed);
    return status;
}

static enum vrs_status read_packed(struct input *in, struct window *packed,
                                   enum compression compression, struct trace *t,
                                   struct vrs_error *err)
{
    struct unpack u;
    bool done = false;
    if (in->threads > 1 && in->packed_part_bytes > 0)
        TRY(read_packed_parts(in, compression, t, &done, err));
    if (done) {
        t->is_packed = true;
        return VRS_OK;
    }
    TRY(unpack_init(&u, packed, compression, in->limits, &t->events, err));
    t->is_packed = true;
    u.lenient = true;
    enum vrs_status status = in->threads > 1 ? read_ahead(in, &u, t, err)
                                       : read_from(source_of_unpack(&u), in->limits, t, err);
    if (status == VRS_OK)
        look_at_end(&u, t);
    else
        status = say_cut(&u, t, status, err);
    unpack_free(&u);
    return status;
}

/* What the header tells of the file that this one was written from, unless it is cut itself. */
static void look_at_header(struct trace *t)
{
    if (t->header.cut_at >= 0 && t->damage[DAMAGE_TRUNCATED].count == 0)
        trace_damaged(t, DAMAGE_TRUNCATED, (uint64_t)t->header.cut_at);
    else
        t->header.cut_at = TRACE_UNKNOWN;
}

/* Where frames were recorded, what stacks stand before the first of them is left out, too. */
static void drop_stacks_beside_frames(struct trace *t)
{
    const struct spans *s = &t->spans;
    if (s->rows.len == 0 || memchr(s->kind, SPAN_PYTHON, s->rows.len) == NULL)
        return;
    t->stacks.rows.len = 0;
    strings_clear(&t->stacks.texts);
    t->header.stacks_left_out = 0;
}

static enum vrs_status read_window(struct input *in, struct window *w, struct trace *t,
                                   struct vrs_error *err)
{
    enum form form = detect_form(w);
    if (form == FORM_GZIP || form == FORM_ZSTD)
        return read_packed(in, w, form == FORM_GZIP ? COMPRESSION_GZIP : COMPRESSION_ZSTD, t, err);
    const struct trace_parts parts = { .input = &in->counted.input,
                                       .threads = in->threads,
                                       .part_bytes = in->part_bytes,
                                       .progress = tell,
                                       .progress_arg = &in->counted };
    bool in_parts = in->threads > 1 && in->part_bytes > 0 &&
                    in->part_bytes < known_or_0(in->counted.size_bytes);
    return read_unpacked(w, in->limits, in_parts ? &parts : NULL, t, err);
}

enum vrs_status read_trace(struct source input, const struct read_trace_options *options,
                           struct trace *ret, struct vrs_error *err)
{
    struct input in = {
        .limits = options->limits != NULL ? options->limits : &default_limits,
        .counted = { .input = input,
                     .size_bytes = options->size_bytes,
                     .progress = options->progress,
                     .progress_arg = options->progress_arg },
        /* A source that gives its bytes in order alone may be a caller's function. */
        .threads = input.read_at != NULL ? options->threads : 1,
        .part_bytes = options->part_bytes,
        .packed_part_bytes = options->packed_part_bytes,
    };
    struct window w;
    if (!trace_init(ret, in.limits->items, in.limits->strings_bytes)) {
        trace_free(ret);
        return vrs_no_memory(err);
    }
    enum vrs_status status = window_init(&w, source_of_counted(&in.counted), err);
    if (status == VRS_OK) {
        status = read_window(&in, &w, ret, err);
        window_free(&w);
    }
    if (status == VRS_OK) {
        drop_stacks_beside_frames(ret);
        look_at_header(ret);
    } else {
        trace_free(ret);
    }
    return status;
}
