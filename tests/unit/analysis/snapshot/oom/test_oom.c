/* test_oom.c - the nine tests as arithmetic, in their order; the whole call without memory. */
#include "analysis/snapshot/oom/oom_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/answered.h"
#include "model/ids.h"
#include "vramscope/snapshot.h"

/* Units of 1 GiB, so that margins matter little; a card of 80 of which 70 were PyTorch's. */
#define G(n) ((uint64_t)(n) << 30)

static struct oom_figures figures(void)
{
    return (struct oom_figures){ .request = G(6),
                                 .segment = G(6),
                                 .device_free = G(2),
                                 .active = G(67),
                                 .reserved = G(70),
                                 .internal_free = G(3),
                                 .largest_usable = G(1),
                                 .largest_growable = G(1),
                                 .total = G(72),
                                 .process = UNKNOWN_U64,
                                 .allowed = UNKNOWN_U64,
                                 .said_private = UNKNOWN_U64 };
}

static struct oom_answer_of_tests tests_of(struct oom_figures f)
{
    struct oom_answer_of_tests a;
    oom_test_all(&f, &a);
    return a;
}

static void the_first_remedy_is_the_verdict(void **state)
{
    (void)state;
    struct oom_figures f = figures();
    assert_int_equal(tests_of(f).verdict, OOM_LIVE_EXCEEDS_CAPACITY);
    f.total = G(120);
    assert_int_equal(tests_of(f).verdict, OOM_OUTSIDE_PYTORCH);
    f.private_free = G(1);
    assert_int_equal(tests_of(f).verdict, OOM_PRIVATE_POOLS);
    f.other_stream_free = G(1);
    assert_int_equal(tests_of(f).verdict, OOM_OTHER_STREAM);
    f.pending = G(1);
    assert_int_equal(tests_of(f).verdict, OOM_PENDING_FREE);
    f.internal_free = G(4);
    assert_int_equal(tests_of(f).verdict, OOM_FRAGMENTATION);
    f.returnable = G(4);
    assert_int_equal(tests_of(f).verdict, OOM_CACHED_NOT_RELEASABLE);
    f.request = f.segment = G(121);
    assert_int_equal(tests_of(f).verdict, OOM_SINGLE_REQUEST_TOO_LARGE);
    f.has_text = true;
    f.allowed = G(190);
    assert_int_equal(tests_of(f).verdict, OOM_CAPACITY_LIMIT);
    f.allowed = G(191);
    assert_int_equal(tests_of(f).verdict, OOM_SINGLE_REQUEST_TOO_LARGE);
}

static void margins_are_kept(void **state)
{
    (void)state;
    struct oom_figures f = figures();
    f.device_free = f.segment + OOM_LIMIT_MARGIN;
    assert_int_equal(tests_of(f).verdict, OOM_CAPACITY_LIMIT);
    f.device_free--;
    assert_int_not_equal(tests_of(f).verdict, OOM_CAPACITY_LIMIT);
    f = figures();
    /* 1 GiB is missing; 1 GiB must stay outside; a tenth of the card must be there. */
    f.total = G(72) + G(8);
    assert_int_equal(tests_of(f).test[OOM_OUTSIDE_PYTORCH].holds, OOM_YES);
    f.total = G(72) + G(8) - 9;
    assert_int_equal(tests_of(f).test[OOM_OUTSIDE_PYTORCH].holds, OOM_NO);
    f = figures();
    f.pending = f.request / 10;
    f.internal_free = G(4) - f.pending;
    assert_int_equal(tests_of(f).test[OOM_PENDING_FREE].holds, OOM_NO);
    f.pending++;
    assert_int_equal(tests_of(f).test[OOM_PENDING_FREE].holds, OOM_YES);
    /* A piece that is large enough is no fragmentation, nor is one that could grow to be. */
    f = figures();
    f.internal_free = G(7);
    f.largest_growable = G(6);
    assert_int_equal(tests_of(f).test[OOM_FRAGMENTATION].holds, OOM_NO);
}

static void the_unknown_is_not_false(void **state)
{
    (void)state;
    struct oom_figures f = figures();
    f.total = UNKNOWN_U64;
    struct oom_answer_of_tests a = tests_of(f);
    assert_int_equal(a.test[OOM_OUTSIDE_PYTORCH].holds, OOM_UNKNOWN);
    assert_false(a.test[OOM_OUTSIDE_PYTORCH].known);
    assert_int_equal(a.verdict, OOM_LIVE_EXCEEDS_CAPACITY);
    /* Without a layout: all that is free together does not do. */
    f.internal_free = f.returnable = f.other_stream_free = f.private_free = UNKNOWN_U64;
    f.largest_growable = UNKNOWN_U64;
    a = tests_of(f);
    assert_int_equal(a.verdict, OOM_LIVE_EXCEEDS_CAPACITY);
    assert_int_equal(a.test[OOM_FRAGMENTATION].holds, OOM_NO);
    /* It might do: nothing is said. */
    f.active = G(60);
    a = tests_of(f);
    assert_int_equal(a.verdict, OOM_UNDECIDED);
    assert_int_equal(a.test[OOM_LIVE_EXCEEDS_CAPACITY].holds, OOM_UNKNOWN);
    f.device_free = UNKNOWN_U64;
    assert_int_equal(tests_of(f).verdict, OOM_UNDECIDED);
}

