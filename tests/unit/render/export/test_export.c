/* test_export.c - the call: words that make no sense, sinks that refuse, memory that ends. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "made/fault.h"
#include "vramscope/snapshot.h"

static const char recording_text[] =
    "{\"vramscope\": {\"schema\": \"vramscope.extra/1\", \"names\": {\"tensors\": [{\"device\": 0,"
    " \"address\": 4096, \"bytes\": 800, \"name\": \"=w\", \"dtype\": \"int8\", \"shape\": "
    "[800]}]}},"
    " \"segments\": [{\"address\": 4096, \"total_size\": 2097152, \"stream\": 0, \"device\": 0,"
    " \"segment_type\": \"small\", \"blocks\": [{\"address\": 4096, \"size\": 1024,"
    " \"requested_size\": 800, \"state\": \"active_allocated\", \"frames\":"
    " [{\"name\": \"f;\", \"filename\": \"=a,b.py\", \"line\": 3}]},"
    " {\"address\": 5120, \"size\": 2096128, \"state\": \"inactive\"}]}],"
    " \"device_traces\": [[{\"action\": \"alloc\", \"addr\": 4096, \"size\": 800, \"stream\": 0,"
    " \"time_us\": 7, \"frames\": [{\"name\": \"f;\", \"filename\": \"=a,b.py\", \"line\": 3}]},"
    " {\"action\": \"oom\", \"size\": 900, \"device_free\": 5, \"stream\": 0, \"time_us\": 7}]],"
    " \"external_annotations\": [{\"name\": \"step\", \"stage\": \"START\", \"device\": 0,"
    " \"time_us\": 6}, {\"name\": \"step\", \"stage\": \"END\", \"device\": 0, \"time_us\": 9}]}";

static const char *const formats[] = {
    "csv", "json", "folded", "speedscope", "pprof", "perfetto", "sqlite",
};
enum { FORMATS = sizeof formats / sizeof *formats };

struct taken {
    char at[1 << 16];
    size_t len, most;
};

/* Of the recording so much is read; the cut lies in its annotations. */
enum { WHOLE = sizeof recording_text - 1, CUT_AT = WHOLE - 40 };
static size_t recording_len = WHOLE;

static bool take(void *arg, const char *bytes, size_t len)
{
    struct taken *t = arg;
    if (t->len + len > t->most)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    return true;
}

static enum vrs_status open_text(struct vrs_file **ret, const struct vrs_recording **recording)
{
    enum vrs_status status =
        vrs_open_bytes(recording_text, recording_len, "run.json", NULL, ret, NULL);
    return status == VRS_OK ? vrs_recording(*ret, 0, recording, NULL) : status;
}

static bool is_sqlite(const char *format)
{
    return strcmp(format, "sqlite") == 0;
}

static int notes;

/* The note of vrs_export_options. */
static void count_note(void *arg, const char *text)
{
    assert_non_null(strstr(text, "run.json: INCOMPLETE: cut at byte "));
    ++*(int *)arg;
}

static enum vrs_status whole_way(const char *format, const char *database, struct taken *t,
                                 struct vrs_error *err)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_export_options o = {
        .size = sizeof o, .to = format, .database = database, .note = count_note, .note_arg = &notes
    };
    struct vrs_sink sink = { take, t };
    enum vrs_status status = open_text(&file, &recording);
    if (status == VRS_OK)
        status = vrs_export(recording, &o, &sink, err);
    vrs_close(file);
    return status;
}

static bool built_in(const char *format)
{
    struct vrs_export_options o = { .size = sizeof o, .to = format };
    return vrs_export_check(&o, NULL) != VRS_UNSUPPORTED;
}

static void words_are_checked(void **state)
{
    (void)state;
    static const char *const table[] = { "events", "blocks" }, *const nothing[] = { "nothing" };
    const struct vrs_export_options wrong[] = {
        { .to = NULL },
        { .to = "xml" },
        { .to = "csv", .table = table, .tables = 2 },
        { .to = "json", .table = nothing, .tables = 1 },
        { .to = "folded", .table = table, .tables = 1 },
        { .to = "csv", .at = "peak" },
        { .to = "folded", .at = "later" },
        { .to = "folded", .weight = "kilograms" },
        { .to = "pprof", .weight = "bytes" },
        { .to = "speedscope", .inverse = true },
    };
    struct vrs_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vrs_export_options o = wrong[i];
        o.size = sizeof o;
        assert_int_equal(vrs_export_check(&o, &err), VRS_USAGE);
        assert_true(err.message[0] != '\0');
    }
    struct vrs_export_options good = {
        .size = sizeof good, .to = "json", .table = table, .tables = 2
    };
    assert_int_equal(vrs_export_check(&good, NULL), VRS_OK);
    assert_true(vrs_export_is_binary("pprof") && !vrs_export_is_binary("csv"));
    assert_false(vrs_export_is_binary("nothing"));
    assert_int_equal(vrs_export_ready("perfetto", &err), VRS_OK);
    assert_int_equal(vrs_export_ready("nothing", &err), VRS_USAGE);
    assert_int_equal(vrs_export_ready(NULL, &err), VRS_USAGE);
    if (!built_in("sqlite"))
        assert_int_equal(vrs_export_ready("sqlite", &err), VRS_UNSUPPORTED);
    static struct taken t = { .most = sizeof t.at };
    assert_int_equal(whole_way("csv", "x.db", &t, &err), VRS_USAGE);
    if (built_in("sqlite"))
        assert_int_equal(whole_way("sqlite", NULL, &t, &err), VRS_USAGE);
}

