#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"

/* A device with one segment of 2 MiB at 1000 (hexadecimal) and blocks of 1024 bytes for 600, by
 * their state; the rest of the segment is free. */
static void make(struct recording *r, const char *events, const char *blocks)
{
    sample_init(r);
    sample_device(r, 0);
    if (*blocks != '\0') {
        sample_segment(r, 0x1000, 2 << 20);
        for (const char *at = blocks; *at != '\0'; at++)
            sample_block(r, 1024, 600,
                         *at == 'a'   ? BLOCK_ALLOCATED
                         : *at == 'p' ? BLOCK_PENDING
                                      : BLOCK_INACTIVE);
        sample_block(r, (2 << 20) - 1024 * strlen(blocks), 0, BLOCK_INACTIVE);
    }
    sample_events(r, events);
}

/* "A complete", then the ids in order, failed ones with their count before them. */
static void put_trust(const struct trust *trust, char *to, size_t size)
{
    size_t len =
        (size_t)snprintf(to, size, "%c %s", trust->grade, trust_window_names[trust->window]);
    for (uint32_t i = 0; i < trust->items; i++) {
        const struct trust_item *item = &trust->item[i];
        if (item->failed)
            len +=
                (size_t)snprintf(to + len, size - len, " %llu*", (unsigned long long)item->count);
        else
            len += (size_t)snprintf(to + len, size - len, " ");
        len += (size_t)snprintf(to + len, size - len, "%s", item->id);
        assert_true(item->text.len > 20 && item->text.len < 300);
    }
}

static void assess(struct recording *r, struct arena *arena, struct trust *ret)
{
    struct curves curves;
    sample_finish(r);
    curves_compute(r, 0, &curves);
    arena_init(arena, SIZE_MAX);
    struct trust_basis basis;
    assert_int_equal(trust_basis_find(r, 0, &basis, NULL), VRS_OK);
    assert_int_equal(trust_assess(r, 0, &basis, &curves, NULL, arena, ret, NULL), VRS_OK);
}

static void check_made(struct recording *r, const char *expected)
{
    struct arena arena;
    struct trust trust;
    char got[512];
    assess(r, &arena, &trust);
    put_trust(&trust, got, sizeof got);
    assert_string_equal(got, expected);
    arena_free(&arena);
    recording_free(r);
}

static void check(const char *events, const char *blocks, const char *expected)
{
    struct recording r;
    make(&r, events, blocks);
    check_made(&r, expected);
}

static void windows_and_grades(void **state)
{
    (void)state;
    check("A 1000 2097152; a 1000 600", "a", "A complete no_frames");
    check("A 1000 2097152; a 1000 600; r 1000 600; c 1000 600", "i", "A complete no_frames");
    check("", "a", "B state_only no_history no_frames");
    check("", "", "B state_only no_history");
    check("c 1000 600", "i", "B one_event one_event");
    /* The state a request failed in is the state at the end. */
    check("o ? 4096", "a", "B late_start starts_late");
    check("a 1400 600; n 0 0", "aa", "B late_start starts_late no_frames");
    /* A segment that was there before, and nothing in it. */
    check("n 0 0; n 0 0", "i", "A complete");
    check("c 1000 600; n 0 0", "i", "B late_start starts_late orphans");
}

