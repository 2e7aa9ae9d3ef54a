#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "made/known_device.h"
#include "profiler/meter.h"
#include "vramscope/profiler.h"

static const struct vrs_meter_options defaults = { .size = sizeof defaults };

/* A meter with one device whose curves are known. */
struct bench {
    struct meter meter;
    struct known_device device;
    uint32_t id;
    /* For what happens inside a reading. */
    struct vrs_slot slot, other;
    struct vrs_peaks peaks;
    struct vrs_stats stats;
    enum vrs_state state;
    bool once;
    pid_t child;
    pthread_barrier_t inside, leave;
};

static struct bench b;

static void begin(const struct vrs_meter_options *options)
{
    memset(&b, 0, sizeof b);
    known_device_begin(&b.device);
    b.device.arg = &b;
    assert_true(meter_init(&b.meter, options));
    struct vrs_backend backend = known_device_backend(&b.device, KNOWN_RESETS);
    backend.arg = &b.device;
    b.id = meter_add(&b.meter, &backend);
    assert_int_equal(b.id, 1);
}

static void end(void)
{
    assert_int_equal(meter_slots(&b.meter, b.id, 0), 0);
    meter_free(&b.meter);
}

static struct vrs_meter_losses losses(void)
{
    struct vrs_meter_losses l;
    meter_losses(&b.meter, &l);
    return l;
}

static void a_slot_has_the_peak_between_its_readings(void **state)
{
    (void)state;
    struct vrs_peaks p;
    begin(&defaults);
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    known_device_spike(&b.device, 30);
    meter_mark(&b.meter, &b.slot, &p);
    assert_int_equal(p.peak[VRS_ALLOCATED], 40);
    assert_int_equal(p.state, VRS_EXACT);
    meter_close(&b.meter, &b.slot, &p);
    assert_int_equal(p.peak[VRS_ALLOCATED], 10);
    meter_close(&b.meter, &b.slot, &p); /* again */
    assert_int_equal(p.state, VRS_STATE_UNKNOWN);
    assert_int_equal(p.now.now[VRS_ALLOCATED], 10);
    end();
}

