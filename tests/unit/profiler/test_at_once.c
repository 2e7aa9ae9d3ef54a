/* All parts of a meter at once: the ledger, scopes, names, a ring, a sampler of a simulated device,
 * under 8 threads, for so long.  What the thread sanitizer is for. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/pool.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"
#include "vramscope/sim.h"

enum { THREADS = 8, NAMES = 64, COPIED = 32, KINDS = 6, MS = 1000, LONG_TIMES = 20 };
enum { SHORT_MS = 500 };

struct row {
    uint64_t thread, same;
};

static struct {
    struct vrs_meter *meter;
    struct vrs_sim *sim;
    struct vrs_profiler *profiler;
    struct vrs_sampler *sampler;
    struct vrs_ring *ring;
    uint32_t backend, path;
    uint64_t end_ms;
    _Atomic uint64_t sampled, turns[KINDS];
    uint32_t wrong[THREADS]; /* bits of what was */
} s;

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * MS + (uint64_t)now.tv_nsec / 1000000;
}

static void count_sample(void *arg, const struct vrs_sample *sample)
{
    (void)arg;
    (void)sample;
    atomic_fetch_add(&s.sampled, 1);
}

/* Each returns whether all was as it has to be. */

static bool do_scope(uint32_t i, uint32_t turn)
{
    struct vrs_scope scope;
    struct vrs_scope_result r;
    struct vrs_sim_block block;
    struct vrs_error error;
    struct vrs_sim_request request = { .size = sizeof request,
                                       .bytes = (turn % 9 + 1) * 512 * (i + 1) };
    vrs_scope_open(s.profiler, 0, s.path, &scope);
    if (vrs_sim_alloc(s.sim, &request, &block, NULL, &error) != VRS_OK ||
        vrs_sim_free(s.sim, &block, NULL, &error) != VRS_OK)
        return false;
    vrs_scope_close(s.profiler, &scope, 0, VRS_UNKNOWN, &r);
    uint64_t peak = r.peak[VRS_ALLOCATED];
    return r.state == VRS_EXACT && peak >= request.bytes && peak >= r.start[VRS_ALLOCATED] &&
           peak >= r.end[VRS_ALLOCATED] && r.allocations >= 1;
}

static bool do_checkpoint(uint32_t i, uint32_t turn)
{
    struct vrs_record r;
    (void)i;
    (void)turn;
    vrs_checkpoint(s.profiler, 0, s.path, NULL, &r);
    return r.state == VRS_EXACT || r.state == VRS_STATE_UNKNOWN; /* marked by two at once */
}

static bool do_names(uint32_t i, uint32_t turn)
{
    char text[32];
    size_t len;
    (void)i;
    int wanted = snprintf(text, sizeof text, "name %u", (unsigned)(turn % NAMES));
    uint32_t id = vrs_name(s.meter, text, (size_t)wanted);
    const char *kept = vrs_name_text(s.meter, id, &len);
    uint32_t path = vrs_path(s.meter, s.path, id), parent, name;
    vrs_path_parts(s.meter, path, &parent, &name);
    return len == (size_t)wanted && memcmp(kept, text, len) == 0 && parent == s.path && name == id;
}

static bool do_ring(uint32_t i, uint32_t turn)
{
    struct row rows[COPIED], row = { i, i };
    uint64_t first;
    (void)turn;
    vrs_ring_add(s.ring, &row);
    uint32_t got = vrs_ring_copy(s.ring, 0, COPIED, rows, &first);
    for (uint32_t k = 0; k < got; k++)
        if (rows[k].thread != rows[k].same)
            return false;
    return got > 0;
}

static bool do_samples(uint32_t i, uint32_t turn)
{
    struct vrs_sample rows[COPIED];
    uint64_t first;
    struct vrs_sampler_counts c;
    (void)i;
    (void)turn;
    vrs_sampler_count(s.sampler, &c);
    uint32_t got = vrs_sampler_copy(s.sampler, c.rows.next - c.rows.next % COPIED, COPIED, rows,
                                    &first);
    for (uint32_t k = 0; k < got; k++) {
        const struct vrs_sample *r = &rows[k];
        bool sound = r->state == VRS_EXACT ? r->peak >= r->now[VRS_ALLOCATED]
                                           : r->peak == VRS_UNKNOWN;
        /* Nothing was read before it, and another thread reads. */
        if (r->state == VRS_STATE_UNKNOWN)
            sound = sound && r->now[VRS_ALLOCATED] == VRS_UNKNOWN;
        else
            sound = sound && (r->state == VRS_EXACT || r->state == VRS_NESTED);
        if (!sound || r->index != first + k || (k > 0 && r->t_ns < rows[k - 1].t_ns))
            return false;
    }
    return true;
}

