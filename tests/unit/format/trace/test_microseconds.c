/* Microseconds as text: a table of cases, and random ones against schoolbook arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "format/trace/microseconds.h"

static void check(const char *text, int64_t wanted, bool beyond)
{
    int64_t ns = 1;
    bool is_beyond = !beyond;
    if (!microseconds_read(str_from(text), &ns, &is_beyond))
        fail_msg("%s is no number", text);
    if (ns != wanted || is_beyond != beyond)
        fail_msg("%s became %lld%s", text, (long long)ns, is_beyond ? ", beyond" : "");
    int64_t plain;
    bool is_whole;
    if (!microseconds_read_plain(str_from(text), &plain, &is_whole))
        return;
    if (plain != wanted || beyond || is_whole != (strchr(text, '.') == NULL))
        fail_msg("%s became %lld in short", text, (long long)plain);
}

static void most_are_plain(void **state)
{
    (void)state;
    static const char *const plain[] = { "0",      "7",     "1717171717123456.789",
                                         "12.345", "0.001", "9223372036854774.5" };
    static const char *const others[] = { "-7", "+7", "1.", ".5", "1e3", "1.2345", " 1", "", "1x",
                                          "9223372036854775.5", "12345678901234567" };
    int64_t ns;
    bool is_whole;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        assert_true(microseconds_read_plain(str_from(plain[i]), &ns, &is_whole));
        int64_t wanted;
        bool beyond;
        assert_true(microseconds_read(str_from(plain[i]), &wanted, &beyond));
        assert_int_equal(ns, wanted);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(microseconds_read_plain(str_from(others[i]), &ns, &is_whole));
}

static void digits_become_nanoseconds(void **state)
{
    (void)state;
    check("0", 0, false);
    check("-0", 0, false);
    check("7", 7000, false);
    check("007", 7000, false);
    check("+7", 7000, false);
    check("-7", -7000, false);
    check("1.5", 1500, false);
    check("1.", 1000, false);
    check("12.345", 12345, false);
    check(" \t12.345\r\n", 12345, false);
    check("0.001", 1, false);
}

static void the_fourth_digit_rounds(void **state)
{
    (void)state;
    check("0.0004", 0, false);
    check("0.0005", 1, false);
    check("0.00049999999999999999999999999999", 0, false);
    check("0.0015", 2, false);
    check("0.0025", 3, false);
    check("-0.0004", 0, false);
    check("-0.0005", -1, false);
    check("0.9995", 1000, false);
    check("9.9994999", 9999, false);
    check("9.9995", 10000, false);
}

static void exponents_move_the_point(void **state)
{
    (void)state;
    check("1.7e3", 1700000, false);
    check("1.7E+3", 1700000, false);
    check("1700e-3", 1700, false);
    check("5e-4", 1, false);
    check("4e-4", 0, false);
    check("5e-5", 0, false);
    check("99e-5", 1, false);
    check("1e-400", 0, false);
    check("1e-99999999999999999999", 0, false);
    check("0e99999999999999999999", 0, false);
    check("0.000000000000000000001e21", 1000, false);
    check("1.234567890123456789e15", 1234567890123456789, false);
}

/* A double has 53 bits: it would give 1720000000123456768. */
static void stamps_of_19_digits_are_exact(void **state)
{
    (void)state;
    check("1720000000123456.789", 1720000000123456789, false);
    check("1720000000123456.7894", 1720000000123456789, false);
    check("1720000000123456.7895", 1720000000123456790, false);
}

static void what_64_bits_cannot_hold_is_the_nearest(void **state)
{
    (void)state;
    check("9223372036854775.807", INT64_MAX, false);
    check("9223372036854775.8074", INT64_MAX, false);
    check("9223372036854775.8075", INT64_MAX, true);
    check("9223372036854775.808", INT64_MAX, true);
    check("-9223372036854775.807", -INT64_MAX, false);
    check("-9223372036854775.808", -INT64_MAX, true);
    check("9223372036854776", INT64_MAX, true);
    check("18446744073709551616", INT64_MAX, true);
    check("1e99999999999999999999", INT64_MAX, true);
    check("-1e300", -INT64_MAX, true);
}

