/* test_size.c - sizes as people type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/size.h"
#include "base/str.h"
#include "vramscope/vramscope.h"

static void sizes_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        { "0", 0 },
        { "4096", 4096 },
        { "7b", 7 },
        { "512MiB", UINT64_C(512) << 20 },
        { "24gib", UINT64_C(24) << 30 },
        { "24 GB", UINT64_C(24000000000) },
        { "1.5 GiB", UINT64_C(3) << 29 },
        { "1.5\tKB", 1500 },
        { "0.000001TB", 1000000 },
        { "0.5", 0 },
        { "18446744073709551615", UINT64_MAX },
        { "16777215TiB", UINT64_C(16777215) << 40 },
        { "16383PiB", UINT64_C(16383) << 50 },
        { "15.999999EiB", UINT64_C(18446742920788047009) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 5;
        assert_true(size_read(str_from(cases[i].text), &bytes));
        assert_true(bytes == cases[i].bytes);
        assert_true(vrs_size(cases[i].text, &bytes) && bytes == cases[i].bytes);
    }
}

static void shares_are_millionths(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t millionths;
    } cases[] = {
        { "5%", 50000 }, { "0%", 0 },         { "2.5%", 25000 },
        { ".5%", 5000 }, { "105%", 1050000 }, { "0.00019%", 1 },
    };
    static const char *const others[] = { "",       "%",  "5",   "-5%",         "5 %",
                                          "1.2.3%", ".%", "5%%", "99999999999%" };
    uint64_t share = 7;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(!vrs_share(others[i], &share) && share == 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(vrs_share(cases[i].text, &share) && share == cases[i].millionths);
}

static void limits_are_of_one_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct vrs_fail_over limit;
    } cases[] = {
        { "5%", { .millionths = 50001 } }, { "0%", { .millionths = 1 } },
        { "4096", { .bytes = 4097 } },     { "0", { .bytes = 1 } },
        { "512MiB", { .bytes = 536870913 } }, { "5ms", { .ns = 5000001 } },
        { "0 s", { .ns = 1 } },
    };
    static const char *const others[] = { "", "5x", "-5%", "-5ms", "18446744073709551615",
                                          "9223372036854775807ns", "5%5ms" };
    struct vrs_fail_over limit = { 7, 8, 9 };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(!vrs_read_fail_over(others[i], &limit) && limit.millionths == 7 &&
                    limit.bytes == 8 && limit.ns == 9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(vrs_read_fail_over(cases[i].text, &limit));
        assert_true(limit.millionths == cases[i].limit.millionths &&
                    limit.bytes == cases[i].limit.bytes && limit.ns == cases[i].limit.ns);
    }
}

static void other_text_is_no_size(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "GiB",
        "-1",
        ".5GiB",
        "1..5GiB",
        "1.GiB",
        "1.1234567GiB",
        "1 XiB",
        "1GiB x",
        "0x10",
        "1e9",
        " 1",
        "1GiB ",
        "1Gi",
        "18446744073709551616",
        "16777216TiB",
        "16384PiB",
        "16EiB",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 5;
        assert_false(size_read(str_from(cases[i]), &bytes));
        assert_int_equal(bytes, 5);
    }
}

static void a_number_is_taken_off(void **state)
{
    (void)state;
    str text = S("2.50%");
    struct decimal n;
    assert_true(decimal_take(&text, &n));
    assert_true(n.whole == 2 && n.part == 50 && n.scale == 100);
    assert_true(str_equal(text, S("%")));
    text = S("12");
    assert_true(decimal_take(&text, &n));
    assert_true(n.whole == 12 && n.part == 0 && n.scale == 1 && text.len == 0);
}

static void times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } times[] = {
        { "0ns", 0 },         { "7ns", 7 },       { "5us", 5000 },         { "120ms", 120000000 },
        { "1.5 s", 1500000000 }, { "1.5ns", 1 },  { "0.000001s", 1000 },   { "1.25us", 1250 },
        { "9223372036s", INT64_C(9223372036000000000) },
    };
    static const char *const wrong[] = { "",   "5",   "ms",  "-1ms", "5 m",        "5MS",
                                         "1e3ms", "5ms ", ".5ms", "9223372037s", "1.1234567s" };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t ns = -1;
        assert_true(duration_read(str_from(times[i].text), &ns));
        assert_int_equal(ns, times[i].ns);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t ns = -1;
        if (duration_read(str_from(wrong[i]), &ns))
            fail_msg("\"%s\" is no time", wrong[i]);
        assert_int_equal(ns, -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(shares_are_millionths),
        cmocka_unit_test(limits_are_of_one_kind),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(other_text_is_no_size),
        cmocka_unit_test(a_number_is_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
