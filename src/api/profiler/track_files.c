/* track_files.c - a buffer that many fill and one writes, in segments. */
#define _POSIX_C_SOURCE 200809L
#include "api/profiler/track_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/file.h"
#include "profiler/clock.h"
#include "render/write/json.h"

enum {
    MEBI = 1 << 20,
    SEGMENTS_MAX = 1 << 20,
    LINE_BYTES_MAX = 2 * MEBI,
    PATH_BYTES_MAX = 1 << 16,
    MANIFEST_BYTES_MAX = 64 * MEBI,
    WRITTEN_AT_ONCE = 64 * 1024, /* so much is written before it is due */
    RUNS_TRIED = 100,
    NAME_BYTES = 200,
    TIME_BYTES = 32,
    HOST_SHOWN = 64
};

bool track_files_init(struct track_files *f)
{
    *f = (struct track_files){ .folder = -1, .segment = -1 };
    f->kept.max = SEGMENTS_MAX;
    buf_init(&f->path, PATH_BYTES_MAX);
    buf_init(&f->line, LINE_BYTES_MAX);
    return pthread_mutex_init(&f->guard, NULL) == 0 && pthread_mutex_init(&f->writer, NULL) == 0;
}

static void close_descriptors(struct track_files *f)
{
    if (f->segment >= 0)
        close(f->segment);
    if (f->folder >= 0)
        close(f->folder);
    f->segment = f->folder = -1;
}

void track_files_free(struct track_files *f)
{
    close_descriptors(f);
    buf_free(&f->path);
    buf_free(&f->waiting);
    buf_free(&f->line);
    buf_free(&f->writing);
    vec_free(&f->kept);
    pthread_mutex_destroy(&f->guard);
    pthread_mutex_destroy(&f->writer);
}

void track_files_after_fork(struct track_files *f)
{
    pthread_mutex_init(&f->guard, NULL);
    pthread_mutex_init(&f->writer, NULL);
    close_descriptors(f);
    f->taking = false;
}

enum vrs_status track_files_take(struct track_files *f, const struct vrs_track_files *options,
                                 struct vrs_error *err)
{
    struct vrs_track_files o = { 0 };
    options_take(&o, sizeof o, options);
    pthread_mutex_lock(&f->writer);
    f->path.len = 0;
    f->path.failed = false;
    buf_str(&f->path, text_or_empty(o.folder));
    buf_char(&f->path, '\0');
    bool ok = !f->path.failed;
    o.folder = o.folder != NULL && ok ? f->path.at : NULL;
    o.flush_ns = o.flush_ns != 0 ? o.flush_ns : (uint64_t)2 * NS_PER_SECOND;
    o.roll_bytes = o.roll_bytes != 0 ? o.roll_bytes : 64 * (uint64_t)MEBI;
    o.keep_files = o.keep_files != 0 ? o.keep_files : 8;
    o.keep_bytes = o.keep_bytes != 0 ? o.keep_bytes : 512 * (uint64_t)MEBI;
    o.buffer_bytes = o.buffer_bytes != 0 ? o.buffer_bytes : 4 * (uint64_t)MEBI;
    f->options = o;
    pthread_mutex_unlock(&f->writer);
    return ok ? VRS_OK : vrs_no_memory(err);
}

/* Remembers the first failure; `what` is what was being done. */
static void failed(struct track_files *f, const char *what, int why)
{
    struct vrs_error err;
    if (f->total.failure[0] == '\0') {
        (void)vrs_fail(&err, VRS_IO, "%s: %s", what, strerror(why));
        memcpy(f->total.failure, err.message, sizeof f->total.failure);
    }
}

/* False with errno. */
static bool write_all(int file, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t wrote = write(file, bytes, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes += wrote;
        len -= (size_t)wrote;
    }
    return true;
}

/* The manifest. */

static void put_manifest(const struct track_files *f, const struct telemetry *t, const char *status,
                         struct json *j)
{
    json_object(j, NULL);
    json_text(j, "schema", "vramscope.tracking/1");
    json_text(j, "run_id", f->total.run);
    json_text(j, "status", status);
    json_i64(j, "pid", t->pid);
    json_str(j, "host", t->host);
    json_str(j, "job_id", t->job);
    json_known_i64(j, "rank", t->rank);
    json_known_i64(j, "local_rank", t->local_rank);
    json_known_i64(j, "world_size", t->world_size);
    json_str(j, "backend", t->backend);
    json_u64(j, "sampling_interval_ms", t->interval_ms);
    json_u64(j, "began_us", f->began_us);
    json_u64(j, "written_us", unix_us());
    json_u64(j, "records", f->total.records);
    json_u64(j, "dropped_records", f->total.dropped);
    json_u64(j, "pruned_records", f->total.pruned);
    json_text(j, "failure", f->total.failure[0] != '\0' ? f->total.failure : NULL);
    json_array(j, "segments");
    for (uint32_t i = 0; i < f->kept.len; i++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s.%06u.jsonl", f->total.run, f->kept.at[i].number);
        json_line_object(j, NULL);
        json_text(j, "name", name);
        json_u64(j, "records", f->kept.at[i].records);
        json_u64(j, "bytes", f->kept.at[i].bytes);
        json_close(j);
    }
    json_close(j);
    json_close(j);
    json_finish(j);
}

