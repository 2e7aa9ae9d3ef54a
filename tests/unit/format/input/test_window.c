#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fail.h"
#include "format/input/window.h"
#include "made/dribble.h"
#include "made/fault.h"

static uint8_t pattern(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 251);
}

static uint8_t *patterned(size_t size)
{
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = pattern(i);
    return bytes;
}

/* Reads all of `size` bytes in tokens of `token` from a source of `step` bytes a read. */
static void check(size_t size, size_t token, size_t step)
{
    uint8_t *bytes = patterned(size);
    struct dribble d = { .at = bytes, .left = size, .step = step };
    struct window w;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    uint64_t offset = 0;
    while (window_need(&w, token)) {
        assert_int_equal(window_offset(&w), offset);
        assert_int_equal(w.at[0], pattern(offset));
        assert_int_equal(w.at[token - 1], pattern(offset + token - 1));
        w.at += token;
        offset += token;
    }
    size_t rest = (size_t)(w.end - w.at);
    assert_int_equal(offset + rest, size);
    for (size_t i = 0; i < rest; i++)
        assert_int_equal(w.at[i], pattern(offset + i));
    assert_int_equal(window_status(&w, NULL), VRS_OK);
    window_free(&w);
    free(bytes);
}

static void every_byte_comes_once(void **state)
{
    (void)state;
    check(0, 1, 0);
    check(1, 1, 1);
    check(1000, 7, 1);
    check(3 * WINDOW_BYTES + 5, 1, 0);
    check(3 * WINDOW_BYTES + 5, 1000, 0);
    check(3 * WINDOW_BYTES + 5, 9, 65536);
    check(3 * WINDOW_BYTES + 5, 4093, 17);
}

static void a_token_may_be_as_large_as_the_window(void **state)
{
    (void)state;
    check(2 * WINDOW_BYTES + 1, WINDOW_BYTES, 4096);
    check(WINDOW_BYTES - 1, WINDOW_BYTES, 0);
}

static void bytes_behind_the_end_are_zero(void **state)
{
    (void)state;
    const uint8_t bytes[] = { 1, 2, 3 };
    struct dribble d = { .at = bytes, .left = sizeof bytes };
    struct window w;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_false(window_need(&w, 4));
    assert_int_equal(w.end - w.at, 3);
    for (int i = 0; i < 8; i++)
        assert_int_equal(w.end[i], 0);
    window_free(&w);
}

static void a_failure_comes_behind_the_bytes_before_it(void **state)
{
    (void)state;
    const uint8_t bytes[] = { 1, 2, 3 };
    struct dribble d = { .at = bytes, .left = sizeof bytes, .step = 1, .fails = true };
    struct window w;
    struct vrs_error err = { .status = VRS_OK };
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_true(window_need(&w, 3));
    assert_int_equal(window_status(&w, &err), VRS_OK);
    assert_false(window_need(&w, 4));
    assert_int_equal(window_status(&w, &err), VRS_IO);
    assert_string_equal(err.message, "the disk is on fire");
    window_free(&w);
}

static void a_source_that_ended_is_not_asked_again(void **state)
{
    (void)state;
    struct dribble d = { .at = NULL };
    struct window w;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    for (int i = 0; i < 3; i++)
        assert_false(window_need(&w, 1));
    assert_int_equal(d.reads, 1);
    window_free(&w);
}

static void without_memory_there_is_no_window(void **state)
{
    (void)state;
    struct dribble d = { .at = NULL };
    struct window w;
    fault_left = 0;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_NOMEM);
    assert_int_equal(fault_left, -1);
}

/* Reads `size` bytes one by one, holding those from `from` on, then these once more. */
static void check_held(size_t from, size_t size, size_t step)
{
    uint8_t *bytes = patterned(size + 100);
    struct dribble d = { .at = bytes, .left = size + 100, .step = step };
    struct window w;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_false(window_rewind(&w));
    while (window_need(&w, 1) && window_offset(&w) < size) {
        if (window_offset(&w) == from)
            assert_true(window_hold(&w, from));
        assert_int_equal(w.at[0], pattern(window_offset(&w)));
        w.at++;
    }
    assert_int_equal(window_offset(&w), size);
    assert_true(window_rewind(&w));
    for (uint64_t at = from; at < size + 100; at++) {
        assert_true(window_need(&w, 1));
        assert_int_equal(window_offset(&w), at);
        assert_int_equal(w.at[0], pattern(at));
        w.at++;
    }
    assert_false(window_need(&w, 1));
    assert_int_equal(window_status(&w, NULL), VRS_OK);
    window_free(&w);
    free(bytes);
}

static void what_is_held_can_be_read_again(void **state)
{
    (void)state;
    check_held(0, 10, 1);
    check_held(5, 10, 0);
    check_held(WINDOW_BYTES - 3, WINDOW_BYTES + 3, 0);
    check_held(WINDOW_BYTES - 3, 3 * WINDOW_BYTES, 4096);
    check_held(7, 9 * WINDOW_BYTES + 11, 100000);
}