static bool is_also_true(const struct oom_answer_of_tests *a, enum oom_verdict verdict)
{
    for (uint32_t i = 0; i < a->also_trues; i++)
        if (a->also_true[i] == verdict)
            return true;
    return false;
}

static void remedies_below_must_suffice_alone(void **state)
{
    (void)state;
    struct oom_figures f = figures();
    f.internal_free = G(5);
    f.pending = f.other_stream_free = G(1);
    f.private_free = G(4);
    struct oom_answer_of_tests a = tests_of(f);
    assert_int_equal(a.verdict, OOM_FRAGMENTATION);
    assert_false(is_also_true(&a, OOM_PENDING_FREE) || is_also_true(&a, OOM_OTHER_STREAM));
    assert_true(is_also_true(&a, OOM_PRIVATE_POOLS));
    assert_false(is_also_true(&a, OOM_FRAGMENTATION) ||
                 is_also_true(&a, OOM_LIVE_EXCEEDS_CAPACITY));
    /* 1 and 2 exclude the rest. */
    f.request = f.segment = G(73);
    a = tests_of(f);
    for (uint32_t v = 0; v < OOM_VERDICTS; v++)
        assert_false(is_also_true(&a, (enum oom_verdict)v));
}

static void what_lies_outside(void **state)
{
    (void)state;
    struct oom_figures f = figures();
    f.total = G(80);
    f.process = G(73);
    assert_int_equal(oom_capacity_seen(&f), G(72));
    assert_int_equal(oom_outside_process(&f), G(3));
    assert_int_equal(oom_other_processes(&f), G(5));
    assert_int_equal(oom_outside(&f), G(8));
    f.process = G(60); /* a rounded text may say less than was measured */
    assert_int_equal(oom_outside_process(&f), 0);
}

static void hostile_sizes_do_not_overflow(void **state)
{
    (void)state;
    const uint64_t sizes[] = {
        0, 1, G(1), INT64_MAX, (uint64_t)INT64_MAX + 1, UNKNOWN_U64 - 1, UNKNOWN_U64
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (uint32_t i = 0; i < 4000; i++) {
        uint64_t seed = i * UINT64_C(0x9e3779b97f4a7c15);
        struct oom_figures f;
        uint64_t *const figure = &f.request;
        for (uint32_t k = 0; k < offsetof(struct oom_figures, has_text) / sizeof *figure; k++)
            figure[k] = sizes[(seed >> k * 4) % SIZES];
        f.has_text = (i & 1) != 0;
        f.preemptive = (i & 2) != 0;
        struct oom_answer_of_tests a = tests_of(f);
        assert_true(a.verdict <= OOM_UNDECIDED);
        if (a.verdict < OOM_UNDECIDED)
            assert_int_equal(a.test[a.verdict].holds, OOM_YES);
    }
}

/* The whole call. */

static const char refused_twice[] =
    ", {\"action\": \"oom\", \"device_free\": 512, \"size\": 2097152, \"stream\": 0,"
    " \"time_us\": 12, \"frames\": []},"
    "{\"action\": \"oom\", \"device_free\": 512, \"size\": 2097152, \"stream\": 0,"
    " \"time_us\": 13, \"frames\": []}";

static enum vrs_status ask(const struct vrs_recording *r, struct vrs_result *to[ANSWERS_MOST])
{
    struct vrs_oom_options options = { .size = sizeof options,
                                       .message = "Tried to allocate 2.00 MiB; 1.00 KiB free",
                                       .capacity_bytes = 3 << 20 };
    enum vrs_status status = vrs_oom(r, &options, &to[0], NULL);
    if (status == VRS_OK)
        assert_int_equal(vrs_verdict(to[0]), VRS_YES);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const struct asking asking = { .recording = recording_of_tensor("forward", refused_twice),
                                   .ask = ask };
    const char *text = answered(&asking);
    assert_non_null(strstr(text, "\"retries\": 1"));
    assert_non_null(strstr(text, "text_differs"));
    answered_without_memory(&asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_remedy_is_the_verdict),
        cmocka_unit_test(margins_are_kept),
        cmocka_unit_test(the_unknown_is_not_false),
        cmocka_unit_test(remedies_below_must_suffice_alone),
        cmocka_unit_test(what_lies_outside),
        cmocka_unit_test(hostile_sizes_do_not_overflow),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
