/* Traces in every packing, whole and cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/trace.h"

enum { EVENTS = 4000 };

static struct buf text_of_events(int events)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_text(&b, "{\"traceEvents\": [");
    uint32_t random = 1;
    for (int i = 0; i < events; i++) {
        random = random * 1664525 + 1013904223;
        buf_format(&b, "%s{\"ph\": \"X\", \"name\": \"op %u\", \"ts\": %u, \"dur\": %d}",
                   i > 0 ? ", " : "", random >> 24, random >> 4, i % 7);
    }
    buf_text(&b, "], \"with_stack\": 1}");
    assert_false(b.failed);
    return b;
}

static void put_gzip(struct buf *to, str bytes)
{
    static uint8_t packed[1 << 20];
    z_stream z = { .next_in = (Bytef *)(uintptr_t)bytes.ptr,
                   .avail_in = (uInt)bytes.len,
                   .next_out = packed,
                   .avail_out = sizeof packed };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_bytes(to, packed, z.total_out);
    deflateEnd(&z);
}

static void put_zstd(struct buf *to, str bytes)
{
    static uint8_t packed[1 << 20];
    size_t size = ZSTD_compress(packed, sizeof packed, bytes.ptr, bytes.len, 3);
    assert_false(ZSTD_isError(size));
    buf_bytes(to, packed, size);
}

static void check_same(const struct trace *wanted, const struct buf *packed)
{
    for (size_t step = 0; step < 2000; step += 999) {
        struct text_trace r;
        text_trace_read(packed->at, packed->len, step, &default_limits, &r);
        if (r.status != VRS_OK)
            fail_msg("%s", r.err.message);
        assert_true(trace_same(wanted, &r.trace));
        assert_int_equal(r.trace.header.flags, TRACE_WITH_STACK);
        text_trace_free(&r);
    }
}

static void every_packing_reads_the_same(void **state)
{
    (void)state;
    struct buf text = text_of_events(EVENTS), packed;
    str whole = buf_slice(&text), head = { whole.ptr, 70001 };
    str tail = { whole.ptr + head.len, whole.len - head.len };
    struct text_trace plain;
    text_trace_read(text.at, text.len, 0, &default_limits, &plain);
    assert_int_equal(plain.status, VRS_OK);
    assert_int_equal(plain.trace.events, EVENTS);
    buf_init(&packed, 2 << 20);
    check_same(&plain.trace, &text);
    put_gzip(&packed, whole);
    check_same(&plain.trace, &packed);
    packed.len = 0;
    put_gzip(&packed, head);
    put_gzip(&packed, S(""));
    put_gzip(&packed, tail);
    check_same(&plain.trace, &packed);
    packed.len = 0;
    put_zstd(&packed, whole);
    check_same(&plain.trace, &packed);
    packed.len = 0;
    put_zstd(&packed, head);
    put_zstd(&packed, tail);
    check_same(&plain.trace, &packed);
    text_trace_free(&plain);
    buf_free(&packed);
    buf_free(&text);
}

/* Whatever is cut, the events before it are kept, and the damage says where the text ends. */
static void check_cut(const struct trace *whole, const struct buf *packed, size_t len)
{
    struct text_trace r;
    text_trace_read(packed->at, len, 0, &default_limits, &r);
    if (r.status != VRS_OK)
        fail_msg("cut at %zu: %s", len, r.err.message);
    assert_true(trace_begins(&r.trace, whole));
    assert_true(r.trace.events > 0 && r.trace.events < whole->events);
    assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].count, 1);
    assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].first_offset, r.trace.read_bytes);
    text_trace_free(&r);
}

static void half_a_packed_file_keeps_what_it_holds(void **state)
{
    (void)state;
    struct buf text = text_of_events(EVENTS), packed;
    struct text_trace plain;
    text_trace_read(text.at, text.len, 0, &default_limits, &plain);
    assert_int_equal(plain.status, VRS_OK);
    buf_init(&packed, 2 << 20);
    put_gzip(&packed, buf_slice(&text));
    for (size_t len = packed.len / 2; len < packed.len / 2 + 100; len++)
        check_cut(&plain.trace, &packed, len);
    /* The second member lacks its end. */
    str whole = buf_slice(&text), head = { whole.ptr, 70001 };
    packed.len = 0;
    put_gzip(&packed, head);
    size_t first = packed.len;
    put_gzip(&packed, (str){ whole.ptr + head.len, whole.len - head.len });
    check_cut(&plain.trace, &packed, first);
    check_cut(&plain.trace, &packed, first + (packed.len - first) / 2);
    /* zstd gives nothing of a block that is not whole. */
    packed.len = 0;
    put_zstd(&packed, head);
    first = packed.len;
    put_zstd(&packed, (str){ whole.ptr + head.len, whole.len - head.len });
    check_cut(&plain.trace, &packed, first + (packed.len - first) / 2);
    text_trace_free(&plain);
    buf_free(&packed);
    buf_free(&text);
}

static void damage_of_the_packing_is_no_cut(void **state)
{
    (void)state;
    struct buf text = text_of_events(EVENTS), packed;
    buf_init(&packed, 2 << 20);
    put_gzip(&packed, buf_slice(&text));
    packed.at[packed.len - 6] ^= 1; /* of its checksum */
    struct text_trace r;
    text_trace_read(packed.at, packed.len, 0, &default_limits, &r);
    assert_int_equal(r.status, VRS_CORRUPT);
    assert_non_null(strstr(r.err.message, "damaged gzip data"));
    buf_free(&packed);
    packed = (struct buf){ .max = 2 << 20 };
    struct buf inner;
    buf_init(&inner, 2 << 20);
    put_gzip(&inner, buf_slice(&text));
    put_gzip(&packed, buf_slice(&inner));
    text_trace_read(packed.at, packed.len, 0, &default_limits, &r);
    assert_int_equal(r.status, VRS_UNSUPPORTED);
    assert_non_null(strstr(r.err.message, "compressed twice"));
    buf_free(&inner);
    buf_free(&packed);
    buf_free(&text);
}

/* Of a whole trace whose packing lacks its last bytes, or has more of them than it should. */
static void the_end_of_the_packing_is_looked_at(void **state)
{
    (void)state;
    struct buf text = text_of_events(EVENTS), packed;
    buf_init(&packed, 2 << 20);
    put_gzip(&packed, buf_slice(&text));
    size_t whole = packed.len;
    buf_bytes(&packed, "\0\0junk\0\0", 8);
    for (size_t cut = 0; cut < 2; cut++) {
        struct text_trace r;
        text_trace_read(packed.at, cut == 1 ? whole - 5 : packed.len, 0, &default_limits, &r);
        assert_int_equal(r.status, VRS_OK);
        assert_int_equal(r.trace.events, EVENTS);
        assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].count, cut);
        assert_int_equal(r.trace.damage[DAMAGE_BEHIND].count, 1 - cut);
        assert_int_equal(r.trace.damage[cut == 1 ? DAMAGE_TRUNCATED : DAMAGE_BEHIND].first_offset,
                         text.len);
        text_trace_free(&r);
    }
    /* Zeros are padding. */
    struct text_trace r;
    text_trace_read(packed.at, whole + 2, 0, &default_limits, &r);
    assert_int_equal(r.trace.damage[DAMAGE_BEHIND].count, 0);
    text_trace_free(&r);
    buf_free(&packed);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packing_reads_the_same),
        cmocka_unit_test(half_a_packed_file_keeps_what_it_holds),
        cmocka_unit_test(damage_of_the_packing_is_no_cut),
        cmocka_unit_test(the_end_of_the_packing_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