static void checks_fail(void **state)
{
    (void)state;
    check("A 1000 2097152; a 1000 600; a 1400 600", "a",
          "D complete 1*end_mismatch 1*negative_start no_frames");
    check("A 1000 2097152; a 1000 700", "a",
          "D complete 1*end_mismatch 1*negative_start no_frames");
    check("A 1000 2097152; a 1000 600", "p", "D complete 1*end_mismatch no_frames");
    check("A 1000 2097152; a 1000 600; r 1000 600", "a", "D complete 1*unpaired_request no_frames");
    check("A 1000 2097152; a 1400 9; a 1400 9; f 1400 9; a 1000 600", "a",
          "D complete 1*double_alloc 1*negative_start no_frames");
    check("A 1000 2097152; a 1000 600; c 1000 600; a 1000 600", "a",
          "D complete 1*skipped_actions no_frames");
    check("A 1000 2097152; a 1400 2000000; f 1400 2000000; a 1400 4; c 1400 4; a 1000 600", "a",
          "C complete 1*skipped_actions no_frames");
    check("a 900000 600; f 900000 600; A 1000 2097152", "i",
          "D complete 1*peak_above_reserved 1*unknown_segment no_frames");
    check("A 1000 2097152; F 1000 2097152; a 1000 600; f 1000 600; A 1000 2097152", "i",
          "D complete 1*peak_above_reserved 1*unknown_segment no_frames");
    check("M 1000 2097152; U 1400 512; a 1400 1; f 1400 1; M 1400 512; a 1400 1; f 1400 1", "i",
          "D complete 1*unknown_segment no_frames");
}

/* Pages are as large as the ends of ranges let them be, which a file may put anywhere. */
static void what_is_mapped_is_known_to_the_byte(void **state)
{
    (void)state;
    static const struct {
        const char *events, *expected;
    } cases[] = {
        /* A hole in the middle of 2 MiB, before and after it is there. */
        { "M 1000 2097152; a 1600 1; f 1600 1; U 1600 512; a 1400 1; f 1400 1; M 1600 512; "
          "a 1600 1; f 1600 1",
          "A complete no_frames" },
        { "M 1000 2097152; U 1600 512; a 15ff 1; f 15ff 1; a 1600 1; f 1600 1; a 17ff 1; f 17ff 1; "
          "a 1800 1; f 1800 1; M 1600 512",
          "D complete 2*unknown_segment no_frames" },
        /* Ends that lie on nothing, the last address there is, and none at all. */
        { "A 1000 2097152; A 300fff 3; a 300fff 1; f 300fff 1; a 301002 1; f 301002 1; F 300fff 3",
          "D complete 1*unknown_segment no_frames" },
        { "A 1000 2097152; A fffffffffffff000 8192; a fffffffffffff800 1; f fffffffffffff800 1; "
          "F fffffffffffff000 8192; a fffffffffffff800 1; f fffffffffffff800 1",
          "D complete 1*unknown_segment no_frames" },
        { "A 1000 2097152; A 0 4096; a 0 1; f 0 1; F 0 4096; a 0 1; f 0 1",
          "D complete 1*unknown_segment no_frames" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].events, "i", cases[i].expected);
}

static void sums_are_checked(void **state)
{
    (void)state;
    for (int fault = 0; fault < 8; fault++) {
        struct recording r;
        make(&r, "", "ap");
        uint64_t *const place[] = { &r.blocks.size[1],
                                    &r.segments.total_size[0],
                                    &r.segments.allocated_size[0],
                                    &r.segments.active_size[0],
                                    &r.segments.requested_size[0],
                                    &r.blocks.requested_size[0],
                                    &r.blocks.address[1] };
        if (fault < 7)
            *place[fault] += 512;
        check_made(&r, fault < 7 ? "D state_only 1*sums no_history no_frames"
                                 : "B state_only no_history no_frames");
    }
}

static void unknown_sums_are_not_wrong(void **state)
{
    (void)state;
    struct recording r;
    make(&r, "", "a");
    r.segments.allocated_size[0] = r.segments.active_size[0] = UNKNOWN_U64;
    r.segments.requested_size[0] = UNKNOWN_U64;
    check_made(&r, "B state_only no_history no_frames");
}

static void clocks_do_not_lower_the_grade(void **state)
{
    (void)state;
    struct recording r;
    make(&r, "A 1000 2097152; n 0 0; n 0 0; n 0 0", "i");
    r.events.time_us[1] = UNKNOWN_U64;
    r.events.time_us[3] = 0;
    check_made(&r, "A complete 1*time_backwards no_time");
    make(&r, "A 1000 2097152; o 10000000 9; o 90000000 9; o 10000001 9", "i");
    check_made(&r, "A complete 3*capacity_varies");
}

