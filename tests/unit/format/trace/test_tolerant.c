/* Damaged traces: one test for each kind of damage, with what is kept and what is counted. */
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
#include "base/str.h"
#include "format/input/limits.h"
#include "format/read_trace.h"
#include "made/dribble.h"
#include "made/fault.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/trace.h"

/* A good event before the damage, and one behind it. */
#define FIRST "{\"ph\": \"X\", \"name\": \"first\", \"ts\": 1, \"dur\": 1}"
#define LAST "{\"ph\": \"X\", \"name\": \"last\", \"ts\": 9, \"dur\": 1}"

/* What must have been counted, in the order of enum trace_damage: "escape 1". */
struct wanted {
    uint64_t events;
    enum trace_damage kind;
    uint64_t count;
    uint64_t skipped_bytes;
};

/* No other damage than that was counted. */
static void check_damage(const struct trace *t, const char *text, const struct wanted *wanted)
{
    for (int kind = 0; kind < TRACE_DAMAGES; kind++) {
        uint64_t count = kind == (int)wanted->kind ? wanted->count : 0;
        if (t->damage[kind].count != count)
            fail_msg("%s: %s %d times, not %d", text, trace_damage_names[kind],
                     (int)t->damage[kind].count, (int)count);
    }
    if (t->events != wanted->events)
        fail_msg("%s: %d events", text, (int)t->events);
    if (t->skipped_bytes != wanted->skipped_bytes)
        fail_msg("%s: %d bytes skipped", text, (int)t->skipped_bytes);
}

/* Reads `text`, in portions of several sizes that must make no difference. */
static struct trace *read_text(const char *text, struct text_trace *ret)
{
    text_trace_of(text, ret);
    for (size_t step = 1; step < 8; step++) {
        struct text_trace r;
        text_trace_read(text, strlen(text), step, &default_limits, &r);
        if (r.status != VRS_OK || !trace_same(&ret->trace, &r.trace))
            fail_msg("%s: portions of %zu bytes read differently", text, step);
        text_trace_free(&r);
    }
    return &ret->trace;
}

static struct trace *check(const char *text, struct wanted wanted, struct text_trace *ret)
{
    struct trace *t = read_text(text, ret);
    check_damage(t, text, &wanted);
    return t;
}

/* The damaged event, between good ones, is kept and has this name; its other values too. */
static void check_mended(const char *event, const char *name, enum trace_damage kind,
                         uint64_t count)
{
    char text[2000];
    static const char *const frames[][2] = {
        { "[" FIRST ", ", ", " LAST "]" },
        { "{\"traceEvents\": [" FIRST ",\n", "\n,\n" LAST "], \"with_stack\": 1}" },
    };
    for (size_t i = 0; i < 2; i++) {
        struct text_trace r;
        int len = snprintf(text, sizeof text, "%s%s%s", frames[i][0], event, frames[i][1]);
        assert_true(len > 0 && (size_t)len < sizeof text);
        struct trace *t = check(text, (struct wanted){ 3, kind, count, 0 }, &r);
        assert_int_equal(t->spans.rows.len, 3);
        if (!text_equal(t, t->spans.name[1], name))
            fail_msg("%s has another name: %.*s", event, (int)trace_text(t, t->spans.name[1]).len,
                     trace_text(t, t->spans.name[1]).ptr);
        assert_int_equal(t->spans.start[1], 5000);
        assert_int_equal(t->spans.duration[1], 2000);
        assert_int_equal(t->spans.external[1], 7);
        assert_int_equal(t->spans.index[2], 2);
        assert_true(text_equal(t, t->spans.name[2], "last"));
        uint64_t offset = t->damage[kind].first_offset;
        if (count > 0)
            assert_true(offset > strlen(FIRST) && offset < strlen(text) - strlen(LAST));
        assert_int_equal(t->header.flags, i == 0 ? 0 : TRACE_WITH_STACK);
        text_trace_free(&r);
    }
}

/* The damaged event is lost, with all of its bytes; those around it are kept. */
static void check_lost(const char *event, enum trace_damage kind, uint64_t count, size_t bytes)
{
    char text[2000];
    struct text_trace r;
    snprintf(text, sizeof text, "{\"traceEvents\": [" FIRST ", %s, " LAST "], \"with_stack\": 1}",
             event);
    struct trace *t = check(text, (struct wanted){ 2, kind, count, bytes }, &r);
    assert_true(text_equal(t, t->spans.name[1], "last"));
    assert_int_equal(t->spans.index[1], 1);
    assert_int_equal(t->header.flags, TRACE_WITH_STACK);
    assert_int_equal(t->damage[kind].first_offset, strlen("{\"traceEvents\": [" FIRST ", "));
    text_trace_free(&r);
}