static void csv_is_text_alone(void **state)
{
    (void)state;
    static const char *const table[] = { "frames" };
    static struct taken t = { .most = sizeof t.at };
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_sink sink = { take, &t };
    struct vrs_export_options o = { .size = sizeof o, .to = "csv", .table = table, .tables = 1 };
    assert_int_equal(open_text(&file, &recording), VRS_OK);
    assert_int_equal(vrs_export(recording, &o, &sink, NULL), VRS_OK);
    t.at[t.len] = '\0';
    assert_string_equal(t.at, "frame,function,file,line,class\r\n1,f;,\"'=a,b.py\",3,user\r\n");
    vrs_close(file);
}

static void a_sink_that_refuses_is_an_error(void **state)
{
    (void)state;
    static struct taken t = { .most = 10 };
    struct vrs_error err;
    for (int i = 0; i < FORMATS; i++) {
        if (is_sqlite(formats[i]))
            continue;
        t.len = 0;
        assert_int_equal(whole_way(formats[i], NULL, &t, &err), VRS_IO);
        assert_true(t.len <= 10);
    }
}

/* A database of its own for each turn; the path of a new file. */
static const char *fresh(char *path)
{
    snprintf(path, 64, "/tmp/vramscope-export-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return path;
}

static void a_database_that_holds_something_is_left_alone(void **state)
{
    (void)state;
    static struct taken t = { .most = sizeof t.at };
    char path[64];
    struct vrs_error err;
    if (!built_in("sqlite"))
        return;
    fresh(path);
    assert_int_equal(whole_way("sqlite", path, &t, &err), VRS_OK);
    assert_int_equal(whole_way("sqlite", path, &t, &err), VRS_USAGE);
    unlink(path);
    assert_int_equal(whole_way("sqlite", "/nowhere/x.db", &t, &err), VRS_IO);
}

static void one_is_told_what_the_format_cannot_say(void **state)
{
    (void)state;
    static struct taken t = { .most = sizeof t.at };
    for (int i = 0; i < FORMATS; i++) {
        bool bare = strcmp(formats[i], "csv") == 0 || strcmp(formats[i], "folded") == 0;
        if (is_sqlite(formats[i]))
            continue;
        for (int cut = 0; cut < 2; cut++) {
            recording_len = cut ? CUT_AT : WHOLE;
            notes = 0;
            t.len = 0;
            assert_int_equal(whole_way(formats[i], NULL, &t, NULL), VRS_OK);
            assert_int_equal(notes, cut && bare);
        }
    }
    recording_len = WHOLE;
}

static void every_allocation_may_fail(size_t len)
{
    recording_len = len;
    static struct taken whole = { .most = sizeof whole.at }, t = { .most = sizeof t.at };
    char path[64];
    for (int i = 0; i < FORMATS; i++) {
        const char *to = formats[i];
        bool file = is_sqlite(to);
        if (!built_in(to))
            continue;
        whole.len = 0;
        assert_int_equal(whole_way(to, file ? fresh(path) : NULL, &whole, NULL), VRS_OK);
        if (file)
            unlink(path);
        for (long n = 0;; n++) {
            t.len = 0;
            const char *database = file ? fresh(path) : NULL;
            fault_left = n;
            enum vrs_status status = whole_way(to, database, &t, NULL);
            bool fired = fault_left < 0;
            fault_left = -1;
            if (file)
                unlink(path);
            assert_true(status == VRS_OK || (fired && status == VRS_NOMEM));
            if (status == VRS_OK) {
                assert_int_equal(t.len, whole.len);
                assert_memory_equal(t.at, whole.at, whole.len);
            }
            if (!fired)
                break;
        }
    }
}

static void every_allocation_of_a_whole_one_may_fail(void **state)
{
    (void)state;
    every_allocation_may_fail(WHOLE);
}

static void every_allocation_of_a_cut_one_may_fail(void **state)
{
    (void)state;
    every_allocation_may_fail(CUT_AT);
    recording_len = WHOLE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_checked),
        cmocka_unit_test(csv_is_text_alone),
        cmocka_unit_test(a_sink_that_refuses_is_an_error),
        cmocka_unit_test(a_database_that_holds_something_is_left_alone),
        cmocka_unit_test(one_is_told_what_the_format_cannot_say),
        cmocka_unit_test(every_allocation_of_a_whole_one_may_fail),
        cmocka_unit_test(every_allocation_of_a_cut_one_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