static void rings_overflow(void **state)
{
    (void)state;
    struct recording r;
    make(&r, "n 0 0; c 1000 600", "i");
    sample_setting(&r, "trace_alloc_max_entries", 2);
    check_made(&r, "B overflowed starts_late orphans overflow");
    make(&r, "n 0 0; c 1000 600", "i");
    sample_setting(&r, "trace_alloc_max_entries", 3);
    sample_setting(&r, "trace_alloc_overflowed.0", 1);
    check_made(&r, "B overflowed starts_late orphans overflow");
    for (uint32_t events = 1999; events <= 2000; events++) {
        make(&r, "c 1000 600", "i");
        while (r.events.rows.len < events)
            sample_events(&r, "n 0 0");
        check_made(&r, events == 2000
                           ? "B overflow_suspected starts_late orphans overflow_suspected"
                           : "B late_start starts_late orphans");
    }
}

static void cut_files_say_where(void **state)
{
    (void)state;
    struct recording r;
    struct arena arena;
    struct trust trust;
    make(&r, "a 1000 600; o 1 1", "a");
    r.origin.complete = false;
    r.origin.cut_part = CUT_TRACES;
    r.origin.cut_offset = 81237;
    r.devices.parts[0] = PART_SEGMENTS;
    assess(&r, &arena, &trust);
    static const char text[] = "the file is cut at byte 81237, inside the events; 2 events and 1 "
                               "segment of this device were read";
    assert_int_equal(trust.grade, 'C');
    assert_int_equal(trust.window, WINDOW_INCOMPLETE);
    assert_string_equal(trust.item[0].id, "incomplete");
    assert_int_equal(trust.item[0].text.len, strlen(text));
    assert_memory_equal(trust.item[0].text.ptr, text, strlen(text));
    arena_free(&arena);
    recording_free(&r);
}

