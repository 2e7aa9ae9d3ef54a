/* test_lifetime.c - one allocation of each origin, in indices of its device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/sample.h"
#include "model/recording.h"

/* One that lives and one that dies in the trace, one freed in it, one that was always there. */
static void origins_and_spans(void **state)
{
    (void)state;
    struct recording r;
    struct arena arena;
    struct lifetimes l;
    struct block_sizes sizes = { .bytes = NULL };
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x1000, 2 << 20);
    sample_block(&r, 1024, 800, BLOCK_ALLOCATED);
    sample_block(&r, 1024, 600, BLOCK_ALLOCATED);
    sample_block(&r, (2 << 20) - 2048, 0, BLOCK_INACTIVE);
    sample_events(&r, "a 1000 800; a 9000 70; r 9000 70; c 9000 70; f 8000 50");
    sample_finish(&r);
    arena_init(&arena, SIZE_MAX);
    assert_int_equal(lifetimes_make(&r, 0, &arena, &l, NULL), VRS_OK);
    assert_int_equal(block_sizes_round(&r, &sizes, NULL), VRS_OK);
    assert_int_equal(l.count, 4);
    const struct lifetime *lives = &l.at[0], *dies = &l.at[1], *freed = &l.at[2], *old = &l.at[3];
    assert_int_equal(lives->birth, 0);
    assert_int_equal(lives->freed, 5);
    assert_int_equal(block_of(&sizes, l.first + 0).bytes, 1024);
    assert_int_equal(block_of(&sizes, l.first + 0).source, SOURCE_FINAL);
    assert_int_equal(block_slack(&sizes, l.first, l.at[0].bytes), 224);
    assert_int_equal(dies->birth, 1);
    assert_int_equal(dies->requested, 2);
    assert_int_equal(dies->freed, 3);
    assert_int_equal(block_of(&sizes, l.first + 1).bytes, 512);
    assert_int_equal(block_of(&sizes, l.first + 1).source, SOURCE_ROUNDED);
    assert_true(lifetime_alive(dies, 2) && !lifetime_alive(dies, 3) && !lifetime_alive(dies, 0));
    assert_int_equal(freed->origin, ORIGIN_PRE_FREED);
    assert_int_equal(freed->birth, -1);
    assert_int_equal(freed->freed, 4);
    assert_int_equal(old->origin, ORIGIN_PRE_LIVE);
    assert_int_equal(old->bytes, 600);
    block_sizes_free(&sizes);
    arena_free(&arena);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(origins_and_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
