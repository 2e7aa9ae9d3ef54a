/* test_backend_sim.c - simulated devices against a bare machine, under threads, and across fork. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vramscope/profiler.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/machine.h"
#include "analysis/snapshot/oom/oom_message.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/machine_sound.h"
#include "profiler/backend_sim.h"
#include "profiler/sim_device.h"
#include "profiler/sim_events.h"
#include "profiler/sim_refusal.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { HELD_MAX = 60, STEPS = 1500 };

struct scenario {
    const char *settings;
    uint64_t total_mib, context_mib;
    uint32_t streams, pools;
    uint64_t largest_mib;
};

static const struct scenario scenarios[] = {
    { "", 80000, 0, 1, 1, 30 },
    { "", 300, 20, 3, 2, 40 },
    { "roundup_power2_divisions:4", 400, 0, 1, 2, 60 },
    { "max_split_size_mb:24", 500, 0, 2, 1, 90 },
    { "garbage_collection_threshold:0.5,per_process_memory_fraction:0.6", 500, 0, 3, 1, 40 },
    { "expandable_segments:True", 300, 0, 2, 2, 60 },
    { "expandable_segments:True,max_split_size_mb:24", 300, 50, 2, 1, 60 },
    { "large_segment_size_mb:32,per_process_memory_fraction:0.5", 600, 0, 2, 1, 30 },
};

/* What is asked of both, and what the counters must be. */
struct both {
    struct sim *sim;
    struct machine m;
    struct held {
        struct sim_grant grant;
        uint32_t block; /* of the bare machine */
        bool elsewhere;
    } held[HELD_MAX];
    uint32_t len;
    struct vrs_stats told; /* what the bare machine's program knows */
    uint64_t random;
};

static uint64_t draw(struct both *b, uint64_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (b->random >> 33) % below;
}

static struct sim *made(const struct sim_options *options)
{
    struct sim *sim = NULL;
    assert_int_equal(sim_make(options, &sim, NULL), VRS_OK);
    return sim;
}

static struct sim *plain(uint32_t devices, uint64_t total, uint32_t history)
{
    return made(&(struct sim_options){
        .devices = devices,
        .total_bytes = total,
        .config = config_default(),
        .history_most = history,
    });
}

static void begin(struct both *b, const struct scenario *s, uint64_t seed)
{
    struct sim_options o = { .devices = 2,
                             .total_bytes = s->total_mib * MIB,
                             .context_bytes = s->context_mib * MIB,
                             .config = config_default(),
                             .history_most = 100 };
    assert_int_equal(config_set(&o.config, str_from(s->settings), NULL), VRS_OK);
    *b = (struct both){ .sim = made(&o), .random = seed };
    assert_true(machine_init(&b->m, &o.config));
    b->m.capacity = o.total_bytes - o.context_bytes;
    if (o.config.memory_fraction < 1)
        b->m.limit = (uint64_t)(o.config.memory_fraction * (double)o.total_bytes);
}

static void end(struct both *b)
{
    sim_free(b->sim);
    machine_free(&b->m);
}

/* Free parts of segments that are in use, found block by block. */
static uint64_t inactive_split(const struct machine *m)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < m->segments.len; s++) {
        uint32_t first = m->segments.at[s].first;
        if (first == 0 || m->segments.at[s].expandable)
            continue;
        for (uint32_t i = first; i != 0; i = m->blocks.at[i].next) {
            const struct machine_block *b = &m->blocks.at[i];
            if (b->use == BLOCK_FREE && (b->prev != 0 || b->next != 0))
                bytes += b->size;
        }
    }
    return bytes;
}

static void raise_peaks(struct both *b)
{
    struct vrs_stats *t = &b->told;
    t->now[VRS_ALLOCATED] = b->m.allocated;
    t->now[VRS_ACTIVE] = b->m.active;
    t->now[VRS_REQUESTED] = b->m.requested;
    t->now[VRS_RESERVED] = b->m.reserved;
    for (int i = 0; i < VRS_CURVES; i++)
        if (t->now[i] > t->peak[i])
            t->peak[i] = t->now[i];
}

