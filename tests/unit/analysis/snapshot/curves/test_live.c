#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "base/arena.h"
#include "base/fail.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"

/* Two blocks that the trace does not make, one of them waiting; the trace makes a third and frees
 * a fourth that was there before. */
static void make(struct recording *r)
{
    sample_init(r);
    sample_device(r, 0);
    sample_segment(r, 0x1000, 2 << 20);
    sample_block(r, 1024, 600, BLOCK_ALLOCATED);
    sample_block(r, 1024, 700, BLOCK_PENDING);
    sample_block(r, 1024, 800, BLOCK_ALLOCATED);
    sample_block(r, (2 << 20) - 3072, 0, BLOCK_INACTIVE);
    sample_events(r, "a 1800 800; f 9000 50");
    r->events.stack[0] = sample_stack(r, (struct line[]){ { "f", "a.py", 1 } }, 1).n;
    r->events.stack[1] = r->blocks.stack[0] =
        sample_stack(r, (struct line[]){ { "g", "a.py", 2 } }, 1).n;
    sample_finish(r);
}

static void figures_of_a_device(void **state)
{
    (void)state;
    struct recording r;
    struct arena scratch;
    uint64_t stacks = 0;
    make(&r);
    arena_init(&scratch, SIZE_MAX);
    assert_int_equal(distinct_stacks(&r, 0, &scratch, &stacks, NULL), VRS_OK);
    assert_int_equal(stacks, 2);
    assert_int_equal(pending_bytes(&r, 0), 700);
    uint64_t unknown = 0;
    assert_int_equal(old_bytes(&r, 0, -1, &unknown), 600 + 700 + 50);
    assert_int_equal(unknown, 700 + 50); /* a final block has its own */
    assert_int_equal(old_bytes(&r, 0, 0, &unknown), 600 + 700 + 50);
    assert_int_equal(old_bytes(&r, 0, 1, &unknown), 600 + 700);
    r.devices.parts[0] = PART_TRACE;
    assert_true(pending_bytes(&r, 0) == UNKNOWN_U64);
    arena_free(&scratch);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
