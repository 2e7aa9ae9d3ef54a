/* Whole files: where the list may stand, what is read beside it, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "format/input/limits.h"
#include "made/fault.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/trace.h"

/* Two events, with a link and memory. */
#define EVENTS                                                                                     \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 2, "        \
    "\"ts\": 5, "                                                                                  \
    "\"dur\": 3, \"args\": {\"External id\": 7, \"Input Dims\": [[2, 3], [], {\"ts\": 9}]}},\n"    \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\\u00e9\", \"pid\": 0, \"tid\": 7, "     \
    "\"ts\": 6.5, "                                                                                \
    "\"dur\": \"1.25\", \"args\": {\"External id\": 7, \"correlation\": 8}}"

#define HEADER                                                                                     \
    "\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\", "         \
    "\"totalGlobalMem\": 85, \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132, \"x\": "   \
    "[{}]}], "                                                                                     \
    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": \"8\", "            \
    "\"pg_config\": [{"                                                                            \
    "\"rank\": 99}]}, \"with_stack\": 1, \"record_shapes\": true, \"with_flops\": 0, "             \
    "\"profile_memory\": false, \"baseTimeNanoseconds\": 1700000000000000000, \"nested\": "        \
    "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1}], \"with_modules\": 1}"

static void check_header(const struct trace *t)
{
    const struct trace_header *h = &t->header;
    assert_false(h->is_array);
    assert_int_equal(h->flags, TRACE_WITH_STACK | TRACE_RECORD_SHAPES);
    assert_int_equal(h->base_ns, 1700000000000000000);
    assert_int_equal(h->rank, 3);
    assert_int_equal(h->world_size, 8);
    assert_true(text_equal(t, h->backend, "nccl"));
    assert_int_equal(t->devices.rows.len, 1);
    assert_int_equal(t->devices.number[0], 0);
    assert_true(text_equal(t, t->devices.name[0], "NVIDIA H100"));
    assert_int_equal(t->devices.bytes[0], 85);
    assert_int_equal(t->devices.major[0], 9);
    assert_int_equal(t->devices.minor[0], 0);
    assert_int_equal(t->devices.multiprocessors[0], 132);
}

static void check_events(const struct trace *t)
{
    assert_int_equal(t->events, 2);
    assert_int_equal(t->spans.rows.len, 2);
    assert_true(text_equal(t, t->spans.name[1], "gemm\xc3\xa9"));
    assert_int_equal(t->spans.start[1], 6500);
    assert_int_equal(t->spans.duration[1], 1250);
    for (int kind = 0; kind < TRACE_DAMAGES; kind++)
        assert_int_equal(t->damage[kind].count, 0);
}

static void keys_stand_before_and_behind_the_list(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{" HEADER ", \"traceEvents\": [" EVENTS "]}",
        "{\"traceEvents\": [" EVENTS "], " HEADER "}",
        " \n{\"traceEvents\": [" EVENTS "], " HEADER "}\n\n",
        "\xef\xbb\xbf{" HEADER ", \"traceEvents\": [" EVENTS "]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct text_trace r;
        struct trace *t = text_trace_of(texts[i], &r);
        check_header(t);
        check_events(t);
        text_trace_free(&r);
    }
}

static void a_list_alone_is_a_trace(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = text_trace_of("[" EVENTS "]", &r);
    assert_true(t->header.is_array);
    assert_int_equal(t->header.base_ns, TRACE_UNKNOWN);
    assert_int_equal(t->header.rank, TRACE_UNKNOWN);
    assert_int_equal(t->devices.rows.len, 0);
    check_events(t);
    text_trace_free(&r);
}

