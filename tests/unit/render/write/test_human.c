#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "made/case_table.h"
#include "render/write/escape.h"
#include "render/write/human.h"

static struct buf text;

static void check_text(const char *expected)
{
    buf_char(&text, '\0');
    assert_string_equal(text.at, expected);
    buf_free(&text);
}

static void check_bytes(int64_t bytes, const char *expected)
{
    buf_init(&text, 1 << 12);
    human_bytes(&text, bytes);
    check_text(expected);
}

static void check_count(uint64_t count, const char *expected)
{
    buf_init(&text, 1 << 12);
    human_count(&text, count, true);
    check_text(expected);
}

static void check_counted(uint64_t count, const char *expected)
{
    buf_init(&text, 1 << 12);
    human_counted(&text, count, "more event", true);
    check_text(expected);
}

static void check_duration(uint64_t us, const char *expected)
{
    buf_init(&text, 1 << 12);
    human_duration(&text, us);
    check_text(expected);
}

static void check_ns(uint64_t ns, const char *expected)
{
    buf_init(&text, 1 << 12);
    human_ns(&text, ns);
    check_text(expected);
}

static void check_share(double ratio, const char *expected)
{
    buf_init(&text, 1 << 12);
    human_share(&text, ratio);
    check_text(expected);
}

static void check_escape(str from, bool ascii, const char *expected)
{
    buf_init(&text, 1 << 12);
    escape_text(&text, from, ascii);
    check_text(expected);
}

static void sizes(void **state)
{
    (void)state;
    check_bytes(0, "0 B");
    check_bytes(1023, "1023 B");
    check_bytes(1024, "1.00 KiB");
    check_bytes(1024 * 1024 - 1, "1.00 MiB"); /* 1024.00 KiB would be wrong */
    check_bytes(INT64_C(66904129331), "62.31 GiB");
    check_bytes(-1536, "-1.50 KiB");
    check_bytes(INT64_C(1) << 40, "1.00 TiB");
    check_bytes((INT64_C(1) << 40) - 1, "1.00 TiB");
    check_bytes((INT64_C(1023) << 40) + (INT64_C(1) << 39), "1023.50 TiB");
    check_bytes((INT64_C(1) << 60) - 1, "1.00 EiB");
    check_bytes(INT64_C(5) << 60, "5.00 EiB");
    check_bytes(INT64_MAX, "8.00 EiB");
    check_bytes(INT64_MIN, "-8.00 EiB");
    /* Halves go to the even neighbour: 1.125 and 1.375. */
    check_bytes(1024 + 128, "1.12 KiB");
    check_bytes(1024 + 384, "1.38 KiB");
}

static void counts(void **state)
{
    (void)state;
    check_count(0, "0");
    check_count(999, "999");
    check_count(1000, "1,000");
    check_count(48120, "48,120");
    check_count(UINT64_MAX, "18,446,744,073,709,551,615");
    check_counted(0, "0 more events");
    check_counted(1, "1 more event");
    check_counted(1000, "1,000 more events");
    buf_init(&text, 1 << 12);
    human_count(&text, 48120, false);
    check_text("48\u202f120");
}

static void short_durations(void **state)
{
    (void)state;
    check_ns(0, "0 ns");
    check_ns(999, "999 ns");
    check_ns(1000, "1.00 us");
    check_ns(2059, "2.06 us");
    check_ns(9994, "9.99 us");
    check_ns(9995, "10.0 us");
    check_ns(99949, "99.9 us");
    check_ns(999949, "999.9 us");
    check_ns(999950, "1.00 ms");
    check_ns(1000000, "1.00 ms");
    check_ns(2059250, "2.06 ms");
    check_ns(675382130, "675.4 ms");
    check_ns(1042943000, "1.04 s");
}

