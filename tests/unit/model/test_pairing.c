#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/pairing.h"
#include "model/recording.h"

static void put_index(char *to, size_t size, uint32_t row)
{
    if (row == NO_ROW)
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%u", row);
}

/* One life a line: alloc, request, completion, block, size. */
static void put_lives(const struct recording *r, char *to, size_t size)
{
    const struct allocations *a = &r->allocations;
    size_t len = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < a->rows.len; i++) {
        char born[16], asked[16], done[16], block[16];
        put_index(born, sizeof born, a->alloc_event[i]);
        put_index(asked, sizeof asked, a->free_requested_event[i]);
        put_index(done, sizeof done, a->free_completed_event[i]);
        put_index(block, sizeof block, a->block[i]);
        len += (size_t)snprintf(to + len, size - len, "%s%s %s %s %s %lld", i == 0 ? "" : "; ",
                                born, asked, done, block, (long long)a->size[i]);
    }
}

/* Blocks of the final state: 512 bytes each at 1000, 1200, … (hexadecimal), by their state. */
static void check(const char *events, const char *blocks, const char *lives, uint64_t orphans,
                  uint64_t doubles)
{
    struct recording r;
    char got[1024];
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x1000, 2 << 20);
    for (const char *at = blocks; *at != '\0'; at++)
        sample_block(&r, 512, 500,
                     *at == 'a'   ? BLOCK_ALLOCATED
                     : *at == 'p' ? BLOCK_PENDING
                                  : BLOCK_INACTIVE);
    sample_events(&r, events);
    sample_finish(&r);
    put_lives(&r, got, sizeof got);
    assert_string_equal(got, lives);
    assert_int_equal(r.devices.orphan_frees[0], orphans);
    assert_int_equal(r.devices.double_allocs[0], doubles);
    recording_free(&r);
}

static void lives_are_joined(void **state)
{
    (void)state;
    check("", "", "", 0, 0);
    check("a 1000 500", "a", "0 - - 0 500", 0, 0);
    check("a 1000 500; r 1000 500; c 1000 500", "i", "0 1 2 - 500", 0, 0);
    check("a 1000 500; f 1000 500", "i", "0 1 1 - 500", 0, 0);
    check("a 1000 500; c 1000 500", "i", "0 1 1 - 500", 0, 0);
    check("a 1000 500; r 1000 500", "p", "0 1 - 0 500", 0, 0);
    check("a 1000 9; r 1000 9; a 1200 7; c 1000 9; a 1000 500; r 1200 7; c 1200 7", "ai",
          "0 1 3 - 9; 2 5 6 - 7; 4 - - 0 500", 0, 0);
    check("n 0 512; o 0 512; x 0 0; A 1000 2097152", "i", "", 0, 0);
}

static void the_window_has_two_ends(void **state)
{
    (void)state;
    check("", "aip", "- - - 0 500; - - - 2 500", 0, 0);
    check("r 1000 500; c 1000 500", "i", "- 0 1 - 500", 1, 0);
    check("c 1000 500", "i", "- 0 0 - 500", 1, 0);
    check("r 1000 500", "p", "- 0 - 0 500", 0, 0);
    check("a 1200 500; c 1000 500", "iaa", "0 - - 1 500; - 1 1 - 500; - - - 2 500", 1, 0);
    check("a 9000 500", "i", "0 - - - 500", 0, 0);
}

static void contradictions_are_counted(void **state)
{
    (void)state;
    check("a 1000 9; a 1000 500", "a", "0 1 1 - 9; 1 - - 0 500", 0, 1);
    check("a 1000 9; r 1000 9; a 1000 500", "a", "0 1 2 - 9; 2 - - 0 500", 0, 1);
    check("r 1000 9; a 1000 500", "a", "- 0 1 - 9; 1 - - 0 500", 0, 0);
    check("r 1000 9; r 1000 9; c 1000 9; c 1000 9", "i", "- 0 2 - 9; - 3 3 - 9", 2, 0);
    check("a 1000 500; c 1000 77", "i", "0 1 1 - 500", 0, 0);
}

static void unknown_is_not_a_number(void **state)
{
    (void)state;
    check("a ? 500; c ? 500; r ? 500; f ? 1", "", "", 0, 0);
    check("a 1000 ?; f 1000 ?; c 1200 ?", "ii", "0 1 1 - -1; - 2 2 - -1", 1, 0);
}

