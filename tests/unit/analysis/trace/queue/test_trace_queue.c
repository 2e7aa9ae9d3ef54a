#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/queue/queue.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/fault.h"
#include "made/traced.h"

static void launches_of(struct traced *m, struct trace_launches *ret)
{
    struct launch_delay delay;
    assert_true(launch_delay_find(&m->study, &m->arena, &delay));
    assert_true(trace_launches_make(&m->study, &delay, &m->arena, ret));
}

/* Queues as "7: 2 work, mean 0.50, median 0, most 1, empty 0.50, below 0". */
static void check(const char *spans, const char *wanted)
{
    struct traced m;
    struct trace_launches l;
    char text[400] = "";
    traced_study_of(&m, spans);
    launches_of(&m, &l);
    for (uint32_t i = 0, at = 0; i < l.queues; i++)
        at += (uint32_t)snprintf(
            text + at, sizeof text - at,
            "%s%.*s: %d work, mean %.2f, median %d, most %d, empty %.2f, below %d",
            i > 0 ? "; " : "", (int)l.queue[i].stream.len, l.queue[i].stream.ptr,
            (int)l.queue[i].work, l.queue[i].mean, (int)l.queue[i].median, (int)l.queue[i].most,
            l.queue[i].empty_ratio, (int)l.queue[i].below_zero);
    assert_string_equal(text, wanted);
    traced_end(&m);
}

static void depths_by_time(void **state)
{
    (void)state;
    check("kernel k 0/7 10+5", "");
    /* One waits from 0 to 10. */
    check("runtime l 1/1 0+1 c1; kernel k 0/7 10+5 c1",
          "7: 1 work, mean 1.00, median 1, most 1, empty 0.00, below 0");
    /* One from 0 to 10, another from 4 to 16, none from 16 to 20, one from 20 to 24. */
    check("runtime l 1/1 0+1 c1; runtime l 1/1 4+1 c2; runtime l 1/1 20+1 c3; "
          "kernel k 0/7 10+5 c1; kernel k 0/7 16+5 c2; kernel k 0/7 24+1 c3",
          "7: 3 work, mean 1.08, median 1, most 2, empty 0.17, below 0");
    /* A launch of three pieces, as that of a graph. */
    check("runtime cudaGraphLaunch 1/1 0+1 c1; kernel a 0/7 10+5 c1; kernel b 0/7 20+5 c1; "
          "kernel c 0/7 30+5 c1",
          "7: 3 work, mean 2.00, median 2, most 3, empty 0.00, below 0");
    /* What starts at the instant of its launch never waits; a queue without time has no mean. */
    check("runtime l 1/1 5+1 c1; kernel k 0/7 5+5 c1",
          "7: 1 work, mean -1.00, median -1, most 1, empty -1.00, below 0");
    /* A clock that is wrong: started at 2, launched at 5. */
    check("runtime l 1/1 5+1 c1; kernel k 0/7 2+5 c1",
          "7: 1 work, mean 0.00, median 0, most 0, empty 1.00, below 1");
    check("runtime l 1/1 0+1 c1; runtime l 1/1 0+1 c2; kernel k 0/20 4+1 c1; kernel k 0/7 8+1 c2",
          "7: 1 work, mean 1.00, median 1, most 1, empty 0.00, below 0; "
          "20: 1 work, mean 1.00, median 1, most 1, empty 0.00, below 0");
}

static void delays_from_the_end_of_a_launch(void **state)
{
    (void)state;
    struct traced m;
    struct trace_launches l;
    traced_study_of(&m, "runtime cudaLaunchKernel 1/1 0+4 c1; runtime cudaLaunchKernel 1/1 10+4 c2; "
                        "kernel k 0/7 3+1 c1; kernel k 0/7 20+1 c2; runtime other 1/1 30+9");
    launches_of(&m, &l);
    assert_int_equal(l.calls, 2);
    assert_int_equal(l.ns, 8);
    assert_int_equal(l.delay.count, 2);
    assert_int_equal(l.delay.negative, 1);
    assert_int_equal(l.delay.least_ns, -1);
    assert_int_equal(l.delay.median_ns, -1);
    assert_int_equal(l.delay.most_ns, 6);
    traced_end(&m);
}

static void delays_of_launches(void **state)
{
    (void)state;
    static const struct {
        const char *spans;
        int64_t least, median, most;
    } cases[] = {
        { "runtime r 1/1 0+5 c3; kernel k 0/7 9+1 c3", 4, 4, 4 },
        { "runtime r 1/1 0+5 c3; kernel k 0/7 9+1 c3; kernel k 0/7 15+1 c3", 4, 4, 10 },
        { "runtime r 1/1 0+5 c3; kernel k 0/7 2+1 c3; kernel k 0/7 15+1 c3; kernel k 0/7 6+1 c3; "
          "kernel k 0/7 99+1",
          -3, 1, 10 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct launch_delay delay;
        traced_study_of(&m, cases[i].spans);
        assert_true(launch_delay_find(&m.study, &m.arena, &delay));
        assert_int_equal(delay.least_ns, cases[i].least);
        assert_int_equal(delay.median_ns, cases[i].median);
        assert_int_equal(delay.most_ns, cases[i].most);
        traced_end(&m);
    }
}

static enum vrs_status again(void *arg)
{
    struct traced *m = arg;
    struct arena arena;
    struct trace_launches l;
    struct launch_delay delay;
    arena_init(&arena, SIZE_MAX / 2);
    bool ok = launch_delay_find(&m->study, &arena, &delay) &&
              trace_launches_make(&m->study, &delay, &arena, &l);
    arena_free(&arena);
    return ok ? VRS_OK : VRS_NOMEM;
}

static void without_memory(void **state)
{
    (void)state;
    struct traced m;
    traced_study_of(&m, "runtime l 1/1 0+1 c1; kernel k 0/7 10+5 c1");
    fault_each(again, NULL, &m);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depths_by_time),
        cmocka_unit_test(delays_from_the_end_of_a_launch),
        cmocka_unit_test(delays_of_launches),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
