/* tracker.c - the public calls of a tracker: samples on their way to events, waiting readers and
 * files. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/file.h"
#include "api/profiler/meter_object.h"
#include "api/profiler/track_files.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "device/host.h"
#include "profiler/clock.h"
#include "profiler/event_queue.h"
#include "profiler/names.h"
#include "profiler/ring.h"
#include "profiler/tracker.h"
#include "render/profiler/telemetry.h"
#include "render/write/out.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"
#include "vramscope/tracker.h"

enum {
    CAPACITY_DEFAULT = 10000,
    SAMPLES_KEPT_BY_SAMPLER = 1024, /* its own ring; the tracker has another */
    IDENTITY_BYTES_MAX = 1 << 16,
    HOST_BYTES = 256,
    FIRST_SAMPLE_SECONDS = 1, /* that a start waits for it at most */
    EXPORTED_MOST = 1 << 25,
    NS_PER_MS = 1000000
};

/* Curves that a thread of the program's has to read may be some intervals old, where it is busy. */
enum { STALE_INTERVALS = 10 };
#define STALE_LEAST_NS (UINT64_C(10) * 1000 * NS_PER_MS)

#define INTERVAL_DEFAULT_NS (UINT64_C(100) * NS_PER_MS)

struct vrs_tracker {
    struct tracker tracker;
    struct vrs_meter *meter;
    struct vrs_sampler *sampler;
    struct telemetry telemetry;
    struct buf identity; /* the texts of it, each ended by a NUL */
    char host_name[HOST_BYTES];
    struct track_files files;
    pthread_mutex_t control; /* of starts and stops */
    pthread_mutex_t guard;   /* of what follows */
    pthread_cond_t first;    /* sample since the last start; by CLOCK_MONOTONIC */
    bool any;
    bool host, process; /* as asked for */
};

static bool locks_init(struct vrs_tracker *t)
{
    return pthread_mutex_init(&t->control, NULL) == 0 &&
           pthread_mutex_init(&t->guard, NULL) == 0 && timed_cond_init(&t->first);
}

static void renew(void *object)
{
    struct vrs_tracker *t = object;
    tracker_after_fork(&t->tracker);
    track_files_after_fork(&t->files);
    (void)locks_init(t);
    t->telemetry.pid = (int64_t)getpid();
}

static uint32_t path_in(void *arg, uint32_t parent, uint32_t name)
{
    const struct vrs_tracker *t = arg;
    return names_path(&t->meter->names, parent, name);
}

static void told(void *arg, const struct vrs_event *event)
{
    struct vrs_tracker *t = arg;
    /* The form cannot say that nothing was read; a sample that says nothing else is left out. */
    if (event->kind == VRS_EVENT_SAMPLE && event->now[VRS_ALLOCATED] == VRS_UNKNOWN)
        return;
    track_files_put(&t->files, &t->telemetry, event);
}

/* The process stands for a device: what is resident is what is allocated. */
static struct vrs_sample of_process(const struct vrs_sample *sample, const struct vrs_host *host)
{
    struct vrs_sample s = *sample;
    for (uint32_t i = 0; i < VRS_CURVES; i++)
        s.now[i] = VRS_UNKNOWN;
    s.now[VRS_ALLOCATED] = s.now[VRS_RESERVED] = host->rss;
    s.inactive_split = s.peak = s.device_used = s.device_total = VRS_UNKNOWN;
    s.retries = s.ooms = VRS_UNKNOWN;
    s.allocated_bytes = s.freed_bytes = s.allocations = s.frees = VRS_UNKNOWN;
    return s;
}

static void sampled(void *arg, const struct vrs_sample *sample)
{
    struct vrs_tracker *t = arg;
    struct vrs_host host = { sample->rss, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN };
    if (t->host || t->process) {
        struct host_reading read;
        host_read(&read);
        host = (struct vrs_host){ read.rss, read.mapped, read.used, read.cpu_ns };
    }
    if (t->process) {
        struct vrs_sample s = of_process(sample, &host);
        tracker_sample(&t->tracker, &s, &host);
    } else {
        tracker_sample(&t->tracker, sample, &host);
    }
    pthread_mutex_lock(&t->guard);
    t->any = true;
    pthread_cond_broadcast(&t->first);
    pthread_mutex_unlock(&t->guard);
}

