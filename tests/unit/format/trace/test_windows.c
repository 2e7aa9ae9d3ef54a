/* Whatever the portions in which a trace arrives, and wherever the window's edge falls, it is the
 * same trace: packed or not, unpacked ahead or not, read as one or in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/read_trace.h"
#include "made/fault.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/trace.h"

/* Longer than three windows; events of many lengths, with each kind of token. */
static void make_text(struct buf *to)
{
    buf_init(to, (size_t)1 << 21);
    buf_text(to, "{\"with_stack\": 1, \"traceEvents\": [\n");
    for (int i = 0; to->len < (size_t)3 << 18; i++) {
        char text[1200];
        snprintf(text, sizeof text,
                 "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"op \\u00e4 %d\", \"pid\": %d, "
                 "\"tid\": \"stream %d\",\n  \"ts\": 171717171%d.%03d, \"dur\": %de-1, \"args\": "
                 "{\"External id\": %d, \"Input Dims\": [[%d, 2], [], \"x\\\"y\", -1.5e+3, null, "
                 "true], \"Call stack\": \"%0*d\", \"correlation\": 1844674407370955161%d}}",
                 i > 0 ? ",\n" : "", i % 3 ? "Kernel" : "cpu_op", i % 50, i % 4, i % 7, i, i % 1000,
                 i, i, i, i * 37 % 700 + 1, i, i % 10);
        buf_text(to, text);
    }
    buf_text(to, "\n], \"record_shapes\": 1}");
    assert_false(to->failed);
}

static bool same(const struct trace *a, const struct trace *b)
{
    return trace_begins(a, b) && trace_begins(b, a) && a->read_bytes == b->read_bytes &&
           a->header.flags == b->header.flags &&
           memcmp(a->damage, b->damage, sizeof a->damage) == 0;
}

static void portions_do_not_matter(void **state)
{
    (void)state;
    struct buf text;
    make_text(&text);
    struct text_trace whole;
    text_trace_read(text.at, text.len, 0, &default_limits, &whole);
    assert_int_equal(whole.status, VRS_OK);
    assert_true(whole.trace.spans.rows.len > 1000);
    for (size_t step = 64; step <= (size_t)4 << 20; step *= 2) {
        struct text_trace part;
        text_trace_read(text.at, text.len, step, &default_limits, &part);
        if (part.status != VRS_OK || !same(&part.trace, &whole.trace))
            fail_msg("%zu bytes at a time make another trace", step);
        text_trace_free(&part);
    }
    text_trace_free(&whole);
    buf_free(&text);
}

/* A value that lies too deep: where a portion ends, at the bracket that is one too many or
 * elsewhere, says nothing. */
static void portions_end_at_damage(void **state)
{
    (void)state;
    enum { DEEP = 300 };
    char text[3 * DEEP] = "[{\"ph\": \"X\", \"ts\": 1, \"args\": {\"a\": ";
    size_t len = strlen(text);
    memset(text + len, '[', DEEP);
    memset(text + len + DEEP, ']', DEEP);
    memcpy(text + len + 2 * DEEP, "}}]", 4);
    len += 2 * DEEP + 3;
    for (size_t step = 1; step < 40; step++) {
        struct text_trace part;
        text_trace_read(text, len, step, &default_limits, &part);
        if (part.status != VRS_OK || part.trace.damage[DAMAGE_NESTED].count != 1)
            fail_msg("%zu bytes at a time: %s", step, part.err.message);
        text_trace_free(&part);
    }
}

static size_t packed_into(const char *text, size_t len, struct buf *to)
{
    z_stream z = { .next_in = (const Bytef *)text, .avail_in = (uInt)len };
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    buf_init(to, (size_t)1 << 21);
    unsigned char piece[4096];
    do {
        z.next_out = piece;
        z.avail_out = sizeof piece;
        deflate(&z, Z_FINISH);
        buf_bytes(to, piece, sizeof piece - z.avail_out);
    } while (z.avail_out == 0);
    deflateEnd(&z);
    assert_false(to->failed);
    return to->len;
}

static enum vrs_status read_bytes(const struct buf *bytes, size_t len, uint32_t threads,
                                  uint32_t packed_part_bytes, struct trace *ret,
                                  struct vrs_error *err)
{
    const uint8_t *at = (const uint8_t *)bytes->at;
    struct memory_bytes memory = { .start = at, .end = at + len };
    const struct read_trace_options options = { .size_bytes = len,
                                                .threads = threads,
                                                .packed_part_bytes = packed_part_bytes };
    return read_trace(source_of_memory(&memory), &options, ret, err);
}

