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

/* A frame with a checksum at its end. */
static void put_zstd(struct buf *to, str bytes)
{
    static uint8_t packed[1 << 20];
    ZSTD_CCtx *c = ZSTD_createCCtx();
    assert_non_null(c);
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, 3);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(c, packed, sizeof packed, bytes.ptr, bytes.len);
    assert_false(ZSTD_isError(size));
    buf_bytes(to, packed, size);
    ZSTD_freeCCtx(c);
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
    packed.at[10] |= 6; /* its first block is of no type that there is */
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

typedef void put_packed(struct buf *to, str bytes);

/* A trace in one member or frame of 70,001 bytes and another one; returns where the second
 * begins. */
static size_t put_parts(struct buf *to, put_packed *put, const struct buf *text)
{
    str whole = buf_slice(text), head = { whole.ptr, 70001 };
    to->len = 0;
    put(to, head);
    size_t second = to->len;
    put(to, (str){ whole.ptr + head.len, whole.len - head.len });
    return second;
}

static void check_checksums(const struct buf *packed, uint64_t count, uint64_t offset)
{
    for (size_t step = 0; step < 2000; step += 333) {
        struct text_trace r;
        text_trace_read(packed->at, packed->len, step, &default_limits, &r);
        if (r.status != VRS_OK)
            fail_msg("%s", r.err.message);
        assert_int_equal(r.trace.events, EVENTS);
        assert_int_equal(r.trace.damage[DAMAGE_CHECKSUM].count, count);
        assert_int_equal(r.trace.damage[DAMAGE_CHECKSUM].first_offset, offset);
        assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].count, 0);
        assert_int_equal(r.trace.damage[DAMAGE_PACKED_BYTES].count, 0);
        text_trace_free(&r);
    }
}

/* What it is of was given whole, and so is what comes behind. */
static void a_wrong_checksum_is_damage(void **state)
{
    (void)state;
    struct buf text = text_of_events(EVENTS), packed;
    buf_init(&packed, 2 << 20);
    size_t second = put_parts(&packed, put_gzip, &text);
    packed.at[second - 1] ^= 1; /* of the length of the first member */
    check_checksums(&packed, 1, second - 4);
    packed.at[second - 5] ^= 1; /* of its checksum: what comes behind it is not looked at */
    check_checksums(&packed, 1, second - 8);
    packed.at[packed.len - 5] ^= 1;
    check_checksums(&packed, 2, second - 8);
    second = put_parts(&packed, put_zstd, &text);
    packed.at[second - 1] ^= 1;
    check_checksums(&packed, 1, second - 4);
    packed.at[packed.len - 4] ^= 1;
    check_checksums(&packed, 2, second - 4);
    buf_free(&packed);
    buf_free(&text);
}

/* Of a whole trace whose packing lacks its last bytes. */
static void check_lost_end(struct buf *packed, const char *name, size_t cut, uint64_t text_bytes)
{
    struct text_trace r;
    text_trace_read(packed->at, cut, 0, &default_limits, &r);
    assert_int_equal(r.status, VRS_OK);
    assert_int_equal(r.trace.events, EVENTS);
    assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].count, 1);
    assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].first_offset, text_bytes);
    assert_string_equal(r.trace.cut_stream.name, name);
    assert_int_equal(r.trace.cut_stream.at, cut);
    text_trace_free(&r);
}

/* Of a whole trace behind whose packing there is more. */
static void check_more(struct buf *packed, str more, uint64_t count, uint64_t offset)
{
    size_t whole = packed->len;
    buf_str(packed, more);
    for (size_t step = 0; step < 2000; step += 999) {
        struct text_trace r;
        text_trace_read(packed->at, packed->len, step, &default_limits, &r);
        assert_int_equal(r.status, VRS_OK);
        assert_int_equal(r.trace.events, EVENTS);
        assert_int_equal(r.trace.damage[DAMAGE_PACKED_BYTES].count, count);
        assert_int_equal(r.trace.damage[DAMAGE_PACKED_BYTES].first_offset,
                         count > 0 ? whole + offset : 0);
        assert_int_equal(r.trace.damage[DAMAGE_TRUNCATED].count, 0);
        assert_int_equal(r.trace.damage[DAMAGE_BEHIND].count, 0);
        assert_null(r.trace.cut_stream.name);
        text_trace_free(&r);
    }
    packed->len = whole;
}

static void the_end_of_the_packing_is_looked_at(void **state)
{
    (void)state;
    struct buf text = text_of_events(EVENTS), packed;
    put_packed *put[] = { put_gzip, put_zstd };
    buf_init(&packed, 2 << 20);
    for (size_t i = 0; i < 2; i++) {
        packed.len = 0;
        put[i](&packed, buf_slice(&text));
        check_lost_end(&packed, i == 0 ? "gzip" : "zstd", packed.len - 1, text.len);
        check_more(&packed, (str){ "\0\0ju\0nk\0\0", 9 }, 7, 2);
        check_more(&packed, S("no part of it"), 13, 0);
        for (size_t len = 1; len < 4; len++)
            check_more(&packed, (str){ "\nno", len }, len, 0);
        /* Zeros are padding. */
        check_more(&packed, (str){ "\0\0", 2 }, 0, 0);
        packed.at[packed.len - 5] ^= (char)(i == 0); /* a wrong checksum, and more behind it */
        packed.at[packed.len - 1] ^= (char)(i == 1);
        check_more(&packed, S("junk"), 4, 0);
    }
    buf_free(&packed);
    buf_free(&text);
}

/* Nothing is there to be shown: which stream ends, and where. */
static void a_stream_that_ends_before_an_event_is_named(void **state)
{
    static const char *const texts[] = {
        "{\"traceEvents\": [{\"ph\": \"X\", \"na",
        "[[17, 2, 512", /* events of a memory timeline */
        "[[17, 18], [[0, 512,",
    };
    (void)state;
    struct buf packed;
    buf_init(&packed, 1 << 20);
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        packed.len = 0;
        (i % 2 == 0 ? put_gzip : put_zstd)(&packed, str_from(texts[i / 2]));
        const char *name = i % 2 == 0 ? "the gzip stream ends early" : "the zstd stream ends early";
        for (size_t len = 4; len < packed.len; len++) {
            struct text_trace r;
            text_trace_read(packed.at, len, 0, &default_limits, &r);
            assert_int_equal(r.status, VRS_CORRUPT);
            assert_int_equal(r.err.offset, len);
            if (strstr(r.err.message, name) == NULL)
                fail_msg("cut at %zu: %s", len, r.err.message);
        }
    }
    buf_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packing_reads_the_same),
        cmocka_unit_test(half_a_packed_file_keeps_what_it_holds),
        cmocka_unit_test(damage_of_the_packing_is_no_cut),
        cmocka_unit_test(a_wrong_checksum_is_damage),
        cmocka_unit_test(the_end_of_the_packing_is_looked_at),
        cmocka_unit_test(a_stream_that_ends_before_an_event_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
