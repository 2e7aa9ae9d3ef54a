#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/fault.h"
#include "made/known_device.h"
#include "vramscope/error.h"
#include "vramscope/profiler.h"

/* A profiler of one device whose curves are known, and a clock that the test sets. */
struct bench {
    struct vrs_meter *meter;
    struct vrs_profiler *profiler;
    struct known_device device;
    uint64_t clock;
    uint32_t path;
    bool once;
};

static struct bench b;

static uint64_t clock_ns(void *arg)
{
    (void)arg;
    return b.clock;
}

static enum vrs_status make(struct vrs_profiler_options options)
{
    struct vrs_error error;
    memset(&b, 0, sizeof b);
    known_device_begin(&b.device);
    b.clock = 1000;
    enum vrs_status status = vrs_meter_make(NULL, &b.meter, &error);
    if (status != VRS_OK)
        return status;
    struct vrs_backend backend = known_device_backend(&b.device, KNOWN_RESETS);
    backend.clock_ns = clock_ns;
    options.size = sizeof options;
    status = vrs_meter_backend(b.meter, &backend, &options.backend, &error);
    if (status == VRS_OK)
        status = vrs_profiler_make(b.meter, &options, &b.profiler, &error);
    b.path = vrs_path(b.meter, 0, vrs_name(b.meter, "step", 4));
    return status;
}

static void begin(struct vrs_profiler_options options)
{
    assert_int_equal(make(options), VRS_OK);
}

static void end(void)
{
    vrs_profiler_free(b.profiler);
    assert_int_equal(vrs_slots_open(b.meter, 1, 0), 0);
    vrs_meter_free(b.meter);
}

static void change(int64_t bytes)
{
    known_device_change(&b.device, VRS_ALLOCATED, bytes);
    known_device_change(&b.device, VRS_RESERVED, bytes);
}

static struct vrs_record record(void)
{
    struct vrs_record r;
    vrs_checkpoint(b.profiler, 0, b.path, NULL, &r);
    return r;
}

static void the_first_record_begins_the_interval(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ 0 });
    change(30);
    change(-20);
    b.clock += 5;
    struct vrs_record r = record();
    assert_int_equal(r.index, 0);
    assert_int_equal(r.t_ns, 5);
    assert_int_equal(r.now[VRS_ALLOCATED], 10);
    assert_int_equal(r.interval_peak, 10);
    assert_int_equal(r.peak, 10);
    assert_int_equal(r.delta, INT64_MIN);
    assert_int_equal(r.rss, VRS_UNKNOWN);
    assert_int_equal(r.detail.tensor_bytes, VRS_UNKNOWN);
    assert_int_equal(r.state, VRS_EXACT);
    end();
}

static void a_record_has_the_peak_since_the_one_before(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ .host = true });
    change(10);
    vrs_profiler_watch(b.profiler, 0);
    known_device_spike(&b.device, 90);
    struct vrs_detail detail = { .tensor_bytes = 3, .storage_bytes = 4, .shape = 5 };
    struct vrs_record r;
    vrs_checkpoint(b.profiler, 0, b.path, &detail, &r);
    assert_int_equal(r.interval_peak, 100);
    assert_int_equal(r.interval_at_most, 100);
    assert_int_equal(r.interval_reserved_peak, 100);
    assert_int_equal(r.detail.storage_bytes, 4);
    assert_in_range(r.rss, 4096, r.rss_peak);
    change(20);
    r = record();
    assert_int_equal(r.interval_peak, 30);
    assert_int_equal(r.peak, 100);
    assert_int_equal(r.delta, 20);
    change(-25);
    r = record();
    assert_int_equal(r.interval_peak, 30);
    assert_int_equal(r.now[VRS_ALLOCATED], 5);
    assert_int_equal(r.delta, -25);
    assert_int_equal(r.state, VRS_EXACT);
    vrs_profiler_reset(b.profiler);
    r = record();
    assert_int_equal(r.peak, 5);
    assert_int_equal(r.delta, INT64_MIN);
    assert_int_equal(r.index, 3); /* numbers go on */
    end();
}

