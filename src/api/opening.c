/* opening.c - limits, progress and interrupted waits of whoever opens a path. */
#include "api/opening.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/file.h"
#include "base/file.h"
#include "format/input/source.h"

static enum vrs_status take_u32(uint32_t *to, uint64_t wanted, uint64_t most, const char *name,
                                struct vrs_error *err)
{
    if (wanted > most)
        return vrs_fail(err, VRS_USAGE, "the limit \"%s\" cannot be above %llu", name,
                        (unsigned long long)most);
    if (wanted != 0)
        *to = (uint32_t)wanted;
    return VRS_OK;
}

enum vrs_status limits_from(const struct vrs_limits *wanted, struct limits *ret,
                                   struct vrs_error *err)
{
    struct limits l = default_limits;
    struct vrs_limits w = { 0 };
    options_take(&w, sizeof w, wanted);
    TRY(take_u32(&l.nesting, w.nesting, 1 << 16, "nesting", err));
    TRY(take_u32(&l.string_bytes, w.string_bytes, UINT32_MAX, "string", err));
    TRY(take_u32(&l.strings_bytes, w.strings_bytes, UINT32_MAX, "strings", err));
    TRY(take_u32(&l.items, w.items, (1u << 28) - 1, "items", err));
    TRY(take_u32(&l.frames, w.frames, UINT32_MAX, "frames", err));
    if (w.unpacked_bytes != 0)
        l.unpacked_bytes = w.unpacked_bytes;
    *ret = l;
    return VRS_OK;
}

/* The caller's callback, and what it was told last. */
struct told_progress {
    bool (*call)(void *arg, uint64_t done, uint64_t total);
    void *arg;
    uint64_t done, total;
};

static bool tell_progress(void *arg, uint64_t done, uint64_t total)
{
    struct told_progress *t = arg;
    t->done = done;
    t->total = total;
    return t->call(t->arg, done, total);
}

/* A signal interrupted a wait: the caller is told the same again, and may end it. */
static bool tell_again(void *arg)
{
    const struct told_progress *t = arg;
    return t->call == NULL || t->call(t->arg, t->done, t->total);
}

enum vrs_status open_path(const char *path, const struct vrs_open_options *options, opener *open,
                          void *arg, struct vrs_error *err)
{
    struct vrs_open_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct told_progress told = { .call = o.progress, .arg = o.progress_arg };
    if (o.progress != NULL) {
        o.progress = tell_progress;
        o.progress_arg = &told;
    }
    o.size = sizeof o;
    struct file file;
    TRY(file_open_for(path, (struct file_wait){ tell_again, &told }, &file, err));
    enum vrs_status status = open(arg, source_of_file(&file), file.size_bytes, &o, err);
    file_close(&file);
    return status;
}
