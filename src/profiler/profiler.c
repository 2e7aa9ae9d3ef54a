/* profiler.c - one reading for a record or an end of a scope, then the ring and the totals. */
#include "profiler/profiler.h"

#include <stddef.h>
#include <string.h>

#include "device/process.h"
#include "profiler/clock.h"

enum { CAPACITY_DEFAULT = 65536, WATCHED_MAX = 4096 };

static const struct vrs_detail no_detail = { .tensor_bytes = VRS_UNKNOWN,
                                             .storage_bytes = VRS_UNKNOWN };

static uint64_t now_ns(const struct profiler *p)
{
    return p->clock_ns(p->clock_arg);
}

static void take_clock(struct profiler *p)
{
    struct vrs_backend b = meter_backend(p->meter, p->options.backend);
    p->clock_ns = b.clock_ns != NULL ? b.clock_ns : host_ns;
    p->clock_arg = b.arg;
}

bool profiler_init(struct profiler *p, struct meter *m, const struct vrs_profiler_options *options)
{
    *p = (struct profiler){ .meter = m, .options = *options };
    p->watched.max = WATCHED_MAX;
    take_clock(p);
    p->made_ns = now_ns(p);
    totals_init(&p->totals);
    uint32_t capacity = options->capacity != 0 ? options->capacity : CAPACITY_DEFAULT;
    return pthread_mutex_init(&p->guard, NULL) == 0 &&
           ring_init_in(&p->records, sizeof(struct vrs_record), capacity, &p->guard) &&
           ring_init_in(&p->scopes, sizeof(struct vrs_scope_result), capacity, &p->guard);
}

void profiler_free(struct profiler *p)
{
    for (uint32_t i = 0; i < p->watched.len; i++)
        meter_drop(p->meter, &p->watched.at[i].slot);
    vec_free(&p->watched);
    totals_free(&p->totals);
    ring_free(&p->records);
    ring_free(&p->scopes);
    pthread_mutex_destroy(&p->guard);
}

void profiler_after_fork(struct profiler *p)
{
    pthread_mutex_init(&p->guard, NULL);
    ring_after_fork(&p->records);
    ring_after_fork(&p->scopes);
}

static struct watched *watched_of(struct profiler *p, uint32_t device)
{
    for (uint32_t i = 0; i < p->watched.len; i++)
        if (p->watched.at[i].device == device)
            return &p->watched.at[i];
    return NULL;
}

/* Puts a slot that has just been opened beside its device; false: there is no memory, or another
 * thread was faster, whose slot `*slot` is then. */
static bool put(struct profiler *p, uint32_t device, struct vrs_slot *slot, uint64_t began_ns)
{
    pthread_mutex_lock(&p->guard);
    struct watched *there = watched_of(p, device);
    struct watched made = { .slot = *slot,
                            .device = device,
                            .peak = VRS_UNKNOWN,
                            .at_most = VRS_UNKNOWN,
                            .allocated = VRS_UNKNOWN,
                            .last_ns = began_ns };
    bool ok = there == NULL ? vec_push(&p->watched, made) : there->slot.place == 0;
    if (ok && there != NULL)
        there->slot = *slot;
    else if (there != NULL)
        *slot = there->slot;
    else if (!ok)
        slot->place = 0;
    p->unwatched += !ok && there == NULL;
    pthread_mutex_unlock(&p->guard);
    return ok;
}

/* The slot of the device, which is watched from now on if it was not; a slot that is not open: it
 * cannot be. */
static struct vrs_slot watch(struct profiler *p, uint32_t device)
{
    struct vrs_slot slot = { .backend = p->options.backend, .device = device };
    pthread_mutex_lock(&p->guard);
    const struct watched *there = watched_of(p, device);
    if (there != NULL)
        slot = there->slot;
    pthread_mutex_unlock(&p->guard);
    if (slot.place != 0)
        return slot;