static void rested(void *arg)
{
    struct vrs_tracker *t = arg;
    track_files_flush(&t->files, &t->telemetry);
}

void vrs_tracker_sample(struct vrs_tracker *tracker)
{
    if (tracker_running(&tracker->tracker))
        vrs_sampler_now(tracker->sampler);
}

struct vrs_sampler *vrs_tracker_sampler(struct vrs_tracker *tracker)
{
    return tracker->sampler;
}

/* Making one. */

/* A copy of the text, by its place in what has been copied. */
static size_t keep_text(struct buf *kept, const char *text)
{
    size_t at = kept->len;
    buf_str(kept, text_or_empty(text));
    buf_char(kept, '\0');
    return at;
}

static str kept_text(const struct buf *kept, size_t at, const char *given)
{
    return given != NULL ? str_from(kept->at + at) : (str){ NULL, 0 };
}

static bool identify(struct vrs_tracker *t, const struct vrs_identity *who)
{
    const char *collector = who->collector != NULL ? who->collector : "vramscope.tracker";
    struct buf kept;
    buf_init(&kept, IDENTITY_BYTES_MAX);
    size_t job = keep_text(&kept, who->job), by = keep_text(&kept, collector);
    size_t backend = keep_text(&kept, who->backend), source = keep_text(&kept, who->source);
    if (kept.failed) {
        buf_free(&kept);
        return false;
    }
    buf_free(&t->identity);
    t->identity = kept;
    struct telemetry *x = &t->telemetry;
    x->job = kept_text(&kept, job, who->job);
    x->collector = kept_text(&kept, by, collector);
    x->backend = kept_text(&kept, backend, who->backend);
    x->source = kept_text(&kept, source, who->source);
    x->rank = who->rank;
    x->local_rank = who->local_rank;
    x->world_size = who->world_size;
    return true;
}

enum vrs_status vrs_tracker_identify(struct vrs_tracker *tracker,
                                     const struct vrs_identity *identity, struct vrs_error *err)
{
    enum vrs_status status = VRS_OK;
    pthread_mutex_lock(&tracker->control);
    if (tracker_running(&tracker->tracker))
        status = vrs_fail(err, VRS_USAGE, "who it is is said before a tracker is started");
    else if (!identify(tracker, identity))
        status = vrs_no_memory(err);
    pthread_mutex_unlock(&tracker->control);
    return status;
}

static bool begin(struct vrs_tracker *t, const struct vrs_tracker_options *o)
{
    struct tracker_options options = {
        .capacity = o->capacity != 0 ? o->capacity : CAPACITY_DEFAULT,
        .device = o->device,
        .stale_ns = o->interval_ns * STALE_INTERVALS > STALE_LEAST_NS
                        ? o->interval_ns * STALE_INTERVALS
                        : STALE_LEAST_NS,
        .samples_only = o->samples_only,
        .path = path_in,
        .told = told,
        .arg = t,
    };
    if (options.capacity > RING_MOST)
        options.capacity = RING_MOST;
    memcpy(options.threshold, o->threshold, sizeof options.threshold);
    t->host = o->host;
    t->process = o->process;
    if (gethostname(t->host_name, sizeof t->host_name - 1) != 0 || t->host_name[0] == '\0')
        memcpy(t->host_name, "unknown", sizeof "unknown");
    t->telemetry = (struct telemetry){
        .names = &t->meter->names,
        .host = str_from(t->host_name),
        .pid = (int64_t)getpid(),
        .interval_ms = (o->interval_ns + NS_PER_MS / 2) / NS_PER_MS,
        .process = o->process,
    };
    bool ok = tracker_init(&t->tracker, &options);
    ok = track_files_init(&t->files) && ok;
    ok = locks_init(t) && ok;
    return identify(t, &o->identity) && ok;
}

