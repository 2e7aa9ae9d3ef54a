#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vramscope/snapshot.h>

#include <cmocka.h>

#include "made/fault.h"

/* Two tensors of one line; the second request fails. */
static const char recording_text[] =
    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152,"
    " \"allocated_size\": 1024, \"active_size\": 1024, \"requested_size\": 1000, \"stream\": 0,"
    " \"segment_type\": \"small\", \"blocks\": ["
    "{\"address\": 4096, \"size\": 1024, \"requested_size\": 1000,"
    " \"state\": \"active_allocated\", \"frames\": []},"
    "{\"address\": 5120, \"size\": 2096128, \"requested_size\": 0, \"state\": \"inactive\","
    " \"frames\": []}]}],"
    "\"device_traces\": [["
    "{\"action\": \"segment_alloc\", \"addr\": 4096, \"size\": 2097152, \"stream\": 0,"
    " \"time_us\": 10, \"frames\": []},"
    "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 1000, \"stream\": 0, \"time_us\": 11,"
    " \"frames\": [{\"name\": \"forward\", \"filename\": \"/home/user/model.py\", \"line\": 7}]},"
    "{\"action\": \"oom\", \"device_free\": 512, \"size\": 8192, \"stream\": 0, \"time_us\": 12,"
    " \"frames\": []}]], \"external_annotations\": ["
    "{\"name\": \"part\", \"stage\": \"START\", \"device\": 0, \"time_us\": 11},"
    "{\"name\": \"part\", \"stage\": \"END\", \"device\": 0, \"time_us\": 12}]}";

struct sink_text {
    char at[1 << 16];
    size_t len, room; /* `room` of 0: all of it */
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct sink_text *t = arg;
    size_t room = t->room == 0 ? sizeof t->at - 1 : t->room;
    if (len > room - t->len)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return true;
}

/* All of what is written of a result. */
static void write_all(const struct vrs_result *result, enum vrs_format format,
                      struct sink_text *text)
{
    struct vrs_sink sink = { take, text };
    struct vrs_write_options options = { .size = sizeof options, .format = format };
    text->len = 0;
    assert_int_equal(vrs_write(result, &options, &sink, NULL), VRS_OK);
}

static struct vrs_file *opened(const struct vrs_recording **ret)
{
    struct vrs_file *file = NULL;
    struct vrs_error err = { .message = "" };
    enum vrs_status status =
        vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", NULL, &file, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(status, VRS_OK);
    assert_int_equal(vrs_recording(file, 0, ret, NULL), VRS_OK);
    return file;
}

static void results_outlive_the_file(void **state)
{
    (void)state;
    static struct sink_text text;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_result *result = NULL;
    assert_int_equal(vrs_report(recording, NULL, &result, NULL), VRS_OK);
    vrs_close(file);
    struct vrs_sink sink = { take, &text };
    struct vrs_write_options options = { .size = sizeof options, .format = VRS_JSON };
    text.len = 0;
    assert_int_equal(vrs_write(result, &options, &sink, NULL), VRS_OK);
    assert_non_null(strstr(text.at, "\"schema\": \"vramscope.report/1\""));
    assert_non_null(strstr(text.at, "\"path\": \"run.json\""));
    assert_non_null(strstr(text.at, "\"requested\": { \"start_bytes\": 0, \"peak_bytes\": 1000, "
                                    "\"peak_event\": 1, \"peak_last_event\": 2, "
                                    "\"end_bytes\": 1000, \"exact\": true }"));
    assert_non_null(strstr(text.at, "\"oom_events\": 1"));
    vrs_result_free(result);
}

