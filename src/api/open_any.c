/* open_any.c - from a path, bytes or a stream to what lies there: a snapshot, a trace or, where it
 * is wanted, a measurement. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/file.h"
#include "api/measurement/measurement_file.h"
#include "api/opening.h"
#include "api/trace/trace_file.h"
#include "base/fail.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/peek.h"
#include "model/ids.h"
#include "vramscope/measurement.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

/* Where what was opened goes. */
struct opened_any {
    const char *path;
    struct vrs_file **file;
    struct vrs_trace **trace;
    struct vrs_measurement **measurement; /* NULL: none is wanted */
};

static enum vrs_status open_measured(const struct opened_any *to, struct source source,
                                     uint64_t size_bytes, const struct vrs_open_options *o,
                                     struct vrs_error *err)
{
    if (to->measurement == NULL)
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a measurement of a program, and neither a memory snapshot nor a profiler "
                        "trace: vramscope compare holds two of them against each other");
    return open_measurement(source, size_bytes, to->path, o, to->measurement, err);
}

static enum vrs_status open_either(void *arg, struct source source, uint64_t size_bytes,
                                   const struct vrs_open_options *o, struct vrs_error *err)
{
    const struct opened_any *to = arg;
    struct peeked peeked;
    enum peeked_kind kind;
    enum vrs_status status = peek_kind(source, &peeked, &kind, err);
    if (status == VRS_OK && kind == PEEKED_MEASUREMENT)
        status = open_measured(to, source_of_peeked(&peeked), size_bytes, o, err);
    else if (status == VRS_OK && kind == PEEKED_TRACE)
        status = open_trace(source_of_peeked(&peeked), size_bytes, to->path, o, to->trace, err);
    else if (status == VRS_OK)
        status = open_recordings(source_of_peeked(&peeked), size_bytes, to->path, o, to->file, err);
    peeked_free(&peeked);
    return status;
}

static enum vrs_status look(void *arg, struct source source, uint64_t size_bytes,
                            const struct vrs_open_options *o, struct vrs_error *err)
{
    struct peeked peeked;
    (void)size_bytes;
    (void)o;
    enum vrs_status status = peek_kind(source, &peeked, arg, err);
    peeked_free(&peeked);
    return status;
}

bool vrs_is_trace(const char *path)
{
    enum peeked_kind kind = PEEKED_OTHER;
    return strcmp(path, "-") != 0 && open_path(path, NULL, look, &kind, NULL) == VRS_OK &&
           kind == PEEKED_TRACE;
}

/* Gives out what `open_either` puts into `to`. */
static void give(const struct opened_any *to, struct vrs_file **ret_file,
                 struct vrs_trace **ret_trace)
{
    *ret_file = *to->file;
    *ret_trace = *to->trace;
}

enum vrs_status vrs_open_any(const char *path, const struct vrs_open_options *options,
                             struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                             struct vrs_error *err)
{
    struct vrs_file *file = NULL;
    struct vrs_trace *trace = NULL;
    struct opened_any to = { path, &file, &trace, NULL };
    TRY(open_path(path, options, open_either, &to, err));
    give(&to, ret_file, ret_trace);
    return VRS_OK;
}

enum vrs_status vrs_open_comparable(const char *path, const struct vrs_open_options *options,
                                    struct vrs_comparable *ret, struct vrs_error *err)
{
    struct vrs_comparable opened = { NULL, NULL, NULL };
    struct opened_any to = { path, &opened.file, &opened.trace, &opened.measurement };
    TRY(open_path(path, options, open_either, &to, err));
    *ret = opened;
    return VRS_OK;
}

void vrs_close_comparable(struct vrs_comparable *comparable)
{
    if (comparable == NULL)
        return;
    vrs_close(comparable->file);
    vrs_close_trace(comparable->trace);
    vrs_close_measurement(comparable->measurement);
    *comparable = (struct vrs_comparable){ NULL, NULL, NULL };
}

static enum vrs_status open_any_source(struct source source, uint64_t size_bytes, const char *name,
                                       const struct vrs_open_options *options,
                                       struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                       struct vrs_error *err)
{
    struct vrs_file *file = NULL;
    struct vrs_trace *trace = NULL;
    struct opened_any to = { name, &file, &trace, NULL };
    struct vrs_open_options o = { 0 };
    options_take(&o, sizeof o, options);
    TRY(open_either(&to, source, size_bytes, &o, err));
    give(&to, ret_file, ret_trace);
    return VRS_OK;
}

enum vrs_status vrs_open_any_bytes(const void *bytes, size_t len, const char *name,
                                   const struct vrs_open_options *options,
                                   struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                   struct vrs_error *err)
{
    const uint8_t *at = bytes;
    struct memory_bytes memory = { .start = at, .end = len == 0 ? at : at + len };
    return open_any_source(source_of_memory(&memory), len, name, options, ret_file, ret_trace, err);
}

enum vrs_status vrs_open_any_stream(int64_t (*read)(void *arg, void *bytes, size_t len), void *arg,
                                    const char *name, const struct vrs_open_options *options,
                                    struct vrs_file **ret_file, struct vrs_trace **ret_trace,
                                    struct vrs_error *err)
{
    struct stream stream = { read, arg };
    return open_any_source(source_of_stream(&stream), UNKNOWN_U64, name, options, ret_file,
                           ret_trace, err);
}
