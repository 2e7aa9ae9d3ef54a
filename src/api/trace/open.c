/* open.c - from a path or bytes to a trace. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/file.h"
#include "api/opening.h"
#include "api/trace/trace_file.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/vec.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/read_trace.h"
#include "model/ids.h"
#include "model/trace.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

enum { PART_BYTES = 8 << 20, PACKED_PART_BYTES = 2 << 20 };

static struct vrs_trace *make(const char *path)
{
    void *trace = NULL, *name = NULL;
    size_t len = strlen(path) + 1;
    if (!vec_resize(&trace, 1, sizeof(struct vrs_trace)))
        return NULL;
    if (!vec_resize(&name, len, 1)) {
        vec_resize(&trace, 0, 0);
        return NULL;
    }
    memcpy(name, path, len);
    *(struct vrs_trace *)trace = (struct vrs_trace){ .path = name };
    return trace;
}

static void unmake(struct vrs_trace *t)
{
    void *name = t->path, *trace = t;
    vec_resize(&name, 0, 0);
    vec_resize(&trace, 0, 0);
}

/* Reading a small file takes less time than to begin a thread. */
static uint32_t threads_for(uint64_t size_bytes, uint32_t threads)
{
    enum { LEAST_BYTES = 256 * 1024 };
    bool is_large = size_bytes != UNKNOWN_U64 && size_bytes >= LEAST_BYTES;
    return is_large ? pool_threads(threads) : 1;
}

enum vrs_status open_trace(struct source source, uint64_t size_bytes, const char *path,
                           const struct vrs_open_options *o, struct vrs_trace **ret,
                           struct vrs_error *err)
{
    struct limits limits;
    TRY(limits_from(o->limits, &limits, err));
    struct read_trace_options read = { .limits = &limits,
                                       .size_bytes = size_bytes,
                                       .progress = o->progress,
                                       .progress_arg = o->progress_arg,
                                       .threads = threads_for(size_bytes, o->threads),
                                       .part_bytes = PART_BYTES,
                                       .packed_part_bytes = PACKED_PART_BYTES };
    struct vrs_trace *t = make(path);
    if (t == NULL)
        return vrs_no_memory(err);
    t->size_bytes = size_bytes;
    t->threads = read.threads;
    enum vrs_status status = read_trace(source, &read, &t->model, err);
    if (status == VRS_OK)
        *ret = t;
    else
        unmake(t);
    return status;
}

/* Where what was opened goes. */
struct opened {
    const char *path;
    struct vrs_trace **ret;
};

static enum vrs_status open_file(void *arg, struct source source, uint64_t size_bytes,
                                 const struct vrs_open_options *o, struct vrs_error *err)
{
    const struct opened *opened = arg;
    return open_trace(source, size_bytes, opened->path, o, opened->ret, err);
}

enum vrs_status vrs_open_trace(const char *path, const struct vrs_open_options *options,
                               struct vrs_trace **ret, struct vrs_error *err)
{
    struct opened opened = { path, ret };
    return open_path(path, options, open_file, &opened, err);
}

enum vrs_status vrs_open_trace_bytes(const void *bytes, size_t len, const char *name,
                                     const struct vrs_open_options *options, struct vrs_trace **ret,
                                     struct vrs_error *err)
{
    const uint8_t *at = bytes;
    struct memory_bytes memory = { .start = at, .end = len == 0 ? at : at + len };
    struct vrs_open_options o = { 0 };
    options_take(&o, sizeof o, options);
    return open_trace(source_of_memory(&memory), len, name, &o, ret, err);
}

uint64_t vrs_trace_events(const struct vrs_trace *trace)
{
    return trace->model.events;
}

uint64_t vrs_trace_read_bytes(const struct vrs_trace *trace)
{
    return trace->model.read_bytes;
}

uint64_t vrs_trace_skipped_bytes(const struct vrs_trace *trace)
{
    return trace->model.skipped_bytes;
}

uint32_t vrs_trace_damages(const struct vrs_trace *trace)
{
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < TRACE_DAMAGES; kind++)
        kinds += trace->model.damage[kind].count > 0;
    return kinds;
}

void vrs_close_trace(struct vrs_trace *trace)
{
    if (trace == NULL)
        return;
    trace_free(&trace->model);
    unmake(trace);
}
