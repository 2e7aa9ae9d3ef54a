#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static void find_gives_the_first_place(void **state)
{
    (void)state;
    assert_int_equal(str_find(S("a::b::c"), S("::")), 1);
    assert_int_equal(str_find(S("aab"), S("ab")), 1);
    assert_int_equal(str_find(S("abc"), S("c")), 2);
    assert_int_equal(str_find(S("abc"), S("d")), 3);
    assert_int_equal(str_find(S("ab"), S("abc")), 2);
    assert_int_equal(str_find(S(""), S("a")), 0);
    assert_int_equal(str_find(S("abc"), S("")), 0);
}

static void one_of_several(void **state)
{
    (void)state;
    static const str several[] = { { "ab", 2 }, { "", 0 } };
    static const char *const texts[] = { "ab", "c" };
    assert_true(str_is_one_of(S("ab"), several, 2));
    assert_true(str_is_one_of(S(""), several, 2));
    assert_false(str_is_one_of(S("a"), several, 2));
    assert_false(str_is_one_of(S(""), several, 1));
    assert_true(str_is_one_of_texts(S("c"), texts, 2));
    assert_false(str_is_one_of_texts(S("abc"), texts, 2));
    assert_false(str_is_one_of_texts(S("c"), texts, 1));
}

static void lower_case_of_ascii_alone(void **state)
{
    (void)state;
    assert_int_equal(to_lower('A'), 'a');
    assert_int_equal(to_lower('Z'), 'z');
    assert_int_equal(to_lower('@'), '@');
    assert_int_equal(to_lower('['), '[');
    assert_int_equal(to_lower('\xc4'), '\xc4');
}

static void order_is_of_bytes(void **state)
{
    (void)state;
    assert_true(str_compare(S("a"), S("b")) < 0);
    assert_true(str_compare(S("\xff"), S("a")) > 0);
    assert_true(str_compare(S("a"), S("ab")) < 0);
    assert_true(str_compare(S("ab"), S("a")) > 0);
    assert_int_equal(str_compare(S("ab"), S("ab")), 0);
    assert_int_equal(str_compare((str){ NULL, 0 }, S("")), 0);
}

static void base_names_have_no_folder(void **state)
{
    (void)state;
    assert_true(str_equal(str_base_name(S("a/b/run.pickle")), S("run.pickle")));
    assert_true(str_equal(str_base_name(S("run.pickle")), S("run.pickle")));
    assert_true(str_equal(str_base_name(S("a/b/")), S("a/b/")));
    assert_true(str_equal(str_base_name(S("/")), S("/")));
    assert_true(str_equal(str_base_name(S("")), S("")));
}

static void a_long_path_is_shown_by_its_end(void **state)
{
    (void)state;
    char path[3 * PATH_SHOWN + 1];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_true(str_equal(str_path_end(S("a/ci.budget")), S("a/ci.budget")));
    assert_int_equal(str_path_end(str_from(path)).len, PATH_SHOWN); /* nothing to cut at */
    memcpy(path + sizeof path - 11, "/b/run.txt", 10);
    path[2 * PATH_SHOWN] = '/'; /* the first of the bytes that are shown */
    assert_int_equal(str_path_end(str_from(path)).len, PATH_SHOWN - 1);
    path[2 * PATH_SHOWN] = 'a';
    assert_true(str_equal(str_path_end(str_from(path)), S("b/run.txt")));
    memset(path, 0xBF, sizeof path - 1); /* continues a character, all along */
    assert_int_equal(str_path_end(str_from(path)).len, 0);
}

static void ends_are_compared_whole(void **state)
{
    (void)state;
    assert_true(str_starts(S("oom:2"), S("oom:")));
    assert_false(str_starts(S("oo"), S("oom:")));
    assert_true(str_ends(S("model.py"), S(".py")));
    assert_false(str_ends(S("py"), S(".py")));
    assert_true(str_equal((str){ NULL, 0 }, S("")));
    assert_false(str_equal(S("a"), S("ab")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_gives_the_first_place),
        cmocka_unit_test(one_of_several),
        cmocka_unit_test(lower_case_of_ascii_alone),
        cmocka_unit_test(order_is_of_bytes),
        cmocka_unit_test(base_names_have_no_folder),
        cmocka_unit_test(a_long_path_is_shown_by_its_end),
        cmocka_unit_test(ends_are_compared_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
