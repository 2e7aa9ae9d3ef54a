#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/str.h"
#include "made/fault.h"
#include "model/ids.h"
#include "model/strings.h"

enum { MANY = 5000 };

/* Text number n; several are of one length and one prefix. */
static str text_of(uint32_t n, char to[32])
{
    int len = snprintf(to, 32, "layer.%u.weight", n * 7919 % MANY);
    return (str){ to, (size_t)len };
}

static void equal_texts_have_equal_ids(void **state)
{
    (void)state;
    struct strings s;
    assert_true(strings_init(&s, UINT32_MAX - 1));
    for (int round = 0; round < 2; round++)
        for (uint32_t n = 0; n < MANY; n++) {
            char text[32];
            string_id id = { 0 };
            assert_true(strings_intern(&s, text_of(n, text), &id));
            assert_int_equal(id.n, n + 1);
            assert_true(str_equal(strings_text(&s, id), text_of(n, text)));
        }
    assert_int_equal(s.rows.len, MANY + 1);
    strings_free(&s);
}

static void the_empty_string_is_none(void **state)
{
    (void)state;
    struct strings s;
    string_id id = { 9 };
    assert_true(strings_init(&s, 100));
    assert_true(strings_intern(&s, S(""), &id));
    assert_int_equal(id.n, 0);
    id.n = 9;
    assert_true(strings_intern(&s, (str){ NULL, 0 }, &id));
    assert_int_equal(id.n, 0);
    /* A NUL is a byte like any other. */
    assert_true(strings_intern(&s, (str){ "\0", 1 }, &id));
    assert_int_equal(id.n, 1);
    assert_true(strings_intern(&s, (str){ "\0\0", 2 }, &id));
    assert_int_equal(id.n, 2);
    strings_free(&s);
}

static void bytes_are_bounded(void **state)
{
    (void)state;
    struct strings s;
    string_id id = { 9 };
    assert_true(strings_init(&s, 8));
    assert_true(strings_intern(&s, S("12345"), &id));
    id.n = 9;
    assert_false(strings_intern(&s, S("6789"), &id));
    assert_int_equal(id.n, 9);
    assert_true(strings_intern(&s, S("678"), &id));
    assert_true(strings_intern(&s, S("12345"), &id));
    assert_int_equal(id.n, 1);
    strings_free(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool fired = true;
    for (long n = 0; fired; n++) {
        struct strings s;
        uint32_t interned = 0;
        fault_left = n;
        bool ok = strings_init(&s, UINT32_MAX - 1);
        while (ok && interned < 200) {
            char text[32];
            string_id id = { 0 };
            ok = strings_intern(&s, text_of(interned, text), &id);
            interned += ok;
            if (!ok)
                assert_int_equal(s.rows.len, interned + 1);
        }
        fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(ok, !fired);
        strings_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_equal_ids),
        cmocka_unit_test(the_empty_string_is_none),
        cmocka_unit_test(bytes_are_bounded),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
