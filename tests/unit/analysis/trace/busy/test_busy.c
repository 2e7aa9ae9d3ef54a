#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/busy/blame.h"
#include "analysis/trace/busy/busy.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

static void make(struct traced *m, const char *spans, struct busy *ret)
{
    traced_study_of(m, spans);
    assert_int_equal(busy_make(&m->study, &m->arena, ret, NULL), VRS_OK);
}

/* What has to hold of any device. */
static void assert_sound(const struct device_time *d)
{
    int64_t idle = 0, late = 0;
    uint64_t gaps = 0, in_bins = 0;
    for (uint32_t c = 0; c < GAP_CLASSES; c++)
        idle += d->class_ns[c];
    for (uint32_t b = 0; b < BLAMES; b++)
        late += d->blame_ns[b];
    for (uint32_t i = 0; i < GAP_BINS; i++)
        in_bins += d->gap_histogram[i];
    gaps = d->class_gaps[GAP_NO_LAUNCH] + d->class_gaps[GAP_QUEUED_UNDER_10US] +
           d->class_gaps[GAP_QUEUED] + d->class_gaps[GAP_HOST_LATE];
    assert_int_equal(gaps, d->gaps);
    assert_int_equal(in_bins, d->gaps);
    assert_int_equal(d->class_gaps[GAP_LAUNCH_LATENCY] + d->class_gaps[GAP_SLOW_LAUNCH],
                     d->class_gaps[GAP_HOST_LATE]);
    assert_int_equal(late, d->class_ns[GAP_HOST_LATE]);
    int64_t span = d->last_ns - d->first_ns;
    assert_int_equal(d->computation_ns + d->exposed_communication_ns + d->exposed_memcpy_ns +
                         d->idle_ns,
                     span);
    assert_int_equal(d->busy_ns + d->idle_ns, span);
    assert_int_equal(d->communication_ns,
                     d->exposed_communication_ns + d->communication_hidden_ns);
    assert_int_equal(d->ns[0] + d->ns[1] + d->ns[2], d->sum_ns);
    assert_true(d->busy_ns <= d->sum_ns && idle <= d->idle_ns);
    assert_true(d->longest_gap_ns <= d->idle_ns);
}

static void parts_of_a_span(void **state)
{
    (void)state;
    static const struct {
        const char *spans;
        int64_t computation, communication, memcpy_ns, hidden, idle;
    } cases[] = {
        { "kernel k 0/7 0+5", 5, 0, 0, 0, 0 },
        { "kernel k 0/7 0+5; kernel l 0/8 3+5", 8, 0, 0, 0, 0 },
        { "memset k 0/7 0+5; kernel l 0/7 7+2", 7, 0, 0, 0, 2 },
        { "kernel nccl 0/7 0+5", 0, 5, 0, 0, 0 },
        { "kernel nccl 0/7 0+5; kernel k 0/8 3+5", 5, 3, 0, 2, 0 },
        { "memcpy nccl 0/7 0+5", 0, 0, 5, 0, 0 }, /* only kernels communicate */
        { "memset nccl 0/7 0+5", 5, 0, 0, 0, 0 },
        { "memcpy c 0/7 0+9; kernel k 0/8 1+2; kernel nccl 0/9 2+4", 2, 3, 4, 1, 0 },
        { "memcpy c 0/7 0+2; memcpy d 0/7 1+4; memcpy e 0/8 9+1", 0, 0, 6, 0, 4 },
        { "kernel k 0/7 4+0; kernel l 0/7 6+0", 0, 0, 0, 0, 2 }, /* empty ones */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct busy busy;
        make(&m, cases[i].spans, &busy);
        assert_int_equal(busy.devices, 1);
        const struct device_time *d = &busy.device[0];
        assert_sound(d);
        assert_int_equal(d->computation_ns, cases[i].computation);
        assert_int_equal(d->exposed_communication_ns, cases[i].communication);
        assert_int_equal(d->exposed_memcpy_ns, cases[i].memcpy_ns);
        assert_int_equal(d->communication_hidden_ns, cases[i].hidden);
        assert_int_equal(d->idle_ns, cases[i].idle);
        traced_end(&m);
    }
}

