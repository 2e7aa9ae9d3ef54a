#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/read.h"
#include "made/dribble.h"
#include "made/fault.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* Two segments without blocks; as JSON, and as a pickle of protocol 2. */
static const char json[] = "[{\"total_size\": 512, \"blocks\": []}, {\"total_size\": 512}]";
static const char pickle[] = "\x80\x02]q\0(}q\1(X\12\0\0\0total_sizeq\2M\0\2X\6\0\0\0blocksq\3]q"
                             "\4u}q\5h\2M\0\2se.";

static const str json_text = { json, sizeof json - 1 };
static const str pickle_text = { pickle, sizeof pickle - 1 };

static enum vrs_status read_step(str bytes, size_t step, struct entries *ret, struct vrs_error *err)
{
    struct dribble d = { .at = (const uint8_t *)bytes.ptr, .left = bytes.len, .step = step };
    const struct read_options options = { .size_bytes = bytes.len };
    return read_recordings(dribble_source(&d), &options, ret, err);
}

/* One recording of two segments; its origin is given back. */
static struct origin check(str bytes)
{
    struct origin origin = { .size_bytes = 0 };
    for (size_t step = 0; step < 3; step++) {
        struct entries e;
        struct vrs_error err = { .message = "" };
        if (read_step(bytes, step, &e, &err) != VRS_OK)
            fail_msg("%s", err.message);
        assert_int_equal(e.list.len, 1);
        assert_int_equal(e.list.at[0].status, VRS_OK);
        assert_int_equal(e.list.at[0].recording->segments.rows.len, 2);
        origin = e.list.at[0].recording->origin;
        assert_int_equal(origin.size_bytes, bytes.len);
        entries_free(&e);
    }
    return origin;
}

static void check_refused(str bytes, enum vrs_status status, const char *word)
{
    for (size_t step = 0; step < 3; step++) {
        struct entries e;
        struct vrs_error err = { .message = "" };
        enum vrs_status got = read_step(bytes, step, &e, &err);
        if (got != status || err.status != status)
            fail_msg("wanted %d with \"%s\", got %d: %s", status, word, got, err.message);
        if (strstr(err.message, word) == NULL)
            fail_msg("no \"%s\" in: %s", word, err.message);
    }
}

/* Bytes joined in a buffer that the caller frees. */
static struct buf joined(str a, str b)
{
    struct buf both;
    buf_init(&both, 1 << 20);
    buf_str(&both, a);
    buf_str(&both, b);
    assert_false(both.failed);
    return both;
}

static struct buf gzip(str bytes)
{
    z_stream z = { .zalloc = Z_NULL };
    uint8_t packed[2000], copy[1000];
    assert_true(bytes.len <= sizeof copy);
    memcpy(copy, bytes.ptr, bytes.len);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = copy;
    z.avail_in = (uInt)bytes.len;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_bytes(&b, packed, z.total_out);
    deflateEnd(&z);
    return b;
}

static void put_base64(struct buf *to, str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        uint32_t group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (i + k < bytes.len ? (uint8_t)bytes.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_char(to, i + k > bytes.len ? '=' : digits[group >> (18 - 6 * k) & 63]);
    }
}

static void put_entry(struct buf *to, const char *name, str bytes)
{
    if (name == NULL)
        buf_text(to, "{\"base64\": \"");
    else
        buf_format(to, "{\"name\": \"%s\", \"base64\": \"", name);
    put_base64(to, bytes);
    buf_text(to, "\"}, ");
}

static void plain_forms_are_told_by_their_bytes(void **state)
{
    (void)state;
    struct origin o = check(pickle_text);
    assert_int_equal(o.encoding, ENCODING_PICKLE);
    assert_int_equal(o.pickle_protocol, 2);
    assert_int_equal(o.compression, COMPRESSION_NONE);
    assert_int_equal(o.wrapper, WRAPPER_NONE);
    assert_int_equal(o.read_bytes, pickle_text.len);
    o = check(json_text);
    assert_int_equal(o.encoding, ENCODING_JSON);
    struct buf b = joined(S("\xef\xbb\xbf\r\n\t "), json_text);
    check(buf_slice(&b));
    buf_free(&b);
}

