/* Pickles written by hand: what they become, where they are refused, what their cuts give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/snapshot/ahead.h"
#include "format/snapshot/from_pickle.h"
#include "made/dribble.h"
#include "made/fault.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

struct outcome {
    enum vrs_status status;
    struct vrs_error err;
    struct recording r;
};

static void read_behind(uint64_t before, const void *bytes, size_t len, size_t step,
                        struct outcome *o)
{
    struct dribble d = { .at = bytes, .left = len, .step = step };
    struct window w;
    const struct ahead_options alone = { .stretch_bytes = 0 };
    uint64_t finished = 0;
    *o = (struct outcome){ .status = VRS_OK };
    o->status = window_init(&w, dribble_source(&d), &o->err);
    if (o->status != VRS_OK)
        return;
    w.base = before;
    o->status = VRS_NOMEM;
    if (recording_init(&o->r, default_limits.items, default_limits.strings_bytes))
        o->status = snapshot_from_pickle(&w, &default_limits, &alone, &finished, &o->r, &o->err);
    window_free(&w);
}

static void read_bytes(const void *bytes, size_t len, size_t step, struct outcome *o)
{
    read_behind(0, bytes, len, step, o);
}

/* Little assembler: strings of one byte of length, integers of four bytes. */
static void put_string(struct buf *b, const char *text)
{
    buf_char(b, (char)0x8c);
    buf_char(b, (char)strlen(text));
    buf_text(b, text);
}

static void put_int(struct buf *b, uint32_t n)
{
    char bytes[5] = { 'J', (char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24) };
    buf_bytes(b, bytes, sizeof bytes);
}

static void put_pair(struct buf *b, const char *key, uint32_t n)
{
    put_string(b, key);
    put_int(b, n);
}

static void put_frames(struct buf *b, uint32_t line)
{
    put_string(b, "frames");
    buf_text(b, "](}(");
    put_string(b, "filename");
    put_string(b, "train.py");
    put_string(b, "name");
    put_string(b, "step");
    put_pair(b, "line", line);
    buf_text(b, "u}(");
    put_string(b, "filename");
    put_string(b, "train.py");
    put_pair(b, "line", 7);
    buf_text(b, "ue");
}

static void put_event(struct buf *b, const char *action, uint32_t address, uint32_t size)
{
    buf_text(b, "}(");
    put_string(b, "action");
    put_string(b, action);
    put_pair(b, "addr", address);
    put_pair(b, "size", size);
    put_pair(b, "stream", 0);
    put_frames(b, address);
    buf_text(b, "u");
}

static void put_segment(struct buf *b, uint32_t device)
{
    buf_text(b, "}(");
    put_pair(b, "device", device);
    put_pair(b, "address", 1 << 21);
    put_pair(b, "total_size", 1 << 21);
    put_string(b, "segment_type");
    put_string(b, "small");
    put_string(b, "blocks");
    buf_text(b, "](}(");
    put_pair(b, "address", 1 << 21);
    put_pair(b, "size", 1 << 21);
    put_pair(b, "requested_size", 100);
    put_string(b, "state");
    put_string(b, "active_allocated");
    buf_text(b, "ueu");
}

/* Two devices, three segments (the second device's first), three events. */
static void put_snapshot(struct buf *b)
{
    buf_bytes(b, "\x80\x04}(", 4);
    put_string(b, "segments");
    buf_text(b, "](");
    put_segment(b, 1);
    put_segment(b, 0);
    put_segment(b, 0);
    buf_text(b, "e");
    put_string(b, "device_traces");
    buf_text(b, "](](");
    put_event(b, "alloc", 4096, 512);
    put_event(b, "free_requested", 4096, 512);
    buf_text(b, "e](");
    put_event(b, "something_new", 8192, 1024);
    buf_text(b, "ee");
    put_string(b, "allocator_settings");
    buf_text(b, "}(");
    put_string(b, "expandable_segments");
    buf_text(b, "\x88");
    put_string(b, "roundup_power2_divisions");
    buf_text(b, "}(");
    put_pair(b, "1", 4);
    buf_text(b, "uuu.");
}

