#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/judge.h"
#include "analysis/trace/rules/rules.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

static void make(struct traced *m, const struct trace_limits *limits, struct trace_report *ret)
{
    const struct trace_report_question q = { .limits = limits };
    assert_int_equal(trace_report_make(&m->trace, &q, &m->arena, ret, NULL), VRS_OK);
}

static const struct trace_finding *find(const struct trace_report *r, const char *id)
{
    for (uint32_t i = 0; i < r->findings.findings; i++)
        if (str_equal(str_from(r->findings.finding[i].id), str_from(id)))
            return &r->findings.finding[i];
    return NULL;
}

/* A device that waits for a host that waits for it, in a line of Python. */
static const char late[] =
    "annotation ProfilerStep#1 1/1 0+1000; python 'torch/x.py(3): f' 1/1 5+900; "
    "python 'train.py(7): step' 1/1 2+950; op aten::item 1/1 100+400 e1; "
    "runtime cudaStreamSynchronize 1/1 110+380 c8 e1; runtime cudaLaunchKernel 1/1 10+2 c1; "
    "kernel a 0/7 20+80 c1; runtime cudaLaunchKernel 1/1 600+2 c2; kernel b 0/7 610+50 c2";

static void culprits_and_their_lines(void **state)
{
    (void)state;
    struct traced m;
    struct trace_report r;
    traced_study_of(&m, late);
    make(&m, NULL, &r);
    const struct trace_finding *sync = find(&r, "SYNC-STEP"), *low = find(&r, "GPU-LOW");
    assert_non_null(sync);
    assert_non_null(low);
    assert_true(str_equal(sync->culprit, S("aten::item")));
    assert_true(str_equal(sync->line, S("train.py(7): step")));
    assert_int_equal(sync->gain_ns, 400);
    assert_int_equal(low->gain_ns, 1000 - 130);
    assert_true(low->steps == 1 && low->gain_step_ns == low->gain_ns);
    assert_true(str_equal(low->culprit, S("aten::item")));
    traced_end(&m);
}

/* A loop on the host alone that reads, copies and sleeps, each in a function of its own. */
static const char on_the_host[] =
    "annotation ProfilerStep#1 1/1 0+1000; python 'train.py(7): train' 1/1 0+1000; "
    "annotation 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__' 1/1 10+400; "
    "python 'torch/utils/data/dataloader.py(1): __next__' 1/1 11+398; "
    "python 'train.py(3): read' 1/1 12+390; python '<built-in function sleep>' 1/1 13+300; "
    "op aten::item 1/1 320+10; python 'nn.Module: Net_0' 1/1 420+100; "
    "python 'torch/nn/modules/module.py(1): _call_impl' 1/1 421+98; op aten::item 1/1 430+10; "
    "op 'autograd::engine::evaluate_function: AddmmBackward0' 1/1 520+100; "
    "python 'train.py(20): log' 1/1 630+210; op aten::item 1/1 640+10; "
    "op aten::_local_scalar_dense 1/1 641+5; python '<built-in method clone of Tensor object>' "
    "1/1 700+100; op aten::clone 1/1 701+90; op aten::copy_ 1/1 702+80";

static void what_the_program_does(void **state)
{
    (void)state;
    struct traced m;
    struct trace_report r;
    traced_study_of(&m, on_the_host);
    make(&m, NULL, &r);
    const struct trace_finding *item = find(&r, "ITEM-STEP"), *copy = find(&r, "COPY-STEP"),
                               *other = find(&r, "STEP-OTHER"), *data = find(&r, "DATA-3");
    assert_non_null(item);
    assert_true(str_equal(item->line, S("train.py(20): log")));
    assert_int_equal(item->gain_ns, 10);
    assert_non_null(copy);
    assert_true(str_equal(copy->culprit, S("aten::clone")));
    assert_int_equal(copy->gain_ns, 90);
    assert_non_null(other);
    assert_true(str_equal(other->line, S("train.py(20): log")));
    assert_int_equal(other->gain_ns, 1000 - 400 - 100 - 100);
    assert_non_null(data);
    assert_true(str_equal(data->line, S("train.py(3): read")));
    traced_end(&m);
}

