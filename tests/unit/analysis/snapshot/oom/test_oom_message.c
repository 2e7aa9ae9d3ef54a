/* test_oom_message.c - sizes beside phrases, in every wording and in none. */
#include "analysis/snapshot/oom/oom_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "model/ids.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static struct oom_message read(const char *text)
{
    struct oom_message m;
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    assert_int_equal(oom_message_read(str_from(text), &scratch, &m, NULL), VRS_OK);
    arena_free(&scratch);
    return m;
}

static void check_free(const char *text, uint64_t bytes)
{
    assert_int_equal(read(text).free.bytes, bytes);
}

static void sizes_in_every_unit(void **state)
{
    (void)state;
    check_free("; 0 bytes free", 0);
    check_free("; 512 bytes free", 512);
    check_free("; 1.00 KiB free", 1024);
    check_free("; 1.50 MiB free", 3 * MIB / 2);
    check_free("; 1.5MiB free", 3 * MIB / 2);
    check_free("; 78.51 GiB free", 84299470602);
    check_free("; 2.00 TiB free", 2048 * GIB);
    check_free("of which 7 GIB IS FREE.", 7 * GIB);
    check_free("; 12.34567891234 GiB free", 13256070814);
}

static void what_is_no_size(void **state)
{
    (void)state;
    const char *const texts[] = { "",
                                  "free",
                                  " free",
                                  "GiB free",
                                  ". GiB free",
                                  "5 free",
                                  "5 GB free",
                                  "5 GiBs free",
                                  "99999999999999999999 GiB free",
                                  "9999999999 TiB free",
                                  "1e9 free",
                                  "5 GiB\nand free" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_free(texts[i], UNKNOWN_U64);
}

static void rounding_is_tolerated(void **state)
{
    (void)state;
    struct said said = read("10.94 MiB free").free;
    uint64_t low = said.bytes - 5242, high = said.bytes + 5242;
    assert_true(said_agrees(said, low) && said_agrees(said, high));
    assert_false(said_agrees(said, low - 3) || said_agrees(said, high + 3));
    /* The figure of a real recording, and how PyTorch would have printed it. */
    assert_true(said_agrees(read("91.25 MiB free").free, 95682560));
    assert_false(said_agrees(read("91.26 MiB free").free, 95682560));
    assert_false(said_agrees(read("512 bytes free").free, 511));
    assert_true(said_agrees(read("nothing").free, 1) && said_agrees(said, UNKNOWN_U64));
}

static void whose_process_it_is(void **state)
{
    (void)state;
    assert_int_equal(read("Process 7 has 3.00 GiB memory in use.").process.bytes, 3 * GIB);
    assert_int_equal(
        read("Process 7 has 3.00 GiB memory in use. Including non-PyTorch memory, this "
             "process has 2.00 GiB memory in use.")
            .process.bytes,
        2 * GIB);
    /* Of several the smallest that can hold what PyTorch has reserved. */
    assert_int_equal(read("Process 7 has 1.00 GiB memory in use. Process 8 has 9.00 GiB memory in "
                          "use. Process 9 has 5.00 GiB memory in use. Of the allocated memory 3.00 "
                          "GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but "
                          "unallocated.")
                         .process.bytes,
                     5 * GIB);
    assert_int_equal(read("Process x has 5.00 GiB").process.bytes, UNKNOWN_U64);
}

static void reserved_is_said_or_summed(void **state)
{
    (void)state;
    struct oom_message m =
        read("4.00 GiB reserved in total by PyTorch; 1.00 GiB already allocated");
    assert_int_equal(oom_message_reserved(&m).bytes, 4 * GIB);
    m = read(
        "Of the allocated memory 71.20 GiB is allocated by PyTorch, with 1.50 GiB allocated in "
        "private pools (e.g., CUDA Graphs), and 6.31 GiB is reserved by PyTorch but "
        "unallocated.");
    assert_int_equal(m.private_pools.bytes, 3 * GIB / 2);
    assert_int_equal((oom_message_reserved(&m).bytes * 100 + GIB / 2) / GIB, 7751);
    m = read("1.00 GiB already allocated; 10.00 MiB free; 5.00 MiB cached)");
    assert_int_equal(oom_message_reserved(&m).bytes, GIB + 5 * MIB);
    m = read("1.00 GiB already allocated");
    assert_int_equal(oom_message_reserved(&m).bytes, UNKNOWN_U64);
}

static void which_device(void **state)
{
    (void)state;
    assert_int_equal(read("GPU 3 has").device, 3);
    assert_int_equal(read("the GPU has; GPU 12;").device, 12);
    assert_int_equal(read("GPU 99999999999").device, -1);
    assert_int_equal(read("no such thing").device, -1);
    assert_false(read("GPU 3 has").any);
    assert_true(read("was preemptively rejected").preemptive);
    assert_false(oom_message_none().any);
}

/* Phrases without sizes, as many as fit: time must not grow with their square. */
static void long_texts_end(void **state)
{
    (void)state;
    enum { BYTES = OOM_MESSAGE_BYTES_MAX + 100 };
    static char text[BYTES + 1];
    const char *const pieces[] = { "free", "1.00 GiB ", "9", "process 7 has ", " ", "gpu " };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t len = str_from(pieces[i]).len;
        for (size_t at = 0; at < BYTES; at++)
            text[at] = pieces[i][at % len];
        assert_false(read(text).any);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct oom_message m;
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    fault_left = 0;
    assert_int_equal(oom_message_read(S("1 GiB free"), &scratch, &m, NULL), VRS_NOMEM);
    fault_left = -1;
    arena_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_in_every_unit),
        cmocka_unit_test(what_is_no_size),
        cmocka_unit_test(rounding_is_tolerated),
        cmocka_unit_test(whose_process_it_is),
        cmocka_unit_test(reserved_is_said_or_summed),
        cmocka_unit_test(which_device),
        cmocka_unit_test(long_texts_end),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