static void bytes_behind_the_end_are_counted(void **state)
{
    (void)state;
    const struct {
        str recording, tail;
        uint64_t trailing;
    } rows[] = {
        { pickle_text, { "\0\0\0", 3 }, 0 },
        { pickle_text, { "\0ab\0 c", 6 }, 4 },
        { json_text, { " \r\n\t\0", 5 }, 0 },
        { json_text, { "\n[1]", 4 }, 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b = joined(rows[i].recording, rows[i].tail);
        assert_int_equal(check(buf_slice(&b)).trailing_bytes, rows[i].trailing);
        buf_free(&b);
    }
}

static void strangers_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        str bytes;
        const char *word;
    } rows[] = {
        { { " \n", 2 }, "white space" },
        { { "PK\3\4rest of it", 14 }, "torch.save" },
        { { "version https://git-lfs.github.com/spec/v1\noid sha256:0", 55 }, "git lfs pull" },
        { { "\xfd"
            "7zXZ\0",
            6 },
          "xz -d" },
        { { "BZh91AY&SY", 10 }, "bzip2 -d" },
        { { "SQLite format 3\0", 16 }, "SQLite" },
        { { "\xff\xfe{\0", 4 }, "UTF-16" },
        { { "Traceback (most recent call last):", 34 }, "text" },
        { { "\x01\x02\x03\x04\x05", 5 }, "neither a pickle nor JSON" },
        { { "\x27\xb5\x2f\xfd\0\0", 6 }, "zstd in a format from before 0.8" },
        { { "<html></html>", 13 }, "page ends without" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(rows[i].bytes, VRS_UNSUPPORTED, rows[i].word);
}

/* A recording that failed, not another file: a folder of ranks does not pass over it. */
static void leavings_of_a_dump_are_no_strangers(void **state)
{
    (void)state;
    check_refused(S(""), VRS_CORRUPT, "empty: the program");
    check_refused((str){ "\0\0\0\0\0\0", 6 }, VRS_CORRUPT, "zero bytes");
    check_refused(S("\x1f"), VRS_CORRUPT, "too short to be recognised");
    struct buf b = gzip(S(""));
    check_refused(buf_slice(&b), VRS_CORRUPT, "an empty file, compressed");
    buf_free(&b);
}

static void compressed_forms_are_unpacked(void **state)
{
    (void)state;
    struct buf b = gzip(pickle_text);
    struct origin o = check(buf_slice(&b));
    assert_int_equal(o.compression, COMPRESSION_GZIP);
    assert_int_equal(o.read_bytes, pickle_text.len);
    struct buf junk = joined(buf_slice(&b), S("\0\0behind"));
    assert_int_equal(check(buf_slice(&junk)).trailing_bytes, 6);
    buf_free(&junk);
    buf_free(&b);
    b = gzip(json_text);
    check(buf_slice(&b));
    buf_free(&b);
}

static void a_lost_trailer_is_noted(void **state)
{
    (void)state;
    struct buf b = gzip(pickle_text);
    assert_false(check(buf_slice(&b)).trailer_lost);
    struct origin o = check((str){ b.at, b.len - 3 });
    assert_true(o.complete);
    assert_true(o.trailer_lost);
    buf_free(&b);
}

static void damage_of_the_stream_is_the_failure(void **state)
{
    (void)state;
    struct buf b = gzip(pickle_text);
    b.at[b.len - 8] ^= 1;
    check_refused(buf_slice(&b), VRS_CORRUPT, "data check");
    buf_free(&b);
    /* Stored, so that the damage first shows as an opcode; the checksum tells the cause. */
    static const char bad[] = "\x80\x02Z is no opcode";
    b = gzip((str){ bad, sizeof bad - 1 });
    check_refused(buf_slice(&b), VRS_CORRUPT, "unpacked bytes");
    b.at[b.len - 8] ^= 1;
    check_refused(buf_slice(&b), VRS_CORRUPT, "data check");
    buf_free(&b);
}

static void packing_twice_is_refused(void **state)
{
    (void)state;
    struct buf once = gzip(pickle_text), twice = gzip(buf_slice(&once));
    check_refused(buf_slice(&twice), VRS_UNSUPPORTED, "compressed twice, gzip inside gzip");
    buf_free(&twice);
    twice = gzip(S("\x28\xb5\x2f\xfd whatever"));
    check_refused(buf_slice(&twice), VRS_UNSUPPORTED, "compressed twice, zstd inside gzip");
    buf_free(&twice);
    check_refused((str){ once.at, 5 }, VRS_CORRUPT, "before its first byte");
    buf_free(&once);
}

struct wanted_entry {
    const char *name;
    enum vrs_status status;
};

static void check_page(str page, const struct wanted_entry *wanted, uint32_t count)
{
    for (size_t step = 0; step < 3; step++) {
        struct entries e;
        struct vrs_error err = { .message = "" };
        if (read_step(page, step, &e, &err) != VRS_OK)
            fail_msg("%s", err.message);
        assert_int_equal(e.list.len, count);
        for (uint32_t i = 0; i < count; i++) {
            const struct entry *entry = &e.list.at[i];
            if (!str_equal(entry->name, str_from(wanted[i].name)))
                fail_msg("%.*s, not %s", (int)entry->name.len, entry->name.ptr, wanted[i].name);
            assert_int_equal(entry->status, wanted[i].status);
            assert_int_equal(entry->recording != NULL, entry->status == VRS_OK);
            if (entry->recording == NULL)
                continue;
            struct origin *o = &entry->recording->origin;
            assert_int_equal(o->wrapper, WRAPPER_HTML);
            assert_true(
                str_equal(strings_text(&entry->recording->code.strings, o->entry), entry->name));
        }
        entries_free(&e);
    }
}

static void entries_of_a_page_stand_for_themselves(void **state)
{
    (void)state;
    struct buf page, packed = gzip(pickle_text);
    buf_init(&page, 1 << 20);
    buf_text(&page, "\n<html>[");
    put_entry(&page, "same", pickle_text);
    put_entry(&page, NULL, S("what is this"));
    put_entry(&page, "packed", buf_slice(&packed));
    put_entry(&page, "same", json_text);
    buf_text(&page, "{\"name\": \"broken\", \"base64\": \"gAI!\"}, {\"base64\": \"\"}");
    put_entry(&page, "<html>", S("<html>"));
    put_entry(&page, "last", pickle_text);
    const struct wanted_entry wanted[] = {
        { "same#1", VRS_OK },          { "#1", VRS_UNSUPPORTED }, { "packed", VRS_UNSUPPORTED },
        { "same#2", VRS_OK },          { "broken", VRS_CORRUPT }, { "#2", VRS_UNSUPPORTED },
        { "<html>", VRS_UNSUPPORTED }, { "last", VRS_OK },
    };
    check_page(buf_slice(&page), wanted, sizeof wanted / sizeof *wanted);
    buf_free(&packed);
    buf_free(&page);
}

static void a_page_may_be_cut_anywhere(void **state)
{
    (void)state;
    struct buf page;
    buf_init(&page, 1 << 20);
    buf_text(&page, "<html>[");
    put_entry(&page, "a", pickle_text);
    size_t first = page.len;
    put_entry(&page, "b", json_text);
    for (size_t len = 1; len < page.len; len++) {
        struct entries e;
        enum vrs_status status = read_step((str){ page.at, len }, 0, &e, NULL);
        if (status != VRS_OK) {
            assert_true(len < first);
            continue;
        }
        assert_true(e.list.len >= 1);
        if (len >= first)
            assert_true(e.list.at[0].recording->origin.complete);
        entries_free(&e);
    }
    buf_free(&page);
}

struct reports {
    uint64_t count, done, total;
    uint64_t stop_at;
};

static bool report(void *arg, uint64_t done_bytes, uint64_t total_bytes)
{
    struct reports *r = arg;
    r->count++;
    r->done = done_bytes;
    r->total = total_bytes;
    return r->stop_at == 0 || done_bytes < r->stop_at;
}

static void progress_is_told_every_mebibyte(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 8 << 20);
    buf_str(&b, json_text);
    buf_repeat(&b, S(" "), 5 << 20);
    struct dribble d = { .at = (const uint8_t *)b.at, .left = b.len, .step = 1000 };
    struct reports told = { .count = 0 };
    struct read_options options = { .size_bytes = b.len,
                                    .progress = report,
                                    .progress_arg = &told };
    struct entries e;
    assert_int_equal(read_recordings(dribble_source(&d), &options, &e, NULL), VRS_OK);
    entries_free(&e);
    assert_in_range(told.count, 5, 7);
    assert_int_equal(told.total, b.len);

    d = (struct dribble){ .at = (const uint8_t *)b.at, .left = b.len, .step = 1000 };
    told = (struct reports){ .stop_at = 2 << 20 };
    options.size_bytes = UNKNOWN_U64;
    struct vrs_error err;
    assert_int_equal(read_recordings(dribble_source(&d), &options, &e, &err), VRS_IO);
    assert_string_equal(err.message, "cancelled");
    assert_int_equal(told.total, 0);
    buf_free(&b);
}

