/* JSON as tokens: written down by a sink as they come, and taken by one that adds up numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/json/reader.h"
#include "format/json/scan.h"
#include "made/dribble.h"
#include "made/fault.h"

/* A sink that writes down what it is handed: "{0 k1=a [6 n7=1.5 ]10 }11". */
struct record {
    struct buf tokens;
    uint32_t calls;
    uint32_t fails_at; /* the call that fails, from 1 on; 0: none does */
};

static enum vrs_status note(struct record *r, const char *kind, uint64_t offset, str text,
                            struct vrs_error *err)
{
    if (r->tokens.len != 0)
        buf_char(&r->tokens, ' ');
    buf_text(&r->tokens, kind);
    buf_u64(&r->tokens, offset);
    if (text.ptr != NULL)
        buf_char(&r->tokens, '=');
    buf_str(&r->tokens, text);
    if (r->tokens.failed)
        return vrs_no_memory(err);
    if (++r->calls == r->fails_at)
        return vrs_fail_at(err, VRS_USAGE, offset, "enough");
    return VRS_OK;
}

static enum vrs_status begin_object(void *self, uint64_t offset, struct vrs_error *err)
{
    return note(self, "{", offset, (str){ NULL, 0 }, err);
}

static enum vrs_status end_object(void *self, uint64_t offset, struct vrs_error *err)
{
    return note(self, "}", offset, (str){ NULL, 0 }, err);
}

static enum vrs_status begin_array(void *self, uint64_t offset, struct vrs_error *err)
{
    return note(self, "[", offset, (str){ NULL, 0 }, err);
}

static enum vrs_status end_array(void *self, uint64_t offset, struct vrs_error *err)
{
    return note(self, "]", offset, (str){ NULL, 0 }, err);
}

/* Nobody takes what stands under a key that begins with a minus. */
static enum vrs_status key(void *self, str text, uint64_t offset, bool *ret_take,
                           struct vrs_error *err)
{
    TRY(note(self, "k", offset, text, err));
    *ret_take = text.len == 0 || text.ptr[0] != '-';
    return VRS_OK;
}

static enum vrs_status string(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    return note(self, "s", offset, text, err);
}

static enum vrs_status number(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    return note(self, "n", offset, text, err);
}

static enum vrs_status literal(void *self, enum json_literal value, uint64_t offset,
                               struct vrs_error *err)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",
        [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",
    };
    return note(self, "w", offset, str_from(names[value]), err);
}

struct outcome {
    enum vrs_status status;
    struct vrs_error err;
    struct json_end end;
    struct record record;
    uint64_t offset; /* where the window stands afterwards */
};

static void read_source(struct dribble d, uint32_t fails_at, const struct limits *limits,
                        struct outcome *o)
{
    struct window w;
    *o = (struct outcome){ .record.fails_at = fails_at };
    buf_init(&o->record.tokens, 1 << 20);
    const struct json_sink sink = {
        .self = &o->record,
        .kind = "shopping list",
        .begin_object = begin_object,
        .end_object = end_object,
        .begin_array = begin_array,
        .end_array = end_array,
        .key = key,
        .string = string,
        .number = number,
        .literal = literal,
    };
    o->status = window_init(&w, dribble_source(&d), &o->err);
    if (o->status != VRS_OK)
        return;
    o->status = json_read(&w, limits, &sink, &o->end, &o->err);
    o->offset = window_offset(&w);
    window_free(&w);
}

static void read_some(const char *text, size_t len, size_t step, struct outcome *o)
{
    struct dribble d = { .at = (const uint8_t *)text, .left = len, .step = step };
    read_source(d, 0, &default_limits, o);
}

static void outcome_free(struct outcome *o)
{
    buf_free(&o->record.tokens);
}

static void check_tokens(const char *text, const char *wanted)
{
    for (size_t step = 0; step < 4; step++) {
        struct outcome o;
        read_some(text, strlen(text), step, &o);
        if (o.status != VRS_OK)
            fail_msg("%s: %s", text, o.err.message);
        str got = buf_slice(&o.record.tokens);
        if (!str_equal(got, str_from(wanted)))
            fail_msg("%s became %.*s", text, (int)got.len, got.ptr);
        assert_false(o.end.cut);
        assert_int_equal(o.end.offset, o.offset);
        outcome_free(&o);
    }
}