static void compare(struct both *b)
{
    struct vrs_stats now;
    struct vrs_backend backend;
    struct machine *m = &b->sim->device[0].m;
    const char *fault = machine_fault(m);
    assert_string_equal(fault == NULL ? "" : fault, "");
    sim_backend(b->sim, &backend);
    assert_int_equal(backend.stats(backend.arg, 0, &now), VRS_OK);
    raise_peaks(b);
    b->told.inactive_split = inactive_split(&b->m);
    b->told.retries = b->m.retries;
    assert_memory_equal(&now, &b->told, sizeof now);
    /* The other device sees nothing of it. */
    struct vrs_stats none;
    memset(&none, 0, sizeof none);
    assert_int_equal(backend.stats(backend.arg, 1, &now), VRS_OK);
    assert_memory_equal(&now, &none, sizeof now);
}

static void alloc_both(struct both *b, const struct scenario *s)
{
    uint64_t bytes = 1 + (draw(b, 3) == 0 ? draw(b, s->largest_mib * MIB) : draw(b, 2 * MIB));
    struct sim_request r = { .pool = (uint32_t)draw(b, s->pools),
                             .bytes = bytes,
                             .stream = draw(b, s->streams) };
    struct sim_refusal refusal;
    struct held *h = &b->held[b->len];
    bool empty = b->m.reserved == 0;
    uint32_t lane = machine_lane(&b->m, r.pool, r.stream);
    if (empty) {
        /* As the simulation, which begins with the same addresses again. */
        b->m.next_low = b->sim->device[0].first_low;
        b->m.next_reservation = b->sim->device[0].first_reservation;
    }
    *h = (struct held){ .block = machine_request(&b->m, lane, bytes) };
    enum vrs_status status = sim_alloc(b->sim, &r, &h->grant, &refusal, NULL);
    assert_int_equal(status, h->block == 0 ? VRS_LIMIT : VRS_OK);
    if (status != VRS_OK) {
        b->told.ooms++;
        assert_int_equal(refusal.requested_bytes, bytes);
        assert_int_equal(refusal.reserved_bytes, b->m.reserved);
        return;
    }
    const struct machine_block *block = &b->m.blocks.at[h->block];
    assert_int_equal(h->grant.address, block->address);
    assert_int_equal(h->grant.block_bytes, block->size);
    b->told.allocated_bytes += block->size;
    b->told.allocations++;
    if (s->streams > 1 && draw(b, 4) == 0) {
        h->elsewhere = true;
        assert_int_equal(sim_record_stream(b->sim, &h->grant, r.stream + 1, NULL), VRS_OK);
    }
    b->len++;
}

static void free_both(struct both *b)
{
    uint32_t at = (uint32_t)draw(b, b->len);
    struct held h = b->held[at];
    b->held[at] = b->held[--b->len];
    b->told.freed_bytes += b->m.blocks.at[h.block].size;
    b->told.frees++;
    assert_int_equal(sim_release(b->sim, &h.grant, 0, NULL), VRS_OK);
    assert_int_equal(sim_release(b->sim, &h.grant, 0, NULL), VRS_USAGE);
    if (h.elsewhere)
        machine_wait(&b->m, h.block);
    else
        machine_complete(&b->m, h.block);
}

static void reset_peaks(struct both *b)
{
    struct vrs_backend backend;
    struct vrs_stats swapped;
    sim_backend(b->sim, &backend);
    assert_int_equal(backend.swap_peak(backend.arg, 0, &swapped), VRS_OK);
    assert_memory_equal(&swapped, &b->told, sizeof swapped);
    memcpy(b->told.peak, b->told.now, sizeof b->told.peak);
}

static void step(struct both *b, const struct scenario *s)
{
    uint64_t what = draw(b, 100);
    if (what == 0) {
        assert_int_equal(sim_empty_cache(b->sim, 0, 0, NULL), VRS_OK);
        machine_release_all(&b->m);
    } else if (what == 1) {
        assert_int_equal(sim_synchronize(b->sim, 0, NULL), VRS_OK);
        while (b->m.waiting.len > 0)
            machine_complete(&b->m, b->m.waiting.at[b->m.waiting.len - 1]);
    } else if (what == 2) {
        reset_peaks(b);
    } else if (b->len == 0 || (b->len < HELD_MAX && what < 58)) {
        alloc_both(b, s);
    } else {
        free_both(b);
    }
}

