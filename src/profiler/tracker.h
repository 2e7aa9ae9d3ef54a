/* tracker.h - samples of one device become events: growth, peaks, alerts, phases.
 *
 * Samples are given by whoever takes them, one at a time or not, and events come out in three ways:
 * they are kept in two rings (samples, and all others, so that those many never displace these
 * few), told to a listener, and wait for a reader if there is one.  Invariants: an event's index is
 * one more than that of the event before it; rows of a ring are in the order of their indices. */
#ifndef VRS_PROFILER_TRACKER_H
#define VRS_PROFILER_TRACKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "profiler/event_queue.h"
#include "profiler/ring.h"
#include "vramscope/profiler.h"
#include "vramscope/tracker.h"

/* What can be told again only after it has been left. */
enum tracker_alarm {
    ALARM_WARNING,
    ALARM_CRITICAL,
    ALARM_GROWTH,
    ALARM_FRAGMENTATION, /* as enum vrs_tracker_threshold */
    ALARMS
};

struct tracker_phase {
    uint32_t number; /* by which it is left */
    uint32_t path;
};

/* The allocator's own counters. */
enum tracker_gross {
    GROSS_ALLOCATIONS,
    GROSS_FREES,
    GROSS_ALLOCATED,
    GROSS_FREED,
    GROSS_RETRIES,
    GROSS_OOMS,
    GROSSES
};

struct tracker_options {
    uint32_t capacity;
    uint32_t device;
    uint64_t stale_ns; /* curves that are older are not read any more; 0: any age will do */
    bool samples_only; /* besides the start and the end */
    double threshold[VRS_TRACKER_THRESHOLDS];
    /* The path of a name in another path. */
    uint32_t (*path)(void *arg, uint32_t parent, uint32_t name);
    /* The listener, told with the guard held, in order; NULL: none. */
    void (*told)(void *arg, const struct vrs_event *event);
    void *arg;
};

struct tracker {
    struct tracker_options options;
    pthread_mutex_t guard; /* of all that follows */
    struct ring samples, events;
    double threshold[VRS_TRACKER_THRESHOLDS];
    bool armed[ALARMS];
    bool running, started, degraded;
    VEC(struct tracker_phase) phases; /* that are open, the last to be entered last */
    uint32_t phases_ever;
    uint64_t next_index;
    struct vrs_event last; /* the figures of the last sample */
    uint64_t allocated;    /* the last value that was known; VRS_UNKNOWN */
    uint64_t gross[GROSSES], gross_before[GROSSES];
    struct vrs_tracker_stats totals; /* those that samples add to */
    uint64_t began_ns;
    struct event_queue queue;
};

/* False: no memory, and to be freed all the same. */
bool tracker_init(struct tracker *t, const struct tracker_options *options);
void tracker_free(struct tracker *t);
/* In a child of fork: nothing runs there. */
void tracker_after_fork(struct tracker *t);

/* The next sample is the start.  False: it runs already. */
bool tracker_begin(struct tracker *t);
void tracker_end(struct tracker *t);
bool tracker_running(struct tracker *t);
/* Ignored while it does not run. */
void tracker_sample(struct tracker *t, const struct vrs_sample *sample,
                    const struct vrs_host *host);

/* An event that is no sample's: it has the figures of the last one. */
struct tracker_note {
    enum vrs_event_kind kind;
    uint32_t text, metadata; /* names */
    uint64_t unix_us;        /* when; 0: at the last sample */
};
void tracker_note(struct tracker *t, const struct tracker_note *note);
uint32_t tracker_enter(struct tracker *t, uint32_t name, const struct tracker_note *note);
void tracker_leave(struct tracker *t, uint32_t phase, const struct tracker_note *note);
void tracker_threshold(struct tracker *t, enum vrs_tracker_threshold which, double value);
void tracker_clear(struct tracker *t);

/* tracker_rows.c: what is kept. */
uint32_t tracker_most(struct tracker *t);
uint32_t tracker_events(struct tracker *t, const struct vrs_event_filter *filter, uint32_t most,
                        struct vrs_event *ret);
/* Of `count` events in their order; how many points. */
uint32_t tracker_buckets(const struct vrs_event *event, uint32_t count, uint64_t bucket_ns,
                         struct vrs_timeline_point *ret, uint32_t most);
void tracker_count(struct tracker *t, struct vrs_tracker_stats *ret);

#endif
