#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "made/fault.h"
#include "made/known_device.h"
#include "unit/device/fake_nvml.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"

enum { MS = 1000000, THREAD_NAME = 16, SOME = 64 };

/* The thread sanitizer ends a child that begins a thread. */
#ifdef __SANITIZE_THREAD__
enum { CHILD_THREADS = 0 };
#else
enum { CHILD_THREADS = 1 };
#endif

/* A sampler of one device whose curves are known, and a clock that the test sets. */
struct bench {
    struct vrs_meter *meter;
    struct vrs_sampler *sampler;
    struct known_device device;
    uint64_t clock;
    uint64_t left, total; /* what the driver says */
    double busy;          /* negative: it says nothing */
    uint32_t backend;
    /* What the sampling thread met. */
    pthread_mutex_t guard;
    pthread_cond_t came;
    uint32_t samples, threads;
    pthread_t thread;
    bool blocked;
    char name[THREAD_NAME];
    long stall_ms; /* in the first sample */
    /* Another thread's reading. */
    bool once;
    pthread_barrier_t inside, leave;
    const char *driver_id; /* NULL: not known yet */
};

static struct bench b;

static uint64_t clock_ns(void *arg)
{
    (void)arg;
    return b.clock;
}

static enum vrs_status memory(void *arg, uint32_t device, uint64_t *ret_free, uint64_t *ret_total)
{
    (void)arg;
    (void)device;
    *ret_free = b.left;
    *ret_total = b.total;
    return VRS_OK;
}

static enum vrs_status utilisation(void *arg, uint32_t device, double *ret_percent)
{
    (void)arg;
    (void)device;
    *ret_percent = b.busy;
    return b.busy < 0 ? VRS_UNSUPPORTED : VRS_OK;
}

static void sampled(void *arg, const struct vrs_sample *sample)
{
    (void)arg;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    pthread_mutex_lock(&b.guard);
    b.blocked = sigismember(&set, SIGINT) == 1 && sigismember(&set, SIGPROF) == 1;
    if (b.samples == 0 || !pthread_equal(b.thread, pthread_self()))
        b.threads++;
    b.thread = pthread_self();
    prctl(PR_GET_NAME, b.name);
    bool first = b.samples++ == 0;
    pthread_cond_broadcast(&b.came);
    pthread_mutex_unlock(&b.guard);
    if (first && b.stall_ms != 0)
        nanosleep(&(struct timespec){ .tv_nsec = b.stall_ms * MS }, NULL);
    (void)sample;
}

static void wait_for(uint32_t samples)
{
    pthread_mutex_lock(&b.guard);
    while (b.samples < samples)
        pthread_cond_wait(&b.came, &b.guard);
    pthread_mutex_unlock(&b.guard);
}

static enum vrs_status driver_id(void *arg, uint32_t device, char *ret, size_t room)
{
    (void)arg;
    if (b.driver_id == NULL)
        return VRS_IO;
    snprintf(ret, room, "%s:%u", b.driver_id, device);
    return VRS_OK;
}

enum { ANY_THREAD = 1, OWN_CLOCK = 2, NO_FUNCTIONS = 4 };

/* The library that stands for the driver's, and what it answers. */
static const char *library;
static struct fake_nvml *fake;

static int find_fake(void **state)
{
    (void)state;
    library = getenv("VRAMSCOPE_TEST_NVML");
    void *handle = library == NULL ? NULL : dlopen(library, RTLD_NOW);
    fake = handle == NULL ? NULL : dlsym(handle, "fake_nvml");
    return fake != NULL ? 0 : -1;
}