static void every_token_comes_with_its_place(void **state)
{
    (void)state;
    check_tokens("{\"a\": [1.5, null], \"\": {}}",
                 "{0 k1=a [6 n7=1.5 w12=null ]16 k19= {23 }24 }25");
    check_tokens("  [ ]", "[2 ]4");
    check_tokens("[[], [true], false]", "[0 [1 ]2 [5 w6=true ]10 w13=false ]18");
    check_tokens("\"all of it\"", "s0=all of it");
    check_tokens("null", "w0=null");
    check_tokens("[NaN,Infinity,-Infinity]", "[0 w1=null w5=null w14=null ]23");
    check_tokens("[\"a\\u00e4\\n\", \"\xc3\xa4\", \"\"]",
                 "[0 s1=a\xc3\xa4\n s14=\xc3\xa4 s20= ]22");
}

static void numbers_come_as_they_are_written(void **state)
{
    (void)state;
    check_tokens("[-0, 0.10, 1E+05, 18446744073709551616, -1e-400]",
                 "[0 n1=-0 n5=0.10 n11=1E+05 n18=18446744073709551616 n40=-1e-400 ]47");
}

static void what_stands_behind_the_value_is_left(void **state)
{
    (void)state;
    struct outcome o;
    read_some("[1]]", 4, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.end.offset, 3);
    assert_int_equal(o.offset, 3);
    outcome_free(&o);
}

static void keys_say_what_is_taken(void **state)
{
    (void)state;
    check_tokens("{\"-a\": 1, \"b\": 2}", "{0 k1=-a k10=b n15=2 }16");
    check_tokens("{\"-a\": {\"x\": [1, \"2\"], \"-y\": null}, \"b\": 2}",
                 "{0 k1=-a k36=b n41=2 }42");
    check_tokens("{\"-a\": [], \"-b\": true}", "{0 k1=-a k11=-b }21");
    check_tokens("[{\"-a\": [{}]}, 1]", "[0 {1 k2=-a }12 n15=1 ]16");
    check_tokens("{\"a\": {\"-b\": \"c\"}, \"d\": \"e\"}", "{0 k1=a {6 k7=-b }16 k19=d s24=e }27");
}

/* The place of the failure is marked by a caret in the text, which is taken out. */
static void check_refused(const char *marked, const struct limits *limits, enum vrs_status status,
                          const char *says)
{
    char text[300];
    size_t caret = strcspn(marked, "^");
    int len = snprintf(text, sizeof text, "%.*s%s", (int)caret, marked, marked + caret + 1);
    for (size_t step = 0; step < 3; step++) {
        struct outcome o;
        struct dribble d = { .at = (const uint8_t *)text, .left = (size_t)len, .step = step };
        read_source(d, 0, limits, &o);
        if (o.status != status || o.err.offset != caret || strstr(o.err.message, says) == NULL)
            fail_msg("%s: status %d at %llu: %s", marked, o.status,
                     (unsigned long long)o.err.offset, o.err.message);
        outcome_free(&o);
    }
}

static void check_corrupt(const char *marked, const char *says)
{
    check_refused(marked, &default_limits, VRS_CORRUPT, says);
}