/* Devices stand by the text of their pid; host events and what is no work are of none. */
static void devices_and_their_streams(void **state)
{
    (void)state;
    struct traced m;
    struct busy busy;
    make(&m, "kernel k 10/7 0+1; kernel k 2/7 0+2; memset s 2/8 5+4; memcpy c 2/7 9+8; "
             "kernel k -1/3 0+3; op a 5/1 0+9; sync s 6/7 0+9; gpu_annotation g 7/7 0+9", &busy);
    static const int64_t pids[] = { -1, 10, 2 };
    assert_int_equal(busy.devices, 3);
    for (uint32_t i = 0; i < busy.devices; i++) {
        assert_int_equal(busy.device[i].pid.number, pids[i]);
        assert_sound(&busy.device[i]);
    }
    const struct device_time *d = &busy.device[2];
    assert_int_equal(d->streams, 2);
    assert_memory_equal(d->events, ((uint64_t[]){ 1, 1, 1 }), sizeof d->events);
    assert_memory_equal(d->ns, ((int64_t[]){ 2, 8, 4 }), sizeof d->ns);
    assert_int_equal(d->first_ns, 0);
    assert_int_equal(d->last_ns, 17);
    traced_end(&m);
}

/* The classes of the gap [100, 100 + gap) behind one kernel and before another, launched at
 * `launch` by a call of `ns`. */
static void check_class(int64_t gap, int64_t launch, int64_t ns, const char *wanted)
{
    struct traced m;
    struct busy busy;
    char spans[160], text[160] = "";
    snprintf(spans, sizeof spans,
             "kernel k 0/7 0+100; kernel l 0/7 %d+5 c3; runtime cudaLaunchKernel 1/1 %d+%d c3",
             (int)(100 + gap), (int)launch, (int)ns);
    make(&m, spans, &busy);
    const struct device_time *d = &busy.device[0];
    assert_sound(d);
    for (uint32_t c = 0, at = 0; c < GAP_CLASSES; c++)
        if (d->class_gaps[c] > 0)
            at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s %d", at > 0 ? " " : "",
                                     gap_class_names[c], (int)d->class_ns[c]);
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s: %s, wanted %s", spans, text, wanted);
    traced_end(&m);
}

static void classes_at_their_thresholds(void **state)
{
    (void)state;
    check_class(9999, 50, 10, "queued_under_10us 9999");
    check_class(10000, 50, 10, "queued 10000");
    check_class(10001, 50, 10, "queued 10001");
    check_class(50, 100, 10, "queued_under_10us 50"); /* launched when the gap begins */
    check_class(50, 99, 10, "queued_under_10us 50");
    check_class(50, 101, 10, "host_late 1 launch_latency 49");
    check_class(20000, 101, 10, "host_late 1 launch_latency 19999"); /* late, however long */
    check_class(200000, 300, 99999, "host_late 200 launch_latency 199800");
    check_class(200000, 300, 100000, "host_late 200 slow_launch 199800");
    check_class(200000, 300, 100001, "host_late 200 slow_launch 199800");
    check_class(50, 149, 10, "host_late 49 launch_latency 1");
    check_class(50, 150, 10, "host_late 50 launch_latency 0"); /* when the device begins */
    check_class(50, 170, 10, "host_late 50 launch_latency 0"); /* clocks that disagree */
}

static void a_gap_that_nobody_launched_into(void **state)
{
    (void)state;
    struct traced m;
    struct busy busy;
    make(&m, "kernel k 0/7 0+10; kernel l 0/7 30+5", &busy);
    assert_int_equal(busy.device[0].class_gaps[GAP_NO_LAUNCH], 1);
    assert_int_equal(busy.device[0].class_ns[GAP_NO_LAUNCH], 20);
    traced_end(&m);
}

/* Of events that begin together the shortest tells, of equal ones the first of the file. */
static void the_event_that_ends_a_gap(void **state)
{
    (void)state;
    static const struct {
        const char *next;
        enum gap_class c;
    } cases[] = {
        { "kernel l 0/7 30+5 c3; kernel n 0/8 30+4", GAP_NO_LAUNCH },
        { "kernel l 0/7 30+5; kernel n 0/8 30+4 c3", GAP_HOST_LATE },
        { "kernel l 0/7 30+5 c3; kernel n 0/8 30+5", GAP_HOST_LATE },
        { "kernel l 0/7 30+5; kernel n 0/8 30+5 c3", GAP_NO_LAUNCH },
        { "kernel l 0/7 30+5 c3; kernel n 0/8 30+0", GAP_NO_LAUNCH },
        { "kernel l 0/7 30+5 c3; kernel n 0/8 20+0", GAP_HOST_LATE }, /* it ends no gap */
        { "kernel l 0/7 30+5; kernel n 0/8 30+5 c3; kernel o 0/9 30+5 c3; kernel p 0/9 30+9",
          GAP_NO_LAUNCH },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct busy busy;
        char spans[200];
        snprintf(spans, sizeof spans, "kernel k 0/7 0+10; runtime r 1/1 20+1 c3; %s",
                 cases[i].next);
        make(&m, spans, &busy);
        assert_int_equal(busy.device[0].gaps, 1);
        assert_int_equal(busy.device[0].class_gaps[cases[i].c], 1);
        traced_end(&m);
    }
}