static void counters_are_those_of_the_machine(void **state)
{
    static struct both b;
    (void)state;
    for (size_t s = 0; s < COUNT(scenarios); s++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            begin(&b, &scenarios[s], seed);
            for (uint32_t i = 0; i < STEPS; i++) {
                step(&b, &scenarios[s]);
                compare(&b);
            }
            end(&b);
        }
}

/* Requests, for the tests below. */

static enum vrs_status ask(struct sim *s, uint32_t device, uint64_t bytes, struct sim_grant *ret)
{
    struct sim_request r = { .device = device, .bytes = bytes, .origin = { 7, 9 } };
    struct sim_refusal refusal;
    sim_lock(s);
    enum vrs_status status = sim_alloc(s, &r, ret, &refusal, NULL);
    sim_unlock(s);
    return status;
}

static enum vrs_status give(struct sim *s, const struct sim_grant *g, uint32_t stack)
{
    sim_lock(s);
    enum vrs_status status = sim_release(s, g, stack, NULL);
    sim_unlock(s);
    return status;
}

/* Sizes that fall: what began and ended between two swaps is in the peak of the second. */
enum { FALLS = 4000 };

struct falling {
    struct sim *sim;
    atomic_uint begun, ended;
    bool failed;
};

static uint64_t falling_size(uint32_t i)
{
    return (FALLS - i) * 2 * MIB;
}

