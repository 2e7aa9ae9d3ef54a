/* test_literals.c - what an expression needs, and that no text is kept from PCRE2 which it would
 * match. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/literals.h"
#include "base/str.h"

static void check(const char *expression, const char *expected)
{
    struct literals l;
    struct buf found;
    buf_init(&found, 4096);
    literals_find(&l, str_from(expression), false);
    for (uint32_t i = 0; i < l.count; i++) {
        buf_text(&found, i > 0 ? " " : "");
        buf_bytes(&found, l.bytes + l.from[i], l.len[i]);
    }
    buf_char(&found, '\0');
    if (strcmp(found.at, expected) != 0)
        fail_msg("\"%s\" needs \"%s\", not \"%s\"", expression, found.at, expected);
    buf_free(&found);
}

static void the_longest_run_of_each_alternative(void **state)
{
    (void)state;
    check("AccumulateGrad", "AccumulateGrad");
    check("kv_?cache|past_key", "cache past_key");
    check("[cC]ublas[A-Za-z]*Workspace", "Workspace");
    check("cub::.*(sort|scan)", "cub::");
    check("/_fsdp\\.py:|all_gather", "/_fsdp.py: all_gather");
    check("abcd+ef", "abcd");
    check("abcd*ef", "abc");
    check("abc(x[)|]y|\\)z)de", "abc");
    check("[]^]abc", "abc");
    check("^(?=([^/]*/)*+[^/:]*:__init__$).*(a|b):__init__$", ":__init__");
    check("(?:ab|cd)efg(?!hijk)", "efg");
    check("(?i)ABC|defg", "abc defg");
}

/* An empty text: there is none, so that any text may match. */
static void what_is_not_plain_needs_nothing(void **state)
{
    (void)state;
    static const char *const all[] = {
        "",          ".",           "ab",       "abc|de",      "abc|",           "a(?i)bcd",
        "\\Qabc\\E", "abc{2}",      "abc\\x41", "ab\\cAbcdef", "[[:alpha:]]abc", "[\\]]abc",
        "(abc)",     "abc\\1",      "a?b?c?d?", "abc(",        "abc[",           "abc(?#)",
        "(?x)abc",   "(?<a>b)abcd",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(all[i], "");
}

static void a_text_has_one_of_them(void **state)
{
    (void)state;
    struct literals l;
    literals_find(&l, S("kv_?cache|past_key"), true);
    assert_true(literals_may_match(&l, S("KVCache")));
    assert_true(literals_may_match(&l, S("xPAST_KEY")));
    assert_false(literals_may_match(&l, S("past_ke")));
    assert_false(literals_may_match(&l, S("")));
    assert_false(literals_may_match(&l, S("ca")));
    literals_find(&l, S("kv_?cache"), false);
    assert_false(literals_may_match(&l, S("KVCache")));
}

static bool among(const struct literals *l, str text)
{
    struct trigrams trigrams;
    trigrams_find(&trigrams, text);
    return literals_may_be_among(l, &trigrams);
}

static void trigrams_tell_most_texts_apart(void **state)
{
    (void)state;
    struct literals l;
    literals_find(&l, S("kv_?cache|past_key"), false);
    assert_true(among(&l, S("the kvcache")));
    assert_true(among(&l, S("past_key")));
    assert_true(among(&l, S("PAST_KEY"))); /* the case is not looked at */
    assert_false(among(&l, S("past_value")));
    assert_false(among(&l, S("/torch/nn/modules/module.py:_apply")));
    assert_false(among(&l, S("ca")));
    assert_false(among(&l, S("")));
    literals_find(&l, S("ab"), false); /* it needs nothing */
    assert_true(among(&l, S("")));
}

static bool is_exact(const char *expression)
{
    struct literals l;
    literals_find(&l, str_from(expression), false);
    return l.exact;
}

static void plain_bytes_alone_need_no_search(void **state)
{
    (void)state;
    assert_true(is_exact("::rand|::normal"));
    assert_true(is_exact("functional\\.py:"));
    assert_true(is_exact("(?i)noise"));
    static const char *const none[] = { "abc$",  "^abc",   "abc.",   "abcd?", "abc+",
                                        "(abc)", "abc[d]", "abc\\b", "ab",    "abc|de" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(is_exact(none[i]));
}

/* A small generator of our own: the same numbers everywhere. */
static uint32_t next_number(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % most;
}

static bool pcre2_finds(pcre2_code *code, str text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int found = pcre2_match(code, (PCRE2_SPTR)text.ptr, text.len, 0, 0, data, NULL);
    pcre2_match_data_free(data);
    return found >= 0;
}

static void no_match_is_missed(void **state)
{
    (void)state;
    static const char *const parts[] = { "abc",  "aBc",  "b",    "ca",  "|",   "(",   ")",
                                         "[ab]", "[^c]", "*",    "+",   "?",   ".",   "^",
                                         "$",    "\\.",  "\\b",  "bca", "cab", "{2}", "(?:",
                                         "{",    "\\(",  "[]a]", "(?=", "(?!", "(?>", "(?<!" };
    enum { PARTS = sizeof parts / sizeof *parts, EXPRESSIONS = 40000, TEXTS = 30 };
    static const char *const words[] = { "abc", "bca", "cab", "aBc", "ABC", "a", "b", "c", "." };
    enum { WORDS = sizeof words / sizeof *words };
    uint32_t seed = 7, taken = 0, filtered = 0, found = 0, exact = 0;
    for (uint32_t n = 0; n < EXPRESSIONS; n++) {
        char expression[64] = "(?i)";
        size_t len = n % 8 == 0 ? strlen(expression) : 0;
        for (uint32_t i = next_number(&seed, 8) + 1; i > 0; i--) {
            const char *part = parts[next_number(&seed, PARTS)];
            memcpy(expression + len, part, strlen(part) + 1);
            len += strlen(part);
        }
        int error;
        PCRE2_SIZE at;
        bool ignore_case = n % 2 == 1;
        pcre2_code *code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                         ignore_case ? PCRE2_CASELESS : 0, &error, &at, NULL);
        if (code == NULL)
            continue;
        struct literals l;
        literals_find(&l, str_from(expression), ignore_case);
        taken++;
        for (uint32_t k = 0; k < TEXTS && l.count > 0; k++) {
            char text[32];
            str of = { text, 0 };
            for (uint32_t i = next_number(&seed, 6); i > 0; i--) {
                const char *word = words[next_number(&seed, WORDS)];
                memcpy(text + of.len, word, strlen(word));
                of.len += strlen(word);
            }
            bool may = literals_may_match(&l, of);
            filtered += !may;
            if (!pcre2_finds(code, of)) {
                if (may && l.exact)
                    fail_msg("\"%s\" does not match \"%.*s\"", expression, (int)of.len, text);
                continue;
            }
            exact += l.exact;
            found++;
            if (!may || !among(&l, of))
                fail_msg("\"%s\" matches \"%.*s\"", expression, (int)of.len, text);
        }
        pcre2_code_free(code);
    }
    assert_true(taken > 5000 && filtered > 50000 && found > 5000 && exact > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_run_of_each_alternative),
        cmocka_unit_test(what_is_not_plain_needs_nothing),
        cmocka_unit_test(a_text_has_one_of_them),
        cmocka_unit_test(plain_bytes_alone_need_no_search),
        cmocka_unit_test(trigrams_tell_most_texts_apart),
        cmocka_unit_test(no_match_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
