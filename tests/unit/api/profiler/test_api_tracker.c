/* test_api_tracker.c - a tracker through the public calls: many threads at once, each allocation
 * failing, files that many fill. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
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
#include <unistd.h>
#include <vramscope/profiler.h>
#include <vramscope/sim.h>
#include <vramscope/tracker.h>

#include <cmocka.h>

#include "made/fault.h"

enum { THREADS = 8, TAKEN = 16, PATH_BYTES = 512 };
#define MEBI (UINT64_C(1) << 20)
#define MS_NS UINT64_C(1000000)

struct bench {
    struct vrs_meter *meter;
    struct vrs_sim *sim;
    struct vrs_tracker *tracker;
    char folder[64];
    atomic_bool over;
    atomic_uint_fast64_t taken;
};

static struct bench b;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum vrs_status status_ = (call);                                                          \
        if (status_ != VRS_OK)                                                                     \
            return status_;                                                                        \
    } while (0)

static enum vrs_status make(uint64_t interval_ns)
{
    struct vrs_error err;
    struct vrs_backend backend;
    struct vrs_tracker_options options = {
        .size = sizeof options,
        .interval_ns = interval_ns,
        .capacity = 500,
        .identity = { "job", 0, 0, 1, NULL, "sim", "a simulation" },
    };
    b.meter = NULL;
    b.sim = NULL;
    b.tracker = NULL;
    TRY(vrs_meter_make(NULL, &b.meter, &err));
    TRY(vrs_sim_make(NULL, &b.sim, &err));
    vrs_sim_backend(b.sim, &backend);
    TRY(vrs_meter_backend(b.meter, &backend, &options.backend, &err));
    return vrs_tracker_make(b.meter, &options, &b.tracker, &err);
}

static void end(void)
{
    vrs_tracker_free(b.tracker);
    if (b.meter != NULL)
        vrs_meter_free(b.meter);
    if (b.sim != NULL)
        vrs_sim_close(b.sim);
}

static void make_folder(void)
{
    snprintf(b.folder, sizeof b.folder, "/tmp/test_api_tracker.XXXXXX");
    assert_non_null(mkdtemp(b.folder));
}

/* Lines of all segments, which end whole; the folder goes. */
static uint64_t count_and_remove(void)
{
    uint64_t lines = 0;
    DIR *folder = opendir(b.folder);
    assert_non_null(folder);
    for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        char path[PATH_BYTES];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", b.folder, e->d_name);
        if (strstr(e->d_name, ".jsonl") != NULL) {
            FILE *file = fopen(path, "r");
            assert_non_null(file);
            int last = '\n';
            for (int c = fgetc(file); c != EOF; last = c, c = fgetc(file))
                lines += c == '\n';
            fclose(file);
            assert_int_equal(last, '\n');
        }
        assert_int_equal(unlink(path), 0);
    }
    closedir(folder);
    assert_int_equal(rmdir(b.folder), 0);
    return lines;
}

static void reserve_and_free(void)
{
    struct vrs_error err;
    struct vrs_sim_block block;
    struct vrs_sim_refusal refusal;
    const struct vrs_sim_request request = { .size = sizeof request, .bytes = 3 * MEBI };
    if (vrs_sim_alloc(b.sim, &request, &block, &refusal, &err) == VRS_OK)
        assert_int_equal(vrs_sim_free(b.sim, &block, NULL, &err), VRS_OK);
}

/* What one thread does again and again; which, by its number. */
static void act(uint32_t thread)
{
    struct vrs_event row[TAKEN];
    struct vrs_tracker_stats stats;
    struct vrs_timeline_point point[TAKEN];
    struct vrs_track_files_state files;
    const struct vrs_event_filter all = { .kinds = UINT32_MAX };
    uint32_t name = vrs_name(b.meter, "phase", 5), phase;
    switch (thread % 7) {
    case 0:
        reserve_and_free();
        vrs_tracker_sample(b.tracker);
        break;
    case 1:
        phase = vrs_tracker_enter(b.tracker, name, 0);
        vrs_tracker_note(b.tracker, VRS_EVENT_CLEANUP, name, 0);
        vrs_tracker_leave(b.tracker, phase);
        break;
    case 2:
        (void)vrs_tracker_events(b.tracker, &all, TAKEN, row);
        break;
    case 3:
        vrs_tracker_count(b.tracker, &stats);
        assert_true(stats.events <= 500);
        break;
    case 4:
        atomic_fetch_add(&b.taken, vrs_tracker_take(b.tracker, TAKEN, MS_NS, row));
        break;
    case 5:
        (void)vrs_tracker_timeline(b.tracker, MS_NS, point, TAKEN);
        vrs_tracker_files_state(b.tracker, &files);
        break;
    default:
        vrs_tracker_threshold(b.tracker, VRS_GROWTH_BYTES, (double)(MEBI << (clock() & 3)));
        break;
    }
}

static void *work(void *arg)
{
    uint32_t thread = *(uint32_t *)arg;
    while (!atomic_load(&b.over))
        act(thread);
    return NULL;
}