#define WITH_NAME(name)                                                                            \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name                                       \
    "\", \"pid\": 1, \"tid\": 2, \"ts\": 5, \"dur\": 2, \"args\": {\"External id\": 7}}"
#define WITH_ARGS(args)                                                                            \
    "{\"ph\": \"X\", \"name\": \"n\", \"ts\": 5, \"dur\": 2, \"args\": {" args "}}"

static void an_unknown_escape_is_a_backslash(void **state)
{
    (void)state;
    check_mended(WITH_NAME("C:\\cuda\\x"), "C:\\cuda\\x", DAMAGE_ESCAPE, 2);
    check_mended(WITH_NAME("\\q\\u12g4\\u00e4\\n\\\\\\\""), "\\q\\u12g4\xc3\xa4\n\\\"",
                 DAMAGE_ESCAPE, 2);
    check_mended(WITH_ARGS("\"File\": \"D:\\py\\x.py\", \"External id\": 7"), "n", DAMAGE_ESCAPE,
                 2);
    check_mended(WITH_ARGS("\"Call stack\": [\"\\p\", {\"\\k\": \"\\v\"}], \"External id\": 7"),
                 "n", DAMAGE_ESCAPE, 3);
}

/* A folder that ends in a backslash swallows the quote behind it. */
static void a_backslash_may_stand_last(void **state)
{
    (void)state;
    check_mended(WITH_NAME("C:\\"), "C:\\", DAMAGE_ESCAPE, 1);
    check_mended(WITH_ARGS("\"Dir\": \"C:\\\", \"External id\": 7"), "n", DAMAGE_ESCAPE, 1);
    check_mended(WITH_ARGS("\"External id\": 7, \"Dir\": \"C:\\\""), "n", DAMAGE_ESCAPE, 1);
}

static void control_characters_are_kept(void **state)
{
    (void)state;
    check_mended(WITH_NAME("a\nb"), "a\nb", DAMAGE_CONTROL, 1);
    check_mended(WITH_NAME("\t\x01\x1f"), "\t\x01\x1f", DAMAGE_CONTROL, 3);
    check_mended(WITH_ARGS("\"a\tb\": \"c\rd\", \"External id\": 7"), "n", DAMAGE_CONTROL, 2);
}

static void what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    check_mended(WITH_NAME("a\xff z"), "a\xef\xbf\xbd z", DAMAGE_UTF8, 1);
    check_mended(WITH_NAME("\xc3\xa4\xed\xa0\x80"), "\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                 DAMAGE_UTF8, 1);
    /* Where nobody looks nobody counts. */
    check_mended(WITH_ARGS("\"\xff\": \"\xfe\", \"External id\": 7"), "n", DAMAGE_UTF8, 0);
}

/* Writers cut long names at a byte. */
static void a_name_may_be_cut_in_a_character(void **state)
{
    (void)state;
    check_mended(WITH_NAME("gr\xc3"), "gr\xef\xbf\xbd", DAMAGE_UTF8, 1);
    check_mended(WITH_NAME("\xf0\x9f\x98"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", DAMAGE_UTF8,
                 1);
    check_mended(WITH_NAME("a\\u"), "a\\u", DAMAGE_ESCAPE, 1);
    check_mended(WITH_NAME("a\\u00"), "a\\u00", DAMAGE_ESCAPE, 1);
    check_mended(WITH_NAME("a\\u00e"), "a\\u00e", DAMAGE_ESCAPE, 1);
    check_mended(WITH_NAME("a\\ud83d"), "a\xef\xbf\xbd", DAMAGE_UTF8, 1);
    check_mended(WITH_NAME("a\\ude00"), "a\xef\xbf\xbd", DAMAGE_UTF8, 1);
    check_mended(WITH_NAME("a\\ud83d\\ud83d\\ude00\\ud83d"),
                 "a\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd", DAMAGE_UTF8, 1);
    check_mended(WITH_ARGS("\"\\ud83d\": \"\\ud83d\", \"External id\": 7"), "n", DAMAGE_UTF8, 0);
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half\\", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half\\") + 2);
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half\\u00", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half\\u00") + 2);
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half\xc3", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half\xc3") + 2);
}