static void a_failing_source_fails_the_call(void **state)
{
    (void)state;
    struct buf packed = gzip(pickle_text);
    const str rows[] = { S(""),       { pickle, 20 },     pickle_text,      json_text,
                         S("<html>"), buf_slice(&packed), { packed.at, 15 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dribble d = { .at = (const uint8_t *)rows[i].ptr,
                             .left = rows[i].len,
                             .fails = true };
        const struct read_options options = { .size_bytes = UNKNOWN_U64 };
        struct entries e;
        struct vrs_error err = { .message = "" };
        assert_int_equal(read_recordings(dribble_source(&d), &options, &e, &err), VRS_IO);
        assert_string_equal(err.message, "the disk is on fire");
    }
    buf_free(&packed);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct buf page, packed = gzip(pickle_text);
    buf_init(&page, 1 << 20);
    buf_text(&page, "<html>");
    put_entry(&page, "a", pickle_text);
    put_entry(&page, NULL, json_text);
    const str rows[] = { pickle_text, json_text, buf_slice(&packed), buf_slice(&page) };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool fired = true;
        for (long n = 0; fired; n++) {
            struct entries e;
            fault_left = n;
            enum vrs_status status = read_step(rows[i], 0, &e, NULL);
            fired = fault_left < 0;
            fault_left = -1;
            /* Giving back what a table reserved too much may fail without harm. */
            if (status != VRS_OK) {
                assert_int_equal(status, VRS_NOMEM);
                continue;
            }
            for (uint32_t k = 0; k < e.list.len; k++)
                assert_int_equal(e.list.at[k].status, VRS_OK);
            entries_free(&e);
        }
    }
    buf_free(&packed);
    buf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_forms_are_told_by_their_bytes),
        cmocka_unit_test(bytes_behind_the_end_are_counted),
        cmocka_unit_test(strangers_are_refused_by_name),
        cmocka_unit_test(leavings_of_a_dump_are_no_strangers),
        cmocka_unit_test(compressed_forms_are_unpacked),
        cmocka_unit_test(a_lost_trailer_is_noted),
        cmocka_unit_test(damage_of_the_stream_is_the_failure),
        cmocka_unit_test(packing_twice_is_refused),
        cmocka_unit_test(entries_of_a_page_stand_for_themselves),
        cmocka_unit_test(a_page_may_be_cut_anywhere),
        cmocka_unit_test(progress_is_told_every_mebibyte),
        cmocka_unit_test(a_failing_source_fails_the_call),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
