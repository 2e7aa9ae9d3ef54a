#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/snapshot/from_json.h"
#include "made/dribble.h"
#include "made/fault.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

struct outcome {
    enum vrs_status status;
    struct vrs_error err;
    struct recording r;
    uint64_t offset; /* where the window stands afterwards */
    uint64_t records;
};

static void read_text(const char *text, size_t len, size_t step, const struct limits *limits,
                      struct outcome *o)
{
    struct dribble d = { .at = (const uint8_t *)text, .left = len, .step = step };
    struct window w;
    *o = (struct outcome){ .records = 0 };
    o->status = window_init(&w, dribble_source(&d), &o->err);
    if (o->status != VRS_OK)
        return;
    if (recording_init(&o->r, limits->items, limits->strings_bytes))
        o->status = snapshot_from_json(&w, limits, &o->records, &o->r, &o->err);
    else
        o->status = VRS_NOMEM;
    o->offset = window_offset(&w);
    window_free(&w);
}

/* The smallest snapshot around one event, whose size is `number`. */
static void read_size(const char *number, struct outcome *o)
{
    char text[1200];
    int len = snprintf(text, sizeof text,
                       "{\"segments\": [], \"device_traces\": [[{\"action\": \"alloc\", \"addr\": "
                       "4096, \"size\": %s, \"stream\": 0}]]}",
                       number);
    read_text(text, (size_t)len, 0, &default_limits, o);
}

static void check_size(const char *number, uint64_t wanted)
{
    struct outcome o;
    read_size(number, &o);
    if (o.status != VRS_OK)
        fail_msg("%s: %s", number, o.err.message);
    assert_int_equal(o.r.events.rows.len, 1);
    if (o.r.events.size[0] != wanted)
        fail_msg("%s became %llu", number, (unsigned long long)o.r.events.size[0]);
    recording_free(&o.r);
}

static void check_no_number(const char *number)
{
    struct outcome o;
    read_size(number, &o);
    if (o.status != VRS_CORRUPT)
        fail_msg("%s was taken", number);
    recording_free(&o.r);
}

