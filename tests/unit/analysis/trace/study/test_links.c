#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/study/study.h"
#include "base/str.h"
#include "base/table.h"
#include "made/traced.h"
#include "model/ids.h"
#include "model/strings.h"
#include "model/trace.h"

/* What a device event is owed to, row for row from the first on. */
struct owed {
    enum rung rung;
    int owner; /* a row, or NO */
};

enum { NO = -1 };

static void check(const char *spans, const char *flows, uint32_t device_event, struct owed wanted)
{
    struct traced m;
    traced_begin(&m);
    traced_spans(&m, spans);
    traced_flows(&m, flows);
    traced_study(&m);
    const struct links *l = &m.study.links;
    if (l->rung[device_event] != wanted.rung || (int)l->owner[device_event] != wanted.owner)
        fail_msg("%s | %s: row %u is owed to %d by %s", spans, flows, device_event,
                 (int)l->owner[device_event], rung_names[l->rung[device_event]]);
    traced_end(&m);
}

static void by_external_id(void **state)
{
    (void)state;
    struct owed none = { RUNG_NONE, NO };
    check("op a 1/1 0+9 e3; kernel k 0/7 5+1 e3", "", 1, (struct owed){ RUNG_EXTERNAL_ID, 0 });
    check("annotation a 1/1 0+9 e3; memset k 0/7 5+1 e3", "", 1,
          (struct owed){ RUNG_EXTERNAL_ID, 0 });
    check("op a 1/1 0+9 e3; op b 1/1 1+2 e3; memcpy k 0/7 5+1 e3", "", 2,
          (struct owed){ RUNG_EXTERNAL_ID, 0 }); /* the first of the file */
    check("op a 1/1 0+9 e0; kernel k 0/7 5+1 e0", "", 1, none); /* 0 is none */
    check("op a 1/1 0+9 e3; kernel k 0/7 5+1 e4", "", 1, none);
    check("runtime a 1/1 0+9 e3; kernel k 0/7 5+1 e3", "", 1, none); /* no operator */
}

static void by_nesting_of_the_launch(void **state)
{
    (void)state;
    struct owed none = { RUNG_NONE, NO };
    check("op a 1/1 0+9; op b 1/1 1+5; runtime r 1/1 2+1 c8; kernel k 0/7 5+1 c8", "", 3,
          (struct owed){ RUNG_LAUNCH_NESTING, 1 });
    check("annotation a 1/1 0+9; driver r 1/1 2+1 c8; kernel k 0/7 5+1 c8", "", 2,
          (struct owed){ RUNG_LAUNCH_NESTING, 0 });
    check("op a 1/1 0+9; runtime q 1/1 1+5; driver r 1/1 2+1 c8; kernel k 0/7 5+1 c8", "", 3,
          (struct owed){ RUNG_LAUNCH_NESTING, 0 }); /* a call around a call */
    check("op a 1/1 0+9; runtime r 1/1 2+1 c8; driver q 1/1 20+1 c8; kernel k 0/7 5+1 c8", "", 3,
          (struct owed){ RUNG_LAUNCH_NESTING, 0 }); /* the first of two launches */
    check("op a 1/1 0+9; runtime r 1/2 2+1 c8; kernel k 0/7 5+1 c8", "", 2, none);
    check("op a 1/1 0+9; runtime r 1/1 2+1 c8; kernel k 0/7 5+1 c9", "", 2, none);
    check("python a 1/1 0+9; runtime r 1/1 2+1 c8; kernel k 0/7 5+1 c8", "", 2, none);
    /* An operator has a correlation, but launches nothing. */
    check("op a 1/1 0+9 c8; kernel k 0/7 5+1 c8", "", 1, none);
}

