#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/fault.h"
#include "profiler/event_queue.h"
#include "profiler/tracker.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"
#include "vramscope/tracker.h"

/* Samples a second apart of a device whose size makes a byte a hundredth of a percent. */
enum { DEVICE = 10000, KINDS_TOLD = 64, SECOND_US = 1000000 };
#define SECOND_NS UINT64_C(1000000000)
#define MEBI (UINT64_C(1) << 20)

struct bench {
    struct tracker t;
    uint64_t seconds, gross;
    struct vrs_event told[KINDS_TOLD]; /* since the last look, but for samples */
    uint32_t count;
};

static struct bench b;

static void hear(void *arg, const struct vrs_event *event)
{
    (void)arg;
    if (event->kind != VRS_EVENT_SAMPLE && b.count < KINDS_TOLD)
        b.told[b.count++] = *event;
}

static uint32_t path_of(void *arg, uint32_t parent, uint32_t name)
{
    (void)arg;
    return parent * 10 + name;
}

static bool make(uint32_t capacity)
{
    memset(&b, 0, sizeof b);
    struct tracker_options options = {
        .capacity = capacity, .device = 3, .stale_ns = SECOND_NS, .path = path_of, .told = hear
    };
    return tracker_init(&b.t, &options);
}

static void begin(void)
{
    assert_true(make(100));
    assert_true(tracker_begin(&b.t));
}

static void end(void)
{
    tracker_free(&b.t);
}

static struct vrs_sample sample_of(uint64_t allocated, uint64_t reserved, uint64_t total)
{
    struct vrs_sample s = {
        .t_ns = b.seconds * SECOND_NS,
        .unix_us = (1000 + b.seconds) * SECOND_US,
        .now = { allocated, reserved, allocated, allocated },
        .inactive_split = 7,
        .retries = 0,
        .ooms = 0,
        .allocated_bytes = b.gross,
        .freed_bytes = 0,
        .allocations = b.gross,
        .frees = 0,
        .peak = VRS_UNKNOWN,
        .device_used = VRS_UNKNOWN,
        .device_total = total,
        .utilisation = -1,
        .rss = 5,
        .device = 3,
    };
    b.seconds++;
    return s;
}

static void give(const struct vrs_sample *s)
{
    const struct vrs_host host = { s->rss, VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN };
    b.count = 0;
    tracker_sample(&b.t, s, &host);
}

/* All that is reserved is allocated. */
static void at(uint64_t allocated)
{
    struct vrs_sample s = sample_of(allocated, allocated, DEVICE);
    give(&s);
}

static uint32_t alerts(enum vrs_event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b.count; i++)
        count += b.told[i].kind == kind && b.told[i].alert != VRS_ALERT_NONE;
    return count;
}

static const struct vrs_event *told(enum vrs_event_kind kind)
{
    for (uint32_t i = 0; i < b.count; i++)
        if (b.told[i].kind == kind)
            return &b.told[i];
    return NULL;
}

/* Kinds and fields: B22. */

static void the_first_sample_is_the_start(void **state)
{
    (void)state;
    begin();
    at(400);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.told[0].kind, VRS_EVENT_START);
    assert_int_equal(b.told[0].index, 0);
    assert_true(b.told[0].change == INT64_MIN);
    assert_int_equal(b.told[0].device, 3);
    assert_int_equal(b.told[0].now[VRS_RESERVED], 400);
    assert_int_equal(b.told[0].inactive_split, 7);
    assert_int_equal(b.told[0].host.rss, 5);
    assert_false(tracker_begin(&b.t));
    b.count = 0;
    tracker_end(&b.t);
    tracker_end(&b.t);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.told[0].kind, VRS_EVENT_STOP);
    assert_int_equal(b.told[0].now[VRS_ALLOCATED], 400);
    at(500);
    assert_int_equal(b.count, 0); /* it does not run */
    end();
}