static void failures_have_their_place(void **state)
{
    (void)state;
    check_corrupt("^]", "a value");
    check_corrupt("[^,]", "a value or ]");
    check_corrupt("{^1: 2}", "a key in quotes or }");
    check_corrupt("{\"a\": 1, ^}", "a key in quotes");
    check_corrupt("{\"a\" ^1}", "a colon");
    check_corrupt("[1 ^2]", "a comma");
    check_corrupt("{\"a\": 1 ^]", "a comma");
    check_corrupt("[^\x01]", "byte 0x01");
    check_corrupt("[\"a^\\x\"]", "escape");
    check_corrupt("[\"a^\nb\"]", "control");
    check_corrupt("[^truu]", "a value");
    check_corrupt("[1, ^-Infinite]", "a value");
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = { "01",  "-01",   "1.",  "-",    "1e",      "1e+",   "1.e5",
                                        "--1", "1-2",   "1+",  "1e.5", "1e5.5",   "1.5.5", "1e5e5",
                                        "-.5", "1.5e-", "-e1", "00",   "1.5E+-5", "-+1" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char marked[40];
        snprintf(marked, sizeof marked, "[1, ^%s]", rows[i]);
        check_corrupt(marked, "not a number of JSON");
    }
    check_corrupt("[^.5]", "a value");
    check_corrupt("[^+1]", "a value");
    char digits[450];
    snprintf(digits, sizeof digits, "[%0399d]", 0);
    memset(digits + 1, '1', 399);
    struct outcome o;
    read_some(digits, 401, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    outcome_free(&o);
    snprintf(digits, sizeof digits, "[%0400d]", 0);
    memset(digits + 1, '1', 400);
    read_some(digits, 402, 0, &o);
    assert_int_equal(o.status, VRS_CORRUPT);
    assert_int_equal(o.err.offset, 1);
    outcome_free(&o);
}

static void what_nobody_takes_is_checked(void **state)
{
    (void)state;
    check_corrupt("{\"-a\": [1 ^2]}", "a comma");
    check_corrupt("{\"-a\": ^01}", "not a number");
    check_corrupt("{\"-a\": {\"b\" ^1}}", "a colon");
    check_corrupt("{\"-a\": \"^\\x\"}", "escape");
}

static void limits_hold_everywhere(void **state)
{
    (void)state;
    struct limits limits = default_limits;
    limits.nesting = 2;
    limits.string_bytes = 5;
    static const char nested[] =
        "value nested deeper than 2; is this a shopping list? see --limit nesting";
    check_refused("[[^[]]]", &limits, VRS_LIMIT, nested);
    check_refused("{\"a\": [^{", &limits, VRS_LIMIT, nested);
    check_refused("{\"-a\": [^[]]}", &limits, VRS_LIMIT, nested);
    static const char *const longer[] = {
        "[^\"123456\"]",   "{^\"123456\": 1}",      "[^\"\\n23456\"]",
        "[^\"12345\\n\"]", "{\"-a\": ^\"123456\"}", "{\"-a\": ^\"1234\\u20ac\"}",
    };
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        check_refused(longer[i], &limits, VRS_LIMIT, "see --limit string");
    struct outcome o;
    static const char within[] = "[[\"12345\", \"1234\\n\"], []]";
    struct dribble d = { .at = (const uint8_t *)within, .left = sizeof within - 1 };
    read_source(d, 0, &limits, &o);
    assert_int_equal(o.status, VRS_OK);
    outcome_free(&o);
}

static void lone_halves_are_counted_by_string(void **state)
{
    (void)state;
    static const char text[] = "{\"a\\ud83d\": \"\\ude00\\ude00\", \"b\": \"\\ud83d\\ude00\", "
                               "\"-c\": [\"\\ud83d\", {\"\\ud83d\": 1}]}";
    for (size_t step = 0; step < 3; step++) {
        struct outcome o;
        read_some(text, sizeof text - 1, step, &o);
        assert_int_equal(o.status, VRS_OK);
        assert_int_equal(o.end.lone_strings, 2);
        outcome_free(&o);
    }
}

static const char sample[] =
    "{\"name\": \"f\\u00e4\", \"-skipped\": {\"deep\": [1, \"\\ud83d\", null]}, \"list\": "
    "[-1.5e3, 20, true, {\"x\": \"\"}, []], \"last\": false}";

enum { SAMPLE_TOKENS = 19 };

static void cut_anywhere_the_whole_tokens_came(void **state)
{
    (void)state;
    struct outcome whole;
    read_some(sample, sizeof sample - 1, 0, &whole);
    assert_int_equal(whole.status, VRS_OK);
    str all = buf_slice(&whole.record.tokens);
    uint32_t calls = 0;
    for (size_t len = 0; len < sizeof sample - 1; len++) {
        struct outcome o;
        read_some(sample, len, len % 3, &o);
        if (o.status != VRS_OK)
            fail_msg("cut at %zu: %s", len, o.err.message);
        assert_true(o.end.cut);
        assert_int_equal(o.end.offset, len);
        assert_true(o.record.calls >= calls);
        calls = o.record.calls;
        assert_true(calls == 0 || str_starts(all, buf_slice(&o.record.tokens)));
        outcome_free(&o);
    }
    assert_int_equal(calls, whole.record.calls - 1);
    outcome_free(&whole);
}

/* What follows inside open containers, as json_read would have gone on. */
static void check_inside(const char *open, enum json_at at, const char *text,
                         enum vrs_status status, const char *wanted)
{
    struct dribble d = { .at = (const uint8_t *)text, .left = strlen(text), .step = 3 };
    struct record r = { .calls = 0 };
    const struct json_sink sink = { .self = &r,
                                    .begin_object = begin_object,
                                    .end_object = end_object,
                                    .begin_array = begin_array,
                                    .end_array = end_array,
                                    .key = key,
                                    .number = number };
    struct window w;
    struct json_end end;
    struct vrs_error err;
    buf_init(&r.tokens, 1 << 10);
    assert_int_equal(window_init(&w, dribble_source(&d), &err), VRS_OK);
    enum vrs_status got =
        json_read_inside(&w, &default_limits, &sink, str_from(open), at, &end, &err);
    str tokens = buf_slice(&r.tokens);
    if (got != status || !str_equal(tokens, str_from(wanted)))
        fail_msg("%s: status %d: %.*s", text, (int)got, (int)tokens.len, tokens.ptr);
    window_free(&w);
    buf_free(&r.tokens);
}

static void reading_goes_on_inside_what_is_open(void **state)
{
    (void)state;
    check_inside("{[", JSON_BEHIND_VALUE, " , 1], \"a\": 2} 3", VRS_OK, "n3=1 ]4 k7=a n12=2 }13");
    check_inside("{[", JSON_AT_VALUE_OR_END, "1], \"a\": 2}", VRS_OK, "n0=1 ]1 k4=a n9=2 }10");
    check_inside("{[", JSON_AT_VALUE_OR_END, "]}", VRS_OK, "]0 }1");
    check_inside("[", JSON_BEHIND_VALUE, "]]", VRS_OK, "]0");
    check_inside("{", JSON_BEHIND_VALUE, ", \"a\": 2}", VRS_OK, "k2=a n7=2 }8");
    check_inside("{", JSON_AT_VALUE_OR_END, "\"a\": 2}", VRS_OK, "k0=a n5=2 }6");
    check_inside("[", JSON_BEHIND_VALUE, "1]", VRS_CORRUPT, "");
    check_inside("[", JSON_AT_VALUE_OR_END, ", 1]", VRS_CORRUPT, "");
}

static void a_source_that_fails_is_no_cut(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof sample - 1; len++) {
        struct outcome o;
        struct dribble d = { .at = (const uint8_t *)sample, .left = len, .fails = true };
        read_source(d, 0, &default_limits, &o);
        assert_int_equal(o.status, VRS_IO);
        outcome_free(&o);
    }
}

