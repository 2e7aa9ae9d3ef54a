/* test_block_sizes.c - sizes without a replay, and what is wrong with a table of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/replay/block_sizes.h"
#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"

/* Two devices; allocations 0 to 3 are: alive, freed, pending, only a block. */
static void make(struct recording *r)
{
    sample_init(r);
    for (uint32_t d = 0; d < 2; d++) {
        sample_device(r, d);
        sample_segment(r, 0x1000, 2 << 20);
        sample_block(r, 1024, 600, BLOCK_ALLOCATED); /* 1000 */
        sample_block(r, 1024, 600, BLOCK_PENDING);   /* 1400 */
        sample_block(r, 1024, 600, BLOCK_INACTIVE);
        sample_block(r, 1024, 600, BLOCK_ALLOCATED);
        sample_events(r, "a 1000 600; a 9000 5; r 9000 5; c 9000 5; a 1400 600; r 1400 600; n 0 0");
    }
    sample_finish(r);
}

/* As prove.c fills it. */
static void replay(const struct recording *r, struct block_sizes *s)
{
    assert_int_equal(block_sizes_round(r, s, NULL), VRS_OK);
    for (uint32_t i = 0; i < s->rows.len; i++)
        s->source[i] = r->allocations.block[i] != NO_ROW ? SOURCE_FINAL : SOURCE_REPLAYED;
}

static void check_wrong(const struct recording *r, const struct block_sizes *s, const char *message)
{
    struct vrs_error err = { .message = "" };
    enum vrs_status status = verify_block_sizes(r, s, &err);
    if (message == NULL) {
        assert_int_equal(status, VRS_OK);
        return;
    }
    assert_int_equal(status, VRS_CORRUPT);
    err.message[strlen(message)] = '\0';
    assert_string_equal(err.message, message);
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    struct recording r;
    struct block_sizes s = { .bytes = NULL };
    make(&r);
    replay(&r, &s);
    const struct {
        uint32_t *at;
        uint32_t value;
        const char *message;
    } cases[] = {
        { &r.allocations.block[0], NO_ROW, "block_sizes, row 0: not that" },
        { &s.rows.len, 7, "block_sizes: 7 rows for 8 allocations" },
        { &s.rows.len, 0, "block_sizes: 0 rows for 8 allocations" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t right = *cases[i].at;
        *cases[i].at = cases[i].value;
        check_wrong(&r, &s, cases[i].message);
        *cases[i].at = right;
    }
    check_wrong(&r, &s, NULL);
    block_sizes_free(&s);
    recording_free(&r);
}

static void wrong_bytes_are_named(void **state)
{
    (void)state;
    struct recording r;
    struct block_sizes s = { .bytes = NULL };
    make(&r);
    replay(&r, &s);
    const struct {
        uint8_t *at;
        uint8_t value;
        const char *message;
    } cases[] = {
        { &s.source[1], 3, "block_sizes.source, row 1" },
        { &s.source[0], SOURCE_ROUNDED, "block_sizes, row 0: not that" },
        { &s.source[1], SOURCE_FINAL, "block_sizes, row 1: not that" },
        { (uint8_t *)&s.bytes[0], 1, "block_sizes, row 0: not that" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t right = *cases[i].at;
        *cases[i].at = cases[i].value;
        check_wrong(&r, &s, cases[i].message);
        *cases[i].at = right;
    }
    check_wrong(&r, &s, NULL);
    block_sizes_free(&s);
    recording_free(&r);
}

static void final_blocks_else_rounded_requests(void **state)
{
    (void)state;
    static const struct block_size want[] = {
        { 1024, SOURCE_FINAL }, { 512, SOURCE_ROUNDED }, { 1024, SOURCE_FINAL },
        { 1024, SOURCE_FINAL }, { 1024, SOURCE_FINAL },  { 0, SOURCE_ROUNDED },
    };
    struct recording r;
    struct block_sizes s = { .bytes = NULL };
    make(&r);
    r.allocations.size[5] = UNKNOWN_U64;
    assert_int_equal(block_sizes_round(&r, &s, NULL), VRS_OK);
    assert_int_equal(s.rows.len, 8);
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(block_of(&s, i).bytes, want[i].bytes);
        assert_int_equal(block_of(&s, i).source, want[i].source);
    }
    assert_int_equal(s.bytes[5], UNKNOWN_U64);
    block_sizes_free(&s);
    recording_free(&r);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct recording r;
    struct block_sizes s = { .bytes = NULL };
    make(&r);
    for (long n = 0;; n++) {
        fault_left = n;
        enum vrs_status status = block_sizes_round(&r, &s, NULL);
        bool fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        assert_int_equal(s.rows.len, fired ? 0 : 8);
        block_sizes_free(&s);
        if (!fired)
            break;
    }
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(wrong_bytes_are_named),
        cmocka_unit_test(final_blocks_else_rounded_requests),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