static void a_merge_keeps_nothing_of_its_parts(void **state)
{
    (void)state;
    static struct sink_text alone, joined;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_result *part[2] = { NULL, NULL }, *set = NULL, *other = NULL;
    for (int i = 0; i < 2; i++)
        assert_int_equal(vrs_peak(recording, NULL, &part[i], NULL), VRS_OK);
    struct vrs_sink sink = { take, &alone };
    struct vrs_write_options options = { .size = sizeof options, .stacks = true };
    alone.len = joined.len = 0;
    assert_int_equal(vrs_write(part[0], &options, &sink, NULL), VRS_OK);
    const struct vrs_result *const parts[] = { part[0], part[1] };
    assert_int_equal(vrs_merge(parts, 2, &set, NULL), VRS_OK);

    struct vrs_error err = { .message = "" };
    assert_int_equal(vrs_report(recording, NULL, &other, NULL), VRS_OK);
    const struct vrs_result *const mixed[] = { part[0], other };
    assert_int_equal(vrs_merge(mixed, 2, &set, &err), VRS_USAGE);
    assert_int_equal(vrs_merge(parts, 0, &set, &err), VRS_USAGE);

    vrs_close(file);
    vrs_result_free(part[0]);
    vrs_result_free(part[1]);
    vrs_result_free(other);
    sink.arg = &joined;
    assert_int_equal(vrs_write(set, &options, &sink, NULL), VRS_OK);
    alone.at[alone.len] = '\0';
    assert_non_null(strstr(joined.at, alone.at)); /* behind a line for each */
    assert_non_null(strstr(joined.at, "/home/user/model.py:7 forward"));
    vrs_result_free(set);
}

static void an_unread_file_is_told_of_beside_reports(void **state)
{
    (void)state;
    static struct sink_text text;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_error why = { .message = "it is \xff broken" };
    struct vrs_result *report = NULL, *unread = NULL, *none = NULL, *set = NULL;
    struct vrs_report_options part = { .size = sizeof part, .part = true };
    assert_int_equal(vrs_report(recording, &part, &report, NULL), VRS_OK);
    assert_int_equal(vrs_report_unread("bad.json", &why, &unread, NULL), VRS_OK);
    /* Alone it is a set of none. */
    write_all(unread, VRS_TEXT, &text);
    assert_string_equal(text.at, "NOT READ bad.json: it is \xef\xbf\xbd broken\n");
    const struct vrs_result *const parts[] = { unread, report };
    assert_int_equal(vrs_merge(parts, 1, &none, NULL), VRS_OK);
    assert_int_equal(vrs_merge(parts, 2, &set, NULL), VRS_OK);
    vrs_close(file);
    vrs_result_free(report);
    vrs_result_free(unread);
    write_all(none, VRS_JSON, &text);
    assert_non_null(strstr(text.at, "\"files\": [],"));
    assert_non_null(strstr(text.at, "\"path\": \"bad.json\""));
    write_all(set, VRS_TEXT, &text);
    assert_non_null(strstr(text.at, "\nrun.json"));
    assert_non_null(strstr(text.at, "\nNOT READ bad.json: it is"));
    assert_non_null(strstr(text.at, "(1 device;"));
    vrs_result_free(none);
    vrs_result_free(set);
}

/* What run.json says, as a result. */
static struct vrs_result *run_of(const char *text)
{
    char path[] = "/tmp/vramscope-api-XXXXXX";
    struct vrs_result *run = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
    assert_int_equal(vrs_report_run(path, &run, NULL), VRS_OK);
    assert_int_equal(unlink(path), 0);
    return run;
}

/* The report of rank 1. */
static struct vrs_result *rank_1(void)
{
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_report_options part = { .size = sizeof part, .part = true, .rank = 2 };
    struct vrs_result *report = NULL;
    assert_int_equal(vrs_report(recording, &part, &report, NULL), VRS_OK);
    vrs_close(file);
    return report;
}

/* Joins two, frees them. */
static struct vrs_result *joined(struct vrs_result *a, struct vrs_result *b)
{
    const struct vrs_result *const parts[] = { a, b };
    struct vrs_result *set = NULL;
    assert_int_equal(vrs_merge(parts, 2, &set, NULL), VRS_OK);
    vrs_result_free(a);
    vrs_result_free(b);
    return set;
}

/* What a set tells, which goes. */
static void tells(struct vrs_result *set, const char *json, const char *words)
{
    static struct sink_text text;
    write_all(set, VRS_JSON, &text);
    if (json == NULL)
        assert_null(strstr(text.at, "missing_ranks"));
    else
        assert_non_null(strstr(text.at, json));
    write_all(set, VRS_TEXT, &text);
    if (words == NULL)
        assert_null(strstr(text.at, "missing  "));
    else
        assert_non_null(strstr(text.at, words));
    vrs_result_free(set);
}