static void other_text_is_no_number(void **state)
{
    (void)state;
    static const char *const rows[] = { "",    " ",   "-",    "+",     ".5",    "-.5",  "e5",
                                        "1e",  "1e+", "1e5x", "1x",    "1.2.3", "0x10", "nan",
                                        "inf", "1 2", "--1",  "1e1.5", "1,5",   "N/A",  "1e5 5" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ns = 5;
        bool beyond = false;
        if (microseconds_read(str_from(rows[i]), &ns, &beyond))
            fail_msg("\"%s\" became %lld", rows[i], (long long)ns);
        assert_int_equal(ns, 5);
    }
}

/* The slow way: the number is written out without an exponent, three digits longer; its whole part
 * is what remains, plus 1 by hand where the next digit is 5 or more. */
enum { PLACES = 200, POINT = 100 }; /* digits, and how many of them stand before the point */

static void add_one(char *digits)
{
    size_t at = POINT;
    while (digits[--at] == '9')
        digits[at] = '0';
    digits[at]++;
}

static int64_t slowly(const char *whole, const char *fraction, int exponent, bool negative,
                      bool *ret_beyond)
{
    char digits[PLACES + 1];
    memset(digits, '0', PLACES);
    digits[PLACES] = 0;
    int first = POINT - (int)strlen(whole) - exponent - 3;
    memcpy(digits + first, whole, strlen(whole));
    memcpy(digits + first + strlen(whole), fraction, strlen(fraction));
    if (digits[POINT] >= '5')
        add_one(digits);
    digits[POINT] = 0;
    static const char most[] = "9223372036854775807";
    const size_t len = sizeof most - 1;
    *ret_beyond = strspn(digits, "0") < POINT - len || strcmp(digits + POINT - len, most) > 0;
    int64_t value = *ret_beyond ? INT64_MAX : strtoll(digits, NULL, 10);
    return negative ? -value : value;
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Fours, fives and nines are what rounding stumbles over. */
static void some_digits(uint64_t *seed, size_t len, char *ret)
{
    static const char of[] = "01234567894559990";
    for (size_t i = 0; i < len; i++)
        ret[i] = of[next(seed) % (sizeof of - 1)];
    ret[len] = 0;
}

static void random_decimals_agree_with_the_slow_way(void **state)
{
    (void)state;
    uint64_t seed = 20240611;
    for (int i = 0; i < 200000; i++) {
        char whole[24], fraction[24], text[100];
        some_digits(&seed, 1 + next(&seed) % 22, whole);
        some_digits(&seed, next(&seed) % 22, fraction);
        int exponent = next(&seed) % 3 == 0 ? (int)(next(&seed) % 40) - 20 : 0;
        bool negative = next(&seed) % 2 == 0, beyond;
        int64_t wanted = slowly(whole, fraction, exponent, negative, &beyond);
        int len = snprintf(text, sizeof text, "%s%s%s%s", negative ? "-" : "", whole,
                           *fraction != 0 ? "." : "", fraction);
        if (exponent != 0)
            snprintf(text + len, sizeof text - (size_t)len, "e%d", exponent);
        check(text, wanted, beyond);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_are_plain),
        cmocka_unit_test(digits_become_nanoseconds),
        cmocka_unit_test(the_fourth_digit_rounds),
        cmocka_unit_test(exponents_move_the_point),
        cmocka_unit_test(stamps_of_19_digits_are_exact),
        cmocka_unit_test(what_64_bits_cannot_hold_is_the_nearest),
        cmocka_unit_test(other_text_is_no_number),
        cmocka_unit_test(random_decimals_agree_with_the_slow_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