    uint64_t began = now_ns(p);
    meter_open(p->meter, p->options.backend, device, p->options.flags, &slot);
    struct vrs_slot own = slot;
    if (slot.place != 0 && !put(p, device, &slot, began))
        meter_drop(p->meter, &own);
    return slot;
}

void profiler_backend(struct profiler *p, uint32_t backend)
{
    uint64_t elapsed = now_ns(p) - p->made_ns;
    for (uint32_t i = 0; i < p->watched.len; i++)
        meter_drop(p->meter, &p->watched.at[i].slot);
    pthread_mutex_lock(&p->guard);
    p->watched.len = 0;
    p->options.backend = backend;
    take_clock(p);
    p->made_ns = now_ns(p) - elapsed;
    pthread_mutex_unlock(&p->guard);
}

void profiler_watch(struct profiler *p, uint32_t device)
{
    if (!p->options.no_stats)
        (void)watch(p, device);
}

void profiler_reset(struct profiler *p)
{
    ring_clear(&p->records);
    ring_clear(&p->scopes);
    pthread_mutex_lock(&p->guard);
    totals_clear(&p->totals);
    p->dropped = p->unwatched = 0;
    uint32_t count = p->watched.len;
    pthread_mutex_unlock(&p->guard);

    struct vrs_peaks before;
    for (uint32_t i = 0; i < count; i++) {
        pthread_mutex_lock(&p->guard);
        struct vrs_slot slot = p->watched.at[i].slot;
        pthread_mutex_unlock(&p->guard);
        meter_mark(p->meter, &slot, &before);
        pthread_mutex_lock(&p->guard);
        struct watched *w = &p->watched.at[i];
        *w = (struct watched){ .slot = slot,
                               .device = w->device,
                               .peak = VRS_UNKNOWN,
                               .at_most = VRS_UNKNOWN,
                               .allocated = VRS_UNKNOWN,
                               .last_ns = now_ns(p) };
        pthread_mutex_unlock(&p->guard);
    }
}

static uint64_t higher(uint64_t peak, uint64_t other)
{
    return peak == VRS_UNKNOWN || (other != VRS_UNKNOWN && other > peak) ? other : peak;
}

#define UNKNOWN_CURVES { VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN }
static const struct vrs_peaks nothing_read = {
    .now = { .now = UNKNOWN_CURVES,
             .peak = UNKNOWN_CURVES,
             .inactive_split = VRS_UNKNOWN,
             .allocated_bytes = VRS_UNKNOWN,
             .freed_bytes = VRS_UNKNOWN,
             .allocations = VRS_UNKNOWN,
             .frees = VRS_UNKNOWN,
             .retries = VRS_UNKNOWN,
             .ooms = VRS_UNKNOWN },
    .start = UNKNOWN_CURVES,
    .peak = UNKNOWN_CURVES,
    .at_most = UNKNOWN_CURVES,
    .allocated_bytes = VRS_UNKNOWN,
    .freed_bytes = VRS_UNKNOWN,
    .allocations = VRS_UNKNOWN,
    .frees = VRS_UNKNOWN,
    .state = VRS_STATE_UNKNOWN,
};

/* The interval that ends here becomes part of all since the profiler was made, of which the record
 * tells too: its state is the worse of the two. */
static void join_interval(struct watched *w, struct vrs_record *r)
{
    w->peak = higher(w->peak, r->interval_peak);
    w->at_most = higher(w->at_most, r->interval_at_most);
    if (w->state < r->state && r->state < VRS_NESTED && r->state != VRS_SAMPLED)
        w->state = r->state;
    r->peak = w->peak;
    if (r->state < w->state)
        r->state = w->state;
    if (r->state == VRS_EXACT && w->peak < w->at_most)
        r->state = VRS_SAMPLED;
}

/* Of the device, in the totals and in the ring; `closed` is the slot of the record, where it was
 * found not to be open any more. */