static void a_set_that_is_joined_again_names_the_missing_ranks(void **state)
{
    (void)state;
    static const char night[] = "{\"job\": \"night\", \"world_size\": 4, "
                                "\"missing_ranks\": [0, 1, 3]}";
    static const char later[] = "{\"job\": \"night\", \"world_size\": 4, "
                                "\"missing_ranks\": [1, 3]}";
    static const char other[] = "{\"job\": \"day\", \"world_size\": 4, \"missing_ranks\": []}";
    static const char larger[] = "{\"job\": \"night\", \"world_size\": 5}";
    static const char unknown[] = "{\"job\": \"day\", \"world_size\": null}";
    struct vrs_error why = { .message = "broken" };
    struct vrs_result *unread = NULL;

    tells(joined(run_of(night), rank_1()), "\"missing_ranks\": [0, 3]", " of ranks 0, 3 of 4");
    tells(joined(joined(run_of(night), rank_1()), rank_1()), "[0, 3]", " of ranks 0, 3 of 4");
    /* Those that a later set brings are there. */
    assert_int_equal(vrs_report_unread("rank3.pickle", &why, &unread, NULL), VRS_OK);
    struct vrs_result *first = joined(joined(unread, run_of(night)), rank_1());
    tells(joined(rank_1(), first), "[0]", "no snapshot of rank 0 of 4");
    /* Two readings of one job: what a rank once said stays said. */
    first = joined(run_of(night), rank_1());
    tells(joined(first, joined(run_of(later), rank_1())), "[3]", "no snapshot of rank 3 of 4");
    /* Who is of which of two jobs is not known, then and later. */
    first = joined(run_of(night), rank_1());
    first = joined(first, joined(run_of(other), rank_1()));
    tells(joined(first, rank_1()), NULL,
          "missing  not known: these are files of several jobs, or of several starts of one");
    first = joined(run_of(night), rank_1());
    tells(joined(first, run_of(larger)), NULL, "missing  not known");
    first = joined(run_of(night), rank_1());
    tells(joined(first, run_of(unknown)), "[0, 3]", " of ranks 0, 3 of 4");
}

static void columns_are_found_by_name(void **state)
{
    (void)state;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_span span;
    struct vrs_error err;
    assert_int_equal(vrs_column(recording, "events.size", &span, &err), VRS_OK);
    assert_int_equal(span.type, VRS_U64);
    assert_int_equal(span.count, 3);
    assert_int_equal(((const uint64_t *)span.data)[1], 1000);
    assert_int_equal(vrs_column(recording, "events.nothing", &span, &err), VRS_USAGE);
    assert_int_equal(vrs_column(recording, "events", &span, &err), VRS_USAGE);
    uint32_t i = 0;
    for (; vrs_column_name(i) != NULL; i++) {
        char name[128] = "";
        size_t table = strlen(vrs_column_table(i)), column = strlen(vrs_column_name(i));
        assert_true(table + column + 2 < sizeof name);
        memcpy(name, vrs_column_table(i), table);
        name[table] = '.';
        memcpy(name + table + 1, vrs_column_name(i), column);
        assert_int_equal(vrs_column(recording, name, &span, &err), VRS_OK);
    }
    assert_true(i > 50);
    assert_null(vrs_column_table(i));
    vrs_close(file);
}

static void check_block_sizes(enum vrs_replay_when when, uint64_t rows)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording;
    struct vrs_open_options options = { .size = sizeof options, .replay = when };
    struct vrs_span bytes, source;
    assert_int_equal(vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", &options,
                                    &file, NULL),
                     VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &recording, NULL), VRS_OK);
    assert_int_equal(vrs_column(recording, "block_sizes.bytes", &bytes, NULL), VRS_OK);
    assert_int_equal(vrs_column(recording, "block_sizes.source", &source, NULL), VRS_OK);
    assert_int_equal(bytes.type, VRS_U64);
    assert_int_equal(source.type, VRS_U8);
    assert_int_equal(bytes.count, rows);
    assert_int_equal(source.count, rows);
    for (uint64_t i = 0; i < rows; i++) {
        assert_int_equal(((const uint64_t *)bytes.data)[i], 1024);
        assert_int_equal(((const uint8_t *)source.data)[i], 0);
    }
    vrs_close(file);
}

