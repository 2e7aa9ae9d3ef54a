/* test_prove.c - the size of every block, and sums of them beside the curves of the replay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/machine/config.h"
#include "allocator/machine/rounding.h"
#include "allocator/replay/block_sizes.h"
#include "allocator/replay/prove.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"
#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/program_made.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/verify.h"

enum { ALL = 1 << 30 };

/* Of the recording at hand. */
static struct agreement agreement[2];
static struct proof proof = { .agreement = agreement };
static const struct block_sizes *const sizes = &proof.block_sizes;

static enum vrs_status prove(const struct recording *r, uint64_t events_max)
{
    block_sizes_free(&proof.block_sizes);
    return prove_recording(r, events_max, &proof, NULL);
}

static struct agreement proved(const struct recording *r, uint64_t events_max)
{
    struct vrs_error err = { .message = "" };
    assert_true(r->devices.rows.len <= 2);
    assert_int_equal(prove(r, events_max), VRS_OK);
    assert_int_equal(sizes->rows.len, r->allocations.rows.len);
    enum vrs_status status = verify_recording(r, &err);
    if (status == VRS_OK)
        status = verify_block_sizes(r, sizes, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, VRS_OK);
    return agreement[0];
}

/* Sums, as slow as their definition. */

static bool alive(const struct recording *r, uint32_t row, int64_t event, bool waiting_too)
{
    const struct allocations *a = &r->allocations;
    uint32_t born = a->alloc_event[row], asked = a->free_requested_event[row];
    uint32_t done = a->free_completed_event[row], block = a->block[row];
    if ((born != NO_ROW && born > event) || (done != NO_ROW && done <= event))
        return false;
    if (waiting_too)
        return true;
    /* Older, and asked back before the first event: no request is here. */
    if (born == NO_ROW && asked == NO_ROW)
        return r->blocks.state[block] == BLOCK_ALLOCATED;
    if (born == NO_ROW && r->events.action[asked] == ACTION_FREE_COMPLETED)
        return false;
    return asked == NO_ROW || asked > event;
}

static int64_t sum_at(const struct recording *r, int64_t event, bool waiting_too)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->devices.allocations[0]; i++)
        if (alive(r, i, event, waiting_too))
            sum += sizes->bytes[i];
    return (int64_t)sum;
}

static void check_sums(const struct recording *r, const struct exact_curve *c, bool waiting_too)
{
    int64_t sum = sum_at(r, -1, waiting_too), peak = sum, first = -1, last = -1;
    assert_int_equal(c->start_bytes, sum);
    for (int64_t event = 0; event < r->devices.events[0]; event++) {
        sum = sum_at(r, event, waiting_too);
        if (sum > peak)
            first = event;
        peak = sum > peak ? sum : peak;
        last = sum == peak ? event : last;
    }
    assert_int_equal(c->peak_bytes, peak);
    assert_int_equal(c->peak_event, first);
    assert_int_equal(c->peak_last_event, last);
    assert_int_equal(c->end_bytes, sum);
}

/* How many sizes come from where. */
struct sources {
    uint32_t count[SOURCE_ROUNDED + 1];
    uint32_t old,
        larger; /* of those replayed: older than the trace; more than the rounded request */
};

static struct sources sources_of(const struct recording *r)
{
    struct sources s = { .old = 0 };
    struct rounding rounding = rounding_of(r);
    for (uint32_t i = 0; i < sizes->rows.len; i++) {
        uint8_t source = sizes->source[i];
        uint64_t rounded = rounding_apply(&rounding, r->allocations.size[i]);
        s.count[source]++;
        if (source != SOURCE_REPLAYED)
            continue;
        assert_true(sizes->bytes[i] >= rounded);
        s.larger += sizes->bytes[i] > rounded;
        s.old += r->allocations.alloc_event[i] == NO_ROW;
    }
    return s;
}

/* No size but those of final blocks and rounded requests. */
static void check_rounded(const struct recording *r)
{
    struct rounding rounding = rounding_of(r);
    assert_int_equal(sources_of(r).count[SOURCE_REPLAYED], 0);
    for (uint32_t i = 0; i < sizes->rows.len; i++)
        if (sizes->source[i] == SOURCE_ROUNDED)
            assert_int_equal(sizes->bytes[i], rounding_apply(&rounding, r->allocations.size[i]));
}

/* Programs. */

static const struct way ways[] = {
    { .settings = "", .capacity = UINT64_MAX },
    { .settings = "", .capacity = UINT64_MAX, .ascend = true },
    { .settings = "expandable_segments:True", .capacity = UINT64_MAX },
};
enum { WAYS = sizeof ways / sizeof *ways };

static struct program_made made;

static void draw(uint64_t seed)
{
    struct program_options options = { 400, 2, 1, 30, true, true };
    program_draw(&made, seed, &options);
}