static void bins_of_gaps(void **state)
{
    (void)state;
    static const struct {
        int64_t gap;
        uint32_t bin;
    } cases[] = { { 1, 0 },       { 999, 0 },     { 1000, 1 },     { 9999, 1 },
                  { 10000, 2 },   { 99999, 2 },   { 100000, 3 },   { 999999, 3 },
                  { 1000000, 4 }, { 9999999, 4 }, { 10000000, 5 }, { 900000000, 5 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        struct busy busy;
        char spans[80];
        snprintf(spans, sizeof spans, "kernel k 0/7 0+10; kernel l 0/7 %d+1",
                 (int)(10 + cases[i].gap));
        make(&m, spans, &busy);
        assert_int_equal(busy.device[0].gap_histogram[cases[i].bin], 1);
        assert_int_equal(busy.device[0].longest_gap_ns, cases[i].gap);
        assert_sound(&busy.device[0]);
        traced_end(&m);
    }
}

/* The thread that is blamed is the launch's, which is its operator's. */
static void blame_of_the_thread_that_launches(void **state)
{
    (void)state;
    struct traced m;
    struct busy busy;
    make(&m, "kernel k 0/7 0+10; kernel l 0/7 50+1 c3; runtime r 1/2 40+5 c3 e9; "
             "op a 1/1 30+20 e9; annotation enumerate(DataLoader)#it 1/1 15+10; "
             "runtime cudaMalloc 1/2 0+40", &busy);
    const struct device_time *d = &busy.device[0];
    assert_sound(d);
    assert_int_equal(d->class_ns[GAP_HOST_LATE], 30);
    assert_int_equal(d->blame_ns[BLAME_DATALOADER], 10);
    assert_int_equal(d->blame_ns[BLAME_OP], 10);
    assert_int_equal(d->blame_ns[BLAME_NONE], 10);
    traced_end(&m);
}

/* Against a count of instants. */

enum { LENGTH = 80 };

static const char *const device_names[] = { "gemm", "ncclAllReduce" };

static void draw_trace(struct traced *m, uint64_t *random)
{
    struct spans *s = &m->trace.spans;
    traced_begin(m);
    traced_random_hosts(m, random, 4 + (uint32_t)traced_draw(random, 16), LENGTH - 10);
    uint32_t hosts = s->rows.len, works = 1 + (uint32_t)traced_draw(random, 12);
    for (uint32_t row = 0; row < hosts; row++) {
        s->correlation[row] = row;
        s->correlation_form[row] = span_is_call(s->kind[row]) ? ID_NUMBER : ID_NONE;
    }
    for (uint32_t i = 0; i < works; i++) {
        uint32_t on = traced_track(m, 0, (int64_t)traced_draw(random, 3));
        uint32_t row = traced_span(m, (enum span_kind)traced_draw(random, 3),
                                   device_names[traced_draw(random, 2)], on,
                                   (int64_t)traced_draw(random, LENGTH - 10),
                                   (int64_t)traced_draw(random, 10));
        s->correlation[row] = (int64_t)traced_draw(random, hosts);
        s->correlation_form[row] = ID_NUMBER;
    }
    traced_study(m);
}

/* What runs at an instant. */
struct instant {
    bool computes, communicates, copies;
};

static struct instant look(const struct trace *t, int64_t moment)
{
    const struct spans *s = &t->spans;
    struct instant found = { false, false, false };
    for (uint32_t row = 0; row < s->rows.len; row++) {
        if (!span_is_work(s->kind[row]) || s->start[row] > moment || span_end(s, row) <= moment)
            continue;
        bool communicates = s->kind[row] == SPAN_KERNEL &&
                            str_equal(trace_text(t, s->name[row]), str_from(device_names[1]));
        found.copies = found.copies || s->kind[row] == SPAN_MEMCPY;
        found.communicates = found.communicates || communicates;
        found.computes = found.computes || (s->kind[row] != SPAN_MEMCPY && !communicates);
    }
    return found;
}

static bool is_busy(const struct trace *t, int64_t moment)
{
    struct instant now = look(t, moment);
    return now.computes || now.communicates || now.copies;
}

static uint32_t next_event(const struct spans *s, int64_t moment)
{
    uint32_t best = NO_ROW;
    for (uint32_t row = 0; row < s->rows.len; row++)
        if (span_is_work(s->kind[row]) && s->start[row] == moment &&
            (best == NO_ROW || s->duration[row] < s->duration[best]))
            best = row;
    return best;
}

static void count_idle(const struct trace_study *s, const struct pieces *pieces, int64_t moment,
                       struct device_time *d)
{
    const struct spans *spans = &s->trace->spans;
    int64_t start = moment, end = moment;
    while (start > 0 && !is_busy(s->trace, start - 1))
        start--;
    while (end < LENGTH && !is_busy(s->trace, end))
        end++;
    if (start == 0 || end == LENGTH)
        return; /* nothing on one side: no gap */
    d->gaps += moment == start;
    uint32_t launch = s->links.launch[next_event(spans, end)];
    if (launch == NO_ROW) {
        d->class_ns[GAP_NO_LAUNCH]++;
    } else if (spans->start[launch] <= start) {
        d->class_ns[GAP_QUEUED_UNDER_10US]++;
    } else if (moment >= spans->start[launch]) {
        d->class_ns[GAP_LAUNCH_LATENCY]++;
    } else {
        d->class_ns[GAP_HOST_LATE]++;
        blame_add(pieces, s->home[launch], moment, moment + 1, d->blame_ns);
    }
}

static void random_devices_instant_by_instant(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 400; round++) {
        struct traced m;
        struct busy busy;
        struct pieces pieces;
        struct device_time wanted = { .streams = 0 };
        draw_trace(&m, &random);
        assert_int_equal(busy_make(&m.study, &m.arena, &busy, NULL), VRS_OK);
        assert_true(pieces_make(&m.study, &m.arena, &pieces));
        for (int64_t t = 0; t < LENGTH; t++) {
            struct instant now = look(&m.trace, t);
            wanted.computation_ns += now.computes;
            wanted.communication_ns += now.communicates;
            wanted.communication_hidden_ns += now.communicates && now.computes;
            wanted.exposed_memcpy_ns += now.copies && !now.computes && !now.communicates;
            wanted.busy_ns += now.computes || now.communicates || now.copies;
            if (!is_busy(&m.trace, t))
                count_idle(&m.study, &pieces, t, &wanted);
        }
        const struct device_time *d = &busy.device[0];
        assert_int_equal(busy.devices, 1);
        assert_sound(d);
        assert_int_equal(d->busy_ns, wanted.busy_ns);
        assert_int_equal(d->computation_ns, wanted.computation_ns);
        assert_int_equal(d->communication_ns, wanted.communication_ns);
        assert_int_equal(d->communication_hidden_ns, wanted.communication_hidden_ns);
        assert_int_equal(d->exposed_memcpy_ns, wanted.exposed_memcpy_ns);
        assert_int_equal(d->gaps, wanted.gaps);
        assert_memory_equal(d->class_ns, wanted.class_ns, sizeof d->class_ns);
        assert_memory_equal(d->blame_ns, wanted.blame_ns, sizeof d->blame_ns);
        traced_end(&m);
    }
}

struct again {
    struct traced *m;
    struct arena arena;
};

static enum vrs_status busy_again(void *arg)
{
    struct again *a = arg;
    struct busy busy;
    arena_init(&a->arena, SIZE_MAX / 2);
    enum vrs_status status = busy_make(&a->m->study, &a->arena, &busy, NULL);
    arena_free(&a->arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    uint64_t random = 13;
    struct traced m;
    struct again again = { .m = &m };
    draw_trace(&m, &random);
    fault_each(busy_again, NULL, &again);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_span),
        cmocka_unit_test(devices_and_their_streams),
        cmocka_unit_test(classes_at_their_thresholds),
        cmocka_unit_test(a_gap_that_nobody_launched_into),
        cmocka_unit_test(the_event_that_ends_a_gap),
        cmocka_unit_test(bins_of_gaps),
        cmocka_unit_test(blame_of_the_thread_that_launches),
        cmocka_unit_test(random_devices_instant_by_instant),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
