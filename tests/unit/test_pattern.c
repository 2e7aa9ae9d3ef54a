/* test_pattern.c - expressions are of the C locale, wherever the process stands. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/pattern.h"

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

/* What would take all memory, or the stack, never reaches the compiler. */
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
    refused("a{30000}");
    refused("(((((((((((a+)+)+)+)+)+)+)+)+)+)+)+");
    refused("a{1}++++++++++++");
    check("^(a{1,20}b?){2,9}c+$", false, "aabaaccc", true);
    check("[{99999}]", false, "{", true);
    check("\\{99999", false, "{99999", true);
    check("((((((((((a))))))))))", false, "a", true);
}

/* Expressions out of pieces, over texts out of few letters: what is looked for first changes no
 * answer.  The matcher alone is the judge. */
static void needles_change_no_answer(void **state)
{
    (void)state;
    static const char *const pieces[] = { "abc",   "abcd",  "b",           "ABC", "a.c", "(abc|b)",
                                          "[abc]", "c*",    "bc?",         "a+",  "|",   "|",
                                          "^",     "$",     "\\.",         "x",   "ab",  "a{0,2}",
                                          "(b)",   "[^]a]", "[[:alpha:]]", "\\(", "{",   "}",
                                          ")",     "]",     "bcd{2}" };
    static const char letters[] = "aabbccABCx.({}])d";
    uint32_t seed = 1, matched = 0, compiled = 0;
    for (int round = 0; round < 4000; round++) {
        char expression[128] = "", text[24];
        struct pattern p;
        for (uint32_t i = 0, count = 1 + seed % 6; i < count; i++) {
            seed = seed * 1664525 + 1013904223;
            size_t len = strlen(expression);
            snprintf(expression + len, sizeof expression - len, "%s",
                     pieces[(seed >> 8) % (sizeof pieces / sizeof *pieces)]);
        }
        bool ignore_case = round % 2 == 1;
        if (pattern_compile(&p, expression, ignore_case, NULL) != VRS_OK)
            continue;
        compiled++;
        for (int k = 0; k < 20; k++) {
            size_t len = (seed >> 12) % (sizeof text - 1);
            for (size_t i = 0; i < len; i++) {
                seed = seed * 1664525 + 1013904223;
                text[i] = letters[(seed >> 8) % (sizeof letters - 1)];
            }
            text[len] = '\0';
            bool wanted = regexec(&p.compiled, text, 0, NULL, 0) == 0;
            matched += wanted;
            if (pattern_matches(&p, text) != wanted)
                fail_msg("\"%s\" in \"%s\"", expression, text);
        }
        pattern_free(&p);
    }
    assert_true(compiled > 1000 && matched > 1000);
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
        cmocka_unit_test(extended_expressions),   cmocka_unit_test(needles_change_no_answer),
        cmocka_unit_test(needles_of_expressions), cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(what_is_wrong_is_said),  cmocka_unit_test(repeats_and_groups_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
