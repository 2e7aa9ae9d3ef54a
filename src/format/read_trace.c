/* read_trace.c - the way from an input to a trace: unpack, look what it is, read. */
#include "format/read_trace.h"

#include <stddef.h>

#include "format/counted.h"
#include "format/detect.h"
#include "format/input/unpack.h"
#include "format/input/window.h"
#include "format/trace/from_json.h"
#include "model/recording.h"

static enum vrs_status refuse(struct window *w, enum form form, struct vrs_error *err)
{
    switch (form) {
    case FORM_PICKLE:
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a pickle, and no profiler trace: vramscope report reads memory snapshots");
    case FORM_HTML:
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a page, and no profiler trace: export_chrome_trace() of torch.profiler "
                        "writes one");
    case FORM_GZIP:
    case FORM_ZSTD:
        return vrs_fail(err, VRS_UNSUPPORTED, "compressed twice; unpack it once");
    case FORM_JSON:
    case FORM_OTHER:
        break;
    }
    return detect_refuse(w, err);
}

static enum vrs_status read_unpacked(struct window *w, const struct limits *limits,
                                     struct trace *t, struct vrs_error *err)
{
    enum form form = detect_form(w);
    if (form != FORM_JSON)
        return refuse(w, form, err);
    TRY(trace_from_json(w, limits, t, err));
    /* The checksums of a compressed stream are behind its last byte. */
    while (window_need(w, 1))
        w->at = w->end;
    return window_status(w, err);
}

static enum vrs_status read_packed(struct window *packed, enum compression compression,
                                   const struct limits *limits, struct trace *t,
                                   struct vrs_error *err)
{
    struct unpack u;
    struct window w;
    TRY(unpack_init(&u, packed, compression, limits, &t->events, err));
    enum vrs_status status = window_init(&w, source_of_unpack(&u), err);
    if (status == VRS_OK) {
        status = read_unpacked(&w, limits, t, err);
        window_free(&w);
    }
    unpack_free(&u);
    return status;
}

static enum vrs_status read_window(struct window *w, const struct limits *limits, struct trace *t,
                                   struct vrs_error *err)
{
    enum form form = detect_form(w);
    if (form == FORM_GZIP || form == FORM_ZSTD) {
        enum compression c = form == FORM_GZIP ? COMPRESSION_GZIP : COMPRESSION_ZSTD;
        return read_packed(w, c, limits, t, err);
    }
    return read_unpacked(w, limits, t, err);
}

enum vrs_status read_trace(struct source input, const struct read_trace_options *options,
                           struct trace *ret, struct vrs_error *err)
{
    const struct limits *limits = options->limits != NULL ? options->limits : &default_limits;
    struct counted counted = { .input = input,
                               .size_bytes = options->size_bytes,
                               .progress = options->progress,
                               .progress_arg = options->progress_arg };
    struct window w;
    if (!trace_init(ret, limits->items, limits->strings_bytes)) {
        trace_free(ret);
        return vrs_no_memory(err);
    }
    enum vrs_status status = window_init(&w, source_of_counted(&counted), err);
    if (status == VRS_OK) {
        status = read_window(&w, limits, ret, err);
        window_free(&w);
    }
    if (status != VRS_OK)
        trace_free(ret);
    return status;
}
