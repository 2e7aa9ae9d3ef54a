#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "made/fault.h"

static void check_text(const struct buf *b, const char *expected)
{
    assert_false(b->failed);
    assert_int_equal(b->len, strlen(expected));
    assert_memory_equal(b->len == 0 ? "" : b->at, expected, b->len);
    assert_true(b->len <= b->cap && b->cap <= b->max);
}

static void pieces_are_joined(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, SIZE_MAX);
    check_text(&b, "");
    buf_bytes(&b, NULL, 0);
    buf_str(&b, S("one"));
    buf_char(&b, ' ');
    buf_text(&b, "two");
    buf_repeat(&b, S("-+"), 3);
    buf_repeat(&b, S("x"), 0);
    buf_format(&b, " %s %d", "three", -4);
    buf_format(&b, "%s", "");
    check_text(&b, "one two-+-+-+ three -4");
    assert_true(str_equal(buf_slice(&b), S("one two-+-+-+ three -4")));
    buf_free(&b);
    check_text(&b, "");
}

static void numbers_are_decimal(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *text;
    } cases[] = { { 0, "0" },
                  { 9, "9" },
                  { 10, "10" },
                  { 1000000007, "1000000007" },
                  { UINT64_MAX, "18446744073709551615" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b;
        buf_init(&b, 64);
        buf_u64(&b, cases[i].n);
        check_text(&b, cases[i].text);
        buf_free(&b);
    }
}

static void check_reals(void)
{
    static const struct {
        double value;
        int places;
        const char *real, *fixed;
    } cases[] = { { 1.5, 3, "1.5", "1.500" },
                  { -0.25, 2, "-0.25", "-0.25" },
                  { 12, 0, "1e+01", "12" },
                  { 1.25e-7, 4, "1.25e-07", "0.0000" },
                  { 123456.5, 7, "123456.5", "123456.5000000" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b;
        buf_init(&b, 64);
        buf_real(&b, cases[i].value, cases[i].places);
        check_text(&b, cases[i].real);
        buf_free(&b);
        buf_fixed(&b, cases[i].value, cases[i].places);
        check_text(&b, cases[i].fixed);
        buf_free(&b);
    }
}

static void fractions_have_a_point(void **state)
{
    (void)state;
    check_reals();
}

static void long_texts_grow(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, SIZE_MAX);
    for (int i = 0; i < 20000; i++)
        buf_char(&b, (char)('a' + i % 26));
    assert_false(b.failed);
    assert_int_equal(b.len, 20000);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(b.at[i], 'a' + i % 26);
    buf_free(&b);
}

static void the_first_failure_stays(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 10);
    buf_text(&b, "12345");
    buf_text(&b, "678901");
    assert_true(b.failed);
    buf_text(&b, "6");
    buf_format(&b, "%d", 7);
    assert_int_equal(b.len, 5);
    buf_free(&b);
    assert_false(b.failed);
    buf_text(&b, "1234567890");
    check_text(&b, "1234567890");
    buf_free(&b);
    /* The NUL that formatting needs is not counted, but must fit. */
    buf_format(&b, "%s", "1234567890");
    assert_true(b.failed);
    buf_free(&b);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, SIZE_MAX);
    fault_left = 0;
    buf_text(&b, "one");
    assert_true(b.failed);
    buf_text(&b, "two");
    assert_int_equal(b.len, 0);
    assert_int_equal(fault_left, -1);
    buf_free(&b);
}

static void a_failure_is_handed_on(void **state)
{
    (void)state;
    struct buf to, part;
    buf_init(&to, SIZE_MAX);
    buf_init(&part, SIZE_MAX);
    buf_text(&part, "one");
    buf_end(&part, &to);
    check_text(&to, "");
    check_text(&part, "");
    buf_init(&part, 1);
    buf_text(&part, "two");
    buf_end(&part, &to);
    assert_true(to.failed);
    buf_end(&part, &to);
    assert_true(to.failed);
    buf_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined),       cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(fractions_have_a_point),  cmocka_unit_test(long_texts_grow),
        cmocka_unit_test(the_first_failure_stays), cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(a_failure_is_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