static void whole_recordings_know_every_block(void **state)
{
    uint32_t larger = 0;
    (void)state;
    for (uint32_t i = 0; i < 3 * WAYS; i++) {
        struct recording r;
        struct expected expected;
        draw(i + 1);
        program_record(&made, &ways[i / 3], &r);
        struct agreement a = proved(&r, ALL);
        assert_int_equal(a.grade, GRADE_EXACT);
        assert_int_equal(a.ambiguous, 0);
        check_sums(&r, &a.active, true);
        check_sums(&r, &a.allocated, false);
        program_expect(&made, &ways[i / 3], &expected);
        assert_int_equal(a.active.peak_bytes, expected.active);
        struct sources s = sources_of(&r);
        assert_int_equal(s.count[SOURCE_ROUNDED], 0);
        assert_int_equal(s.old, 0);
        assert_true(s.count[SOURCE_FINAL] > 0);
        larger += s.larger;
        recording_free(&r);
    }
    assert_true(larger > 10);
}

/* The second half alone: blocks that ended in it are replayed from inferred sizes. */
static void windows_know_every_block_where_they_agree(void **state)
{
    uint32_t exact = 0, old = 0;
    (void)state;
    for (uint32_t i = 0; i < 4 * WAYS; i++) {
        struct recording r;
        struct way half = ways[i / 4];
        draw(i + 50);
        program_record(&made, &half, &r);
        half.first_event = r.events.rows.len / 2;
        while (r.events.action[half.first_event] != ACTION_ALLOC)
            half.first_event++;
        half.first_event++;
        recording_free(&r);
        program_record(&made, &half, &r);
        struct agreement a = proved(&r, ALL);
        if (grade_is_exact(a.grade)) {
            check_sums(&r, &a.active, true);
            check_sums(&r, &a.allocated, false);
            assert_int_equal(sources_of(&r).count[SOURCE_ROUNDED], 0);
            exact++;
            old += sources_of(&r).old;
        } else {
            check_rounded(&r);
        }
        recording_free(&r);
    }
    assert_true(exact > 3 * WAYS);
    assert_true(old > 20);
}

/* Two small blocks that live to the end, two that do not. */
static void make(struct recording *r, const char *events)
{
    sample_init(r);
    sample_device(r, 0);
    uint32_t s = sample_segment(r, 0x10000000, 2 * MIB);
    r->segments.size_class[s] = CLASS_SMALL;
    sample_block(r, 512, 100, BLOCK_ALLOCATED);
    sample_block(r, 1024, 1000, BLOCK_PENDING);
    sample_block(r, 2 * MIB - 1536, 0, BLOCK_INACTIVE);
    sample_events(r, events);
    sample_finish(r);
}

static const char good[] = "A 10000000 2097152; a 10000000 512; a 10000200 1000; r 10000000 512; "
                           "c 10000000 512; r 10000200 1000; a 10000600 700; f 10000600 700; "
                           "a 10000000 100";

static void each_size_has_its_source(void **state)
{
    static const struct {
        uint64_t bytes;
        uint8_t source;
    } want[] = { { 512, SOURCE_REPLAYED },
                 { 1024, SOURCE_FINAL },
                 { 1024, SOURCE_REPLAYED },
                 { 512, SOURCE_FINAL } };
    struct recording r;
    (void)state;
    make(&r, good);
    struct agreement a = proved(&r, ALL);
    assert_int_equal(a.grade, GRADE_EXACT);
    assert_int_equal(sizes->rows.len, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(sizes->bytes[i], want[i].bytes);
        assert_int_equal(sizes->source[i], want[i].source);
    }
    check_sums(&r, &a.active, true);
    check_sums(&r, &a.allocated, false);
    recording_free(&r);
}

/* One segment of 20 MiB with a block of 5.5 MiB for a request of 5, older than the trace; the alloc
 * behind it says whose the half is. */
static void corrected_slack_is_in_the_sizes(void **state)
{
    struct recording r;
    (void)state;
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x10000000, 20 * MIB);
    sample_block(&r, 5 * MIB + MIB / 2, 0, BLOCK_INACTIVE);
    sample_block(&r, 2 * MIB, 2 * MIB, BLOCK_ALLOCATED);
    sample_block(&r, 12 * MIB + MIB / 2, 0, BLOCK_INACTIVE);
    sample_events(&r, "a 10580000 2097152; r 10000000 5242880; c 10000000 5242880");
    sample_finish(&r);
    struct agreement a = proved(&r, ALL);
    assert_int_equal(a.grade, GRADE_CORRECTED);
    assert_int_equal(a.ambiguous, 0);
    assert_int_equal(sizes->bytes[1], 5 * MIB + MIB / 2);
    assert_int_equal(sizes->source[1], SOURCE_REPLAYED);
    check_sums(&r, &a.active, true);
    check_sums(&r, &a.allocated, false);
    recording_free(&r);
}