static void numbers_are_integers_where_they_can_be(void **state)
{
    (void)state;
    check_size("512", 512);
    check_size("0", 0);
    check_size("-0", 0);
    check_size("512.0", 512);
    check_size("5.12e2", 512);
    check_size("5120E-1", 512);
    check_size("4611686018427387904", (uint64_t)1 << 62);
    check_size("9007199254740992.0", (uint64_t)1 << 53);
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = { "01",  "+1",  "1.",   ".5",    "1e",  "1e+", "-",
                                        "--1", "1-2", "0x10", "1.5.5", "Inf", "nul", "tru" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_no_number(rows[i]);
    char digits[600];
    memset(digits, '1', sizeof digits);
    digits[sizeof digits - 1] = '\0';
    check_no_number(digits);
}

static void a_size_that_is_no_integer_is_unknown(void **state)
{
    (void)state;
    static const char *const rows[] = { "0.5",       "true", "null",  "NaN",     "Infinity",
                                        "-Infinity", "-1",   "1e400", "\"512\"", "[]" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o;
        read_size(rows[i], &o);
        if (o.status != VRS_OK)
            fail_msg("%s: %s", rows[i], o.err.message);
        recording_free(&o.r);
    }
}

/* An event's compile context, which is text, as it comes out. */
static void check_string(const char *json, const char *wanted, uint64_t bad_utf8)
{
    char text[1200];
    int len = snprintf(text, sizeof text,
                       "{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 4096, \"size\": 1, "
                       "\"compile_context\": %s}]]}",
                       json);
    for (size_t step = 0; step < 3; step++) {
        struct outcome o;
        read_text(text, (size_t)len, step, &default_limits, &o);
        if (o.status != VRS_OK)
            fail_msg("%s: %s", json, o.err.message);
        uint32_t context = o.r.events.context[0];
        str got =
            strings_text(&o.r.code.strings, (string_id){ o.r.contexts.compile_context[context] });
        if (!str_equal(got, str_from(wanted)))
            fail_msg("%s became %.*s", json, (int)got.len, got.ptr);
        assert_int_equal(o.r.origin.bad_utf8, bad_utf8);
        recording_free(&o.r);
    }
}

static void strings_have_escapes(void **state)
{
    (void)state;
    check_string("\"plain\"", "plain", 0);
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 0);
    check_string("\"\\u00e4\\u20AC\"", "\xc3\xa4\xe2\x82\xac", 0);
    check_string("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 0);
    check_string("\"\xc3\xa4\"", "\xc3\xa4", 0);
}

static void what_is_no_character_is_replaced(void **state)
{
    (void)state;
    check_string("\"a\\ud83d!\"", "a\xef\xbf\xbd!", 1);
    check_string("\"\\ude00\"", "\xef\xbf\xbd", 1);
    check_string("\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", 1);
    check_string("\"a\xff!\"", "a\xef\xbf\xbd!", 1);
}

/* The place of the failure is marked by a caret in the text, which is taken out. */
static void check_corrupt(const char *marked)
{
    char text[300];
    size_t caret = strcspn(marked, "^");
    int len = snprintf(text, sizeof text, "%.*s%s", (int)caret, marked, marked + caret + 1);
    for (size_t step = 0; step < 3; step++) {
        struct outcome o;
        read_text(text, (size_t)len, step, &default_limits, &o);
        if (o.status != VRS_CORRUPT || o.err.offset != caret)
            fail_msg("%s: status %d at %llu: %s", marked, o.status,
                     (unsigned long long)o.err.offset, o.err.message);
        recording_free(&o.r);
    }
}

static void failures_have_their_place(void **state)
{
    (void)state;
    check_corrupt("{^1: 2}");
    check_corrupt("{\"a\" ^1}");
    check_corrupt("{\"a\": 1 ^\"b\": 2}");
    check_corrupt("{\"a\": 1 ^]");
    check_corrupt("{\"a\": ^}");
    check_corrupt("{\"a\": 1, ^}");
    check_corrupt("[1, ^]");
    check_corrupt("[^,]");
    check_corrupt("[^:]");
    check_corrupt("[1 ^2]");
    check_corrupt("[\"a^\\x\"]");
    check_corrupt("[\"a^\\u12g4\"]");
    check_corrupt("[\"a^\nb\"]");
    check_corrupt("[^truu]");
    check_corrupt("[^\x01]");
}

static const char small[] =
    "{\"segments\": [{\"device\": 0, \"address\": 2097152, \"total_size\": 2097152, "
    "\"stream\": 0, \"segment_type\": \"small\", \"allocated_size\": 512, \"active_size\": 512, "
    "\"blocks\": [{\"address\": 2097152, \"size\": 512, \"requested_size\": 500, \"state\": "
    "\"active_allocated\", \"frames\": [{\"name\": \"f\", \"filename\": \"a.py\", \"line\": 3}, "
    "{\"name\": \"g\", \"filename\": \"a.py\", \"line\": 9}]}, {\"address\": 2097664, \"size\": "
    "2096640, \"requested_size\": 0, \"state\": \"inactive\"}]}], \"device_traces\": "
    "[[{\"action\": \"segment_alloc\", \"addr\": 2097152, \"size\": 2097152, \"stream\": 0, "
    "\"time_us\": 5, \"frames\": []}, {\"action\": \"alloc\", \"addr\": 2097152, \"size\": 500, "
    "\"stream\": 0, \"time_us\": 6, \"frames\": [{\"name\": \"f\", \"filename\": \"a.py\", "
    "\"line\": 3}]}]]}";

static void a_snapshot_becomes_its_rows(void **state)
{
    (void)state;
    for (size_t step = 0; step < 4; step++) {
        struct outcome o;
        read_text(small, sizeof small - 1, step, &default_limits, &o);
        assert_int_equal(o.status, VRS_OK);
        assert_true(o.r.origin.complete);
        assert_int_equal(o.r.origin.encoding, ENCODING_JSON);
        assert_int_equal(o.r.origin.pickle_protocol, -1);
        assert_int_equal(o.r.segments.rows.len, 1);
        assert_int_equal(o.r.blocks.rows.len, 2);
        assert_int_equal(o.r.events.rows.len, 2);
        assert_int_equal(o.r.events.size[1], 500);
        assert_int_equal(o.r.blocks.requested_size[0], 500);
        assert_int_equal(o.offset, sizeof small - 1);
        assert_true(o.records >= 5);
        recording_free(&o.r);
    }
}

static void a_bare_list_of_segments_is_a_snapshot(void **state)
{
    (void)state;
    static const char text[] = "[{\"device\": 0, \"address\": 0, \"total_size\": 512, \"blocks\": "
                               "[{\"size\": 512, \"state\": \"inactive\"}]}]";
    struct outcome o;
    read_text(text, sizeof text - 1, 0, &default_limits, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_true(o.r.origin.bare_list);
    assert_int_equal(o.r.blocks.rows.len, 1);
    recording_free(&o.r);
}

static void other_json_is_no_snapshot(void **state)
{
    (void)state;
    static const char *const rows[] = { "{}", "[1, 2]", "{\"a\": [{}]}" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o;
        read_text(rows[i], strlen(rows[i]), 0, &default_limits, &o);
        if (o.status == VRS_OK)
            fail_msg("%s was taken", rows[i]);
        recording_free(&o.r);
    }
}

/* The place of the key is marked by a caret in the text, which is taken out. */
static void check_unsupported(const char *marked, const char *says)
{
    char text[300];
    size_t caret = strcspn(marked, "^");
    int len = snprintf(text, sizeof text, "%.*s%s", (int)caret, marked, marked + caret + 1);
    for (size_t step = 0; step < 3; step++) {
        struct outcome o;
        read_text(text, (size_t)len, step, &default_limits, &o);
        if (o.status != VRS_UNSUPPORTED || o.err.offset != caret ||
            strstr(o.err.message, says) == NULL)
            fail_msg("%s: status %d at %llu: %s", marked, o.status,
                     (unsigned long long)o.err.offset, o.err.message);
        recording_free(&o.r);
    }
}

static void keys_of_a_snapshot_alone_are_none(void **state)
{
    (void)state;
    static const char segments[] = "not a memory snapshot: segments is no list of dicts",
                      traces[] = "device_traces is no list of lists of dicts";
    static const char *const values[] = { "5",      "-1.5",    "true",  "\"x\"",
                                          "{}",     "[1]",     "[[]]",  "[null, false]",
                                          "[[[]]]", "[\"x\"]", "[[{}]]" };
    char text[200];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(text, sizeof text, "{^\"segments\": %s, \"device_traces\": []}", values[i]);
        check_unsupported(text, segments);
        snprintf(text, sizeof text, "{\"x\": [], ^\"segments\": %s}", values[i]);
        check_unsupported(text, segments);
    }
    static const char *const others[] = { "5",         "\"x\"",      "{}",      "[1]",
                                          "[[1], []]", "[[], [[]]]", "[[[{}]]]" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, "{\"segments\": [], ^\"device_traces\": %s}", others[i]);
        check_unsupported(text, traces);
        snprintf(text, sizeof text, "{^\"device_traces\": %s}", others[i]);
        check_unsupported(text, traces);
    }
    /* The last one counts, also in a file that is cut behind it. */
    check_unsupported("{\"segments\": [], ^\"segments\": 5}", segments);
    check_unsupported("{\"device_traces\": [[{\"action\": \"alloc\"}]], ^\"segments\": 5, \"",
                      segments);
}