/* All of it lies in two steps of 100; else a device is idle for longer than they take. */
static void a_gain_is_parted_among_steps(void **state)
{
    (void)state;
    struct traced m;
    struct trace_report r;
    traced_study_of(&m,
                    "annotation ProfilerStep#1 1/1 0+100; annotation ProfilerStep#2 1/1 100+100; "
                    "annotation 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__' "
                    "1/1 10+60; "
                    "annotation 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__' "
                    "1/1 110+61; op aten::mm 1/1 80+5; op aten::mm 1/1 180+5");
    make(&m, NULL, &r);
    const struct trace_finding *data = find(&r, "DATA-3");
    assert_non_null(data);
    assert_int_equal(data->gain_ns, 121);
    assert_int_equal(data->steps, 2);
    assert_int_equal(data->gain_step_ns, 61);
    traced_end(&m);
    traced_study_of(&m,
                    "annotation ProfilerStep#1 1/1 0+100; annotation ProfilerStep#2 1/1 100+100; "
                    "runtime cudaLaunchKernel 1/1 10+2 c1; kernel a 0/7 20+10 c1; "
                    "runtime cudaLaunchKernel 1/1 110+2 c2; kernel b 0/7 1000+10 c2");
    make(&m, NULL, &r);
    const struct trace_finding *low = find(&r, "GPU-LOW");
    assert_non_null(low);
    assert_true(low->gain_ns > 200 && low->steps == 0 && low->gain_step_ns < 0);
    traced_end(&m);
}

static void every_rule_speaks_or_says_why(void **state)
{
    (void)state;
    uint64_t random = 9;
    uint32_t rules = 0;
    while (rule_rows[rules].id != NULL)
        rules++;
    for (int round = 0; round < 100; round++) {
        struct traced m;
        struct trace_report r;
        traced_begin(&m);
        traced_random_hosts(&m, &random, (uint32_t)traced_draw(&random, 20), 90);
        for (uint64_t i = traced_draw(&random, 6); i > 0; i--)
            traced_span(&m, SPAN_KERNEL, "k", traced_track(&m, 0, (int64_t)traced_draw(&random, 2)),
                        (int64_t)traced_draw(&random, 80), (int64_t)traced_draw(&random, 20));
        traced_study(&m);
        make(&m, NULL, &r);
        assert_int_equal(r.findings.findings + r.findings.silents, rules);
        for (uint32_t i = 0; i < r.findings.silents; i++)
            assert_true(r.findings.silent[i].clause != NULL || r.findings.silent[i].unmets > 0);
        traced_end(&m);
    }
}

static void limits_of_a_user(void **state)
{
    (void)state;
    struct trace_limits limits;
    trace_limits_init(&limits);
    static const char *const wrong[] = { "", "=", "x=1", "gpu-low-busy_ratio", "gpu-low-busy_ratio=",
                                         "gpu-low-busy_ratio=a", "gpu-low-busy_ratio=-1",
                                         "gpu-low-busy_ratio=nan", "gpu-low-busy_ratio=1e99" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vrs_error err;
        assert_int_equal(trace_limits_set(&limits, str_from(wrong[i]), &err), VRS_USAGE);
    }
    assert_int_equal(trace_limits_set(&limits, S("gpu-low-busy_ratio=0.1"), NULL), VRS_OK);
    assert_true(limits.at[GPU_LOW_BUSY] > 0.09 && limits.at[GPU_LOW_BUSY] < 0.11);
    struct traced m;
    struct trace_report r;
    traced_study_of(&m, late);
    make(&m, &limits, &r);
    assert_null(find(&r, "GPU-LOW"));
    traced_end(&m);
}

static enum vrs_status again(void *arg)
{
    struct traced *m = arg;
    struct arena arena;
    struct trace_report r;
    arena_init(&arena, SIZE_MAX / 2);
    enum vrs_status status =
        trace_report_make(&m->trace, &(struct trace_report_question){ .threads = 2 }, &arena, &r, NULL);
    arena_free(&arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    struct traced m;
    traced_study_of(&m, late);
    traced_memory(&m, "1/0 100 512 t512 r1024 a4096; 1/0 200 512 t1024 r1024 a8192");
    fault_each(again, NULL, &m);
    traced_end(&m);
    traced_study_of(&m, on_the_host);
    fault_each(again, NULL, &m);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(culprits_and_their_lines),
        cmocka_unit_test(what_the_program_does),
        cmocka_unit_test(a_gain_is_parted_among_steps),
        cmocka_unit_test(every_rule_speaks_or_says_why),
        cmocka_unit_test(limits_of_a_user),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