/* The same without that alloc: the half is as well nobody's. */
static void slack_of_nobody_is_ambiguous(void **state)
{
    struct recording r;
    (void)state;
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x10000000, 20 * MIB);
    sample_block(&r, 7 * MIB + MIB / 2, 0, BLOCK_INACTIVE);
    sample_block(&r, 12 * MIB + MIB / 2, 12 * MIB, BLOCK_ALLOCATED);
    sample_events(&r, "r 10000000 5242880; c 10000000 5242880; a 10000000 5242880; "
                      "f 10000000 5242880");
    sample_finish(&r);
    struct agreement a = proved(&r, ALL);
    assert_int_equal(a.grade, GRADE_EXACT);
    assert_int_equal(a.ambiguous, 1);
    assert_int_equal(sizes->bytes[0], 5 * MIB);
    assert_int_equal(sizes->source[0], SOURCE_REPLAYED);
    check_sums(&r, &a.active, true);
    recording_free(&r);
}

static void check_not_replayed(struct recording *r, enum replay_refusal refusal)
{
    struct agreement a = proved(r, ALL);
    assert_int_equal(a.refusal, refusal);
    assert_false(grade_is_exact(a.grade));
    check_rounded(r);
    recording_free(r);
}

static void where_the_model_differs_requests_are_rounded(void **state)
{
    struct recording r;
    (void)state;
    make(&r, "A 10000000 2097152; a 10000000 512; a 10000200 1000; r 10000000 512; c 10000000 512; "
             "r 10000200 1000; a 10100000 700; f 10100000 700; a 10000000 100");
    check_not_replayed(&r, REFUSED_NOT);
    make(&r, "a 10000600 ?");
    struct agreement a = proved(&r, ALL);
    assert_false(grade_is_exact(a.grade));
    assert_int_equal(sizes->bytes[0], UNKNOWN_U64);
    assert_int_equal(sizes->source[0], SOURCE_ROUNDED);
    assert_int_equal(sizes->source[1], SOURCE_FINAL);
    recording_free(&r);
}

static void what_cannot_be_replayed_is_rounded(void **state)
{
    struct recording r;
    (void)state;
    make(&r, "");
    assert_int_equal(r.allocations.rows.len, 2);
    check_not_replayed(&r, REFUSED_NO_EVENTS);
    make(&r, good);
    r.devices.kind[0] = DEVICE_HOST;
    check_not_replayed(&r, REFUSED_HOST);
    make(&r, good);
    r.devices.parts[0] = PART_SEGMENTS;
    r.origin.complete = false;
    r.origin.cut_part = CUT_TRACES;
    check_not_replayed(&r, REFUSED_CUT);
    sample_init(&r);
    proved(&r, ALL);
    recording_free(&r);
}

static void long_devices_are_left_alone(void **state)
{
    struct recording r;
    const struct agreement *a = agreement;
    (void)state;
    make(&r, good);
    sample_device(&r, 1);
    sample_segment(&r, 0x20000000, 12 * MIB);
    sample_block(&r, 12 * MIB, 12 * MIB, BLOCK_ALLOCATED);
    sample_events(&r, "A 20000000 12582912; a 20000000 12582912");
    r.allocations.rows.len = 0; /* paired again, now with the second device */
    sample_finish(&r);
    assert_int_equal(r.devices.events[0], 9);
    assert_int_equal(prove(&r, 8), VRS_OK);
    assert_int_equal(a[0].refusal, REFUSED_ASKED);
    assert_int_equal(a[0].grade, GRADE_NONE);
    assert_int_equal(a[1].refusal, REFUSED_NOT);
    assert_int_equal(a[1].grade, GRADE_EXACT);
    check_rounded(&r);
    assert_int_equal(sizes->rows.len, 5);
    assert_int_equal(sizes->bytes[4], 12 * MIB);
    assert_int_equal(proved(&r, 9).grade, GRADE_EXACT);
    assert_int_equal(sources_of(&r).count[SOURCE_ROUNDED], 0);
    recording_free(&r);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct recording r;
        make(&r, good);
        fault_left = n;
        enum vrs_status status = prove(&r, ALL);
        bool fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        assert_int_equal(sizes->rows.len, fired ? 0 : 4);
        recording_free(&r);
        if (!fired)
            return;
    }
}

static int forget(void **state)
{
    (void)state;
    block_sizes_free(&proof.block_sizes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_size_has_its_source),
        cmocka_unit_test(whole_recordings_know_every_block),
        cmocka_unit_test(windows_know_every_block_where_they_agree),
        cmocka_unit_test(corrected_slack_is_in_the_sizes),
        cmocka_unit_test(slack_of_nobody_is_ambiguous),
        cmocka_unit_test(where_the_model_differs_requests_are_rounded),
        cmocka_unit_test(what_cannot_be_replayed_is_rounded),
        cmocka_unit_test(long_devices_are_left_alone),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
