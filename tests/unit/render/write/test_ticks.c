#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "render/write/ticks.h"

static void check_ticks(uint32_t n, const struct tick *ticks, const char *expected)
{
    char all[256] = "";
    for (uint32_t i = 0; i < n; i++) {
        strncat(all, ticks[i].text, sizeof all - strlen(all) - 1);
        strncat(all, ";", sizeof all - strlen(all) - 1);
    }
    assert_string_equal(all, expected);
}

static void ticks_are_round(void **state)
{
    (void)state;
    struct tick t[TICKS_MOST];
    double gib = 1 << 30;
    check_ticks(ticks_bytes(0, 3 * gib, 4, t), t, "0 B;1 GiB;2 GiB;3 GiB;");
    check_ticks(ticks_bytes(-gib, gib, 4, t), t, "-1 GiB;-512 MiB;0 B;512 MiB;1 GiB;");
    check_ticks(ticks_bytes(0, 3 * gib * 1024, 2, t), t, "0 B;2 TiB;");
    check_ticks(ticks_count(0, 1, 9, t), t, "0;1;");
    check_ticks(ticks_count(0, 3000, 3, t), t, "0;1000;2000;3000;");
    check_ticks(ticks_count(10000, 30000, 2, t), t, "10 k;20 k;30 k;");
    check_ticks(ticks_count(0, 3e6, 2, t), t, "0;2 M;");
    check_ticks(ticks_real(0, 0.01, 5, t), t, "0;0.002;0.004;0.006;0.008;0.01;");
    check_ticks(ticks_real(-1, 1, 4, t), t, "-1;-0.5;0;0.5;1;");
    check_ticks(ticks_real(0, 9, 3, t), t, "0;5;");
    check_ticks(ticks_real(0, 3000, 3, t), t, "0;1000;2000;3000;");
    check_ticks(ticks_real(1e-6, 3.5e-6, 3, t), t, "1e-06;2e-06;3e-06;");
    assert_int_equal(ticks_real(1, 1, 5, t), 0);
    assert_int_equal(ticks_real(0, 1e-300, 5, t), 0);
    assert_int_equal(ticks_real(1e18, 1e18 + 1024, 5, t), 0);
    assert_int_equal(ticks_real(0, NAN, 5, t), 0);
    assert_int_equal(ticks_real(0, INFINITY, 5, t), 0);
    /* Hostile sums are no reason to hang. */
    assert_true(ticks_bytes(-1e25, 1e25, 8, t) <= TICKS_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