/* Though its name is read twice where something behind it is damaged. */
static void a_text_is_counted_once(void **state)
{
    (void)state;
    static const char *const names[] = { "\xff", "\\ud83d" };
    for (size_t i = 0; i < 2; i++) {
        struct text_trace r;
        char text[400];
        snprintf(text, sizeof text,
                 "[{\"ph\": \"X\", \"name\": \"%s\", \"ts\": 5, \"args\": {\"a\": N/A, \"b\": "
                 "\"c \"q\" d\"}}, {\"name\": \"%s\", \"ph\": 1 2}, " LAST "]",
                 names[i], names[i]);
        struct trace *t = read_text(text, &r);
        assert_int_equal(t->events, 2);
        assert_int_equal(t->damage[DAMAGE_UTF8].count, 1);
        assert_int_equal(t->damage[DAMAGE_UTF8].first_offset, 1);
        text_trace_free(&r);
    }
}

static void a_quote_in_a_text_is_a_part_of_it(void **state)
{
    (void)state;
    check_mended(WITH_NAME("say \"hi\""), "say \"hi\"", DAMAGE_QUOTE, 2);
    check_mended(WITH_NAME("\"hi\" all"), "\"hi\" all", DAMAGE_QUOTE, 2);
    check_mended(WITH_NAME("one \" alone"), "one \" alone", DAMAGE_QUOTE, 1);
    check_mended(WITH_NAME("f(\"a\", \"b\")"), "f(\"a\", \"b\")", DAMAGE_QUOTE, 4);
    check_mended(WITH_NAME("{\"x\": 1}"), "{\"x\": 1}", DAMAGE_QUOTE, 2);
    check_mended(WITH_NAME("\""), "\"", DAMAGE_QUOTE, 1);
    check_mended(WITH_ARGS("\"Src\": \"print(\"x\")\", \"External id\": 7"), "n", DAMAGE_QUOTE, 2);
    check_mended(WITH_ARGS("\"External id\": 7, \"Src\": \"print(\"x\")\""), "n", DAMAGE_QUOTE, 2);
    check_mended(WITH_ARGS("\"External id\": 7, \"o\": {\"Src\": \"a \"x\" b\"}"), "n",
                 DAMAGE_QUOTE, 2);
    /* The name stands last. */
    check_mended("{\"ph\": \"X\", \"ts\": 5, \"dur\": 2, \"args\": {\"External id\": 7}, \"name\": "
                 "\"a \"b\"\"}",
                 "a \"b\"", DAMAGE_QUOTE, 2);
}

static void a_comma_too_many_or_too_few_in_an_event(void **state)
{
    (void)state;
    check_mended(WITH_ARGS("\"a\": 1,, \"External id\": 7"), "n", DAMAGE_COMMA, 1);
    check_mended(WITH_ARGS(", \"a\": 1, \"External id\": 7"), "n", DAMAGE_COMMA, 1);
    check_mended(WITH_ARGS("\"a\": [1, 2,], \"External id\": 7,"), "n", DAMAGE_COMMA, 2);
    check_mended(WITH_ARGS("\"a\": 1 \"b\": \"x\" \"c\": [] \"External id\": 7"), "n", DAMAGE_COMMA,
                 3);
    check_mended(
        "{\"ph\": \"X\" \"name\": \"n\", \"ts\": 5, \"dur\": 2, \"args\": {\"External id\": 7},}",
        "n", DAMAGE_COMMA, 2);
}

/* What a comma is missing from is then not known. */
static void a_value_without_its_comma_loses_the_event(void **state)
{
    (void)state;
    check_lost(WITH_ARGS("\"a\": [1 2]"), DAMAGE_SKIPPED, 1, strlen(WITH_ARGS("\"a\": [1 2]")) + 2);
    check_lost(WITH_ARGS("\"a\": 1 2"), DAMAGE_SKIPPED, 1, strlen(WITH_ARGS("\"a\": 1 2")) + 2);
}

static void commas_between_events(void **state)
{
    (void)state;
    struct text_trace r;
    check("[" FIRST " " LAST "]", (struct wanted){ 2, DAMAGE_COMMA, 1, 0 }, &r);
    text_trace_free(&r);
    check("[" FIRST LAST "\n" FIRST "]", (struct wanted){ 3, DAMAGE_COMMA, 2, 0 }, &r);
    text_trace_free(&r);
    check("[" FIRST ",, " LAST "]", (struct wanted){ 2, DAMAGE_COMMA, 1, 0 }, &r);
    text_trace_free(&r);
    check("[, " FIRST ", " LAST ",]", (struct wanted){ 2, DAMAGE_COMMA, 2, 0 }, &r);
    text_trace_free(&r);
    struct trace *t = check("{\"traceEvents\": [" FIRST ", " LAST ",\n], \"with_stack\": 1}",
                            (struct wanted){ 2, DAMAGE_COMMA, 1, 0 }, &r);
    assert_int_equal(t->header.flags, TRACE_WITH_STACK);
    text_trace_free(&r);
}