static void block_sizes_depend_on_the_replay(void **state)
{
    (void)state;
    check_block_sizes(VRS_REPLAY_AUTO, 1);
    check_block_sizes(VRS_REPLAY_ALWAYS, 1);
    check_block_sizes(VRS_REPLAY_NEVER, 0);
}

/* Working sizes out takes memory; where their columns are empty none of that is done. */
static void empty_columns_take_no_memory(void **state)
{
    (void)state;
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording;
    struct vrs_open_options never = { .size = sizeof never, .replay = VRS_REPLAY_NEVER };
    struct vrs_span bytes;
    assert_int_equal(
        vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", &never, &file, NULL),
        VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &recording, NULL), VRS_OK);
    fault_left = 0;
    enum vrs_status status = vrs_column(recording, "block_sizes.bytes", &bytes, NULL);
    fault_left = -1;
    assert_int_equal(status, VRS_OK);
    assert_int_equal(bytes.count, 0);
    vrs_close(file);
}

enum { ASKERS = 6 };

struct asked {
    const struct vrs_recording *recording;
    struct vrs_result *result[ASKERS];
    enum vrs_status status[ASKERS];
};

static void ask_report(void *arg, uint32_t i)
{
    struct asked *a = arg;
    struct vrs_span span;
    a->status[i] = vrs_report(a->recording, NULL, &a->result[i], NULL);
    if (a->status[i] == VRS_OK)
        a->status[i] = vrs_column(a->recording, "block_sizes.bytes", &span, NULL);
}

/* What one thread alone answers, as JSON. */
static void answer_alone(struct sink_text *text)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording;
    struct vrs_result *result = NULL;
    struct vrs_open_options options = { .size = sizeof options, .threads = 1 };
    assert_int_equal(vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", &options,
                                    &file, NULL),
                     VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &recording, NULL), VRS_OK);
    assert_int_equal(vrs_report(recording, NULL, &result, NULL), VRS_OK);
    write_all(result, VRS_JSON, text);
    vrs_result_free(result);
    vrs_close(file);
}

/* The first of them replays the recording, and each uses threads of its own. */
static void one_recording_may_be_asked_by_many_threads(void **state)
{
    (void)state;
    static struct sink_text alone, text;
    struct vrs_file *file = NULL;
    struct asked a = { 0 };
    answer_alone(&alone);
    assert_true(alone.len > 0);
    assert_int_equal(
        vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", NULL, &file, NULL),
        VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &a.recording, NULL), VRS_OK);
    assert_int_equal(vrs_parallel(ASKERS, ASKERS, ask_report, NULL, &a, NULL), VRS_OK);
    for (int i = 0; i < ASKERS; i++) {
        assert_int_equal(a.status[i], VRS_OK);
        write_all(a.result[i], VRS_JSON, &text);
        assert_string_equal(text.at, alone.at);
        vrs_result_free(a.result[i]);
    }
    vrs_close(file);
}

/* None is below 0, and the lowest number of all is not one more than another. */
static void a_rank_below_none_is_none(void **state)
{
    (void)state;
    static const int64_t given[] = { 0, -1, INT64_MIN };
    static struct sink_text none, text;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct vrs_report_options options = { .size = sizeof options, .rank = given[i] };
        struct vrs_result *result[2] = { NULL, NULL }, *set = NULL;
        for (int k = 0; k < 2; k++)
            assert_int_equal(vrs_report(recording, &options, &result[k], NULL), VRS_OK);
        const struct vrs_result *const parts[] = { result[0], result[1] };
        assert_int_equal(vrs_merge(parts, 2, &set, NULL), VRS_OK);
        write_all(set, VRS_JSON, i == 0 ? &none : &text);
        if (i > 0)
            assert_string_equal(text.at, none.at);
        vrs_result_free(set);
        vrs_result_free(result[0]);
        vrs_result_free(result[1]);
    }
    assert_non_null(strstr(none.at, "\"rank\": 1"));
    vrs_close(file);
}