static void growth_and_peaks_are_told(void **state)
{
    (void)state;
    begin();
    at(100);
    at(100);
    assert_int_equal(b.count, 0);
    at(101);
    assert_int_equal(b.count, 2);
    assert_int_equal(told(VRS_EVENT_PEAK)->peak, 101);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->change, 1);
    at(99);
    assert_int_equal(b.count, 1);
    assert_int_equal(told(VRS_EVENT_DEALLOCATION)->change, -2);
    at(101);
    assert_int_equal(b.count, 1); /* as high as before is no new peak */
    assert_non_null(told(VRS_EVENT_ALLOCATION));
    end();
}

static void a_peak_between_two_samples_counts(void **state)
{
    (void)state;
    begin();
    at(100);
    struct vrs_sample s = sample_of(100, 100, DEVICE);
    s.peak = 300;
    give(&s);
    assert_int_equal(b.count, 1);
    assert_int_equal(told(VRS_EVENT_PEAK)->peak, 300);
    assert_int_equal(told(VRS_EVENT_PEAK)->now[VRS_ALLOCATED], 100);
    at(300);
    assert_null(told(VRS_EVENT_PEAK));
    at(301);
    assert_non_null(told(VRS_EVENT_PEAK));
    end();
}

/* The sampler cannot know what happened before tracking began. */
static void a_peak_before_the_start_does_not_count(void **state)
{
    (void)state;
    begin();
    struct vrs_sample s = sample_of(100, 100, DEVICE);
    s.peak = 900;
    give(&s);
    at(101);
    assert_int_equal(told(VRS_EVENT_PEAK)->peak, 101);
    end();
}

static void counters_that_cannot_be_read_are_told_once(void **state)
{
    (void)state;
    begin();
    at(100);
    for (int i = 0; i < 3; i++) {
        struct vrs_sample s = sample_of(VRS_UNKNOWN, VRS_UNKNOWN, DEVICE);
        give(&s);
        assert_int_equal(b.count, i == 0 ? 1 : 0);
    }
    at(130);
    assert_int_equal(b.told[0].kind, VRS_EVENT_RECOVERED);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->change, 30); /* from the last known value */
    end();
}

static void counters_that_are_not_read_are_told_once(void **state)
{
    (void)state;
    begin();
    at(100);
    for (uint64_t age = SECOND_NS; age <= SECOND_NS + 2; age++) {
        struct vrs_sample s = sample_of(100, 100, DEVICE);
        s.age_ns = age;
        give(&s);
        assert_int_equal(b.count, age == SECOND_NS + 1 ? 1 : 0);
    }
    at(100);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.told[0].kind, VRS_EVENT_RECOVERED);
    end();
}

/* Thresholds: B23, B24. */

static void usage_warns_at_its_threshold(void **state)
{
    (void)state;
    begin();
    at(7999);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(8000);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    assert_int_equal(told(VRS_EVENT_WARNING)->alert, VRS_ALERT_USAGE);
    assert_true(told(VRS_EVENT_WARNING)->value == 80);
    at(8001);
    at(9499);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    end();
}

static void usage_is_armed_again_two_points_below(void **state)
{
    (void)state;
    begin();
    at(8000);
    at(7801);
    at(8000);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(7800);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(8000);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    end();
}

static void usage_is_critical_at_its_threshold(void **state)
{
    (void)state;
    begin();
    at(9499);
    assert_int_equal(alerts(VRS_EVENT_CRITICAL), 0);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    at(9500);
    assert_int_equal(alerts(VRS_EVENT_CRITICAL), 1);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(9301);
    at(9500);
    assert_int_equal(b.told[b.count - 1].kind, VRS_EVENT_ALLOCATION);
    at(9300);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(9500);
    assert_int_equal(alerts(VRS_EVENT_CRITICAL), 1);
    end();
}

static void what_is_critical_is_not_a_warning_besides(void **state)
{
    (void)state;
    begin();
    at(0);
    at(9600);
    assert_int_equal(alerts(VRS_EVENT_CRITICAL), 1);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(8500); /* on the way down nothing is news */
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    at(7800);
    at(8000);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    end();
}

