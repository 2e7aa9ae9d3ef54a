/* Events read at one go: which ones are, and that they become what tokens become. */
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
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/trace/event.h"
#include "format/trace/layout.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/trace.h"

/* Blanks behind an event, so that the window's end is far away. */
#define FAR "                                                                "

static bool is_read(const char *event, struct events *e)
{
    static uint8_t bytes[4096];
    size_t len = strlen(event);
    assert_true(len + WINDOW_PAD_BYTES < sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, event, len);
    struct window w = window_of_bytes(bytes, len, 0);
    struct layout *l = layout_new(40);
    assert_non_null(l);
    bool is = true;
    for (int i = 0; i < 2; i++) { /* first as it is met, then as it is known */
        w.at = bytes;
        bool again = layout_read_event(l, e, &w);
        assert_true(i == 0 || is == again);
        is = again;
        assert_true(!is || w.at == (const uint8_t *)strrchr((const char *)bytes, '}') + 1);
    }
    layout_free(l);
    return is;
}

/* Whether each of them is, as is `wanted`. */
static void check(const char *const *events, size_t count, bool wanted)
{
    struct trace t;
    struct events e;
    assert_true(trace_init(&t, 100, 1000));
    assert_int_equal(events_init(&e, &t, 40, NULL), VRS_OK);
    for (size_t i = 0; i < count; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s" FAR, events[i]);
        if (is_read(text, &e) != wanted)
            fail_msg("%s", events[i]);
    }
    assert_false(is_read("{}", &e)); /* at the window's end */
    events_free(&e);
    trace_free(&t);
}

static void common_events_are_read(void **state)
{
    static const char *const common[] = {
        "{}",
        "{ }",
        "{\"ph\":\"X\"}",
        "{\"ph\": \"X\", \"ts\": 1.5, \"dur\": -3 }",
        "{ \"a key\" : true, \"another\" :false ,\"third\":null}",
        "{\"args\": {}}",
        "{\"args\": { \"bytes\": 4, \"bytes\": 5}, \"args\": {\"Addr\": 4}}",
        "{\"args\": {\"Input Dims\": [[1, 2], [], [[3]]], \"Call stack\": \"a;b\"}}",
        "{\"args\": {\"x\": [\"a\", 1.5, true , null, []]}, \"y\": [ ]}",
        "{\"args\": 4, \"cat\": \"kernel\"}",
        "{\"a key that is longer than forty bytes\":1,\"a key that is longer than forty bytes\": 2}",
    };
    (void)state;
    check(common, sizeof common / sizeof *common, true);
}

static void others_are_left_alone(void **state)
{
    static const char *const others[] = {
        "{\"ph\": \"X\"",
        "{,\"ph\": \"X\"}",
        "{\"ph\": \"X\",}",
        "{\"ph\": \"X\" \"ts\": 1}",
        "{\"ph\" \"X\"}",
        "{\"ph\":}",
        "{\"ph\": \"\\u0058\"}",
        "{\"p\\u0068\": \"X\"}",
        "{\"ph\": \"X\ty\"}",
        "{\"ts\": 1e3}",
        "{\"ts\": 01}",
        "{\"ts\": 1.}",
        "{\"ts\": null}",
        "{\"x\": truex}",
        "{\"x\": nul}",
        "{\"x\": {}}",
        "{\"args\": [1]}",
        "{\"args\": {\"x\": {}}}",
        "{\"args\": {\"bytes\": [1]}}",
        "{\"args\": {\"x\": 1}",
        "{\"args\": {\"x\": 1}]",
        "{\"x\": [1, ]}",
        "{\"x\": [, 1]}",
        "{\"x\": [1 2]}",
        "{\"x\": [[1] [2]]}",
        "{\"x\": [1}",
        "{\"x\": []]}",
        "{\"x\": [{}]}",
        "{\"x\": [[[[[[[[[]]]]]]]]]}",
        "{\"name\": \"a text that is longer than the forty bytes\"}",
        "{\"a key that is a text longer than the forty bytes\": 1}",
        "{'ph': 1}",
    };
    (void)state;
    check(others, sizeof others / sizeof *others, false);
}

/* Texts. */

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

static const char *one_of(uint32_t *random, const char *const texts[], size_t count)
{
    return texts[next_random(random) % count];
}
#define ONE_OF(random, texts) one_of(random, texts, sizeof(texts) / sizeof *(texts))