static void the_last_of_two_lists_stands(void **state)
{
    (void)state;
    struct text_trace once, twice;
    struct trace *t = text_trace_of("{\"traceEvents\": [" EVENTS "], " HEADER "}", &once);
    struct trace *u = text_trace_of(
        "{\"traceEvents\": [{\"ph\": \"X\", \"pid\": 55, \"ts\": \"5\", \"dur\": -1}, {\"ph\": "
        "\"X\"}, 5, "
        "{\"ph\": \"s\", \"ts\": 1}, {\"ph\": \"i\", \"name\": \"[memory]\", \"ts\": 1}, "
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": \"old\"}}, "
        "{\"name\": \"[OutOfMemory]\"}], \"traceEvents\": [" EVENTS "], " HEADER "}",
        &twice);
    check_events(u);
    check_header(u);
    assert_int_equal(u->flows.rows.len, 0);
    assert_int_equal(u->memory.rows.len, 0);
    assert_int_equal(u->phases.rows.len, 1);
    assert_int_equal(u->header.out_of_memory, 0);
    assert_int_equal(u->header.times_integer, 1);
    assert_int_equal(u->header.times_other, 1);
    assert_int_equal(u->header.times_missing, 0);
    assert_int_equal(u->tracks.rows.len, t->tracks.rows.len);
    assert_int_equal(u->processes.rows.len, t->processes.rows.len);
    assert_int_equal(u->processes.name[1], 0);
    text_trace_free(&once);
    text_trace_free(&twice);
}

static void of_equal_keys_of_the_file_the_last_stands(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = text_trace_of(
        "{\"deviceProperties\": [{\"id\": 5}, {\"id\": 6}], \"distributedInfo\": {\"rank\": 1, "
        "\"backend\": \"mpi\"}, \"with_stack\": 1, \"with_stack\": 0, \"deviceProperties\": "
        "[{\"id\": 7}], "
        "\"baseTimeNanoseconds\": 1, \"baseTimeNanoseconds\": 2, \"distributedInfo\": "
        "{\"world_size\": 2}, "
        "\"traceEvents\": [{}]}",
        &r);
    assert_int_equal(t->devices.rows.len, 1);
    assert_int_equal(t->devices.number[0], 7);
    assert_int_equal(t->header.flags, 0);
    assert_int_equal(t->header.base_ns, 2);
    assert_int_equal(t->header.rank, TRACE_UNKNOWN);
    assert_int_equal(t->header.world_size, 2);
    assert_int_equal(t->header.backend, 0);
    text_trace_free(&r);
}

static void what_means_nothing_is_read_over(void **state)
{
    (void)state;
    struct text_trace r;
    struct trace *t = text_trace_of(
        "{\"deviceProperties\": {\"id\": 1}, \"distributedInfo\": [{\"rank\": 1}], \"x\": "
        "[[[{\"ph\": "
        "\"X\"}]]], \"traceEvents\": {\"ph\": \"X\"}, \"traceEvents\": [null, 5, \"text\", "
        "[{\"ph\": \"X\", "
        "\"ts\": 1}], {\"ph\": \"X\", \"ts\": 1, \"sub\": {\"ts\": 2, \"args\": {\"bytes\": 1}}, "
        "\"args\": "
        "{\"deep\": {\"bytes\": 5}, \"list\": [{\"bytes\": 6}], \"args\": {\"bytes\": 7}}}]}",
        &r);
    assert_int_equal(t->events, 1);
    assert_int_equal(t->spans.start[0], 1000);
    assert_int_equal(t->spans.bytes[0], TRACE_UNKNOWN);
    assert_int_equal(t->devices.rows.len, 0);
    assert_int_equal(t->header.rank, TRACE_UNKNOWN);
    assert_int_equal(t->damage[DAMAGE_NOT_AN_EVENT].count, 4);
    text_trace_free(&r);
}

