/* Recordings written as snapshots: what is read of them again, and what stands in the bytes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/table.h"
#include "format/input/source.h"
#include "format/input/window.h"
#include "format/read.h"
#include "format/snapshot/build.h"
#include "made/fault.h"
#include "made/same.h"
#include "made/sample.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/pairing.h"
#include "model/recording.h"
#include "model/verify.h"
#include "render/export/snapshot_pickle.h"
#include "render/write/out.h"
#include "render/write/pickle_out.h"

/* A sink that takes `room` bytes. */
struct taken {
    struct buf bytes;
    size_t room;
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct taken *t = arg;
    if (len > t->room - t->bytes.len)
        return false;
    long left = fault_left; /* what the test itself allocates never fails */
    fault_left = -1;
    buf_bytes(&t->bytes, bytes, len);
    fault_left = left;
    return !t->bytes.failed;
}

/* Whether it all arrived; the caller frees taken->bytes. */
static bool write_to(struct taken *taken, size_t room, const struct recording *r,
                     enum vrs_status *ret, struct vrs_error *err)
{
    *taken = (struct taken){ .room = room };
    buf_init(&taken->bytes, SIZE_MAX / 2);
    struct out out = { .write = take, .arg = taken };
    buf_init(&out.text, SIZE_MAX / 2);
    *ret = snapshot_pickle(&out, r, err);
    out_flush(&out, 0);
    bool arrived = *ret == VRS_OK && !out.text.failed && !out.refused;
    buf_free(&out.text);
    return arrived;
}

static struct buf written(const struct recording *r)
{
    struct taken taken;
    struct vrs_error err = { .message = "" };
    enum vrs_status status;
    bool arrived = write_to(&taken, SIZE_MAX, r, &status, &err);
    assert_string_equal(err.message, "");
    assert_true(arrived);
    return taken.bytes;
}

/* The only recording of some bytes, paired and verified; NULL when they are none. */
static struct recording *read_back(struct source source, struct entries *entries)
{
    struct vrs_error err = { .message = "" };
    const struct read_options options = { .size_bytes = UNKNOWN_U64 };
    if (read_recordings(source, &options, entries, &err) != VRS_OK)
        return NULL;
    struct recording *r = entries->list.len == 1 ? entries->list.at[0].recording : NULL;
    if (r != NULL && pair_allocations(r, &err) == VRS_OK) {
        enum vrs_status status = verify_recording(r, &err);
        assert_string_equal(err.message, "");
        assert_int_equal(status, VRS_OK);
        return r;
    }
    entries_free(entries);
    return NULL;
}

/* Written and read it is the same, and written again the bytes are. */
static void check(const struct recording *r)
{
    struct buf first = written(r);
    struct memory_bytes bytes = { .start = (const uint8_t *)first.at,
                                  .end = (const uint8_t *)first.at + first.len };
    struct entries entries;
    struct recording *again = read_back(source_of_memory(&bytes), &entries);
    assert_non_null(again);
    assert_int_equal(again->origin.pickle_protocol, 4);
    assert_true(again->origin.complete);
    assert_int_equal(again->origin.repeated_keys, 0);
    same_recording(r, again);
    struct buf second = written(again);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.at, second.at, first.len);
    buf_free(&first);
    buf_free(&second);
    entries_free(&entries);
}

/* Samples. */

static const struct line deep[] = { { "aten::empty", "??", 0 },
                                    { "forward", "model.py", 12 },
                                    { "", "", NO_LINE } };
static const struct line text_only[] = { { "File \"train.py\", line 3", "", NO_LINE },
                                         { "File \"a.py\"", "", NO_LINE } };

static uint32_t context_of(struct recording *r, struct context c)
{
    context_id id = { 0 };
    assert_true(contexts_intern(&r->contexts, c, &id));
    return id.n;
}

static uint32_t stream_of(struct recording *r, uint64_t handle)
{
    uint16_t row = 0;
    assert_true(streams_intern(&r->streams, handle, &row));
    return row;
}

