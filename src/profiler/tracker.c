/* tracker.c - each sample is compared with the one before it and with the thresholds. */
#include "profiler/tracker.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { PHASES_OPEN_MAX = 4096 };

static const double threshold_default[VRS_TRACKER_THRESHOLDS] = {
    [VRS_WARNING_PERCENT] = 80,
    [VRS_CRITICAL_PERCENT] = 95,
    [VRS_GROWTH_BYTES] = 100.0 * (1 << 20),
    [VRS_FRAGMENTATION_RATIO] = 0.3,
};

/* Figures of which none is known. */
static struct vrs_event nothing(uint32_t device)
{
    struct vrs_event e = {
        .inactive_split = VRS_UNKNOWN,
        .peak = VRS_UNKNOWN,
        .change = INT64_MIN,
        .device_used = VRS_UNKNOWN,
        .device_total = VRS_UNKNOWN,
        .host = { VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN },
        .device = device,
        .kind = VRS_EVENT_SAMPLE,
    };
    for (uint32_t i = 0; i < VRS_CURVES; i++)
        e.now[i] = VRS_UNKNOWN;
    return e;
}

static void forget(struct tracker *t)
{
    t->totals = (struct vrs_tracker_stats){ .peak = VRS_UNKNOWN,
                                            .started_us = t->totals.started_us };
    for (uint32_t i = 0; i < GROSSES; i++)
        t->gross[i] = 0;
}

bool tracker_init(struct tracker *t, const struct tracker_options *options)
{
    *t = (struct tracker){ .options = *options, .allocated = VRS_UNKNOWN };
    t->phases.max = PHASES_OPEN_MAX;
    for (uint32_t i = 0; i < VRS_TRACKER_THRESHOLDS; i++) {
        double asked = options->threshold[i];
        t->threshold[i] = asked != 0 ? asked : threshold_default[i];
        t->armed[i] = true;
    }
    for (uint32_t i = 0; i < GROSSES; i++)
        t->gross_before[i] = VRS_UNKNOWN;
    t->last = nothing(options->device);
    forget(t);
    return pthread_mutex_init(&t->guard, NULL) == 0 && event_queue_init(&t->queue) &&
           ring_init(&t->samples, sizeof(struct vrs_event), options->capacity) &&
           ring_init(&t->events, sizeof(struct vrs_event), options->capacity);
}

void tracker_free(struct tracker *t)
{
    vec_free(&t->phases);
    ring_free(&t->samples);
    ring_free(&t->events);
    event_queue_free(&t->queue);
    pthread_mutex_destroy(&t->guard);
}

void tracker_after_fork(struct tracker *t)
{
    pthread_mutex_init(&t->guard, NULL);
    ring_after_fork(&t->samples);
    ring_after_fork(&t->events);
    event_queue_after_fork(&t->queue);
    t->running = false;
}

/* With the guard held.  Numbers the event and hands it on. */
static void add(struct tracker *t, struct vrs_event *e)
{
    const uint32_t of_samples =
        1u << VRS_EVENT_SAMPLE | 1u << VRS_EVENT_START | 1u << VRS_EVENT_STOP;
    if (t->options.samples_only && (of_samples & 1u << e->kind) == 0)
        return;
    e->index = t->next_index++;
    e->phase = t->phases.len > 0 ? t->phases.at[t->phases.len - 1].path : 0;
    ring_add(e->kind == VRS_EVENT_SAMPLE ? &t->samples : &t->events, e);
    t->totals.alerts += e->kind == VRS_EVENT_WARNING || e->kind == VRS_EVENT_CRITICAL ||
                        e->kind == VRS_EVENT_ERROR;
    if (t->options.told != NULL)
        t->options.told(t->options.arg, e);
    event_queue_put(&t->queue, e);
}

static void add_kind(struct tracker *t, const struct vrs_event *figures, enum vrs_event_kind kind)
{
    struct vrs_event e = *figures;
    e.kind = kind;
    add(t, &e);
}

static void add_alert(struct tracker *t, const struct vrs_event *figures, enum vrs_event_kind kind,
                      enum vrs_alert alert, double value)
{
    struct vrs_event e = *figures;
    e.kind = kind;
    e.alert = alert;
    e.value = value;
    add(t, &e);
}

/* Whether the alarm goes off, which it does once until a value lies two points `below`. */
static bool goes_off(struct tracker *t, enum tracker_alarm alarm, bool above, bool below)
{
    if (below)
        t->armed[alarm] = true;
    if (!above || !t->armed[alarm])
        return false;
    t->armed[alarm] = false;
    return true;
}

/* In percent, multiplied first: 80 of 100 bytes are 80, and not a little more or less. */
static double percent_of(uint64_t part, uint64_t whole)
{
    return (double)part * 100 / (double)whole;
}