static void interval_ends(struct profiler *p, const struct vrs_slot *closed, struct vrs_record *r,
                          const struct vrs_peaks *peaks)
{
    uint64_t ended_ns = r->t_ns + p->made_ns;
    struct interval i = {
        .path = r->path,
        .device = r->device,
        .kind = INTERVAL_CHECKPOINT,
        .start = peaks->start[VRS_ALLOCATED],
        .end = r->now[VRS_ALLOCATED],
        .peak = r->interval_peak,
        .gross = peaks->allocated_bytes,
        .allocations = peaks->allocations,
        .state = r->state,
    };
    pthread_mutex_lock(&p->guard);
    struct watched *w = watched_of(p, r->device);
    if (w != NULL) {
        if (closed != NULL && meter_same(&w->slot, closed))
            w->slot.place = 0; /* the next record opens another */
        join_interval(w, r);
        if (w->allocated != VRS_UNKNOWN && i.end != VRS_UNKNOWN)
            r->delta = (int64_t)(i.end - w->allocated);
        /* Two threads come here in another order than they took the time. */
        if (ended_ns > w->last_ns) {
            i.duration_ns = ended_ns - w->last_ns;
            w->last_ns = ended_ns;
        }
        w->allocated = i.end;
    }
    totals_add(&p->totals, &i);
    r->index = ring_put(&p->records, r);
    pthread_mutex_unlock(&p->guard);
}

/* Member by member, here and below: clearing such a row first takes as long as all the rest of a
 * record without a reading. */
static void record_fill(struct vrs_record *r, const struct vrs_peaks *peaks)
{
    memcpy(r->now, peaks->now.now, sizeof r->now);
    r->inactive_split = peaks->now.inactive_split;
    r->retries = peaks->now.retries;
    r->ooms = peaks->now.ooms;
    r->interval_peak = peaks->peak[VRS_ALLOCATED];
    r->interval_at_most = peaks->at_most[VRS_ALLOCATED];
    r->interval_reserved_peak = peaks->peak[VRS_RESERVED];
    r->peak = VRS_UNKNOWN;
    r->delta = INT64_MIN;
    r->rss = VRS_UNKNOWN;
    r->rss_peak = VRS_UNKNOWN;
    r->state = peaks->state;
}

void profiler_checkpoint(struct profiler *p, uint32_t device, uint32_t path,
                         const struct vrs_detail *detail, struct vrs_record *ret)
{
    struct vrs_peaks read;
    const struct vrs_peaks *peaks = &nothing_read;
    struct vrs_slot slot = { 0 }, asked = slot;
    if (!p->options.no_stats) {
        asked = slot = watch(p, device);
        meter_mark(p->meter, &slot, &read);
        peaks = &read;
    }
    record_fill(ret, peaks);
    ret->t_ns = now_ns(p) - p->made_ns;
    ret->detail = detail != NULL ? *detail : no_detail;
    ret->path = path;
    ret->device = device;
    if (p->options.host)
        process_memory(&ret->rss, &ret->rss_peak);
    interval_ends(p, slot.place == 0 ? &asked : NULL, ret, peaks);
}

void profiler_open(struct profiler *p, uint32_t device, uint32_t path, struct vrs_scope *ret)
{
    *ret = (struct vrs_scope){
        .path = path,
        .device = device,
        .detail = no_detail,
        .slot.device = device,
        .born = VRS_UNKNOWN,
        .died = VRS_UNKNOWN,
    };
    if (!p->options.no_stats)
        meter_open(p->meter, p->options.backend, device, p->options.flags, &ret->slot);
    ret->began_ns = now_ns(p);
}