enum vrs_status vrs_tracker_make(struct vrs_meter *meter,
                                 const struct vrs_tracker_options *options,
                                 struct vrs_tracker **ret, struct vrs_error *err)
{
    struct vrs_tracker_options o = { .identity = { NULL, -1, -1, -1, NULL, NULL, NULL } };
    options_take(&o, sizeof o, options);
    if (o.interval_ns == 0)
        o.interval_ns = INTERVAL_DEFAULT_NS;
    struct vrs_tracker *t = NULL;
    if (!vec_resize((void **)&t, 1, sizeof *t))
        return vrs_no_memory(err);
    *t = (struct vrs_tracker){ .meter = meter };
    enum vrs_status status = begin(t, &o) ? VRS_OK : vrs_no_memory(err);
    if (status == VRS_OK) {
        struct vrs_sampler_options sampling = {
            .size = sizeof sampling,
            .backend = o.backend,
            .device = o.device,
            .interval_ns = o.interval_ns,
            .capacity = SAMPLES_KEPT_BY_SAMPLER,
            .sampled = sampled,
            .rested = rested,
            .arg = t,
        };
        status = vrs_sampler_make(meter, &sampling, &t->sampler, err);
    }
    if (status == VRS_OK && !meter_object_add(meter, (struct forked){ renew, t }))
        status = vrs_no_memory(err);
    if (status == VRS_OK)
        *ret = t;
    else
        vrs_tracker_free(t);
    return status;
}

void vrs_tracker_free(struct vrs_tracker *tracker)
{
    if (tracker == NULL)
        return;
    vrs_tracker_halt(tracker);
    vrs_tracker_stop(tracker, true);
    meter_object_remove(tracker->meter, tracker);
    vrs_sampler_free(tracker->sampler);
    tracker_free(&tracker->tracker);
    track_files_free(&tracker->files);
    buf_free(&tracker->identity);
    pthread_cond_destroy(&tracker->first);
    pthread_mutex_destroy(&tracker->control);
    pthread_mutex_destroy(&tracker->guard);
    vec_resize((void **)&tracker, 0, 0);
}

/* Running. */

void vrs_tracker_await(struct vrs_tracker *tracker)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += FIRST_SAMPLE_SECONDS;
    bool late = !tracker_running(&tracker->tracker);
    pthread_mutex_lock(&tracker->guard);
    while (!tracker->any && !late)
        late = pthread_cond_timedwait(&tracker->first, &tracker->guard, &until) == ETIMEDOUT;
    pthread_mutex_unlock(&tracker->guard);
}

static enum vrs_status start(struct vrs_tracker *t, struct vrs_error *err)
{
    TRY(track_files_open(&t->files, &t->telemetry, err));
    pthread_mutex_lock(&t->guard);
    t->any = false;
    pthread_mutex_unlock(&t->guard);
    tracker_begin(&t->tracker);
    enum vrs_status status = vrs_sampler_start(t->sampler, err);
    if (status != VRS_OK) {
        tracker_end(&t->tracker);
        track_files_close(&t->files, &t->telemetry, true);
    }
    return status;
}

enum vrs_status vrs_tracker_start(struct vrs_tracker *tracker, struct vrs_error *err)
{
    pthread_mutex_lock(&tracker->control);
    enum vrs_status status =
        tracker_running(&tracker->tracker) ? VRS_OK : start(tracker, err);
    pthread_mutex_unlock(&tracker->control);
    return status;
}

void vrs_tracker_halt(struct vrs_tracker *tracker)
{
    pthread_mutex_lock(&tracker->control);
    if (tracker->sampler != NULL)
        vrs_sampler_stop(tracker->sampler);
    pthread_mutex_unlock(&tracker->control);
}

void vrs_tracker_stop(struct vrs_tracker *tracker, bool interrupted)
{
    pthread_mutex_lock(&tracker->control);
    tracker_end(&tracker->tracker);
    track_files_close(&tracker->files, &tracker->telemetry, interrupted);
    pthread_mutex_unlock(&tracker->control);
}

bool vrs_tracker_running(struct vrs_tracker *tracker)
{
    return tracker_running(&tracker->tracker);
}

