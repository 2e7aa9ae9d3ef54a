#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/calls/call_ranges.h"
#include "analysis/trace/calls/calls.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "made/fault.h"
#include "made/traced.h"
#include "model/trace.h"

enum { TEXT_ROOM = 2000 };

static void make(struct traced *m, struct call_paths *c)
{
    traced_study(m);
    assert_int_equal(call_paths_make(&m->study, &m->arena, c, NULL), VRS_OK);
    assert_true(call_ranges_make(&m->study, &m->arena, c));
}

static void put_name(const struct traced *m, const struct call_paths *c, uint32_t path, char *to)
{
    const struct call_path *p = &c->at[path];
    str name = trace_text(&m->trace, p->name);
    if (p->parent != NO_ROW)
        (void)snprintf(to, TEXT_ROOM, "%.*s", (int)name.len, name.ptr);
    else if (p->track == NO_ROW)
        (void)snprintf(to, TEXT_ROOM, "-");
    else
        (void)snprintf(to, TEXT_ROOM, "#%d", (int)m->trace.tracks.tid[p->track]);
}

/* Paths in their order, as "parent>name calls host/self device/self host-bytes/device-bytes; …",
 * where a root is #THREAD, and - is that of work without a launch. */
static void check_made(struct traced *m, const char *wanted)
{
    struct call_paths c;
    char text[TEXT_ROOM] = "", name[TEXT_ROOM], parent[TEXT_ROOM];
    make(m, &c);
    for (uint32_t i = 0, at = 0; i < c.len; i++) {
        const struct call_path *p = &c.at[i];
        put_name(m, &c, i, name);
        parent[0] = '\0';
        if (p->parent != NO_ROW) {
            put_name(m, &c, p->parent, parent);
            assert_true(p->parent < i);
            assert_int_equal(p->depth, c.at[p->parent].depth + 1);
            assert_int_equal(p->root, c.at[p->parent].root);
        }
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s>%s %d %d/%d %d/%d %d/%d",
                                 i > 0 ? "; " : "", parent, name, (int)p->calls, (int)p->host_ns,
                                 (int)p->self_host_ns, (int)p->device_ns, (int)p->self_device_ns,
                                 (int)p->bytes.cpu, (int)p->bytes.device);
        assert_true(at < sizeof text);
    }
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("\n  %s, wanted\n  %s", text, wanted);
    traced_end(m);
}

static void check(const char *spans, const char *wanted)
{
    struct traced m;
    traced_begin(&m);
    traced_spans(&m, spans);
    check_made(&m, wanted);
}

static void equal_ways_are_one_path(void **state)
{
    (void)state;
    check("", "");
    check("op a 1/1 0+9; op b 1/1 1+4; op b 1/1 6+1; op a 1/1 10+5; op b 1/1 11+1",
          ">#1 2 14/0 0/0 0/0; #1>a 2 14/8 0/0 0/0; a>b 3 6/6 0/0 0/0");
    /* Not so on another thread, nor below another path. */
    check("op a 1/1 0+9; op a 1/1 1+4; op a 1/2 3+2",
          ">#1 1 9/0 0/0 0/0; #1>a 1 9/5 0/0 0/0; a>a 1 4/4 0/0 0/0; "
          ">#2 1 2/0 0/0 0/0; #2>a 1 2/2 0/0 0/0");
}

static void frames_operators_and_calls_nest(void **state)
{
    (void)state;
    check("python p 1/1 0+20; annotation n 1/1 1+3; op a 1/1 2+9; runtime r 1/1 3+1; "
          "driver d 1/1 5+2; sync s 1/1 6+1",
          ">#1 1 20/0 0/0 0/0; #1>p 1 20/11 0/0 0/0; p>a 1 9/6 0/0 0/0; a>r 1 1/1 0/0 0/0; "
          "a>d 1 2/2 0/0 0/0");
}

/* Of children that overlap the time of both is taken once: no path has less than nothing. */
static void overlaps_leave_no_negative_time(void **state)
{
    (void)state;
    check("op p 1/1 0+10; op a 1/1 0+7; op b 1/1 3+7",
          ">#1 1 10/0 0/0 0/0; #1>p 1 10/0 0/0 0/0; p>a 1 7/7 0/0 0/0; p>b 1 7/7 0/0 0/0");
}

static void device_work_is_below_its_launch(void **state)
{
    (void)state;
    check("op a 1/1 0+9 e1; runtime r 1/1 1+2 c5; kernel k 0/7 4+8 c5; kernel k 0/7 20+1 c5; "
          "memcpy m 0/7 30+2 e1",
          ">#1 1 9/0 11/0 0/0; #1>a 1 9/7 11/0 0/0; a>r 1 2/2 9/0 0/0; r>k 2 0/0 9/9 0/0; "
          "a>m 1 0/0 2/2 0/0");
    check("op k 1/1 0+9; kernel k 0/7 4+8",
          ">#1 1 9/0 0/0 0/0; #1>k 1 9/9 0/0 0/0; >- 1 0/0 8/0 0/0; ->k 1 0/0 8/8 0/0");
    /* A range is no part of the tree: what is owed to one alone was launched by no known call. */
    check("annotation n 1/1 0+9 e1; kernel k 0/7 4+8 e1",
          ">- 1 0/0 8/0 0/0; ->k 1 0/0 8/8 0/0");
}