static bool do_sampler(uint32_t i, uint32_t turn)
{
    struct vrs_error error;
    if (turn % 64 == 1)
        vrs_sampler_stop(s.sampler);
    else if (turn % 8 == 2)
        return vrs_sampler_start(s.sampler, &error) == VRS_OK;
    else if (i % 2 == 0)
        vrs_sampler_now(s.sampler);
    return true;
}

static void do_all(void *arg, uint32_t i, uint32_t thread)
{
    static bool (*const kinds[KINDS])(uint32_t i, uint32_t turn) = { do_scope, do_checkpoint,
                                                                     do_names, do_ring,
                                                                     do_samples, do_sampler };
    (void)arg;
    (void)thread;
    for (uint32_t turn = 0; now_ms() < s.end_ms; turn++)
        for (uint32_t k = 0; k < KINDS; k++) {
            if (!kinds[(k + i) % KINDS](i, turn))
                s.wrong[i] |= 1u << (k + i) % KINDS;
            atomic_fetch_add(&s.turns[(k + i) % KINDS], 1);
        }
}

static void begin(void)
{
    struct vrs_error error;
    struct vrs_backend backend;
    struct vrs_sim_options sim = { .size = sizeof sim, .total_bytes = (uint64_t)1 << 34 };
    assert_int_equal(vrs_sim_make(&sim, &s.sim, &error), VRS_OK);
    assert_int_equal(vrs_meter_make(NULL, &s.meter, &error), VRS_OK);
    vrs_sim_backend(s.sim, &backend);
    assert_int_equal(vrs_meter_backend(s.meter, &backend, &s.backend, &error), VRS_OK);
    struct vrs_profiler_options profiler = { .size = sizeof profiler, .backend = s.backend };
    assert_int_equal(vrs_profiler_make(s.meter, &profiler, &s.profiler, &error), VRS_OK);
    struct vrs_sampler_options sampler = { .size = sizeof sampler,
                                           .backend = s.backend,
                                           .interval_ns = VRS_INTERVAL_LEAST_NS,
                                           .capacity = 1024,
                                           .sampled = count_sample,
                                           .reset_peaks = true };
    assert_int_equal(vrs_sampler_make(s.meter, &sampler, &s.sampler, &error), VRS_OK);
    assert_int_equal(vrs_ring_make(s.meter, sizeof(struct row), 1024, &s.ring, &error), VRS_OK);
    s.path = vrs_path(s.meter, 0, vrs_name(s.meter, "step", 4));
}

static void all_parts_work_at_once(void **state)
{
    (void)state;
    struct vrs_sampler_counts c;
    struct vrs_meter_losses l;
    begin();
    s.end_ms = now_ms() + SHORT_MS * (getenv("VRAMSCOPE_TEST_LONG") != NULL ? LONG_TIMES : 1u);
    pool_run(THREADS, &(struct pool_work){ THREADS, do_all, NULL, NULL });
    vrs_sampler_stop(s.sampler);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(s.wrong[i], 0);
    for (uint32_t k = 0; k < KINDS; k++)
        assert_in_range(s.turns[k], THREADS, UINT64_MAX);
    vrs_sampler_count(s.sampler, &c);
    assert_int_equal(c.rows.next, s.sampled);
    assert_int_equal(c.state, VRS_SAMPLER_STOPPED);
    vrs_meter_losses(s.meter, &l);
    assert_int_equal(l.slots + l.readings + l.resets + l.nested + l.names, 0);
    vrs_ring_free(s.ring);
    vrs_sampler_free(s.sampler);
    vrs_profiler_free(s.profiler);
    assert_int_equal(vrs_slots_open(s.meter, s.backend, 0), 0);
    vrs_meter_free(s.meter);
    vrs_sim_close(s.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_work_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