static void what_the_sink_fails_with_ends_the_reading(void **state)
{
    (void)state;
    struct dribble d = { .at = (const uint8_t *)sample, .left = sizeof sample - 1 };
    struct outcome o;
    uint32_t n = 1;
    for (;; n++) {
        read_source(d, n, &default_limits, &o);
        uint32_t calls = o.record.calls;
        outcome_free(&o);
        if (o.status == VRS_OK)
            break;
        assert_int_equal(o.status, VRS_USAGE);
        assert_string_equal(o.err.message, "enough");
        assert_int_equal(calls, n);
    }
    assert_int_equal(n, SAMPLE_TOKENS + 1);
}

static enum vrs_status read_sample(void *arg)
{
    struct outcome *o = arg;
    read_some(sample, sizeof sample - 1, 5, o);
    bool whole = o->status == VRS_OK && !o->end.cut && o->record.calls == SAMPLE_TOKENS;
    outcome_free(o);
    return o->status == VRS_OK && !whole ? VRS_CORRUPT : o->status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct outcome o;
    fault_each(read_sample, NULL, &o);
}

/* A subject of its own needs no more than this: the sum of an array of numbers. */
static enum vrs_status add(void *self, str text, uint64_t offset, struct vrs_error *err)
{
    double *sum = self, n;
    if (!number_real(text, &n))
        return vrs_fail_at(err, VRS_CORRUPT, offset, "not a number");
    *sum += n;
    return VRS_OK;
}

static void a_sink_of_ten_lines_adds_up_numbers(void **state)
{
    (void)state;
    static const char text[] = "[1, 2.5, \"4\", {\"eight\": [8]}, -0.5e1, null]";
    struct dribble d = { .at = (const uint8_t *)text, .left = sizeof text - 1, .step = 1 };
    struct window w;
    struct json_end end;
    double sum = 0;
    const struct json_sink sink = { .self = &sum, .kind = "list of numbers", .number = add };
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    assert_int_equal(json_read(&w, &default_limits, &sink, &end, NULL), VRS_OK);
    window_free(&w);
    assert_false(end.cut);
    assert_true(sum == 6.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_token_comes_with_its_place),
        cmocka_unit_test(numbers_come_as_they_are_written),
        cmocka_unit_test(what_stands_behind_the_value_is_left),
        cmocka_unit_test(keys_say_what_is_taken),
        cmocka_unit_test(failures_have_their_place),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(what_nobody_takes_is_checked),
        cmocka_unit_test(limits_hold_everywhere),
        cmocka_unit_test(lone_halves_are_counted_by_string),
        cmocka_unit_test(cut_anywhere_the_whole_tokens_came),
        cmocka_unit_test(reading_goes_on_inside_what_is_open),
        cmocka_unit_test(a_source_that_fails_is_no_cut),
        cmocka_unit_test(what_the_sink_fails_with_ends_the_reading),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_sink_of_ten_lines_adds_up_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