static void judge_usage(struct tracker *t, const struct vrs_event *e)
{
    double warning = t->threshold[ALARM_WARNING], critical = t->threshold[ALARM_CRITICAL];
    if (e->device_total == VRS_UNKNOWN || e->device_total == 0)
        return;
    double percent = percent_of(e->now[VRS_ALLOCATED], e->device_total);
    bool warns = goes_off(t, ALARM_WARNING, percent >= warning, percent <= warning - 2);
    if (percent >= critical) {
        t->armed[ALARM_WARNING] = false;
        warns = false;
    }
    if (goes_off(t, ALARM_CRITICAL, percent >= critical, percent <= critical - 2))
        add_alert(t, e, VRS_EVENT_CRITICAL, VRS_ALERT_USAGE, percent);
    else if (warns)
        add_alert(t, e, VRS_EVENT_WARNING, VRS_ALERT_USAGE, percent);
}

static void judge_growth(struct tracker *t, const struct vrs_event *e)
{
    double most = t->threshold[ALARM_GROWTH], grown = (double)e->change;
    if (e->change == INT64_MIN)
        return;
    if (goes_off(t, ALARM_GROWTH, grown > most, grown * 100 <= most * 98))
        add_alert(t, e, VRS_EVENT_WARNING, VRS_ALERT_GROWTH, grown);
}

static void judge_fragmentation(struct tracker *t, const struct vrs_event *e)
{
    uint64_t allocated = e->now[VRS_ALLOCATED], reserved = e->now[VRS_RESERVED];
    double most = t->threshold[ALARM_FRAGMENTATION];
    if (reserved == VRS_UNKNOWN || reserved == 0 || allocated > reserved)
        return;
    double ratio = (double)(reserved - allocated) / (double)reserved;
    bool below = percent_of(reserved - allocated, reserved) <= most * 100 - 2;
    if (goes_off(t, ALARM_FRAGMENTATION, ratio > most, below))
        add_alert(t, e, VRS_EVENT_WARNING, VRS_ALERT_FRAGMENTATION, ratio);
}

/* Growth and peak, by the value that was known before. */
static void compare(struct tracker *t, struct vrs_event *e, uint64_t between)
{
    uint64_t now = e->now[VRS_ALLOCATED];
    if (t->allocated != VRS_UNKNOWN)
        e->change = (int64_t)(now - t->allocated);
    t->allocated = now;
    if (e->change != INT64_MIN && e->change > 0) {
        t->totals.growth_samples++;
        t->totals.growth_bytes += (uint64_t)e->change;
    } else if (e->change != INT64_MIN && e->change < 0) {
        t->totals.shrink_samples++;
        t->totals.shrink_bytes += (uint64_t)-e->change;
    }
    e->peak = between != VRS_UNKNOWN && between > now ? between : now;
    if (t->totals.peak != VRS_UNKNOWN && e->peak < t->totals.peak)
        e->peak = t->totals.peak;
}

/* The allocator's counters since the last sample; once somebody has reset one it is not known. */
static void count_gross(struct tracker *t, const struct vrs_sample *s)
{
    const uint64_t now[GROSSES] = {
        [GROSS_ALLOCATIONS] = s->allocations, [GROSS_FREES] = s->frees,
        [GROSS_ALLOCATED] = s->allocated_bytes, [GROSS_FREED] = s->freed_bytes,
        [GROSS_RETRIES] = s->retries, [GROSS_OOMS] = s->ooms,
    };
    for (uint32_t i = 0; i < GROSSES; i++) {
        uint64_t before = t->gross_before[i];
        if (now[i] == VRS_UNKNOWN)
            continue;
        if (before != VRS_UNKNOWN && now[i] < before)
            t->gross[i] = VRS_UNKNOWN;
        else if (before != VRS_UNKNOWN && t->gross[i] != VRS_UNKNOWN)
            t->gross[i] += now[i] - before;
        t->gross_before[i] = now[i];
    }
}

static struct vrs_event event_of(const struct vrs_sample *s, const struct vrs_host *host)
{
    struct vrs_event e = {
        .t_ns = s->t_ns,
        .unix_us = s->unix_us,
        .inactive_split = s->inactive_split,
        .peak = VRS_UNKNOWN,
        .change = INT64_MIN,
        .device_used = s->device_used,
        .device_total = s->device_total,
        .host = *host,
        .device = s->device,
        .kind = VRS_EVENT_SAMPLE,
    };
    memcpy(e.now, s->now, sizeof e.now);
    return e;
}

/* The counters can, or can not, be read any more. */
static void notice_state(struct tracker *t, const struct vrs_event *e, uint64_t age_ns)
{
    bool stale = t->options.stale_ns != 0 && age_ns != VRS_UNKNOWN && age_ns > t->options.stale_ns;
    bool degraded = stale || e->now[VRS_ALLOCATED] == VRS_UNKNOWN;
    if (degraded != t->degraded)
        add_kind(t, e, degraded ? VRS_EVENT_DEGRADED : VRS_EVENT_RECOVERED);
    t->degraded = degraded;
}