static str text_of(const struct recording *r, uint32_t id)
{
    return strings_text(&r->code.strings, (string_id){ id });
}

static void check_text(const struct recording *r, uint32_t id, const char *wanted)
{
    str text = text_of(r, id);
    if (!str_equal(text, str_from(wanted)))
        fail_msg("\"%.*s\", not \"%s\"", (int)text.len, text.ptr, wanted);
}

static void check_snapshot(const struct outcome *o)
{
    if (o->status != VRS_OK)
        fail_msg("%s", o->err.message);
    const struct recording *r = &o->r;
    assert_true(r->origin.complete);
    assert_int_equal(r->devices.rows.len, 2);
    assert_int_equal(r->devices.segments[0], 2);
    assert_int_equal(r->devices.segments[1], 1);
    assert_int_equal(r->devices.events[0], 2);
    assert_int_equal(r->devices.events[1], 1);
    assert_int_equal(r->blocks.rows.len, 3);
    assert_int_equal(r->blocks.segment[2], 2);
    assert_int_equal(r->events.action[1], ACTION_FREE_REQUESTED);
    assert_int_equal(r->events.address[1], 4096);
    assert_int_equal(r->events.time_us[0], UNKNOWN_U64);
    assert_int_equal(r->events.stack[0], r->events.stack[1]);
    assert_int_not_equal(r->events.stack[0], r->events.stack[2]);
    assert_int_equal(stacks_depth(&r->code.stacks, (stack_id){ r->events.stack[0] }), 2);
    check_text(r, r->contexts.action[r->events.context[2]], "something_new");
    uint32_t setting = settings_find(r, S("roundup_power2_divisions.1"));
    assert_int_not_equal(setting, NO_ROW);
    assert_int_equal(r->settings.integer[setting], 4);
}

static void a_snapshot_becomes_tables(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_snapshot(&b);
    static const size_t steps[] = { 0, 1, 7 };
    for (size_t i = 0; i < 3; i++) {
        struct outcome o;
        read_bytes(b.at, b.len, steps[i], &o);
        check_snapshot(&o);
        recording_free(&o.r);
    }
    buf_free(&b);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_snapshot(&b);
    for (long n = 0;; n++) {
        struct outcome o;
        fault_left = n;
        read_bytes(b.at, b.len, 0, &o);
        bool fired = fault_left < 0;
        fault_left = -1;
        /* Giving memory back may fail without harm; then the recording is whole all the same. */
        if (!fired || o.status == VRS_OK)
            check_snapshot(&o);
        else
            assert_int_equal(o.status, VRS_NOMEM);
        recording_free(&o.r);
        if (!fired)
            break;
    }
    buf_free(&b);
}

/* More records and no fewer, whichever byte the file is cut at; never anything else. */
static void every_cut_is_an_error_or_a_prefix(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_snapshot(&b);
    uint32_t records = 0;
    for (size_t len = 0; len < b.len; len++) {
        struct outcome o;
        read_bytes(b.at, len, 0, &o);
        uint32_t now = o.r.events.rows.len + o.r.segments.rows.len;
        if (o.status == VRS_OK) {
            assert_false(o.r.origin.complete);
            assert_int_equal(o.r.origin.cut_offset, len);
            assert_true(now >= records);
            records = now;
        } else {
            assert_int_equal(o.status, VRS_CORRUPT);
            assert_int_equal(o.err.offset, len);
            assert_int_equal(records, 0);
        }
        recording_free(&o.r);
    }
    assert_int_equal(records, 6);
    buf_free(&b);
}