static void grow(uint64_t by)
{
    static uint64_t now;
    now = by == 0 ? 0 : now + by;
    struct vrs_sample s = sample_of(now, now, VRS_UNKNOWN);
    give(&s);
}

static void growth_warns_above_its_threshold(void **state)
{
    (void)state;
    begin();
    grow(0);
    grow(100 * MEBI);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    grow(100 * MEBI + 1);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    assert_int_equal(told(VRS_EVENT_WARNING)->alert, VRS_ALERT_GROWTH);
    assert_true(told(VRS_EVENT_WARNING)->value == (double)(100 * MEBI + 1));
    grow(98 * MEBI + 1);
    grow(101 * MEBI);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    grow(98 * MEBI);
    grow(101 * MEBI);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    end();
}

static void fragmented(uint64_t unused)
{
    struct vrs_sample s = sample_of(1000 - unused, 1000, VRS_UNKNOWN);
    give(&s);
}

static void fragmentation_warns_above_its_threshold(void **state)
{
    (void)state;
    begin();
    fragmented(300);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    fragmented(301);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    assert_int_equal(told(VRS_EVENT_WARNING)->alert, VRS_ALERT_FRAGMENTATION);
    fragmented(281);
    fragmented(400);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    fragmented(280);
    fragmented(301);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    struct vrs_sample s = sample_of(0, 0, VRS_UNKNOWN);
    give(&s);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0); /* nothing reserved is not fragmented */
    end();
}

static void a_device_of_unknown_size_has_no_usage(void **state)
{
    (void)state;
    begin();
    struct vrs_sample s = sample_of(9999, 9999, VRS_UNKNOWN);
    give(&s);
    s = sample_of(9999, 9999, 0);
    give(&s);
    assert_int_equal(b.count, 0);
    end();
}

static void a_threshold_that_is_set_arms_its_alert(void **state)
{
    (void)state;
    begin();
    at(8000);
    tracker_threshold(&b.t, VRS_WARNING_PERCENT, 80);
    at(8000);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    tracker_threshold(&b.t, VRS_WARNING_PERCENT, 50);
    at(8000);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 1);
    tracker_threshold(&b.t, VRS_WARNING_PERCENT, NAN);
    at(8001);
    assert_int_equal(alerts(VRS_EVENT_WARNING), 0);
    end();
}

/* Totals: B27. */

static void totals_are_of_samples_and_of_counters(void **state)
{
    (void)state;
    struct vrs_tracker_stats s;
    begin();
    b.gross = 1000;
    at(100);
    b.gross = 1010;
    at(150);
    at(30);
    b.gross = 1025;
    at(40);
    at(40);
    tracker_count(&b.t, &s);
    assert_int_equal(s.samples, 5);
    assert_int_equal(s.growth_samples, 2);
    assert_int_equal(s.growth_bytes, 60);
    assert_int_equal(s.shrink_samples, 1);
    assert_int_equal(s.shrink_bytes, 120);
    assert_int_equal(s.allocations, 25);
    assert_int_equal(s.allocated_bytes, 25);
    assert_int_equal(s.frees, 0);
    assert_int_equal(s.peak, 150);
    assert_int_equal(s.events, 1 + 2 + 1 + 1); /* start, allocation with peak, … */
    assert_int_equal(s.duration_ns, 4 * SECOND_NS);
    assert_int_equal(s.started_us, 1000 * (uint64_t)SECOND_US);
    assert_int_equal(s.last.now[VRS_ALLOCATED], 40);
    b.gross = 3; /* somebody has reset them */
    at(40);
    tracker_count(&b.t, &s);
    assert_true(s.allocations == VRS_UNKNOWN);
    end();
}

static void counters_that_nobody_has_are_unknown(void **state)
{
    (void)state;
    struct vrs_tracker_stats s;
    begin();
    for (int i = 0; i < 2; i++) {
        struct vrs_sample row = sample_of(VRS_UNKNOWN, VRS_UNKNOWN, VRS_UNKNOWN);
        row.allocations = row.frees = row.retries = VRS_UNKNOWN;
        give(&row);
    }
    tracker_count(&b.t, &s);
    assert_true(s.allocations == VRS_UNKNOWN && s.frees == VRS_UNKNOWN && s.retries == VRS_UNKNOWN);
    assert_true(s.peak == VRS_UNKNOWN && s.last.now[VRS_ALLOCATED] == VRS_UNKNOWN);
    assert_int_equal(s.ooms, 0);
    end();
}

