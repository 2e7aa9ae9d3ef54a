/* Single events: what each key and each argument of one becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/trace/event.h"
#include "format/trace/words.h"
#include "made/text_trace.h"
#include "model/ids.h"
#include "model/strings.h"
#include "model/trace.h"
#include "model/trace_append.h"

/* A list of one event, or of several. */
static struct trace *events(const char *inside, struct text_trace *ret)
{
    char text[4000];
    snprintf(text, sizeof text, "[%s]", inside);
    return text_trace_of(text, ret);
}

/* An event that lasts, with these keys more. */
static struct trace *span(const char *more, struct text_trace *ret)
{
    char text[2000];
    snprintf(text, sizeof text, "{\"ph\": \"X\", \"ts\": 10, \"dur\": 2%s}", more);
    return events(text, ret);
}

static void each_key_of_a_span_is_kept(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t =
        events("{\"ph\": \"X\", \"cat\": \"Kernel\", \"name\": \"gemm\", \"pid\": 3, \"tid\": 7, "
               "\"ts\": 1.5, \"dur\": 0.25, \"args\": {\"External id\": 11, \"correlation\": 12, "
               "\"bytes\": 4096}}",
               &r);
    assert_int_equal(t->spans.rows.len, 1);
    assert_int_equal(t->spans.start[0], 1500);
    assert_int_equal(t->spans.duration[0], 250);
    assert_int_equal(span_end(&t->spans, 0), 1750);
    assert_int_equal(t->spans.index[0], 0);
    assert_int_equal(t->spans.kind[0], SPAN_KERNEL);
    assert_true(text_equal(t, t->spans.name[0], "gemm"));
    assert_true(text_equal(t, t->spans.category[0], "kernel"));
    assert_int_equal(t->spans.external[0], 11);
    assert_int_equal(t->spans.external_form[0], ID_NUMBER);
    assert_int_equal(t->spans.correlation[0], 12);
    assert_int_equal(t->spans.correlation_form[0], ID_NUMBER);
    assert_int_equal(t->spans.bytes[0], 4096);
    uint32_t track = t->spans.track[0];
    assert_int_equal(t->tracks.pid[track], 3);
    assert_int_equal(t->tracks.tid[track], 7);
    assert_int_equal(t->events, 1);
    text_trace_free(&r);
}

static void what_is_not_given_is_unknown(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events("{\"ph\": \"X\", \"ts\": 1}", &r);
    assert_int_equal(t->spans.duration[0], 0);
    assert_int_equal(t->spans.kind[0], SPAN_OTHER);
    assert_int_equal(t->spans.name[0], 0);
    assert_int_equal(t->spans.category[0], 0);
    assert_int_equal(t->spans.external_form[0], ID_NONE);
    assert_int_equal(t->spans.correlation_form[0], ID_NONE);
    assert_int_equal(t->spans.bytes[0], TRACE_UNKNOWN);
    assert_int_equal(t->tracks.pid_form[0], ID_NONE);
    assert_int_equal(t->tracks.tid_form[0], ID_NONE);
    text_trace_free(&r);
}

static void check_thread(const char *written, uint8_t form, int64_t number, const char *text)
{
    struct text_trace r;
    char more[100];
    snprintf(more, sizeof more, ", \"tid\": %s", written);
    struct trace *t = span(more, &r);
    assert_int_equal(t->tracks.tid_form[0], form);
    if (text == NULL)
        assert_int_equal(t->tracks.tid[0], number);
    else if (!text_equal(t, (uint32_t)t->tracks.tid[0], text))
        fail_msg("%s became another text", written);
    text_trace_free(&r);
}

static void threads_are_numbers_however_they_are_written(void **state)
{
    (void)state;
    check_thread("7", ID_NUMBER, 7, NULL);
    check_thread("\"7\"", ID_NUMBER, 7, NULL);
    check_thread("\"stream 7\"", ID_NUMBER, 7, NULL);
    check_thread("-1", ID_NUMBER, -1, NULL);
    check_thread("\" 7 \"", ID_NUMBER, 7, NULL);
    check_thread("\"stream seven\"", ID_TEXT, 0, "stream seven");
    check_thread("\"main\"", ID_TEXT, 0, "main");
    check_thread("9223372036854775807", ID_NUMBER, INT64_MAX, NULL);
    check_thread("9223372036854775808", ID_TEXT, 0, "9223372036854775808");
    check_thread("\"18446744073709551616\"", ID_TEXT, 0, "18446744073709551616");
    check_thread("null", ID_NONE, 0, NULL);
    check_thread("true", ID_NONE, 0, NULL);
}