static void close_and_check(struct vrs_scope *scope, uint64_t start, uint64_t end_bytes,
                            uint64_t peak)
{
    struct vrs_scope_result r;
    vrs_scope_close(b.profiler, scope, 0, VRS_UNKNOWN, &r);
    assert_int_equal(r.start[VRS_ALLOCATED], start);
    assert_int_equal(r.end[VRS_ALLOCATED], end_bytes);
    assert_int_equal(r.peak[VRS_ALLOCATED], peak);
    assert_int_equal(r.state, VRS_EXACT);
}

static void scopes_overlap_in_any_order(void **state)
{
    (void)state;
    struct vrs_scope first, second, third;
    begin((struct vrs_profiler_options){ 0 });
    vrs_scope_open(b.profiler, 0, b.path, &first);
    known_device_spike(&b.device, 50);
    vrs_scope_open(b.profiler, 0, b.path, &second);
    known_device_spike(&b.device, 40);
    record(); /* beside them */
    vrs_scope_open(b.profiler, 0, b.path, &third);
    change(10);
    close_and_check(&first, 0, 10, 50);
    known_device_spike(&b.device, 20);
    close_and_check(&second, 0, 10, 40);
    close_and_check(&third, 0, 10, 30);
    end();
}

static void a_scope_tells_time_and_gross_figures(void **state)
{
    (void)state;
    struct vrs_scope scope;
    struct vrs_scope_result r, kept[4];
    uint64_t first;
    begin((struct vrs_profiler_options){ 0 });
    b.clock += 100;
    vrs_scope_open(b.profiler, 0, b.path, &scope);
    change(10);
    change(5);
    change(-8);
    b.clock += 33;
    uint32_t raised = vrs_name(b.meter, "ValueError", 10);
    vrs_scope_close(b.profiler, &scope, raised, 12, &r);
    assert_int_equal(r.t_ns, 100);
    assert_int_equal(r.duration_ns, 33);
    assert_int_equal(r.device_ns, 12);
    assert_int_equal(r.allocated_bytes, 15);
    assert_int_equal(r.freed_bytes, 8);
    assert_int_equal(r.allocations, 2);
    assert_int_equal(r.frees, 1);
    assert_int_equal(r.raised, raised);
    assert_int_equal(vrs_scopes(b.profiler, 0, 4, kept, &first), 1);
    assert_int_equal(kept[0].duration_ns, 33);
    assert_int_equal(kept[0].index, 0);
    end();
}

static struct vrs_scope_result one_scope(void)
{
    struct vrs_scope scope;
    struct vrs_scope_result r;
    vrs_scope_open(b.profiler, 0, b.path, &scope);
    vrs_scope_close(b.profiler, &scope, 0, VRS_UNKNOWN, &r);
    return r;
}

static struct vrs_scope_result kept_scope(uint64_t index)
{
    struct vrs_scope_result kept;
    uint64_t first;
    assert_int_equal(vrs_scopes(b.profiler, index, 1, &kept, &first), 1);
    return kept;
}

static void a_time_of_the_device_may_come_later(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ .capacity = 1024 });
    struct vrs_scope_result before = one_scope(), timed = one_scope(), after = one_scope();
    assert_int_equal(kept_scope(timed.index).device_ns, VRS_UNKNOWN);
    assert_true(vrs_scope_timed(b.profiler, &timed, 7));
    assert_int_equal(timed.device_ns, 7);
    assert_int_equal(kept_scope(timed.index).device_ns, 7);
    assert_int_equal(kept_scope(before.index).device_ns, VRS_UNKNOWN);
    assert_int_equal(kept_scope(after.index).device_ns, VRS_UNKNOWN);
    end();
}

static void a_time_that_comes_for_a_row_that_is_gone_changes_no_other(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ .capacity = 1024 });
    struct vrs_scope_result old = one_scope(), never = old;
    for (uint32_t i = 0; i < 1024; i++)
        one_scope(); /* the last one stands where the first one stood */
    assert_false(vrs_scope_timed(b.profiler, &old, 7));
    assert_int_equal(old.device_ns, 7);
    struct vrs_scope_result last = kept_scope(1024);
    assert_int_equal(last.device_ns, VRS_UNKNOWN);
    never.index = last.index + 1;
    assert_false(vrs_scope_timed(b.profiler, &never, 7));
    never.index = UINT64_MAX; /* there was no memory for the row */
    assert_false(vrs_scope_timed(b.profiler, &never, 7));
    vrs_profiler_reset(b.profiler);
    assert_false(vrs_scope_timed(b.profiler, &last, 7));
    end();
}

