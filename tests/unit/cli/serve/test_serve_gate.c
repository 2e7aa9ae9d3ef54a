#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "serve/serve_gate.h"

static const char token[] = "00112233445566778899aabbccddeeff";

static void tokens_are_128_bits_and_differ(void **state)
{
    (void)state;
    char one[TOKEN_TEXT], other[TOKEN_TEXT];
    assert_true(gate_token(one) && gate_token(other));
    assert_int_equal(strlen(one), 32);
    assert_int_equal(strspn(one, "0123456789abcdef"), 32);
    assert_string_not_equal(one, other);
}

static void own_names_are_let_in(void **state)
{
    (void)state;
    static const char *const in[] = {
        "127.0.0.1", "127.0.0.1:1",    "127.0.0.1:65535", "[::1]",
        "[::1]:80",  "localhost:8000", "LocalHost",       "localhost"
    };
    static const char *const out[] = {
        "",
        "example.org",
        "127.0.0.1.example.org",
        "localhost.example.org:80",
        "::1",
        "127.0.0.1:",
        "127.0.0.1:80:80",
        "127.0.0.1@example.org",
        "127.0.0.2",
        "[::1",
        "[::1]x",
        "127.0.0.1:123456",
        "localhost ",
        " localhost",
        "localhost:8a",
        "localhost:-1",
        "127.1",
        "localhost/..",
        "0:0:0:0:0:0:0:1",
        "localhost:+80",
    };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        assert_true(gate_host(in[i]));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_false(gate_host(out[i]));
    assert_false(gate_host(NULL));
}

/* What stands behind "/TOKEN". */
static int64_t behind(const char *text, uint32_t pages)
{
    char path[256];
    snprintf(path, sizeof path, "/%s%s", token, text);
    return gate_page(path, token, pages);
}

static void paths_lead_to_pages(void **state)
{
    (void)state;
    assert_int_equal(behind("/", 0), 0);
    assert_int_equal(behind("/", 5), 0);
    assert_int_equal(behind("", 5), GATE_BARE);
    assert_int_equal(behind("/1", 5), 1);
    assert_int_equal(behind("/5", 5), 5);
    assert_int_equal(behind("/4294967295", UINT32_MAX), UINT32_MAX);
    static const char *const none[] = {
        "/6",  "/0", "/01",  "/-1",  "/1/",
        "/1x", "//", "/..",  "/+1",  "/ 1",
        "x",   "0/", "/%31", "/1.0", "/99999999999999999999999999999999999999999",
        "?"
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(behind(none[i], 5), GATE_NOWHERE);
    assert_int_equal(behind("/1", 0), GATE_NOWHERE);
}

/* Every byte counts, and every byte has to be there. */
static void only_the_whole_token_is_one(void **state)
{
    (void)state;
    char path[TOKEN_TEXT + 2];
    for (size_t i = 0; i < TOKEN_TEXT - 1; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            snprintf(path, sizeof path, "/%s/", token);
            path[1 + i] = (char)((unsigned char)path[1 + i] ^ 1u << bit);
            assert_int_equal(gate_page(path, token, 5), GATE_NOWHERE);
        }
        snprintf(path, sizeof path, "/%.*s", (int)i, token);
        assert_int_equal(gate_page(path, token, 5), GATE_NOWHERE);
        snprintf(path, sizeof path, "/%.*s/", (int)i, token);
        assert_int_equal(gate_page(path, token, 5), GATE_NOWHERE);
    }
    assert_int_equal(gate_page("", token, 5), GATE_NOWHERE);
    assert_int_equal(gate_page("*", token, 5), GATE_NOWHERE);
    assert_int_equal(gate_page(token, token, 5), GATE_NOWHERE);
    snprintf(path, sizeof path, "x%s", token);
    assert_int_equal(gate_page(path, token, 5), GATE_NOWHERE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_128_bits_and_differ),
        cmocka_unit_test(own_names_are_let_in),
        cmocka_unit_test(paths_lead_to_pages),
        cmocka_unit_test(only_the_whole_token_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