static void check_refused(const char *text, enum vrs_status status, const char *says)
{
    for (size_t step = 0; step < 3; step++) {
        struct text_trace r;
        text_trace_read(text, strlen(text), step, &default_limits, &r);
        if (r.status != status || strstr(r.err.message, says) == NULL)
            fail_msg("%s: status %d: %s", text, (int)r.status, r.err.message);
        text_trace_free(&r);
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    (void)state;
    check_refused("{\"traceEvents\": []}", VRS_UNSUPPORTED, "a trace without an event");
    check_refused("[[], 5]", VRS_UNSUPPORTED, "a list without an event");
    check_refused("{\"a\": [{\"ph\": \"X\"}]}", VRS_UNSUPPORTED, "without a list of events");
    check_refused("{\"traceEvents\": 5}", VRS_UNSUPPORTED, "without a list of events");
    check_refused("{\"traceEvents\": [{}], \"traceEvents\": null}", VRS_UNSUPPORTED,
                  "without a list of events");
    check_refused("{\"segments\": [{\"address\": 1}], \"device_traces\": [[]]}", VRS_UNSUPPORTED,
                  "a memory snapshot");
    check_refused("{\"device_traces\": [[]], \"traceEvents\": []}", VRS_UNSUPPORTED,
                  "a memory snapshot");
    check_refused("{\"traceEvents\": [{\"ph\": \"X\"", VRS_CORRUPT, "before the first whole event");
    check_refused("{\"with_stack\": 1, ", VRS_CORRUPT, "before the first whole event");
    check_refused("{\"with_stack\": 01, \"device_traces\": [{}]}", VRS_CORRUPT, "not a number");
    check_refused("[1, 2 x, 3]", VRS_CORRUPT, "JSON with x where a comma");
    check_refused("{\"traceEvents\": [{\"ph\" \"X\"}]}", VRS_CORRUPT, "a colon");
    check_refused("\x80\x02}q\1.", VRS_UNSUPPORTED, "a pickle");
    check_refused("<html></html>", VRS_UNSUPPORTED, "a page");
    check_refused("hello there", VRS_UNSUPPORTED, "text that is neither");
    check_refused("", VRS_CORRUPT, "empty: the program");
}

static void limits_hold(void **state)
{
    (void)state;
    struct limits limits = default_limits;
    limits.items = 1;
    struct text_trace r;
    static const char text[] = "[" EVENTS "]";
    text_trace_read(text, sizeof text - 1, 0, &limits, &r);
    assert_int_equal(r.status, VRS_LIMIT);
    assert_non_null(strstr(r.err.message, "--limit items"));
    limits = default_limits;
    limits.strings_bytes = 40;
    text_trace_read(text, sizeof text - 1, 0, &limits, &r);
    assert_int_equal(r.status, VRS_LIMIT);
    assert_non_null(strstr(r.err.message, "--limit strings"));
}

/* Some thousand events, longer than a window. */
static struct buf many_events(void)
{
    struct buf b;
    buf_init(&b, 8 << 20);
    buf_text(&b, "{\"traceEvents\": [");
    for (int i = 0; i < 3000; i++)
        buf_format(
            &b,
            "%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"n\\t%d\", \"pid\": 1, \"tid\": %d, "
            "\"ts\": %d.%03d, \"dur\": %d, \"args\": {\"External id\": %d, \"Call stack\": "
            "\"a;b;c\\\\d\", \"Input Dims\": [[1, 2], []]}}",
            i > 0 ? ",\n " : "", i % 700, i % 5, i * 3, i % 1000, i % 90, i);
    buf_text(&b, "], " HEADER "}");
    assert_false(b.failed);
    return b;
}

static void any_portion_of_bytes_reads_the_same(void **state)
{
    (void)state;
    struct buf text = many_events();
    struct text_trace whole;
    text_trace_read(text.at, text.len, 0, &default_limits, &whole);
    assert_int_equal(whole.status, VRS_OK);
    assert_int_equal(whole.trace.events, 3000);
    assert_int_equal(whole.trace.read_bytes, text.len);
    for (size_t step = 64; step <= (4u << 20); step *= 2) {
        struct text_trace r;
        text_trace_read(text.at, text.len, step, &default_limits, &r);
        if (r.status != VRS_OK || !trace_same(&whole.trace, &r.trace))
            fail_msg("portions of %zu bytes read differently", step);
        text_trace_free(&r);
    }
    text_trace_free(&whole);
    buf_free(&text);
}

static enum vrs_status read_small(void *arg)
{
    (void)arg;
    static const char text[] =
        "{" HEADER ", \"traceEvents\": [" EVENTS
        ", {\"ph\": \"i\", \"name\": \"[memory]\", \"ts\": 1}, {\"ph\": \"s\", \"ts\": 1, "
        "\"id\": \"a\\u00e4\"}, {\"ph\": \"M\", \"name\": \"process_name\"}], "
        "\"traceEvents\": [" EVENTS "]}";
    struct text_trace r;
    text_trace_read(text, sizeof text - 1, 5, &default_limits, &r);
    if (r.status == VRS_OK)
        check_events(&r.trace);
    text_trace_free(&r);
    return r.status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(read_small, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_stand_before_and_behind_the_list),
        cmocka_unit_test(a_list_alone_is_a_trace),
        cmocka_unit_test(the_last_of_two_lists_stands),
        cmocka_unit_test(of_equal_keys_of_the_file_the_last_stands),
        cmocka_unit_test(what_means_nothing_is_read_over),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(any_portion_of_bytes_reads_the_same),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