static void a_cut_anchors_what_is_whole(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_snapshot(&b);
    str all = buf_slice(&b);
    size_t second = str_find(all, S("something_new")), traces = str_find(all, S("device_traces"));
    struct outcome o;

    read_bytes(b.at, second, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.r.origin.cut_part, CUT_TRACES);
    assert_int_equal(o.r.devices.parts[0], PART_SEGMENTS | PART_TRACE | PART_ANCHOR);
    assert_int_equal(o.r.devices.parts[1], PART_SEGMENTS);
    recording_free(&o.r);

    read_bytes(b.at, traces - 2, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.r.origin.cut_part, CUT_SEGMENTS);
    assert_int_equal(o.r.devices.parts[0], 0);
    recording_free(&o.r);

    read_bytes(b.at, b.len - 1, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.r.origin.cut_part, CUT_AFTER);
    assert_int_equal(o.r.devices.parts[1], PART_SEGMENTS | PART_TRACE | PART_ANCHOR);
    recording_free(&o.r);
    buf_free(&b);
}

/* Bytes, where they are refused, with which status. */
struct bad {
    const char *bytes;
    size_t len;
    uint64_t offset;
    enum vrs_status status;
    const char *says;
};
#define BAD(bytes, offset, status, says)                                                           \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, offset, status, says                                             \
    }