/* A caller of before has no `replay` in its options; they end before it. */
static void older_options_replay_as_well(void **state)
{
    (void)state;
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording;
    struct vrs_open_options options = { .size = offsetof(struct vrs_open_options, replay),
                                        .replay = VRS_REPLAY_NEVER };
    struct vrs_span span;
    assert_int_equal(vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", &options,
                                    &file, NULL),
                     VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &recording, NULL), VRS_OK);
    assert_int_equal(vrs_column(recording, "block_sizes.bytes", &span, NULL), VRS_OK);
    assert_int_equal(span.count, 1);
    vrs_close(file);
}

struct dribble {
    size_t at;
    bool fails;
};

/* A few bytes at a time, then the end or a failure. */
static int64_t dribble(void *arg, void *bytes, size_t len)
{
    struct dribble *d = arg;
    size_t left = sizeof recording_text - 1 - d->at, given = len < 100 ? len : 100;
    if (left == 0 && d->fails)
        return -1;
    given = given < left ? given : left;
    memcpy(bytes, recording_text + d->at, given);
    d->at += given;
    return (int64_t)given;
}

static void a_stream_is_read_like_a_file(void **state)
{
    (void)state;
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording;
    struct vrs_span span;
    struct vrs_error err;
    struct dribble whole = { .fails = false }, broken = { .fails = true };
    assert_int_equal(vrs_open_stream(dribble, &whole, "stream", NULL, &file, &err), VRS_OK);
    assert_int_equal(vrs_recording(file, 0, &recording, &err), VRS_OK);
    assert_int_equal(vrs_column(recording, "events.action", &span, &err), VRS_OK);
    assert_int_equal(span.count, 3);
    vrs_close(file);
    file = NULL;
    assert_int_equal(vrs_open_stream(dribble, &broken, "stream", NULL, &file, &err), VRS_IO);
    assert_null(file);
}

static void strings_are_found_by_id(void **state)
{
    (void)state;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_span names, offsets;
    size_t len = 1;
    assert_int_equal(vrs_column(recording, "frames.name", &names, NULL), VRS_OK);
    assert_int_equal(vrs_column(recording, "strings.offset", &offsets, NULL), VRS_OK);
    assert_int_equal(names.count, 2);
    const char *text = vrs_string(recording, ((const uint32_t *)names.data)[1], &len);
    assert_int_equal(len, 7);
    assert_memory_equal(text, "forward", 7);
    assert_non_null(vrs_string(recording, 0, &len));
    assert_int_equal(len, 0);
    assert_null(vrs_string(recording, (uint32_t)offsets.count, &len));
    vrs_close(file);
}

static void words_are_checked_without_a_recording(void **state)
{
    (void)state;
    struct vrs_error err;
    struct vrs_peak_options options = { .size = sizeof options, .at = "nonsense" };
    assert_int_equal(vrs_peak_check(&options, &err), VRS_USAGE);
    assert_non_null(strstr(err.message, "nonsense"));
    options.at = "oom:7";
    assert_int_equal(vrs_peak_check(&options, &err), VRS_OK);
    assert_int_equal(vrs_peak_check(NULL, NULL), VRS_OK);
}