static void what_was_passed_cannot_be_held(void **state)
{
    (void)state;
    uint8_t *bytes = patterned(2 * WINDOW_BYTES);
    struct dribble d = { .at = bytes, .left = 2 * WINDOW_BYTES };
    struct window w;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_true(window_need(&w, WINDOW_BYTES));
    w.at += WINDOW_BYTES;
    assert_true(window_hold(&w, 3));
    assert_true(window_rewind(&w));
    assert_int_equal(window_offset(&w), 3);
    window_release(&w);
    assert_false(window_rewind(&w));
    w.at = w.end;
    assert_true(window_need(&w, WINDOW_BYTES));
    assert_false(window_hold(&w, 3));
    assert_false(window_rewind(&w));
    window_free(&w);
    free(bytes);
}

static void bytes_are_shown_as_they_lie(void **state)
{
    (void)state;
    uint8_t bytes[20 + WINDOW_PAD_BYTES] = "01234567890123456789";
    struct window w = window_of_bytes(bytes, 20, 1000);
    assert_true(window_need(&w, 20));
    assert_int_equal(window_offset(&w), 1000);
    assert_true(w.at == bytes);
    w.at += 15;
    assert_false(window_need(&w, 6));
    assert_true(window_need(&w, 5));
    assert_int_equal(window_offset(&w), 1015);
    assert_int_equal(window_status(&w, NULL), VRS_OK);
}

static enum vrs_status read_held(void *arg)
{
    struct vrs_error err;
    struct window w;
    struct dribble d = { .at = arg, .left = 3 * WINDOW_BYTES };
    TRY(window_init(&w, dribble_source(&d), &err));
    while (window_need(&w, 1)) {
        if (window_offset(&w) == 0)
            window_hold(&w, 0);
        w.at = w.end;
    }
    enum vrs_status status = window_status(&w, &err);
    window_free(&w);
    return status;
}

static void room_for_what_is_held_may_fail(void **state)
{
    (void)state;
    uint8_t *bytes = patterned(3 * WINDOW_BYTES);
    fault_each(read_held, NULL, bytes);
    free(bytes);
}

/* From the front of the window and past it, and then on as before. */
static void taken_bytes_come_once(void **state)
{
    (void)state;
    enum { SIZE = WINDOW_BYTES + 1000 };
    uint8_t *bytes = patterned(SIZE), *taken = malloc(SIZE);
    assert_non_null(taken);
    struct dribble d = { .at = bytes, .left = SIZE, .step = 700 };
    struct window w;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_true(window_need(&w, 1000));
    assert_true(window_hold(&w, 0));
    w.at += 10;
    size_t at = 10, got;
    while (at < SIZE - 500 && (got = window_take(&w, taken + at, 300)) > 0) {
        assert_true(got <= 300);
        at += got;
        assert_int_equal(window_offset(&w), at);
    }
    assert_false(window_rewind(&w));
    assert_memory_equal(taken + 10, bytes + 10, at - 10);
    assert_true(window_need(&w, 1));
    for (; window_need(&w, 1); w.at++, at++)
        assert_int_equal(*w.at, pattern(at));
    assert_int_equal(at, SIZE);
    assert_int_equal(window_take(&w, taken, 1), 0);
    assert_int_equal(window_offset(&w), SIZE);
    window_free(&w);
    free(taken);
    free(bytes);
}

static void nothing_is_taken_behind_a_failure(void **state)
{
    (void)state;
    const uint8_t bytes[] = { 1, 2, 3 };
    uint8_t taken[8];
    struct dribble d = { .at = bytes, .left = sizeof bytes, .fails = true };
    struct window w;
    struct vrs_error err;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_int_equal(window_take(&w, taken, sizeof taken), 3);
    assert_int_equal(window_status(&w, NULL), VRS_OK);
    assert_int_equal(window_take(&w, taken, sizeof taken), 0);
    assert_int_equal(window_status(&w, &err), VRS_IO);
    assert_string_equal(err.message, "the disk is on fire");
    uint32_t reads = d.reads;
    assert_int_equal(window_take(&w, taken, sizeof taken), 0);
    assert_int_equal(d.reads, reads);
    window_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_once),
        cmocka_unit_test(a_token_may_be_as_large_as_the_window),
        cmocka_unit_test(bytes_behind_the_end_are_zero),
        cmocka_unit_test(a_failure_comes_behind_the_bytes_before_it),
        cmocka_unit_test(a_source_that_ended_is_not_asked_again),
        cmocka_unit_test(without_memory_there_is_no_window),
        cmocka_unit_test(what_is_held_can_be_read_again),
        cmocka_unit_test(what_was_passed_cannot_be_held),
        cmocka_unit_test(bytes_are_shown_as_they_lie),
        cmocka_unit_test(room_for_what_is_held_may_fail),
        cmocka_unit_test(taken_bytes_come_once),
        cmocka_unit_test(nothing_is_taken_behind_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