static void a_stray_quote_loses_its_event_alone(void **state)
{
    (void)state;
    static const char in_phase[] = "{\"ph\": \"X\"\", \"name\": \"b\", \"ts\": 5}";
    check_lost(in_phase, DAMAGE_SKIPPED, 1, strlen(in_phase) + 2);
    static const char in_key[] = "{\"ph\": \"X\", \"name\"\": \"b\", \"ts\": 5}";
    check_lost(in_key, DAMAGE_SKIPPED, 1, strlen(in_key) + 2);
    static const char behind_number[] = "{\"ph\": \"X\", \"name\": \"b\", \"ts\": 5\"}";
    check_lost(behind_number, DAMAGE_SKIPPED, 1, strlen(behind_number) + 2);
    static const char no_colon[] = "{\"ph\": \"X\", \"name\" \"b\", \"ts\": 5}";
    check_lost(no_colon, DAMAGE_SKIPPED, 1, strlen(no_colon) + 2);
}

/* The quote itself was taken for the beginning of a text, which is no event. */
static void a_stray_quote_between_events_loses_none(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = read_text("[" FIRST ",\" " LAST ", " LAST "]", &r);
    assert_int_equal(t->events, 3);
    assert_int_equal(t->damage[DAMAGE_SKIPPED].count, 1);
    assert_int_equal(t->damage[DAMAGE_SKIPPED].first_offset, strlen("[" FIRST ","));
    assert_int_equal(t->damage[DAMAGE_NOT_AN_EVENT].count, 1);
    assert_int_equal(t->skipped_bytes, 2);
    text_trace_free(&r);
}

static void garbage_between_events_is_skipped(void **state)
{
    (void)state;
    struct text_trace r;
    check("[" FIRST ", #!garbage " LAST "]", (struct wanted){ 2, DAMAGE_SKIPPED, 1, 10 }, &r);
    text_trace_free(&r);
    struct trace *t = read_text("[" FIRST ", [1, [{\"ph\": 5}] x], " LAST "]", &r);
    assert_int_equal(t->events, 2);
    assert_int_equal(t->damage[DAMAGE_NOT_AN_EVENT].count, 1);
    assert_int_equal(t->damage[DAMAGE_SKIPPED].count, 1);
    assert_int_equal(t->skipped_bytes, strlen("[1, [{\"ph\": 5}] x], "));
    text_trace_free(&r);
}

/* An event that lacks its end, or a text in it: the next one is where it would have been. */
static void an_event_without_its_end_loses_itself_alone(void **state)
{
    (void)state;
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"args\": {\"a\": 1}", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"args\": {\"a\": 1}") + 2);
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"name\": \"half") + 2);
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"args\": {\"a\": \"half", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"args\": {\"a\": \"half") + 2);
    check_lost("{\"ph\": \"X\", \"ts\": 5, \"du", DAMAGE_SKIPPED, 1,
               strlen("{\"ph\": \"X\", \"ts\": 5, \"du") + 2);
}

/* What looks like an event inside of one is a part of it. */
static void parts_of_a_lost_event_are_no_events(void **state)
{
    (void)state;
    static const char event[] =
        "{\"ph\" \"M\", \"name\": \"process_name\", \"args\": {\"name\": \"x\", \"o\": "
        "{\"ph\": 1}, \"l\": [{\"ph\": 2}], \"m\": [5, {\"name\": \"y\"}]}}";
    check_lost(event, DAMAGE_SKIPPED, 1, strlen(event) + 2);
}

static void words_that_are_no_values_are_missing(void **state)
{
    (void)state;
    check_mended(WITH_ARGS("\"a\": -nan(ind), \"External id\": 7"), "n", DAMAGE_WORD, 1);
    check_mended(WITH_ARGS("\"a\": N/A, \"b\": [nan, inf, -inf, 1.#QNAN], \"External id\": 7"), "n",
                 DAMAGE_WORD, 5);
    check_mended(
        WITH_ARGS(
            "\"a\": nan, \"b\": True, \"c\": None, \"d\": 0x1f, \"e\": .5, \"External id\": 7"),
        "n", DAMAGE_WORD, 5);
    check_mended(WITH_ARGS("\"a\": , \"b\": 01, \"c\": truely, \"External id\": 7, \"d\":"), "n",
                 DAMAGE_WORD, 4);
    /* Those that Python writes are read by everyone, and are missing values. */
    check_mended(WITH_ARGS("\"a\": NaN, \"b\": Infinity, \"c\": -Infinity, \"External id\": 7"),
                 "n", DAMAGE_WORD, 0);
}