static void what_is_not_there_is_unknown(void **state)
{
    (void)state;
    struct vrs_peaks p;
    struct vrs_stats s;
    begin(&(struct vrs_meter_options){ .size = sizeof defaults, .slots = 1 });
    meter_open(&b.meter, 0, 0, 0, &b.slot); /* no backend */
    meter_close(&b.meter, &b.slot, &p);
    assert_int_equal(p.state, VRS_STATE_UNKNOWN);
    assert_int_equal(meter_read(&b.meter, 7, 0, true, &s), VRS_STATE_UNKNOWN);
    assert_int_equal(s.now[VRS_ALLOCATED], VRS_UNKNOWN);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    meter_open(&b.meter, b.id, 0, 0, &b.other); /* no room */
    assert_int_equal(b.other.place, 0);
    assert_int_equal(losses().slots, 2);
    b.device.fail_readings = 1;
    assert_int_equal(meter_read(&b.meter, b.id, 0, true, &s), VRS_STATE_UNKNOWN);
    assert_int_equal(s.now[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_int_equal(losses().readings, 1);
    meter_drop(&b.meter, &b.slot);
    assert_null(meter_backend(&b.meter, 9).stats);
    end();
}

/* ---- Asked inside a reading. ---- */

static void ask_again(void *arg)
{
    (void)arg;
    if (b.once)
        return;
    b.once = true;
    struct vrs_slot refused;
    meter_mark(&b.meter, &b.slot, &b.peaks);
    b.state = meter_read(&b.meter, b.id, 0, true, &b.stats);
    meter_open(&b.meter, b.id, 0, 0, &refused);
    assert_int_equal(refused.place, 0);
    struct vrs_peaks closed;
    meter_close(&b.meter, &b.other, &closed);
    assert_int_equal(closed.state, VRS_NESTED);
}

static void inside_a_reading_there_is_none(void **state)
{
    (void)state;
    struct vrs_peaks p;
    begin(&defaults);
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    meter_open(&b.meter, b.id, 0, VRS_KEEP_PEAK, &b.other);
    uint32_t readings = b.device.readings;
    known_device_change(&b.device, VRS_ALLOCATED, 5);
    b.device.inside = ask_again;
    meter_mark(&b.meter, &b.slot, &p);
    assert_int_equal(b.device.readings, readings + 1);
    assert_int_equal(b.peaks.state, VRS_NESTED);
    assert_int_equal(b.peaks.now.now[VRS_ALLOCATED], 10); /* the last one */
    assert_int_equal(b.peaks.peak[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_int_equal(b.state, VRS_NESTED);
    assert_int_equal(b.stats.now[VRS_ALLOCATED], 10);
    assert_int_equal(p.state, VRS_EXACT);
    assert_int_equal(p.peak[VRS_ALLOCATED], 15);
    assert_int_equal(losses().nested, 4);
    assert_int_equal(meter_slots(&b.meter, b.id, 0), 1);
    meter_drop(&b.meter, &b.slot);
    end();
}

static void close_the_same(void *arg)
{
    (void)arg;
    if (b.once)
        return;
    b.once = true;
    struct vrs_slot same = b.slot;
    meter_drop(&b.meter, &same);
}

static void a_slot_that_is_closed_inside_its_reading_is_unknown(void **state)
{
    (void)state;
    begin(&defaults);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    b.device.inside = close_the_same;
    meter_mark(&b.meter, &b.slot, &b.peaks);
    assert_int_equal(b.peaks.state, VRS_STATE_UNKNOWN);
    assert_int_equal(b.slot.place, 0);
    end();
}

/* ---- Another thread's reading that does not end. ---- */

static void stay_inside(void *arg)
{
    (void)arg;
    if (b.once)
        return;
    b.once = true;
    pthread_barrier_wait(&b.inside);
    pthread_barrier_wait(&b.leave);
}

static void *read_once(void *arg)
{
    (void)arg;
    (void)meter_read(&b.meter, b.id, 0, true, &b.stats);
    return NULL;
}

static void stay_in_reset(void *arg, bool spiked)
{
    (void)spiked;
    stay_inside(arg);
}

static void *open_once(void *arg)
{
    (void)arg;
    meter_open(&b.meter, b.id, 0, 0, &b.other);
    return NULL;
}

static pthread_t someone_is_inside(void *(*what)(void *arg))
{
    pthread_t thread;
    assert_int_equal(pthread_barrier_init(&b.inside, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&b.leave, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, what, NULL), 0);
    pthread_barrier_wait(&b.inside);
    return thread;
}

static pthread_t someone_reads(void)
{
    b.device.inside = stay_inside;
    return someone_is_inside(read_once);
}

static void someone_ends(pthread_t thread)
{
    pthread_barrier_wait(&b.leave);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&b.inside);
    pthread_barrier_destroy(&b.leave);
}

static uint32_t waits_begun, waits_ended;

static void *wait_begin(void *arg)
{
    waits_begun++;
    return arg;
}

static void wait_end(void *arg, void *begun)
{
    waits_ended += begun == arg;
}

static void a_reading_that_does_not_end_is_not_waited_for(void **state)
{
    (void)state;
    struct vrs_meter_options options = {
        .size = sizeof options, .wait_begin = wait_begin, .wait_end = wait_end, .wait_arg = &b
    };
    waits_begun = waits_ended = 0;
    begin(&options);
    meter_open(&b.meter, b.id, 0, VRS_KEEP_PEAK, &b.slot);
    meter_open(&b.meter, b.id, 0, 0, &b.other);
    pthread_t thread = someone_reads();
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    meter_mark(&b.meter, &b.other, &b.peaks);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_int_equal(b.peaks.state, VRS_STATE_UNKNOWN);
    assert_int_equal(b.peaks.now.now[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_in_range(after.tv_sec - before.tv_sec, 1, 30);
    assert_int_equal(losses().waits, 1);

    struct vrs_stats untouched = { .now = { 77 } };
    assert_int_equal(meter_read(&b.meter, b.id, 0, false, &untouched), VRS_NESTED);
    assert_int_equal(untouched.now[VRS_ALLOCATED], 77);
    meter_close(&b.meter, &b.slot, &b.peaks);
    assert_int_equal(b.peaks.state, VRS_STATE_UNKNOWN);
    assert_int_equal(losses().waits, 2);
    assert_int_equal(waits_begun, 2);
    assert_int_equal(waits_ended, 2);
    someone_ends(thread);

    /* What was closed meanwhile is gone with the next reading, and forbids no reset any more. */
    known_device_spike(&b.device, 5);
    meter_mark(&b.meter, &b.other, &b.peaks);
    assert_int_equal(b.peaks.state, VRS_EXACT);
    assert_int_equal(b.device.resets, 1);
    assert_int_equal(meter_slots(&b.meter, b.id, 0), 1);
    meter_drop(&b.meter, &b.other);
    end();
}

static int child_status(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Whether a child measures after a fork while another thread is inside a call of the backend, and
 * what becomes of a slot that was open then. */
static void check_child(pthread_t thread, enum vrs_state open_slot)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct vrs_peaks old, new;
        struct vrs_slot slot;
        meter_after_fork(&b.meter);
        meter_open(&b.meter, b.id, 0, 0, &slot);
        known_device_spike(&b.device, 9);
        meter_close(&b.meter, &slot, &new);
        meter_close(&b.meter, &b.slot, &old);
        bool ok = new.state == VRS_EXACT &&new.peak[VRS_ALLOCATED] == 9 && old.state == open_slot &&
                  (open_slot != VRS_EXACT || old.peak[VRS_ALLOCATED] == 9) &&
                  meter_slots(&b.meter, b.id, 0) == 0;
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(child_status(child), 0);
    someone_ends(thread);
    meter_close(&b.meter, &b.slot, &b.peaks);
    assert_int_equal(b.peaks.state, VRS_EXACT);
}

static void a_child_goes_on_after_a_fork_in_another_threads_reading(void **state)
{
    (void)state;
    begin(&defaults);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    check_child(someone_reads(), VRS_EXACT);
    end();
}

static void a_child_begins_anew_after_a_fork_in_another_threads_reset(void **state)
{
    (void)state;
    begin(&defaults);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    known_device_spike(&b.device, 5);
    b.device.was_reset = stay_in_reset;
    check_child(someone_is_inside(open_once), VRS_STATE_UNKNOWN);
    meter_drop(&b.meter, &b.other);
    end();
}

static void fork_inside(void *arg)
{
    (void)arg;
    if (b.once)
        return;
    b.once = true;
    b.child = fork();
    if (b.child == 0)
        meter_after_fork(&b.meter);
}

static void open_slots_stay_in_a_child(void **state)
{
    (void)state;
    begin(&defaults);
    meter_open(&b.meter, b.id, 0, 0, &b.slot);
    known_device_spike(&b.device, 9);
    b.device.inside = fork_inside;
    meter_mark(&b.meter, &b.slot, &b.peaks); /* both processes end this reading */
    bool ok = b.peaks.state == VRS_EXACT && b.peaks.peak[VRS_ALLOCATED] == 9;
    if (b.child == 0) {
        meter_close(&b.meter, &b.slot, &b.peaks);
        _exit(ok && b.peaks.state == VRS_EXACT && b.peaks.peak[VRS_ALLOCATED] == 0 ? 0 : 1);
    }
    assert_true(ok);
    assert_int_equal(child_status(b.child), 0);
    meter_drop(&b.meter, &b.slot);
    end();
}

/* ---- Threads. ---- */

/* In a long run so many times as many turns. */
enum { THREADS = 8, TURNS = 3000, LONG_TIMES = 20, CHANGES = 3 };

/* A device that threads change: its reading and reset are one. */
struct shared {
    struct meter meter;
    pthread_mutex_t guard; /* of the figures */
    uint64_t now, peak, highest;
    atomic_uint calls;
    atomic_bool stop;
    uint32_t id, turns;
    uint32_t wrong[THREADS];
};

static struct shared s;

static enum vrs_status look(struct vrs_stats *ret, bool swap)
{
    atomic_fetch_add(&s.calls, 1);
    pthread_mutex_lock(&s.guard);
    for (uint32_t k = 0; k < VRS_CURVES; k++) {
        ret->now[k] = s.now;
        ret->peak[k] = s.peak;
    }
    if (swap)
        s.peak = s.now;
    pthread_mutex_unlock(&s.guard);
    return VRS_OK;
}

static enum vrs_status shared_stats(void *arg, uint32_t device, struct vrs_stats *ret)
{
    (void)arg;
    (void)device;
    return look(ret, false);
}

static enum vrs_status shared_swap(void *arg, uint32_t device, struct vrs_stats *ret)
{
    (void)arg;
    (void)device;
    return look(ret, true);
}

static void change(int64_t by)
{
    pthread_mutex_lock(&s.guard);
    s.now += (uint64_t)by;
    s.peak = s.now > s.peak ? s.now : s.peak;
    s.highest = s.now > s.highest ? s.now : s.highest;
    pthread_mutex_unlock(&s.guard);
}

static void share(void)
{
    memset(&s, 0, sizeof s);
    assert_int_equal(pthread_mutex_init(&s.guard, NULL), 0);
    assert_true(meter_init(&s.meter, &defaults));
    s.id = meter_add(&s.meter, &(struct vrs_backend){ .size = sizeof(struct vrs_backend),
                                                      .stats = shared_stats,
                                                      .swap_peak = shared_swap });
}

/* Each thread holds at least what it has itself allocated, between its readings. */
static bool is_sound(const struct vrs_peaks *p, uint64_t held)
{
    uint64_t peak = p->peak[VRS_ALLOCATED];
    return p->state == VRS_EXACT && peak >= held && peak >= p->start[VRS_ALLOCATED] &&
           peak >= p->now.now[VRS_ALLOCATED] && peak == p->at_most[VRS_ALLOCATED] &&
           peak == p->peak[VRS_REQUESTED];
}

static void measure(void *arg, uint32_t i, uint32_t thread)
{
    (void)arg;
    (void)thread;
    struct vrs_slot outer;
    struct vrs_peaks p;
    meter_open(&s.meter, s.id, 0, 0, &outer);
    for (uint32_t turn = 0; turn < s.turns; turn++) {
        struct vrs_slot inner;
        struct vrs_stats ignored;
        uint64_t held = (turn % 7 + 1) * (i + 1);
        meter_open(&s.meter, s.id, 0, 0, &inner);
        for (uint32_t k = 0; k < CHANGES; k++) {
            change((int64_t)held);
            change(-(int64_t)held);
        }
        (void)meter_read(&s.meter, s.id, 0, false, &ignored);
        if (turn % 5 == 0)
            meter_drop(&s.meter, &inner);
        else
            meter_close(&s.meter, &inner, &p);
        s.wrong[i] += turn % 5 != 0 && !is_sound(&p, held);
        meter_mark(&s.meter, &outer, &p);
        s.wrong[i] += !is_sound(&p, held);
    }
    meter_drop(&s.meter, &outer);
}

static void threads_measure_one_device(void **state)
{
    (void)state;
    share();
    s.turns = TURNS * (getenv("VRAMSCOPE_TEST_LONG") != NULL ? LONG_TIMES : 1);
    pool_run(THREADS, &(struct pool_work){ THREADS, measure, NULL, NULL });
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(s.wrong[i], 0);
    assert_int_equal(meter_slots(&s.meter, s.id, 0), 0);
    struct vrs_meter_losses l;
    meter_losses(&s.meter, &l);
    assert_int_equal(l.slots + l.readings + l.resets + l.nested, 0);
    meter_free(&s.meter);
    pthread_mutex_destroy(&s.guard);
}

static void *read_on(void *arg)
{
    (void)arg;
    struct vrs_stats stats;
    for (uint32_t device = 0; !atomic_load(&s.stop); device = (device + 1) % 50)
        (void)meter_read(&s.meter, s.id, device, true, &stats);
    return NULL;
}

static void no_call_is_made_once_a_backend_is_retired(void **state)
{
    (void)state;
    share();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, NULL), 0);
    while (atomic_load(&s.calls) < 200)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    meter_retire(&s.meter, s.id);
    unsigned calls = atomic_load(&s.calls);
    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
    assert_int_equal(atomic_load(&s.calls), calls);
    atomic_store(&s.stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct vrs_stats stats;
    assert_int_equal(meter_read(&s.meter, s.id, 0, true, &stats), VRS_STATE_UNKNOWN);
    meter_retire(&s.meter, s.id);
    meter_retire(&s.meter, 99);
    meter_free(&s.meter);
    pthread_mutex_destroy(&s.guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_has_the_peak_between_its_readings),
        cmocka_unit_test(what_is_not_there_is_unknown),
        cmocka_unit_test(inside_a_reading_there_is_none),
        cmocka_unit_test(a_slot_that_is_closed_inside_its_reading_is_unknown),
        cmocka_unit_test(a_reading_that_does_not_end_is_not_waited_for),
        cmocka_unit_test(a_child_goes_on_after_a_fork_in_another_threads_reading),
        cmocka_unit_test(a_child_begins_anew_after_a_fork_in_another_threads_reset),
        cmocka_unit_test(open_slots_stay_in_a_child),
        cmocka_unit_test(threads_measure_one_device),
        cmocka_unit_test(no_call_is_made_once_a_backend_is_retired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
