/* test_pattern.c - expressions are of the C locale, wherever the process stands. */
#include <locale.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/pattern.h"
#include "made/fault.h"

static void check(const char *expression, bool ignore_case, const char *text, bool matches)
{
    struct pattern p;
    assert_int_equal(pattern_compile(&p, expression, ignore_case, NULL), VRS_OK);
    assert_int_equal(pattern_matches(&p, text), matches);
    pattern_free(&p);
}

static void extended_expressions(void **state)
{
    (void)state;
    check("kv_?cache|past_key", false, "a/kvcache.py:update", true);
    check("kv_?cache|past_key", false, "a/KVcache.py:update", false);
    check("kv_?cache|past_key", true, "a/KVcache.py:update", true);
    check(":zero_grad$", false, "optim.py:zero_grad", true);
    check(":zero_grad$", false, "optim.py:zero_grads", false);
    check("^a{2,3}$", false, "aaaa", false);
    check(".", false, "", false);
}

/* A dot is one byte, and only ASCII letters have a case. */
static void the_locale_changes_nothing(void **state)
{
    (void)state;
    assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
    check("^.$", false, "\xc3\xa9", false);
    check("^..$", false, "\xc3\xa9", true);
    check("\xc3\xa9", true, "\xc3\x89", false);
    check("^.$", false, "\xff", true);
    assert_non_null(setlocale(LC_ALL, "C"));
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    struct pattern p;
    struct vrs_error err = { .message = "" };
    assert_int_equal(pattern_compile(&p, "(", false, &err), VRS_USAGE);
    assert_true(err.message[0] != '\0');
}

static void refused(const char *expression)
{
    struct pattern p;
    struct vrs_error err = { .message = "" };
    assert_int_equal(pattern_compile(&p, expression, false, &err), VRS_USAGE);
    assert_non_null(strstr(err.message, "more than"));
}