/* What is noted while nothing is sampled has the clock's time. */
static struct tracker_note note_of(struct vrs_tracker *t, enum vrs_event_kind kind, uint32_t text,
                                   uint32_t metadata)
{
    struct tracker_note n = { .kind = kind, .text = text, .metadata = metadata };
    if (!tracker_running(&t->tracker))
        n.unix_us = unix_us();
    return n;
}

void vrs_tracker_note(struct vrs_tracker *tracker, enum vrs_event_kind kind, uint32_t text,
                      uint32_t metadata)
{
    vrs_tracker_sample(tracker);
    struct tracker_note n = note_of(tracker, kind, text, metadata);
    tracker_note(&tracker->tracker, &n);
}

uint32_t vrs_tracker_enter(struct vrs_tracker *tracker, uint32_t name, uint32_t metadata)
{
    vrs_tracker_sample(tracker);
    struct tracker_note n = note_of(tracker, VRS_EVENT_PHASE_ENTER, 0, metadata);
    return tracker_enter(&tracker->tracker, name, &n);
}

void vrs_tracker_leave(struct vrs_tracker *tracker, uint32_t phase)
{
    if (phase == 0)
        return;
    vrs_tracker_sample(tracker);
    struct tracker_note n = note_of(tracker, VRS_EVENT_PHASE_EXIT, 0, 0);
    tracker_leave(&tracker->tracker, phase, &n);
}

void vrs_tracker_threshold(struct vrs_tracker *tracker, enum vrs_tracker_threshold which,
                           double value)
{
    tracker_threshold(&tracker->tracker, which, value);
}

void vrs_tracker_clear(struct vrs_tracker *tracker)
{
    tracker_clear(&tracker->tracker);
}

/* Reading. */

const char *vrs_event_kind_name(enum vrs_event_kind kind)
{
    static const char *const names[VRS_EVENT_KINDS] = {
        "start",   "stop",        "peak",       "allocation",         "deallocation",
        "warning", "critical",    "error",      "cleanup",            "sample",
        "phase_enter", "phase_exit", "collector_degraded", "collector_recovered",
    };
    return (unsigned)kind < VRS_EVENT_KINDS ? names[kind] : "error";
}

/* As much as there is room for; frees the text. */
static void hand_out(struct buf *text, char *ret, size_t room)
{
    size_t len = text->len < room ? text->len : room - 1;
    if (len > 0)
        memcpy(ret, text->at, len);
    ret[len] = '\0';
    buf_free(text);
}

void vrs_event_text(struct vrs_meter *meter, const struct vrs_event *event, char *ret, size_t room)
{
    struct buf text;
    if (room == 0)
        return;
    buf_init(&text, IDENTITY_BYTES_MAX);
    telemetry_text(&meter->names, event, &text);
    hand_out(&text, ret, room);
}

void vrs_tracker_line(struct vrs_tracker *tracker, char *ret, size_t room)
{
    struct vrs_tracker_stats s;
    struct buf text;
    if (room == 0)
        return;
    tracker_count(&tracker->tracker, &s);
    buf_init(&text, IDENTITY_BYTES_MAX);
    telemetry_line(&s, &text);
    hand_out(&text, ret, room);
}

uint32_t vrs_tracker_most(struct vrs_tracker *tracker)
{
    return tracker_most(&tracker->tracker);
}

uint32_t vrs_tracker_events(struct vrs_tracker *tracker, const struct vrs_event_filter *filter,
                            uint32_t most, struct vrs_event *ret)
{
    return tracker_events(&tracker->tracker, filter, most, ret);
}

/* All events that are kept, samples too: to be freed with vec_free.  False: no memory. */
typedef VEC(struct vrs_event) event_rows;

static bool take_all(struct vrs_tracker *t, event_rows *ret)
{
    static const struct vrs_event_filter all = { .kinds = UINT32_MAX };
    *ret = (event_rows){ .max = EXPORTED_MOST };
    uint32_t most = tracker_most(&t->tracker);
    if (!vec_reserve(ret, most))
        return false;
    ret->len = tracker_events(&t->tracker, &all, most, ret->at);
    return true;
}

