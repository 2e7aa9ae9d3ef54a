/* open.c - from a path, bytes or a stream to recordings. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "allocator/replay/block_sizes.h"
#include "allocator/replay/prove.h"
#include "allocator/replay/replay.h"
#include "api/file.h"
#include "api/opening.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/read.h"
#include "format/snapshot/ahead.h"
#include "model/ids.h"
#include "model/named.h"
#include "model/pairing.h"
#include "model/recording.h"
#include "vramscope/vramscope.h"
#ifndef NDEBUG
#include "model/verify.h"
#endif

enum {
    ARENA_BYTES_MAX = 1 << 28,
    /* Smaller files are not read ahead in: the second thread's page faults take what it saves. */
    AHEAD_FILE_BYTES = 32 << 20,
    AHEAD_STRETCHES = 32, /* so many, or more, each of at most … */
    AHEAD_BYTES_MAX = 2 << 20
};

struct vrs_file {
    struct arena arena; /* this struct too */
    struct entries entries;
    struct vrs_recording *recording; /* one for each entry */
};

void options_take(void *to, size_t size, const void *from)
{
    size_t given = 0;
    if (from == NULL)
        return;
    memcpy(&given, from, sizeof given);
    memcpy(to, from, given == 0 || given > size ? size : given);
}

str text_or_empty(const char *text)
{
    return text == NULL ? S("") : str_from(text);
}

static enum vrs_status finish_recording(struct recording *r, struct vrs_error *err)
{
    TRY(pair_allocations(r, err));
    TRY(match_names(r, err));
#ifndef NDEBUG
    TRY(verify_recording(r, err));
#endif
    return VRS_OK;
}

static enum vrs_status proving_make(struct vrs_recording *v, enum vrs_replay_when when,
                                    struct arena *arena, struct vrs_error *err)
{
    uint32_t devices = v->model->devices.rows.len;
    struct proving *p = arena_array(arena, struct proving, 1);
    struct agreement *agreement = arena_array(arena, struct agreement, devices);
    if (p == NULL || agreement == NULL)
        return vrs_no_memory(err);
    for (uint32_t d = 0; d < devices; d++)
        agreement[d].refusal = REFUSED_ASKED;
    p->proof = (struct proof){ .agreement = agreement, .rounded_only = when == VRS_REPLAY_NEVER };
    p->events_max = when == VRS_REPLAY_ALWAYS ? UINT64_MAX : PROVE_EVENTS_MAX;
    p->lock = lock_make(arena);
    v->proving = p;
    return p->lock == NULL ? vrs_no_memory(err) : VRS_OK;
}

static enum vrs_status prove(const struct recording *r, struct proving *p, struct vrs_error *err)
{
    struct block_sizes *sizes = &p->proof.block_sizes;
    TRY(p->proof.rounded_only ? block_sizes_round(r, sizes, err)
                              : prove_recording(r, p->events_max, &p->proof, err));
    p->done = true;
#ifndef NDEBUG
    TRY(verify_block_sizes(r, sizes, err));
#endif
    return VRS_OK;
}

enum vrs_status recording_prove(const struct vrs_recording *recording, struct vrs_error *err)
{
    struct proving *p = recording->proving;
    enum vrs_status status = VRS_OK;
    lock_take(p->lock);
    if (!p->done)
        status = prove(recording->model, p, err);
    lock_give(p->lock);
    return status;
}

/* Pairs each entry; one that fails is failed alone. */
static enum vrs_status finish_entries(struct vrs_file *f, const char *path,
                                      const struct vrs_open_options *o, struct vrs_error *err)
{
    uint32_t count = f->entries.list.len;
    f->recording = arena_array(&f->arena, struct vrs_recording, count);
    str name = arena_copy(&f->arena, str_from(path));
    if (f->recording == NULL || name.ptr == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        struct entry *e = &f->entries.list.at[i];
        struct vrs_recording *r = &f->recording[i];
        *r = (struct vrs_recording){ .model = e->recording, .path = name, .threads = o->threads };
        /* Every entry of a page has a name, those that failed too. */
        if (e->name.len > 0) {
            r->entry = arena_copy(&f->arena, e->name);
            if (r->entry.ptr == NULL)
                return vrs_no_memory(err);
        }
        if (e->status == VRS_OK)
            e->status = finish_recording(e->recording, &e->error);
        if (e->status == VRS_OK)
            e->status = proving_make(r, o->replay, &f->arena, &e->error);
    }
    return VRS_OK;
}