static void by_flow(void **state)
{
    (void)state;
    const char *two = "op a 1/1 0+9; op b 1/1 1+2; kernel k 0/7 20+1";
    struct owed none = { RUNG_NONE, NO }, inner = { RUNG_FLOW, 1 }, outer = { RUNG_FLOW, 0 };
    check(two, "s ac2g 5 1/1 2; f ac2g 5 0/7 20", 2, inner);
    check(two, "s async 5 1/1 1; f async 5 0/9 20", 2, inner); /* the process is enough */
    check(two, "s async_npu 5 1/1 3; f async_npu 5 0/7 20", 2, outer); /* its end is not in it */
    check(two, "s async_gpu 5 1/1 0; f async_gpu 5 0/7 20", 2, outer);
    check(two, "s async_cpu_to_gpu 5 1/1 8; f async_cpu_to_gpu 5 0/7 20", 2, outer);
    check(two, "s ac2g 5 1/1 9; f ac2g 5 0/7 20", 2, none);
    check(two, "s ac2g 5 1/1 -1; f ac2g 5 0/7 20", 2, none);
    check(two, "s ac2g 5 1/2 2; f ac2g 5 0/7 20", 2, none);  /* another thread */
    check(two, "s ac2g 6 1/1 2; f ac2g 5 0/7 20", 2, none);  /* another id */
    check(two, "s async 5 1/1 2; f ac2g 5 0/7 20", 2, none); /* another category */
    check(two, "s ac2g 5 1/1 2; f ac2g 5 0/7 21", 2, none);  /* no event begins there */
    check(two, "s ac2g 5 1/1 2; f ac2g 5 3/7 20", 2, none);  /* another device */
    check(two, "s fwdbwd 5 1/1 2; f fwdbwd 5 0/7 20", 2, none);
    check(two, "s HostToDevice 5 1/1 2; f HostToDevice 5 0/7 20", 2, none);
    /* Of starts of one id the last, of finishes at one moment the first. */
    check(two, "s ac2g 5 1/1 2; s ac2g 5 1/1 8; f ac2g 5 0/7 20", 2, outer);
    check(two, "s ac2g 5 1/1 2; s ac2g 6 1/1 8; f ac2g 5 0/7 20; f ac2g 6 0/7 20", 2, inner);
    /* An empty operator holds its own instant. */
    check("op a 1/1 0+9; op b 1/1 3+0; kernel k 0/7 20+1", "s ac2g 5 1/1 3; f ac2g 5 0/7 20", 2,
          inner);
    check("op a 1/1 0+9; runtime b 1/1 1+2; kernel k 0/7 20+1", "s ac2g 5 1/1 2; f ac2g 5 0/7 20",
          2, outer); /* only operators are asked for */
}

/* What lies between the operator and its instant is no operator, and overlaps it. */
static void flows_of_overlapping_spans(void **state)
{
    (void)state;
    check("op a 1/1 0+9; runtime b 1/1 5+9; kernel k 0/7 20+1", "s ac2g 5 1/1 7; f ac2g 5 0/7 20",
          2, (struct owed){ RUNG_FLOW, 0 });
    check("op a 1/1 3+0; runtime b 1/1 3+0; kernel k 0/7 20+1", "s ac2g 5 1/1 3; f ac2g 5 0/7 20",
          2, (struct owed){ RUNG_FLOW, 0 });
    check("op a 1/1 0+9; op b 1/1 5+9; kernel k 0/7 20+1", "s ac2g 5 1/1 7; f ac2g 5 0/7 20", 2,
          (struct owed){ RUNG_FLOW, 1 });
}