static void durations(void **state)
{
    (void)state;
    check_duration(0, "0 us");
    check_duration(850, "850 us");
    check_duration(12345, "12.3 ms");
    check_duration(4219999, "4.22 s");
    check_duration(UINT64_C(185) * 1000000, "3 min 05 s");
    check_duration(UINT64_C(7620) * 1000000, "2 h 07 min");
    check_duration(UINT64_MAX, "5124095576 h 02 min");
}

static void shares(void **state)
{
    (void)state;
    check_share(0.501, "50.1 %");
    check_share(1, "100.0 %");
    check_share(-1, "-");
    check_share(1e300, "-");
}

static void text_of_files_is_harmless(void **state)
{
    (void)state;
    check_escape(S("plain /x_1"), false, "plain /x_1");
    check_escape(S("\x1b[2J\r\n"), false, "\\x1b[2J\\x0d\\x0a");
    check_escape(S("a\u202eb\u2069\xc2\x85"), false, "a\\u{202e}b\\u{2069}\\u{85}");
    check_escape(S("\xff ok \xe4\xb8"), false, "\\xff ok \\xe4\\xb8");
    check_escape(S("\ufffd"), false, "\ufffd");
    check_escape(S("\u00e4"), true, "\\u{e4}");
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(escape_width(S("abc")), 3);
    assert_int_equal(escape_width(S("\u4e2d\u6587")), 4);
    assert_int_equal(escape_width(S("e\u0301")), 1);
    assert_int_equal(escape_width(S("\033[1mab\033[0m")), 2);
    assert_int_equal(escape_fit(S("\u4e2d\u6587"), 3), 3);
    assert_int_equal(escape_fit(S("abc"), 2), 2);
    assert_int_equal(escape_fit(S("abc"), 9), 3);
}

/* The table that C and the page share, tests/page/core/human_cases.json: rows of numbers and texts,
 * the last of which is that of C. */
static char table[CASE_TABLE_BYTES];

/* A string of JSON behind `at`, whose only escapes are \uXXXX; where it ends. */
static const char *take_string(const char *at, struct buf *to)
{
    for (at = strchr(at, '"') + 1; *at != '"'; at++) {
        if (*at != '\\') {
            buf_char(to, *at);
            continue;
        }
        assert_int_equal(at[1], 'u');
        char digits[5] = { at[2], at[3], at[4], at[5], '\0' };
        utf8_encode(to, (uint32_t)strtoul(digits, NULL, 16));
        at += 5;
    }
    buf_char(to, '\0');
    return at + 1;
}

typedef void write_number(struct buf *to, double number);

static void check_table(const char *kind, write_number *write)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\": [", kind);
    const char *at = strstr(table, key);
    assert_non_null(at);
    int rows = 0;
    for (at += strlen(key); at[strspn(at, " \n,")] == '['; rows++) {
        struct buf expected;
        char *end;
        double number = strtod(strchr(at, '[') + 1, &end);
        buf_init(&expected, 1 << 12);
        for (at = end; *at != ']';) {
            expected.len = 0;
            at = take_string(at, &expected);
        }
        at++;
        buf_init(&text, 1 << 12);
        write(&text, number);
        check_text(expected.at);
        buf_free(&expected);
    }
    assert_true(rows > 4);
}

static void write_bytes(struct buf *to, double number)
{
    human_bytes(to, (int64_t)number);
}

static void write_count(struct buf *to, double number)
{
    human_count(to, (uint64_t)number, false);
}

static void write_duration(struct buf *to, double number)
{
    human_duration(to, (uint64_t)number);
}

static void the_table_shared_with_the_page(void **state)
{
    (void)state;
    read_case_table("human_cases.json", table);
    check_table("bytes", write_bytes);
    check_table("count", write_count);
    check_table("share", human_share);
    check_table("duration", write_duration);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(counts),
        cmocka_unit_test(short_durations),
        cmocka_unit_test(durations),
        cmocka_unit_test(shares),
        cmocka_unit_test(widths),
        cmocka_unit_test(text_of_files_is_harmless),
        cmocka_unit_test(the_table_shared_with_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