static bool same_cut(const struct cut_stream *a, const struct cut_stream *b)
{
    return a->at == b->at && a->is_damaged == b->is_damaged && (a->name == NULL) == (b->name == NULL);
}

/* By one thread, and by so many, in parts or not. */
static void check_packed(const struct buf *packed, size_t len, uint32_t threads,
                         uint32_t packed_part_bytes)
{
    struct trace plain, other;
    struct vrs_error plain_error = { .message = "" }, other_error = { .message = "" };
    enum vrs_status one = read_bytes(packed, len, 1, 0, &plain, &plain_error);
    enum vrs_status two =
        read_bytes(packed, len, threads, packed_part_bytes, &other, &other_error);
    if (one != two || strcmp(plain_error.message, other_error.message) != 0)
        fail_msg("%zu bytes: %s, and by %u threads in parts of %u: %s", len, plain_error.message,
                 threads, packed_part_bytes, other_error.message);
    if (one != VRS_OK)
        return;
    if (!same(&plain, &other) || !same_cut(&plain.cut_stream, &other.cut_stream) ||
        plain.header.times_other != other.header.times_other)
        fail_msg("%zu bytes: %u threads in parts of %u make another trace", len, threads,
                 packed_part_bytes);
    trace_free(&plain);
    trace_free(&other);
}

static void check_packed_each_way(const struct buf *packed, size_t len)
{
    check_packed(packed, len, 2, 0);
    for (uint32_t threads = 2; threads < 5; threads++) {
        check_packed(packed, len, threads, 3000);
        check_packed(packed, len, threads, 100000);
        check_packed(packed, len, threads, 1 << 20);
    }
}

/* Cut, too, where it ends early, and damaged. */
static void threads_that_unpack_do_not_matter(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    size_t len = packed_into(text.at, text.len, &packed);
    const size_t cuts[] = { len, len - 5, len / 2, len / 3, 400 };
    for (int damaged = 0; damaged < 2; damaged++) {
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
            check_packed_each_way(&packed, cuts[i]);
        packed.at[len / 4] = (char)(packed.at[len / 4] ^ 0x55);
    }
    buf_free(&packed);
    buf_free(&text);
}

/* A second member, padding, junk, a checksum that is wrong. */
static void what_stands_behind_a_member_does_not_matter(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    size_t len = packed_into(text.at, text.len, &packed);
    const char second[] = "\n{\"traceEvents\": []}";
    struct buf other;
    packed_into(second, sizeof second - 1, &other);
    buf_bytes(&packed, other.at, other.len);
    check_packed_each_way(&packed, packed.len);
    packed.len = len;
    buf_repeat(&packed, (str){ "\0", 1 }, 600);
    check_packed_each_way(&packed, packed.len);
    buf_text(&packed, "junk");
    check_packed_each_way(&packed, packed.len);
    packed.at[len - 8] ^= 1;
    check_packed_each_way(&packed, packed.len);
    buf_free(&other);
    buf_free(&packed);
    buf_free(&text);
}

/* Longer than all parts that are read at a time, and with what looks like events. */
static void a_long_tail_does_not_matter(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    text.len--;
    buf_text(&text, ", \"metadata\": [7");
    for (int i = 0; i < 20000; i++)
        buf_text(&text, ", {\"ph\": \"X\", \"name\": \"none\", \"ts\": 1, \"dur\": 2}");
    buf_text(&text, "], \"with_modules\": 1}");
    size_t len = packed_into(text.at, text.len, &packed);
    check_packed_each_way(&packed, len);
    struct trace trace;
    struct vrs_error err;
    assert_int_equal(read_bytes(&packed, len, 3, 3000, &trace, &err), VRS_OK);
    assert_int_equal(trace.read_bytes, text.len);
    trace_free(&trace);
    buf_free(&packed);
    buf_free(&text);
}