static void check_peak_usage(const struct vrs_recording *recording, struct vrs_peak_options options,
                             const char *words)
{
    struct vrs_result *result = NULL;
    struct vrs_error err = { .message = "" };
    options.size = sizeof options;
    assert_int_equal(vrs_peak(recording, &options, &result, &err), VRS_USAGE);
    assert_null(result);
    if (strstr(err.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.message, words);
}

static void what_does_not_exist_is_usage(void **state)
{
    (void)state;
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_error err;
    check_peak_usage(recording, (struct vrs_peak_options){ .at = "nonsense" }, "nonsense");
    check_peak_usage(recording, (struct vrs_peak_options){ .at = "oom:2" }, "oom:2");
    check_peak_usage(recording, (struct vrs_peak_options){ .by = "colour" }, "colour");
    check_peak_usage(recording, (struct vrs_peak_options){ .key = "K9" }, "K9");
    check_peak_usage(recording, (struct vrs_peak_options){ .about.device = vrs_device_of(8) },
                     "no device 8");
    assert_int_equal(vrs_recording(file, 1, &recording, &err), VRS_USAGE);
    vrs_close(file);
    vrs_close(NULL);
    vrs_result_free(NULL);
    assert_int_equal(vrs_open("/nonexistent/run", NULL, &file, &err), VRS_IO);
}

static void a_sink_that_refuses_is_an_error(void **state)
{
    (void)state;
    static struct sink_text text = { .room = 10 };
    const struct vrs_recording *recording;
    struct vrs_file *file = opened(&recording);
    struct vrs_result *result = NULL;
    assert_int_equal(vrs_report(recording, NULL, &result, NULL), VRS_OK);
    struct vrs_sink sink = { take, &text };
    assert_int_equal(vrs_write(result, NULL, &sink, NULL), VRS_IO);
    vrs_result_free(result);
    vrs_close(file);
}

/* The whole way, from bytes to text of a set; frees whatever it got. */
static enum vrs_status whole_way(struct sink_text *text)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_result *report = NULL, *trust = NULL, *other = NULL, *peak = NULL, *set = NULL;
    struct vrs_result *unread = NULL;
    struct vrs_error why = { .message = "cannot be opened" };
    struct vrs_sink sink = { take, text };
    struct vrs_write_options json = { .size = sizeof json, .format = VRS_JSON };
    enum vrs_status status =
        vrs_open_bytes(recording_text, sizeof recording_text - 1, "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &recording, NULL);
    if (status == VRS_OK)
        status = vrs_report(recording, NULL, &report, NULL);
    struct vrs_report_options wanted = { .size = sizeof wanted, .trust = true };
    if (status == VRS_OK)
        status = vrs_report(recording, &wanted, &trust, NULL);
    wanted = (struct vrs_report_options){ .size = sizeof wanted, .part = true };
    if (status == VRS_OK)
        status = vrs_report(recording, &wanted, &other, NULL);
    if (status == VRS_OK)
        status = vrs_peak(recording, NULL, &peak, NULL);
    if (status == VRS_OK)
        status = vrs_report_unread("missing.json", &why, &unread, NULL);
    const struct vrs_result *const parts[] = { other, report, unread };
    if (status == VRS_OK)
        status = vrs_merge(parts, 3, &set, NULL);
    if (status == VRS_OK)
        status = vrs_write(trust, NULL, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(trust, &json, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(report, NULL, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(set, NULL, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(set, &json, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(peak, NULL, &sink, NULL);
    if (status == VRS_OK)
        status = vrs_write(peak, &json, &sink, NULL);
    vrs_result_free(set);
    vrs_result_free(unread);
    vrs_result_free(peak);
    vrs_result_free(other);
    vrs_result_free(trust);
    vrs_result_free(report);
    vrs_close(file);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct sink_text whole, text;
    assert_int_equal(whole_way(&whole), VRS_OK);
    for (long n = 0;; n++) {
        text.len = 0;
        fault_left = n;
        enum vrs_status status = whole_way(&text);
        bool fired = fault_left < 0;
        fault_left = -1;
        if (!fired) {
            assert_int_equal(status, VRS_OK);
            return;
        }
        /* Memory given back early is only a read, so some failures are survived. */
        assert_true(status == VRS_NOMEM || status == VRS_OK);
        if (status == VRS_OK)
            assert_string_equal(text.at, whole.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_checked_without_a_recording),
        cmocka_unit_test(results_outlive_the_file),
        cmocka_unit_test(a_merge_keeps_nothing_of_its_parts),
        cmocka_unit_test(an_unread_file_is_told_of_beside_reports),
        cmocka_unit_test(a_set_that_is_joined_again_names_the_missing_ranks),
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(block_sizes_depend_on_the_replay),
        cmocka_unit_test(empty_columns_take_no_memory),
        cmocka_unit_test(one_recording_may_be_asked_by_many_threads),
        cmocka_unit_test(a_rank_below_none_is_none),
        cmocka_unit_test(older_options_replay_as_well),
        cmocka_unit_test(a_stream_is_read_like_a_file),
        cmocka_unit_test(strings_are_found_by_id),
        cmocka_unit_test(what_does_not_exist_is_usage),
        cmocka_unit_test(a_sink_that_refuses_is_an_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
