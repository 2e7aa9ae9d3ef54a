#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/busy/blame.h"
#include "analysis/trace/study/names.h"
#include "analysis/trace/study/study.h"
#include "base/str.h"
#include "base/table.h"
#include "made/traced.h"
#include "model/trace.h"

/* The reasons for [start, end) on thread 1/1, as "op 3 none 2". */
static void check(const char *spans, int64_t start, int64_t end, const char *wanted)
{
    struct traced m;
    struct pieces pieces;
    int64_t ns[BLAMES] = { 0 };
    char text[120] = "";
    traced_begin(&m);
    uint32_t track = traced_track(&m, 1, 1);
    traced_spans(&m, spans);
    traced_study(&m);
    assert_true(pieces_make(&m.study, &m.arena, &pieces));
    blame_add(&pieces, track, start, end, ns);
    for (uint32_t b = 0, at = 0; b < BLAMES; b++)
        if (ns[b] != 0)
            at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s %d", at > 0 ? " " : "",
                                     blame_names[b], (int)ns[b]);
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s: [%d, %d) is %s, wanted %s", spans, (int)start, (int)end, text, wanted);
    traced_end(&m);
}

static void by_kind_where_the_name_says_nothing(void **state)
{
    (void)state;
    check("op a 1/1 2+4", 0, 10, "op 4 none 6");
    check("op a 1/1 2+4", 3, 5, "op 2");
    check("op a 1/1 2+4", 6, 8, "none 2");
    check("op a 1/1 2+4", 5, 5, "");
    check("op a 1/2 2+4", 0, 10, "none 10"); /* another thread */
    check("runtime a 1/1 2+4", 0, 10, "runtime 4 none 6");
    check("driver a 1/1 2+4", 0, 10, "runtime 4 none 6");
    check("annotation a 1/1 2+4", 0, 10, "python 4 none 6");
    check("python a 1/1 2+4", 0, 10, "none 10"); /* frames are no part of the tree */
}

static void the_strongest_of_what_is_around(void **state)
{
    (void)state;
    const char *loader = "annotation enumerate(DataLoader)#it 1/1 0+10; ";
    char spans[200];
    snprintf(spans, sizeof spans, "%sop a 1/1 2+2; runtime cudaStreamSynchronize 1/1 6+2", loader);
    check(spans, 0, 12, "dataloader 10 none 2");
    check("op a 1/1 0+10; runtime r 1/1 2+3", 0, 10, "op 10");
    check("annotation f 1/1 0+10; runtime r 1/1 2+3", 0, 10, "runtime 3 python 7");
    check("op a 1/1 0+10; runtime cudaMalloc 1/1 2+3; runtime cudaDeviceSynchronize 1/1 6+1", 0,
          10, "sync 1 allocator 3 op 6");
    check("annotation Optimizer.step#SGD.step 1/1 0+10; op a 1/1 1+4; driver cuModuleLoad 1/1 2+1",
          0, 10, "module_load 1 optimizer 9");
    check("runtime cudaMemcpy 1/1 0+10; op aten::mm 1/1 2+3", 0, 10, "sync 10");
}

static void overlaps_are_cut_where_the_later_begins(void **state)
{
    (void)state;
    check("op a 1/1 0+6; runtime r 1/1 4+6", 0, 12, "op 4 runtime 6 none 2");
    check("runtime cudaMalloc 1/1 0+6; op a 1/1 4+6; op b 1/1 5+1", 0, 12,
          "allocator 4 op 6 none 2");
    check("op p 1/1 0+20; runtime cudaMalloc 1/1 1+5; annotation f 1/1 4+6", 0, 20,
          "allocator 3 op 17");
}

static void equal_and_empty_spans(void **state)
{
    (void)state;
    check("runtime r 1/1 0+4; runtime cudaFree 1/1 0+4", 0, 4, "allocator 4");
    check("runtime cudaFree 1/1 2+0; op a 1/1 0+4", 0, 4, "op 4");
    check("op a 1/1 2+0", 0, 4, "none 4");
}

