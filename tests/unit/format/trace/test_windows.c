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
#include <zlib.h>

#include "base/buf.h"
#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/read_trace.h"
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

static size_t packed_into(const struct buf *text, struct buf *to)
{
    z_stream z = { .next_in = (Bytef *)text->at, .avail_in = (uInt)text->len };
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

static enum vrs_status read_bytes(const struct buf *bytes, size_t len, bool ahead,
                                  struct trace *ret, struct vrs_error *err)
{
    const uint8_t *at = (const uint8_t *)bytes->at;
    struct memory_bytes memory = { .start = at, .end = at + len };
    const struct read_trace_options options = { .size_bytes = len, .threads = ahead ? 2 : 1 };
    return read_trace(source_of_memory(&memory), &options, ret, err);
}

/* Cut, too, where it ends early, and damaged. */
static void a_thread_ahead_does_not_matter(void **state)
{
    (void)state;
    struct buf text, packed;
    make_text(&text);
    size_t len = packed_into(&text, &packed);
    const size_t cuts[] = { len, len - 5, len / 2, len / 3, 400 };
    for (int damaged = 0; damaged < 2; damaged++) {
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
            struct trace plain, ahead;
            struct vrs_error plain_error = { .message = "" }, ahead_error = { .message = "" };
            enum vrs_status one = read_bytes(&packed, cuts[i], false, &plain, &plain_error);
            enum vrs_status two = read_bytes(&packed, cuts[i], true, &ahead, &ahead_error);
            if (one != two || strcmp(plain_error.message, ahead_error.message) != 0)
                fail_msg("%zu bytes: %s, and ahead %s", cuts[i], plain_error.message,
                         ahead_error.message);
            if (one != VRS_OK)
                continue;
            assert_true(same(&plain, &ahead));
            trace_free(&plain);
            trace_free(&ahead);
        }
        packed.at[len / 4] = (char)(packed.at[len / 4] ^ 0x55);
    }
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
            parts.header.has_stacks != whole.header.has_stacks)
            fail_msg("parts of %u make another trace", part);
        trace_free(&parts);
    }
    if (one == VRS_OK)
        trace_free(&whole);
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
    size_t len = packed_into(&text, &packed);
    const uint8_t *at = (const uint8_t *)packed.at;
    struct memory_bytes memory = { .start = at, .end = at + len };
    const struct read_trace_options options = { .size_bytes = len, .threads = 2,
                                                .progress = cancel };
    struct trace trace;
    struct vrs_error err;
    assert_int_equal(read_trace(source_of_memory(&memory), &options, &trace, &err), VRS_IO);
    buf_free(&packed);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portions_do_not_matter),
        cmocka_unit_test(portions_end_at_damage),
        cmocka_unit_test(a_thread_ahead_does_not_matter),
        cmocka_unit_test(parts_do_not_matter),
        cmocka_unit_test(whoever_is_told_may_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