static void a_time_that_is_no_value_is_missing(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t =
        read_text("[" FIRST ", {\"ph\": \"X\", \"ts\": -nan(ind), \"dur\": 1}, {\"ph\": \"X\", "
                  "\"ts\": 1, \"dur\": N/A}, {\"ph\": \"X\", \"ts\": NaN}]",
                  &r);
    assert_int_equal(t->events, 4);
    assert_int_equal(t->spans.rows.len, 2);
    assert_int_equal(t->spans.duration[1], 0);
    assert_int_equal(t->damage[DAMAGE_NO_TIME].count, 2);
    assert_int_equal(t->damage[DAMAGE_WORD].count, 2);
    assert_int_equal(t->damage[DAMAGE_NO_DURATION].count, 1);
    text_trace_free(&r);
}

/* `levels` brackets inside an argument of an event. */
static void nested(char *to, size_t size, int levels)
{
    char open[600], close[600];
    memset(open, '[', sizeof open);
    memset(close, ']', sizeof close);
    snprintf(to, size,
             "{\"ph\": \"X\", \"name\": \"n\", \"ts\": 5, \"dur\": 2, \"args\": {\"a\": "
             "%.*s\"]}\\\"\"%.*s, "
             "\"External id\": 7}}",
             levels, open, levels, close);
}

static void a_value_nested_too_deep_is_missing(void **state)
{
    (void)state;
    char event[1600], text[2000];
    struct text_trace r;
    nested(event, sizeof event, 253); /* below a list, an event and its args */
    snprintf(text, sizeof text, "[%s]", event);
    check(text, (struct wanted){ 1, DAMAGE_NESTED, 0, 0 }, &r);
    text_trace_free(&r);
    for (int levels = 254; levels < 600; levels += 111) {
        nested(event, sizeof event, levels);
        snprintf(text, sizeof text, "[" FIRST ", %s, " LAST "]", event);
        struct trace *t = check(text, (struct wanted){ 3, DAMAGE_NESTED, 1, 0 }, &r);
        assert_int_equal(t->spans.external[1], 7);
        text_trace_free(&r);
    }
}

static void several_kinds_in_one_event(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = read_text(
        "[{\"ph\": \"X\", \"name\": \"C:\\d \"q\"\n\", \"ts\": 5, \"dur\": N/A,, \"args\": "
        "{\"External id\": 7,}}]",
        &r);
    assert_int_equal(t->events, 1);
    assert_true(text_equal(t, t->spans.name[0], "C:\\d \"q\"\n"));
    assert_int_equal(t->spans.external[0], 7);
    assert_int_equal(t->damage[DAMAGE_ESCAPE].count, 1);
    assert_int_equal(t->damage[DAMAGE_QUOTE].count, 2);
    assert_int_equal(t->damage[DAMAGE_CONTROL].count, 1);
    assert_int_equal(t->damage[DAMAGE_WORD].count, 1);
    assert_int_equal(t->damage[DAMAGE_COMMA].count, 2);
    assert_int_equal(t->damage[DAMAGE_SKIPPED].count, 0);
    text_trace_free(&r);
}

/* A mended text is longer than it was; a place in it is none in the file. */
static void damage_of_a_mended_event_has_a_place_in_the_file(void **state)
{
    (void)state;
    static const char text[] = "[" FIRST ", {\"ph\": \"X\", \"ts\": 5, \"args\": {\"a\": "
                               "\"\1\1\1\1\1\1\1\1\1\1\1\1\"}, \"name\": \"\xff\"}]";
    struct text_trace r;
    struct trace *t = read_text(text, &r);
    assert_int_equal(t->damage[DAMAGE_UTF8].count, 1);
    assert_int_equal(t->damage[DAMAGE_UTF8].first_offset, strlen("[" FIRST ", "));
    assert_int_equal(t->damage[DAMAGE_CONTROL].count, 12);
    assert_int_equal(t->damage[DAMAGE_CONTROL].first_offset, strchr(text, 1) - text);
    text_trace_free(&r);
}

static void the_list_may_lack_its_end(void **state)
{
    (void)state;
    static const char *const texts[] = { "[" FIRST ", " LAST, "[" FIRST ", " LAST ",\n",
                                         "{\"traceEvents\": [" FIRST ", " LAST,
                                         "{\"traceEvents\": [" FIRST ", " LAST "]",
                                         "{\"traceEvents\": [" FIRST ", " LAST
                                         ", {\"ph\": \"X\", \"na" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct text_trace r;
        struct trace *t = check(texts[i], (struct wanted){ 2, DAMAGE_TRUNCATED, 1, 0 }, &r);
        assert_int_equal(t->damage[DAMAGE_TRUNCATED].first_offset, strlen(texts[i]));
        text_trace_free(&r);
    }
    struct text_trace r;
    struct trace *t = read_text("{\"traceEvents\": [" FIRST ", " LAST "}", &r);
    assert_int_equal(t->events, 2);
    assert_int_equal(t->damage[DAMAGE_TRUNCATED].count, 1);
    assert_int_equal(t->skipped_bytes, 1);
    text_trace_free(&r);
}