static void one_thread_is_one_track(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events("{\"ph\": \"X\", \"ts\": 1, \"pid\": 1, \"tid\": 7},"
                             "{\"ph\": \"X\", \"ts\": 2, \"pid\": 1, \"tid\": \"stream 7\"},"
                             "{\"ph\": \"X\", \"ts\": 3, \"pid\": \"1\", \"tid\": 7},"
                             "{\"ph\": \"X\", \"ts\": 4, \"pid\": 1, \"tid\": 8}",
                             &r);
    assert_int_equal(t->tracks.rows.len, 3);
    assert_int_equal(t->spans.track[0], t->spans.track[1]);
    assert_int_not_equal(t->spans.track[0], t->spans.track[2]);
    /* A process of the text "1" is not the one of the number. */
    assert_int_equal(t->processes.rows.len, 2);
    text_trace_free(&r);
}

/* The identifier that args of `written` give. */
static void check_external(const char *written, uint8_t form, int64_t number, const char *text)
{
    struct text_trace r;
    char more[300];
    snprintf(more, sizeof more, ", \"args\": {%s}", written);
    struct trace *t = span(more, &r);
    if (t->spans.external_form[0] != form)
        fail_msg("%s has the form %d", written, t->spans.external_form[0]);
    if (text == NULL)
        assert_int_equal(t->spans.external[0], number);
    else
        assert_true(text_equal(t, (uint32_t)t->spans.external[0], text));
    text_trace_free(&r);
}

static void a_category_is_in_lower_case_though_it_is_no_utf8(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = span(", \"cat\": \"M\xefR\"", &r);
    assert_true(text_equal(t, t->spans.category[0], "m\xef\xbf\xbdr"));
    assert_int_equal(t->damage[DAMAGE_UTF8].count, 1);
    text_trace_free(&r);
}

static void the_key_with_a_capital_goes_first(void **state)
{
    (void)state;
    check_external("\"External id\": 1, \"external id\": 2", ID_NUMBER, 1, NULL);
    check_external("\"external id\": 2, \"External id\": 1", ID_NUMBER, 1, NULL);
    check_external("\"external id\": 2", ID_NUMBER, 2, NULL);
    check_external("\"External id\": null, \"external id\": 2", ID_NONE, 0, NULL);
    check_external("\"external id\": 2, \"external id\": 3", ID_NUMBER, 3, NULL);
    check_external("\"External id\": 2, \"External id\": 3", ID_NUMBER, 3, NULL);
}

static void identifiers_are_integers_of_any_size(void **state)
{
    (void)state;
    check_external("\"External id\": \"12\"", ID_NUMBER, 12, NULL);
    check_external("\"External id\": \" +12 \"", ID_NUMBER, 12, NULL);
    check_external("\"External id\": -9223372036854775807", ID_NUMBER, -INT64_MAX, NULL);
    check_external("\"External id\": 9223372036854775808", ID_TEXT, 0, "9223372036854775808");
    check_external("\"External id\": \"18446744073709551615\"", ID_TEXT, 0, "18446744073709551615");
    check_external("\"External id\": 123456789012345678901234567890", ID_TEXT, 0,
                   "123456789012345678901234567890");
    check_external("\"External id\": \"twelve\"", ID_NONE, 0, NULL);
    check_external("\"External id\": 1.5", ID_NONE, 0, NULL);
    check_external("\"External id\": \"\"", ID_NONE, 0, NULL);
    check_external("\"External id\": true", ID_NONE, 0, NULL);
    check_external("\"External id\": [1]", ID_NONE, 0, NULL);
}

static void of_two_args_the_last_stand(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = span(", \"args\": {\"External id\": 1, \"bytes\": 5}, "
                           "\"args\": {\"correlation\": 2}",
                           &r);
    assert_int_equal(t->spans.external_form[0], ID_NONE);
    assert_int_equal(t->spans.bytes[0], TRACE_UNKNOWN);
    assert_int_equal(t->spans.correlation[0], 2);
    text_trace_free(&r);
    t = span(", \"args\": {\"External id\": 1}, \"args\": null", &r);
    assert_int_equal(t->spans.external_form[0], ID_NONE);
    text_trace_free(&r);
}