static void put_value(struct buf *b, uint32_t *random, uint32_t odd)
{
    static const char *const common[] = {
        "\"X\"", "\"i\"", "\"s\"", "\"f\"", "\"M\"", "\"[memory]\"", "\"kernel\"", "\"cpu_op\"",
        "\"cuda_runtime\"", "\"process_name\"", "\"stream 7\"", "\"7\"", "\"\"", "0", "7", "-3", "12.345",
        "1717171717000004.250", "99999999999999999999", "0.0005", "\"aten::add\"",
    };
    static const char *const odds[] = {
        "true", "null", "1e3", "\"a\\nb\"", "\"\\ud800\"", "\"\xff\"", "[1, [2, 3], []]", "[\"a\", true]",
        "[\"a\xff\"]", "{\"a\": [1]}", "[{}]", "\"KERNEL\"", "NaN", "[[1, 2]\n, []]", "01", "\"a\tb\"", "[1,]", "{",
    };
    bool is_odd = next_random(random) % 100 < odd;
    buf_text(b, is_odd ? ONE_OF(random, odds) : ONE_OF(random, common));
}

static void put_members(struct buf *b, uint32_t *random, const char *const keys[], size_t count,
                        uint32_t odd)
{
    static const char *const commas[] = { ",", ", ", ",\n    ", " , " };
    static const char *const colons[] = { ":", ": ", " : " };
    const char *comma = ONE_OF(random, commas), *colon = ONE_OF(random, colons);
    uint32_t members = next_random(random) % 9;
    for (uint32_t i = 0; i < members; i++) {
        buf_text(b, i > 0 ? comma : "");
        buf_format(b, "\"%s\"%s", one_of(random, keys, count), colon);
        put_value(b, random, odd);
    }
}

static void put_event(struct buf *b, uint32_t *random, uint32_t odd)
{
    static const char *const keys[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "s",
                                        "ph", "ts", "n\\u0061me", "args" };
    static const char *const in_args[] = {
        "External id", "external id", "correlation", "Bytes", "bytes", "Addr", "Device Type", "Device Id",
        "Total Allocated", "Total Reserved", "name", "labels", "Call stack", "Input Dims", "Input dims",
        "rank", "est. achieved occupancy %, and more than is kept", "Input type",
    };
    static const char *const kinds[] = { "X", "X", "X", "i", "s", "f", "M" };
    buf_format(b, "{\"ph\": \"%s\", \"ts\": %u", ONE_OF(random, kinds), next_random(random));
    buf_text(b, ", ");
    size_t before = b->len;
    put_members(b, random, keys, sizeof keys / sizeof *keys, odd);
    if (b->len == before)
        buf_text(b, "\"dur\": 3");
    if (next_random(random) % 3 != 0) {
        buf_text(b, ", \"args\": {");
        put_members(b, random, in_args, sizeof in_args / sizeof *in_args, odd);
        buf_text(b, "}");
    }
    buf_text(b, next_random(random) % 200 < odd ? "]" : "}");
}

static struct buf text_of(uint32_t seed, uint32_t odd)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_text(&b, "{\"traceEvents\": [");
    for (uint32_t i = 0; i < 60; i++) {
        buf_text(&b, i > 0 ? ",\n" : "");
        put_event(&b, &seed, odd);
    }
    buf_text(&b, "], \"record_shapes\": 1}");
    assert_false(b.failed);
    return b;
}

/* Some bytes changed, most of them where a grammar would mind. */
static void damage(struct buf *b, uint32_t seed)
{
    static const char bytes[] = "{}[]\",:\\ 0-.e\n\xff";
    for (uint32_t changes = seed % 4; changes > 0; changes--) {
        size_t at = next_random(&seed) % b->len;
        ((char *)b->at)[at] = bytes[next_random(&seed) % (sizeof bytes - 1)];
    }
}

/* A window that shows a few bytes leaves every event to the tokens. */
static void what_is_read_is_what_tokens_become(void **state)
{
    uint32_t whole_traces = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 500; seed++) {
        struct buf text = text_of(seed, seed % 3 * 4);
        if (seed % 5 == 0)
            damage(&text, seed / 5);
        struct text_trace at_once, by_tokens;
        text_trace_read(text.at, text.len, 0, &default_limits, &at_once);
        text_trace_read(text.at, text.len, 1 + seed % 40, &default_limits, &by_tokens);
        assert_int_equal(at_once.status, by_tokens.status);
        if (at_once.status == VRS_OK && !trace_same(&at_once.trace, &by_tokens.trace))
            fail_msg("seed %u: %.*s", seed, (int)text.len, (const char *)text.at);
        whole_traces += at_once.status == VRS_OK;
        text_trace_free(&at_once);
        text_trace_free(&by_tokens);
        buf_free(&text);
    }
    assert_true(whole_traces > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_events_are_read),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(what_is_read_is_what_tokens_become),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