/* Replaces it whole. */
static bool write_manifest(struct track_files *f, const struct telemetry *t, const char *status)
{
    char name[NAME_BYTES], part[NAME_BYTES];
    struct buf text;
    struct json j;
    snprintf(name, sizeof name, "%s.manifest.json", f->total.run);
    snprintf(part, sizeof part, ".%s.manifest.part", f->total.run);
    buf_init(&text, MANIFEST_BYTES_MAX);
    json_start(&j, &text);
    put_manifest(f, t, status, &j);
    int file = openat(f->folder, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool ok = file >= 0 && !text.failed && write_all(file, text.at, text.len);
    int why = text.failed ? ENOMEM : errno;
    if (file >= 0 && close(file) != 0 && ok) {
        ok = false;
        why = errno;
    }
    buf_free(&text);
    if (ok && renameat(f->folder, part, f->folder, name) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok) {
        if (file >= 0)
            unlinkat(f->folder, part, 0);
        failed(f, "the manifest cannot be written", why);
    }
    return ok;
}

/* Segments. */

/* False with errno. */
static bool begin_segment(struct track_files *f, uint32_t number)
{
    char name[NAME_BYTES];
    if (!vec_reserve(&f->kept, 1)) {
        errno = ENOMEM;
        return false;
    }
    snprintf(name, sizeof name, "%s.%06u.jsonl", f->total.run, number);
    int made = openat(f->folder, name,
                      O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (made < 0)
        return false;
    if (f->segment >= 0)
        close(f->segment);
    f->segment = made;
    f->kept.at[f->kept.len++] = (struct track_segment){ .number = number };
    f->total.segments++;
    return true;
}

/* The oldest ones go. */
static void prune(struct track_files *f)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->kept.len; i++)
        bytes += f->kept.at[i].bytes;
    while (f->kept.len > 1 &&
           (f->kept.len > f->options.keep_files || bytes > f->options.keep_bytes)) {
        char name[NAME_BYTES];
        struct track_segment first = f->kept.at[0];
        snprintf(name, sizeof name, "%s.%06u.jsonl", f->total.run, first.number);
        if (unlinkat(f->folder, name, 0) != 0)
            failed(f, "an old segment cannot be removed", errno);
        memmove(f->kept.at, f->kept.at + 1, (f->kept.len - 1) * sizeof first);
        f->kept.len--;
        bytes -= first.bytes;
        f->total.pruned += first.records;
    }
}

static struct track_segment *last_segment(struct track_files *f)
{
    return &f->kept.at[f->kept.len - 1];
}

/* Puts what was gathered behind the last segment, or into a new one; all of it or nothing. */
static void append(struct track_files *f, const struct telemetry *t, uint64_t records)
{
    struct track_segment *last = last_segment(f);
    if (last->bytes > 0 && last->bytes + f->writing.len > f->options.roll_bytes) {
        if (begin_segment(f, last->number + 1)) {
            prune(f);
            (void)write_manifest(f, t, "running");
        } else {
            failed(f, "a new segment cannot be made", errno);
        }
        last = last_segment(f);
    }
    if (write_all(f->segment, f->writing.at, f->writing.len)) {
        last->bytes += f->writing.len;
        last->records += records;
        f->total.bytes += f->writing.len;
        f->total.records += records;
        return;
    }
    failed(f, "records cannot be written", errno);
    f->total.dropped += records;
    /* No half of a line stays before others. */
    if (ftruncate(f->segment, (off_t)last->bytes) != 0)
        failed(f, "a half of a record cannot be taken back", errno);
}

/* With the writer's lock. */
static void flush(struct track_files *f, const struct telemetry *t)
{
    pthread_mutex_lock(&f->guard);
    struct buf other = f->writing;
    uint64_t records = f->waiting_records;
    f->writing = f->waiting;
    f->waiting = other;
    f->waiting.len = 0;
    f->waiting_records = 0;
    f->total.dropped += f->dropped;
    f->dropped = 0;
    pthread_mutex_unlock(&f->guard);
    if (records > 0 && f->segment >= 0)
        append(f, t, records);
    f->writing.len = 0;
    prune(f);
    f->flushed_ns = host_ns(NULL);
}

