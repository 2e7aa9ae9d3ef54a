#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/tables/operators.h"
#include "analysis/trace/tables/tables.h"
#include "base/str.h"
#include "base/table.h"
#include "made/traced.h"
#include "model/trace.h"

/* The table, as "name calls total self device-total self-device; …"; how many were absorbed. */
static void check(const char *spans, uint64_t merged, const char *wanted)
{
    struct traced m;
    struct tables t = { .ops = 0 };
    char text[600] = "";
    traced_study_of(&m, spans);
    assert_true(operators_make(&m.study, &m.study.host, NULL, &m.arena, &t));
    for (uint32_t i = 0, at = 0; i < t.ops; i++) {
        const struct operator_row *r = &t.op[i];
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%.*s %d %d %d %d %d",
                                 i > 0 ? "; " : "", (int)r->name.len, r->name.ptr, (int)r->calls,
                                 (int)r->cpu_total_ns, (int)r->self_cpu_ns,
                                 (int)r->device_total_ns, (int)r->self_device_ns);
    }
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s:\n  %s, wanted\n  %s", spans, text, wanted);
    assert_int_equal(t.merged, merged);
    traced_end(&m);
}

static void self_is_without_direct_children(void **state)
{
    (void)state;
    check("", 0, "");
    check("op a 1/1 0+9; op b 1/1 1+4; op c 1/1 2+1", 0,
          "a 1 9 5 0 0; b 1 4 3 0 0; c 1 1 1 0 0");
    check("op a 1/1 0+9; op b 1/1 1+4; op b 1/1 6+1; op b 1/2 0+1", 0,
          "b 3 6 6 0 0; a 1 9 4 0 0");
    check("op a 1/1 0+9; runtime r 1/1 1+2; annotation n 1/1 3+4; python p 1/1 3+1", 0,
          "n 1 4 4 0 0; a 1 9 3 0 0; r 1 2 2 0 0"); /* frames are no rows and take nothing */
    check("op b 1/1 0+2; op a 1/1 5+2; op c 1/1 9+2", 0,
          "a 1 2 2 0 0; b 1 2 2 0 0; c 1 2 2 0 0"); /* ties by name */
    check("op a 1/1 0+9; op b 1/1 1+4; op a 1/1 2+2", 0, "a 2 11 7 0 0; b 1 4 2 0 0");
}

static void device_time_of_the_owner_and_of_all_around(void **state)
{
    (void)state;
    check("op a 1/1 0+9 e1; op b 1/1 1+4 e2; kernel k 0/7 9+8 e2; kernel l 0/7 9+1 e1; "
          "kernel m 0/7 30+99",
          0, "a 1 9 5 9 1; b 1 4 4 8 8");
    check("op a 1/1 0+9; runtime r 1/1 1+2 c5; memcpy k 0/7 9+8 c5", 0,
          "a 1 9 7 8 8; r 1 2 2 0 0");
}

static void equal_only_children_are_absorbed(void **state)
{
    (void)state;
    check("op a 1/1 0+9; op a 1/1 1+4", 1, "a 1 9 9 0 0");
    check("op a 1/1 0+9; op a 1/1 1+7; op a 1/1 2+3; op a 1/1 3+1", 3, "a 1 9 9 0 0");
    check("op a 1/1 0+9; op a 1/1 1+4; op b 1/1 2+1", 1, "a 1 9 8 0 0; b 1 1 1 0 0");
    check("op a 1/1 0+9; op a 1/1 1+4; op b 1/1 6+1", 0, "a 2 13 8 0 0; b 1 1 1 0 0");
    check("op a 1/1 0+9; op b 1/1 1+7; op a 1/1 2+3", 0, "a 2 12 5 0 0; b 1 7 4 0 0");
    check("op a 1/1 0+9; annotation a 1/1 1+4", 1, "a 1 9 9 0 0");
    /* Two chains, one of them ended by two children. */
    check("op a 1/1 0+9; op a 1/1 1+8; op a 1/1 1+2; op a 1/1 5+2", 1, "a 3 13 9 0 0");
    check("op b 1/1 0+10; op b 1/1 0+9; op c 1/1 0+8; op c 1/1 0+7; op c 1/1 1+6", 3,
          "c 1 8 8 0 0; b 1 10 2 0 0");
}

