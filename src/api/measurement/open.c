/* open.c - from a path or bytes to a measurement. */
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "api/measurement/measurement_file.h"
#include "api/opening.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/read_measurement.h"
#include "model/measurement.h"
#include "vramscope/measurement.h"
#include "vramscope/vramscope.h"

static enum vrs_status read_into(struct vrs_measurement *m, struct source source, const char *path,
                                 const struct limits *limits, struct vrs_error *err)
{
    TRY(read_measurement(source, limits, &m->model, err));
    m->path = arena_copy(&m->model.text, str_from(path));
    if (m->path.ptr != NULL)
        return VRS_OK;
    measurement_free(&m->model);
    return vrs_no_memory(err);
}

enum vrs_status open_measurement(struct source source, uint64_t size_bytes, const char *path,
                                 const struct vrs_open_options *options,
                                 struct vrs_measurement **ret, struct vrs_error *err)
{
    struct limits limits;
    void *made = NULL;
    TRY(limits_from(options->limits, &limits, err));
    if (!vec_resize(&made, 1, sizeof(struct vrs_measurement)))
        return vrs_no_memory(err);
    struct vrs_measurement *m = made;
    *m = (struct vrs_measurement){ .size_bytes = size_bytes };
    enum vrs_status status = read_into(m, source, path, &limits, err);
    if (status == VRS_OK)
        *ret = m;
    else
        vec_resize(&made, 0, 0);
    return status;
}

/* Where what was opened goes. */
struct opened {
    const char *path;
    struct vrs_measurement **ret;
};

static enum vrs_status open_file(void *arg, struct source source, uint64_t size_bytes,
                                 const struct vrs_open_options *o, struct vrs_error *err)
{
    const struct opened *opened = arg;
    return open_measurement(source, size_bytes, opened->path, o, opened->ret, err);
}

enum vrs_status vrs_open_measurement(const char *path, const struct vrs_open_options *options,
                                     struct vrs_measurement **ret, struct vrs_error *err)
{
    struct opened opened = { path, ret };
    return open_path(path, options, open_file, &opened, err);
}

enum vrs_status vrs_open_measurement_bytes(const void *bytes, size_t len, const char *name,
                                           const struct vrs_open_options *options,
                                           struct vrs_measurement **ret, struct vrs_error *err)
{
    const uint8_t *at = bytes;
    struct memory_bytes memory = { .start = at, .end = len == 0 ? at : at + len };
    struct vrs_open_options o = { 0 };
    options_take(&o, sizeof o, options);
    return open_measurement(source_of_memory(&memory), len, name, &o, ret, err);
}

void vrs_close_measurement(struct vrs_measurement *measurement)
{
    void *made = measurement;
    if (measurement == NULL)
        return;
    measurement_free(&measurement->model);
    vec_resize(&made, 0, 0);
}
