#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/number.h"
#include "base/str.h"

static void digits_of_any_number_have_a_value(void **state)
{
    (void)state;
    static const char digits[] = "9081726354019283746";
    uint64_t wanted = 0, value;
    for (size_t len = 0; len <= NUMBER_DIGITS; len++) {
        assert_int_equal(number_digits((str){ digits, len }, &value), len);
        assert_int_equal(value, wanted);
        if (len < NUMBER_DIGITS)
            wanted = wanted * 10 + (uint64_t)(digits[len] - '0');
    }
}

static void digits_end_at_any_other_byte(void **state)
{
    (void)state;
    for (size_t at = 0; at < NUMBER_DIGITS + 2; at++) {
        for (int other = 0; other < 256; other++) {
            char text[] = "123456789012345678901";
            uint64_t value, wanted;
            text[at] = (char)other;
            size_t digits = number_digits((str){ text, sizeof text - 1 }, &value);
            if (other < '0' || other > '9')
                assert_int_equal(digits, at < NUMBER_DIGITS ? at : NUMBER_DIGITS);
            else
                assert_int_equal(digits, NUMBER_DIGITS);
            assert_int_equal(number_digits((str){ text, digits }, &wanted), digits);
            assert_int_equal(value, wanted);
        }
    }
}

static void integers_fill_64_bits(void **state)
{
    (void)state;
    static const struct {
        str text;
        uint64_t bits;
        bool negative;
    } cases[] = {
        { { "0", 1 }, 0, false },
        { { "-0", 2 }, 0, false },
        { { "+7", 2 }, 7, false },
        { { "007", 3 }, 7, false },
        { { "18446744073709551615", 20 }, UINT64_MAX, false },
        { { "-1", 2 }, UINT64_MAX, true },
        { { "-9223372036854775808", 20 }, (uint64_t)1 << 63, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bits = 1;
        bool negative = !cases[i].negative;
        assert_true(number_integer(cases[i].text, &bits, &negative));
        assert_true(bits == cases[i].bits);
        assert_int_equal(negative, cases[i].negative);
    }
}

static void other_text_is_no_integer(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", "-", "+", "1x", " 1", "1.0", "--1", "18446744073709551616", "-9223372036854775809",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bits = 5;
        bool negative = true;
        assert_false(number_integer(str_from(cases[i]), &bits, &negative));
        assert_int_equal(bits, 5);
    }
}

static void hexadecimal_digits_of_either_case(void **state)
{
    (void)state;
    uint32_t n = 0;
    assert_true(number_hex(S("00fF"), &n));
    assert_int_equal(n, 0xff);
    assert_true(number_hex(S("DeadBeef"), &n));
    assert_int_equal(n, 0xdeadbeef);
    assert_false(number_hex(S(""), &n));
    assert_false(number_hex(S("00g0"), &n));
    assert_false(number_hex(S("123456789"), &n));
    assert_int_equal(n, 0xdeadbeef);
}

static void fractions(void **state)
{
    (void)state;
    double real = 0;
    assert_true(number_real(S("12.5"), &real));
    assert_true(real == 12.5);
    assert_true(number_real(S("-1e3"), &real));
    assert_true(real == -1000);
    assert_false(number_real(S(""), &real));
    assert_false(number_real(S("1.5s"), &real));
    assert_false(number_real(S("1\0"), &real));
}

static void points_are_points_in_every_locale(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "1,5", "1.5" },
        { "-0,25 GiB", "-0.25 GiB" },
        { "1\u066b25e-07", "1.25e-07" },
        { "1.5 M", "1.5 M" },
        { "12", "12" },
        { "-12 KiB", "-12 KiB" },
        { "1e+20", "1e+20" },
        { "inf", "inf" },
        { "-nan", "-nan" },
        { "1,5 and 2,5", "1.5 and 2,5" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        number_set_point(text);
        assert_string_equal(text, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_of_any_number_have_a_value),
        cmocka_unit_test(digits_end_at_any_other_byte),
        cmocka_unit_test(integers_fill_64_bits),
        cmocka_unit_test(other_text_is_no_integer),
        cmocka_unit_test(hexadecimal_digits_of_either_case),
        cmocka_unit_test(fractions),
        cmocka_unit_test(points_are_points_in_every_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