/* Its children and its device work take the place of its parent's. */
static void device_work_of_absorbed_ones(void **state)
{
    (void)state;
    check("op a 1/1 0+9 e1; op a 1/1 1+4 e2; kernel k 0/7 9+8 e2", 1, "a 1 9 9 8 8");
    check("op a 1/1 0+9 e1; op a 1/1 1+4 e2; kernel k 0/7 9+8 e2; kernel l 0/7 9+1 e1", 1,
          "a 1 9 9 8 8");
    check("op p 1/1 0+20; op a 1/1 0+9 e1; op a 1/1 1+4 e2; op b 1/1 2+1 e3; kernel k 0/7 9+8 e2; "
          "kernel l 0/7 9+16 e3",
          1, "p 1 20 11 24 0; a 1 9 8 24 8; b 1 1 1 16 16");
}

static void what_is_not_listed_still_takes_its_time(void **state)
{
    (void)state;
    check("op a 1/1 0+9; op aten::is_leaf 1/1 1+2; op b 1/1 1+1", 0, "a 1 9 7 0 0; b 1 1 1 0 0");
    check("op profiler::_record_function_enter_new 1/1 0+9; op a 1/1 1+2", 0, "a 1 2 2 0 0");
    struct traced m;
    struct tables t = { .ops = 0 };
    traced_study_of(&m, "op aten::_version 1/1 0+9; op a 1/1 1+2");
    assert_true(operators_make(&m.study, &m.study.host, NULL, &m.arena, &t));
    assert_int_equal(t.self_cpu_ns, 9);
    traced_end(&m);
}

static void steps_are_one_row(void **state)
{
    (void)state;
    check("annotation ProfilerStep#1 1/1 0+5; annotation ProfilerStep#2 1/1 5+6; "
          "annotation ProfilerStep# 1/1 20+1",
          0, "ProfilerStep* 2 11 11 0 0; ProfilerStep# 1 1 1 0 0");
    /* Two steps are not one name when it comes to absorbing. */
    check("annotation ProfilerStep#1 1/1 0+5; annotation ProfilerStep#2 1/1 1+3", 0,
          "ProfilerStep* 2 8 5 0 0");
}

/* Self times add up to what the outermost spans last, absorbed ones or not. */
static void self_times_add_up(void **state)
{
    (void)state;
    uint64_t random = 17;
    for (int round = 0; round < 300; round++) {
        struct traced m;
        struct tables t = { .ops = 0 };
        int64_t roots = 0, listed = 0, device = 0;
        traced_begin(&m);
        traced_random_hosts(&m, &random, (uint32_t)traced_draw(&random, 30), 30);
        const struct spans *s = &m.trace.spans;
        uint32_t hosts = s->rows.len;
        for (uint32_t i = 0; i < 5 && hosts > 0; i++) {
            uint32_t row = traced_span(&m, SPAN_KERNEL, "k", traced_track(&m, 0, 7), i, i);
            s->external[row] = (int64_t)traced_draw(&random, hosts) + 1;
            s->external_form[row] = ID_NUMBER;
        }
        for (uint32_t row = 0; row < hosts; row++) {
            s->external[row] = row + 1;
            s->external_form[row] = ID_NUMBER;
        }
        traced_study(&m);
        assert_true(operators_make(&m.study, &m.study.host, NULL, &m.arena, &t));
        for (uint32_t row = 0; row < hosts; row++)
            roots += m.study.host.parent[row] == NO_ROW ? s->duration[row] : 0;
        assert_int_equal(t.self_cpu_ns, roots);
        for (uint32_t i = 0; i < t.ops; i++) {
            listed += t.op[i].self_cpu_ns;
            device += t.op[i].self_device_ns;
            assert_true(t.op[i].self_device_ns <= t.op[i].device_total_ns);
        }
        assert_int_equal(listed, roots);
        assert_true(device <= 0 + 1 + 2 + 3 + 4);
        traced_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_is_without_direct_children),
        cmocka_unit_test(device_time_of_the_owner_and_of_all_around),
        cmocka_unit_test(equal_only_children_are_absorbed),
        cmocka_unit_test(device_work_of_absorbed_ones),
        cmocka_unit_test(what_is_not_listed_still_takes_its_time),
        cmocka_unit_test(steps_are_one_row),
        cmocka_unit_test(self_times_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