static enum vrs_status make(uint32_t how, struct vrs_sampler_options options)
{
    struct vrs_error error;
    memset(&b, 0, sizeof b);
    known_device_begin(&b.device);
    b.clock = 5000;
    b.left = 60;
    b.total = 100;
    b.busy = 12.5;
    pthread_mutex_init(&b.guard, NULL);
    pthread_cond_init(&b.came, NULL);
    struct vrs_meter_options meter = { .size = sizeof meter, .driver = library };
    enum vrs_status status = vrs_meter_make(&meter, &b.meter, &error);
    if (status != VRS_OK)
        return status;
    struct vrs_backend backend = known_device_backend(&b.device, KNOWN_RESETS);
    if (how & NO_FUNCTIONS)
        backend = (struct vrs_backend){ .size = sizeof backend, .name = "none" };
    else
        backend.memory = memory, backend.utilisation = utilisation, backend.driver_id = driver_id;
    backend.any_thread = (how & ANY_THREAD) != 0;
    backend.clock_ns = how & OWN_CLOCK ? clock_ns : NULL;
    options.size = sizeof options;
    if (options.interval_ns == 0)
        options.interval_ns = MS;
    options.sampled = sampled;
    status = vrs_meter_backend(b.meter, &backend, &b.backend, &error);
    options.backend = b.backend;
    return status != VRS_OK ? status : vrs_sampler_make(b.meter, &options, &b.sampler, &error);
}

static void begin(uint32_t how, struct vrs_sampler_options options)
{
    assert_int_equal(make(how, options), VRS_OK);
}

static void end(void)
{
    vrs_sampler_free(b.sampler);
    assert_int_equal(vrs_slots_open(b.meter, b.backend, 0), 0);
    vrs_meter_free(b.meter);
}

static struct vrs_sample take(void)
{
    struct vrs_sample row[2];
    struct vrs_sampler_counts c;
    uint64_t first;
    vrs_sampler_now(b.sampler);
    vrs_sampler_count(b.sampler, &c);
    assert_int_equal(vrs_sampler_copy(b.sampler, c.rows.next - 1, 2, row, &first), 1);
    assert_int_equal(row[0].index, c.rows.next - 1);
    return row[0];
}

static struct vrs_sampler_counts counts(void)
{
    struct vrs_sampler_counts c;
    vrs_sampler_count(b.sampler, &c);
    return c;
}

/* ---- One sample. ---- */

static void a_sample_has_what_is_known(void **state)
{
    (void)state;
    begin(ANY_THREAD | OWN_CLOCK, (struct vrs_sampler_options){ .device = 3 });
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    known_device_change(&b.device, VRS_RESERVED, 20);
    struct vrs_sample first = take();
    b.clock += 3600 * (uint64_t)1000 * MS;
    struct vrs_sample s = take();
    assert_int_equal(first.t_ns, 0);
    assert_int_equal(s.t_ns, 3600 * (uint64_t)1000 * MS);
    assert_int_equal(s.unix_us - first.unix_us, 3600 * (uint64_t)1000000);
    assert_int_equal(s.device, 3);
    assert_int_equal(s.now[VRS_ALLOCATED], 10);
    assert_int_equal(s.now[VRS_RESERVED], 20);
    assert_int_equal(s.allocations, 1);
    assert_int_equal(s.allocated_bytes, 10);
    assert_int_equal(s.age_ns, 0);
    assert_int_equal(s.device_used, 40);
    assert_int_equal(s.device_total, 100);
    assert_true(s.utilisation == 12.5);
    assert_in_range(s.rss, 1, (uint64_t)1 << 46);
    assert_int_equal(s.state, VRS_EXACT);
    b.busy = -1;
    b.left = VRS_UNKNOWN;
    s = take();
    assert_true(s.utilisation < 0);
    assert_int_equal(s.device_used, VRS_UNKNOWN);
    assert_int_equal(s.device_total, 100);
    end();
}

static void nothing_is_known_without_functions(void **state)
{
    (void)state;
    begin(ANY_THREAD | NO_FUNCTIONS, (struct vrs_sampler_options){ 0 });
    struct vrs_sample s = take();
    assert_int_equal(s.state, VRS_STATE_UNKNOWN);
    for (uint32_t k = 0; k < VRS_CURVES; k++)
        assert_int_equal(s.now[k], VRS_UNKNOWN);
    assert_int_equal(s.peak, VRS_UNKNOWN);
    assert_int_equal(s.age_ns, VRS_UNKNOWN);
    assert_int_equal(s.device_total, VRS_UNKNOWN);
    assert_true(s.utilisation < 0);
    assert_int_equal(counts().busy, 0);
    end();
}

