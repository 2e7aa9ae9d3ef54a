/* sampler.c - sleeps until the next slot of the time table, reads, and tells. */
#define _POSIX_C_SOURCE 200809L
#include "profiler/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "profiler/clock.h"

enum { CAPACITY_DEFAULT = 65536, STACK_BYTES = 256 << 10 };
enum { WANTED_NS = NS_PER_SECOND / 20 }; /* between two readings that are asked for */

/* What a sample has of a reading. */

static void curves_fill(struct vrs_sample *row, const struct vrs_peaks *p)
{
    memcpy(row->now, p->now.now, sizeof row->now);
    row->inactive_split = p->now.inactive_split;
    row->retries = p->now.retries;
    row->ooms = p->now.ooms;
    row->allocated_bytes = p->now.allocated_bytes;
    row->freed_bytes = p->now.freed_bytes;
    row->allocations = p->now.allocations;
    row->frees = p->now.frees;
    row->peak = p->peak[VRS_ALLOCATED];
    row->state = p->state;
}

/* What a sample has that is as the one before it, where there was none. */
static struct vrs_sample nothing_before(void)
{
    struct vrs_peaks unknown;
    struct vrs_sample row = { .index = 0 };
    meter_unknown(&unknown);
    curves_fill(&row, &unknown);
    return row;
}

/* Making and ending. */

static enum vrs_status check(const struct vrs_sampler_options *o, struct vrs_error *err)
{
    if (o->interval_ns >= VRS_INTERVAL_LEAST_NS && o->interval_ns <= VRS_INTERVAL_MOST_NS)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "an interval of %llu ns; it may have 1 ms to 1 h",
                    (unsigned long long)o->interval_ns);
}

static bool locks_init(struct sampler *s)
{
    return pthread_mutex_init(&s->taking, NULL) == 0 &&
           pthread_mutex_init(&s->guard, NULL) == 0 &&
           pthread_cond_init(&s->changed, NULL) == 0;
}

/* What the driver knows the device by, which a backend may learn late.  For threads that may call
 * the backend. */
static void driver_id_find(struct sampler *s)
{
    char id[DRIVER_ID_BYTES] = "";
    pthread_mutex_lock(&s->guard);
    bool there = s->driver_id[0] != '\0';
    pthread_mutex_unlock(&s->guard);
    const struct vrs_backend *b = &s->backend;
    if (there || b->any_thread || b->driver_id == NULL ||
        b->driver_id(b->arg, s->options.device, id, sizeof id) != VRS_OK)
        return;
    pthread_mutex_lock(&s->guard);
    memcpy(s->driver_id, id, sizeof id);
    pthread_mutex_unlock(&s->guard);
}

/* The slot in which the ledger keeps the peak of the interval between two samples. */
static void slot_open(struct sampler *s)
{
    struct vrs_slot slot;
    pthread_mutex_lock(&s->guard);
    bool there = s->slot.place != 0;
    pthread_mutex_unlock(&s->guard);
    if (there)
        return;
    meter_open(s->meter, s->options.backend, s->options.device,
               s->options.reset_peaks ? 0 : VRS_NO_RESET, &slot);
    pthread_mutex_lock(&s->guard);
    there = s->slot.place != 0;
    if (!there)
        s->slot = slot;
    pthread_mutex_unlock(&s->guard);
    if (there)
        meter_drop(s->meter, &slot);
}

enum vrs_status sampler_init(struct sampler *s, struct meter *m,
                             const struct vrs_sampler_options *options, struct vrs_error *err)
{
    *s = (struct sampler){ .meter = m, .options = *options };
    TRY(check(options, err));
    meter_watch(m, options->backend, options->device, true);
    s->backend = meter_backend(m, options->backend);
    s->made_ns = clock_ns(&s->backend);
    s->made_us = unix_us();
    s->before = nothing_before();
    s->before_read_ns = VRS_UNKNOWN;
    s->slot = (struct vrs_slot){ .backend = options->backend, .device = options->device };
    sources_init(&s->sources);
    uint32_t capacity = options->capacity != 0 ? options->capacity : CAPACITY_DEFAULT;
    if (!locks_init(s) || !ring_init(&s->ring, sizeof(struct vrs_sample), capacity))
        return vrs_no_memory(err);
    slot_open(s);
    driver_id_find(s);
    return VRS_OK;
}

void sampler_free(struct sampler *s)
{
    sampler_stop(s);
    meter_drop(s->meter, &s->slot);
    meter_watch(s->meter, s->options.backend, s->options.device, false);
    ring_free(&s->ring);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->guard);
    pthread_mutex_destroy(&s->taking);
}