static void push_mark(struct recording *r, const char *name, enum stage stage, uint32_t device,
                      uint64_t time_us)
{
    struct marks *m = &r->marks;
    assert_true(table_reserve(m, &marks_kind, 1));
    uint32_t i = m->rows.len++;
    m->name[i] = sample_string(r, name).n;
    m->stage[i] = (uint8_t)stage;
    m->device[i] = device;
    m->time_us[i] = time_us;
}

static void push_history(struct recording *r, uint32_t block, uint64_t address, uint64_t real_size,
                         uint32_t stack)
{
    struct history *h = &r->history;
    assert_true(table_reserve(h, &history_kind, 1));
    uint32_t i = h->rows.len++;
    h->address[i] = address;
    h->real_size[i] = real_size;
    h->stack[i] = stack;
    h->cpp_frames[i] = sample_string(r, "at::empty\nat::zeros").n;
    if (r->blocks.histories[block]++ == 0) {
        r->blocks.first_history[block] = i;
        r->blocks.stack[block] = stack;
    }
}

/* Stacks, lines, pools, contexts, a history, unknown values: everything that a record may carry. */
static void put_everything(struct recording *r, uint64_t base)
{
    stack_id stack = sample_stack(r, deep, 3), lines = sample_stack(r, text_only, 2);
    pool_id pool = { 0 };
    assert_true(pools_intern(&r->pools, 0, UINT64_MAX - 1, &pool));
    uint32_t segment = sample_segment(r, base, 8192);
    r->segments.pool[segment] = pool.n;
    r->segments.stream[segment] = stream_of(r, UINT64_MAX - 6);
    r->segments.stack[segment] = stack.n;
    r->segments.forward_stack[segment] = lines.n;
    r->segments.size_class[segment] = CLASS_SMALL;
    r->segments.expandable[segment] = 1;
    sample_block(r, 512, 500, BLOCK_ALLOCATED);
    uint32_t second = sample_block(r, 512, 400, BLOCK_PENDING);
    r->blocks.stack[second] = stack.n;
    r->blocks.context[second] =
        context_of(r, (struct context){ .user_metadata = sample_string(r, "layer 1"),
                                        .category = sample_string(r, "gradient"),
                                        .forward_stack = stack });
    uint32_t third = sample_block(r, 7168, 7000, BLOCK_INACTIVE);
    r->blocks.requested_size[third] = UNKNOWN_U64;
    push_history(r, third, base + 1024, 7000, stack.n);
    push_history(r, third, UNKNOWN_U64, UNKNOWN_U64, 0);

    uint32_t first = r->events.rows.len;
    sample_events(r, "A 1000 8192; a 1000 500; a 1200 400; r 1200 400; x 9 9; x ? 1; o 300 12; "
                     "o ? ?; o ff00000000000000 12; n 0 1024; c 1200 400; F 1000 8192; M 5000 "
                     "4096; U 5000 4096; f 1000 5");
    r->events.stack[first + 1] = stack.n;
    r->events.context[first + 1] =
        context_of(r, (struct context){ .compile_context = sample_string(r, "0/0"),
                                        .internal_metadata = sample_string(r, "tag"),
                                        .pool = pool,
                                        .forward_stack = lines });
    r->events.context[first + 4] =
        context_of(r, (struct context){ .action = sample_string(r, "page_fault") });
    r->events.stream[first + 2] = (uint16_t)stream_of(r, (uint64_t)1 << 40);
    r->events.time_us[first + 3] = UNKNOWN_U64;
    r->events.address[first + 5] = UINT64_MAX - 511;
}

static void sample_text_setting(struct recording *r, const char *name, const char *text)
{
    sample_setting(r, name, 0);
    r->settings.type[r->settings.rows.len - 1] = SETTING_TEXT;
    r->settings.text[r->settings.rows.len - 1] = sample_string(r, text).n;
}