static void *fall(void *arg)
{
    struct falling *f = arg;
    for (uint32_t i = 0; i < FALLS; i++) {
        struct sim_grant g;
        atomic_store(&f->begun, i + 1);
        f->failed = f->failed || ask(f->sim, 0, falling_size(i), &g) != VRS_OK ||
                    give(f->sim, &g, 0) != VRS_OK;
        atomic_store(&f->ended, i + 1);
        if (i % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void a_swap_loses_no_peak(void **state)
{
    struct falling f = { .sim = plain(1, (uint64_t)16 << 30, 0) };
    struct vrs_backend backend;
    struct vrs_stats now;
    pthread_t thread;
    uint32_t swaps = 0, wholly = 0, ended = 0;
    (void)state;
    sim_backend(f.sim, &backend);
    assert_int_equal(pthread_create(&thread, NULL, fall, &f), 0);
    for (uint32_t from = 0; ended < FALLS; swaps++) {
        ended = atomic_load(&f.ended);
        assert_int_equal(backend.swap_peak(backend.arg, 0, &now), VRS_OK);
        for (int i = 0; i < VRS_CURVES; i++)
            assert_true(now.peak[i] >= now.now[i]);
        if (ended > from) {
            wholly++;
            assert_true(now.peak[VRS_REQUESTED] >= falling_size(from));
            assert_true(now.peak[VRS_ALLOCATED] >= falling_size(from));
        }
        from = atomic_load(&f.begun);
        usleep(swaps % 2 == 0 ? 50 : 0);
    }
    pthread_join(thread, NULL);
    assert_false(f.failed);
    assert_true(wholly > 0);
    assert_int_equal(now.allocations, FALLS);
    sim_free(f.sim);
}

/* A thread that never rests while the process forks. */
struct busy {
    struct sim *sim;
    atomic_bool stop;
};

static void *keep_busy(void *arg)
{
    struct busy *b = arg;
    while (!atomic_load(&b->stop)) {
        struct sim_grant g[8];
        for (uint32_t i = 0; i < 8; i++)
            if (ask(b->sim, i % 2, (i + 1) * MIB, &g[i]) != VRS_OK)
                return NULL;
        for (uint32_t i = 0; i < 8; i++)
            if (give(b->sim, &g[i], 0) != VRS_OK)
                return NULL;
    }
    return NULL;
}

static void in_the_child(struct sim *s)
{
    struct sim_grant g;
    bool ok = ask(s, 0, 3 * MIB, &g) == VRS_OK && give(s, &g, 0) == VRS_OK &&
              machine_fault(&s->device[0].m) == NULL && machine_fault(&s->device[1].m) == NULL;
    _exit(ok ? 0 : 1);
}

static void a_fork_meets_no_call_half_done(void **state)
{
    struct busy b = { .sim = plain(2, (uint64_t)1 << 30, 1000) };
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, keep_busy, &b), 0);
    for (int i = 0; i < 40; i++) {
        int how = 0;
        sim_lock(b.sim);
        pid_t child = fork();
        sim_unlock(b.sim);
        if (child == 0)
            in_the_child(b.sim);
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_int_equal(how, 0);
    }
    atomic_store(&b.stop, true);
    pthread_join(thread, NULL);
    sim_free(b.sim);
}

/* History. */

static void expect_events(const struct sim *s, const char *letters)
{
    static const char letter[SIM_ACTIONS] = "ARCSFMUO";
    const struct sim_events *e = &s->device[0].history;
    char seen[64] = "";
    assert_true(e->ring.len < sizeof seen);
    for (uint32_t i = 0; i < e->ring.len; i++)
        seen[i] = letter[sim_events_at(e, i)->action];
    assert_string_equal(seen, letters);
}

static void history_is_what_a_recorder_writes(void **state)
{
    struct sim *s = plain(1, 100 * MIB, 50);
    struct sim_grant a, b;
    (void)state;
    assert_int_equal(ask(s, 0, 30 * MIB, &a), VRS_OK);
    assert_int_equal(ask(s, 0, 1000, &b), VRS_OK);
    assert_int_equal(give(s, &a, 8), VRS_OK);
    expect_events(s, "SASARC");
    const struct sim_events *e = &s->device[0].history;
    const struct sim_event *first = sim_events_at(e, 1), *freed = sim_events_at(e, 5);
    assert_int_equal(first->size, 30 * MIB);
    assert_int_equal(first->address, a.address);
    assert_int_equal(first->time_us, 2);
    assert_int_equal(first->origin.stack, 7);
    assert_int_equal(first->origin.context, 9);
    assert_int_equal(freed->origin.stack, 8);
    assert_int_equal(freed->origin.context, 9);
    assert_int_equal(s->common.clock_ns, 6000);
    /* What is cached goes back before the device refuses. */
    assert_int_equal(ask(s, 0, 99 * MIB, &a), VRS_LIMIT);
    expect_events(s, "SASARCFO");
    assert_int_equal(sim_events_at(e, 7)->size, 99 * MIB);
    assert_int_equal(sim_events_at(e, 7)->address, 98 * MIB);
    sim_free(s);
}

static void a_ring_keeps_the_newest(void **state)
{
    struct sim *s = plain(1, 100 * MIB, 5);
    const struct sim_events *e = &s->device[0].history;
    struct sim_grant a;
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ask(s, 0, 1000, &a), VRS_OK);
        assert_int_equal(give(s, &a, 0), VRS_OK);
    }
    expect_events(s, "RCARC");
    assert_int_equal(e->dropped, 8);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(sim_events_at(e, i)->time_us, 9 + i);
    sim_history_start(s, 3, SIM_STACKS_ALL, true);
    expect_events(s, "ARC");
    sim_history_start(s, 4, SIM_STACKS_ALL, true);
    assert_int_equal(ask(s, 0, 1000, &a), VRS_OK);
    expect_events(s, "ARCA");
    assert_int_equal(give(s, &a, 0), VRS_OK);
    expect_events(s, "CARC");
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(sim_events_at(e, i)->time_us, 13 + i);
    sim_history_stop(s);
    expect_events(s, "");
    assert_int_equal(ask(s, 0, 1000, &a), VRS_OK);
    expect_events(s, "");
    assert_int_equal(s->common.clock_ns, 17000);
    sim_free(s);
}

