/* test_pattern.c - what an expression means, what is refused and where, and what has an end. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "base/pool.h"
#include "base/str.h"
#include "made/fault.h"

static bool matches(const char *expression, bool ignore_case, str text)
{
    struct pattern p;
    struct pattern_room room;
    struct vrs_error err;
    bool found = false;
    if (pattern_compile(&p, str_from(expression), ignore_case, &err) != VRS_OK)
        fail_msg("\"%s\": %s", expression, err.message);
    assert_int_equal(pattern_room_make(&room, NULL), VRS_OK);
    if (pattern_matches(&p, &room, text, &found, &err) != VRS_OK)
        fail_msg("\"%s\": %s", expression, err.message);
    pattern_room_free(&room);
    pattern_free(&p);
    return found;
}

struct taken {
    const char *expression, *text;
    bool expected;
};

static void check_all(const struct taken *all, size_t count, bool ignore_case)
{
    for (size_t i = 0; i < count; i++)
        if (matches(all[i].expression, ignore_case, str_from(all[i].text)) != all[i].expected)
            fail_msg("\"%s\" in \"%s\" is not %d", all[i].expression, all[i].text, all[i].expected);
}
#define CHECK(all, ignore_case) check_all(all, sizeof all / sizeof *all, ignore_case)

static void expressions_and_texts(void **state)
{
    (void)state;
    static const struct taken all[] = {
        { "", "", true },
        { "", "a", true },
        { ".", "", false },
        { "kv_?cache|past_key", "a/kvcache.py:update", true },
        { "kv_?cache|past_key", "a/kv_cache.py:update", true },
        { "kv_?cache|past_key", "a/KVcache.py:update", false },
        { ":zero_grad$", "optim.py:zero_grad", true },
        { ":zero_grad$", "optim.py:zero_grads", false },
        { "^a{2,3}$", "aaaa", false },
        { "^a{2,3}$", "aaa", true },
        { "^[^/:]*$", "a/b", false },
        { "^[]a]+$", "]a]", true },
        { "^[^]a]+$", "b]", false },
        { "[[:alpha:]][[:digit:]]", "1a2", true },
        { "^[[:^alpha:]]$", "a", false },
        { "^\\w\\W\\s\\S\\d\\D$", "a. .1.", true },
        { "^\\x41\\.\\Q.*\\E$", "A..*", true },
        { "^[\\]\\\\]+$", "]\\", true },
        { "^(?:a|b)++c$", "abac", true },
        { "(?<!no_)cache", "no_cache", false },
        { "(?<!no_)cache", "my_cache", true },
        { "^(?=.*b)(?!.*c)a", "ab", true },
        { "^(?=.*b)(?!.*c)a", "abc", false },
        { "^(?<name>a)(?'other'b)(?P<third>c)$", "abc", true },
        { "^(?i)ABC$", "aBc", true },
        { "^a(?# a comment ) b$", "a b", true },
        { "(?x) a b # [ and what not", "ab", true },
        { "a\\Kb", "ab", true },
        { "^(a)?(?:b|c)$", "c", true },
    };
    CHECK(all, false);
    assert_true(matches("kv_?cache", true, S("a/KVcache.py")));
}

/* A dot is any byte, the end is the end, and only ASCII letters have a case, in every locale. */
static void texts_are_bytes(void **state)
{
    (void)state;
    assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
    static const struct taken all[] = {
        { "^.$", "\xc3\xa9", false }, { "^..$", "\xc3\xa9", true },  { "^.$", "\xff", true },
        { "\\w", "\xc3\xa9", false }, { "a$", "a\n", false },        { "^b", "a\nb", false },
        { "a.b", "a\nb", true },      { "^a\\nb$", "a\nb", true },   { "(?m)^b", "a\nb", true },
        { ".", "\n", true },          { ".", "\xff", true },         { ".", "", false },
        { "(?m)^b", "a\rb", false },  { "^a\\Rb$", "a\r\nb", true }, { "^a\\Rb$", "a\vb", false },
    };
    CHECK(all, false);
    assert_false(matches("\xc3\xa9", true, S("\xc3\x89")));
    assert_true(matches("\xc3\xa9", true, S("\xc3\xa9")));
    assert_true(matches("^a.b$", false, S("a\0b")));
    assert_false(matches("b", false, (str){ "ab", 1 }));
    assert_true(matches("^$", false, (str){ NULL, 0 }));
    assert_non_null(setlocale(LC_ALL, "C"));
}