void sampler_after_fork(struct sampler *s)
{
    (void)locks_init(s);
    ring_after_fork(&s->ring);
    sources_close(&s->sources);
    if (s->run != RUN_OFF)
        s->run = RUN_FORKED;
}

/* One sample. */

/* Another thread reads the device: the values are those of the sample before. */
static void as_before(struct sampler *s, struct vrs_sample *row, uint64_t *ret_read_ns)
{
    uint64_t t_ns = row->t_ns, us = row->unix_us;
    *row = s->before;
    row->t_ns = t_ns;
    row->unix_us = us;
    row->peak = VRS_UNKNOWN;
    row->state = s->before_read_ns == VRS_UNKNOWN ? VRS_STATE_UNKNOWN : VRS_NESTED;
    *ret_read_ns = s->before_read_ns;
    pthread_mutex_lock(&s->guard);
    s->busy++;
    pthread_mutex_unlock(&s->guard);
}

static bool is_known(const struct vrs_sample *row)
{
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        if (row->now[k] != VRS_UNKNOWN)
            return true;
    return false;
}

/* Wakes the reader where the next sample would have values older than an interval, which it would
 * where these are older than a part of one and nobody else reads. */
static void want(struct sampler *s, uint64_t age_ns)
{
    uint64_t now = host_ns(NULL);
    if (age_ns != VRS_UNKNOWN && age_ns < s->options.interval_ns / 2)
        return;
    pthread_mutex_lock(&s->guard);
    if (now >= s->next_want_ns) {
        /* By a time table, so that samples that come as often get a reading each. */
        s->next_want_ns += WANTED_NS;
        if (s->next_want_ns <= now)
            s->next_want_ns = now + WANTED_NS;
        s->wanted = true;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->guard);
}

/* What others ask for; `closed` is the slot of the sample, where it was found not to be open any
 * more. */
static void after_sample(struct sampler *s, const struct vrs_slot *closed)
{
    const struct sources *from = &s->sources;
    pthread_mutex_lock(&s->guard);
    if (closed != NULL && meter_same(&s->slot, closed))
        s->slot.place = 0; /* the next start opens another */
    memcpy(s->driver_why, from->memory_why[0] != '\0' ? from->memory_why : from->busy_why,
           sizeof s->driver_why);
    pthread_mutex_unlock(&s->guard);
}

void sampler_now(struct sampler *s)
{
    struct vrs_peaks peaks;
    uint64_t read_ns = VRS_UNKNOWN;
    pthread_mutex_lock(&s->taking);
    char id[DRIVER_ID_BYTES];
    pthread_mutex_lock(&s->guard);
    struct vrs_slot slot = s->slot, asked = slot;
    memcpy(id, s->driver_id, sizeof id);
    pthread_mutex_unlock(&s->guard);

    uint64_t now = clock_ns(&s->backend);
    struct vrs_sample row = { .t_ns = now - s->made_ns, .device = s->options.device };
    row.unix_us = s->backend.clock_ns != NULL ? s->made_us + row.t_ns / NS_PER_US : unix_us();
    if (meter_sample(s->meter, &slot, s->backend.any_thread, &peaks, &read_ns))
        curves_fill(&row, &peaks);
    else
        as_before(s, &row, &read_ns);
    row.age_ns = VRS_UNKNOWN;
    if (is_known(&row) && read_ns != VRS_UNKNOWN)
        row.age_ns = now > read_ns ? now - read_ns : 0;
    if (!s->backend.any_thread)
        want(s, row.age_ns);
    sources_fill(&s->sources, &s->backend, &s->meter->driver, id, &row);
    after_sample(s, slot.place == 0 ? &asked : NULL);
    row.index = ring_add(&s->ring, &row);
    s->before = row;
    s->before_read_ns = read_ns;
    if (s->options.sampled != NULL)
        s->options.sampled(s->options.arg, &row);
    pthread_mutex_unlock(&s->taking);
}

/* The thread. */

/* False: the thread is to end. */
static bool sleep_until(struct sampler *s, uint64_t due_ns)
{
    bell_sleep(&s->ended, due_ns);
    pthread_mutex_lock(&s->guard);
    bool on = s->run == RUN_ON;
    pthread_mutex_unlock(&s->guard);
    return on;
}

/* The slot that is to be taken now: those that are over by more than an interval are counted, so
 * that a process that was stopped makes no burst of samples. */