/* As one, and in parts of so many bytes and more. */
static void check_parts(const char *text, size_t len, uint32_t least)
{
    struct trace whole;
    struct vrs_error whole_error = { .message = "" };
    struct memory_bytes memory = { (const uint8_t *)text, (const uint8_t *)text + len, 0 };
    struct read_trace_options options = { .size_bytes = len };
    enum vrs_status one = read_trace(source_of_memory(&memory), &options, &whole, &whole_error);
    for (uint32_t part = least; part < len; part = part * 5 / 3) {
        struct trace parts;
        struct vrs_error error = { .message = "" };
        memory.read = 0;
        options.threads = 1 + part % 4;
        options.part_bytes = part;
        enum vrs_status two = read_trace(source_of_memory(&memory), &options, &parts, &error);
        if (one != two || strcmp(whole_error.message, error.message) != 0)
            fail_msg("parts of %u: %s, and as one %s", part, error.message, whole_error.message);
        if (one != VRS_OK)
            continue;
        if (!same(&parts, &whole) || !trace_column_begins(&parts.processes, &whole.processes, &processes_kind) ||
            !trace_column_begins(&parts.phases, &whole.phases, &phases_kind) ||
            parts.header.times_other != whole.header.times_other ||
            parts.header.has_shapes != whole.header.has_shapes)
            fail_msg("parts of %u make another trace", part);
        trace_free(&parts);
    }
    if (one == VRS_OK)
        trace_free(&whole);
    struct buf packed;
    packed_into(text, len, &packed);
    for (uint32_t part = least; part < len; part = part * 5 / 3)
        check_packed(&packed, packed.len, 2 + part % 3, part);
    buf_free(&packed);
}

#define OP(name) "{\"ph\": \"X\", \"name\": \"" name "\", \"pid\": 1, \"ts\": 1, \"dur\": 2}"
#define NAMED(name)                                                                                \
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": \"p\", \"args\": {\"name\": " name "}}"

static void parts_do_not_matter(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[" OP("a") ", " OP("b") ",\n" OP("c") "," OP("b") "]",
        "[" OP("a") ", " OP("b") ", " OP("c") "] ",
        "{\"traceEvents\": [" OP("a") ", " OP("b") ", " OP("c") "], \"with_stack\": 1}",
        "{\"traceEvents\": [" OP("a") ", " OP("b") "], \"traceEvents\": [" OP("c") ", " OP("d") "]}",
        "[" OP("a") ", " OP("b") ", " OP("c") "]\n[" OP("d") "]",
        "{\"traceEvents\": [" OP("a") ", " OP("b") ", " OP("c") "]}, {\"x\": 1}\n",
        "[" NAMED("\"x\"") ", " OP("b") ", " NAMED("\"y\"") ", " OP("c") "]",
        "[" NAMED("\"x\"") ", " OP("b") ", " NAMED("null") ", " OP("c") "]",
        "[" OP("a") ", " OP("b") ",, " OP("c") ", " OP("d") "]",
        "[" OP("a") ", " OP("b\"b") ", " OP("c") ", " OP("d") "]",
        "[" OP("a") ", " OP("b") ", " OP("c") ", " OP("d"),
        "[" OP("a") ", " OP("b") ", \"a, " OP("c") "\", " OP("d") "]",
        "[" OP("a") ", [1, " OP("b") ", " OP("c") "], " OP("d") ", 7, " OP("e") "]",
        "{\"x\": [1, " OP("a") ", " OP("b") "], \"traceEvents\": [" OP("c") ", " OP("d") "]}",
        "[" OP("a") ", {\"ph\": \"X\", \"name\": 3}, {\"ph\": \"f\", \"ts\": 5, \"id\": \"x\", "
        "\"cat\": \"A\"}, {\"ph\": \"X\", \"name\": \"\xff\", \"ts\": 0, \"dur\": -1}, "
        "{\"ph\": \"i\", \"name\": \"[memory]\", \"ts\": 5, \"args\": {\"Bytes\": 4}}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_parts(texts[i], strlen(texts[i]), 30);
    struct buf text;
    make_text(&text);
    check_parts(text.at, text.len, 80000);
    check_parts(text.at, text.len - 40, 80000);
    text.at[text.len / 2] = '"';
    check_parts(text.at, text.len, 80000);
    buf_free(&text);
}