/* A run. */

/* What no other run of this folder is called: the first segment is there afterwards.  False with
 * errno. */
static bool name_run(struct track_files *f, const struct telemetry *t)
{
    char when[TIME_BYTES], rank[TIME_BYTES] = "", more[TIME_BYTES] = "";
    struct tm parts;
    time_t now = (time_t)(f->began_us / US_PER_SECOND);
    if (gmtime_r(&now, &parts) == NULL ||
        strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &parts) == 0)
        return false;
    if (t->rank >= 0)
        snprintf(rank, sizeof rank, "-rank%lld", (long long)t->rank);
    int host = t->host.len < HOST_SHOWN ? (int)t->host.len : HOST_SHOWN;
    for (int i = 1; i <= RUNS_TRIED; i++) {
        if (i > 1)
            snprintf(more, sizeof more, "-%d", i);
        snprintf(f->total.run, sizeof f->total.run, "%s-%.*s-%lld%s%s", when, host, t->host.ptr,
                 (long long)t->pid, rank, more);
        if (begin_segment(f, 1))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

enum vrs_status track_files_open(struct track_files *f, const struct telemetry *t,
                                 struct vrs_error *err)
{
    enum vrs_status status = VRS_OK;
    if (f->options.folder == NULL)
        return VRS_OK;
    pthread_mutex_lock(&f->writer);
    close_descriptors(f);
    f->kept.len = 0;
    f->total = (struct vrs_track_files_state){ .records = 0 };
    f->owner = getpid();
    f->began_us = unix_us();
    buf_free(&f->waiting);
    buf_free(&f->writing);
    buf_init(&f->waiting, f->options.buffer_bytes);
    buf_init(&f->writing, f->options.buffer_bytes);
    f->waiting_records = f->dropped = 0;
    f->folder = open(f->options.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->folder < 0 || !name_run(f, t))
        status = vrs_fail(err, VRS_IO, "%.100s: %s", f->options.folder, strerror(errno));
    else if (!write_manifest(f, t, "running"))
        status = vrs_fail(err, VRS_IO, "%.100s: %.100s", f->options.folder, f->total.failure);
    if (status != VRS_OK)
        close_descriptors(f);
    f->flushed_ns = host_ns(NULL);
    pthread_mutex_lock(&f->guard);
    f->taking = status == VRS_OK;
    pthread_mutex_unlock(&f->guard);
    pthread_mutex_unlock(&f->writer);
    return status;
}

void track_files_put(struct track_files *f, const struct telemetry *t,
                     const struct vrs_event *event)
{
    pthread_mutex_lock(&f->guard);
    if (f->taking && f->owner == getpid()) {
        f->line.len = 0;
        f->line.failed = false;
        telemetry_json(t, event, &f->line);
        buf_char(&f->line, '\n');
        size_t before = f->waiting.len;
        if (!f->line.failed)
            buf_str(&f->waiting, buf_slice(&f->line));
        f->waiting_records += f->waiting.len > before;
        f->dropped += f->waiting.len == before;
        f->waiting.failed = false;
    }
    pthread_mutex_unlock(&f->guard);
}

void track_files_flush(struct track_files *f, const struct telemetry *t)
{
    if (f->owner != getpid())
        return;
    pthread_mutex_lock(&f->writer);
    pthread_mutex_lock(&f->guard);
    bool taking = f->taking;
    size_t waiting = f->waiting.len;
    pthread_mutex_unlock(&f->guard);
    if (taking && (waiting >= WRITTEN_AT_ONCE ||
                   host_ns(NULL) - f->flushed_ns >= f->options.flush_ns))
        flush(f, t);
    pthread_mutex_unlock(&f->writer);
}

void track_files_close(struct track_files *f, const struct telemetry *t, bool interrupted)
{
    if (f->owner != getpid())
        return;
    pthread_mutex_lock(&f->writer);
    pthread_mutex_lock(&f->guard);
    bool taking = f->taking;
    f->taking = false;
    pthread_mutex_unlock(&f->guard);
    if (taking) {
        flush(f, t);
        bool whole = f->total.dropped == 0 && f->total.failure[0] == '\0';
        const char *how = interrupted ? "interrupted" : whole ? "completed" : "incomplete";
        (void)write_manifest(f, t, how);
        close_descriptors(f);
    }
    pthread_mutex_unlock(&f->writer);
}

void track_files_state(struct track_files *f, struct vrs_track_files_state *ret)
{
    pthread_mutex_lock(&f->writer);
    *ret = f->total;
    pthread_mutex_lock(&f->guard);
    ret->dropped += f->dropped;
    pthread_mutex_unlock(&f->guard);
    pthread_mutex_unlock(&f->writer);
}