static void empty_lists_and_stray_items_are_no_fault(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t segments, events, wrong_types;
    } rows[] = {
        { "{\"segments\": []}", 0, 0, 0 },
        { "{\"segments\": null, \"device_traces\": null}", 0, 0, 0 },
        { "{\"segments\": [{}]}", 0, 0, 1 },
        { "{\"segments\": [7, {\"total_size\": 512}, []]}", 1, 0, 2 },
        { "{\"device_traces\": []}", 0, 0, 0 },
        { "{\"device_traces\": [[], []]}", 0, 0, 0 },
        { "{\"device_traces\": [[7], [{\"action\": \"alloc\"}, 8]]}", 0, 1, 2 },
        { "{\"device_traces\": [{\"action\": \"alloc\"}]}", 0, 1, 0 },
        { "{\"segments\": [], \"host_traces\": 5, \"x\": {\"segments\": 5}}", 0, 0, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o;
        read_text(rows[i].text, strlen(rows[i].text), 0, &default_limits, &o);
        if (o.status != VRS_OK)
            fail_msg("%s: %s", rows[i].text, o.err.message);
        uint64_t wrong = 0;
        for (uint32_t t = 0; t < o.r.tallies.rows.len; t++)
            wrong += o.r.tallies.kind[t] == TALLY_WRONG_TYPE ? o.r.tallies.count[t] : 0;
        if (o.r.segments.rows.len != rows[i].segments || o.r.events.rows.len != rows[i].events ||
            wrong != rows[i].wrong_types)
            fail_msg("%s: %u segments, %u events, %llu wrong types", rows[i].text,
                     o.r.segments.rows.len, o.r.events.rows.len, (unsigned long long)wrong);
        recording_free(&o.r);
    }
}