static void the_end_of_the_list_is_found_behind_damage(void **state)
{
    (void)state;
    struct text_trace r;
    static const char *const ends[] = { "], \"with_stack\": 1}",
                                        "\n], \"traceName\": \"x]\", \"with_stack\": 1}",
                                        "]\n,\"deviceProperties\": [{}], \"with_stack\": 1}" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "{\"traceEvents\": [" FIRST
                 ", {\"ph\": \"X\", \"args\": {\"a\": [[1], 2], \"b\": 1 2}}%s",
                 ends[i]);
        struct trace *t = read_text(text, &r);
        assert_int_equal(t->events, 1);
        assert_int_equal(t->damage[DAMAGE_SKIPPED].count, 1);
        assert_int_equal(t->damage[DAMAGE_TRUNCATED].count, 0);
        assert_int_equal(t->header.flags, TRACE_WITH_STACK);
        text_trace_free(&r);
    }
    struct trace *t = read_text("[" FIRST ", {\"ph\": 1 2}]", &r);
    assert_int_equal(t->events, 1);
    assert_int_equal(t->damage[DAMAGE_TRUNCATED].count, 0);
    text_trace_free(&r);
    t = read_text("{\"traceEvents\": [" FIRST ", {\"ph\": 1 2}]}", &r);
    assert_int_equal(t->events, 1);
    assert_int_equal(t->damage[DAMAGE_TRUNCATED].count, 0);
    text_trace_free(&r);
}

static void damage_beside_the_list_leaves_the_list(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = check("{\"with_stack\": 1, \"path\": \"C:\\cuda\", \"traceEvents\" : [" FIRST
                            ", " LAST "], \"with_flops\": 1}",
                            (struct wanted){ 2, DAMAGE_SKIPPED, 1, 25 }, &r);
    assert_int_equal(t->header.flags, TRACE_WITH_STACK | TRACE_WITH_FLOPS);
    text_trace_free(&r);
    t = check("{\"deviceProperties\": [{\"id\": N/A}], \"traceEvents\": [" FIRST "]}",
              (struct wanted){ 1, DAMAGE_SKIPPED, 1, 23 }, &r);
    assert_int_equal(t->devices.rows.len, 1);
    text_trace_free(&r);
    t = check("{\"traceEvents\": [" FIRST "], \"with_stack\": 1, \"x\": 01, \"y\": 2}\n",
              (struct wanted){ 1, DAMAGE_SKIPPED, 1, 12 }, &r);
    assert_int_equal(t->header.flags, TRACE_WITH_STACK);
    text_trace_free(&r);
}

/* A second trace, or what a crash left: neither read nor passed over in silence. */
static void what_stands_behind_the_end_is_counted(void **state)
{
    (void)state;
    static const char *const wholes[] = { "[" FIRST ", " LAST "]",
                                          "{\"traceEvents\": [" FIRST ", " LAST "]}" };
    static const char *const rests[] = { "[" FIRST "]", "{\"traceEvents\": [" FIRST "]}",
                                         "}",           "]]",
                                         "x",           ", " FIRST "\n",
                                         "\"",          "null" };
    for (size_t i = 0; i < 2; i++) {
        char text[500];
        struct text_trace r;
        snprintf(text, sizeof text, "%s \n\t\r\n", wholes[i]);
        check(text, (struct wanted){ 2, DAMAGE_BEHIND, 0, 0 }, &r);
        text_trace_free(&r);
        for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
            snprintf(text, sizeof text, "%s\n %s", wholes[i], rests[k]);
            struct trace *t =
                check(text, (struct wanted){ 2, DAMAGE_BEHIND, 1, strlen(rests[k]) }, &r);
            assert_int_equal(t->damage[DAMAGE_BEHIND].first_offset, strlen(wholes[i]) + 2);
            assert_int_equal(t->read_bytes, strlen(text));
            text_trace_free(&r);
        }
    }
}

/* A text of this many bytes in the args of an event. */
static void put_long(struct buf *b, size_t len, const char *behind)
{
    buf_text(b, "{\"ph\": \"X\", \"name\": \"long\", \"ts\": 5, \"args\": {\"s\": [");
    for (size_t i = 0; i < len; i += 1 << 16) {
        buf_text(b, i > 0 ? ", \"" : "\"");
        buf_repeat(b, S("x"), 1 << 16);
        buf_text(b, "\"");
    }
    buf_text(b, "]");
    buf_text(b, behind);
    buf_text(b, "}}, ");
    assert_false(b->failed);
}