/* A list whose end lies in a part behind which no part can be cut: what stands there is not lost. */
static void what_cannot_be_cut_behind_the_list_is_read(void **state)
{
    (void)state;
    enum { TEXT_MOST = 80 << 20 };
    struct buf text, packed;
    buf_init(&text, TEXT_MOST);
    buf_text(&text, "{\"traceEvents\": [" OP("a"));
    for (int i = 0; i < 2000; i++)
        buf_text(&text, ", " OP("b"));
    buf_text(&text, "], \"metadata\": [7");
    for (int i = 0; i < 600; i++)
        buf_text(&text, ", " OP("none"));
    buf_text(&text, "], \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 4}, \"big\": [");
    buf_repeat(&text, S(" "), (size_t)66 << 20);
    buf_text(&text, "1]}");
    assert_false(text.failed);
    size_t len = packed_into(text.at, text.len, &packed);
    struct trace trace;
    struct vrs_error err;
    assert_int_equal(read_bytes(&packed, len, 3, 30000, &trace, &err), VRS_OK);
    assert_int_equal(trace.header.rank, 3);
    assert_int_equal(trace.read_bytes, text.len);
    trace_free(&trace);
    buf_free(&packed);
    buf_free(&text);
}

/* How far it is told to be never goes back, and reaches the end, though the file is read twice. */
struct heard {
    uint64_t most;
    bool went_back;
};

static bool hear(void *arg, uint64_t done, uint64_t total)
{
    struct heard *h = arg;
    (void)total;
    h->went_back = h->went_back || done < h->most;
    h->most = done;
    return true;
}

static void what_is_read_twice_is_told_once(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    size_t len = packed_into(text.at, text.len, &packed);
    const uint8_t *at = (const uint8_t *)packed.at;
    for (int cut = 0; cut < 2; cut++) {
        struct memory_bytes memory = { .start = at, .end = at + len - (cut ? 5 : 0) };
        struct heard heard = { .most = 0 };
        struct read_trace_options options = { .size_bytes = len,
                                              .threads = 2,
                                              .packed_part_bytes = 3000,
                                              .progress = hear,
                                              .progress_arg = &heard };
        struct trace trace;
        struct vrs_error err;
        assert_int_equal(read_trace(source_of_memory(&memory), &options, &trace, &err), VRS_OK);
        assert_false(heard.went_back);
        assert_true(heard.most > 0 && heard.most <= len);
        trace_free(&trace);
    }
    buf_free(&packed);
    buf_free(&text);
}

static bool cancel(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)total;
    return done == 0;
}

static void whoever_is_told_may_cancel(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    size_t len = packed_into(text.at, text.len, &packed);
    const uint8_t *at = (const uint8_t *)packed.at;
    struct memory_bytes memory = { .start = at, .end = at + len };
    struct read_trace_options options = { .size_bytes = len, .threads = 2, .progress = cancel };
    struct trace trace;
    struct vrs_error err;
    assert_int_equal(read_trace(source_of_memory(&memory), &options, &trace, &err), VRS_IO);
    memory.read = 0;
    options.packed_part_bytes = 3000;
    assert_int_equal(read_trace(source_of_memory(&memory), &options, &trace, &err), VRS_IO);
    buf_free(&packed);
    buf_free(&text);
}

/* A packed trace read in parts, each time anew. */
struct reads {
    const struct buf *packed;
    struct trace whole, trace;
};

static enum vrs_status read_in_parts(void *arg)
{
    struct reads *r = arg;
    struct vrs_error err;
    return read_bytes(r->packed, r->packed->len, 3, 3000, &r->trace, &err);
}

static void is_the_same(void *arg)
{
    struct reads *r = arg;
    assert_true(same(&r->trace, &r->whole));
    trace_free(&r->trace);
}

/* A part that has no memory is one more reason to read the file as one. */
static void memory_that_is_not_there_is_said_or_not_needed(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    packed_into(text.at, text.len, &packed);
    struct reads reads = { .packed = &packed };
    struct vrs_error err;
    assert_int_equal(read_bytes(&packed, packed.len, 1, 0, &reads.whole, &err), VRS_OK);
    fault_some(11, read_in_parts, is_the_same, &reads);
    trace_free(&reads.whole);
    buf_free(&packed);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portions_do_not_matter),
        cmocka_unit_test(portions_end_at_damage),
        cmocka_unit_test(threads_that_unpack_do_not_matter),
        cmocka_unit_test(what_stands_behind_a_member_does_not_matter),
        cmocka_unit_test(a_long_tail_does_not_matter),
        cmocka_unit_test(parts_do_not_matter),
        cmocka_unit_test(what_cannot_be_cut_behind_the_list_is_read),
        cmocka_unit_test(what_is_read_twice_is_told_once),
        cmocka_unit_test(whoever_is_told_may_cancel),
        cmocka_unit_test(memory_that_is_not_there_is_said_or_not_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