static uint64_t slot_now(struct sampler *s, uint64_t due_ns)
{
    uint64_t now = host_ns(NULL), interval = s->options.interval_ns;
    if (now < due_ns || now - due_ns <= interval)
        return due_ns;
    uint64_t over = (now - due_ns) / interval;
    pthread_mutex_lock(&s->guard);
    s->skipped += over;
    pthread_mutex_unlock(&s->guard);
    return due_ns + over * interval;
}

static void *sample_on(void *arg)
{
    struct sampler *s = arg;
    prctl(PR_SET_NAME, "vramscope");
    uint64_t due = host_ns(NULL);
    do { /* the first one also where it was stopped meanwhile: a start gives a sample */
        due = slot_now(s, due);
        sampler_now(s);
        if (s->options.rested != NULL)
            s->options.rested(s->options.arg);
        due += s->options.interval_ns;
    } while (sleep_until(s, due));
    return NULL;
}

/* With all signals blocked, which are the program's. */
static int thread_begin(struct sampler *s)
{
    pthread_attr_t kind;
    sigset_t all, before;
    int failed = pthread_attr_init(&kind);
    if (failed != 0)
        return failed;
    (void)pthread_attr_setstacksize(&kind, STACK_BYTES); /* refused: the usual one */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&s->thread, &kind, sample_on, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&kind);
    return failed;
}

enum vrs_status sampler_start(struct sampler *s, struct vrs_error *err)
{
    pthread_mutex_lock(&s->guard);
    while (s->run == RUN_ENDING)
        pthread_cond_wait(&s->changed, &s->guard);
    int failed = 0;
    if (s->run != RUN_ON) {
        bell_set(&s->ended);
        failed = thread_begin(s);
        if (failed == 0)
            s->run = RUN_ON;
    }
    pthread_mutex_unlock(&s->guard);
    if (failed == 0)
        return VRS_OK;
    return vrs_fail(err, VRS_LIMIT, "the system gives no thread for samples%s",
                    failed == EAGAIN ? ": too many processes and threads, or no memory" : "");
}

void sampler_stop(struct sampler *s)
{
    pthread_mutex_lock(&s->guard);
    while (s->run == RUN_ENDING)
        pthread_cond_wait(&s->changed, &s->guard);
    if (s->run == RUN_ON) {
        s->run = RUN_ENDING;
        bell_ring(&s->ended);
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->guard);
        pthread_join(s->thread, NULL);
        pthread_mutex_lock(&s->guard);
    }
    s->run = RUN_OFF;
    s->wanted = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->guard);
    pthread_mutex_lock(&s->taking);
    sources_close(&s->sources);
    pthread_mutex_unlock(&s->taking);
}

/* The reader. */

bool sampler_wait(struct sampler *s)
{
    pthread_mutex_lock(&s->guard);
    while (s->run == RUN_ON && !s->wanted)
        pthread_cond_wait(&s->changed, &s->guard);
    s->wanted = false;
    bool on = s->run == RUN_ON;
    pthread_mutex_unlock(&s->guard);
    return on;
}

void sampler_read(struct sampler *s)
{
    struct vrs_stats stats;
    struct vrs_slot slot;
    slot_open(s);
    driver_id_find(s);
    if (!s->options.reset_peaks) {
        (void)meter_read(s->meter, s->options.backend, s->options.device, true, &stats);
        return;
    }
    /* What it finds is folded into the slot of the samples, as into every other. */
    meter_open(s->meter, s->options.backend, s->options.device, 0, &slot);
    meter_drop(s->meter, &slot);
}

void sampler_clear(struct sampler *s)
{
    ring_clear(&s->ring);
    pthread_mutex_lock(&s->guard);
    s->skipped = s->busy = 0;
    pthread_mutex_unlock(&s->guard);
}

void sampler_count(struct sampler *s, struct vrs_sampler_counts *ret)
{
    static const enum vrs_sampler_state told[] = {
        [RUN_OFF] = VRS_SAMPLER_STOPPED,
        [RUN_ON] = VRS_SAMPLER_RUNNING,
        [RUN_ENDING] = VRS_SAMPLER_RUNNING,
        [RUN_FORKED] = VRS_SAMPLER_FORKED,
    };
    struct ring_counts rows = ring_counts(&s->ring);
    pthread_mutex_lock(&s->guard);
    *ret = (struct vrs_sampler_counts){
        .rows = { rows.first, rows.next, rows.lost },
        .skipped = s->skipped,
        .busy = s->busy,
        .state = told[s->run],
    };
    memcpy(ret->driver, s->driver_why, sizeof ret->driver);
    pthread_mutex_unlock(&s->guard);
}