static void put_settings(struct recording *r)
{
    struct settings *s = &r->settings;
    sample_text_setting(r, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
    sample_setting(r, "max_split_size", -1);
    sample_setting(r, "least", INT64_MIN);
    sample_setting(r, "garbage_collection_threshold", 0);
    s->type[s->rows.len - 1] = SETTING_FLOAT;
    s->real[s->rows.len - 1] = 0.8;
    sample_setting(r, "expandable_segments", 1);
    s->type[s->rows.len - 1] = SETTING_BOOL;
    sample_setting(r, "roundup_power2_divisions.1", 0);
    sample_setting(r, "roundup_power2_divisions.2", 4);
    sample_setting(r, "trace_alloc_max_entries.0", 100);
    sample_setting(r, "trace_alloc_max_entries.1", 200);
    sample_setting(r, "one.only", 1);
    sample_setting(r, "looks.action", 1); /* a dict with this key would be an event */
    sample_setting(r, ".dot", 1);
    sample_setting(r, "dot.", 1);
}

static void make_everything(struct recording *r)
{
    sample_init(r);
    sample_device(r, 1);
    put_everything(r, 0x7f0000000000);
    sample_device(r, 3);
    sample_events(r, "a 1000 512");
    uint32_t host = sample_device(r, 0);
    r->devices.kind[host] = DEVICE_HOST;
    put_everything(r, 0x100000);
    put_settings(r);
    push_mark(r, "step", STAGE_START, 1, 3);
    push_mark(r, "", STAGE_END, NO_ROW, UNKNOWN_U64);
    /* The reader counts the two actions it does not know. */
    for (uint32_t i = 0; i < r->events.rows.len; i++)
        if (r->events.action[i] == ACTION_OTHER)
            assert_true(tallies_count(&r->tallies, TALLY_UNKNOWN_ACTION,
                                      (string_id){ r->contexts.action[r->events.context[i]] }));
    sample_finish(r);
}

static void what_a_recording_holds_comes_back(void **state)
{
    (void)state;
    struct recording r;
    make_everything(&r);
    check(&r);
    recording_free(&r);
}

static void nothing_comes_back_as_nothing(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    sample_finish(&r);
    check(&r);
    struct buf b = written(&r);
    assert_true(b.len < 128); /* four keys */
    assert_non_null(memmem(b.at, b.len, "external_annotations", 20));
    assert_null(memmem(b.at, b.len, "host_segments", 13));
    buf_free(&b);
    recording_free(&r);
}

static void the_highest_device_is_4095(void **state)
{
    (void)state;
    struct recording r;
    sample_init(&r);
    sample_device(&r, 0);
    sample_events(&r, "a 1000 512");
    sample_device(&r, DEVICES_MAX - 1);
    sample_events(&r, "a 2000 512");
    sample_finish(&r);
    check(&r);
    recording_free(&r);
}

/* The labels of mid-2024 are events, of which the reader makes annotations each time. */
static void marks_of_events_are_not_written_twice(void **state)
{
    (void)state;
    static const struct line label[] = { { "START", "epoch 1", 0 } }, other[] = { { "f", "g", 1 } };
    struct recording r;
    sample_init(&r);
    sample_device(&r, 0);
    sample_events(&r, "n 0 0; n 0 0; n 0 0");
    for (uint32_t i = 0; i < 3; i++)
        r.events.action[i] = ACTION_USER_DEFINED;
    r.events.stack[0] = sample_stack(&r, label, 1).n;
    r.events.stack[1] = sample_stack(&r, other, 1).n;
    push_mark(&r, "listed", STAGE_END, 0, 7);
    push_mark(&r, "epoch 1", STAGE_START, 0, 0);
    sample_finish(&r);
    check(&r);
    recording_free(&r);
}

/* More than a batch of items, more than a frame of bytes, a string larger than a frame. */
static void make_long(struct recording *r)
{
    enum { LONG_NAME = 70000 };
    char *name = malloc(LONG_NAME + 1);
    assert_non_null(name);
    memset(name, 'n', LONG_NAME);
    name[LONG_NAME] = '\0';
    sample_init(r);
    sample_device(r, 0);
    sample_segment(r, 0x1000, 512);
    for (int i = 0; i < 1001; i++)
        sample_events(r, "a 1000 300; r 1000 70000; c 1000 5000000000");
    struct line tall[2500];
    for (uint32_t i = 0; i < 2500; i++)
        tall[i] = (struct line){ i == 1200 ? name : "f", "f.py", i };
    r->events.stack[1500] = sample_stack(r, tall, 2500).n;
    sample_finish(r);
    free(name);
}

static void long_lists_and_strings_come_back(void **state)
{
    (void)state;
    struct recording r;
    make_long(&r);
    check(&r);
    recording_free(&r);
}

static void a_cut_recording_is_refused(void **state)
{
    (void)state;
    struct recording r;
    struct taken taken;
    enum vrs_status status;
    struct vrs_error err = { .message = "" };
    sample_init(&r);
    r.origin.complete = false;
    r.origin.cut_offset = 77;
    assert_false(write_to(&taken, SIZE_MAX, &r, &status, &err));
    assert_int_equal(status, VRS_UNSUPPORTED);
    assert_non_null(strstr(err.message, "cut at byte 77"));
    assert_int_equal(taken.bytes.len, 0);
    buf_free(&taken.bytes);
    recording_free(&r);
}

/* Opcodes. */

static void discard(struct out *out)
{
    buf_free(&out->text);
}

static struct out gathering(void)
{
    struct out out = { .write = take };
    buf_init(&out.text, 1 << 20);
    return out;
}

/* An integer as CPython writes it, behind the two bytes of PROTO and the nine of FRAME. */
static void check_integer(bool is_signed, uint64_t bits, const char *want, size_t len)
{
    struct out out = gathering();
    struct pickle_out p;
    pickle_start(&p, &out);
    if (is_signed)
        pickle_i64(&p, (int64_t)bits);
    else
        pickle_u64(&p, bits);
    assert_int_equal(out.text.len, 11 + len);
    assert_memory_equal(out.text.at + 11, want, len);
    discard(&out);
}

#define CHECK_INTEGER(is_signed, bits, want)                                                       \
    check_integer(is_signed, (uint64_t)(bits), want, sizeof(want) - 1)

static void integers_are_as_short_as_cpython_makes_them(void **state)
{
    (void)state;
    CHECK_INTEGER(false, 0, "K\0");
    CHECK_INTEGER(true, 255, "K\xff");
    CHECK_INTEGER(false, 256, "M\0\1");
    CHECK_INTEGER(false, 65535, "M\xff\xff");
    CHECK_INTEGER(false, 65536, "J\0\0\1\0");
    CHECK_INTEGER(false, INT32_MAX, "J\xff\xff\xff\x7f");
    CHECK_INTEGER(false, 0x80000000u, "\x8a\5\0\0\0\x80\0");
    CHECK_INTEGER(false, 0x7fffffffff, "\x8a\5\xff\xff\xff\xff\x7f");
    CHECK_INTEGER(false, 0x8000000000, "\x8a\6\0\0\0\0\x80\0");
    CHECK_INTEGER(true, INT64_MAX, "\x8a\10\xff\xff\xff\xff\xff\xff\xff\x7f");
    CHECK_INTEGER(false, UINT64_MAX, "\x8a\11\xff\xff\xff\xff\xff\xff\xff\xff\0");
    CHECK_INTEGER(true, -1, "J\xff\xff\xff\xff");
    CHECK_INTEGER(true, INT32_MIN, "J\0\0\0\x80");
    CHECK_INTEGER(true, (int64_t)INT32_MIN - 1, "\x8a\5\xff\xff\xff\x7f\xff");
    CHECK_INTEGER(true, -0x8000000000, "\x8a\5\0\0\0\0\x80");
    CHECK_INTEGER(true, -0x8000000001, "\x8a\6\xff\xff\xff\xff\x7f\xff");
    CHECK_INTEGER(true, INT64_MIN, "\x8a\10\0\0\0\0\0\0\0\x80");
}

static void a_frame_of_few_bytes_has_no_header(void **state)
{
    (void)state;
    struct out out = gathering();
    struct pickle_out p;
    pickle_start(&p, &out);
    pickle_none(&p);
    pickle_finish(&p);
    assert_int_equal(out.text.len, 4);
    assert_memory_equal(out.text.at, "\x80\4N.", 4);
    discard(&out);
}

/* Failures. */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct recording r;
    make_long(&r);
    for (long n = 0;; n++) {
        struct taken taken;
        enum vrs_status status;
        struct vrs_error err = { .message = "" };
        fault_left = n;
        bool ok = write_to(&taken, SIZE_MAX, &r, &status, &err);
        bool fired = fault_left < 0;
        fault_left = -1;
        buf_free(&taken.bytes);
        assert_true(ok != fired);
        assert_true(status == VRS_OK || status == VRS_NOMEM);
        if (!fired)
            break;
    }
    recording_free(&r);
}