/* Reading ahead pays for its thread where there is something to read. */
static struct ahead_options ahead_for(uint64_t size_bytes, uint32_t threads)
{
    if (size_bytes == UNKNOWN_U64 || size_bytes < AHEAD_FILE_BYTES || pool_threads(threads) == 1)
        return (struct ahead_options){ .stretch_bytes = 0 };
    uint64_t bytes = size_bytes / AHEAD_STRETCHES;
    return (struct ahead_options){
        .stretch_bytes = bytes < AHEAD_BYTES_MAX ? (uint32_t)bytes : AHEAD_BYTES_MAX,
        .own_thread = true,
    };
}

enum vrs_status open_recordings(struct source source, uint64_t size_bytes, const char *path,
                                const struct vrs_open_options *options, struct vrs_file **ret,
                                struct vrs_error *err)
{
    struct vrs_open_options o = { 0 };
    options_take(&o, sizeof o, options);
    struct limits limits;
    TRY(limits_from(o.limits, &limits, err));
    struct read_options read = {
        .limits = &limits,
        .size_bytes = size_bytes,
        .progress = o.progress,
        .progress_arg = o.progress_arg,
        .ahead = ahead_for(size_bytes, o.threads),
    };
    struct arena arena;
    arena_init(&arena, ARENA_BYTES_MAX);
    struct vrs_file *f = arena_take(&arena, sizeof *f);
    if (f == NULL)
        return vrs_no_memory(err);
    enum vrs_status status = read_recordings(source, &read, &f->entries, err);
    f->arena = arena;
    if (status != VRS_OK) {
        arena_free(&arena);
        return status;
    }
    status = finish_entries(f, path, &o, err);
    if (status != VRS_OK) {
        vrs_close(f);
        return status;
    }
    *ret = f;
    return VRS_OK;
}

/* Where vrs_open puts what it opened. */
struct opened {
    const char *path;
    struct vrs_file **ret;
};

static enum vrs_status open_file(void *arg, struct source source, uint64_t size_bytes,
                                 const struct vrs_open_options *options, struct vrs_error *err)
{
    const struct opened *o = arg;
    return open_recordings(source, size_bytes, o->path, options, o->ret, err);
}

enum vrs_status vrs_open(const char *path, const struct vrs_open_options *options,
                         struct vrs_file **ret, struct vrs_error *err)
{
    struct opened opened = { path, ret };
    return open_path(path, options, open_file, &opened, err);
}

enum vrs_status vrs_open_bytes(const void *bytes, size_t len, const char *name,
                               const struct vrs_open_options *options, struct vrs_file **ret,
                               struct vrs_error *err)
{
    const uint8_t *at = bytes;
    struct memory_bytes memory = { .start = at, .end = len == 0 ? at : at + len };
    return open_recordings(source_of_memory(&memory), len, name, options, ret, err);
}

enum vrs_status vrs_open_stream(int64_t (*read)(void *arg, void *bytes, size_t len), void *arg,
                                const char *name, const struct vrs_open_options *options,
                                struct vrs_file **ret, struct vrs_error *err)
{
    struct stream stream = { read, arg };
    return open_recordings(source_of_stream(&stream), UNKNOWN_U64, name, options, ret, err);
}

void vrs_close(struct vrs_file *file)
{
    if (file == NULL)
        return;
    for (uint32_t i = 0; file->recording != NULL && i < file->entries.list.len; i++) {
        struct proving *p = file->recording[i].proving;
        if (p != NULL) {
            block_sizes_free(&p->proof.block_sizes);
            lock_end(p->lock);
        }
    }
    entries_free(&file->entries);
    /* The arena holds the struct that holds the arena. */
    struct arena arena = file->arena;
    arena_free(&arena);
}

uint32_t vrs_count(const struct vrs_file *file)
{
    return file->entries.list.len;
}

enum vrs_status vrs_recording(const struct vrs_file *file, uint32_t i,
                              const struct vrs_recording **ret, struct vrs_error *err)
{
    if (i >= file->entries.list.len)
        return vrs_fail(err, VRS_USAGE, "there is no recording %u, only %u", (unsigned)i,
                        (unsigned)file->entries.list.len);
    const struct entry *e = &file->entries.list.at[i];
    if (e->status != VRS_OK) {
        if (err != NULL)
            *err = e->error;
        return e->status;
    }
    *ret = &file->recording[i];
    return VRS_OK;
}

const char *vrs_entry_name(const struct vrs_file *file, uint32_t i)
{
    if (i >= file->entries.list.len || file->recording[i].entry.ptr == NULL)
        return "";
    return file->recording[i].entry.ptr;
}
