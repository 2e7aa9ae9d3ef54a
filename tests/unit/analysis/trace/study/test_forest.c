#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

enum { NO = -1 };

/* Parents of host spans, and what is counted. */
static void check(const char *spans, const int *parents, uint64_t overlaps, uint32_t depth)
{
    struct traced m;
    traced_study_of(&m, spans);
    const struct forest *f = &m.study.host;
    for (uint32_t row = 0; row < m.trace.spans.rows.len; row++)
        if ((int)f->parent[row] != parents[row])
            fail_msg("%s: row %u has parent %d, wanted %d", spans, row, (int)f->parent[row],
                     parents[row]);
    assert_int_equal(f->overlaps, overlaps);
    assert_int_equal(f->max_depth, depth);
    traced_end(&m);
}

static void one_inside_another(void **state)
{
    (void)state;
    check("op a 1/1 0+9; op b 1/1 1+2; op c 1/1 2+1; op d 1/1 4+5",
          (int[]){ NO, 0, 1, 0 }, 0, 3);
    check("op c 1/1 2+1; op b 1/1 1+2; op a 1/1 0+9", (int[]){ 1, 2, NO }, 0, 3);
    check("op a 1/1 0+4; op b 1/1 4+4", (int[]){ NO, NO }, 0, 1); /* they touch */
    check("op a 1/1 0+4; op b 1/2 1+1", (int[]){ NO, NO }, 0, 1); /* two threads */
    check("op a 1/1 0+4; op b 2/1 1+1", (int[]){ NO, NO }, 0, 1); /* two processes */
}

static void equal_and_empty_spans(void **state)
{
    (void)state;
    check("op a 1/1 0+4; op b 1/1 0+4; op c 1/1 0+4", (int[]){ NO, 0, 1 }, 0, 3);
    check("op a 1/1 3+0; op b 1/1 0+4", (int[]){ 1, NO }, 0, 2);
    check("op a 1/1 0+0; op b 1/1 0+4", (int[]){ 1, NO }, 0, 2);  /* the longer first */
    check("op a 1/1 4+0; op b 1/1 0+4", (int[]){ NO, NO }, 0, 1); /* at its end */
    check("op a 1/1 2+0; op b 1/1 2+0", (int[]){ NO, NO }, 0, 1); /* an empty one holds nothing */
    check("op p 1/1 0+9; op a 1/1 2+0; op b 1/1 2+0", (int[]){ NO, 0, 0 }, 0, 2);
}

static void overlaps_are_no_parents(void **state)
{
    (void)state;
    check("op a 1/1 0+4; op b 1/1 2+4", (int[]){ NO, NO }, 1, 1);
    check("op p 1/1 0+9; op a 1/1 0+4; op b 1/1 2+4", (int[]){ NO, 0, 0 }, 1, 2);
    /* Two are left at once; what comes after lies in the one that came later. */
    check("op a 1/1 0+6; op b 1/1 1+4; op c 1/1 3+7; op d 1/1 4+1", (int[]){ NO, 0, NO, 2 }, 2, 2);
}

static void only_events_of_the_host_nest(void **state)
{
    (void)state;
    check("python f 1/1 0+9; op a 1/1 1+5; runtime r 1/1 2+1; driver d 1/1 2+1; "
          "annotation n 1/1 0+9",
          (int[]){ NO, 4, 1, 2, NO }, 0, 4);
    check("gpu_annotation n 1/1 0+9; kernel k 1/1 1+1; overhead o 1/1 2+1; op a 1/1 3+1",
          (int[]){ NO, NO, NO, NO }, 0, 1);
}