/* One row for each way to keep stacks: those of an alloc's and a free's event, and of the block. */
static void stacks_are_kept_as_asked(void **state)
{
    static const struct {
        enum sim_stacks kept;
        uint32_t alloc, free, block;
    } rows[] = {
        { SIM_STACKS_ALL, 7, 8, 7 },
        { SIM_STACKS_ALLOCS, 7, 7, 7 },
        { SIM_STACKS_BLOCKS, 0, 0, 7 },
        { SIM_STACKS_NONE, 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sim *s = plain(1, 100 * MIB, 0);
        const struct sim_device *d = &s->device[0];
        struct sim_grant a, before;
        assert_int_equal(ask(s, 0, 1000, &before), VRS_OK);
        sim_history_start(s, 100, rows[i].kept, true);
        assert_int_equal(ask(s, 0, 1000, &a), VRS_OK);
        assert_int_equal(sim_events_at(&d->history, 0)->origin.stack, rows[i].alloc);
        assert_int_equal(d->life.at[a.block].origin.stack, rows[i].block);
        assert_int_equal(d->life.at[before.block].origin.stack, 0);
        assert_int_equal(give(s, &a, 8), VRS_OK);
        assert_int_equal(sim_events_at(&d->history, 1)->origin.stack, rows[i].free);
        assert_int_equal(sim_events_at(&d->history, 2)->origin.stack, rows[i].free);
        sim_history_start(s, 100, rows[i].kept, false);
        assert_int_equal(ask(s, 0, 1000, &a), VRS_OK);
        assert_int_equal(d->history.ring.len, 3);
        sim_free(s);
    }
}

/* The rest of a backend. */

static void the_clock_moves_by_advance_and_events(void **state)
{
    struct sim *s = plain(2, 100 * MIB, 0);
    struct vrs_backend backend;
    struct sim_grant a;
    uint64_t device_ns = 0;
    (void)state;
    sim_backend(s, &backend);
    assert_int_equal(backend.clock_ns(backend.arg), 0);
    assert_int_equal(sim_advance(s, 5, NULL), VRS_OK);
    assert_int_equal(ask(s, 0, 1000, &a), VRS_OK); /* a segment too */
    assert_int_equal(backend.clock_ns(backend.arg), 2005);
    assert_int_equal(backend.device_ns(backend.arg, 1, &device_ns), VRS_OK);
    assert_int_equal(device_ns, 2005);
    assert_int_equal(sim_advance(s, UINT64_MAX / 2, NULL), VRS_USAGE);
    assert_int_equal(backend.clock_ns(backend.arg), 2005);
    sim_free(s);
}

static void busy_is(const struct vrs_backend *b, double percent)
{
    double told = -1;
    assert_int_equal(b->utilisation(b->arg, 0, &told), percent < 0 ? VRS_UNSUPPORTED : VRS_OK);
    if (percent >= 0)
        assert_true(told == percent);
}

static void utilisation_follows_its_script(void **state)
{
    struct sim *s = plain(2, 100 * MIB, 0);
    struct vrs_backend backend;
    double other;
    (void)state;
    sim_backend(s, &backend);
    busy_is(&backend, -1);
    assert_true(sim_device_load(&s->device[0], 30, 100));
    assert_true(sim_device_load(&s->device[0], 90, 50));
    busy_is(&backend, 30);
    assert_int_equal(backend.utilisation(backend.arg, 1, &other), VRS_UNSUPPORTED);
    assert_int_equal(sim_advance(s, 99, NULL), VRS_OK);
    busy_is(&backend, 30);
    assert_int_equal(sim_advance(s, 1, NULL), VRS_OK);
    busy_is(&backend, 90);
    assert_int_equal(sim_advance(s, 50, NULL), VRS_OK);
    busy_is(&backend, -1);
    assert_int_equal(sim_advance(s, 1000, NULL), VRS_OK);
    assert_true(sim_device_load(&s->device[0], 0, 10));
    busy_is(&backend, 0);
    assert_int_equal(sim_advance(s, 10, NULL), VRS_OK);
    busy_is(&backend, -1);
    sim_free(s);
}

static void others_take_from_the_device(void **state)
{
    struct sim *s = made(&(struct sim_options){ .devices = 1,
                                                .total_bytes = 100 * MIB,
                                                .context_bytes = 10 * MIB,
                                                .config = config_default() });
    struct vrs_backend backend;
    struct sim_grant a, b;
    uint64_t left, total;
    (void)state;
    sim_backend(s, &backend);
    assert_int_equal(ask(s, 0, 40 * MIB, &a), VRS_OK);
    assert_int_equal(sim_other(s, 0, 91 * MIB, NULL), VRS_USAGE);
    assert_int_equal(sim_other(s, 0, 30 * MIB, NULL), VRS_OK);
    assert_int_equal(backend.memory(backend.arg, 0, &left, &total), VRS_OK);
    assert_int_equal(left, 20 * MIB);
    assert_int_equal(total, 100 * MIB);
    assert_int_equal(ask(s, 0, 22 * MIB, &b), VRS_LIMIT);
    /* More than there is left for PyTorch, which has it already. */
    assert_int_equal(sim_other(s, 0, 90 * MIB, NULL), VRS_OK);
    assert_int_equal(backend.memory(backend.arg, 0, &left, &total), VRS_OK);
    assert_int_equal(left, 0);
    assert_int_equal(sim_other(s, 0, 0, NULL), VRS_OK);
    assert_int_equal(ask(s, 0, 22 * MIB, &b), VRS_OK);
    sim_free(s);
}

static void told_to_fail_it_tries_nothing(void **state)
{
    struct sim *s = plain(2, 100 * MIB, 100);
    struct vrs_stats now;
    struct sim_grant a;
    (void)state;
    s->device[0].failures = 2;
    assert_int_equal(ask(s, 0, 1000, &a), VRS_LIMIT);
    assert_int_equal(ask(s, 1, 1000, &a), VRS_OK);
    assert_int_equal(ask(s, 0, 1000, &a), VRS_LIMIT);
    expect_events(s, "OO");
    assert_int_equal(ask(s, 0, 1000, &a), VRS_OK);
    sim_device_stats(&s->device[0], &now);
    assert_int_equal(now.ooms, 2);
    assert_int_equal(now.retries, 0);
    sim_free(s);
}

static void what_there_is_not_is_refused(void **state)
{
    struct sim *s = plain(2, 100 * MIB, 0);
    struct vrs_backend backend;
    struct vrs_stats now;
    struct sim_grant a;
    struct vrs_error err;
    uint64_t x, y;
    double percent;
    char name[16];
    (void)state;
    sim_backend(s, &backend);
    assert_int_equal(backend.count(backend.arg), 2);
    assert_int_equal(backend.stats(backend.arg, 2, &now), VRS_USAGE);
    assert_int_equal(backend.reset_peak(backend.arg, 2), VRS_USAGE);
    assert_int_equal(backend.swap_peak(backend.arg, 2, &now), VRS_USAGE);
    assert_int_equal(backend.memory(backend.arg, 2, &x, &y), VRS_USAGE);
    assert_int_equal(backend.utilisation(backend.arg, 2, &percent), VRS_USAGE);
    assert_int_equal(backend.empty_cache(backend.arg, 2), VRS_USAGE);
    assert_int_equal(backend.synchronize(backend.arg, 2), VRS_USAGE);
    assert_int_equal(backend.device_ns(backend.arg, 2, &x), VRS_USAGE);
    assert_int_equal(backend.device_name(backend.arg, 2, name, sizeof name), VRS_USAGE);
    assert_int_equal(backend.device_name(backend.arg, 1, name, sizeof name), VRS_OK);
    assert_string_equal(name, "simulated devic"); /* as much as there is room for */
    assert_int_equal(ask(s, 2, 1000, &a), VRS_USAGE);
    assert_int_equal(ask(s, 0, 0, &a), VRS_USAGE);
    assert_int_equal(ask(s, 0, UINT64_MAX, &a), VRS_USAGE);
    assert_int_equal(ask(s, 0, (uint64_t)1 << 62, &a), VRS_LIMIT);
    sim_free(s);
    struct sim_options o = { .devices = 65, .total_bytes = MIB, .config = config_default() };
    assert_int_equal(sim_make(&o, &s, &err), VRS_USAGE);
    o.devices = 0;
    assert_int_equal(sim_make(&o, &s, &err), VRS_USAGE);
    o.devices = 1;
    o.context_bytes = 2 * MIB;
    assert_int_equal(sim_make(&o, &s, &err), VRS_USAGE);
    o.context_bytes = 0;
    o.total_bytes = SIM_TOTAL_MAX + 1;
    assert_int_equal(sim_make(&o, &s, &err), VRS_USAGE);
}

/* Addresses would end after 2^43 bytes of segments. */
static void addresses_begin_anew(void **state)
{
    struct sim *s = plain(1, (uint64_t)1 << 42, 0);
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct sim_grant a;
        assert_int_equal(ask(s, 0, (uint64_t)1 << 41, &a), VRS_OK);
        assert_int_equal(give(s, &a, 0), VRS_OK);
        assert_int_equal(sim_empty_cache(s, 0, 0, NULL), VRS_OK);
    }
    sim_free(s);
}