static void a_sink_may_refuse_anywhere(void **state)
{
    (void)state;
    struct recording r;
    make_long(&r);
    struct buf whole = written(&r);
    for (size_t room = 0; room < whole.len; room += 10007) {
        struct taken taken;
        enum vrs_status status;
        assert_false(write_to(&taken, room, &r, &status, NULL));
        assert_int_equal(status, VRS_OK);
        assert_true(taken.bytes.len <= room);
        if (taken.bytes.len > 0)
            assert_memory_equal(taken.bytes.at, whole.at, taken.bytes.len);
        buf_free(&taken.bytes);
    }
    buf_free(&whole);
    recording_free(&r);
}

/* Files of the tree; meson names its root. */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name), tail = strlen(suffix);
    return len >= tail && strcmp(name + len - tail, suffix) == 0;
}

/* Checks the recordings of a folder that can be read whole; their number. */
static int check_folder(const char *folder, const char *suffix)
{
    const char *root = getenv("VRAMSCOPE_ROOT");
    if (root == NULL) {
        print_message("# VRAMSCOPE_ROOT is not set\n");
        skip();
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int checked = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.' || !has_suffix(entry->d_name, suffix))
            continue;
        struct file file;
        struct entries entries;
        snprintf(path, sizeof path, "%s/%s/%s", root, folder, entry->d_name);
        assert_int_equal(file_open(path, &file, NULL), VRS_OK);
        struct recording *r = read_back(source_of_file(&file), &entries);
        file_close(&file);
        if (r == NULL)
            continue;
        print_message("# %s\n", entry->d_name); /* a failure is then of this file */
        if (r->origin.complete) {
            check(r);
            checked++;
        }
        entries_free(&entries);
    }
    closedir(dir);
    return checked;
}

static void bundled_recordings_come_back(void **state)
{
    (void)state;
    assert_true(check_folder("examples", ".pickle") >= 4);
}

static void the_fuzz_corpus_comes_back(void **state)
{
    (void)state;
    assert_true(check_folder("tests/fuzz/corpus/pickle", "") >= 20);
    assert_true(check_folder("tests/fuzz/corpus/json", "") >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_recording_holds_comes_back),
        cmocka_unit_test(nothing_comes_back_as_nothing),
        cmocka_unit_test(the_highest_device_is_4095),
        cmocka_unit_test(marks_of_events_are_not_written_twice),
        cmocka_unit_test(long_lists_and_strings_come_back),
        cmocka_unit_test(a_cut_recording_is_refused),
        cmocka_unit_test(integers_are_as_short_as_cpython_makes_them),
        cmocka_unit_test(a_frame_of_few_bytes_has_no_header),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_sink_may_refuse_anywhere),
        cmocka_unit_test(bundled_recordings_come_back),
        cmocka_unit_test(the_fuzz_corpus_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