static void calls_nest_where_their_operator_runs(void **state)
{
    (void)state;
    check("op a 1/1 0+9 e3; runtime r 1/2 1+1 e3", (int[]){ NO, 0 }, 0, 2);
    check("op a 1/1 0+9 e3; runtime r 1/2 1+1 e4", (int[]){ NO, NO }, 0, 1);
    check("op a 1/1 0+9; runtime r 1/2 1+1", (int[]){ NO, NO }, 0, 1);
    check("op a 1/1 0+9 e0; runtime r 1/2 1+1 e0", (int[]){ NO, NO }, 0, 1); /* 0 is none */
    /* Two operators of one id: the first of the file. */
    check("op a 1/1 0+9 e3; op b 1/2 0+9 e3; runtime r 1/2 1+1 e3", (int[]){ NO, NO, 0 }, 0, 2);
}

/* So deep that a function calling itself would not come back. */
static void depth_of_100000(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    struct traced m;
    traced_begin(&m);
    uint32_t on = traced_track(&m, 1, 1);
    for (int64_t i = 0; i < DEPTH; i++)
        traced_span(&m, SPAN_OP, "aten::deep", on, i, 2 * DEPTH - 2 * i);
    traced_study(&m);
    assert_int_equal(m.study.host.max_depth, DEPTH);
    assert_int_equal(m.study.host.overlaps, 0);
    for (uint32_t row = 1; row < DEPTH; row++)
        assert_int_equal(m.study.host.parent[row], row - 1);
    traced_end(&m);
}

/* By the definition alone: the last before it that holds it, and all between. */

static bool comes_before(const struct spans *s, uint32_t a, uint32_t b)
{
    if (s->start[a] != s->start[b])
        return s->start[a] < s->start[b];
    return s->duration[a] != s->duration[b] ? s->duration[a] > s->duration[b] : a < b;
}

static bool holds(const struct spans *s, uint32_t outer, uint32_t inner)
{
    return s->start[inner] < span_end(s, outer) && span_end(s, inner) <= span_end(s, outer);
}

static bool may_be_parent(const struct spans *s, uint32_t parent, uint32_t row)
{
    for (uint32_t other = 0; other < s->rows.len; other++)
        if (s->track[other] == s->track[row] && comes_before(s, parent, other) &&
            comes_before(s, other, row) && !holds(s, parent, other))
            return false;
    return s->track[parent] == s->track[row] && comes_before(s, parent, row) &&
           holds(s, parent, row);
}

static uint32_t parent_of(const struct spans *s, uint32_t row)
{
    uint32_t best = NO_ROW;
    for (uint32_t p = 0; p < s->rows.len; p++)
        if (may_be_parent(s, p, row) && (best == NO_ROW || comes_before(s, best, p)))
            best = p;
    return best;
}

static void random_spans_as_by_the_definition(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 300; round++) {
        struct traced m;
        traced_begin(&m);
        traced_random_hosts(&m, &random, 1 + (uint32_t)traced_draw(&random, 24), 20);
        traced_study(&m);
        for (uint32_t row = 0; row < m.trace.spans.rows.len; row++)
            assert_int_equal(m.study.host.parent[row], parent_of(&m.trace.spans, row));
        traced_end(&m);
    }
}

static enum vrs_status study(void *arg)
{
    struct traced *m = arg;
    arena_free(&m->arena);
    return trace_study_make(&m->trace, &m->arena, &m->study, NULL);
}

static void without_memory(void **state)
{
    (void)state;
    struct traced m;
    traced_begin(&m);
    traced_spans(&m, "op a 1/1 0+9 e3; runtime r 1/1 1+1 e3 c5; kernel k 0/7 5+1 c5 e3; "
                     "kernel l 0/7 7+1");
    traced_flows(&m, "s ac2g 1 1/1 0; f ac2g 1 0/7 7");
    fault_each(study, NULL, &m);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_inside_another),
        cmocka_unit_test(equal_and_empty_spans),
        cmocka_unit_test(overlaps_are_no_parents),
        cmocka_unit_test(only_events_of_the_host_nest),
        cmocka_unit_test(calls_nest_where_their_operator_runs),
        cmocka_unit_test(depth_of_100000),
        cmocka_unit_test(random_spans_as_by_the_definition),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