static void clearing_forgets_all_but_the_present(void **state)
{
    (void)state;
    struct vrs_tracker_stats s;
    begin();
    at(100);
    at(900);
    at(200);
    tracker_clear(&b.t);
    tracker_count(&b.t, &s);
    assert_int_equal(s.events + s.samples + s.growth_samples + s.alerts, 0);
    assert_true(s.peak == VRS_UNKNOWN);
    assert_int_equal(tracker_most(&b.t), 0);
    at(250);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->change, 50);
    assert_null(told(VRS_EVENT_PEAK)); /* of one value there is nothing to be above */
    tracker_count(&b.t, &s);
    assert_int_equal(s.peak, 250);
    end();
}

/* What is kept. */

static void each_ring_keeps_its_last(void **state)
{
    (void)state;
    struct vrs_event row[400];
    struct vrs_tracker_stats s;
    const struct vrs_event_filter all = { .kinds = UINT32_MAX }, events = { 0 };
    begin(); /* a capacity of 100, and not of a power of two */
    at(0);
    for (uint64_t i = 1; i <= 250; i++)
        at(i % 2); /* a sample and one more event each */
    assert_int_equal(tracker_most(&b.t), 200);
    assert_int_equal(tracker_events(&b.t, &events, 400, row), 100);
    for (uint32_t i = 1; i < 100; i++)
        assert_true(row[i].index > row[i - 1].index && row[i].kind != VRS_EVENT_SAMPLE);
    assert_int_equal(tracker_events(&b.t, &all, 400, row), 200);
    for (uint32_t i = 1; i < 200; i++)
        assert_true(row[i].index == row[i - 1].index + 1);
    tracker_count(&b.t, &s);
    assert_int_equal(s.samples_lost, 150);
    assert_int_equal(s.events_lost, 1 + 1 + 250 - 100); /* start, one peak, growth */
    end();
}

static void filters_are_of_kind_and_time_then_the_last(void **state)
{
    (void)state;
    struct vrs_event row[100];
    begin();
    at(0);
    for (uint64_t i = 1; i <= 20; i++)
        at(i % 2);
    struct vrs_event_filter f = { .kinds = 1u << VRS_EVENT_DEALLOCATION };
    assert_int_equal(tracker_events(&b.t, &f, 100, row), 10);
    assert_int_equal(tracker_events(&b.t, &f, 3, row), 3);
    assert_int_equal(row[2].unix_us, (1000 + 20) * (uint64_t)SECOND_US);
    assert_int_equal(row[0].unix_us, (1000 + 16) * (uint64_t)SECOND_US);
    f.since_us = (1000 + 17) * (uint64_t)SECOND_US;
    assert_int_equal(tracker_events(&b.t, &f, 3, row), 2);
    f.kinds = 1u << VRS_EVENT_SAMPLE;
    assert_int_equal(tracker_events(&b.t, &f, 100, row), 4); /* not before, but at */
    end();
}

static void events_of_the_last_hour_are_counted(void **state)
{
    (void)state;
    struct vrs_tracker_stats s;
    begin();
    at(0);
    at(1);
    b.seconds = 3600;
    at(2);
    tracker_count(&b.t, &s);
    assert_int_equal(s.events, 1 + 2 + 2);
    assert_int_equal(s.events_last_hour, 5);
    b.seconds = 3601;
    at(2);
    tracker_count(&b.t, &s);
    assert_int_equal(s.events_last_hour, 4);
    end();
}