static void cut_anywhere_is_an_error_or_a_prefix(void **state)
{
    (void)state;
    uint32_t events = 0;
    for (size_t len = 1; len < sizeof small - 1; len++) {
        struct outcome o;
        read_text(small, len, len % 3, &default_limits, &o);
        if (o.status == VRS_OK) {
            assert_false(o.r.origin.complete);
            assert_int_equal(o.r.origin.cut_offset, len);
            assert_true(o.r.events.rows.len >= events);
            events = o.r.events.rows.len;
        } else {
            assert_int_equal(o.status, VRS_CORRUPT);
            assert_true(o.err.offset <= len);
            assert_int_equal(events, 0);
        }
        recording_free(&o.r);
    }
    assert_int_equal(events, 2);
}

static void who_began_the_recording_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *recorder;
        bool foreign;
        uint64_t malformed;
    } rows[] = {
        { "{\"begun_by\": \"program\"}", true, 0 },
        { "{\"begun_by\": \"pro\", \"begun_by\": \"program\"}", true, 0 },
        { "{\"begun_by\": \"vramscope\"}", false, 0 },
        { "{\"begun_by\": null, \"more\": [1]}", false, 0 },
        { "{\"begun_by\": true}", false, 1 },
        { "{\"begun_by\": [\"program\"]}", false, 1 },
        { "{}", false, 0 },
        { "null", false, 0 },
        { "\"program\"", false, 1 },
        { "[{\"begun_by\": \"program\"}]", false, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        int len = snprintf(text, sizeof text,
                           "{\"segments\": [], \"device_traces\": [], \"vramscope\": {\"schema\": "
                           "\"vramscope.extra/1\", \"recorder\": %s}}",
                           rows[i].recorder);
        struct outcome o;
        read_text(text, (size_t)len, 0, &default_limits, &o);
        assert_int_equal(o.status, VRS_OK);
        uint64_t malformed = o.r.named_facts.flaws[FLAW_RECORDER];
        if (o.r.named_facts.foreign_recorder != rows[i].foreign || malformed != rows[i].malformed)
            fail_msg("%s: %d, %llu malformed", rows[i].recorder, o.r.named_facts.foreign_recorder,
                     (unsigned long long)malformed);
        recording_free(&o.r);
    }
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char text[200];
    memset(text, '[', sizeof text);
    struct outcome o;
    read_text(text, sizeof text, 0, &default_limits, &o);
    assert_int_equal(o.status, VRS_LIMIT);
    assert_int_equal(o.err.offset, default_limits.nesting);
    recording_free(&o.r);
}

static void strings_have_a_limit(void **state)
{
    (void)state;
    struct limits limits = default_limits;
    limits.string_bytes = 40;
    static const char *const rows[] = {
        "[\"00000000001111111111222222222233333333334\"]",
        "[\"0000000000111111111122222222223333333333\\n\"]",
        "[\"\\n0000000000111111111122222222223333333333\"]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t step = 0; step < 3; step++) {
            struct outcome o;
            read_text(rows[i], strlen(rows[i]), step, &limits, &o);
            assert_int_equal(o.status, VRS_LIMIT);
            assert_int_equal(o.err.offset, 1);
            recording_free(&o.r);
        }
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct outcome o;
        fault_left = n;
        read_text(small, sizeof small - 1, 5, &default_limits, &o);
        bool fired = fault_left < 0;
        fault_left = -1;
        /* Giving back what a table reserved too much may fail without harm. */
        if (fired && o.status != VRS_OK)
            assert_int_equal(o.status, VRS_NOMEM);
        else
            assert_int_equal(o.r.events.rows.len, 2);
        recording_free(&o.r);
        if (!fired)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_integers_where_they_can_be),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(a_size_that_is_no_integer_is_unknown),
        cmocka_unit_test(strings_have_escapes),
        cmocka_unit_test(what_is_no_character_is_replaced),
        cmocka_unit_test(failures_have_their_place),
        cmocka_unit_test(a_snapshot_becomes_its_rows),
        cmocka_unit_test(a_bare_list_of_segments_is_a_snapshot),
        cmocka_unit_test(other_json_is_no_snapshot),
        cmocka_unit_test(keys_of_a_snapshot_alone_are_none),
        cmocka_unit_test(empty_lists_and_stray_items_are_no_fault),
        cmocka_unit_test(cut_anywhere_is_an_error_or_a_prefix),
        cmocka_unit_test(who_began_the_recording_is_read),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(strings_have_a_limit),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