static void result_fill(struct vrs_scope_result *r, const struct vrs_peaks *peaks)
{
    r->allocated_bytes = peaks->allocated_bytes;
    r->freed_bytes = peaks->freed_bytes;
    r->allocations = peaks->allocations;
    r->frees = peaks->frees;
    r->state = peaks->state;
    memcpy(r->start, peaks->start, sizeof r->start);
    memcpy(r->end, peaks->now.now, sizeof r->end);
    memcpy(r->peak, peaks->peak, sizeof r->peak);
    memcpy(r->at_most, peaks->at_most, sizeof r->at_most);
}

void profiler_close(struct profiler *p, struct vrs_scope *scope, uint32_t raised,
                    uint64_t device_ns, struct vrs_scope_result *ret)
{
    uint64_t ended = now_ns(p);
    struct vrs_peaks read;
    const struct vrs_peaks *peaks = &nothing_read;
    if (!p->options.no_stats) {
        meter_close(p->meter, &scope->slot, &read);
        peaks = &read;
    }
    result_fill(ret, peaks);
    ret->t_ns = scope->began_ns - p->made_ns;
    ret->duration_ns = ended - scope->began_ns;
    ret->device_ns = device_ns;
    ret->born = scope->born;
    ret->died = scope->died;
    ret->detail = scope->detail;
    ret->path = scope->path;
    ret->device = scope->device;
    ret->raised = raised;
    struct interval i = {
        .path = ret->path,
        .device = ret->device,
        .kind = INTERVAL_SCOPE,
        .duration_ns = ret->duration_ns,
        .start = ret->start[VRS_ALLOCATED],
        .end = ret->end[VRS_ALLOCATED],
        .peak = ret->peak[VRS_ALLOCATED],
        .gross = ret->allocated_bytes,
        .allocations = ret->allocations,
        .state = ret->state,
        .raised = raised != 0,
    };
    pthread_mutex_lock(&p->guard);
    totals_add(&p->totals, &i);
    if (device_ns != VRS_UNKNOWN)
        totals_timed(&p->totals, &i, device_ns);
    ret->index = ring_put(&p->scopes, ret);
    pthread_mutex_unlock(&p->guard);
}

bool profiler_timed(struct profiler *p, struct vrs_scope_result *result, uint64_t device_ns)
{
    struct interval i = { .path = result->path,
                          .device = result->device,
                          .kind = INTERVAL_SCOPE };
    result->device_ns = device_ns;
    pthread_mutex_lock(&p->guard);
    if (result->index >= p->scopes.cleared && result->index < p->scopes.next)
        totals_timed(&p->totals, &i, device_ns);
    struct vrs_scope_result *row = ring_row(&p->scopes, result->index);
    if (row != NULL)
        row->device_ns = device_ns;
    pthread_mutex_unlock(&p->guard);
    return row != NULL;
}

void profiler_drop(struct profiler *p, struct vrs_scope *scope)
{
    meter_drop(p->meter, &scope->slot);
    pthread_mutex_lock(&p->guard);
    p->dropped++;
    pthread_mutex_unlock(&p->guard);
}

struct total *profiler_totals(struct profiler *p, struct arena *keep, uint32_t *ret_count)
{
    pthread_mutex_lock(&p->guard);
    uint32_t count = p->totals.rows.len;
    struct total *copy = arena_array(keep, struct total, (size_t)count + 1);
    if (copy != NULL && count > 0)
        memcpy(copy, p->totals.rows.at, count * sizeof *copy);
    pthread_mutex_unlock(&p->guard);
    *ret_count = count;
    return copy;
}

void profiler_losses(struct profiler *p, struct vrs_profiler_losses *ret)
{
    struct ring_counts records = ring_counts(&p->records), scopes = ring_counts(&p->scopes);
    pthread_mutex_lock(&p->guard);
    *ret = (struct vrs_profiler_losses){
        .records = { records.first, records.next, records.lost },
        .scopes = { scopes.first, scopes.next, scopes.lost },
        .dropped = p->dropped,
        .unwatched = p->unwatched,
        .totals = p->totals.refused,
    };
    pthread_mutex_unlock(&p->guard);
}