static void a_bucket_has_its_last_event(void **state)
{
    (void)state;
    struct vrs_event row[100];
    struct vrs_timeline_point point[100];
    const struct vrs_event_filter all = { .kinds = 1u << VRS_EVENT_SAMPLE };
    begin();
    at(0);
    for (uint64_t i = 1; i <= 4; i++)
        at(i * 10);
    b.seconds = 9;
    at(70);
    uint32_t count = tracker_events(&b.t, &all, 100, row);
    assert_int_equal(count, 5);
    assert_int_equal(tracker_buckets(row, count, 2 * SECOND_NS, point, 100), 3);
    assert_int_equal(point[0].unix_us, 1001 * (uint64_t)SECOND_US);
    assert_int_equal(point[0].allocated, 20);
    assert_int_equal(point[1].allocated, 40);
    assert_int_equal(point[2].unix_us, 1009 * (uint64_t)SECOND_US); /* empty ones are left out */
    assert_int_equal(point[2].allocated, 70);
    assert_int_equal(tracker_buckets(row, count, 2 * SECOND_NS, point, 2), 2);
    assert_int_equal(tracker_buckets(row, count, 1, point, 100), 5);
    assert_int_equal(tracker_buckets(row, 0, 1, point, 100), 0);
    end();
}

/* Phases: B33. */

static uint32_t enter(uint32_t name)
{
    b.count = 0;
    return tracker_enter(&b.t, name,
                         &(struct tracker_note){ .kind = VRS_EVENT_PHASE_ENTER, .metadata = 9 });
}

static void leave(uint32_t phase)
{
    b.count = 0;
    tracker_leave(&b.t, phase, &(struct tracker_note){ .kind = VRS_EVENT_PHASE_EXIT });
}

static void events_have_the_path_of_phases(void **state)
{
    (void)state;
    begin();
    at(0);
    uint32_t outer = enter(1);
    assert_int_equal(b.told[0].phase, 1);
    assert_int_equal(b.told[0].metadata, 9);
    at(10);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->phase, 1);
    uint32_t inner = enter(2);
    at(20);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->phase, 12);
    leave(inner);
    assert_int_equal(b.told[0].kind, VRS_EVENT_PHASE_EXIT);
    assert_int_equal(b.told[0].phase, 12);
    at(30);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->phase, 1);
    leave(outer);
    leave(outer); /* it was left */
    assert_int_equal(b.count, 0);
    at(40);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->phase, 0);
    end();
}

static void phases_may_end_in_another_order(void **state)
{
    (void)state;
    begin();
    at(0);
    uint32_t first = enter(1), second = enter(2);
    leave(first);
    assert_int_equal(b.told[0].phase, 1);
    at(10);
    assert_int_equal(told(VRS_EVENT_ALLOCATION)->phase, 12);
    leave(second);
    assert_int_equal(b.told[0].phase, 12);
    end();
}

static void notes_have_the_figures_of_the_last_sample(void **state)
{
    (void)state;
    struct vrs_tracker_stats s;
    begin();
    at(10);
    at(30);
    b.count = 0;
    tracker_note(&b.t, &(struct tracker_note){ .kind = VRS_EVENT_ERROR, .text = 4, .unix_us = 77 });
    assert_int_equal(b.told[0].now[VRS_ALLOCATED], 30);
    assert_int_equal(b.told[0].change, 0);
    assert_int_equal(b.told[0].text, 4);
    assert_int_equal(b.told[0].unix_us, 77);
    tracker_count(&b.t, &s);
    assert_int_equal(s.alerts, 1); /* an error is one */
    end();
}

/* Who waits. */

static void events_wait_for_a_reader(void **state)
{
    (void)state;
    struct vrs_event row[8];
    begin();
    at(0);
    assert_int_equal(event_queue_take(&b.t.queue, 8, 0, row), 0); /* nobody had asked */
    assert_true(event_queue_want(&b.t.queue, 1u << VRS_EVENT_ALLOCATION));
    at(10);
    at(5);
    at(20);
    assert_int_equal(event_queue_take(&b.t.queue, 1, 0, row), 1);
    assert_int_equal(row[0].change, 10);
    assert_int_equal(event_queue_take(&b.t.queue, 8, UINT64_MAX, row), 1);
    assert_int_equal(row[0].change, 15);
    assert_int_equal(event_queue_take(&b.t.queue, 8, SECOND_NS / 1000, row), 0);
    event_queue_hush(&b.t.queue);
    assert_int_equal(event_queue_take(&b.t.queue, 8, UINT64_MAX, row), 0);
    end();
}