static void captures_are_told_apart(void **state)
{
    (void)state;
    static const struct line python = { "step", "/a/model.py", 1 };
    static const struct line native = { "malloc(unsigned long)", "??", 0 };
    static const struct line other = { "stop", "/a/model.py", 2 };
    static const struct {
        bool native[2];
        bool frees_carry;
        const char *expected;
    } cases[] = {
        { { true, true }, false, "A complete" },
        { { false, false }, false, "A complete python_only" },
        { { true, false }, false, "A complete mixed" },
        { { true, true }, true, "A complete frees_carry_alloc_stack" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        make(&r, "A 1000 2097152; a 1000 600; a 1400 600; f 1400 600; f 1000 600", "ii");
        stack_id freed = sample_stack(&r, &other, 1);
        for (uint32_t e = 0; e < 2; e++) {
            struct line lines[] = { native, python };
            stack_id stack =
                cases[i].native[e] ? sample_stack(&r, lines, 2) : sample_stack(&r, &python, 1);
            r.events.stack[1 + e] = stack.n;
            r.events.stack[4 - e] = cases[i].frees_carry ? stack.n : freed.n;
        }
        check_made(&r, cases[i].expected);
    }
}

/* Keys are counted by the file, actions stand in the events of their device. */
static void what_is_unknown_is_named(void **state)
{
    (void)state;
    struct recording r;
    context_id sung;
    struct arena arena;
    struct trust trust;
    make(&r, "A 1000 2097152; x 0 0", "i");
    assert_true(tallies_count(&r.tallies, TALLY_UNKNOWN_KEY, sample_string(&r, "colour")));
    assert_true(tallies_count(&r.tallies, TALLY_UNKNOWN_KEY, sample_string(&r, "taste")));
    assert_true(tallies_count(&r.tallies, TALLY_UNKNOWN_ACTION, sample_string(&r, "elsewhere")));
    assert_true(contexts_intern(&r.contexts,
                                (struct context){ .action = sample_string(&r, "sing") }, &sung));
    r.events.action[1] = ACTION_OTHER;
    r.events.context[1] = sung.n;
    assert_true(tallies_count(&r.tallies, TALLY_WRONG_TYPE, sample_string(&r, "size")));
    assess(&r, &arena, &trust);
    assert_int_equal(trust.items, 3);
    assert_string_equal(trust.item[0].id, "wrong_types");
    assert_int_equal(trust.item[0].count, 1);
    assert_int_equal(trust.grade, 'B');
    assert_string_equal(trust.item[1].id, "unknown_keys");
    assert_int_equal(trust.item[1].count, 2);
    assert_true(str_find(trust.item[1].text, S("\"colour\"")) < trust.item[1].text.len);
    assert_string_equal(trust.item[2].id, "unknown_actions");
    assert_int_equal(trust.item[2].count, 1);
    assert_int_equal(trust.item[2].first_event, 1);
    assert_true(str_find(trust.item[2].text, S("\"sing\"")) < trust.item[2].text.len);
    arena_free(&arena);
    recording_free(&r);
}

static void bytes_are_rounded_half_to_even(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        { 1, "1 byte " },
        { 1023, "1023 bytes" },
        { 1024, "1.00 KiB" },
        { 1024 * 1024 - 1, "1.00 MiB" },
        { 1024 + 1024 / 8, "1.12 KiB" },
        { 1024 + 3 * 1024 / 8, "1.38 KiB" },
        { (uint64_t)5 << 30, "5.00 GiB" },
        { (uint64_t)3 << 59, "1.50 EiB" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        struct arena arena;
        struct trust trust;
        make(&r, "n 0 0; n 0 0", "a");
        r.blocks.requested_size[0] = r.segments.requested_size[0] = cases[i].bytes;
        assess(&r, &arena, &trust);
        bool found = false;
        for (uint32_t k = 0; k < trust.items; k++)
            found |= strcmp(trust.item[k].id, "starts_late") == 0 &&
                     str_starts(trust.item[k].text, str_from(cases[i].text));
        assert_true(found);
        arena_free(&arena);
        recording_free(&r);
    }
}

/* A fact, which lowers no grade. */
static void whose_settings_it_has_is_said(void **state)
{
    (void)state;
    struct recording r;
    make(&r, "A 1000 2097152; a 1000 600", "a");
    r.named_facts.foreign_recorder = true;
    check_made(&r, "A complete no_frames begun_by_program");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording r;
    struct curves curves;
    make(&r, "a 900000 600; f 900000 600; A 1000 2097152", "aa");
    sample_finish(&r);
    curves_compute(&r, 0, &curves);
    bool fired = true;
    for (long n = 0; fired; n++) {
        struct arena arena;
        struct trust trust;
        struct trust_basis basis;
        arena_init(&arena, SIZE_MAX);
        fault_left = n;
        enum vrs_status status = trust_basis_find(&r, 0, &basis, NULL);
        if (status == VRS_OK)
            status = trust_assess(&r, 0, &basis, &curves, NULL, &arena, &trust, NULL);
        fired = fault_left < 0;
        fault_left = -1;
        arena_free(&arena);
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_and_grades),
        cmocka_unit_test(checks_fail),
        cmocka_unit_test(what_is_mapped_is_known_to_the_byte),
        cmocka_unit_test(sums_are_checked),
        cmocka_unit_test(unknown_sums_are_not_wrong),
        cmocka_unit_test(clocks_do_not_lower_the_grade),
        cmocka_unit_test(rings_overflow),
        cmocka_unit_test(cut_files_say_where),
        cmocka_unit_test(captures_are_told_apart),
        cmocka_unit_test(what_is_unknown_is_named),
        cmocka_unit_test(bytes_are_rounded_half_to_even),
        cmocka_unit_test(whose_settings_it_has_is_said),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