static uint32_t own_reason(const struct trace_study *s, uint32_t row)
{
    const struct spans *spans = &s->trace->spans;
    uint8_t by_name = s->names.blame[spans->name[row]], kind = spans->kind[row];
    if (by_name < BLAME_OP)
        return by_name;
    return kind == SPAN_OP ? BLAME_OP : span_is_call(kind) ? BLAME_RUNTIME : BLAME_PYTHON;
}

static bool is_around(const struct forest *f, uint32_t outer, uint32_t inner)
{
    while (inner != NO_ROW && inner != outer)
        inner = f->parent[inner];
    return inner == outer;
}

/* Whether the i-th span of a thread runs at a moment, and nothing cut it off. */
static bool is_open(const struct trace_study *s, uint32_t i, uint32_t last, int64_t moment)
{
    const struct spans *spans = &s->trace->spans;
    const uint32_t *row = s->host.row;
    if (spans->start[row[i]] > moment || span_end(spans, row[i]) <= moment)
        return false;
    for (uint32_t later = i + 1; later < last && spans->start[row[later]] <= moment; later++)
        if (!is_around(&s->host, row[i], row[later]))
            return false;
    return true;
}

static uint32_t reason_at(const struct trace_study *s, uint32_t track, int64_t moment)
{
    uint32_t reason = BLAME_NONE, last = s->host.first[track + 1];
    for (uint32_t i = s->host.first[track]; i < last; i++) {
        uint32_t own = own_reason(s, s->host.row[i]);
        if (is_open(s, i, last, moment) && own < reason)
            reason = own;
    }
    return reason;
}

static void random_threads_instant_by_instant(void **state)
{
    (void)state;
    enum { LENGTH = 30 };
    uint64_t random = 5;
    for (int round = 0; round < 300; round++) {
        struct traced m;
        struct pieces pieces;
        int64_t wanted[BLAMES] = { 0 }, ns[BLAMES] = { 0 };
        traced_begin(&m);
        traced_random_hosts(&m, &random, (uint32_t)traced_draw(&random, 20), LENGTH);
        traced_study(&m);
        assert_true(pieces_make(&m.study, &m.arena, &pieces));
        int64_t start = (int64_t)traced_draw(&random, LENGTH);
        int64_t end = start + (int64_t)traced_draw(&random, LENGTH);
        for (uint32_t track = 0; track < m.trace.tracks.rows.len; track++) {
            blame_add(&pieces, track, start, end, ns);
            for (int64_t t = start; t < end; t++)
                wanted[reason_at(&m.study, track, t)]++;
        }
        assert_memory_equal(ns, wanted, sizeof ns);
        traced_end(&m);
    }
}

/* Pieces are disjoint and in the order of time, which the search goes by. */
static void pieces_in_order(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (int round = 0; round < 100; round++) {
        struct traced m;
        struct pieces p;
        traced_begin(&m);
        traced_random_hosts(&m, &random, 40, 50);
        traced_study(&m);
        assert_true(pieces_make(&m.study, &m.arena, &p));
        for (uint32_t track = 0; track < m.trace.tracks.rows.len; track++) {
            for (uint32_t i = p.first[track]; i < p.first[track + 1]; i++) {
                assert_true(p.at[i].start < p.at[i].end);
                assert_true(i == p.first[track] || p.at[i - 1].end <= p.at[i].start);
            }
        }
        traced_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_kind_where_the_name_says_nothing),
        cmocka_unit_test(the_strongest_of_what_is_around),
        cmocka_unit_test(overlaps_are_cut_where_the_later_begins),
        cmocka_unit_test(equal_and_empty_spans),
        cmocka_unit_test(random_threads_instant_by_instant),
        cmocka_unit_test(pieces_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