/* Longer than a window, with damage behind that: it was held, and is read again. */
static void a_long_event_is_mended(void **state)
{
    (void)state;
    struct buf b;
    struct text_trace r;
    buf_init(&b, 128 << 20);
    buf_text(&b, "[" FIRST ", ");
    put_long(&b, 5 << 20, ", \"External id\": 7, \"path\": \"C:\\d\"");
    buf_text(&b, LAST "]");
    text_trace_read(b.at, b.len, 0, &default_limits, &r);
    assert_int_equal(r.status, VRS_OK);
    check_damage(&r.trace, "a long event", &(struct wanted){ 3, DAMAGE_ESCAPE, 1, 0 });
    assert_int_equal(r.trace.spans.external[1], 7);
    text_trace_free(&r);
    buf_free(&b);
}

static void an_event_of_more_than_64_mib_is_dropped(void **state)
{
    (void)state;
    static const char *const behind[] = { "", ", \"path\": \"C:\\d\"" };
    for (size_t i = 0; i < 2; i++) {
        struct buf b;
        struct text_trace r;
        buf_init(&b, 128 << 20);
        buf_text(&b, "[" FIRST ", ");
        size_t start = b.len;
        put_long(&b, (64 << 20) + (1 << 19), behind[i]);
        size_t end = b.len;
        buf_text(&b, LAST "]");
        text_trace_read(b.at, b.len, 0, &default_limits, &r);
        assert_int_equal(r.status, VRS_OK);
        assert_int_equal(r.trace.events, 2);
        assert_int_equal(r.trace.damage[DAMAGE_LONG].count, 1);
        assert_int_equal(r.trace.damage[DAMAGE_LONG].first_offset, start);
        assert_int_equal(r.trace.damage[DAMAGE_SKIPPED].count, i);
        assert_int_equal(r.trace.skipped_bytes, end - start - (i == 0 ? 2 : 0));
        assert_true(text_equal(&r.trace, r.trace.spans.name[1], "last"));
        text_trace_free(&r);
        buf_free(&b);
    }
}

/* The damage counted of a trace of so many events that begin at 0, and others. */
static uint64_t zeros_counted(int zeros, int events)
{
    struct buf b;
    struct text_trace r;
    buf_init(&b, 1 << 20);
    buf_text(&b, "[");
    for (int i = 0; i < events; i++)
        buf_format(&b, "%s{\"ph\": \"X\", \"ts\": %d}", i > 0 ? "," : "", i < zeros ? 0 : i);
    buf_text(&b, "]");
    text_trace_read(b.at, b.len, 0, &default_limits, &r);
    assert_int_equal(r.status, VRS_OK);
    assert_int_equal(r.trace.spans.rows.len, events);
    uint64_t count = r.trace.damage[DAMAGE_ZEROS].count;
    assert_int_equal(r.trace.damage[DAMAGE_ZEROS].first_offset, count > 0 ? 1 : 0);
    text_trace_free(&r);
    buf_free(&b);
    return count;
}

static void many_times_of_0_are_counted(void **state)
{
    (void)state;
    assert_int_equal(zeros_counted(20, 2000), 0);
    assert_int_equal(zeros_counted(21, 2000), 21);
    assert_int_equal(zeros_counted(9, 10), 0); /* a short trace may begin with some */
    assert_int_equal(zeros_counted(10, 20), 10);
}

/* Damage in each of many events, some of it beyond repair, in any portions. */
static void a_file_full_of_damage(void **state)
{
    (void)state;
    static const char *const events[] = { FIRST ",\n",
                                          WITH_NAME("C:\\d \"q\"") ",\n",
                                          WITH_ARGS("\"a\": 1 2") ",\n",
                                          WITH_ARGS("\"a\": -nan") "\n",
                                          "{\"ph\": \"X\", \"na",
                                          "{\"ph\": \"X\", \"ts\": 5, \"name\": \"x\n" };
    struct buf b;
    buf_init(&b, 8 << 20);
    buf_text(&b, "{\"traceEvents\": [");
    for (int i = 0; i < 6000; i++)
        buf_text(&b, events[i * 7 % 6]);
    buf_text(&b, LAST "]}");
    struct text_trace whole;
    text_trace_read(b.at, b.len, 0, &default_limits, &whole);
    assert_int_equal(whole.status, VRS_OK);
    assert_int_equal(whole.trace.events, 3001);
    for (size_t step = 999; step < 1000000; step *= 9) {
        struct text_trace r;
        text_trace_read(b.at, b.len, step, &default_limits, &r);
        assert_int_equal(r.status, VRS_OK);
        assert_true(trace_same(&whole.trace, &r.trace));
        text_trace_free(&r);
    }
    text_trace_free(&whole);
    buf_free(&b);
}

