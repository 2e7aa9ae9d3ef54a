#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"

static const struct line native = { "at::empty", "??", 0 };
static const struct line other_native = { "at::zeros", "??", 0 };
static const struct line user = { "step", "/home/user/train.py", 7 };
static const struct line moved = { "step", "/mnt/other/train.py", 7 };
static const struct line below = { "step", "/home/user/train.py", 8 };

/* Two allocations of one line, one of the next, two without a stack. */
static void make(struct recording *r, bool elsewhere)
{
    sample_init(r);
    if (elsewhere) /* other ids for the same texts */
        for (int i = 0; i < 3; i++)
            sample_string(r, (const char *[]){ "x", "y", "train.py" }[i]);
    sample_device(r, 0);
    sample_events(r, "A 1000 2097152; a 1000 600; a 1400 500; a 1800 300; a 2000 50; a 2200 70; "
                     "f 1000 600; f 1400 500; f 1800 300; f 2000 50; f 2200 70");
    sample_segment(r, 0x1000, 2 << 20);
    sample_block(r, 2 << 20, 0, BLOCK_INACTIVE);
    stack_id first = sample_stack(r, (struct line[]){ native, elsewhere ? moved : user }, 2);
    stack_id second = sample_stack(r, (struct line[]){ other_native, elsewhere ? moved : user }, 2);
    r->events.stack[1] = first.n;
    r->events.stack[2] = second.n;
    r->events.stack[3] = sample_stack(r, (struct line[]){ native, below }, 2).n;
    sample_finish(r);
}

static enum vrs_status summary_of(const struct recording *r, uint64_t peer_oom_us,
                                  struct arena *keep, struct device_summary *ret)
{
    static const struct frame_class_options options = { { "", 0 }, { "", 0 } };
    struct naming *naming = NULL;
    struct curves curves;
    struct arena scratch;
    arena_init(keep, SIZE_MAX);
    arena_init(&scratch, SIZE_MAX);
    curves_compute(r, 0, &curves);
    summary_init(r, 0, &curves, peer_oom_us, ret);
    enum vrs_status status = naming_make(&r->code, &options, &scratch, &naming, NULL);
    if (status == VRS_OK)
        status = summary_add_sites(r, 0, naming, keep, &scratch, ret, NULL);
    arena_free(&scratch);
    return status;
}

static void check_site(const struct device_summary *u, uint32_t i, const char *name, uint64_t bytes,
                       uint64_t count)
{
    assert_true(i < u->sites && i < u->names);
    assert_true(str_equal(u->name[i].culprit, str_from(name)));
    assert_int_equal(u->site[i].bytes, bytes);
    assert_int_equal(u->site[i].count, count);
}

static void sites_are_lines(void **state)
{
    (void)state;
    struct recording r;
    struct device_summary u;
    struct arena keep;
    make(&r, false);
    assert_int_equal(summary_of(&r, UNKNOWN_U64, &keep, &u), VRS_OK);
    assert_int_equal(u.peak_bytes, 1520);
    assert_int_equal(u.peak_event, 5);
    assert_int_equal(u.sites, 3);
    check_site(&u, 0, "train.py:7 step", 1100, 2);
    check_site(&u, 1, "train.py:8 step", 300, 1);
    check_site(&u, 2, "(no stack)", 120, 2);
    assert_int_equal(u.other_bytes, 0);
    arena_free(&keep);
    recording_free(&r);
}

static void keys_mean_the_same_in_every_recording(void **state)
{
    (void)state;
    struct recording r[2];
    struct device_summary u[2];
    struct arena keep[2];
    for (int i = 0; i < 2; i++) {
        make(&r[i], i == 1);
        assert_int_equal(summary_of(&r[i], UNKNOWN_U64, &keep[i], &u[i]), VRS_OK);
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(u[0].site[i].key == u[1].site[i].key);
        assert_true(u[0].site[i].key != u[1].site[(i + 1) % 3].key);
    }
    for (int i = 0; i < 2; i++) {
        arena_free(&keep[i]);
        recording_free(&r[i]);
    }
}

static void what_follows_a_failure_elsewhere_is_no_work(void **state)
{
    (void)state;
    struct recording r;
    struct device_summary u;
    struct arena keep;
    make(&r, false);
    assert_int_equal(summary_of(&r, 2, &keep, &u), VRS_OK);
    assert_int_equal(u.after_peer_oom_event, 3);
    assert_int_equal(u.peak_bytes, 1520);
    assert_int_equal(u.common_peak_bytes, 1100);
    assert_int_equal(u.common_peak_event, 2);
    assert_int_equal(u.sites, 1);
    arena_free(&keep);
    assert_int_equal(summary_of(&r, 10, &keep, &u), VRS_OK);
    assert_int_equal(u.after_peer_oom_event, -1);
    assert_int_equal(u.common_peak_bytes, 1520);
    arena_free(&keep);
    /* The peak was before. */
    assert_int_equal(summary_of(&r, 8, &keep, &u), VRS_OK);
    assert_int_equal(u.after_peer_oom_event, 9);
    assert_int_equal(u.common_peak_bytes, 1520);
    arena_free(&keep);
    recording_free(&r);
}

static void small_memory_without_events_does_not_count(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 62 << 20, 64 << 20 };
    for (int i = 0; i < 2; i++) {
        struct recording r;
        struct curves curves;
        sample_init(&r);
        sample_device(&r, 0);
        sample_segment(&r, 0x1000, sizes[i]);
        sample_block(&r, sizes[i], 0, BLOCK_INACTIVE);
        sample_finish(&r);
        curves_compute(&r, 0, &curves);
        assert_int_equal(summary_counts(&r, 0, &curves), i == 1);
        recording_free(&r);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording r;
    make(&r, false);
    bool fired = true;
    for (long n = 0; fired; n++) {
        struct device_summary u;
        struct arena keep;
        fault_left = n;
        enum vrs_status status = summary_of(&r, UNKNOWN_U64, &keep, &u);
        fired = fault_left < 0;
        fault_left = -1;
        arena_free(&keep);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_are_lines),
        cmocka_unit_test(keys_mean_the_same_in_every_recording),
        cmocka_unit_test(what_follows_a_failure_elsewhere_is_no_work),
        cmocka_unit_test(small_memory_without_events_does_not_count),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
