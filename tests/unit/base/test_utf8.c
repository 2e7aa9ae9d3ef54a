#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"

static void check_repaired(str text, str expected)
{
    struct buf repaired;
    buf_init(&repaired, 64);
    utf8_repair(&repaired, text);
    assert_false(repaired.failed);
    assert_true(str_equal(buf_slice(&repaired), expected));
    assert_int_equal(utf8_valid(text), str_equal(text, expected));
    buf_free(&repaired);
}

static void valid_text_stays(void **state)
{
    (void)state;
    check_repaired(S(""), S(""));
    check_repaired(S("plain\0text"), S("plain\0text"));
    check_repaired(S("\u00e9\u20ac\U0001f600"), S("\u00e9\u20ac\U0001f600"));
    check_repaired(S("\xf4\x8f\xbf\xbf"), S("\xf4\x8f\xbf\xbf"));
}

static void a_byte_order_mark_is_no_text(void **state)
{
    (void)state;
    assert_true(str_equal(utf8_without_mark(S("\xef\xbb\xbf# x")), S("# x")));
    assert_true(str_equal(utf8_without_mark(S("\xef\xbb\xbf")), S("")));
    assert_true(str_equal(utf8_without_mark(S("\xef\xbb")), S("\xef\xbb")));
    assert_true(str_equal(utf8_without_mark(S("")), S("")));
}

static void letters_are_counted_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(utf8_count(S("")), 0);
    assert_int_equal(utf8_count(S("abc")), 3);
    assert_int_equal(utf8_count(S("\u00e9\u20ac\U0001f600")), 3);
}

static void each_stray_byte_is_replaced(void **state)
{
    (void)state;
    check_repaired(S("a\x80z"), S("a\ufffdz"));
    check_repaired(S("\xc0\xaf"), S("\ufffd\ufffd"));                     /* overlong */
    check_repaired(S("\xe0\x9f\xbf"), S("\ufffd\ufffd\ufffd"));           /* overlong */
    check_repaired(S("\xf0\x8f\xbf\xbf"), S("\ufffd\ufffd\ufffd\ufffd")); /* overlong */
    check_repaired(S("\xed\xa0\x80"), S("\ufffd\ufffd\ufffd"));           /* surrogate */
    check_repaired(S("\xf4\x90\x80\x80"), S("\ufffd\ufffd\ufffd\ufffd")); /* beyond */
    check_repaired(S("\xf5\x80\x80\x80"), S("\ufffd\ufffd\ufffd\ufffd")); /* beyond */
    check_repaired(S("\xe2\x82"), S("\ufffd\ufffd"));                     /* cut */
}

/* Every code point comes back; those that are none come back as U+FFFD. */
static void points_survive(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 8);
    for (uint32_t point = 0; point < 0x110010; point++) {
        bool none = (point >= 0xd800 && point < 0xe000) || point > 0x10ffff;
        uint32_t back = 0;
        text.len = 0;
        utf8_encode(&text, point);
        if (utf8_decode(buf_slice(&text), &back) != text.len || back != (none ? 0xfffd : point))
            fail_msg("U+%04x came back as U+%04x", (unsigned)point, (unsigned)back);
    }
    buf_free(&text);
}

static void long_text_is_clipped_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t most;
        const char *wanted;
    } cases[] = {
        { "abc", 3, "abc" },           { "abcd", 3, "abc\u2026" },
        { "a\u20acb", 2, "a\u2026" },  { "a\u20acb", 4, "a\u20ac\u2026" },
        { "\U0001f600", 3, "\u2026" }, { "", 0, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b;
        buf_init(&b, 1000);
        utf8_append_clipped(&b, str_from(cases[i].text), cases[i].most);
        assert_true(str_equal(buf_slice(&b), str_from(cases[i].wanted)));
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_text_is_clipped_between_characters),
        cmocka_unit_test(valid_text_stays),
        cmocka_unit_test(a_byte_order_mark_is_no_text),
        cmocka_unit_test(letters_are_counted_not_bytes),
        cmocka_unit_test(each_stray_byte_is_replaced),
        cmocka_unit_test(points_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