static void a_failed_reading_loses_one_record_only(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ 0 });
    record();
    known_device_spike(&b.device, 50);
    b.device.fail_readings = 1;
    struct vrs_record r = record();
    assert_int_equal(r.state, VRS_STATE_UNKNOWN);
    assert_int_equal(r.now[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_int_equal(r.interval_peak, VRS_UNKNOWN);
    assert_int_equal(r.delta, INT64_MIN);
    r = record();
    assert_int_equal(r.state, VRS_EXACT);
    assert_int_equal(r.interval_peak, 50);
    assert_int_equal(r.peak, 50);
    end();
}

static void a_peak_that_was_lost_is_a_lower_bound_from_then_on(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ 0 });
    change(50);
    record();
    change(-50);
    known_device_reset_peak(&b.device);
    struct vrs_record r = record();
    assert_int_equal(r.state, VRS_LOST);
    assert_int_equal(r.interval_at_most, VRS_UNKNOWN);
    assert_int_equal(record().state, VRS_LOST);
    vrs_profiler_reset(b.profiler);
    assert_int_equal(record().state, VRS_EXACT);
    end();
}

static void a_kept_peak_makes_bounds(void **state)
{
    (void)state;
    begin((struct vrs_profiler_options){ .flags = VRS_KEEP_PEAK });
    change(100);
    change(-90);
    vrs_profiler_watch(b.profiler, 0);
    change(20);
    struct vrs_record r = record();
    assert_int_equal(b.device.resets, 0);
    assert_int_equal(r.state, VRS_SAMPLED);
    assert_int_equal(r.interval_peak, 30);
    assert_int_equal(r.interval_at_most, 100);
    change(90);
    r = record();
    assert_int_equal(r.peak, 120);
    assert_int_equal(r.state, VRS_EXACT); /* it is above all that it can have been before */
    end();
}

static void record_inside(void *arg)
{
    (void)arg;
    if (b.once)
        return;
    b.once = true;
    assert_int_equal(record().state, VRS_NESTED);
}

static void a_device_first_met_inside_a_reading_is_measured_later(void **state)
{
    (void)state;
    struct vrs_stats ignored;
    begin((struct vrs_profiler_options){ 0 });
    b.device.inside = record_inside;
    assert_int_equal(vrs_meter_read(b.meter, 1, 0, true, &ignored), VRS_EXACT);
    assert_true(b.once);
    change(10);
    struct vrs_record r = record();
    assert_int_equal(r.state, VRS_EXACT);
    assert_int_equal(r.interval_peak, 10);
    end();
}

static void without_readings_there_is_the_time(void **state)
{
    (void)state;
    struct vrs_scope scope;
    struct vrs_scope_result result;
    begin((struct vrs_profiler_options){ .no_stats = true });
    vrs_profiler_watch(b.profiler, 0);
    b.clock += 9;
    struct vrs_record r = record();
    assert_int_equal(r.t_ns, 9);
    assert_int_equal(r.state, VRS_STATE_UNKNOWN);
    assert_int_equal(r.now[VRS_ALLOCATED], VRS_UNKNOWN);
    vrs_scope_open(b.profiler, 0, b.path, &scope);
    b.clock += 3;
    vrs_scope_close(b.profiler, &scope, 0, VRS_UNKNOWN, &result);
    assert_int_equal(result.duration_ns, 3);
    assert_int_equal(result.peak[VRS_ALLOCATED], VRS_UNKNOWN);
    assert_int_equal(b.device.readings, 0);
    end();
}

static void what_is_dropped_is_counted(void **state)
{
    (void)state;
    enum { MORE = 1500 };
    static struct vrs_record records[MORE];
    struct vrs_scope scope;
    struct vrs_profiler_losses l;
    uint64_t first;
    begin((struct vrs_profiler_options){ .capacity = 1, .no_stats = true });
    for (uint32_t i = 0; i < MORE; i++)
        record();
    vrs_scope_open(b.profiler, 0, b.path, &scope);
    vrs_scope_drop(b.profiler, &scope);
    vrs_profiler_losses(b.profiler, &l);
    assert_int_equal(l.records.lost, MORE - 1024);
    assert_int_equal(l.records.next, MORE);
    assert_int_equal(l.dropped, 1);
    assert_int_equal(l.totals, 0);
    assert_int_equal(vrs_records(b.profiler, 0, MORE, records, &first), 1024);
    assert_int_equal(first, MORE - 1024);
    for (uint32_t i = 0; i < 1024; i++)
        assert_int_equal(records[i].index, first + i);
    vrs_profiler_reset(b.profiler);
    vrs_profiler_losses(b.profiler, &l);
    assert_int_equal(l.records.lost + l.dropped, 0);
    end();
}

