#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/calls/tree.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/traced.h"

/* Lines, each as "DEPTH name host device", and how many there are in all. */
static void check(const char *spans, double share, const char *wanted)
{
    struct traced m;
    struct trace_tree t;
    char text[1000] = "";
    uint32_t at = 0;
    traced_begin(&m);
    traced_spans(&m, spans);
    assert_int_equal(trace_tree_make(&m.trace, share, &m.arena, &t, NULL), VRS_OK);
    for (uint32_t i = 0; i < t.rows; i++)
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%u %.*s %d %d; ", t.row[i].depth,
                                 (int)t.row[i].name.len, t.row[i].name.ptr, (int)t.row[i].host_ns,
                                 (int)t.row[i].device_ns);
    (void)snprintf(text + at, sizeof text - at, "of %u", t.paths);
    assert_string_equal(text, wanted);
    traced_end(&m);
}

static void the_longest_first(void **state)
{
    (void)state;
    check("", 0, "of 0");
    check("op a 1/1 0+10; op b 1/1 0+2; op c 1/1 2+5; op d 1/1 3+1; op e 1/1 20+30", 0,
          "0 thread 1 40 0; 1 e 30 0; 1 a 10 0; 2 c 5 0; 3 d 1 0; 2 b 2 0; of 6");
    check("op a 1/1 0+10; op b 1/2 0+20", 0,
          "0 thread 2 20 0; 1 b 20 0; 0 thread 1 10 0; 1 a 10 0; of 4");
}

/* A path is shown for its time on the host or for that on devices. */
static void the_small_are_left_out(void **state)
{
    (void)state;
    check("op a 1/1 0+100; op b 1/1 0+2; op c 1/1 2+1 e3; kernel k 0/7 5+9 e3; kernel l 1/7 5+91",
          0.02,
          "0 thread 1 100 9; 1 a 100 9; 2 b 2 0; 2 c 1 9; 3 k 0 9; "
          "0 (device work that no call is known to have launched) 0 91; 1 l 0 91; of 7");
    check("op a 1/1 0+100; op b 1/1 0+2", 0.03, "0 thread 1 100 0; 1 a 100 0; of 3");
}

static void check_share(const char *text, double wanted)
{
    double share = -1;
    bool is_share = tree_share_read(str_from(text), &share);
    assert_int_equal(is_share, wanted >= 0);
    assert_true(!is_share || (share > wanted - 1e-9 && share < wanted + 1e-9));
}

static void shares(void **state)
{
    (void)state;
    check_share("1%", 0.01);
    check_share("0.5%", 0.005);
    check_share("0.25", 0.25);
    check_share("0", 0);
    check_share("100%", 1);
    check_share("101%", -1);
    check_share("2", -1);
    check_share("-1%", -1);
    check_share("", -1);
    check_share("%", -1);
    check_share("x", -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_first),
        cmocka_unit_test(the_small_are_left_out),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
