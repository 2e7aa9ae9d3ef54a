/* test_local_peaks.c - curves drawn as digits, and which of their summits count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/snapshot/curves/local_peaks.h"

/* Each letter is a value times 10, 'a' being 10; state 0 is before event 0. */
static void check(const char *curve, const char *events)
{
    struct local_peaks p;
    char found[64] = "";
    int64_t value = 0;
    uint32_t len = 0;
    for (int64_t state = 0; curve[state] != '\0'; state++) {
        int64_t next =
            curve[state] >= 'a' ? (curve[state] - 'a' + 10) * 10 : (curve[state] - '0') * 10;
        if (state == 0)
            local_peaks_begin(&p, next);
        else if (next != value)
            local_peaks_next(&p, next, state - 1);
        value = next;
    }
    local_peaks_end(&p);
    for (uint32_t i = 0; i < p.count; i++)
        found[len++] = (char)('a' + p.at[i].event + 1); /* state 0 is 'a' */
    found[len] = '\0';
    assert_string_equal(found, events);
}

static void summits_are_found_highest_first(void **state)
{
    (void)state;
    check("0", "");
    check("5", "a");
    check("05", "b");
    check("50", "a");
    check("0505", "bd"); /* equal ones by event */
    check("0306090", "fdb");
    check("090603", "bdf");
}

static void shoulders_are_none(void **state)
{
    (void)state;
    check("123456789", "i");
    check("987654321", "a");
    check("0a9a0", "b");  /* 90 % of it is still the same top */
    check("0a8a0", "bd"); /* below it is not */
    check("0kjik0", "b");
    check("0ihk0", "d");     /* a step on the way up */
    check("0khi0", "b");     /* and on the way down */
    check("0k5h9k0", "bfd"); /* a valley between, and a hill in it */
}

static void only_the_highest_are_kept(void **state)
{
    (void)state;
    check("010203040506070", "nljhf");
    check("070605040302010", "bdfhj");
    check("0507030906080", "hldjb");
    check("020202020202020", "bdfhj");
}

static void hostile_values_do_no_harm(void **state)
{
    (void)state;
    struct local_peaks p;
    local_peaks_begin(&p, INT64_MIN);
    local_peaks_next(&p, INT64_MAX, 0);
    local_peaks_next(&p, INT64_MIN, 1);
    local_peaks_next(&p, -1, 2);
    local_peaks_end(&p);
    assert_int_equal(p.count, 1);
    assert_true(p.at[0].bytes == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summits_are_found_highest_first),
        cmocka_unit_test(shoulders_are_none),
        cmocka_unit_test(only_the_highest_are_kept),
        cmocka_unit_test(hostile_values_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