/* All that the public calls ask memory for. */
static enum vrs_status use_all(void *arg)
{
    (void)arg;
    struct vrs_scope scope;
    struct vrs_scope_result result;
    struct vrs_meter_losses lost = { 0 };
    struct vrs_profiler_losses own = { .dropped = 0 };
    struct vrs_ring *ring = NULL;
    enum vrs_status status = make((struct vrs_profiler_options){ 0 });
    if (status == VRS_OK)
        status = vrs_ring_make(b.meter, 8, 1, &ring, NULL);
    bool gaps = false;
    if (status == VRS_OK) {
        vrs_scope_open(b.profiler, 0, b.path, &scope);
        change(7);
        struct vrs_record r = record();
        vrs_scope_close(b.profiler, &scope, 0, VRS_UNKNOWN, &result);
        /* What could not be measured says so. */
        gaps = r.state != VRS_EXACT || result.state != VRS_EXACT;
        assert_true(r.state == VRS_STATE_UNKNOWN || r.interval_peak == 7);
        assert_true(result.state == VRS_STATE_UNKNOWN || result.peak[VRS_ALLOCATED] == 7);
        gaps |= vrs_ring_add(ring, &(uint64_t){ 1 }) == UINT64_MAX;
        vrs_meter_losses(b.meter, &lost);
        vrs_profiler_losses(b.profiler, &own);
        uint64_t counted = lost.slots + lost.names + own.records.lost + own.scopes.lost +
                           own.totals + own.unwatched;
        struct vrs_ring_counts counts;
        vrs_ring_count(ring, &counts);
        assert_true(!gaps || counted + counts.lost != 0);
        gaps |= counted + counts.lost != 0;
    }
    vrs_ring_free(ring);
    vrs_profiler_free(b.profiler);
    vrs_meter_free(b.meter);
    return status == VRS_OK && gaps ? VRS_NOMEM : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(use_all, NULL, NULL);
}

static void a_ring_of_no_width_is_refused(void **state)
{
    (void)state;
    struct vrs_error error;
    struct vrs_ring *ring = NULL;
    begin((struct vrs_profiler_options){ 0 });
    assert_int_equal(vrs_ring_make(b.meter, 0, 1, &ring, &error), VRS_USAGE);
    assert_int_equal(vrs_ring_make(b.meter, (1 << 16) + 1, 1, &ring, &error), VRS_USAGE);
    assert_null(ring);
    end();
}

static void a_state_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(vrs_state_name(VRS_EXACT), "exact");
    assert_string_equal(vrs_state_name(VRS_SAMPLED), "sampled");
    assert_string_equal(vrs_state_name(VRS_LOST), "lost");
    assert_string_equal(vrs_state_name(VRS_RACED), "raced");
    assert_string_equal(vrs_state_name(VRS_NESTED), "nested");
    assert_string_equal(vrs_state_name(VRS_STATE_UNKNOWN), "unknown");
    assert_string_equal(vrs_state_name((enum vrs_state)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_record_begins_the_interval),
        cmocka_unit_test(a_record_has_the_peak_since_the_one_before),
        cmocka_unit_test(scopes_overlap_in_any_order),
        cmocka_unit_test(a_scope_tells_time_and_gross_figures),
        cmocka_unit_test(a_time_of_the_device_may_come_later),
        cmocka_unit_test(a_time_that_comes_for_a_row_that_is_gone_changes_no_other),
        cmocka_unit_test(a_failed_reading_loses_one_record_only),
        cmocka_unit_test(a_peak_that_was_lost_is_a_lower_bound_from_then_on),
        cmocka_unit_test(a_kept_peak_makes_bounds),
        cmocka_unit_test(a_device_first_met_inside_a_reading_is_measured_later),
        cmocka_unit_test(without_readings_there_is_the_time),
        cmocka_unit_test(what_is_dropped_is_counted),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_ring_of_no_width_is_refused),
        cmocka_unit_test(a_state_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
