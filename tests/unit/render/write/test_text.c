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
    { "bytes", true, false, 0, CUT_END },
    { "line", false, true, 6, CUT_END },
    { "owner", false, true, 6, CUT_END },
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

/* What differs inside stays, from a little before on; what is like no other is cut as always. */
static void cells_that_would_become_alike_keep_their_difference(void **state)
{
    static const struct text_column names[] = { { "name", false, true, 6, CUT_APART } };
    const str cells[] = { S("gemm_aaaaaaaaaaaaaaaaaaaaaaaa64x128zzzzzzzzzzzzzzzzzzzzzzzzzz"),
                          S("gemm_aaaaaaaaaaaaaaaaaaaaaaaa256x64zzzzzzzzzzzzzzzzzzzzzzzzzz"),
                          S("softmax_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_end") };
    const struct style style = { .width = 24, .ascii = false };
    const struct text_table table = { names, 1, 3, cells, 0 };
    struct buf text;
    (void)state;
    buf_init(&text, 1 << 12);
    text_table(&text, &style, &table);
    buf_char(&text, '\0');
    assert_string_equal(text.at, "name\n"
                                 "gemm_\u2026aaaa64x128zzzzzzz\u2026\n"
                                 "gemm_\u2026aaaa256x64zzzzzzz\u2026\n"
                                 "softm\u2026aaaaaaaaaaaaaa_end\n");
    buf_free(&text);
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

static void check_fit(str from, size_t room, bool ascii, enum text_cut cut, const char *expected)
{
    struct style style = { .width = 80, .ascii = ascii };
    struct buf text;
    buf_init(&text, 1 << 12);
    size_t taken = text_fit(&text, &style, from, room, cut);
    buf_char(&text, '\0');
    assert_string_equal(text.at, expected);
    assert_true(taken <= room);
    buf_free(&text);
}

/* Half of an escape would be a character that is not there. */
static void an_escape_is_not_parted(void **state)
{
    (void)state;
    static const char text[] = "ab\\x1b\\u{202e}cd\\xff";
    const str of = { text, sizeof text - 1 };
    for (size_t room = 3; room < of.len; room++) {
        for (int cut = CUT_END; cut <= CUT_MIDDLE; cut++) {
            struct style style = { .width = 80 };
            struct buf cut_text;
            buf_init(&cut_text, 1 << 12);
            text_fit(&cut_text, &style, of, room, (enum text_cut)cut);
            /* What is left of the escapes, whole ones taken away, is nothing. */
            size_t escapes = 0, whole = 0;
            for (size_t i = 0; i < cut_text.len; i++) {
                str rest = { cut_text.at + i, cut_text.len - i };
                escapes += rest.ptr[0] == '\\' || rest.ptr[0] == '{' || rest.ptr[0] == '}';
                whole += str_starts(rest, S("\\x1b")) || str_starts(rest, S("\\xff"));
                whole += str_starts(rest, S("\\u{202e}")) ? 3 : 0;
            }
            if (escapes != whole)
                fail_msg("%zu columns: %.*s", room, (int)cut_text.len, cut_text.at);
            buf_free(&cut_text);
        }
    }
    check_fit(S("ab\\x1bcd"), 6, false, CUT_END, "ab\u2026");
    check_fit(S("ab\\x1bcd"), 7, false, CUT_END, "ab\\x1b\u2026");
    check_fit(S("ab\\x1bcd"), 6, false, CUT_START, "\u2026cd");
    check_fit(S("\\u{202e}cd"), 9, false, CUT_START, "\u2026cd");
    /* What only begins like an escape is plain. */
    check_fit(S("ab\\xylophone"), 6, false, CUT_END, "ab\\xy\u2026");
    check_fit(S("ab\\u{}phone"), 6, false, CUT_END, "ab\\u{\u2026");
}

static void what_is_too_long_is_cut_where_it_may_be(void **state)
{
    (void)state;
    check_fit(S("layers.10.weight"), 16, false, CUT_MIDDLE, "layers.10.weight");
    check_fit(S("layers.10.weight"), 15, false, CUT_END, "layers.10.weig\u2026");
    check_fit(S("layers.10.weight"), 15, false, CUT_START, "\u2026yers.10.weight");
    check_fit(S("layers.10.weight"), 15, false, CUT_MIDDLE, "lay\u2026s.10.weight");
    check_fit(S("layers.10.weight"), 15, true, CUT_MIDDLE, "lay...10.weight");
    check_fit(S("layers.10.weight"), 1, false, CUT_MIDDLE, "\u2026");
    /* A wide character that stands across the cut goes as a whole. */
    check_fit(S("\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d"), 11, false, CUT_MIDDLE,
              "\u4e2d\u2026\u4e2d\u4e2d\u4e2d\u4e2d");
    check_fit(S("\u4e2d\u4e2d\u4e2d\u4e2d"), 5, false, CUT_MIDDLE, "\u2026\u4e2d\u4e2d");
}

static void a_word_of_a_list_is_cut_where_no_line_holds_it(void **state)
{
    (void)state;
    static const struct text_column names[] = { { "bytes", true, false, 0, CUT_END },
                                                { "name", false, true, 16, CUT_MIDDLE } };
    const str cells[] = { S("1.00 KiB"), S("model.layers.10.attention.weight") };
    struct style style = { .width = 21 };
    struct text_table table = { names, 2, 1, cells, 0 };
    struct buf text;
    buf_init(&text, 1 << 12);
    text_table(&text, &style, &table);
    buf_char(&text, '\0');
    assert_string_equal(text.at, "bytes 1.00 KiB, name\n"
                                 "  mode\u2026ention.weight\n");
    buf_free(&text);
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
        cmocka_unit_test(cells_that_would_become_alike_keep_their_difference),
        cmocka_unit_test(the_last_flexible_column_gives_way_first),
        cmocka_unit_test(a_narrow_table_has_one_blank_between_columns),
        cmocka_unit_test(a_table_too_narrow_is_a_list),
        cmocka_unit_test(an_escape_is_not_parted),
        cmocka_unit_test(what_is_too_long_is_cut_where_it_may_be),
        cmocka_unit_test(a_word_of_a_list_is_cut_where_no_line_holds_it),
        cmocka_unit_test(words_wrap_between_blanks),
        cmocka_unit_test(a_number_stays_with_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