static void of_equal_keys_the_last_stands(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t =
        span(", \"name\": \"a\", \"name\": \"b\", \"ts\": 5, \"tid\": 1, \"tid\": 2", &r);
    assert_true(text_equal(t, t->spans.name[0], "b"));
    assert_int_equal(t->spans.start[0], 5000);
    assert_int_equal(t->tracks.tid[0], 2);
    text_trace_free(&r);
    t = span(", \"name\": \"a\", \"name\": [\"b\"], \"tid\": 1, \"tid\": {}", &r);
    assert_int_equal(t->spans.name[0], 0);
    assert_int_equal(t->tracks.tid_form[0], ID_NONE);
    text_trace_free(&r);
}

/* How the time `written` is counted, and what becomes of the event. */
static void check_time(const char *written, uint32_t spans, int64_t ns, const char *counted)
{
    struct text_trace r;
    char text[200];
    snprintf(text, sizeof text, "{\"ph\": \"X\", \"ts\": %s}", written);
    struct trace *t = events(text, &r);
    if (t->spans.rows.len != spans)
        fail_msg("%s made %u spans", written, t->spans.rows.len);
    if (spans > 0)
        assert_int_equal(t->spans.start[0], ns);
    assert_int_equal(t->damage[DAMAGE_NO_TIME].count, 1 - spans);
    char got[40];
    snprintf(got, sizeof got, "%d %d %d", (int)t->header.times_integer, (int)t->header.times_other,
             (int)t->header.times_missing);
    assert_string_equal(got, counted);
    text_trace_free(&r);
}

static void times_are_counted_by_how_they_are_written(void **state)
{
    (void)state;
    check_time("5", 1, 5000, "1 0 0");
    check_time("-5", 1, -5000, "1 0 0");
    check_time("5.25", 1, 5250, "0 1 0");
    check_time("\"5.25\"", 1, 5250, "0 1 0");
    check_time("\"5\"", 1, 5000, "0 1 0");
    check_time("5e3", 1, 5000000, "0 1 0");
    check_time("null", 0, 0, "0 0 1");
    check_time("NaN", 0, 0, "0 0 1");
    check_time("true", 0, 0, "0 1 0");
    check_time("false", 0, 0, "0 1 0");
    check_time("\"\"", 0, 0, "0 1 0");
    check_time("\"soon\"", 0, 0, "0 1 0");
}

static void an_event_without_a_time_is_dropped_and_counted(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t =
        events("{\"ph\": \"X\", \"name\": \"a\"}, {\"ph\": \"s\", \"id\": 1},"
               "{\"ph\": \"i\", \"name\": \"[memory]\"}, {\"ph\": \"i\", \"name\": \"b\"},"
               "{\"ph\": \"M\", \"name\": \"process_name\"}, {\"ph\": \"X\", \"ts\": 1}",
               &r);
    assert_int_equal(t->events, 6);
    assert_int_equal(t->spans.rows.len, 1);
    assert_int_equal(t->spans.index[0], 5);
    assert_int_equal(t->flows.rows.len, 0);
    assert_int_equal(t->damage[DAMAGE_NO_TIME].count, 3);
    assert_int_equal(t->damage[DAMAGE_NO_TIME].first_offset, 1);
    assert_int_equal(t->header.times_missing, 5);
    text_trace_free(&r);
}

static void durations_are_not_negative(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events("{\"ph\": \"X\", \"ts\": 5, \"dur\": -1}, "
                             "{\"ph\": \"X\", \"ts\": 5, \"dur\": \"-0.001\"},"
                             "{\"ph\": \"X\", \"ts\": 5, \"dur\": -0.0001},"
                             "{\"ph\": \"X\", \"ts\": 5, \"dur\": \"2.5\"},"
                             "{\"ph\": \"X\", \"ts\": 5, \"dur\": null},"
                             "{\"ph\": \"X\", \"ts\": 5, \"dur\": true}",
                             &r);
    static const int64_t wanted[] = { 0, 0, 0, 2500, 0, 0 };
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(t->spans.duration[i], wanted[i]);
    assert_int_equal(t->damage[DAMAGE_NEGATIVE].count, 2);
    assert_int_equal(t->damage[DAMAGE_NEGATIVE].first_offset, 1);
    text_trace_free(&r);
}