static void many_threads_use_one_tracker(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    uint32_t number[THREADS];
    struct vrs_error err;
    struct vrs_track_files_state files;
    make_folder();
    assert_int_equal(make(MS_NS), VRS_OK);
    const struct vrs_track_files wanted = { .size = sizeof wanted,
                                            .folder = b.folder,
                                            .flush_ns = MS_NS,
                                            .roll_bytes = 100000,
                                            .keep_files = 1000000 };
    assert_int_equal(vrs_tracker_files(b.tracker, &wanted, &err), VRS_OK);
    assert_int_equal(vrs_tracker_subscribe(b.tracker, 1u << VRS_EVENT_CLEANUP, &err), VRS_OK);
    atomic_store(&b.over, false);
    atomic_store(&b.taken, 0);
    assert_int_equal(vrs_tracker_start(b.tracker, &err), VRS_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &number[i]), 0);
    }
    nanosleep(&(struct timespec){ .tv_nsec = 400 * (long)MS_NS }, NULL);
    atomic_store(&b.over, true);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    vrs_tracker_halt(b.tracker);
    vrs_tracker_stop(b.tracker, false);
    assert_true(atomic_load(&b.taken) > 0);

    const struct vrs_event_filter all = { .kinds = UINT32_MAX };
    static struct vrs_event row[1000];
    uint32_t count = vrs_tracker_events(b.tracker, &all, 1000, row);
    assert_true(count > 500 && row[count - 1].kind == VRS_EVENT_STOP);
    vrs_tracker_files_state(b.tracker, &files);
    assert_int_equal(files.records + files.dropped, row[count - 1].index + 1);
    assert_string_equal(files.failure, "");
    end();
    assert_int_equal(count_and_remove(), files.records);
}

/* A slot of the ledger that could not be opened says unknown, and nothing else is hurt. */
static void survived(void *arg)
{
    assert_true(*(bool *)arg);
}

static enum vrs_status make_and_use(void *arg)
{
    struct vrs_error err;
    bool *whole = arg;
    const struct vrs_identity who = { "another", 1, 1, 2, "x", "y", NULL };
    enum vrs_status status = make(3600 * 1000 * MS_NS);
    const struct vrs_track_files wanted = { .size = sizeof wanted, .folder = "/nowhere" };
    if (status == VRS_OK)
        status = vrs_tracker_identify(b.tracker, &who, &err);
    if (status == VRS_OK)
        status = vrs_tracker_files(b.tracker, &wanted, &err);
    if (status == VRS_OK)
        status = vrs_tracker_subscribe(b.tracker, 1, &err);
    *whole = status != VRS_OK || !vrs_tracker_running(b.tracker);
    end();
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    bool whole = false;
    fault_each(make_and_use, survived, &whole);
}

static bool refuse(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
    return false;
}

static bool take_all(void *arg, const char *bytes, size_t len)
{
    (void)bytes;
    *(size_t *)arg += len;
    return true;
}

static enum vrs_status export_it(void *arg)
{
    struct vrs_error err;
    size_t len = 0;
    const struct vrs_sink sink = { take_all, &len };
    enum vrs_status status =
        vrs_tracker_export(b.tracker, *(enum vrs_telemetry_format *)arg, &sink, &err);
    assert_true(status != VRS_OK || len > 100);
    return status;
}

static void each_allocation_of_an_export_may_fail(void **state)
{
    (void)state;
    struct vrs_error err;
    const struct vrs_sink none = { refuse, NULL };
    assert_int_equal(make(3600 * 1000 * MS_NS), VRS_OK);
    assert_int_equal(vrs_tracker_start(b.tracker, &err), VRS_OK);
    vrs_tracker_leave(b.tracker, vrs_tracker_enter(b.tracker, vrs_name(b.meter, "a", 1),
                                                   vrs_name(b.meter, "{\"x\": 1}", 8)));
    for (enum vrs_telemetry_format f = VRS_TELEMETRY_LINES; f <= VRS_TELEMETRY_CSV; f++) {
        fault_each(export_it, NULL, &f);
        assert_int_equal(vrs_tracker_export(b.tracker, f, &none, &err), VRS_IO);
    }
    end();
}

static void without_a_thread_it_does_not_run(void **state)
{
    (void)state;
    struct vrs_error err;
    assert_int_equal(make(MS_NS), VRS_OK);
    fault_threads_left = 0;
    assert_int_equal(vrs_tracker_start(b.tracker, &err), VRS_LIMIT);
    fault_threads_left = -1;
    assert_false(vrs_tracker_running(b.tracker));
    assert_int_equal(vrs_tracker_start(b.tracker, &err), VRS_OK);
    assert_true(vrs_tracker_running(b.tracker));
    end();
}

static void a_text_is_cut_to_its_room(void **state)
{
    (void)state;
    char text[24];
    assert_int_equal(make(MS_NS), VRS_OK);
    const struct vrs_event e = { .kind = VRS_EVENT_CRITICAL,
                                 .alert = VRS_ALERT_USAGE,
                                 .value = 95.06 };
    vrs_event_text(b.meter, &e, text, sizeof text);
    assert_string_equal(text, "CRITICAL: Memory usage ");
    vrs_tracker_line(b.tracker, text, sizeof text);
    assert_string_equal(text, "- allocated, peak -");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_use_one_tracker),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(each_allocation_of_an_export_may_fail),
        cmocka_unit_test(without_a_thread_it_does_not_run),
        cmocka_unit_test(a_text_is_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