static void a_thousand_wait_and_the_others_are_counted(void **state)
{
    (void)state;
    struct vrs_event row[1000];
    uint64_t waiting, lost;
    begin();
    at(0);
    assert_true(event_queue_want(&b.t.queue, 1u << VRS_EVENT_ALLOCATION));
    for (uint64_t i = 1; i <= 1002; i++)
        at(i);
    event_queue_count(&b.t.queue, &waiting, &lost);
    assert_int_equal(waiting, 1000);
    assert_int_equal(lost, 2);
    assert_int_equal(event_queue_take(&b.t.queue, 1000, 0, row), 1000);
    assert_int_equal(row[999].now[VRS_ALLOCATED], 1000); /* those that waited are not displaced */
    end();
}

/* 24 hours at ten a second take no time but that of their work. */
static void a_day_of_samples_is_bounded(void **state)
{
    (void)state;
    struct vrs_tracker_stats s;
    begin();
    for (uint64_t i = 0; i < 864000; i++)
        at(i % 1000 == 0 ? 8000 : 4000);
    tracker_count(&b.t, &s);
    assert_int_equal(s.samples, 864000);
    assert_int_equal(s.alerts, 864);
    assert_int_equal(s.events, 100);
    assert_int_equal(tracker_most(&b.t), 200);
    end();
}

static enum vrs_status make_and_use(void *arg)
{
    struct vrs_tracker_stats s;
    (void)arg;
    bool ok = make(100) && tracker_begin(&b.t);
    if (ok) {
        at(0);
        at(10);
        tracker_count(&b.t, &s);
        ok = enter(1) != 0 && event_queue_want(&b.t.queue, 1) &&
             s.events_lost + s.samples_lost == 0;
    }
    end();
    return ok ? VRS_OK : VRS_NOMEM;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(make_and_use, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_sample_is_the_start),
        cmocka_unit_test(growth_and_peaks_are_told),
        cmocka_unit_test(a_peak_between_two_samples_counts),
        cmocka_unit_test(a_peak_before_the_start_does_not_count),
        cmocka_unit_test(counters_that_cannot_be_read_are_told_once),
        cmocka_unit_test(counters_that_are_not_read_are_told_once),
        cmocka_unit_test(usage_warns_at_its_threshold),
        cmocka_unit_test(usage_is_armed_again_two_points_below),
        cmocka_unit_test(usage_is_critical_at_its_threshold),
        cmocka_unit_test(what_is_critical_is_not_a_warning_besides),
        cmocka_unit_test(growth_warns_above_its_threshold),
        cmocka_unit_test(fragmentation_warns_above_its_threshold),
        cmocka_unit_test(a_device_of_unknown_size_has_no_usage),
        cmocka_unit_test(a_threshold_that_is_set_arms_its_alert),
        cmocka_unit_test(totals_are_of_samples_and_of_counters),
        cmocka_unit_test(counters_that_nobody_has_are_unknown),
        cmocka_unit_test(clearing_forgets_all_but_the_present),
        cmocka_unit_test(each_ring_keeps_its_last),
        cmocka_unit_test(filters_are_of_kind_and_time_then_the_last),
        cmocka_unit_test(events_of_the_last_hour_are_counted),
        cmocka_unit_test(a_bucket_has_its_last_event),
        cmocka_unit_test(events_have_the_path_of_phases),
        cmocka_unit_test(phases_may_end_in_another_order),
        cmocka_unit_test(notes_have_the_figures_of_the_last_sample),
        cmocka_unit_test(events_wait_for_a_reader),
        cmocka_unit_test(a_thousand_wait_and_the_others_are_counted),
        cmocka_unit_test(a_day_of_samples_is_bounded),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