/* Damaged and cut as well: what was kept before stays kept. */
static void damage_may_end_anywhere(void **state)
{
    (void)state;
    static const char text[] =
        "{\"traceEvents\": [" FIRST ", " WITH_NAME("C:\\d \"q\"") " " WITH_ARGS(
            "\"a\": 1 2") ",, " WITH_ARGS("\"a\": N/A, \"b\": \"\x01\"") "\n,\"" LAST
                                                                         "], \"x\": 01}";
    uint64_t events = 0;
    for (size_t len = 0; len < sizeof text; len++) {
        struct text_trace r;
        text_trace_read(text, len, len % 3, &default_limits, &r);
        if (r.status == VRS_OK) {
            assert_true(r.trace.events >= events);
            events = r.trace.events;
        } else {
            assert_int_equal(events, 0);
            assert_int_equal(r.status, VRS_CORRUPT);
        }
        text_trace_free(&r);
    }
    assert_int_equal(events, 4);
}

static enum vrs_status read_damaged(void *arg)
{
    (void)arg;
    static const char text[] =
        "[" FIRST ", " WITH_NAME("C:\\d \"q\"") ", " WITH_ARGS("\"a\": 1 2") " " LAST "]";
    struct text_trace r;
    text_trace_read(text, sizeof text - 1, 5, &default_limits, &r);
    if (r.status == VRS_OK)
        assert_int_equal(r.trace.events, 3);
    text_trace_free(&r);
    return r.status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(read_damaged, NULL, NULL);
}

/* A source that fails is no damage, and neither is a limit. */
static void other_failures_stay_failures(void **state)
{
    (void)state;
    static const char text[] = "[" FIRST ", " WITH_NAME("C:\\d") ", " LAST "]";
    struct dribble d = { .at = (const uint8_t *)text, .left = sizeof text - 30, .fails = true };
    const struct read_trace_options options = { .size_bytes = 0 };
    struct trace t;
    struct vrs_error err;
    assert_int_equal(read_trace(dribble_source(&d), &options, &t, &err), VRS_IO);
    struct limits limits = default_limits;
    limits.items = 2;
    struct text_trace r;
    text_trace_read(text, sizeof text - 1, 0, &limits, &r);
    assert_int_equal(r.status, VRS_LIMIT);
    assert_non_null(strstr(r.err.message, "--limit items"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_escape_is_a_backslash),
        cmocka_unit_test(a_backslash_may_stand_last),
        cmocka_unit_test(control_characters_are_kept),
        cmocka_unit_test(what_is_not_utf8_is_replaced),
        cmocka_unit_test(a_name_may_be_cut_in_a_character),
        cmocka_unit_test(a_text_is_counted_once),
        cmocka_unit_test(a_quote_in_a_text_is_a_part_of_it),
        cmocka_unit_test(a_comma_too_many_or_too_few_in_an_event),
        cmocka_unit_test(a_value_without_its_comma_loses_the_event),
        cmocka_unit_test(commas_between_events),
        cmocka_unit_test(a_stray_quote_loses_its_event_alone),
        cmocka_unit_test(a_stray_quote_between_events_loses_none),
        cmocka_unit_test(garbage_between_events_is_skipped),
        cmocka_unit_test(an_event_without_its_end_loses_itself_alone),
        cmocka_unit_test(parts_of_a_lost_event_are_no_events),
        cmocka_unit_test(words_that_are_no_values_are_missing),
        cmocka_unit_test(a_time_that_is_no_value_is_missing),
        cmocka_unit_test(a_value_nested_too_deep_is_missing),
        cmocka_unit_test(several_kinds_in_one_event),
        cmocka_unit_test(damage_of_a_mended_event_has_a_place_in_the_file),
        cmocka_unit_test(the_list_may_lack_its_end),
        cmocka_unit_test(the_end_of_the_list_is_found_behind_damage),
        cmocka_unit_test(damage_beside_the_list_leaves_the_list),
        cmocka_unit_test(what_stands_behind_the_end_is_counted),
        cmocka_unit_test(a_long_event_is_mended),
        cmocka_unit_test(an_event_of_more_than_64_mib_is_dropped),
        cmocka_unit_test(many_times_of_0_are_counted),
        cmocka_unit_test(a_file_full_of_damage),
        cmocka_unit_test(damage_may_end_anywhere),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(other_failures_stay_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