/* GNU's words for where a word begins and ends, save where a backslash is part of something else.
 */
static void edges_of_words(void **state)
{
    (void)state;
    static const struct taken all[] = {
        { "\\<kv\\>", "a kv b", true },    { "\\<kv\\>", "a kvx b", false },
        { "\\<kv", "akv", false },         { "kv\\>", "kv.", true },
        { "^\\\\<a$", "\\<a", true },      { "^[\\<]$", "<", true },
        { "^[]\\<]$", "<", true },         { "^[^\\<]$", "b", true },
        { "^[[:alpha:]\\<]$", "<", true }, { "^\\Q\\<\\E$", "\\<", true },
        { "a(?#\\<)b", "ab", true },
    };
    CHECK(all, false);
}

/* Text that only looks like what is refused. */
static void what_is_text_is_taken(void **state)
{
    (void)state;
    static const struct taken all[] = {
        { "^\\(?R$", "(R", true },
        { "^\\(*$", "((", true },
        { "^[(*]+$", "(*", true },
        { "^[(?R)]+$", "(?R)", true },
        { "^[](?R)]+$", "](?R)", true },
        { "^[^(?C]$", "a", true },
        { "^[[:alpha:](?R]+$", "a(?R", true },
        { "^[[:alpha:]\\](?R]+$", "a](?R", true },
        { "^[\\Q](?R)\\E]+$", "](?R)", true },
        { "^[\\E](?R)]+$", "](?R)", true },
        { "^[\\Q\\E](?R)]+$", "](?R)", true },
        { "^[\\c](?R)]+$", "\x1d(?R)", true },
        { "^\\Q(?R)(*F)\\E$", "(?R)(*F)", true },
        { "^\\Q(?C)", "(?C)", true },
        { "^a(?#(?R)b$", "ab", true },
        { "^\\\\C$", "\\C", true },
        { "^[\\\\1]$", "1", true },
        { "^\\0$", "0", false },
        { "^(?<xx>a)$", "a", true },
        { "^(?x)a$", "a", true },
    };
    CHECK(all, false);
}

struct refused {
    const char *expression, *message;
};

static void check_refused(const struct refused *r)
{
    struct pattern p;
    struct vrs_error err = { .message = "" };
    if (pattern_compile(&p, str_from(r->expression), false, &err) == VRS_OK)
        fail_msg("\"%s\" is taken", r->expression);
    assert_int_equal(err.status, VRS_USAGE);
    if (strcmp(err.message, r->message) != 0)
        fail_msg("\"%s\": %s", r->expression, err.message);
}

#define RECURSION(at)                                                                              \
    "recursion at byte " at " is not allowed; write the group again in place of its call"
#define VERB(at) "a verb (* at byte " at " is not allowed; \\( is a parenthesis"
#define CALLOUT(at) "a callout (?C at byte " at " is not allowed; leave it out"
#define REFERENCE(at)                                                                              \
    "a back reference at byte " at " is not allowed; write out what may stand there"
#define XX(at) "the option xx at byte " at " is not allowed; x alone is"

