#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/unpack.h"
#include "format/input/window.h"
#include "made/dribble.h"
#include "made/fault.h"
#include "model/recording.h"

static void put_gzip(struct buf *to, const void *bytes, size_t len, int level)
{
    z_stream z = { .zalloc = Z_NULL };
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    size_t bound = deflateBound(&z, (uLong)len) + 64;
    uint8_t *packed = malloc(bound);
    assert_non_null(packed);
    uint8_t *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    z.next_in = copy;
    z.avail_in = (uInt)len;
    z.next_out = packed;
    z.avail_out = (uInt)bound;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_bytes(to, packed, z.total_out);
    deflateEnd(&z);
    free(copy);
    free(packed);
}

static void put_zstd(struct buf *to, const void *bytes, size_t len, int level)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t bound = ZSTD_compressBound(len);
    uint8_t *packed = malloc(bound);
    assert_non_null(packed);
    size_t size = ZSTD_compress2(c, packed, bound, bytes, len);
    assert_false(ZSTD_isError(size));
    buf_bytes(to, packed, size);
    ZSTD_freeCCtx(c);
    free(packed);
}

static void put_skippable(struct buf *to, const char *bytes, uint32_t len)
{
    uint8_t head[8] = { 0x5e, 0x2a, 0x4d, 0x18, (uint8_t)len, (uint8_t)(len >> 8), 0, 0 };
    buf_bytes(to, head, sizeof head);
    buf_bytes(to, bytes, len);
}

struct outcome {
    enum vrs_status status;
    struct vrs_error err;
    uint64_t given;
    uint64_t hash; /* of the bytes, to compare long ones */
    bool cut;
    uint64_t junk;
    char text[64]; /* the first bytes */
};