static void bad_pickles_are_refused_where_they_go_wrong(void **state)
{
    (void)state;
    static const struct bad bad[] = {
        BAD("\x80\x06}.", 1, VRS_UNSUPPORTED, "protocol 6"),
        BAD("\x80\x04\x80\x04}.", 2, VRS_UNSUPPORTED, "PROTO"),
        BAD("\x80\x02"
            "cos\nsystem\n.",
            2, VRS_UNSUPPORTED, "os.system"),
        BAD("\x80\x02}(K\x01"
            "R.",
            6, VRS_UNSUPPORTED, "REDUCE"),
        BAD("\x80\x04}\xff.", 3, VRS_CORRUPT, "0xff"),
        BAD("\x80\x02h\x05.", 2, VRS_CORRUPT, "never written"),
        BAD("\x80\x02}r\xff\xff\xff\xff.", 3, VRS_CORRUPT, "memo entry 4294967295"),
        BAD("\x80\x02}q\x00q\x00.", 5, VRS_CORRUPT, "written twice"),
        BAD("\x80\x02\x86.", 2, VRS_CORRUPT, "more values"),
        BAD("\x80\x02"
            "e.",
            2, VRS_CORRUPT, "never opened"),
        BAD("\x80\x02(e.", 3, VRS_CORRUPT, "more values"),
        BAD("\x80\x02}(K\x01u.", 6, VRS_CORRUPT, "no value"),
        BAD("\x80\x02}(}K\x01u.", 7, VRS_CORRUPT, "container"),
        BAD("\x80\x02]q\x00]h\x00"
            "ah\x00K\x01"
            "a.",
            13, VRS_CORRUPT, "after it was used"),
        BAD("\x80\x02]K\x01s.", 5, VRS_CORRUPT, "more values"),
        BAD("\x80\x02K\x01K\x02"
            "a.",
            6, VRS_CORRUPT, "not a list"),
        BAD("\x80\x02]]K\x01K\x02s.", 8, VRS_CORRUPT, "not a dict"),
        BAD("\x80\x02K\x01K\x02.", 6, VRS_CORRUPT, "2 values"),
        BAD("\x80\x02(K\x01.", 5, VRS_CORRUPT, "1 open marks"),
        BAD("\x80\x02\x8a\x0a"
            "0123456789.",
            2, VRS_CORRUPT, "10 bytes"),
        BAD("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\1.", 2, VRS_CORRUPT, "64 bits"),
        BAD("\x80\x02\x8b\xff\xff\xff\xff.", 2, VRS_CORRUPT, "4294967295 bytes"),
        BAD("\x80\x04\x95\0\0\0\0\0\0\0\x80}.", 2, VRS_CORRUPT, "frame"),
        BAD("\x80\x04\x8d\0\0\0\0\0\0\0\x80.", 2, VRS_LIMIT, "--limit string"),
        BAD("I12x\n.", 0, VRS_CORRUPT, "number"),
        BAD("L99999999999999999999L\n.", 0, VRS_CORRUPT, "number"),
        BAD("\x80\x02}.", 3, VRS_UNSUPPORTED, "not a memory snapshot"),
        BAD("\x80\x02K\x01.", 4, VRS_UNSUPPORTED, "not a memory snapshot"),
        BAD("", 0, VRS_CORRUPT, "first whole record"),
        BAD("\x80", 1, VRS_CORRUPT, "first whole record"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct outcome o;
        read_bytes(bad[i].bytes, bad[i].len, 0, &o);
        if (o.status != bad[i].status || o.err.offset != bad[i].offset ||
            strstr(o.err.message, bad[i].says) == NULL)
            fail_msg("case %zu: status %d at %lld: %s", i, (int)o.status, (long long)o.err.offset,
                     o.err.message);
        recording_free(&o.r);
    }
}

static void marks_have_a_limit(void **state)
{
    (void)state;
    char bytes[102] = "\x80\x02";
    memset(bytes + 2, '(', 100);
    struct outcome o;
    read_bytes(bytes, sizeof bytes, 0, &o);
    assert_int_equal(o.status, VRS_LIMIT);
    assert_int_equal(o.err.offset, 2 + 64);
    recording_free(&o.r);
}

/* An alloc event whose size is `value`, in a bare snapshot. */
static void check_size_value(const char *value, size_t len, uint64_t wanted, uint64_t wrong_types)
{
    struct buf b;
    buf_init(&b, 1 << 16);
    buf_bytes(&b, "\x80\x02}(", 4);
    put_string(&b, "device_traces");
    buf_text(&b, "](](}(");
    put_string(&b, "action");
    put_string(&b, "alloc");
    put_string(&b, "size");
    buf_bytes(&b, value, len);
    buf_text(&b, "ueeu.");
    struct outcome o;
    read_bytes(b.at, b.len, 0, &o);
    if (o.status != VRS_OK)
        fail_msg("%s", o.err.message);
    assert_int_equal(o.r.events.size[0], wanted);
    assert_int_equal(o.r.tallies.rows.len, wrong_types);
    recording_free(&o.r);
    buf_free(&b);
}
#define CHECK_SIZE(value, wanted, wrong) check_size_value(value, sizeof(value) - 1, wanted, wrong)

static void numbers_of_every_form(void **state)
{
    (void)state;
    CHECK_SIZE("K\xff", 255, 0);
    CHECK_SIZE("M\xff\xff", 65535, 0);
    CHECK_SIZE("J\xff\xff\xff\x7f", 0x7fffffff, 0);
    CHECK_SIZE("\x8a\x00", 0, 0);
    CHECK_SIZE("\x8a\x05\0\0\0\0\1", (uint64_t)1 << 32, 0);
    CHECK_SIZE("\x8b\x05\0\0\0\0\0\0\0\1", (uint64_t)1 << 32, 0);
    CHECK_SIZE("I512\n", 512, 0);
    CHECK_SIZE("L512L\n", 512, 0);
    CHECK_SIZE("G\x40\x80\0\0\0\0\0\0", 512, 0);
    CHECK_SIZE("F512.0\n", 512, 0);
    /* Not sizes: negative, above 2^62, fractions, booleans, text. */
    CHECK_SIZE("J\xff\xff\xff\xff", UNKNOWN_U64, 1);
    CHECK_SIZE("\x8a\x08\0\0\0\0\0\0\0\x41", UNKNOWN_U64, 1);
    CHECK_SIZE("\x8a\x09\0\0\0\0\0\0\0\x80\0", UNKNOWN_U64, 1);
    CHECK_SIZE("G\x3f\xe0\0\0\0\0\0\0", UNKNOWN_U64, 1);
    CHECK_SIZE("\x88", UNKNOWN_U64, 1);
    CHECK_SIZE("I01\n", UNKNOWN_U64, 1);
    CHECK_SIZE("\x8c\x01z", UNKNOWN_U64, 1);
    /* None is as good as absent. */
    CHECK_SIZE("N", UNKNOWN_U64, 0);
}

/* The name of the one annotation of a file, as protocol 0 spells it. */
static void check_line_text(const char *spelt, str expected)
{
    struct outcome o;
    struct buf b;
    buf_init(&b, 1 << 10);
    buf_text(&b, "(dVsegments\n(lsVexternal_annotations\n(l(dVname\nV");
    buf_text(&b, spelt);
    buf_text(&b, "\nsVstage\nVSTART\nsas.");
    read_bytes(b.at, b.len, b.len, &o);
    assert_string_equal(o.err.message, "");
    assert_int_equal(o.r.marks.rows.len, 1);
    assert_true(
        str_equal(strings_text(&o.r.code.strings, (string_id){ o.r.marks.name[0] }), expected));
    recording_free(&o.r);
    buf_free(&b);
}

static void lines_of_text_resolve_whole_escapes_only(void **state)
{
    (void)state;
    check_line_text("plain", S("plain"));
    check_line_text("\xe9", S("\u00e9"));
    check_line_text("\\u20ac\\U0001F600.", S("\u20ac\U0001f600."));
    check_line_text("\\u20aG", S("\\u20aG"));
    check_line_text("\\u20a", S("\\u20a"));
    check_line_text("a\\", S("a\\"));
}

static void a_shared_list_of_frames_is_one_stack(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 16);
    buf_bytes(&b, "\x80\x04}(", 4);
    put_string(&b, "device_traces");
    buf_text(&b, "](](}(");
    put_string(&b, "action");
    put_string(&b, "alloc");
    put_string(&b, "frames");
    /* Memo entry 0 is the list; the frame in it has no memo entry. */
    buf_text(&b, "]\x94(}(");
    put_string(&b, "filename");
    put_string(&b, "a.py");
    put_pair(&b, "line", 1);
    buf_text(&b, "ueu}(");
    put_string(&b, "action");
    put_string(&b, "free");
    put_string(&b, "frames");
    buf_bytes(&b, "h\x00ueeu.", 8);
    struct outcome o;
    read_bytes(b.at, b.len, 0, &o);
    if (o.status != VRS_OK)
        fail_msg("%s", o.err.message);
    assert_int_equal(o.r.events.rows.len, 2);
    assert_int_not_equal(o.r.events.stack[0], 0);
    assert_int_equal(o.r.events.stack[0], o.r.events.stack[1]);
    assert_int_equal(o.r.events.action[1], ACTION_FREE);
    recording_free(&o.r);
    buf_free(&b);
}

