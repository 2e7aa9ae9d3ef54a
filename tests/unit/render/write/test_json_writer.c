#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/json.h"

static struct buf text;

static struct json started(void)
{
    struct json j;
    buf_init(&text, 1 << 16);
    json_start(&j, &text);
    return j;
}

static void check_text(struct json *j, const char *expected)
{
    json_finish(j);
    buf_char(&text, '\0');
    assert_false(text.failed);
    assert_string_equal(text.at, expected);
    buf_free(&text);
}

static void check_string(str value, const char *expected)
{
    struct json j = started();
    json_str(&j, NULL, value);
    check_text(&j, expected);
}

static void check_fixed(double value, uint32_t decimals, const char *expected)
{
    struct json j = started();
    json_fixed(&j, NULL, value, decimals);
    check_text(&j, expected);
}

static void objects_stand_on_lines_and_rows_on_one(void **state)
{
    (void)state;
    struct json j = started();
    json_object(&j, NULL);
    json_u64(&j, "a", UINT64_MAX - 1);
    json_i64(&j, "b", INT64_MIN);
    json_array(&j, "rows");
    json_line_object(&j, NULL);
    json_bool(&j, "c", true);
    json_null(&j, "d");
    json_line_array(&j, "e");
    json_u64(&j, NULL, 1);
    json_u64(&j, NULL, 2);
    json_close(&j);
    json_close(&j);
    json_close(&j);
    json_array(&j, "none");
    json_close(&j);
    json_close(&j);
    check_text(&j, "{\n"
                   "  \"a\": 18446744073709551614,\n"
                   "  \"b\": -9223372036854775808,\n"
                   "  \"rows\": [\n"
                   "    { \"c\": true, \"d\": null, \"e\": [1, 2] }\n"
                   "  ],\n"
                   "  \"none\": []\n"
                   "}\n");
}

static void strings_are_escaped(void **state)
{
    (void)state;
    check_string(S(""), "\"\"\n");
    check_string((str){ NULL, 0 }, "null\n");
    check_string(S("a\"b\\c/"), "\"a\\\"b\\\\c/\"\n");
    check_string(S("\n\t\r\x1b[31m\x7f"), "\"\\n\\t\\u000d\\u001b[31m\\u007f\"\n");
    check_string((str){ "a\0b", 3 }, "\"a\\u0000b\"\n");
    check_string(S("\u00e4\u4e2d\U0001f600"), "\"\u00e4\u4e2d\U0001f600\"\n");
    check_string(S("\u202eabc\u2066\xc2\x85"), "\"\\u202eabc\\u2066\\u0085\"\n");
    check_string(S("\U000e0041"), "\"\\udb40\\udc41\"\n");
    check_string(S("\xff\xc3"), "\"\\ufffd\\ufffd\"\n");
}

static void ratios_have_fixed_decimals(void **state)
{
    (void)state;
    check_fixed(0, 6, "0.000000\n");
    check_fixed(1, 6, "1.000000\n");
    check_fixed(0.5, 0, "0\n"); /* half to even */
    check_fixed(1.5, 0, "2\n");
    check_fixed(-0.25, 1, "-0.2\n");
    check_fixed(-0.01, 1, "0.0\n");
    check_fixed(13628553216, 6, "13628553216.000000\n");
    check_fixed(-13628553216.5, 6, "-13628553216.500000\n");
    check_fixed(1e300 * *(volatile double *)&(double){ 1e300 }, 6, "null\n");
    check_fixed(0.0 / *(volatile double *)&(double){ 0 }, 6, "null\n");
}

static void not_known_is_null(void **state)
{
    (void)state;
    struct json j = started();
    json_known(&j, NULL, UINT64_MAX);
    check_text(&j, "null\n");
    j = started();
    json_known_i64(&j, NULL, -1);
    check_text(&j, "null\n");
    j = started();
    json_known_i64(&j, NULL, 0);
    check_text(&j, "0\n");
    j = started();
    json_known_fixed(&j, NULL, -1, 2);
    check_text(&j, "null\n");
    j = started();
    json_known_fixed(&j, NULL, 0.25, 2);
    check_text(&j, "0.25\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_stand_on_lines_and_rows_on_one),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(ratios_have_fixed_decimals),
        cmocka_unit_test(not_known_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