/* What would do more than match, wherever it hides. */
static void what_is_refused(void **state)
{
    (void)state;
    static const struct refused all[] = {
        { "a(?R)?", RECURSION("1") },
        { "(a(?1)?)", RECURSION("2") },
        { "(a)(?-1)", RECURSION("3") },
        { "(?+1)(a)", RECURSION("0") },
        { "(?<n>a)(?&n)", RECURSION("7") },
        { "(?<n>a)(?P>n)", RECURSION("7") },
        { "(?<n>a)\\g<n>", RECURSION("7") },
        { "(a)\\g'1'", RECURSION("3") },
        { "\\\\(?R)", RECURSION("2") },
        { "\\c\\(?R)", RECURSION("3") },
        { "[a]](?R)", RECURSION("4") },
        { "[]a](?R)", RECURSION("4") },
        { "[^]a](?R)", RECURSION("5") },
        { "[[:alpha:]](?R)", RECURSION("11") },
        { "[[:alpha](?R)", RECURSION("9") },
        { "[\\]](?R)", RECURSION("4") },
        { "[\\c]](?R)", RECURSION("5") },
        { "[\\Qa]\\E](?R)", RECURSION("8") },
        { "[\\E]](?R)", RECURSION("5") },
        { "\\Q[\\E(?R)", RECURSION("5") },
        { "\\Q\\\\E(?R)", RECURSION("5") },
        { "(?#[)(?R)", RECURSION("5") },
        { "(?#\\)(?R)", RECURSION("5") },
        { "(*UTF)a", VERB("0") },
        { "(*LIMIT_MATCH=1)a", VERB("0") },
        { "a(*ACCEPT)b", VERB("1") },
        { "a(*pla:b)", VERB("1") },
        { "a(?C1)b", CALLOUT("1") },
        { "a(?C\"x\")b", CALLOUT("1") },
        { "(?(?C)(?=a)a|b)", CALLOUT("2") },
        { "a\\Cb", "\\C at byte 1 is not allowed; . takes any byte" },
        { "(a)\\1", REFERENCE("3") },
        { "(a)(b)\\g{-1}", REFERENCE("6") },
        { "(?<n>a)\\k<n>", REFERENCE("7") },
        { "(?<n>a)(?P=n)", REFERENCE("7") },
        { "(a)?(?(1)b|c)", REFERENCE("4") },
        { "(?xx)[ ]](?R)]", XX("0") },
        { "(?i-xx:a)", XX("0") },
        { "a\nb", "a line break at byte 1 is not allowed; \\n stands for one" },
        { "a(?#\n)", "a line break at byte 4 is not allowed; \\n stands for one" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_refused(&all[i]);
}

/* Where other words begin a message of PCRE2, or an offset of it is another, is of its version. */
static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct refused all[] = {
        { "(", "missing closing parenthesis at byte 1; \\( and \\) are parentheses" },
        { "a)b", "unmatched closing parenthesis at byte 1; \\( and \\) are parentheses" },
        { "[a", "missing terminating ] for character class at byte 2; \\[ is a bracket" },
        { "a\\", "\\ at end of pattern at byte 2; \\\\ is a backslash" },
    };
    static const struct refused by_remedy[] = {
        { "a**", "; \\* \\+ \\? are the characters" },
        { "\\y", "; leave the backslash out for the character" },
        { "a{3,2}", " at byte " },
        { "[b-a]", " at byte " },
        { "[[:word2:]]", " at byte " },
        { "(?<=a*)b", " at byte " },
        { "(?Z)", " at byte " },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_refused(&all[i]);
    for (size_t i = 0; i < sizeof by_remedy / sizeof *by_remedy; i++) {
        struct pattern p;
        struct vrs_error err;
        const struct refused *r = &by_remedy[i];
        assert_int_equal(pattern_compile(&p, str_from(r->expression), false, &err), VRS_USAGE);
        if (strstr(err.message, r->message) == NULL)
            fail_msg("\"%s\": %s", r->expression, err.message);
    }
}

static uint32_t seed;

static uint32_t chance(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % most;
}

static bool is_taken(const char *expression)
{
    struct pattern p;
    bool taken = pattern_compile(&p, str_from(expression), false, NULL) == VRS_OK;
    if (taken)
        pattern_free(&p);
    return taken;
}

/* Puts one word of the same length in the place of another. */
static void exchange(char *in, const char *old, const char *new)
{
    for (char *at = strstr(in, old); at != NULL; at = strstr(at, old))
        memcpy(at, new, strlen(new));
}

/* What PCRE2 takes for code it refuses when it is none; so what is refused as recursion is refused
 * when it is misspelt, and what is text either time is taken either time. */
static void code_is_told_from_text_as_pcre2_does(void **state)
{
    (void)state;
    static const char *const pieces[] = { "(?R)", "(?R)", "(*F)", "(?C)", "\\g<0>", "[",  "[",
                                          "]",    "]",    "[^",   "[:",   ":]",     "\\", "\\",
                                          "\\Q",  "\\E",  "\\c",  "(?#",  ")",      "(",  "a",
                                          "^",    "-",    "[.",   "[=",   "|",      " " };
    uint32_t taken = 0, refused = 0;
    seed = 3;
    for (int round = 0; round < 300000; round++) {
        char expression[64] = "", misspelt[64];
        for (uint32_t i = 0, count = 1 + chance(9); i < count; i++) {
            size_t len = strlen(expression);
            snprintf(expression + len, sizeof expression - len, "%s",
                     pieces[chance(sizeof pieces / sizeof *pieces)]);
        }
        memcpy(misspelt, expression, sizeof misspelt);
        exchange(misspelt, "(?R)", "(?Z)");
        exchange(misspelt, "(*F)", "(?Z)");
        exchange(misspelt, "(?C)", "(?Z)");
        exchange(misspelt, "\\g<0>", "\\g<!>");
        bool is = is_taken(expression);
        if (is != is_taken(misspelt))
            fail_msg("\"%s\" is %staken", expression, is ? "" : "not ");
        taken += is && strcmp(expression, misspelt) != 0;
        refused += !is;
    }
    assert_true(taken > 10000 && refused > 10000);
}

static void lengths_and_repeats_have_an_end(void **state)
{
    (void)state;
    static const struct refused too_large[] = {
        { "((((a{1,99}){1,99}){1,99}){1,99}){1,99}", "it is too large" },
        { "((ab){30000}){4}", "it is too large" },
    };
    char expression[PATTERN_BYTES_MOST + 2];
    struct vrs_error err = { .message = "" };
    struct pattern p;
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        str text = str_from(too_large[i].expression);
        assert_int_equal(pattern_compile(&p, text, false, &err), VRS_USAGE);
        assert_non_null(strstr(err.message, too_large[i].message));
    }
    memset(expression, 'a', sizeof expression);
    assert_int_equal(pattern_compile(&p, (str){ expression, PATTERN_BYTES_MOST }, false, &err),
                     VRS_OK);
    pattern_free(&p);
    assert_int_equal(pattern_compile(&p, (str){ expression, PATTERN_BYTES_MOST + 1 }, false, &err),
                     VRS_USAGE);
    assert_string_equal(err.message, "it has more than 4096 bytes; part it into several");
    memset(expression, '(', 1000);
    memset(expression + 1000, ')', 1000);
    assert_int_equal(pattern_compile(&p, (str){ expression, 2000 }, false, &err), VRS_USAGE);
    assert_non_null(strstr(err.message, "fewer groups"));
    assert_true(matches("((((((((((a))))))))))", false, S("a")));
}

/* Each would take days, or all memory; after it the room serves again. */
static void no_expression_takes_long(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        enum vrs_status expected;
    } all[] = {
        { "(a+)+$", VRS_LIMIT },
        { "(a|b)*(a|b)*(a|b)*(a|b)*[cd]", VRS_LIMIT },
        { "(.|x)*a.{100}(.|y)*b.{100}[cd]", VRS_LIMIT },
        { "((a*)*)*[cd]", VRS_LIMIT },
        { "(((a|b)+)+.+)+[cd]", VRS_LIMIT },
        { "(?=(.*)*d)", VRS_LIMIT },
        { "(a++)++$", VRS_OK },
        { "([ab]*+c)*+d", VRS_OK },
        { "a.*b.*c", VRS_OK },
        { "a.*b.*[cd]", VRS_LIMIT },
        { "^a.*b[cd]", VRS_OK },
    };
    char text[700];
    struct pattern_room room;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i < 40 ? 'a' : "ab"[(i * 2654435761u) >> 9 & 1];
    assert_int_equal(pattern_room_make(&room, NULL), VRS_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pattern p;
        struct vrs_error err = { .message = "" };
        bool found = true;
        assert_int_equal(pattern_compile(&p, str_from(all[i].expression), false, NULL), VRS_OK);
        enum vrs_status status =
            pattern_matches(&p, &room, (str){ text, sizeof text }, &found, &err);
        if (status != all[i].expected)
            fail_msg("\"%s\": %d %s", all[i].expression, status, err.message);
        assert_true(status != VRS_LIMIT || strstr(err.message, "more than 50000 steps") != NULL);
        assert_int_equal(found, status == VRS_LIMIT);
        assert_int_equal(pattern_matches(&p, &room, S("xyz"), &found, NULL), VRS_OK);
        pattern_free(&p);
    }
    pattern_room_free(&room);
}