static void memory_goes_to_the_innermost(void **state)
{
    struct traced m;
    (void)state;
    traced_begin(&m);
    traced_spans(&m, "op a 1/1 0+9; op b 1/1 2+4; op c 1/1 20+1");
    traced_memory(&m, "0/-1 1 100; 1/0 2 7; 1/0 5 5; 1/0 5 -7; 1/0 6 3; 1/0 10 2; 0/-1 20 1");
    check_made(&m, ">#1 2 10/0 0/0 101/17; #1>a 1 9/5 0/0 100/15; a>b 1 4/4 0/0 0/12; "
                   "#1>c 1 1/1 0/0 1/0");
}

static void ranges_lie_over_the_tree(void **state)
{
    struct traced m;
    struct call_paths c;
    char text[TEXT_ROOM] = "";
    (void)state;
    traced_begin(&m);
    traced_spans(&m, "annotation ProfilerStep#1 1/1 0+10; annotation in 1/1 2+4; "
                     "annotation ProfilerStep#2 1/1 10+10; op a 1/1 0+1; op a 1/1 2+2; "
                     "op a 1/1 6+1; op b 1/1 9+3; op b 1/1 12+1; op b 1/1 30+1; op a 1/2 3+1");
    make(&m, &c);
    for (uint32_t i = 0, at = 0; i < c.in_ranges; i++) {
        const struct call_range *r = &c.in_range[i];
        const struct range_path *range = &c.range[r->range];
        str name = trace_text(&m.trace, c.at[r->path].name);
        str in = trace_text(&m.trace, range->name);
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%.*s %s%.*s%s %d %d",
                                 i > 0 ? "; " : "", (int)name.len, name.ptr,
                                 range->is_step ? "step " : "", (int)in.len, in.ptr,
                                 range->parent == NO_ROW ? "" : " in another", (int)r->calls,
                                 (int)r->self_host_ns);
    }
    assert_string_equal(text, "a step ProfilerStep#1 2 2; a in in another 1 2; "
                              "b step ProfilerStep#1 2 4");
    traced_end(&m);
}

/* Own times add up to what the outermost calls last, and those of devices to all their work. */
static void sums_agree(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int round = 0; round < 200; round++) {
        struct traced m;
        struct call_paths c;
        int64_t self = 0, roots = 0, device = 0, work = 0;
        traced_begin(&m);
        traced_random_hosts(&m, &random, 40, 60);
        uint32_t hosts = m.trace.spans.rows.len;
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t row = traced_span(&m, SPAN_KERNEL, "k", traced_track(&m, 0, 7), i * 9, i);
            m.trace.spans.correlation[row] = m.trace.spans.correlation[i % hosts];
            m.trace.spans.correlation_form[row] = m.trace.spans.correlation_form[i % hosts];
            work += i;
        }
        make(&m, &c);
        for (uint32_t i = 0; i < c.len; i++) {
            assert_true(c.at[i].self_host_ns >= 0);
            self += c.at[i].self_host_ns;
            device += c.at[i].self_device_ns;
            if (c.at[i].parent == NO_ROW)
                roots += c.at[i].host_ns;
        }
        assert_true(c.forest.overlaps > 0 || self == roots);
        assert_int_equal(device, work);
        traced_end(&m);
    }
}

static void check_frame(const char *name, const char *file, unsigned line, const char *function)
{
    struct frame_name f = { .line = 0 };
    bool is_frame = frame_name_read(str_from(name), &f);
    assert_int_equal(is_frame, file != NULL);
    if (file == NULL)
        return;
    assert_true(str_equal(f.file, str_from(file)));
    assert_true(str_equal(f.function, str_from(function)));
    assert_int_equal(f.line, line);
}

static void names_of_frames(void **state)
{
    (void)state;
    check_frame("train.py(12): main", "train.py", 12, "main");
    check_frame("a (b)/c.py(7): <listcomp>", "a (b)/c.py", 7, "<listcomp>");
    check_frame("torch/nn/modules/module.py(1): a(2): b", "torch/nn/modules/module.py", 1, "a(2): b");
    check_frame("<built-in method mm of type object at 0x7f>", NULL, 0, NULL);
    check_frame("nn.Module: Linear_1", NULL, 0, NULL);
    check_frame("x(): f", NULL, 0, NULL);
    check_frame("(3): f", NULL, 0, NULL);
    check_frame("x(99999999999): f", NULL, 0, NULL);
    check_frame("x(3): ", NULL, 0, NULL);
    check_frame("", NULL, 0, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct traced m;
        struct call_paths c;
        traced_begin(&m);
        traced_spans(&m, "op a 1/1 0+9 e1; annotation r 1/1 0+9; op b 1/1 1+4; kernel k 0/7 9+8 e1");
        traced_study(&m);
        fault_left = n;
        enum vrs_status status = call_paths_make(&m.study, &m.arena, &c, NULL);
        if (status == VRS_OK && !call_ranges_make(&m.study, &m.arena, &c))
            status = VRS_NOMEM;
        bool fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        traced_end(&m);
        if (!fired)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ways_are_one_path),
        cmocka_unit_test(frames_operators_and_calls_nest),
        cmocka_unit_test(overlaps_leave_no_negative_time),
        cmocka_unit_test(device_work_is_below_its_launch),
        cmocka_unit_test(memory_goes_to_the_innermost),
        cmocka_unit_test(ranges_lie_over_the_tree),
        cmocka_unit_test(sums_agree),
        cmocka_unit_test(names_of_frames),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