/* What would take all memory, or the stack, is refused; what only looks like it is not. */
static void repeats_and_groups_have_an_end(void **state)
{
    (void)state;
    char deep[4096] = "";
    memset(deep, '(', 2000);
    refused(deep);
    memset(deep, 'a', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    refused(deep);
    refused("((((a{1,99}){1,99}){1,99}){1,99}){1,99}");
    refused("a{1,99}{1,99}{1,99}{1,99}{1,99}");
    refused("a{2,}{2,}{2,}{2,}{2,}{2,}{2,}{2,}{2,}{2,}{2,}");
    refused("a{30000}");
    deep[0] = 'a';
    memset(deep + 1, '*', sizeof deep - 2);
    refused(deep);
    memset(deep + 1, '?', sizeof deep - 2);
    refused(deep);
    check("^(((((((((((a+)+)+)+)+)+)+)+)+)+)+)+$", false, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
          false);
    check("^a{1}++++++++++++$", false, "aa", true);
    check("^a*************$", false, "aab", false);
    check("^(a{1,20}b?){2,9}c+$", false, "aabaaccc", true);
    check("[{99999}]", false, "{", true);
    check("\\{99999", false, "{99999", true);
    check("((((((((((a))))))))))", false, "a", true);
}

/* Beside what the C library makes of an expression and of texts out of few letters. */
static uint32_t seed;

static uint32_t chance(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % most;
}

struct judged {
    uint32_t compiled, matched;
};

static void judge(const char *expression, bool ignore_case, struct judged *to)
{
    static const char letters[] = "aabbccABCx.({}])d ";
    struct pattern p;
    regex_t library;
    char text[24];
    int wrong =
        regcomp(&library, expression, REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
    bool compiles = pattern_compile(&p, expression, ignore_case, NULL) == VRS_OK;
    if (compiles != (wrong == 0))
        fail_msg("\"%s\" is %staken", expression, compiles ? "" : "not ");
    for (int k = 0; k < 20 && compiles; k++) {
        size_t len = chance(sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = letters[chance(sizeof letters - 1)];
        text[len] = '\0';
        bool wanted = regexec(&library, text, 0, NULL, 0) == 0;
        to->matched += wanted;
        if (pattern_matches(&p, text) != wanted)
            fail_msg("\"%s\" in \"%s\"", expression, text);
    }
    to->compiled += compiles;
    if (compiles)
        pattern_free(&p);
    if (wrong == 0)
        regfree(&library);
}

/* clang-format off */
static const char *const pieces[] = {
    "abc", "abcd", "b", "ABC", "a.c", "(abc|b)", "[abc]", "c*", "bc?", "a+", "|", "|", "^", "$",
    "\\.", "x", "ab", "a{0,2}", "(b)", "[^]a]", "b", "[[:alpha:]]", "\\(", "{", "}", ")", "]",
    "bcd{2}", "[a-C]", "[^A-b.]", "\\b", "\\B", "\\<", "\\>", "\\w", "\\W", "\\s", "\\S", "\\`",
    "\\'", "(a|b){1,3}", "(a|bc*){2}", "(b+|c){0,2}d", "[[:upper:]-]", "[[.a.]-c]", "[[=b=]x]",
    "()", "a{2,}", "(a{,2}b){1,2}", "((a|)b|c)*", ".", "a{0}", "[^[:punct:]x]", "(^|a)b"
};
/* clang-format on */

static void answers_are_those_of_the_library(void **state)
{
    (void)state;
    struct judged all = { 0, 0 };
    seed = 1;
    for (int round = 0; round < 20000; round++) {
        char expression[128] = "";
        for (uint32_t i = 0, count = 1 + chance(6); i < count; i++) {
            size_t len = strlen(expression);
            snprintf(expression + len, sizeof expression - len, "%s",
                     pieces[chance(sizeof pieces / sizeof *pieces)]);
        }
        judge(expression, round % 2 == 1, &all);
    }
    assert_true(all.compiled > 8000 && all.matched > 20000);
}

/* What the library gets wrong is not to be compared: it looks for `\\a` in text made large, and
 * loses the place that a group to be repeated holds; and references back are not taken. */
static bool is_comparable(const char *expression, bool ignore_case)
{
    bool places = strpbrk(expression, "^$") != NULL;
    for (const char *at = expression; *at != '\0'; at++) {
        bool letter = (at[1] >= 'a' && at[1] <= 'z') || (at[1] >= 'A' && at[1] <= 'Z');
        if (*at == '\\' && ((at[1] >= '1' && at[1] <= '9') || (ignore_case && letter)))
            return false;
        if (*at == ')' && places && at[1] != '\0' && strchr("*+?{", at[1]) != NULL)
            return false;
    }
    return true;
}

static void mistakes_are_those_of_the_library(void **state)
{
    (void)state;
    static const char letters[] = "abAB()[[]]{}|*+?^$\\\\.,-::==120";
    struct judged all = { 0, 0 };
    seed = 2;
    for (int round = 0; round < 40000; round++) {
        char expression[16] = "";
        for (uint32_t i = 0, count = 1 + chance(sizeof expression - 2); i < count; i++)
            expression[i] = letters[chance(sizeof letters - 1)];
        if (is_comparable(expression, round % 2 == 1))
            judge(expression, round % 2 == 1, &all);
    }
    assert_true(all.compiled > 4000 && all.matched > 10000);
}

/* Each would take the C library days, or all memory. */
static void no_expression_takes_long(void **state)
{
    (void)state;
    static const char *const expressions[] = {
        "(a|b)*a.{800}c",  "(.|x)*a.{400}(.|y)*b.{400}c", "((a*)*)*c", "(a?){500}a{500}c",
        "(((a|b)+)+.+)+c",
    };
    char text[2048];
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = "ab"[(i * 2654435761u) >> 9 & 1];
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        for (int k = 0; k < 10; k++)
            check(expressions[i], false, text, false);
    static const char *const back[] = { "(a*)(a*)(a*)\\1\\2\\3b", "(a)\\9", "x\\1" };
    for (size_t i = 0; i < sizeof back / sizeof *back; i++) {
        struct pattern p;
        struct vrs_error err = { .message = "" };
        assert_int_equal(pattern_compile(&p, back[i], false, &err), VRS_USAGE);
        assert_non_null(strstr(err.message, "cannot stand again"));
    }
    check("[\\1]\\\\1", false, "1\\1", true);
}

static enum vrs_status compile(void *arg)
{
    struct pattern p;
    enum vrs_status status = pattern_compile(&p, arg, true, NULL);
    if (status == VRS_OK)
        pattern_free(&p);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char expression[] = "(a|[b-d]{2,40})*([[:alpha:]]x?){3}|\\w+";
    fault_each(compile, NULL, expression);
}

static void check_needles(const char *expression, bool ignore_case, const char *expected)
{
    struct pattern p;
    char got[NEEDLES_MOST * NEEDLE_BYTES] = "";
    assert_int_equal(pattern_compile(&p, expression, ignore_case, NULL), VRS_OK);
    for (uint32_t i = 0; i < p.needles; i++) {
        size_t len = strlen(got);
        snprintf(got + len, sizeof got - len, "%s%s", i == 0 ? "" : " ", p.needle[i]);
    }
    assert_string_equal(got, expected);
    pattern_free(&p);
}

static void needles_of_expressions(void **state)
{
    (void)state;
    check_needles("c10d::|ProcessGroup|nccl[A-Z]", false, "c10d:: ProcessGroup nccl");
    check_needles("kv_?cache|Cache_utils", true, "cache cache_utils");
    check_needles("(^|/)[^/:]*optim[^/:]*:__init__$", false, ":__init__");
    check_needles("/_fsdp\\.py:|all_gather", false, "/_fsdp.py: all_gather");
    check_needles("abcdefghijklmnopqrstuvwxyz", false, "abcdefghijklmnopqrstuvw");
    check_needles("abcd*", false, "abc");
    check_needles("abcd|.", false, "");
    check_needles("abcd|", false, "");
    check_needles("ab", false, "");
    check_needles("(abcd)", false, "");
    check_needles("[[:alpha:]]abc[]]defg", false, "defg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extended_expressions),
        cmocka_unit_test(answers_are_those_of_the_library),
        cmocka_unit_test(mistakes_are_those_of_the_library),
        cmocka_unit_test(needles_of_expressions),
        cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(repeats_and_groups_have_an_end),
        cmocka_unit_test(no_expression_takes_long),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