static uint64_t mix(uint64_t hash, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Unpacks all, with `record_bytes` bytes to a finished record (0: never one). */
static struct outcome unpack(const struct buf *packed, enum compression compression, size_t step,
                             const struct limits *limits, uint64_t record_bytes)
{
    struct outcome o = { .hash = 0 };
    struct dribble d = { .at = (const uint8_t *)packed->at, .left = packed->len, .step = step };
    struct window w;
    uint64_t records = 0;
    o.status = window_init(&w, dribble_source(&d), &o.err);
    if (o.status != VRS_OK)
        return o;
    struct unpack u;
    o.status = unpack_init(&u, &w, compression, limits, &records, &o.err);
    size_t got = o.status == VRS_OK, len = step == 0 ? 100000 : step;
    uint8_t *bytes = malloc(len);
    while (bytes != NULL && got > 0 && o.status == VRS_OK) {
        o.status = source_of_unpack(&u).read(&u, bytes, len, &got, &o.err);
        if (o.status != VRS_OK)
            break;
        for (size_t i = 0; i < got && o.given + i + 1 < sizeof o.text; i++)
            o.text[o.given + i] = (char)bytes[i];
        o.hash = mix(o.hash, bytes, got);
        o.given += got;
        if (record_bytes != 0)
            records = o.given / record_bytes;
    }
    o.cut = u.cut;
    o.junk = u.junk_bytes;
    free(bytes);
    unpack_free(&u);
    window_free(&w);
    return o;
}

static void check(const struct buf *packed, enum compression compression, const char *wanted,
                  bool cut, uint64_t junk)
{
    assert_false(packed->failed);
    for (size_t step = 0; step < 4; step++) {
        struct outcome o = unpack(packed, compression, step, &default_limits, 0);
        if (o.status != VRS_OK)
            fail_msg("wanted %s, got: %s", wanted, o.err.message);
        assert_string_equal(o.text, wanted);
        assert_int_equal(o.cut, cut);
        assert_int_equal(o.junk, junk);
    }
}

static void check_refused(const struct buf *packed, enum compression compression,
                          enum vrs_status status, uint64_t offset, const char *word)
{
    for (size_t step = 0; step < 4; step++) {
        struct outcome o = unpack(packed, compression, step, &default_limits, 0);
        assert_int_equal(o.status, status);
        assert_int_equal(o.err.offset, offset);
        if (strstr(o.err.message, word) == NULL)
            fail_msg("no \"%s\" in: %s", word, o.err.message);
    }
}

static void gzip_members_follow_each_other(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_gzip(&b, "hello", 5, 6);
    check(&b, COMPRESSION_GZIP, "hello", false, 0);
    put_gzip(&b, "", 0, 6);
    put_gzip(&b, " there", 6, 0);
    check(&b, COMPRESSION_GZIP, "hello there", false, 0);
    buf_repeat(&b, (str){ "\0", 1 }, 700);
    check(&b, COMPRESSION_GZIP, "hello there", false, 0);
    put_gzip(&b, "!", 1, 6);
    check(&b, COMPRESSION_GZIP, "hello there!", false, 0);
    buf_bytes(&b, "\0junk\0x", 7);
    check(&b, COMPRESSION_GZIP, "hello there!", false, 6);
    buf_free(&b);
}

static void gzip_cut_anywhere_is_cut(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_gzip(&b, "hello", 5, 6);
    size_t first = b.len;
    put_gzip(&b, " there", 6, 6);
    for (size_t len = 1; len < b.len; len++) {
        struct buf part = { .at = b.at, .len = len };
        struct outcome o = unpack(&part, COMPRESSION_GZIP, len % 3, &default_limits, 0);
        assert_int_equal(o.status, VRS_OK);
        assert_int_equal(o.cut, len != first);
        assert_memory_equal(o.text, "hello there", o.given);
    }
    buf_free(&b);
}

static void gzip_damage_has_its_offset(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_gzip(&b, "hello", 5, 0);
    b.at[b.len - 8] ^= 1;
    check_refused(&b, COMPRESSION_GZIP, VRS_CORRUPT, b.len - 4, "incorrect data check");
    b.at[b.len - 8] ^= 1;
    b.at[b.len - 4] ^= 1;
    check_refused(&b, COMPRESSION_GZIP, VRS_CORRUPT, b.len, "incorrect length check");
    b.at[b.len - 4] ^= 1;
    b.at[10] |= 6;
    check_refused(&b, COMPRESSION_GZIP, VRS_CORRUPT, 11, "invalid block type");
    buf_free(&b);
}

/* In whatever portions the packed bytes come: "]" and more of it, then what is no distance. */
static void what_comes_before_damage_is_given(void **state)
{
    (void)state;
    static const char bytes[] = "\x1f\x8b\x08\0\0\0\x5d\0\xfc\x5d\xdb\xff\x7f\0\0\xfc\x5d";
    struct buf b;
    buf_init(&b, 1 << 10);
    buf_bytes(&b, bytes, sizeof bytes - 1);
    struct outcome whole = unpack(&b, COMPRESSION_GZIP, 0, &default_limits, 0);
    assert_int_equal(whole.status, VRS_CORRUPT);
    assert_true(whole.given > 0);
    for (size_t step = 1; step < b.len; step++) {
        struct outcome o = unpack(&b, COMPRESSION_GZIP, step, &default_limits, 0);
        assert_int_equal(o.status, VRS_CORRUPT);
        assert_int_equal(o.given, whole.given);
        assert_int_equal(o.hash, whole.hash);
        assert_string_equal(o.err.message, whole.err.message);
    }
    buf_free(&b);
}

static void zstd_frames_follow_each_other(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_skippable(&b, "not this", 8);
    put_skippable(&b, "", 0);
    put_zstd(&b, "hello", 5, 3);
    check(&b, COMPRESSION_ZSTD, "hello", false, 0);
    put_skippable(&b, "nor this", 8);
    put_zstd(&b, "", 0, 3);
    put_zstd(&b, " there", 6, 19);
    check(&b, COMPRESSION_ZSTD, "hello there", false, 0);
    put_skippable(&b, "at the end", 10);
    buf_repeat(&b, (str){ "\0", 1 }, 3);
    check(&b, COMPRESSION_ZSTD, "hello there", false, 0);
    buf_free(&b);
}

static void zstd_cut_anywhere_is_cut(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_zstd(&b, "hello", 5, 3);
    size_t first = b.len;
    put_skippable(&b, "skipped", 7);
    size_t second = b.len;
    put_zstd(&b, " there", 6, 3);
    for (size_t len = 1; len < b.len; len++) {
        struct buf part = { .at = b.at, .len = len };
        struct outcome o = unpack(&part, COMPRESSION_ZSTD, len % 3, &default_limits, 0);
        assert_int_equal(o.status, VRS_OK);
        assert_int_equal(o.cut, len != first && len != second);
        assert_memory_equal(o.text, "hello there", o.given);
    }
    buf_free(&b);
}

static void zstd_damage_has_its_offset(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    put_zstd(&b, "hello", 5, 3);
    b.at[b.len - 1] ^= 1;
    check_refused(&b, COMPRESSION_ZSTD, VRS_CORRUPT, b.len - 4, "checksum");
    b.at[b.len - 1] ^= 1;
    size_t end = b.len;
    buf_text(&b, "junk that is no frame");
    check_refused(&b, COMPRESSION_ZSTD, VRS_CORRUPT, end, "no frame");
    buf_free(&b);
}

static void zstd_forms_that_are_not_read_are_named(void **state)
{
    (void)state;
    struct {
        const char *bytes;
        size_t len;
        const char *word;
    } rows[] = {
        { "\x28\xb5\x2f\xfd\x00\x90\0\0\0\0\0\0\0\0\0\0\0\0", 18, "268435456" },
        { "\x28\xb5\x2f\xfd\x00\x89\0\0\0\0\0\0\0\0\0\0\0\0", 18, "150994944" },
        { "\x28\xb5\x2f\xfd\xa0\x01\x00\x00\x08\0\0\0\0\0\0\0\0\0", 18, "134217729" },
        { "\x28\xb5\x2f\xfd\x01\x00\x07\0\0\0\0\0\0\0\0\0\0\0", 18, "dictionary 7" },
        { "\x28\xb5\x2f\xfd\x23\x78\x56\x34\x12\0\0\0\0\0\0\0\0\0", 18, "dictionary 305419896" },
        { "\x27\xb5\x2f\xfd\x00\x00\x00\x00", 8, "zstd 0.8" },
        { "\xfd\x2f\xb5\x1e\x00\x00\x00\x00", 8, "zstd 0.8" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;
        buf_init(&b, 1 << 20);
        put_skippable(&b, "", 0);
        buf_bytes(&b, rows[i].bytes, rows[i].len);
        check_refused(&b, COMPRESSION_ZSTD, VRS_UNSUPPORTED, 8, rows[i].word);
        buf_free(&b);
    }
}

static void the_limit_on_unpacked_bytes_holds(void **state)
{
    (void)state;
    static char zeros[100000];
    struct limits limits = default_limits;
    for (int kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZSTD; kind++) {
        struct buf b;
        buf_init(&b, 1 << 20);
        if (kind == COMPRESSION_GZIP)
            put_gzip(&b, zeros, sizeof zeros, 6);
        else
            put_zstd(&b, zeros, sizeof zeros, 3);
        limits.unpacked_bytes = sizeof zeros;
        assert_int_equal(unpack(&b, (enum compression)kind, 0, &limits, 0).status, VRS_OK);
        limits.unpacked_bytes--;
        assert_int_equal(unpack(&b, (enum compression)kind, 0, &limits, 0).status, VRS_LIMIT);
        buf_free(&b);
    }
}

static void a_bomb_stops_unless_records_come(void **state)
{
    (void)state;
    size_t size = (size_t)80 << 20;
    char *zeros = calloc(size, 1);
    assert_non_null(zeros);
    struct buf b;
    buf_init(&b, 1 << 20);
    put_zstd(&b, zeros, size, 3);
    struct outcome o = unpack(&b, COMPRESSION_ZSTD, 0, &default_limits, 0);
    assert_int_equal(o.status, VRS_LIMIT);
    assert_non_null(strstr(o.err.message, "without one record"));
    o = unpack(&b, COMPRESSION_ZSTD, 0, &default_limits, 32 << 20);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.given, size);
    b.len = 0;
    put_gzip(&b, zeros, size, 9);
    assert_int_equal(unpack(&b, COMPRESSION_GZIP, 0, &default_limits, 0).status, VRS_LIMIT);
    o = unpack(&b, COMPRESSION_GZIP, 0, &default_limits, 32 << 20);
    assert_int_equal(o.status, VRS_OK);
    assert_int_equal(o.given, size);
    buf_free(&b);
    free(zeros);
}

static void long_streams_come_out_whole(void **state)
{
    (void)state;
    size_t size = 5 << 20;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    uint32_t seed = 1;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 30);
    }
    uint64_t hash = mix(0, bytes, size);
    for (int kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZSTD; kind++) {
        struct buf b;
        buf_init(&b, 8 << 20);
        if (kind == COMPRESSION_GZIP)
            put_gzip(&b, bytes, size, 6);
        else
            put_zstd(&b, bytes, size, 3);
        const size_t steps[] = { 0, 7, 4096 };
        for (size_t i = 0; i < 3; i++) {
            struct outcome o = unpack(&b, (enum compression)kind, steps[i], &default_limits, 0);
            assert_int_equal(o.status, VRS_OK);
            assert_int_equal(o.given, size);
            assert_true(o.hash == hash);
        }
        buf_free(&b);
    }
    free(bytes);
}