/* The sentence. */

static void check_sentence(const struct sim_refusal *r, const char *expected)
{
    struct buf text;
    struct arena scratch;
    struct oom_message read;
    buf_init(&text, 10000);
    arena_init(&scratch, SIZE_MAX / 2);
    sim_refusal_text(r, &text);
    buf_char(&text, '\0');
    assert_false(text.failed);
    assert_string_equal(text.at, expected);
    assert_int_equal(oom_message_read(str_from(text.at), &scratch, &read, NULL), VRS_OK);
    assert_int_equal(read.device, r->device);
    assert_true(said_agrees(read.tried, r->segment_bytes) && is_said(read.tried));
    assert_true(said_agrees(read.capacity, r->total_bytes) && is_said(read.capacity));
    assert_true(said_agrees(read.free, r->free_bytes) && is_said(read.free));
    assert_true(said_agrees(read.process, r->process_bytes) && is_said(read.process));
    assert_true(said_agrees(oom_message_reserved(&read), r->reserved_bytes));
    assert_int_equal(is_said(read.allowed), r->allowed_bytes != VRS_UNKNOWN);
    assert_true(said_agrees(read.allowed, r->allowed_bytes));
    assert_int_equal(is_said(read.private_pools), r->private_bytes > 0);
    assert_true(r->private_bytes == 0 || said_agrees(read.private_pools, r->private_bytes));
    arena_free(&scratch);
    buf_free(&text);
}