void tracker_sample(struct tracker *t, const struct vrs_sample *sample,
                    const struct vrs_host *host)
{
    struct vrs_event e = event_of(sample, host);
    pthread_mutex_lock(&t->guard);
    if (t->running) {
        uint64_t before = t->totals.peak;
        bool first = !t->started;
        bool known = e.now[VRS_ALLOCATED] != VRS_UNKNOWN;
        if (first) {
            t->started = true;
            t->began_ns = e.t_ns;
            t->totals.started_us = e.unix_us;
            t->allocated = VRS_UNKNOWN; /* what came before is not what was tracked */
        }
        if (known)
            compare(t, &e, first ? VRS_UNKNOWN : sample->peak);
        else
            e.peak = before;
        count_gross(t, sample);
        t->totals.samples++;
        t->totals.peak = e.peak;
        t->last = e;
        add_kind(t, &e, first ? VRS_EVENT_START : VRS_EVENT_SAMPLE);
        notice_state(t, &e, sample->age_ns);
        if (known) {
            if (before != VRS_UNKNOWN && e.peak > before)
                add_kind(t, &e, VRS_EVENT_PEAK);
            if (e.change != INT64_MIN && e.change != 0)
                add_kind(t, &e, e.change > 0 ? VRS_EVENT_ALLOCATION : VRS_EVENT_DEALLOCATION);
            judge_usage(t, &e);
            judge_growth(t, &e);
            judge_fragmentation(t, &e);
        }
    }
    pthread_mutex_unlock(&t->guard);
}

bool tracker_begin(struct tracker *t)
{
    pthread_mutex_lock(&t->guard);
    bool began = !t->running;
    if (began) {
        t->running = true;
        t->started = t->degraded = false;
        for (uint32_t i = 0; i < GROSSES; i++)
            t->gross_before[i] = VRS_UNKNOWN;
    }
    pthread_mutex_unlock(&t->guard);
    return began;
}

/* With the guard held.  An event between samples has the figures of the last one. */
static void note(struct tracker *t, const struct tracker_note *n)
{
    struct vrs_event e = t->last;
    e.kind = n->kind;
    e.change = e.now[VRS_ALLOCATED] == VRS_UNKNOWN ? INT64_MIN : 0;
    e.text = n->text;
    e.metadata = n->metadata;
    if (n->unix_us != 0)
        e.unix_us = n->unix_us;
    add(t, &e);
}

void tracker_end(struct tracker *t)
{
    pthread_mutex_lock(&t->guard);
    if (t->running)
        note(t, &(struct tracker_note){ .kind = VRS_EVENT_STOP });
    t->running = false;
    pthread_mutex_unlock(&t->guard);
}

bool tracker_running(struct tracker *t)
{
    pthread_mutex_lock(&t->guard);
    bool running = t->running;
    pthread_mutex_unlock(&t->guard);
    return running;
}

void tracker_note(struct tracker *t, const struct tracker_note *n)
{
    pthread_mutex_lock(&t->guard);
    note(t, n);
    pthread_mutex_unlock(&t->guard);
}

uint32_t tracker_enter(struct tracker *t, uint32_t name, const struct tracker_note *n)
{
    pthread_mutex_lock(&t->guard);
    uint32_t outer = t->phases.len > 0 ? t->phases.at[t->phases.len - 1].path : 0;
    struct tracker_phase made = { .number = t->phases_ever + 1,
                                  .path = t->options.path(t->options.arg, outer, name) };
    bool ok = vec_push(&t->phases, made);
    t->phases_ever += ok;
    if (ok)
        note(t, n);
    pthread_mutex_unlock(&t->guard);
    return ok ? made.number : 0;
}

void tracker_leave(struct tracker *t, uint32_t phase, const struct tracker_note *n)
{
    pthread_mutex_lock(&t->guard);
    uint32_t at = t->phases.len;
    while (at > 0 && t->phases.at[at - 1].number != phase)
        at--;
    if (at > 0) {
        /* The event is still inside the phase, whichever was entered after it. */
        struct tracker_phase left = t->phases.at[at - 1];
        memmove(&t->phases.at[at - 1], &t->phases.at[at], (t->phases.len - at) * sizeof left);
        t->phases.at[t->phases.len - 1] = left;
        note(t, n);
        t->phases.len--;
    }
    pthread_mutex_unlock(&t->guard);
}

void tracker_threshold(struct tracker *t, enum vrs_tracker_threshold which, double value)
{
    assert((unsigned)which < VRS_TRACKER_THRESHOLDS);
    pthread_mutex_lock(&t->guard);
    if (t->threshold[which] != value)
        t->armed[which] = true;
    t->threshold[which] = value;
    pthread_mutex_unlock(&t->guard);
}

void tracker_clear(struct tracker *t)
{
    pthread_mutex_lock(&t->guard);
    ring_clear(&t->samples);
    ring_clear(&t->events);
    forget(t);
    pthread_mutex_unlock(&t->guard);
}
