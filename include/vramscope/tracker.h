/* tracker.h - watch a device over time: samples become events, of which some are alerts.
 *
 * A tracker samples its device on a thread of its own (vrs_sampler), and keeps what it found in two
 * rings: the samples themselves, and all other events, which samples never displace.  Whatever it
 * computes is computed here, on the thread that took the sample.  Events can also be waited for,
 * and go into a folder of files that a killed process leaves behind.
 *
 * Calls may come from any thread, but vrs_tracker_free.  Bytes that are not known are VRS_UNKNOWN,
 * errors and options are as in profiler.h. */
#ifndef VRAMSCOPE_TRACKER_H
#define VRAMSCOPE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramscope/error.h"
#include "vramscope/profiler.h"
#include "vramscope/vramscope.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vrs_event_kind {
    VRS_EVENT_START, /* with the first sample */
    VRS_EVENT_STOP,
    VRS_EVENT_PEAK,         /* more is allocated than ever before */
    VRS_EVENT_ALLOCATION,   /* more than at the sample before */
    VRS_EVENT_DEALLOCATION, /* less */
    VRS_EVENT_WARNING,
    VRS_EVENT_CRITICAL,
    VRS_EVENT_ERROR,
    VRS_EVENT_CLEANUP,
    VRS_EVENT_SAMPLE,
    VRS_EVENT_PHASE_ENTER,
    VRS_EVENT_PHASE_EXIT,
    VRS_EVENT_DEGRADED, /* the device's counters are not read any more: for 10 s and 10 intervals */
    VRS_EVENT_RECOVERED
};
enum { VRS_EVENT_KINDS = VRS_EVENT_RECOVERED + 1 };
/* "start", "stop", "peak", …; "collector_degraded", "collector_recovered" for the last two. */
VRS_API const char *vrs_event_kind_name(enum vrs_event_kind kind);

/* What an alert is about; `value` of its event has the unit named here. */
enum vrs_alert {
    VRS_ALERT_NONE,
    VRS_ALERT_USAGE,        /* percent of the device that are allocated */
    VRS_ALERT_GROWTH,       /* bytes, in one sample */
    VRS_ALERT_FRAGMENTATION /* of what is reserved, the share that is not allocated: 0 to 1 */
};

/* Above which an alert is given, once, until the value has fallen two points below. */
enum vrs_tracker_threshold {
    VRS_WARNING_PERCENT,     /* 80: reached; points are percent */
    VRS_CRITICAL_PERCENT,    /* 95: reached; a warning is then not given besides */
    VRS_GROWTH_BYTES,        /* 100 MiB: exceeded; points are hundredths of it */
    VRS_FRAGMENTATION_RATIO, /* 0.3: exceeded; points are hundredths */
};
enum { VRS_TRACKER_THRESHOLDS = VRS_FRAGMENTATION_RATIO + 1 };

/* What the machine says of the process and of itself; VRS_UNKNOWN where it was not asked. */
struct vrs_host {
    uint64_t rss, mapped; /* bytes of the process: resident, and all that is mapped */
    uint64_t used;        /* bytes in use on the machine, without caches of files */
    uint64_t cpu_ns;      /* that the process has used of processors */
};

struct vrs_event {
    uint64_t index;         /* counts all events of the tracker, from 0 */
    uint64_t t_ns, unix_us; /* as in struct vrs_sample */
    uint64_t now[VRS_CURVES], inactive_split;
    uint64_t peak;  /* bytes allocated at most, since tracking began or was cleared */
    int64_t change; /* bytes allocated, since the sample before; INT64_MIN: not known */
    uint64_t device_used, device_total; /* of all processes together, as the driver says */
    struct vrs_host host;
    double value;      /* of an alert */
    uint32_t phase;    /* the path of the phases that are open; 0: none */
    uint32_t text;     /* name, of whoever noted the event; 0: vrs_event_text has one */
    uint32_t metadata; /* name: a JSON object; 0: none */
    uint32_t device;
    enum vrs_event_kind kind;
    enum vrs_alert alert;
};

/* What stands in an event's `context`: "WARNING: Memory usage at 81.2%".  Cut at `room`. */
VRS_API void vrs_event_text(struct vrs_meter *meter, const struct vrs_event *event, char *ret,
                            size_t room);

