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
#include "made/fault.h"
#include "render/write/font.h"
#include "render/write/out.h"
#include "render/write/png.h"

enum { W = 70, H = 33 };

static uint32_t pixels[W * H];
static const struct png_text texts[] = { { "Title", { "a \xe2\x89\xa5 b", 7 } } };
static struct png png = { W, H, pixels, texts, 1 };

static struct {
    uint8_t at[1 << 16];
    size_t len;
} written;

static bool write_part(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    if (len > sizeof written.at - written.len)
        return false;
    memcpy(written.at + written.len, bytes, len);
    written.len += len;
    return true;
}

static enum vrs_status write_png(void *arg)
{
    struct out out = { .write = write_part };
    (void)arg;
    written.len = 0;
    buf_init(&out.text, SIZE_MAX / 2);
    return out_finish(&out, png_write(&out, &png, NULL), NULL);
}

static uint32_t number_at(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The next chunk of a kind behind `*at`, which moves behind it; its length and bytes. */
static const uint8_t *find_chunk(size_t *at, const char *kind, uint32_t *ret_len)
{
    while (*at + 12 <= written.len) {
        const uint8_t *chunk = written.at + *at;
        uint32_t len = number_at(chunk);
        assert_true(len <= written.len - *at - 12);
        assert_int_equal(number_at(chunk + 8 + len), crc32(0, chunk + 4, len + 4));
        *at += len + 12;
        if (memcmp(chunk + 4, kind, 4) == 0) {
            *ret_len = len;
            return chunk + 8;
        }
    }
    return NULL;
}

static void check_pixels(uint8_t kind)
{
    static uint8_t unpacked[H * (1 + 3 * W)];
    uint32_t len, colours = 0;
    size_t at = 8;
    assert_memory_equal(written.at, "\211PNG\r\n\032\n", 8);
    const uint8_t *head = find_chunk(&at, "IHDR", &len);
    assert_non_null(head);
    assert_true(len == 13 && number_at(head) == W && number_at(head + 4) == H);
    assert_true(head[8] == 8 && head[9] == kind && head[12] == 0);
    const uint8_t *palette = kind == 3 ? find_chunk(&at, "PLTE", &colours) : NULL;
    const uint8_t *title = find_chunk(&at, "iTXt", &len);
    assert_memory_equal(title, "Title\0\0\0\0\0a ", 12);
    const uint8_t *data = find_chunk(&at, "IDAT", &len);
    uLongf size = sizeof unpacked;
    assert_int_equal(uncompress(unpacked, &size, data, len), Z_OK);
    assert_int_equal(size, H * (1 + W * (kind == 3 ? 1 : 3)));
    for (uint32_t y = 0; y < H; y++) {
        const uint8_t *row = unpacked + y * (size / H);
        uint8_t sum[3] = { 0 };
        assert_int_equal(row[0], kind == 3 ? 0 : 1);
        for (uint32_t x = 0; x < W; x++) {
            for (uint32_t i = 0; i < 3; i++)
                sum[i] = kind == 3 ? palette[3 * row[1 + x] + i]
                                   : (uint8_t)(sum[i] + row[1 + 3 * x + i]);
            uint32_t seen = (uint32_t)sum[0] << 16 | (uint32_t)sum[1] << 8 | sum[2];
            assert_int_equal(seen, pixels[y * W + x]);
        }
    }
    assert_non_null(find_chunk(&at, "IEND", &len));
    assert_int_equal(at, written.len);
}

static void few_colours_are_a_palette(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < W * H; i++)
        pixels[i] = i / 9 % 256 * 0x010203 & 0xffffff;
    assert_int_equal(write_png(NULL), VRS_OK);
    check_pixels(3);
}

static void many_colours_are_themselves(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < W * H; i++)
        pixels[i] = i * 7919 % 0x1000000;
    assert_int_equal(write_png(NULL), VRS_OK);
    check_pixels(2);
    for (uint32_t i = 0; i < W * H; i++)
        pixels[i] = i < 257 ? i : 0;
    assert_int_equal(write_png(NULL), VRS_OK);
    check_pixels(2);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(write_png, NULL, NULL);
}

static bool has_dots(uint32_t point)
{
    bool any = false;
    for (uint32_t y = 0; y < FONT_HEIGHT; y++)
        for (uint32_t x = 0; x < FONT_WIDTH; x++)
            any = any || font_dot(point, x, y);
    return any;
}

static bool same_letter(uint32_t a, uint32_t b)
{
    bool same = true;
    for (uint32_t y = 0; y < FONT_HEIGHT; y++)
        for (uint32_t x = 0; x < FONT_WIDTH; x++)
            same = same && font_dot(a, x, y) == font_dot(b, x, y);
    return same;
}

static void letters_are_told_apart(void **state)
{
    (void)state;
    assert_false(has_dots(' '));
    for (uint32_t a = '!'; a < 127; a++) {
        assert_true(has_dots(a));
        for (uint32_t b = '!'; b < a; b++)
            assert_false(same_letter(a, b));
    }
    assert_true(same_letter(0x4e00, '?') && same_letter(0x202f, ' '));
    assert_true(has_dots(0x2265) && has_dots(0x2026));
    assert_false(font_dot('#', FONT_WIDTH, 0) || font_dot('#', 0, FONT_HEIGHT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_colours_are_a_palette),
        cmocka_unit_test(many_colours_are_themselves),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(letters_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
