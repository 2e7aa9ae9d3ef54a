/* Cuts of a list of events: each begins where an event seems to, nothing is lost between them, and
 * what cannot be cut is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/trace/cut.h"
#include "made/dribble.h"

#define EVENT "{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 2}"
enum { EVENTS = 3000, EVENT_LEN = sizeof EVENT ", " - 1 };

/* "[", EVENTS events with a comma and a blank behind each, "]". */
static uint8_t *make_list(size_t *ret_len)
{
    *ret_len = 1 + (size_t)EVENTS * EVENT_LEN + 1;
    uint8_t *bytes = malloc(*ret_len);
    assert_non_null(bytes);
    bytes[0] = '[';
    for (size_t i = 0; i < EVENTS; i++)
        memcpy(bytes + 1 + i * EVENT_LEN, EVENT ", ", EVENT_LEN);
    bytes[*ret_len - 1] = ']';
    return bytes;
}

/* Shows the cut and holds it against the bytes that it is of. */
static size_t check_cut(struct cut *cut, const uint8_t *bytes, size_t len)
{
    struct window w;
    size_t seen = 0, end = cut->end == UINT64_MAX ? len : (size_t)cut->end;
    assert_true(cut_open(cut, &w));
    assert_int_equal(window_offset(&w), cut->at);
    while (window_need(&w, 1)) {
        size_t here = (size_t)(w.end - w.at);
        assert_true(cut->at + seen + here <= end);
        assert_memory_equal(w.at, bytes + cut->at + seen, here);
        seen += here;
        w.at = w.end;
    }
    cut_close(cut, &w);
    assert_int_equal(cut->at + seen, end);
    return end;
}

/* All cuts of at least `least` bytes behind the head. */
static void check_all(struct cutter *c, const uint8_t *bytes, size_t len, size_t least)
{
    struct cut cut;
    cut_init(&cut);
    size_t at = 0, cuts = 0;
    for (; !c->ended; cuts++) {
        size_t wanted = cuts == 0 ? 0 : least;
        assert_true(cutter_next(c, wanted, &cut));
        assert_int_equal(cut.at, at);
        at = check_cut(&cut, bytes, len);
        if (c->ended)
            break;
        /* At the first event behind as many bytes; the head goes to the second, behind a comma. */
        assert_int_equal((at - 1) % EVENT_LEN, 0);
        assert_true(at - cut.at >= wanted && at - cut.at < wanted + 2 * EVENT_LEN);
    }
    assert_int_equal(at, len);
    assert_false(c->failed);
    cut_free(&cut);
}

static void nothing_is_lost_in_order(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = make_list(&len);
    const size_t steps[] = { 0, 1, 7, 4096 }, leasts[] = { 1, 500, 20000, 200000 };
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            struct dribble d = { .at = bytes, .left = len, .step = steps[i] };
            struct window w;
            struct cutter c;
            assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
            cutter_init(&c, NULL, &w, 0);
            check_all(&c, bytes, len, leasts[k]);
            cutter_free(&c);
            window_free(&w);
        }
    }
    free(bytes);
}

static void nothing_is_lost_at_any_offset(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = make_list(&len);
    struct memory_bytes memory = { .start = bytes, .end = bytes + len };
    const struct source source = source_of_memory(&memory);
    for (size_t least = 1; least < 300000; least = least * 7 + 1) {
        struct cutter c;
        cutter_init(&c, &source, NULL, 0);
        check_all(&c, bytes, len, least);
        cutter_free(&c);
    }
    free(bytes);
}

/* What was taken out of the window for the next cut is given before what is still to come. */
static void what_is_behind_a_cut_is_given_in_order(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = make_list(&len), *behind = malloc(len);
    struct dribble d = { .at = bytes, .left = len, .step = 997 };
    struct window w;
    struct cutter c;
    struct cut cut;
    assert_non_null(behind);
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    cutter_init(&c, NULL, &w, 0);
    cut_init(&cut);
    assert_true(cutter_next(&c, 100, &cut));
    size_t got = 0, some;
    while ((some = cutter_take(&c, behind + got, len - got < 1000 ? len - got : 1000)) > 0)
        got += some;
    assert_int_equal(cut.end + got, len);
    assert_memory_equal(behind, bytes + cut.end, got);
    cut_free(&cut);
    cutter_free(&c);
    window_free(&w);
    free(behind);
    free(bytes);
}

static void a_source_that_fails_is_said(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = make_list(&len);
    struct dribble d = { .at = bytes, .left = 5000, .fails = true };
    struct window w;
    struct cutter c;
    struct cut cut;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    cutter_init(&c, NULL, &w, 0);
    cut_init(&cut);
    assert_false(cutter_next(&c, 100, &cut));
    assert_true(c.failed && c.ended);
    cut_free(&cut);
    cutter_free(&c);
    window_free(&w);
    free(bytes);
}

/* Gives blanks without end. */
static enum vrs_status read_blanks(void *self, uint8_t *to, size_t len, size_t *ret,
                                   struct vrs_error *err)
{
    uint64_t *given = self;
    (void)err;
    memset(to, ' ', len);
    *given += len;
    *ret = len;
    return VRS_OK;
}

static void an_event_is_looked_for_in_so_many_bytes(void **state)
{
    (void)state;
    uint64_t given = 0;
    struct window w;
    struct cutter c;
    struct cut cut;
    assert_int_equal(
        window_init(&w, (struct source){ .read = read_blanks, .self = &given }, NULL), VRS_OK);
    cutter_init(&c, NULL, &w, 0);
    cut_init(&cut);
    assert_false(cutter_next(&c, 100, &cut));
    assert_true(c.failed && c.ended);
    assert_true(given >= CUT_MOST && given <= CUT_MOST + WINDOW_BYTES);
    cut_free(&cut);
    cutter_free(&c);
    window_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_in_order),
        cmocka_unit_test(nothing_is_lost_at_any_offset),
        cmocka_unit_test(what_is_behind_a_cut_is_given_in_order),
        cmocka_unit_test(a_source_that_fails_is_said),
        cmocka_unit_test(an_event_is_looked_for_in_so_many_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