uint32_t vrs_tracker_timeline(struct vrs_tracker *tracker, uint64_t bucket_ns,
                              struct vrs_timeline_point *ret, uint32_t most)
{
    event_rows rows;
    uint32_t points = 0;
    if (take_all(tracker, &rows))
        points = tracker_buckets(rows.at, rows.len, bucket_ns != 0 ? bucket_ns : 1, ret, most);
    vec_free(&rows);
    return points;
}

void vrs_tracker_count(struct vrs_tracker *tracker, struct vrs_tracker_stats *ret)
{
    tracker_count(&tracker->tracker, ret);
}

/* Waiting. */

enum vrs_status vrs_tracker_subscribe(struct vrs_tracker *tracker, uint32_t kinds,
                                      struct vrs_error *err)
{
    return event_queue_want(&tracker->tracker.queue, kinds) ? VRS_OK : vrs_no_memory(err);
}

uint32_t vrs_tracker_take(struct vrs_tracker *tracker, uint32_t most, uint64_t timeout_ns,
                          struct vrs_event *ret)
{
    return event_queue_take(&tracker->tracker.queue, most, timeout_ns, ret);
}

void vrs_tracker_hush(struct vrs_tracker *tracker)
{
    event_queue_hush(&tracker->tracker.queue);
}

bool vrs_tracker_hushed(struct vrs_tracker *tracker)
{
    return event_queue_hushed(&tracker->tracker.queue);
}

/* Files. */

enum vrs_status vrs_tracker_files(struct vrs_tracker *tracker, const struct vrs_track_files *files,
                                  struct vrs_error *err)
{
    enum vrs_status status;
    pthread_mutex_lock(&tracker->control);
    if (tracker_running(&tracker->tracker))
        status = vrs_fail(err, VRS_USAGE, "files are given before a tracker is started");
    else
        status = track_files_take(&tracker->files, files, err);
    pthread_mutex_unlock(&tracker->control);
    return status;
}

void vrs_tracker_files_state(struct vrs_tracker *tracker, struct vrs_track_files_state *ret)
{
    track_files_state(&tracker->files, ret);
}

static void put_records(const struct telemetry *t, const event_rows *rows,
                        enum vrs_telemetry_format format, struct out *out)
{
    if (format == VRS_TELEMETRY_CSV)
        telemetry_csv_head(&out->text);
    else if (format == VRS_TELEMETRY_JSON)
        buf_text(&out->text, "[");
    bool first = true;
    for (uint32_t i = 0; i < rows->len && !out->refused; i++) {
        const struct vrs_event *e = &rows->at[i];
        if (e->kind == VRS_EVENT_SAMPLE && e->now[VRS_ALLOCATED] == VRS_UNKNOWN)
            continue;
        if (format == VRS_TELEMETRY_CSV) {
            telemetry_csv(t, e, &out->text);
        } else {
            if (format == VRS_TELEMETRY_JSON)
                buf_text(&out->text, first ? "\n" : ",\n");
            telemetry_json(t, e, &out->text);
            if (format == VRS_TELEMETRY_LINES)
                buf_char(&out->text, '\n');
        }
        first = false;
        out_flush(out, OUT_ENOUGH);
    }
    if (format == VRS_TELEMETRY_JSON)
        buf_text(&out->text, first ? "]\n" : "\n]\n");
}

enum vrs_status vrs_tracker_export(struct vrs_tracker *tracker, enum vrs_telemetry_format format,
                                   const struct vrs_sink *sink, struct vrs_error *err)
{
    event_rows rows;
    if (!take_all(tracker, &rows)) {
        vec_free(&rows);
        return vrs_no_memory(err);
    }
    struct out out = { .write = sink->write, .arg = sink->arg };
    buf_init(&out.text, SIZE_MAX);
    pthread_mutex_lock(&tracker->control); /* who it is does not change meanwhile */
    put_records(&tracker->telemetry, &rows, format, &out);
    pthread_mutex_unlock(&tracker->control);
    vec_free(&rows);
    return out_finish(&out, VRS_OK, err);
}