static void a_list_may_contain_itself(void **state)
{
    (void)state;
    /* segments: a list whose only item is the list; nothing in it is a segment. */
    static const char bytes[] = "\x80\x04}(\x8c\x08segments]\x94(h\x00"
                                "e\x8c\x0d"
                                "device_traces]u.";
    struct outcome o;
    read_bytes(bytes, sizeof bytes - 1, 0, &o);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.r.segments.rows.len, 0);
    assert_int_equal(o.r.tallies.rows.len, 1);
    recording_free(&o.r);
}

static void check_unsupported(const struct buf *b, size_t len, size_t offset, const char *says)
{
    struct outcome o;
    read_bytes(b->at, len, 0, &o);
    if (o.status != VRS_UNSUPPORTED || o.err.offset != offset ||
        strstr(o.err.message, says) == NULL)
        fail_msg("status %d at %llu, not %zu: %s", o.status, (unsigned long long)o.err.offset,
                 offset, o.err.message);
    recording_free(&o.r);
}

/* `key`, its value, and then the rest of a whole snapshot; cut behind the value too. */
static void check_no_list(const char *key, const char *value, size_t value_len, const char *rest,
                          const char *says)
{
    struct buf b;
    buf_init(&b, 1 << 16);
    buf_bytes(&b, "\x80\x04}(\x8c\x01xN", 8);
    size_t at = b.len;
    put_string(&b, key);
    buf_bytes(&b, value, value_len);
    put_string(&b, rest);
    buf_text(&b, "]");
    size_t cut = b.len;
    buf_text(&b, "u.");
    check_unsupported(&b, b.len, at, says);
    check_unsupported(&b, cut, at, says);
    buf_free(&b);
}