/* What a match remembers has an end, too: here it is 600 groups for each of 700 bytes. */
static void memory_of_a_match_has_an_end(void **state)
{
    (void)state;
    struct buf expression, text;
    struct pattern p;
    struct pattern_room room;
    bool found;
    buf_init(&expression, 4096);
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 600; i++)
        buf_text(&expression, "()");
    buf_text(&expression, "(a|b)*[cd]");
    buf_repeat(&text, S("a"), 700);
    assert_false(expression.failed || text.failed);
    assert_int_equal(pattern_compile(&p, buf_slice(&expression), false, NULL), VRS_OK);
    assert_int_equal(pattern_room_make(&room, NULL), VRS_OK);
    assert_int_equal(pattern_matches(&p, &room, buf_slice(&text), &found, NULL), VRS_LIMIT);
    text.len = 70;
    assert_int_equal(pattern_matches(&p, &room, buf_slice(&text), &found, NULL), VRS_OK);
    assert_false(found);
    pattern_room_free(&room);
    pattern_free(&p);
    buf_free(&expression);
    buf_free(&text);
}

struct asked {
    struct pattern p;
    enum vrs_status status[32];
    bool found[32];
};

static void ask(void *arg, uint32_t i, uint32_t thread)
{
    (void)thread;
    struct asked *a = arg;
    struct pattern_room room;
    char text[64];
    snprintf(text, sizeof text, "module_%u.py:forward", i);
    a->status[i] = pattern_room_make(&room, NULL);
    for (int k = 0; k < 200 && a->status[i] == VRS_OK; k++)
        a->status[i] = pattern_matches(&a->p, &room, str_from(text), &a->found[i], NULL);
    if (a->status[i] == VRS_OK)
        pattern_room_free(&room);
}

