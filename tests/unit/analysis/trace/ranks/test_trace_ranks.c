#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/ranks/trace_ranks.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"

/* Two processes of a host, each with a step, a collective and other work on one device. */
static const char two_ranks[] =
    "annotation ProfilerStep#4 1/1 0+100; runtime launch 1/1 0+2 c1; kernel ncclSum 0/7 60+50 c1; "
    "runtime launch 1/1 3+2 c2; kernel gemm 0/8 10+80 c2; "
    "annotation ProfilerStep#4 2/2 0+130; runtime launch 2/2 0+2 c3; kernel ncclSum 0/7 90+20 c3; "
    "runtime launch 2/2 3+2 c4; kernel gemm 0/8 10+30 c4; kernel lost 0/8 500+30";

static void processes_are_parts(void **state)
{
    (void)state;
    struct traced m;
    struct rank_parts p;
    traced_study_of(&m, two_ranks);
    assert_true(rank_parts_make(&m.study, &m.arena, &p));
    assert_int_equal(p.parts, 2);
    const int64_t steps[] = { 110, 130 }, talks[] = { 50, 20 }, exposed[] = { 20, 20 };
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(p.part[i].steps, 1);
        assert_int_equal(p.part[i].step[0].number, 4);
        assert_int_equal(p.part[i].step[0].ns, steps[i]);
        assert_int_equal(p.part[i].collectives, 1);
        assert_int_equal(p.part[i].communication_ns, talks[i]);
        assert_int_equal(p.part[i].exposed_communication_ns, exposed[i]);
    }
    assert_true(str_equal(p.part[1].process, S("2")));
    traced_end(&m);
}

/* A file of one rank, or of no host at all, is one part with all the work. */
static void one_part_has_all(void **state)
{
    (void)state;
    struct traced m;
    struct rank_parts p;
    traced_study_of(&m, "op mm 1/1 0+9; kernel ncclSum 0/7 60+50; kernel ncclSum 3/7 80+50");
    assert_true(rank_parts_make(&m.study, &m.arena, &p));
    assert_int_equal(p.parts, 1);
    assert_int_equal(p.part[0].collectives, 2);
    assert_int_equal(p.part[0].communication_ns, 70);
    traced_end(&m);
    traced_study_of(&m, "kernel ncclSum 0/7 60+50");
    assert_true(rank_parts_make(&m.study, &m.arena, &p));
    assert_int_equal(p.parts, 1);
    assert_int_equal(p.part[0].collectives, 1);
    assert_null(p.part[0].process.ptr);
    traced_end(&m);
}

static bool compare(const struct rank_parts *p, struct arena *arena, struct trace_ranks *ret)
{
    const struct rank_unit unit[] = { { S("a"), 7, &p->part[0] }, { S("b"), 3, &p->part[1] } };
    return trace_ranks_make(unit, 2, "name", arena, ret);
}

static void the_last_to_come_does_not_wait(void **state)
{
    (void)state;
    struct traced m;
    struct rank_parts p;
    struct trace_ranks r;
    traced_study_of(&m, two_ranks);
    assert_true(rank_parts_make(&m.study, &m.arena, &p));
    assert_true(compare(&p, &m.arena, &r));
    assert_int_equal(r.row[0].rank, 3);
    assert_int_equal(r.row[0].waiting_ns, 0);
    assert_int_equal(r.row[1].waiting_ns, 30);
    assert_true(r.row[1].waiting == 0.6);
    assert_int_equal(r.steps, 1);
    assert_int_equal(r.step[0].skew_ns, 20);
    assert_int_equal(r.step[0].slowest, 3);
    assert_int_equal(r.row[0].slowest, 1);
    assert_int_equal(r.collectives, 1);
    assert_int_equal(r.collective[0].most_waiting_ns, 30);
    traced_end(&m);
}

static enum vrs_status compare_once(void *arg)
{
    const struct traced *m = arg;
    struct arena arena;
    struct rank_parts p;
    struct trace_ranks r;
    arena_init(&arena, SIZE_MAX / 2);
    bool ok = rank_parts_make(&m->study, &arena, &p) && compare(&p, &arena, &r);
    arena_free(&arena);
    return ok ? VRS_OK : VRS_NOMEM;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct traced m;
    traced_study_of(&m, two_ranks);
    fault_each(compare_once, NULL, &m);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_parts),
        cmocka_unit_test(one_part_has_all),
        cmocka_unit_test(the_last_to_come_does_not_wait),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