/* Who the process is, for records of telemetry. */
struct vrs_identity {
    const char *job;                      /* NULL: of none */
    int64_t rank, local_rank, world_size; /* negative: nobody says so */
    const char *collector;                /* NULL: "vramscope.tracker" */
    const char *backend;                  /* its name, as the metadata tell it; NULL: not told */
    const char *source;                   /* what samples are read from; NULL: not told */
};

struct vrs_tracker_options {
    size_t size;
    uint32_t backend, device;
    uint64_t interval_ns; /* 100 ms */
    uint32_t capacity;    /* events that are kept besides samples, and samples: 10,000 of each */
    double threshold[VRS_TRACKER_THRESHOLDS]; /* 0: the default; NaN: never */
    bool host;                                /* also ask the machine at each sample */
    bool process;      /* the curves are the resident bytes of the process, not a device's */
    bool samples_only; /* no events besides samples, "start" and "stop" */
    struct vrs_identity identity;
};

struct vrs_tracker;

VRS_API enum vrs_status vrs_tracker_make(struct vrs_meter *meter,
                                         const struct vrs_tracker_options *options,
                                         struct vrs_tracker **ret, struct vrs_error *err);
/* Stops it, as interrupted; no call may be in it. */
VRS_API void vrs_tracker_free(struct vrs_tracker *tracker);

/* Who the process is from now on; the texts are copied. */
VRS_API enum vrs_status vrs_tracker_identify(struct vrs_tracker *tracker,
                                             const struct vrs_identity *identity,
                                             struct vrs_error *err);

/* Begins to sample, as vrs_sampler_start does.  A second start is ignored. */
VRS_API enum vrs_status vrs_tracker_start(struct vrs_tracker *tracker, struct vrs_error *err);
/* Waits for the first sample since then, which is the event "start", a second at most. */
VRS_API void vrs_tracker_await(struct vrs_tracker *tracker);
/* Waits for the sample under way; no other is taken on a thread of the tracker. */
VRS_API void vrs_tracker_halt(struct vrs_tracker *tracker);
/* After that: the event "stop", and the end of the files. */
VRS_API void vrs_tracker_stop(struct vrs_tracker *tracker, bool interrupted);
VRS_API bool vrs_tracker_running(struct vrs_tracker *tracker);
/* One sample now, on the caller's thread, while it runs: for virtual clocks. */
VRS_API void vrs_tracker_sample(struct vrs_tracker *tracker);

/* Takes a sample and puts an event behind it, with its figures.  `text` and `metadata` are names;
 * the latter is that of a JSON object, or 0. */
VRS_API void vrs_tracker_note(struct vrs_tracker *tracker, enum vrs_event_kind kind, uint32_t text,
                              uint32_t metadata);

/* A phase inside those that are open, and the number to leave it by; phases may end in any order.
 * Where too many are open it is 0, and events go on without it. */
VRS_API uint32_t vrs_tracker_enter(struct vrs_tracker *tracker, uint32_t name, uint32_t metadata);
VRS_API void vrs_tracker_leave(struct vrs_tracker *tracker, uint32_t phase);

/* A new value arms the alert anew. */
VRS_API void vrs_tracker_threshold(struct vrs_tracker *tracker, enum vrs_tracker_threshold which,
                                   double value);
/* Forgets events, samples, totals and the peak; it goes on as it was. */
VRS_API void vrs_tracker_clear(struct vrs_tracker *tracker);

/* Which events are wanted: a sum of 1 << kind (0: all but samples), and those not before. */
struct vrs_event_filter {
    uint32_t kinds;
    uint64_t since_us; /* since 1970 */
};
/* Copies the last `most` of those that pass, in their order; how many. */
VRS_API uint32_t vrs_tracker_events(struct vrs_tracker *tracker,
                                    const struct vrs_event_filter *filter, uint32_t most,
                                    struct vrs_event *ret);
/* How many rows there can be at most for the call above. */
VRS_API uint32_t vrs_tracker_most(struct vrs_tracker *tracker);