static void devices_have_runs_of_their_own(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    for (uint32_t d = 0; d < 3; d++) {
        sample_device(&r, d * 2);
        if (d == 1)
            continue;
        sample_segment(&r, 0x1000, 2 << 20);
        sample_block(&r, 512, 500, BLOCK_ALLOCATED);
        sample_events(&r, "a 1000 500; c 5000 1");
    }
    sample_finish(&r);
    const uint32_t first[] = { 0, 2, 2 }, count[] = { 2, 0, 2 };
    for (uint32_t d = 0; d < 3; d++) {
        assert_int_equal(r.devices.first_allocation[d], first[d]);
        assert_int_equal(r.devices.allocations[d], count[d]);
        assert_int_equal(r.devices.orphan_frees[d], d != 1);
    }
    assert_int_equal(r.allocations.alloc_event[2], 2);
    assert_int_equal(r.allocations.block[2], 1);
    recording_free(&r);
}

/* Only what returns and was not obtained before counts, and each byte once. */
static void check_unobtained(const char *events, uint64_t bytes)
{
    struct recording r;
    sample_init(&r);
    sample_device(&r, 0);
    r.devices.parts[0] = 0;
    r.origin.complete = false;
    sample_events(&r, events);
    sample_finish(&r);
    assert_int_equal(r.devices.returned_unobtained_bytes[0], bytes);
    recording_free(&r);
}

static void cut_traces_prove_older_memory(void **state)
{
    (void)state;
    check_unobtained("a 1000 5", 0);
    check_unobtained("A 1000 512; F 1000 512", 0);
    check_unobtained("F 1000 512; A 1000 512; F 1000 512", 512);
    check_unobtained("F 1000 512; F 1000 512", 512);
    check_unobtained("M 1000 512; U 1000 1024", 512);
    check_unobtained("U 1000 4096; M 1000 8192; U 1000 8192", 4096);
    check_unobtained("M 1200 512; U 1000 2048; U 1000 4096", 3584);
    check_unobtained("F ? 512; F 1000 ?; F 1000 0; F ffffffffffffff00 4096", 255);
}

static void a_cut_end_names_no_survivors(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    sample_device(&r, 0);
    r.devices.parts[0] = PART_SEGMENTS;
    r.origin.complete = false;
    sample_segment(&r, 0x1000, 2 << 20);
    sample_block(&r, 512, 500, BLOCK_ALLOCATED);
    sample_events(&r, "a 1000 500; c 1200 7");
    sample_finish(&r);
    assert_int_equal(r.allocations.rows.len, 2);
    assert_int_equal(r.allocations.block[0], NO_ROW);
    recording_free(&r);
}

static void many_lives_share_few_entries(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    sample_device(&r, 0);
    for (uint32_t i = 0; i < 3000; i++) {
        char text[64];
        snprintf(text, sizeof text, "a %x 8; r %x 8", 0x1000 + i * 512, 0x1000 + i / 2 * 512);
        sample_events(&r, text);
        snprintf(text, sizeof text, "c %x 8", 0x1000 + i / 2 * 512);
        sample_events(&r, text);
    }
    sample_finish(&r);
    /* Every second completion finds its address free again. */
    assert_int_equal(r.devices.orphan_frees[0], 1500);
    assert_int_equal(r.allocations.rows.len, 4500);
    recording_free(&r);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct recording r;
        struct vrs_error err;
        sample_init(&r);
        sample_device(&r, 0);
        r.devices.parts[0] = 0;
        sample_events(&r, "a 1000 5; a 1200 6; c 1000 5; c 9000 1; F 1000 512; a 1000 7");
        fault_left = n;
        enum vrs_status status = pair_allocations(&r, &err);
        bool fired = fault_left < 0;
        fault_left = -1;
        recording_free(&r);
        if (!fired) {
            assert_int_equal(status, VRS_OK);
            return;
        }
        /* Giving memory back may fail too, and harms nobody. */
        assert_true(status == VRS_NOMEM || status == VRS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_are_joined),
        cmocka_unit_test(the_window_has_two_ends),
        cmocka_unit_test(contradictions_are_counted),
        cmocka_unit_test(unknown_is_not_a_number),
        cmocka_unit_test(devices_have_runs_of_their_own),
        cmocka_unit_test(cut_traces_prove_older_memory),
        cmocka_unit_test(a_cut_end_names_no_survivors),
        cmocka_unit_test(many_lives_share_few_entries),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
