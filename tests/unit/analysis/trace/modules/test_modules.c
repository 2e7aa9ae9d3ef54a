#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/modules/modules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

enum { TEXT_ROOM = 2000 };

/* Rows in their order, as "path calls host/self device/self bytes; …". */
static void check(const char *spans, const char *flows, const char *memory, const char *wanted)
{
    struct traced m;
    struct modules found;
    struct arena scratch;
    char text[TEXT_ROOM] = "";
    traced_begin(&m);
    traced_spans(&m, spans);
    traced_flows(&m, flows);
    traced_memory(&m, memory);
    traced_study(&m);
    arena_init(&scratch, SIZE_MAX / 2);
    assert_int_equal(trace_modules_make(&m.study, &scratch, &m.arena, &found, NULL), VRS_OK);
    arena_free(&scratch);
    for (uint32_t i = 0, at = 0; i < found.rows; i++) {
        const struct module_row *r = &found.row[i];
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%.*s %d %d/%d %d/%d %d",
                                 i > 0 ? "; " : "", (int)r->path.len, r->path.ptr, (int)r->calls,
                                 (int)r->host_ns, (int)r->self_host_ns, (int)r->device_ns,
                                 (int)r->self_device_ns, (int)r->bytes.device);
        assert_true(at < sizeof text);
    }
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s:\n  %s, wanted\n  %s", spans, text, wanted);
    traced_end(&m);
}

static void one_inside_another(void **state)
{
    (void)state;
    check("", "", "", "");
    check("python 'f.py(1): f' 1/1 0+9; op a 1/1 1+2", "", "", "");
    check("python 'nn.Module: Net_0' 1/1 0+20; python 'm.py(2): forward' 1/1 1+18; "
          "python 'nn.Module: Linear_1' 1/1 2+5; op a 1/1 3+2; python 'nn.Module: Linear_1' 1/1 8+5; "
          "python 'nn.Module: ReLU_2' 1/1 14+1; python 'nn.Module: Net_0' 1/1 30+6",
          "", "", "Net_0 2 26/15 0/0 0; Net_0.Linear_1 2 10/10 0/0 0; Net_0.ReLU_2 1 1/1 0/0 0");
    /* By the time on devices first. */
    check("python 'nn.Module: A_0' 1/1 0+9; python 'nn.Module: B_1' 1/1 20+2; op b 1/1 20+1 e1; "
          "kernel k 0/7 30+5 e1",
          "", "", "B_1 1 2/2 5/5 0; A_0 1 9/9 0/0 0");
}

static void work_and_memory_of_all_inside(void **state)
{
    (void)state;
    check("python 'nn.Module: A_0' 1/1 0+20; python 'nn.Module: B_0' 1/1 2+8; op x 1/1 3+4 e1; "
          "op y 1/1 12+4 e2; kernel k 0/7 30+5 e1; kernel l 0/7 40+7 e2; kernel m 0/7 50+9",
          "", "1/0 4 100; 1/0 5 -100; 1/0 13 20; 1/0 25 1",
          "A_0 1 20/12 12/7 120; A_0.B_0 1 8/8 5/5 100");
}

/* The arrow leads to an operator, and what autograd has around it counts; once, the outermost. */
static void backward_by_arrows(void **state)
{
    (void)state;
    check("python 'nn.Module: A_0' 1/1 0+20; python 'nn.Module: B_0' 1/1 2+8; op mm 1/1 3+4; "
          "op add 1/1 12+2; op 'autograd::engine::evaluate_function: MmBackward0' 1/2 30+10; "
          "op MmBackward0 1/2 31+8; op mm 1/2 32+3 e1; op AddBackward0 1/2 50+4; "
          "kernel k 0/7 60+5 e1",
          "s fwdbwd 5 1/1 3; f fwdbwd 5 1/2 31; s forward_backward 6 1/1 12; "
          "f forward_backward 6 1/2 50; f fwdbwd 9 1/2 32; s fwdbwd 10 1/1 3",
          "", "A_0 1 20/12 0/0 0; A_0.backward 2 14/4 5/0 0; A_0.B_0 1 8/8 0/0 0; "
          "A_0.B_0.backward 1 10/10 5/5 0");
}

static void an_arrow_from_outside_is_no_module(void **state)
{
    (void)state;
    check("python 'nn.Module: A_0' 1/1 0+2; op mm 1/1 3+4; op MmBackward0 1/2 31+8",
          "s fwdbwd 5 1/1 3; f fwdbwd 5 1/2 31", "", "A_0 1 2/2 0/0 0");
}

static void deep_ones_have_short_paths(void **state)
{
    enum { DEPTH = 3000 };
    struct traced m;
    struct modules found;
    struct arena scratch;
    (void)state;
    traced_begin(&m);
    for (int64_t i = 0; i < DEPTH; i++)
        traced_span(&m, SPAN_PYTHON, "nn.Module: M_0", traced_track(&m, 1, 1), i, 2 * (DEPTH - i));
    traced_study(&m);
    arena_init(&scratch, SIZE_MAX / 2);
    assert_int_equal(trace_modules_make(&m.study, &scratch, &m.arena, &found, NULL), VRS_OK);
    arena_free(&scratch);
    assert_int_equal(found.rows, DEPTH);
    assert_int_equal(found.row[DEPTH - 1].depth, DEPTH - 1);
    assert_true(found.row[DEPTH - 1].path.len < 64 * 4 + 10);
    traced_end(&m);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct traced m;
        struct modules found;
        struct arena scratch;
        traced_begin(&m);
        traced_spans(&m, "python 'nn.Module: A_0' 1/1 0+20; op mm 1/1 3+4; op b 1/2 31+8");
        traced_flows(&m, "s fwdbwd 5 1/1 3; f fwdbwd 5 1/2 31");
        traced_study(&m);
        arena_init(&scratch, SIZE_MAX / 2);
        fault_left = n;
        enum vrs_status status = trace_modules_make(&m.study, &scratch, &m.arena, &found, NULL);
        bool fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        arena_free(&scratch);
        traced_end(&m);
        if (!fired)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_inside_another),
        cmocka_unit_test(work_and_memory_of_all_inside),
        cmocka_unit_test(backward_by_arrows),
        cmocka_unit_test(an_arrow_from_outside_is_no_module),
        cmocka_unit_test(deep_ones_have_short_paths),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
