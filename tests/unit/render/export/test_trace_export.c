/* test_trace_export.c - exports of a trace: words, sinks that refuse, memory that ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made/fault.h"
#include "vramscope/trace.h"
#include "vramscope/vramscope.h"

static const char trace_text[] =
    "[{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"a.py(3): f\", \"pid\": 1, \"tid\": 1,"
    " \"ts\": 0, \"dur\": 9},"
    " {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"r\", \"pid\": 1, \"tid\": 1, \"ts\": 0,"
    " \"dur\": 9},"
    " {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", \"pid\": 1, \"tid\": 2, \"ts\": 1,"
    " \"dur\": 2, \"args\": {\"correlation\": 4}},"
    " {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k;\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 3,"
    " \"args\": {\"correlation\": 4}},"
    " {\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": 2, \"args\": {\"Bytes\": 8,"
    " \"Device Type\": 1, \"Device Id\": 0}}]";
enum { WHOLE = sizeof trace_text - 1, CUT_AT = WHOLE - 4 };

static const char *const formats[] = {
    "csv", "folded", "speedscope", "pprof", "html", "chrome", "perfetto", "sqlite",
};
enum { FORMATS = sizeof formats / sizeof *formats };

struct taken {
    char at[1 << 16];
    size_t len, most;
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct taken *t = arg;
    if (t->len + len > t->most)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    return true;
}

static void count_note(void *arg, const char *text)
{
    assert_non_null(strstr(text, "run.json: INCOMPLETE: the file ends too early, at byte "));
    ++*(int *)arg;
}

static bool is_sqlite(const char *format)
{
    return strcmp(format, "sqlite") == 0;
}

static enum vrs_status export_part(const char *format, size_t len, const char *database,
                                   struct taken *t, int *notes, struct vrs_error *err)
{
    struct vrs_trace *trace = NULL;
    struct vrs_trace_export_options o = { .size = sizeof o, .to = format, .database = database,
                                          .note = count_note, .note_arg = notes };
    struct vrs_sink sink = { take, t };
    enum vrs_status status = vrs_open_trace_bytes(trace_text, len, "run.json", NULL, &trace, err);
    if (status == VRS_OK)
        status = vrs_trace_export(trace, &o, &sink, err);
    vrs_close_trace(trace);
    return status;
}

static void words_are_checked(void **state)
{
    (void)state;
    const struct vrs_trace_export_options wrong[] = {
        { .to = NULL },
        { .to = "json" },
        { .to = "csv", .table = "allocations" },
        { .to = "folded", .table = "spans" },
        { .to = "folded", .weight = "count" },
        { .to = "csv", .weight = "host" },
        { .to = "pprof", .inverse = true },
        { .to = "html", .table = "paths" },
    };
    struct vrs_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vrs_trace_export_options o = wrong[i];
        o.size = sizeof o;
        assert_int_equal(vrs_trace_export_check(&o, &err), VRS_USAGE);
        assert_true(err.message[0] != '\0');
    }
    struct vrs_trace_export_options good = { .size = sizeof good, .to = "csv", .table = "paths" };
    assert_int_equal(vrs_trace_export_check(&good, NULL), VRS_OK);
    static struct taken t = { .most = sizeof t.at };
    assert_int_equal(export_part("csv", WHOLE, "x.db", &t, NULL, &err), VRS_USAGE);
}

static void a_sink_that_refuses_is_an_error(void **state)
{
    (void)state;
    static struct taken t = { .most = 10 };
    struct vrs_error err;
    for (int i = 0; i < FORMATS; i++) {
        t.len = 0;
        if (!is_sqlite(formats[i]))
            assert_int_equal(export_part(formats[i], WHOLE, NULL, &t, NULL, &err), VRS_IO);
        assert_true(t.len <= 10);
    }
}

/* Who has no place for it in the format is told. */
static void a_cut_trace_says_so(void **state)
{
    (void)state;
    static struct taken t = { .most = sizeof t.at };
    for (int i = 0; i < FORMATS; i++) {
        int notes = 0;
        bool is_told = strcmp(formats[i], "pprof") != 0 && strcmp(formats[i], "speedscope") != 0 &&
                       strcmp(formats[i], "html") != 0;
        t.len = 0;
        if (is_sqlite(formats[i]))
            continue;
        assert_int_equal(export_part(formats[i], CUT_AT, NULL, &t, &notes, NULL), VRS_OK);
        assert_int_equal(notes, is_told);
        assert_int_equal(export_part(formats[i], WHOLE, NULL, &t, &notes, NULL), VRS_OK);
        assert_int_equal(notes, is_told);
    }
}

static struct vrs_trace *opened;

static enum vrs_status export_one(void *arg)
{
    static struct taken t = { .most = sizeof t.at };
    struct vrs_trace_export_options o = { .size = sizeof o, .to = arg };
    struct vrs_sink sink = { take, &t };
    t.len = 0;
    return vrs_trace_export(opened, &o, &sink, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(vrs_open_trace_bytes(trace_text, WHOLE, "run.json", NULL, &opened, NULL),
                     VRS_OK);
    for (int i = 0; i < FORMATS; i++) {
        char format[16];
        (void)snprintf(format, sizeof format, "%s", formats[i]);
        if (!is_sqlite(format))
            fault_each(export_one, NULL, format);
    }
    vrs_close_trace(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_checked),
        cmocka_unit_test(a_sink_that_refuses_is_an_error),
        cmocka_unit_test(a_cut_trace_says_so),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