/* NaN and Infinity are what Python's json module writes; a text may hold anything. */
static void a_duration_that_is_no_number_is_counted(void **state)
{
    (void)state;
    static const struct {
        const char *written;
        uint64_t counted, beyond;
        int64_t ns;
    } cases[] = {
        { "Infinity", 1, 0, 0 },
        { "-Infinity", 1, 0, 0 },
        { "NaN", 1, 0, 0 },
        { "null", 1, 0, 0 },
        { "true", 1, 0, 0 },
        { "\"Infinity\"", 1, 0, 0 },
        { "\"\"", 1, 0, 0 },
        { "{}", 1, 0, 0 },
        { "[5]", 1, 0, 0 },
        { "Infinity, \"dur\": 2", 0, 0, 2000 },
        { "2, \"dur\": NaN", 1, 0, 0 },
        { "1e400", 0, 1, TRACE_TIME_MOST - 5000 },
        { "\"1e400\"", 0, 1, TRACE_TIME_MOST - 5000 },
        { "9223372036854775808", 0, 1, TRACE_TIME_MOST - 5000 },
        { "1e-400", 0, 0, 0 },
        { "2e0", 0, 0, 2000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text_trace r;
        char text[200];
        snprintf(text, sizeof text, "{\"ph\": \"X\", \"ts\": 5, \"dur\": %s}", cases[i].written);
        struct trace *t = events(text, &r);
        if (t->damage[DAMAGE_NO_DURATION].count != cases[i].counted ||
            t->damage[DAMAGE_RANGE].count != cases[i].beyond ||
            t->spans.duration[0] != cases[i].ns)
            fail_msg("%s became %lld", cases[i].written, (long long)t->spans.duration[0]);
        text_trace_free(&r);
    }
}

static void a_time_that_is_no_number_is_none(void **state)
{
    (void)state;
    check_time("Infinity", 0, 0, "0 0 1");
    check_time("-Infinity", 0, 0, "0 0 1");
    check_time("\"Infinity\"", 0, 0, "0 1 0");
    check_time("{}", 0, 0, "0 0 1");
    check_time("1e400", 1, TRACE_TIME_MOST, "0 1 0");
    check_time("-1e400", 1, -TRACE_TIME_MOST, "0 1 0");
    check_time("\"9223372036854775808\"", 1, TRACE_TIME_MOST, "0 1 0");
}

static void an_end_beyond_the_last_moment_is_the_last_moment(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events("{\"ph\": \"X\", \"ts\": 9223372036854775, \"dur\": 10},"
                             "{\"ph\": \"X\", \"ts\": 1, \"dur\": 9223372036854775},"
                             "{\"ph\": \"X\", \"ts\": 1e30, \"dur\": 1},"
                             "{\"ph\": \"X\", \"ts\": -1e30, \"dur\": 9223372036854775.807},"
                             "{\"ph\": \"X\", \"ts\": 0, \"dur\": 9223372036854775.807}",
                             &r);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(span_end(&t->spans, i), TRACE_TIME_MOST);
    assert_int_equal(t->spans.start[3], -TRACE_TIME_MOST);
    assert_int_equal(t->damage[DAMAGE_RANGE].count, 5);
    text_trace_free(&r);
}

static void flows_are_ends_of_a_link(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t =
        events("{\"ph\": \"s\", \"cat\": \"ac2g\", \"id\": 5, \"ts\": 1, \"pid\": 1, "
               "\"tid\": 2}, {\"ph\": \"f\", \"cat\": \"ac2g\", \"id\": \"five\", \"ts\": 2, "
               "\"bp\": \"e\"}",
               &r);
    assert_int_equal(t->flows.rows.len, 2);
    assert_int_equal(t->flows.finish[0], 0);
    assert_int_equal(t->flows.finish[1], 1);
    assert_int_equal(t->flows.time[1], 2000);
    assert_int_equal(t->flows.id[0], 5);
    assert_int_equal(t->flows.id_form[0], ID_NUMBER);
    assert_int_equal(t->flows.id_form[1], ID_TEXT);
    assert_true(text_equal(t, t->flows.category[0], "ac2g"));
    text_trace_free(&r);
}

static void memory_events_keep_their_numbers(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events(
        "{\"ph\": \"i\", \"name\": \"[memory]\", \"ts\": 3, \"pid\": 1, \"tid\": 2, \"args\": {"
        "\"Bytes\": -512, \"Device Type\": 1, \"Device Id\": 0, \"Total Allocated\": 1024, "
        "\"Total Reserved\": \"2048\", \"Addr\": 18446744073709551615}},"
        "{\"ph\": \"i\", \"name\": \"[memory]\", \"ts\": 4, \"args\": {\"Bytes\": 1.5, \"Addr\": "
        "1e3}},"
        "{\"ph\": \"X\", \"name\": \"[memory]\", \"ts\": 4}",
        &r);
    struct memory_events *m = &t->memory;
    assert_int_equal(m->rows.len, 2);
    assert_int_equal(m->time[0], 3000);
    assert_int_equal(m->bytes[0], -512);
    assert_int_equal(m->device_type[0], 1);
    assert_int_equal(m->device_number[0], 0);
    assert_int_equal(m->total_allocated[0], 1024);
    assert_int_equal(m->total_reserved[0], 2048);
    assert_int_equal(m->address[0], UINT64_MAX);
    assert_int_equal(m->bytes[1], TRACE_UNKNOWN);
    assert_int_equal(m->device_type[1], TRACE_UNKNOWN);
    assert_int_equal(m->address[1], UNKNOWN_U64);
    assert_int_equal(t->spans.rows.len, 1);
    text_trace_free(&r);
}

static void processes_have_names_and_labels(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events(
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 4, \"args\": {\"name\": \"python\"}},"
        "{\"args\": {\"labels\": \"GPU 0\"}, \"name\": \"process_labels\", \"pid\": 4, \"ph\": "
        "\"M\"},"
        "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 5, \"args\": {\"name\": \"main\"}}",
        &r);
    assert_int_equal(t->processes.rows.len, 1);
    assert_true(text_equal(t, t->processes.name[0], "python"));
    assert_true(text_equal(t, t->processes.labels[0], "GPU 0"));
    text_trace_free(&r);
}

/* The name of a process may stand behind its events. */
static void work_without_category_is_known_by_its_process(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events(
        "{\"ph\": \"X\", \"ts\": 1, \"pid\": 1}, {\"ph\": \"X\", \"ts\": 1, \"pid\": 2},"
        "{\"ph\": \"X\", \"ts\": 1, \"pid\": 3}, {\"ph\": \"X\", \"ts\": 1, \"pid\": 1, \"cat\": "
        "\"x\"},"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"Ascend "
        "Hardware\"}},"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 2, \"args\": {\"name\": \"CANN\"}},"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 3, \"args\": {\"name\": \"Overlap "
        "Analysis\"}}",
        &r);
    assert_int_equal(t->spans.kind[0], SPAN_KERNEL);
    assert_int_equal(t->spans.kind[1], SPAN_RUNTIME);
    assert_int_equal(t->spans.kind[2], SPAN_OTHER);
    assert_int_equal(t->spans.kind[3], SPAN_OTHER);
    text_trace_free(&r);
}

static void phases_are_counted_by_their_text(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t =
        events("{\"ph\": \"X\", \"ts\": 1}, {\"ph\": \"B\"}, {}, {\"ph\": \"B\"}, {\"ph\": 5},"
               "{\"name\": \"[OutOfMemory]\", \"ph\": \"i\"}",
               &r);
    assert_int_equal(t->events, 6);
    assert_int_equal(t->phases.rows.len, 5);
    assert_true(text_equal(t, t->phases.text[1], "B"));
    assert_int_equal(t->phases.count[1], 2);
    assert_int_equal(t->phases.text[2], 0);
    assert_true(text_equal(t, t->phases.text[3], "5"));
    assert_int_equal(t->header.out_of_memory, 1);
    text_trace_free(&r);
}

/* Stacks. */

static void check_stack(const char *arguments, const char *wanted)
{
    struct text_trace r;
    char more[300];
    snprintf(more, sizeof more, ", \"args\": %s", arguments);
    struct trace *t = span(more, &r);
    assert_true(str_equal(span_stack_text(t, span_stack(t, 0)), str_from(wanted)));
    assert_int_equal(t->stacks.rows.len, *wanted != '\0');
    text_trace_free(&r);
}

static void the_last_stack_of_a_span_is_its_own(void **state)
{
    (void)state;
    check_stack("{\"Call stack\": \"b.py(2): f;a.py(1): main\"}", "b.py(2): f;a.py(1): main");
    check_stack("{\"Call stack\": \"a\\n\\u00e4\"}", "a\n\xc3\xa4");
    check_stack("{\"Call stack\": \"a\", \"Call stack\": \"b\"}", "b");
    check_stack("{\"Call stack\": \"a\", \"Call stack\": 7}", "");
    check_stack("{\"Call stack\": \"a\", \"Call stack\": [\"b\"]}", "");
    check_stack("{\"Call stack\": \"a\", \"Call stack\": {\"b\": \"c\"}}", "");
    check_stack("{\"Call stack\": \"a\"}, \"args\": {\"bytes\": 4}", "");
    check_stack("{\"Call stack\": \"\"}", "");
    check_stack("{\"x\": 1}, \"Call stack\": \"a\"", "");
}

static void stacks_are_of_their_spans(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = events(
        "{\"ph\": \"X\", \"ts\": 1}, {\"ph\": \"X\", \"ts\": 2, \"args\": {\"Call stack\": \"a\"}}, "
        "{\"ph\": \"X\", \"ts\": 3}, {\"ph\": \"X\", \"args\": {\"Call stack\": \"b\"}}, "
        "{\"ph\": \"X\", \"ts\": 5, \"args\": {\"Call stack\": \"c\"}}, "
        "{\"ph\": \"X\", \"ts\": 6, \"args\": {\"Call stack\": \"a\"}}",
        &r);
    static const char *const wanted[] = { "", "a", "", "c", "a" };
    assert_int_equal(t->spans.rows.len, 5); /* one has no time */
    for (uint32_t row = 0; row < 5; row++)
        assert_true(str_equal(span_stack_text(t, span_stack(t, row)), str_from(wanted[row])));
    assert_int_equal(span_stack(t, 1), span_stack(t, 4));
    assert_int_equal(span_stack(t, 5), 0);
    text_trace_free(&r);
}

static void put_stack(struct events *e, const char *stack)
{
    const struct value phase = { VALUE_TEXT, S("X") }, time = { VALUE_NUMBER, S("7") },
                       text = { VALUE_TEXT, str_from(stack) };
    event_begin(e, 0);
    assert_int_equal(event_field(e, KEY_PH, &phase, NULL), VRS_OK);
    assert_int_equal(event_field(e, KEY_TS, &time, NULL), VRS_OK);
    assert_int_equal(event_argument(e, KEY_CALL_STACK, &text, NULL), VRS_OK);
    assert_int_equal(event_end(e, NULL), VRS_OK);
}

static void stacks_without_room_are_left_out(void **state)
{
    (void)state;
    static const char *const stacks[] = { "aaaa", "bbbb", "aaaa", "ccccc", "dd", "bbbb" };
    static const char *const kept[] = { "aaaa", "bbbb", "aaaa", "", "dd", "bbbb" };
    struct trace t, other;
    struct events e;
    assert_true(trace_init(&t, 100, 1000));
    assert_true(trace_init(&other, 100, 1000));
    strings_free(&t.stacks.texts);
    assert_true(strings_init(&t.stacks.texts, 10));
    assert_int_equal(events_init(&e, &t, 40, NULL), VRS_OK);
    for (size_t i = 0; i < 6; i++)
        put_stack(&e, stacks[i]);
    for (uint32_t row = 0; row < 6; row++)
        assert_true(str_equal(span_stack_text(&t, span_stack(&t, row)), str_from(kept[row])));
    assert_int_equal(t.header.stacks_left_out, 1);
    /* Of a part this hangs on what stands before it. */
    assert_false(trace_append(&other, &t));
    events_free(&e);
    trace_free(&t);
    trace_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_of_a_span_is_kept),
        cmocka_unit_test(what_is_not_given_is_unknown),
        cmocka_unit_test(threads_are_numbers_however_they_are_written),
        cmocka_unit_test(one_thread_is_one_track),
        cmocka_unit_test(a_category_is_in_lower_case_though_it_is_no_utf8),
        cmocka_unit_test(the_key_with_a_capital_goes_first),
        cmocka_unit_test(identifiers_are_integers_of_any_size),
        cmocka_unit_test(of_two_args_the_last_stand),
        cmocka_unit_test(of_equal_keys_the_last_stands),
        cmocka_unit_test(times_are_counted_by_how_they_are_written),
        cmocka_unit_test(an_event_without_a_time_is_dropped_and_counted),
        cmocka_unit_test(durations_are_not_negative),
        cmocka_unit_test(a_duration_that_is_no_number_is_counted),
        cmocka_unit_test(a_time_that_is_no_number_is_none),
        cmocka_unit_test(an_end_beyond_the_last_moment_is_the_last_moment),
        cmocka_unit_test(flows_are_ends_of_a_link),
        cmocka_unit_test(memory_events_keep_their_numbers),
        cmocka_unit_test(processes_have_names_and_labels),
        cmocka_unit_test(work_without_category_is_known_by_its_process),
        cmocka_unit_test(phases_are_counted_by_their_text),
        cmocka_unit_test(the_last_stack_of_a_span_is_its_own),
        cmocka_unit_test(stacks_are_of_their_spans),
        cmocka_unit_test(stacks_without_room_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