/* The last event of each bucket that has one. */
struct vrs_timeline_point {
    uint64_t unix_us; /* of the bucket's begin; buckets are counted from the first event */
    uint64_t allocated, reserved;
};
/* The first `most` points; the number of them, or 0 where there is no memory. */
VRS_API uint32_t vrs_tracker_timeline(struct vrs_tracker *tracker, uint64_t bucket_ns,
                                      struct vrs_timeline_point *ret, uint32_t most);

/* Where it stands, in a line: "12.31 GiB of 80.00 GiB allocated, peak 13.00 GiB".  Cut. */
VRS_API void vrs_tracker_line(struct vrs_tracker *tracker, char *ret, size_t room);

struct vrs_tracker_stats {
    uint64_t peak; /* bytes allocated */
    uint64_t samples;
    /* Samples at which more, or less, was allocated than at the one before, and by how much. */
    uint64_t growth_samples, shrink_samples, growth_bytes, shrink_bytes;
    /* Real ones, by the allocator's counters, since it was started; VRS_UNKNOWN where somebody
     * reset them. */
    uint64_t allocations, frees, allocated_bytes, freed_bytes, retries, ooms;
    uint64_t alerts;                    /* warnings, critical ones and errors */
    uint64_t started_us, last_us;       /* since 1970; 0: not started */
    uint64_t duration_ns;               /* from the start to the last event */
    uint64_t events, events_last_hour;  /* that are kept, besides samples */
    uint64_t events_lost, samples_lost; /* displaced */
    uint64_t waiting, waiting_lost;     /* for vrs_tracker_take */
    struct vrs_event last;              /* sample; its bytes are unknown where there is none */
};
VRS_API void vrs_tracker_count(struct vrs_tracker *tracker, struct vrs_tracker_stats *ret);
/* That samples: for vrs_sampler_wait and what belongs to it, and for counts of its thread. */
VRS_API struct vrs_sampler *vrs_tracker_sampler(struct vrs_tracker *tracker);

/* From now on events of these kinds (a sum of 1 << kind) wait to be taken, 1,000 at most; further
 * ones are counted. */
VRS_API enum vrs_status vrs_tracker_subscribe(struct vrs_tracker *tracker, uint32_t kinds,
                                              struct vrs_error *err);
/* Waits for events, and takes `most` of them at most; 0 after `timeout_ns`, or at once when it was
 * hushed. */
VRS_API uint32_t vrs_tracker_take(struct vrs_tracker *tracker, uint32_t most, uint64_t timeout_ns,
                                  struct vrs_event *ret);
/* Whoever waits is to go, until the next subscription. */
VRS_API void vrs_tracker_hush(struct vrs_tracker *tracker);
VRS_API bool vrs_tracker_hushed(struct vrs_tracker *tracker);

/* Events as records of telemetry, version 2: all that are kept, samples too. */
enum vrs_telemetry_format { VRS_TELEMETRY_LINES, VRS_TELEMETRY_JSON, VRS_TELEMETRY_CSV };
VRS_API enum vrs_status vrs_tracker_export(struct vrs_tracker *tracker,
                                           enum vrs_telemetry_format format,
                                           const struct vrs_sink *sink, struct vrs_error *err);

/* Files of records in a folder that is there: segments, to which lines are added, and a manifest
 * that says how the run ended.  A zero is the default. */
struct vrs_track_files {
    size_t size;
    const char *folder;
    uint64_t flush_ns;     /* what waits is written after so long: 2 s */
    uint64_t roll_bytes;   /* a segment is followed by the next one: 64 MiB */
    uint32_t keep_files;   /* segments of the run: 8 */
    uint64_t keep_bytes;   /* of them: 512 MiB */
    uint64_t buffer_bytes; /* may wait: 4 MiB; further records are counted as dropped */
};
/* For the runs from the next start on, each of which has files of its own. */
VRS_API enum vrs_status vrs_tracker_files(struct vrs_tracker *tracker,
                                          const struct vrs_track_files *files,
                                          struct vrs_error *err);
struct vrs_track_files_state {
    uint64_t records, dropped, pruned; /* written, never written, removed again */
    uint64_t bytes, segments;          /* that were written */
    char run[160];                     /* the run's id; "": no files yet */
    char failure[240];                 /* the first; "": none */
};
VRS_API void vrs_tracker_files_state(struct vrs_tracker *tracker,
                                     struct vrs_track_files_state *ret);

#ifdef __cplusplus
}
#endif
#endif