static void the_sentence_is_the_one_that_is_read(void **state)
{
    const uint64_t gib = (uint64_t)1 << 30;
    (void)state;
    check_sentence(
        &(struct sim_refusal){ .device = 3,
                               .segment_bytes = 20 * MIB,
                               .total_bytes = 80 * gib,
                               .free_bytes = 1000,
                               .allowed_bytes = VRS_UNKNOWN,
                               .process_bytes = 79 * gib,
                               .allocated_bytes = 70 * gib + 100 * MIB,
                               .reserved_bytes = 78 * gib },
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of 80.00 GiB "
        "of which 1000 bytes is free. Including non-PyTorch memory, this process has 79.00 GiB "
        "memory in use. Of the allocated memory 70.10 GiB is allocated by PyTorch, and 7.90 GiB "
        "is reserved by PyTorch but unallocated.");
    check_sentence(
        &(struct sim_refusal){ .segment_bytes = 3 * gib,
                               .total_bytes = 80 * gib,
                               .free_bytes = 2048,
                               .allowed_bytes = 40 * gib,
                               .process_bytes = 40 * gib,
                               .allocated_bytes = 30 * gib,
                               .private_bytes = 512 * MIB,
                               .reserved_bytes = 39 * gib },
        "CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 80.00 GiB "
        "of which 2.00 KiB is free. Including non-PyTorch memory, this process has 40.00 GiB "
        "memory in use. 40.00 GiB allowed; Of the allocated memory 30.50 GiB is allocated by "
        "PyTorch, with 512.00 MiB allocated in private pools (e.g., CUDA Graphs), and 8.50 GiB is "
        "reserved by PyTorch but unallocated.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_those_of_the_machine),
        cmocka_unit_test(a_swap_loses_no_peak),
        cmocka_unit_test(a_fork_meets_no_call_half_done),
        cmocka_unit_test(history_is_what_a_recorder_writes),
        cmocka_unit_test(a_ring_keeps_the_newest),
        cmocka_unit_test(stacks_are_kept_as_asked),
        cmocka_unit_test(the_clock_moves_by_advance_and_events),
        cmocka_unit_test(utilisation_follows_its_script),
        cmocka_unit_test(others_take_from_the_device),
        cmocka_unit_test(told_to_fail_it_tries_nothing),
        cmocka_unit_test(what_there_is_not_is_refused),
        cmocka_unit_test(addresses_begin_anew),
        cmocka_unit_test(the_sentence_is_the_one_that_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
