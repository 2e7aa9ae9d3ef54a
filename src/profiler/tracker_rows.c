/* tracker_rows.c - what a tracker has kept: events, buckets of time, totals. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sorted.h"
#include "profiler/event_queue.h"
#include "profiler/ring.h"
#include "profiler/tracker.h"
#include "vramscope/profiler.h"
#include "vramscope/tracker.h"

enum { COPIED_AT_ONCE = 64, US_PER_SECOND = 1000000, SECONDS_PER_HOUR = 3600, NS_PER_US = 1000 };

/* A ring holds a power of two of rows; the last `capacity` of them are what is kept. */
static struct ring_counts counts_of(struct tracker *t, struct ring *r)
{
    struct ring_counts c = ring_counts(r);
    uint64_t most = t->options.capacity;
    if (c.next - c.first > most) {
        c.lost += c.next - c.first - most;
        c.first = c.next - most;
    }
    return c;
}

uint32_t tracker_most(struct tracker *t)
{
    pthread_mutex_lock(&t->guard);
    struct ring_counts samples = counts_of(t, &t->samples), events = counts_of(t, &t->events);
    pthread_mutex_unlock(&t->guard);
    return (uint32_t)(samples.next - samples.first + events.next - events.first);
}

/* The rows of one ring, from the last one backwards. */
struct backwards {
    struct ring *ring;
    uint64_t first, next; /* what is left to be read */
    struct vrs_event row[COPIED_AT_ONCE];
    uint32_t rows;
};

/* The last row that is left; NULL: none is. */
static const struct vrs_event *last_row(struct backwards *b)
{
    if (b->rows == 0 && b->next > b->first) {
        uint64_t left = b->next - b->first, got_first;
        uint32_t wanted = left < COPIED_AT_ONCE ? (uint32_t)left : COPIED_AT_ONCE;
        b->rows = ring_copy(b->ring, b->next - wanted, wanted, b->row, &got_first);
        b->next -= wanted;
    }
    return b->rows > 0 ? &b->row[b->rows - 1] : NULL;
}

static struct backwards backwards(struct tracker *t, struct ring *r, bool wanted)
{
    struct ring_counts c = counts_of(t, r);
    return (struct backwards){ .ring = r, .first = c.first, .next = wanted ? c.next : c.first };
}

uint32_t tracker_events(struct tracker *t, const struct vrs_event_filter *filter, uint32_t most,
                        struct vrs_event *ret)
{
    const uint32_t sample = 1u << VRS_EVENT_SAMPLE;
    uint32_t kinds = filter->kinds != 0 ? filter->kinds : ~sample;
    uint32_t count = 0;
    pthread_mutex_lock(&t->guard);
    struct backwards samples = backwards(t, &t->samples, (kinds & sample) != 0);
    struct backwards events = backwards(t, &t->events, (kinds & ~sample) != 0);
    while (count < most) {
        const struct vrs_event *a = last_row(&samples), *b = last_row(&events);
        if (a == NULL && b == NULL)
            break;
        bool sampled = b == NULL || (a != NULL && a->index > b->index);
        struct backwards *from = sampled ? &samples : &events;
        const struct vrs_event *row = &from->row[--from->rows];
        if ((kinds & 1u << row->kind) != 0 && row->unix_us >= filter->since_us)
            ret[count++] = *row;
    }
    pthread_mutex_unlock(&t->guard);
    for (uint32_t i = 0; i < count / 2; i++) {
        struct vrs_event other = ret[i];
        ret[i] = ret[count - 1 - i];
        ret[count - 1 - i] = other;
    }
    return count;
}

uint32_t tracker_buckets(const struct vrs_event *event, uint32_t count, uint64_t bucket_ns,
                         struct vrs_timeline_point *ret, uint32_t most)
{
    uint32_t points = 0;
    uint64_t began_ns = 0, began_us = 0, last = UINT64_MAX;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (event[i].now[VRS_ALLOCATED] == VRS_UNKNOWN)
            continue;
        if (!any) {
            began_ns = event[i].t_ns;
            began_us = event[i].unix_us;
            any = true;
        }
        /* Threads can hand in samples in another order than they took the time. */
        uint64_t since = event[i].t_ns > began_ns ? event[i].t_ns - began_ns : 0;
        uint64_t bucket = since / bucket_ns;
        if (points == 0 || bucket > last) {
            if (points == most)
                break;
            last = bucket;
            points++;
        }
        ret[points - 1] = (struct vrs_timeline_point){ began_us + last * bucket_ns / NS_PER_US,
                                                       event[i].now[VRS_ALLOCATED],
                                                       event[i].now[VRS_RESERVED] };
    }
    return points;
}

/* Events that the ring has, and those of the last hour. */
static void count_events(struct tracker *t, struct vrs_tracker_stats *ret)
{
    struct ring_counts c = counts_of(t, &t->events);
    ret->events = c.next - c.first;
    ret->events_lost = c.lost;
    const uint64_t hour = (uint64_t)SECONDS_PER_HOUR * US_PER_SECOND;
    uint64_t since = ret->last_us > hour ? ret->last_us - hour : 0;
    /* Rows stand in the order of time: the first of the hour is searched for. */
    uint32_t kept = (uint32_t)ret->events, i = 0;
    struct vrs_event row;
    uint64_t number;
    SORTED_FIND(i, kept,
                ring_copy(&t->events, c.first + i, 1, &row, &number) == 1 && row.unix_us < since);
    ret->events_last_hour = kept - i;
}

static uint64_t gross_of(const struct tracker *t, enum tracker_gross which)
{
    return t->gross_before[which] == VRS_UNKNOWN ? VRS_UNKNOWN : t->gross[which];
}

void tracker_count(struct tracker *t, struct vrs_tracker_stats *ret)
{
    pthread_mutex_lock(&t->guard);
    *ret = t->totals;
    ret->last = t->last;
    ret->allocations = gross_of(t, GROSS_ALLOCATIONS);
    ret->frees = gross_of(t, GROSS_FREES);
    ret->allocated_bytes = gross_of(t, GROSS_ALLOCATED);
    ret->freed_bytes = gross_of(t, GROSS_FREED);
    ret->retries = gross_of(t, GROSS_RETRIES);
    ret->ooms = gross_of(t, GROSS_OOMS);
    if (ret->started_us != 0) {
        ret->last_us = t->last.unix_us;
        ret->duration_ns = t->last.t_ns > t->began_ns ? t->last.t_ns - t->began_ns : 0;
    }
    count_events(t, ret);
    ret->samples_lost = counts_of(t, &t->samples).lost;
    event_queue_count(&t->queue, &ret->waiting, &ret->waiting_lost);
    pthread_mutex_unlock(&t->guard);
}