static void many_threads_may_ask(void **state)
{
    (void)state;
    struct asked a;
    assert_int_equal(pattern_compile(&a.p, S("_([0-9])*[02468]\\.py"), false, NULL), VRS_OK);
    pool_run(4, &(struct pool_work){ 32, ask, NULL, &a });
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(a.status[i], VRS_OK);
        assert_int_equal(a.found[i], i % 2 == 0);
    }
    pattern_free(&a.p);
}

/* An expression long enough that compiling it takes memory for a while, names, and a match that
 * takes more than a room begins with. */
static enum vrs_status work(void *arg)
{
    struct pattern p;
    struct pattern_room room;
    bool found = false;
    TRY(pattern_compile(&p, *(const str *)arg, true, NULL));
    enum vrs_status status = pattern_room_make(&room, NULL);
    if (status == VRS_OK) {
        char text[1000];
        memset(text, 'b', sizeof text);
        status = pattern_matches(&p, &room, (str){ text, sizeof text }, &found, NULL);
        assert_true(status != VRS_OK || !found);
        pattern_room_free(&room);
    }
    pattern_free(&p);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char expression[PATTERN_BYTES_MOST];
    size_t len = 0;
    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(expression + len, sizeof expression - len, "(?<n%d>x)?", i);
    memset(expression + len, 'a', 3000);
    memcpy(expression + len + 3000, "|^(b|c)*[ef]", 12);
    str all = { expression, len + 3012 };
    fault_each(work, NULL, &all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_and_texts),
        cmocka_unit_test(texts_are_bytes),
        cmocka_unit_test(edges_of_words),
        cmocka_unit_test(what_is_text_is_taken),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(code_is_told_from_text_as_pcre2_does),
        cmocka_unit_test(lengths_and_repeats_have_an_end),
        cmocka_unit_test(no_expression_takes_long),
        cmocka_unit_test(memory_of_a_match_has_an_end),
        cmocka_unit_test(many_threads_may_ask),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