static void keys_of_a_snapshot_alone_are_none(void **state)
{
    (void)state;
    static const char segments[] = "not a memory snapshot: segments is no list of dicts",
                      traces[] = "device_traces is no list of lists of dicts";
    static const struct {
        const char *bytes;
        size_t len;
    } values[] = {
#define VALUE(bytes) { bytes, sizeof(bytes) - 1 }
        VALUE("K\x05"), VALUE("\x88"),           VALUE("\x8c\x01x"), VALUE("}"),
        VALUE(")"),     VALUE("K\x01K\x02\x86"), VALUE("](K\5e"),    VALUE("](K\1K\2\206e"),
#undef VALUE
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        check_no_list("segments", values[i].bytes, values[i].len, "device_traces", segments);
        check_no_list("device_traces", values[i].bytes, values[i].len, "segments", traces);
    }
    /* Lists 5,000 deep, none of which needs a mark. */
    char deep[9999];
    memset(deep, ']', 5000);
    memset(deep + 5000, 'a', 4999);
    check_no_list("segments", deep, sizeof deep, "device_traces", segments);
    check_no_list("device_traces", deep, sizeof deep, "segments", traces);
}

static void a_key_out_of_the_memo_has_its_own_place(void **state)
{
    (void)state;
    static const char numbered[] = "\x80\x02]q\x00(X\x08\0\0\0segmentsq\x01X\x01\0\0\0x"
                                   "e0}(h\x01K\x05u.",
                      lines[] = "(dVx\nVsegments\np1\nsg1\nI5\ns.";
    struct buf b;
    buf_init(&b, 100);
    buf_bytes(&b, numbered, sizeof numbered - 1);
    check_unsupported(&b, b.len, 31, "segments is no list");
    check_unsupported(&b, b.len - 2, 31, "segments is no list");
    b.len = 0;
    buf_bytes(&b, lines, sizeof lines - 1);
    check_unsupported(&b, b.len, 19, "segments is no list");
    check_unsupported(&b, b.len - 1, 19, "segments is no list");
    buf_free(&b);
}

/* Places of strings are kept in 32 bits; behind 4 GiB the end of the pickle has to do. */
static void a_place_behind_four_gibibytes_is_the_end(void **state)
{
    (void)state;
    static const char bytes[] = "\x80\x04}(\x8c\x08segmentsK\x05u.";
    uint64_t far = ((uint64_t)1 << 32) - 5;
    struct outcome o;
    read_behind(far, bytes, sizeof bytes - 1, 0, &o);
    assert_int_equal(o.status, VRS_UNSUPPORTED);
    assert_int_equal(o.err.offset, far + sizeof bytes - 2);
    recording_free(&o.r);
    read_behind(far - 1, bytes, sizeof bytes - 1, 0, &o);
    assert_int_equal(o.status, VRS_UNSUPPORTED);
    assert_int_equal(o.err.offset, far - 1 + 4);
    recording_free(&o.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_becomes_tables),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_cut_is_an_error_or_a_prefix),
        cmocka_unit_test(a_cut_anchors_what_is_whole),
        cmocka_unit_test(bad_pickles_are_refused_where_they_go_wrong),
        cmocka_unit_test(marks_have_a_limit),
        cmocka_unit_test(numbers_of_every_form),
        cmocka_unit_test(lines_of_text_resolve_whole_escapes_only),
        cmocka_unit_test(a_shared_list_of_frames_is_one_stack),
        cmocka_unit_test(a_list_may_contain_itself),
        cmocka_unit_test(keys_of_a_snapshot_alone_are_none),
        cmocka_unit_test(a_key_out_of_the_memo_has_its_own_place),
        cmocka_unit_test(a_place_behind_four_gibibytes_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
