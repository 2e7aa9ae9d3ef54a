#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/human.h"
#include "render/write/text.h"

static const struct text_column columns[] = {
    { "bytes", true, false, 0, false },
    { "line", false, true, 6, false },
    { "owner", false, true, 6, false },
};

#define CELLS                                                                                      \
    {                                                                                              \
        S("1.00 KiB"), S("model.py:84 forward"), S("linear"), S("2 B"), S("a.py:1 f"),             \
            S("functional.py:2500 linear"),                                                        \
    }

static void check_table(uint32_t width, bool ascii, const char *expected)
{
    const str cells[] = CELLS;
    struct style style = { .width = width, .ascii = ascii };
    struct text_table table = { columns, 3, 2, cells, 0 };
    struct buf text;
    buf_init(&text, 1 << 12);
    text_table(&text, &style, &table);
    buf_char(&text, '\0');
    assert_string_equal(text.at, expected);
    buf_free(&text);
}

static void columns_fit_their_cells(void **state)
{
    (void)state;
    check_table(80, true,
                "   bytes  line                 owner\n"
                "1.00 KiB  model.py:84 forward  linear\n"
                "     2 B  a.py:1 f             functional.py:2500 linear\n");
}

static void the_last_flexible_column_gives_way_first(void **state)
{
    (void)state;
    check_table(45, true,
                "   bytes  line                 owner\n"
                "1.00 KiB  model.py:84 forward  linear\n"
                "     2 B  a.py:1 f             functional....\n");
    check_table(30, false,
                "   bytes  line          owner\n"
                "1.00 KiB  model.py:84\u2026  linear\n"
                "     2 B  a.py:1 f      funct\u2026\n");
}

static void a_narrow_table_has_one_blank_between_columns(void **state)
{
    (void)state;
    check_table(24, false,
                "   bytes  line    owner\n"
                "1.00 KiB  model\u2026  linear\n"
                "     2 B  a.py:\u2026  funct\u2026\n");
    check_table(22, false,
                "   bytes line   owner\n"
                "1.00 KiB model\u2026 linear\n"
                "     2 B a.py:\u2026 funct\u2026\n");
}

static void a_table_too_narrow_is_a_list(void **state)
{
    (void)state;
    check_table(21, false,
                "bytes 1.00 KiB, line\n"
                "  model.py:84\n"
                "  forward, owner\n"
                "  linear\n"
                "bytes 2 B, line\n"
                "  a.py:1 f, owner\n"
                "  functional.py:2500\n"
                "  linear\n");
}

static void check_wrap(str from, uint32_t width, uint32_t at, uint32_t indent, const char *expected)
{
    struct style style = { .width = width };
    struct buf text;
    buf_init(&text, 1 << 12);
    text_wrap(&text, &style, from, at, indent);
    buf_char(&text, '\0');
    assert_string_equal(text.at, expected);
    buf_free(&text);
}

static void words_wrap_between_blanks(void **state)
{
    (void)state;
    check_wrap(S(""), 10, 0, 0, "\n");
    check_wrap(S("one two three"), 80, 0, 0, "one two three\n");
    check_wrap(S("one two three"), 7, 0, 2, "one two\n  three\n");
    check_wrap(S("one two three"), 8, 4, 4, "one\n    two\n    three\n");
    check_wrap(S("unbreakable"), 4, 0, 0, "unbreakable\n");
}

static void a_number_stays_with_its_unit(void **state)
{
    (void)state;
    check_wrap(S("holds 22.20 GiB in all"), 12, 0, 0, "holds\n22.20 GiB in\nall\n");
    check_wrap(S("holds (13.3 %) in all"), 12, 0, 0, "holds\n(13.3 %) in\nall\n");
    check_wrap(S("holds 22.20 \033[1mGiB\033[0m"), 12, 0, 0, "holds 22.20\n\033[1mGiB\033[0m\n");
    check_wrap(S("holds \033[1m22.20 GiB\033[0m"), 12, 0, 0, "holds\n\033[1m22.20 GiB\033[0m\n");
    /* A word that merely begins like a unit, a unit without a number. */
    check_wrap(S("holds 22 steps"), 9, 0, 0, "holds 22\nsteps\n");
    check_wrap(S("so many GiB"), 8, 0, 0, "so many\nGiB\n");
    /* No line holds both. */
    check_wrap(S("holds 22.20 GiB"), 8, 0, 0, "holds\n22.20\nGiB\n");
    check_wrap(S("takes 3"), 6, 0, 0, "takes\n3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_fit_their_cells),
        cmocka_unit_test(the_last_flexible_column_gives_way_first),
        cmocka_unit_test(a_narrow_table_has_one_blank_between_columns),
        cmocka_unit_test(a_table_too_narrow_is_a_list),
        cmocka_unit_test(words_wrap_between_blanks),
        cmocka_unit_test(a_number_stays_with_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