/* libzstd's own allocations are not ours to fail; zlib's come through our functions. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int kind = COMPRESSION_GZIP; kind <= COMPRESSION_ZSTD; kind++) {
        struct buf b;
        buf_init(&b, 1 << 20);
        if (kind == COMPRESSION_GZIP)
            put_gzip(&b, "hello", 5, 6);
        else
            put_zstd(&b, "hello", 5, 3);
        bool fired = true;
        for (long n = 0; fired; n++) {
            fault_left = n;
            struct outcome o = unpack(&b, (enum compression)kind, 0, &default_limits, 0);
            fired = fault_left < 0;
            fault_left = -1;
            /* The last one is the test's own, for the bytes it reads into. */
            if (fired && o.status == VRS_OK)
                assert_int_equal(o.given, 0);
            else
                assert_int_equal(o.status, fired ? VRS_NOMEM : VRS_OK);
        }
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_members_follow_each_other),
        cmocka_unit_test(gzip_cut_anywhere_is_cut),
        cmocka_unit_test(gzip_damage_has_its_offset),
        cmocka_unit_test(what_comes_before_damage_is_given),
        cmocka_unit_test(zstd_frames_follow_each_other),
        cmocka_unit_test(zstd_cut_anywhere_is_cut),
        cmocka_unit_test(zstd_damage_has_its_offset),
        cmocka_unit_test(zstd_forms_that_are_not_read_are_named),
        cmocka_unit_test(the_limit_on_unpacked_bytes_holds),
        cmocka_unit_test(a_bomb_stops_unless_records_come),
        cmocka_unit_test(long_streams_come_out_whole),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
