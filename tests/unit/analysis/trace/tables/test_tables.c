#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/trace/tables/tables.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/traced.h"

static void make(struct traced *m, const char *spans, struct tables *ret)
{
    traced_study_of(m, spans);
    assert_int_equal(tables_make(&m->study, &m->arena, ret, NULL), VRS_OK);
}

static void check_text(const char *spans, const char *text, const char *wanted)
{
    if (!str_equal(str_from(text), str_from(wanted)))
        fail_msg("%s:\n  %s, wanted\n  %s", spans, text, wanted);
}

/* Rows as "name calls ns; …". */
static void check_names(const char *spans, const struct name_row *row, uint32_t rows,
                        const char *wanted)
{
    char text[400] = "";
    for (uint32_t i = 0, at = 0; i < rows; i++)
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%.*s %d %d", i > 0 ? "; " : "",
                                 (int)row[i].name.len, row[i].name.ptr, (int)row[i].calls,
                                 (int)row[i].ns);
    check_text(spans, text, wanted);
}

static void time_by_name(void **state)
{
    (void)state;
    const char *spans =
        "kernel b 0/7 0+4; kernel a 0/7 1+4; memset c 0/7 2+9; kernel a 0/8 1+0; memcpy d 0/7 0+1; "
        "runtime r 1/1 0+3; driver r 1/1 4+3; runtime q 1/1 9+7; sync s 0/7 0+50; "
        "op Optimizer.step#A.step 1/1 0+3; annotation enumerate(DataLoader)#it#1 1/1 3+4; "
        "annotation enumerate(DataLoader)#it#22 1/1 8+5; kernel Optimizer.x 0/7 0+1; "
        "annotation Optimizer.step#A.step 1/1 20+2";
    struct traced m;
    struct tables t;
    make(&m, spans, &t);
    check_names(spans, t.kernel, t.kernels, "c 1 9; a 2 4; b 1 4; Optimizer.x 1 1; d 1 1");
    check_names(spans, t.call, t.calls, "q 1 7; r 2 6");
    check_names(spans, t.range, t.ranges,
                "Optimizer.step#A.step 2 5; enumerate(DataLoader)#it 2 9");
    assert_int_equal(t.device_ns, 4 + 4 + 9 + 0 + 1 + 1);
    traced_end(&m);
}

static void calls_that_wait_or_launch(void **state)
{
    (void)state;
    struct traced m;
    struct tables t;
    make(&m, "runtime cudaStreamSynchronize 1/1 0+4; driver cuLaunchKernel 1/1 5+2; "
             "runtime hipModuleLaunchKernel 1/1 8+1; op aten::launch 1/1 9+9; "
             "sync cudaDeviceSynchronize 0/7 0+50; runtime cudaStreamSynchronize 1/2 0+8", &t);
    assert_int_equal(t.syncs, 2);
    assert_int_equal(t.sync_ns, 12);
    assert_int_equal(t.launches, 2);
    assert_int_equal(t.launch_ns, 3);
    traced_end(&m);
}

/* Kinds of copies as "kind calls bytes ns; …". */
static void check_copies(const char *spans, const char *wanted)
{
    struct traced m;
    struct tables t;
    char text[400] = "";
    make(&m, spans, &t);
    for (uint32_t i = 0, at = 0; i < t.copies; i++) {
        const struct copy_row *r = &t.copy[i];
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%.*s %d %d %d", i > 0 ? "; " : "",
                                 (int)r->kind.len, r->kind.ptr, (int)r->calls, (int)r->bytes,
                                 (int)r->ns);
    }
    check_text(spans, text, wanted);
    traced_end(&m);
}

static void copies_by_kind(void **state)
{
    (void)state;
    check_copies("memcpy 'Memcpy HtoD (Pageable -> Device)' 0/7 0+4 b512; "
                 "memcpy 'Memcpy DtoD (Device -> Device)' 0/7 4+1 b8; "
                 "memcpy 'Memcpy HtoD (Pageable -> Device)' 0/8 5+2",
                 "DtoD Device -> Device 1 8 1; HtoD Pageable -> Device 2 512 6");
    check_copies("memcpy 'Memcpy HtoD' 0/7 0+4 b1; memcpy 'Memcpy HtoD ()' 0/7 0+4 b2; "
                 "memcpy 'Memcpy HtoD (open' 0/7 0+4 b4",
                 "HtoD 3 7 12");
    check_copies("memcpy Memcpy 0/7 0+4 b1; memcpy CopyHostToDevice 0/7 0+4 b2",
                 "CopyHostToDevice 1 2 4; Memcpy 1 1 4");
    check_copies("memcpy 'Memcpy PtoP (A) (B)' 0/7 0+4 b1; memset 'Memcpy HtoD' 0/7 0+4 b2",
                 "PtoP A 1 1 4");
    check_copies("kernel k 0/7 0+1", "");
}

struct again {
    struct traced *m;
    struct arena arena;
};

static enum vrs_status tables_again(void *arg)
{
    struct again *a = arg;
    struct tables t;
    arena_init(&a->arena, SIZE_MAX / 2);
    enum vrs_status status = tables_make(&a->m->study, &a->arena, &t, NULL);
    arena_free(&a->arena);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    uint64_t random = 19;
    struct traced m;
    struct again again = { .m = &m };
    traced_begin(&m);
    traced_random_hosts(&m, &random, 60, 60);
    traced_spans(&m, "memcpy 'Memcpy HtoD (Pageable -> Device)' 0/7 0+4 b512; kernel k 0/7 9+1 c3");
    traced_study(&m);
    fault_each(tables_again, NULL, &again);
    traced_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_by_name),
        cmocka_unit_test(calls_that_wait_or_launch),
        cmocka_unit_test(copies_by_kind),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
