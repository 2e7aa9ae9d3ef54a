/* test_csv.c - which texts are put in quotes, and which get an apostrophe before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/csv.h"

static void check(str value, const char *expected)
{
    struct buf text;
    buf_init(&text, 4096);
    csv_text(&text, value);
    buf_char(&text, '\0');
    assert_false(text.failed);
    assert_string_equal(text.at, expected);
    buf_free(&text);
}

static void texts_are_cells(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cell;
    } cases[] = {
        { "", "" },
        { "train.py:34 main", "train.py:34 main" },
        { "a,b", "\"a,b\"" },
        { "say \"x\"", "\"say \"\"x\"\"\"" },
        { "two\nlines", "\"two\nlines\"" },
        { "end\r", "\"end\r\"" },
        { "=1+1", "\"'=1+1\"" },
        { "+x", "\"'+x\"" },
        { "-x", "\"'-x\"" },
        { "@x", "\"'@x\"" },
        { "\tx", "\"'\tx\"" },
        { "\rx", "\"'\rx\"" },
        { "\n=1", "\"'\n=1\"" },
        { "\n", "\"\n\"" },
        { "-", "-" },
        { "-1", "-1" },
        { "+1.5e3", "+1.5e3" },
        { "-1,5", "\"'-1,5\"" },
        { "a=b", "a=b" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(str_from(cases[i].text), cases[i].cell);
}

static void a_byte_of_zero_is_text(void **state)
{
    (void)state;
    static const char zero[] = "\0x";
    struct buf text;
    buf_init(&text, 4096);
    csv_text(&text, (str){ zero, 2 });
    assert_int_equal(text.len, 4);
    assert_memory_equal(text.at, "\"\0x\"", 4);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cells),
        cmocka_unit_test(a_byte_of_zero_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