static void rungs_in_their_order(void **state)
{
    (void)state;
    static const struct {
        const char *id, *launch; /* of the first operator; where the launch stands */
        struct owed wanted;
    } cases[] = {
        { "e3", "5+1", { RUNG_LAUNCH_NESTING, 1 } }, /* the only id that both tell disagrees */
        { "e4", "5+1", { RUNG_LAUNCH_NESTING, 1 } },
        { "e3", "9+1", { RUNG_EXTERNAL_ID, 0 } }, /* nothing is around the launch */
        { "e4", "9+1", { RUNG_FLOW, 2 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char spans[160];
        snprintf(spans, sizeof spans,
                 "op a 1/1 0+3 %s; op b 1/1 4+2; op c 1/1 7+2; runtime r 1/1 %s c8; "
                 "kernel k 0/7 20+1 e3 c8",
                 cases[i].id, cases[i].launch);
        check(spans, "s ac2g 5 1/1 7; f ac2g 5 0/7 20", 4, cases[i].wanted);
    }
}

/* Two operators with a launch each; `wrong` of `all` device events have the other's id. */
static void make_ids(struct traced *m, uint32_t wrong, uint32_t all)
{
    traced_begin(m);
    traced_spans(m, "op a 1/1 0+9 e3; op b 1/1 10+9 e4; runtime r 1/1 1+1 c8");
    for (uint32_t i = 0; i < all; i++)
        traced_spans(m, i < wrong ? "kernel k 0/7 50+1 c8 e4" : "kernel k 0/7 50+1 c8 e3");
    traced_study(m);
}

static void ids_that_disagree_in_more_than_one_of_twenty(void **state)
{
    (void)state;
    static const struct {
        uint32_t wrong, all;
        bool trusted;
    } cases[] = { { 0, 1, true },   { 1, 1, false },  { 1, 20, true },  { 1, 19, false },
                  { 2, 40, true },  { 3, 40, false }, { 5, 100, true }, { 6, 100, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        make_ids(&m, cases[i].wrong, cases[i].all);
        const struct links *l = &m.study.links;
        assert_int_equal(l->ids_agree, cases[i].trusted);
        assert_int_equal(l->differ, cases[i].wrong);
        assert_int_equal(l->agree, cases[i].all - cases[i].wrong);
        enum rung rung = cases[i].trusted ? RUNG_EXTERNAL_ID : RUNG_LAUNCH_NESTING;
        assert_int_equal(l->events[rung], cases[i].all);
        if (cases[i].wrong > 0)
            assert_int_equal(l->owner[3], cases[i].trusted ? 1 : 0);
        traced_end(&m);
    }
}

static void several_device_events_of_one_launch(void **state)
{
    (void)state;
    struct traced m;
    traced_study_of(&m, "op a 1/1 0+9; runtime cudaGraphLaunch 1/1 1+1 c8; runtime r 1/1 3+1 c9; "
                        "kernel k 0/7 5+1 c8; kernel l 0/7 6+2 c8; memset n 0/8 7+4 c8; "
                        "kernel o 0/7 9+8 c9; kernel p 0/7 19+16; kernel q 0/7 40+32");
    const struct links *l = &m.study.links;
    assert_int_equal(l->most_of_a_launch, 3);
    assert_int_equal(l->with_launch, 4);
    assert_int_equal(l->events[RUNG_LAUNCH_NESTING], 4);
    assert_int_equal(l->ns[RUNG_LAUNCH_NESTING], 1 + 2 + 4 + 8);
    assert_int_equal(l->events[RUNG_NONE], 2);
    assert_int_equal(l->ns[RUNG_NONE], 16 + 32);
    for (uint32_t row = 3; row < 6; row++)
        assert_int_equal(l->launch[row], 1);
    assert_int_equal(l->launch[6], 2);
    assert_int_equal(l->launch[7], NO_ROW);
    traced_end(&m);
}

static void launched_before_the_window(void **state)
{
    (void)state;
    static const struct {
        const char *spans;
        uint64_t before;
    } cases[] = {
        { "runtime r 1/1 0+1 c8; kernel k 0/7 5+1 c7", 1 },
        { "runtime r 1/1 0+1 c8; kernel k 0/7 5+1 c8", 0 },
        { "runtime r 1/1 0+1 c8; kernel k 0/7 5+1 c9", 0 }, /* lost, but not before */
        { "runtime r 1/1 0+1 c8; kernel k 0/7 5+1", 0 },
        { "runtime r 1/1 0+1; kernel k 0/7 5+1 c7", 0 }, /* no number to compare with */
        { "runtime r 1/1 0+1 c8; driver q 1/1 1+1 c5; kernel k 0/7 5+1 c7; kernel l 0/7 6+1 c4; "
          "memcpy m 0/7 8+1 c-3",
          2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct traced m;
        traced_study_of(&m, cases[i].spans);
        assert_int_equal(m.study.links.before_window, cases[i].before);
        traced_end(&m);
    }
}

/* Ids beyond 64 bits are texts, and equal as such. */
static void ids_that_are_texts(void **state)
{
    (void)state;
    struct traced m;
    string_id id;
    traced_begin(&m);
    traced_spans(&m, "op a 1/1 0+9; runtime r 1/1 1+1 c8; kernel k 0/7 5+1 c8; "
                     "kernel l 0/7 7+1 c8");
    assert_true(strings_intern(&m.trace.strings, S("18446744073709551616"), &id));
    for (uint32_t row = 1; row < 3; row++) {
        m.trace.spans.correlation_form[row] = ID_TEXT;
        m.trace.spans.correlation[row] = id.n;
    }
    m.trace.spans.correlation[3] = id.n; /* as a number it is another */
    traced_study(&m);
    assert_int_equal(m.study.links.launch[2], 1);
    assert_int_equal(m.study.links.launch[3], NO_ROW);
    assert_int_equal(m.study.links.before_window, 1); /* and smaller */
    assert_int_equal(m.study.links.most_of_a_launch, 1);
    traced_end(&m);
}

/* Work of the innermost of calls so deep that no way up through them may be gone for each event;
 * and flows that begin when operators so deep have ended. */
static void depth_of_100000(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    struct traced m;
    traced_begin(&m);
    uint32_t host = traced_track(&m, 1, 1), device = traced_track(&m, 0, 7);
    struct flows *f = &m.trace.flows;
    traced_spans(&m, "op a 1/1 0+900000");
    for (int64_t i = 1; i < DEPTH; i++)
        traced_span(&m, i % 2 == 0 ? SPAN_OP : SPAN_RUNTIME, "deep", host, i, 2 * (DEPTH - i));
    m.trace.spans.correlation[DEPTH - 1] = 8;
    m.trace.spans.correlation_form[DEPTH - 1] = ID_NUMBER;
    for (int64_t i = 0; i < DEPTH; i++) {
        uint32_t row = traced_span(&m, SPAN_KERNEL, "k", device, 1000000 + i, 1);
        m.trace.spans.correlation[row] = 8;
        m.trace.spans.correlation_form[row] = i % 2 == 0 ? ID_NUMBER : ID_NONE;
    }
    traced_flows(&m, "s ac2g 0 1/1 0; f ac2g 0 0/7 0");
    assert_true(table_reserve(f, &flows_kind, 2 * DEPTH));
    for (int64_t i = 0; i < DEPTH; i++, f->rows.len += 2) {
        for (uint32_t end = 0, row = f->rows.len; end < 2; end++, row++) {
            f->category[row] = f->category[0];
            f->finish[row] = (uint8_t)end;
            f->track[row] = end == 0 ? host : device;
            f->time[row] = end == 0 ? 500000 + i : 1000000 + i;
            f->id[row] = i + 1;
            f->id_form[row] = ID_NUMBER;
        }
    }
    traced_study(&m);
    const struct links *l = &m.study.links;
    assert_int_equal(l->events[RUNG_LAUNCH_NESTING], DEPTH / 2);
    assert_int_equal(l->owner[DEPTH], DEPTH - 2);
    assert_int_equal(l->events[RUNG_FLOW], DEPTH / 2);
    assert_int_equal(l->owner[DEPTH + 1], 0);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_external_id),
        cmocka_unit_test(by_nesting_of_the_launch),
        cmocka_unit_test(by_flow),
        cmocka_unit_test(flows_of_overlapping_spans),
        cmocka_unit_test(rungs_in_their_order),
        cmocka_unit_test(ids_that_disagree_in_more_than_one_of_twenty),
        cmocka_unit_test(several_device_events_of_one_launch),
        cmocka_unit_test(launched_before_the_window),
        cmocka_unit_test(ids_that_are_texts),
        cmocka_unit_test(depth_of_100000),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
