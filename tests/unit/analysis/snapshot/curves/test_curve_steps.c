/* test_curve_steps.c - the curves event by event are those that curves.h gives at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/snapshot/curves/curve_steps.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/sample.h"
#include "model/recording.h"

struct walked {
    struct recording r;
    struct arena arena;
    struct lifetimes lifetimes;
    struct block_sizes sizes;
    struct curve_steps steps;
};

static void begin(struct walked *w, const char *events)
{
    sample_init(&w->r);
    sample_device(&w->r, 0);
    sample_segment(&w->r, 0x1000, 2 << 20);
    sample_block(&w->r, 1024, 800, BLOCK_ALLOCATED);
    sample_block(&w->r, 1024, 600, BLOCK_ALLOCATED);
    sample_block(&w->r, 512, 300, BLOCK_PENDING);
    sample_block(&w->r, (2 << 20) - 2560, 0, BLOCK_INACTIVE);
    sample_events(&w->r, events);
    sample_finish(&w->r);
    arena_init(&w->arena, SIZE_MAX);
    assert_int_equal(lifetimes_make(&w->r, 0, &w->arena, &w->lifetimes, NULL), VRS_OK);
    w->sizes = (struct block_sizes){ .bytes = NULL };
    assert_int_equal(block_sizes_round(&w->r, &w->sizes, NULL), VRS_OK);
    assert_int_equal(
        curve_steps_begin(&w->r, 0, &w->lifetimes, &w->sizes, &w->arena, &w->steps, NULL), VRS_OK);
}

static void end(struct walked *w)
{
    arena_free(&w->arena);
    block_sizes_free(&w->sizes);
    recording_free(&w->r);
}

static void equals_the_curves(void **state)
{
    (void)state;
    struct walked w;
    begin(&w,
          "M 900000 2097152; a 1000 800; a 9000 70; r 1800 300; r 9000 70; c 9000 70; f 8000 50; "
          "U 900000 2097152");
    for (int64_t event = -1; event < 8; event++) {
        for (enum curve_name c = 0; c < CURVES; c++)
            assert_int_equal((int64_t)w.steps.bytes[c], curve_at(&w.r, 0, c, event));
        assert_int_equal(curve_steps_next(&w.steps), event < 7);
    }
    curve_steps_restart(&w.steps);
    assert_int_equal((int64_t)w.steps.bytes[CURVE_ACTIVE], curve_at(&w.r, 0, CURVE_ACTIVE, -1));
    end(&w);
}

/* An alloc at an address in use ends what was there, which nobody asked for. */
static void one_that_is_replaced(void **state)
{
    (void)state;
    struct walked w;
    begin(&w, "a 9000 100; a 9000 600; c 9000 600");
    uint64_t start = w.steps.bytes[CURVE_ACTIVE];
    uint64_t allocated = w.steps.bytes[CURVE_ALLOCATED];
    curve_steps_next(&w.steps);
    assert_int_equal(w.steps.bytes[CURVE_ACTIVE], start + 512);
    curve_steps_next(&w.steps);
    assert_int_equal(w.steps.bytes[CURVE_ACTIVE], start + 1024);
    assert_int_equal(w.steps.bytes[CURVE_ALLOCATED], allocated + 1024);
    assert_int_equal(event_allocation(&w.steps, 0), 0);
    assert_int_equal(event_allocation(&w.steps, 1), event_allocation(&w.steps, 2));
    curve_steps_next(&w.steps);
    assert_int_equal(w.steps.bytes[CURVE_ACTIVE], start);
    assert_int_equal(w.steps.bytes[CURVE_ALLOCATED], allocated);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_curves),
        cmocka_unit_test(one_that_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