static void a_reading_that_fails_is_unknown_and_the_next_one_known(void **state)
{
    (void)state;
    begin(ANY_THREAD | OWN_CLOCK, (struct vrs_sampler_options){ 0 });
    b.device.fail_readings = 1;
    struct vrs_sample s = take();
    assert_int_equal(s.state, VRS_STATE_UNKNOWN);
    assert_int_equal(s.now[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_int_equal(s.age_ns, VRS_UNKNOWN);
    known_device_change(&b.device, VRS_ALLOCATED, 4);
    s = take();
    assert_int_equal(s.now[VRS_ALLOCATED], 4);
    assert_int_equal(s.state, VRS_EXACT);
    end();
}

static void the_peak_between_two_samples_is_kept(void **state)
{
    (void)state;
    begin(ANY_THREAD, (struct vrs_sampler_options){ .reset_peaks = true });
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    known_device_spike(&b.device, 30);
    struct vrs_sample s = take();
    assert_int_equal(s.peak, 40);
    known_device_spike(&b.device, 5);
    s = take();
    assert_int_equal(s.peak, 15);
    assert_int_equal(s.state, VRS_EXACT);
    assert_int_equal(take().peak, 10);
    assert_int_equal(b.device.resets, 2);
    end();
}

static void without_resets_it_is_a_lower_bound_at_times(void **state)
{
    (void)state;
    begin(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    known_device_spike(&b.device, 30);
    struct vrs_sample s = take();
    assert_int_equal(s.peak, 40); /* the counter climbed: it was now */
    assert_int_equal(s.state, VRS_EXACT);
    known_device_spike(&b.device, 5);
    s = take();
    assert_int_equal(s.peak, 10);
    assert_int_equal(s.state, VRS_SAMPLED);
    known_device_spike(&b.device, 31);
    s = take();
    assert_int_equal(s.peak, 41);
    assert_int_equal(s.state, VRS_EXACT);
    assert_int_equal(b.device.resets, 0);
    end();
}

/* ---- What others read. ---- */

static void published_values_are_taken_with_their_age(void **state)
{
    (void)state;
    struct vrs_stats stats;
    begin(OWN_CLOCK, (struct vrs_sampler_options){ .interval_ns = 100 * MS, .reset_peaks = true });
    assert_true(vrs_sampler_needs_reader(b.sampler));
    uint32_t readings = b.device.readings;
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    b.clock += 10;
    struct vrs_sample s = take();
    assert_int_equal(b.device.readings, readings);
    assert_int_equal(s.now[VRS_ALLOCATED], 0);
    assert_int_equal(s.age_ns, 10);
    assert_int_equal(s.device_total, VRS_UNKNOWN); /* nor is the driver asked through the backend */

    known_device_spike(&b.device, 30);
    assert_int_equal(vrs_meter_read(b.meter, b.backend, 0, true, &stats), VRS_EXACT);
    b.clock += 7;
    s = take();
    assert_int_equal(s.now[VRS_ALLOCATED], 10);
    assert_int_equal(s.age_ns, 7);
    assert_int_equal(s.peak, 40);
    assert_int_equal(s.state, VRS_EXACT);
    s = take(); /* nothing was read between them */
    assert_int_equal(s.peak, 10);

    known_device_spike(&b.device, 2);
    vrs_sampler_read(b.sampler);
    s = take();
    assert_int_equal(s.age_ns, 0);
    assert_int_equal(s.peak, 10); /* the counter stood at 40 from before, and was reset only now */
    assert_int_equal(s.state, VRS_SAMPLED);
    known_device_spike(&b.device, 3);
    vrs_sampler_read(b.sampler);
    s = take();
    assert_int_equal(s.peak, 13);
    assert_int_equal(s.state, VRS_EXACT);
    end();
}

static void a_reader_without_resets_makes_none(void **state)
{
    (void)state;
    begin(OWN_CLOCK, (struct vrs_sampler_options){ 0 });
    known_device_spike(&b.device, 30);
    vrs_sampler_read(b.sampler);
    assert_int_equal(take().peak, 30);
    vrs_sampler_read(b.sampler);
    assert_int_equal(take().state, VRS_SAMPLED);
    assert_int_equal(b.device.resets, 0);
    end();
}

/* ---- What the driver says. ---- */

static void the_driver_is_asked_by_the_devices_id(void **state)
{
    (void)state;
    *fake = (struct fake_nvml){ .total = 1000, .used = 400, .percent = 30 };
    begin(OWN_CLOCK, (struct vrs_sampler_options){ .device = 3 });
    struct vrs_sample s = take();
    assert_int_equal(s.device_used, VRS_UNKNOWN);
    assert_true(s.utilisation < 0);
    assert_string_equal(counts().driver,
                        "the backend does not say which device of the driver it is");
    assert_int_equal(fake->inits, 0);

    b.driver_id = "GPU-1"; /* it is known from a later reading on */
    vrs_sampler_read(b.sampler);
    for (uint32_t i = 0; i < 50; i++)
        s = take();
    assert_int_equal(s.device_used, 400);
    assert_int_equal(s.device_total, 1000);
    assert_true(s.utilisation == 30);
    assert_string_equal(counts().driver, "");
    assert_string_equal(fake->found, "uuid GPU-1:3");
    assert_int_equal(fake->inits, 1);
    /* 50 samples in much less than a second. */
    assert_in_range(fake->memories, 1, 11);
    assert_in_range(fake->utilisations, 1, 2);
    end();
    assert_int_equal(fake->shutdowns, 1);
}

static void a_driver_that_fails_is_a_reason(void **state)
{
    (void)state;
    *fake = (struct fake_nvml){ .total = 1000, .used = 400, .utilisation = 3 };
    begin(OWN_CLOCK, (struct vrs_sampler_options){ 0 });
    b.driver_id = "GPU-1";
    vrs_sampler_read(b.sampler);
    struct vrs_sample s = take();
    assert_int_equal(s.device_used, 400);
    assert_true(s.utilisation < 0);
    assert_string_equal(counts().driver, "nvmlDeviceGetUtilizationRates: Not Supported");
    end();

    *fake = (struct fake_nvml){ .find = 15 };
    begin(OWN_CLOCK, (struct vrs_sampler_options){ 0 });
    b.driver_id = "0000:65:00.0";
    vrs_sampler_read(b.sampler);
    assert_int_equal(take().device_used, VRS_UNKNOWN);
    assert_string_equal(counts().driver, "nvmlDeviceGetHandleByPciBusId_v2: GPU is lost");
    end();
}

static void a_question_to_the_driver_has_all_it_says(void **state)
{
    (void)state;
    struct vrs_driver_figures d;
    begin(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    *fake = (struct fake_nvml){ .total = 1000, .used = 400, .percent = 30, .count = 2 };
    fake->pid = (unsigned)getpid();
    fake->process_bytes = 7;
    vrs_driver(b.meter, "GPU-1", &d);
    assert_int_equal(d.used, 400);
    assert_int_equal(d.total, 1000);
    assert_true(d.utilisation == 30);
    assert_int_equal(d.processes, 2);
    assert_int_equal(d.own, 7);
    assert_string_equal(d.why, "");
    fake->processes = 3;
    vrs_driver(b.meter, "GPU-1", &d);
    assert_int_equal(d.processes, VRS_UNKNOWN);
    assert_int_equal(d.own, VRS_UNKNOWN);
    assert_int_equal(d.used, 400);
    assert_string_equal(d.why, "nvmlDeviceGetComputeRunningProcesses_v3: Not Supported");
    end();
}

static void *serve(void *arg)
{
    uint32_t *readings = arg;
    while (vrs_sampler_wait(b.sampler)) {
        vrs_sampler_read(b.sampler);
        pthread_mutex_lock(&b.guard);
        ++*readings;
        pthread_cond_broadcast(&b.came);
        pthread_mutex_unlock(&b.guard);
    }
    return NULL;
}

static void old_values_wake_the_reader(void **state)
{
    (void)state;
    uint32_t readings = 0;
    pthread_t reader;
    struct vrs_error error;
    begin(0, (struct vrs_sampler_options){ .interval_ns = 5 * MS });
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    assert_int_equal(pthread_create(&reader, NULL, serve, &readings), 0);
    pthread_mutex_lock(&b.guard);
    while (readings < 3)
        pthread_cond_wait(&b.came, &b.guard);
    uint32_t samples = b.samples;
    pthread_mutex_unlock(&b.guard);
    vrs_sampler_stop(b.sampler);
    pthread_join(reader, NULL); /* which the stop has ended */
    /* At most 20 a second: two readings are 50 ms apart, and some samples have that long. */
    assert_in_range(samples + counts().skipped, 10, UINT32_MAX);
    assert_false(vrs_sampler_wait(b.sampler));
    end();
}

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
    struct vrs_stats stats;
    (void)arg;
    (void)vrs_meter_read(b.meter, b.backend, 0, true, &stats);
    return NULL;
}

/* Another thread reads the device until `busy_end`. */
static void busy_begin(pthread_t *ret)
{
    b.device.inside = stay_inside;
    pthread_barrier_init(&b.inside, NULL, 2);
    pthread_barrier_init(&b.leave, NULL, 2);
    assert_int_equal(pthread_create(ret, NULL, read_once, NULL), 0);
    pthread_barrier_wait(&b.inside);
}

static void busy_end(pthread_t thread)
{
    pthread_barrier_wait(&b.leave);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&b.inside);
    pthread_barrier_destroy(&b.leave);
}

static void a_busy_device_is_not_waited_for(void **state)
{
    (void)state;
    pthread_t thread;
    begin(ANY_THREAD | OWN_CLOCK, (struct vrs_sampler_options){ 0 });
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    (void)take();
    busy_begin(&thread);
    b.clock += 9;
    struct vrs_sample s = take();
    assert_int_equal(s.state, VRS_NESTED);
    assert_int_equal(s.now[VRS_ALLOCATED], 10);
    assert_int_equal(s.t_ns, 9);
    assert_int_equal(s.age_ns, 9);
    assert_int_equal(s.peak, VRS_UNKNOWN);
    assert_int_equal(counts().busy, 1);
    vrs_sampler_clear(b.sampler);
    assert_int_equal(counts().busy, 0);
    assert_int_equal(counts().rows.first, 2);
    assert_int_equal(counts().rows.next, 2);
    busy_end(thread);
    assert_int_equal(take().state, VRS_EXACT);
    end();
}

static void a_device_that_is_busy_from_the_start_is_unknown(void **state)
{
    (void)state;
    pthread_t thread;
    begin(ANY_THREAD | OWN_CLOCK, (struct vrs_sampler_options){ 0 });
    known_device_change(&b.device, VRS_ALLOCATED, 10);
    busy_begin(&thread);
    struct vrs_sample s = take();
    assert_int_equal(s.state, VRS_STATE_UNKNOWN);
    assert_int_equal(s.now[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_int_equal(s.allocations, VRS_UNKNOWN);
    assert_int_equal(s.peak, VRS_UNKNOWN);
    assert_int_equal(s.age_ns, VRS_UNKNOWN);
    busy_end(thread);
    assert_int_equal(take().state, VRS_EXACT);
    end();
}

/* ---- The thread. ---- */

static void an_interval_has_bounds(void **state)
{
    (void)state;
    const uint64_t hour = VRS_INTERVAL_MOST_NS;
    const uint64_t interval[] = { 1, MS - 1, MS, hour, hour + 1, UINT64_MAX };
    const enum vrs_status status[] = { VRS_USAGE, VRS_USAGE, VRS_OK, VRS_OK, VRS_USAGE, VRS_USAGE };
    for (size_t i = 0; i < sizeof status / sizeof status[0]; i++) {
        enum vrs_status got =
            make(ANY_THREAD, (struct vrs_sampler_options){ .interval_ns = interval[i] });
        assert_int_equal(got, status[i]);
        if (got != VRS_OK)
            b.sampler = NULL;
        end();
    }
}

static void the_thread_samples_until_it_is_stopped(void **state)
{
    (void)state;
    struct vrs_error error;
    begin(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    assert_int_equal(counts().state, VRS_SAMPLER_STOPPED);
    vrs_sampler_stop(b.sampler); /* it does not run */
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    assert_int_equal(counts().state, VRS_SAMPLER_RUNNING);
    wait_for(5);
    vrs_sampler_stop(b.sampler);
    uint64_t next = counts().rows.next;
    assert_int_equal(counts().state, VRS_SAMPLER_STOPPED);
    assert_int_equal(b.samples, next);
    assert_int_equal(b.threads, 1);
    assert_true(b.blocked);
    assert_string_equal(b.name, "vramscope");
    nanosleep(&(struct timespec){ .tv_nsec = 5 * MS }, NULL);
    assert_int_equal(counts().rows.next, next);

    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK); /* again */
    wait_for((uint32_t)next + 1);
    end(); /* which stops it */
}

static void a_long_interval_ends_at_once(void **state)
{
    (void)state;
    struct vrs_error error;
    struct timespec before, after;
    begin(ANY_THREAD, (struct vrs_sampler_options){ .interval_ns = VRS_INTERVAL_MOST_NS });
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    wait_for(1);
    clock_gettime(CLOCK_MONOTONIC, &before);
    vrs_sampler_stop(b.sampler);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_in_range(after.tv_sec - before.tv_sec, 0, 30);
    assert_int_equal(counts().rows.next, 1);
    end();
}

static void slots_that_are_over_are_counted_and_not_made_up_for(void **state)
{
    (void)state;
    struct vrs_error error;
    struct vrs_sample row[SOME];
    uint64_t first;
    begin(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    b.stall_ms = 50;
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    wait_for(4);
    vrs_sampler_stop(b.sampler);
    assert_in_range(counts().skipped, 48, UINT32_MAX);
    uint32_t count = vrs_sampler_copy(b.sampler, 0, SOME, row, &first);
    assert_in_range(count, 4, SOME);
    /* The time table stays: so many slots have gone by, and no more. */
    uint64_t went = row[count - 1].t_ns - row[0].t_ns;
    assert_in_range(count - 1 + counts().skipped, 0, went / MS + 1);
    end();
}

static void without_a_thread_there_is_a_reason(void **state)
{
    (void)state;
    struct vrs_error error = { .status = VRS_OK };
    begin(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    fault_threads_left = 0;
    enum vrs_status status = vrs_sampler_start(b.sampler, &error);
    fault_threads_left = -1;
    assert_int_equal(status, VRS_LIMIT);
    assert_non_null(strstr(error.message, "no thread for samples: too many"));
    assert_int_equal(counts().state, VRS_SAMPLER_STOPPED);
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    wait_for(1);
    end();
}

static void a_child_of_fork_can_start_again(void **state)
{
    (void)state;
    struct vrs_error error;
    begin(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    assert_int_equal(vrs_sampler_start(b.sampler, &error), VRS_OK);
    wait_for(2);
    pthread_mutex_lock(&b.guard); /* so that the child has it */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        vrs_meter_after_fork(b.meter);
        pthread_mutex_unlock(&b.guard);
        bool forked = counts().state == VRS_SAMPLER_FORKED && !vrs_sampler_wait(b.sampler);
        uint64_t next = counts().rows.next;
        vrs_sampler_now(b.sampler);
        bool ok = forked && counts().rows.next == next + 1;
        if (CHILD_THREADS) {
            ok = ok && vrs_sampler_start(b.sampler, &error) == VRS_OK;
            wait_for(b.samples + 2);
            ok = ok && counts().state == VRS_SAMPLER_RUNNING;
        }
        vrs_sampler_stop(b.sampler);
        _exit(ok && counts().state == VRS_SAMPLER_STOPPED ? 0 : 1);
    }
    uint32_t samples = b.samples;
    pthread_mutex_unlock(&b.guard);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wait_for(samples + 2); /* the parent's goes on */
    end();
}

static struct vrs_sampler_counts last_counts;

static enum vrs_status use_all(void *arg)
{
    (void)arg;
    enum vrs_status status = make(ANY_THREAD, (struct vrs_sampler_options){ 0 });
    if (status == VRS_OK) {
        vrs_sampler_now(b.sampler);
        last_counts = counts();
    }
    vrs_sampler_free(b.sampler);
    vrs_meter_free(b.meter);
    return status;
}

/* Without its slot it has no peaks, and a row without a place is counted. */
static void sampled_once(void *arg)
{
    (void)arg;
    assert_int_equal(b.samples, 1);
    assert_int_equal(last_counts.rows.next + last_counts.rows.lost, 1);
}

static void it_lives_without_memory(void **state)
{
    (void)state;
    fault_each(use_all, sampled_once, NULL);
}

static void check_memory(uint64_t left, uint64_t total, uint64_t used)
{
    struct vrs_device_memory m;
    struct vrs_backend backend = { .size = sizeof backend, .memory = memory };
    b.left = left;
    b.total = total;
    vrs_device_memory(&backend, 0, &m);
    assert_true(m.used == used && m.free == left && m.total == total);
}

static enum vrs_status no_memory_told(void *arg, uint32_t device, uint64_t *ret_free,
                                      uint64_t *ret_total)
{
    memory(arg, device, ret_free, ret_total);
    return VRS_IO;
}

static void what_is_used_of_a_device_is_known_where_both_others_are(void **state)
{
    (void)state;
    check_memory(60, 100, 40);
    check_memory(100, 100, 0);
    check_memory(101, 100, VRS_UNKNOWN);
    check_memory(VRS_UNKNOWN, 100, VRS_UNKNOWN);
    check_memory(60, VRS_UNKNOWN, VRS_UNKNOWN);
    struct vrs_device_memory m;
    struct vrs_backend backend = { .size = sizeof backend };
    for (int i = 0; i < 2; i++) {
        vrs_device_memory(&backend, 0, &m);
        assert_true(m.used == VRS_UNKNOWN && m.free == VRS_UNKNOWN && m.total == VRS_UNKNOWN);
        backend.memory = no_memory_told;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_has_what_is_known),
        cmocka_unit_test(nothing_is_known_without_functions),
        cmocka_unit_test(a_reading_that_fails_is_unknown_and_the_next_one_known),
        cmocka_unit_test(the_peak_between_two_samples_is_kept),
        cmocka_unit_test(without_resets_it_is_a_lower_bound_at_times),
        cmocka_unit_test(published_values_are_taken_with_their_age),
        cmocka_unit_test(a_reader_without_resets_makes_none),
        cmocka_unit_test(the_driver_is_asked_by_the_devices_id),
        cmocka_unit_test(a_driver_that_fails_is_a_reason),
        cmocka_unit_test(a_question_to_the_driver_has_all_it_says),
        cmocka_unit_test(old_values_wake_the_reader),
        cmocka_unit_test(a_busy_device_is_not_waited_for),
        cmocka_unit_test(a_device_that_is_busy_from_the_start_is_unknown),
        cmocka_unit_test(an_interval_has_bounds),
        cmocka_unit_test(the_thread_samples_until_it_is_stopped),
        cmocka_unit_test(a_long_interval_ends_at_once),
        cmocka_unit_test(slots_that_are_over_are_counted_and_not_made_up_for),
        cmocka_unit_test(without_a_thread_there_is_a_reason),
        cmocka_unit_test(a_child_of_fork_can_start_again),
        cmocka_unit_test(what_is_used_of_a_device_is_known_where_both_others_are),
        cmocka_unit_test(it_lives_without_memory),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
