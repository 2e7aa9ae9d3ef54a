/* test_frames.c - which frames differ in their line alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/frames.h"
#include "model/ids.h"

/* Names and files as string ids. */
enum { STEP = 1, LOSS, TRAIN_PY, MODEL_PY, STRINGS };

struct asked {
    struct frame frame;
    uint32_t twin;
};

/* Frames are numbered from 1 on, as they come. */
static void check_twins(const struct asked *of, uint32_t count)
{
    struct frames f;
    uint32_t latest[STRINGS] = { 0 };
    assert_true(frames_init(&f));
    for (uint32_t i = 0; i < count; i++) {
        frame_id id = { 0 };
        assert_true(frames_intern(&f, of[i].frame, &id));
        assert_int_equal(id.n, i + 1);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(frames_twin(&f, i + 1, latest), of[i].twin);
    frames_free(&f);
}

static void another_line_is_a_twin(void **state)
{
    (void)state;
    static const struct asked asked[] = {
        { { { STEP }, { TRAIN_PY }, 1, 0 }, 0 }, { { { LOSS }, { TRAIN_PY }, 1, 0 }, 0 },
        { { { STEP }, { TRAIN_PY }, 2, 0 }, 1 }, { { { LOSS }, { TRAIN_PY }, NO_LINE, 0 }, 2 },
        { { { STEP }, { TRAIN_PY }, 1, 3 }, 3 }, /* fx knows more of it */
    };
    check_twins(asked, sizeof asked / sizeof *asked);
}

/* What was found of a twin was copied, and is copied on. */
static void a_twin_has_a_twin(void **state)
{
    (void)state;
    static const struct asked asked[] = {
        { { { STEP }, { TRAIN_PY }, 1, 0 }, 0 },
        { { { STEP }, { TRAIN_PY }, 2, 0 }, 1 },
        { { { STEP }, { TRAIN_PY }, 3, 0 }, 2 },
        { { { STEP }, { TRAIN_PY }, 4, 0 }, 3 },
    };
    check_twins(asked, sizeof asked / sizeof *asked);
}

static void the_same_name_elsewhere_is_none(void **state)
{
    (void)state;
    static const struct asked asked[] = {
        { { { STEP }, { TRAIN_PY }, 1, 0 }, 0 },
        { { { STEP }, { MODEL_PY }, 1, 0 }, 0 },
        { { { STEP }, { 0 }, NO_LINE, 0 }, 0 },
        { { { 0 }, { TRAIN_PY }, 1, 0 }, 0 },
    };
    check_twins(asked, sizeof asked / sizeof *asked);
}

/* Only the latest of a name is remembered: where files take turns none is found, and never that
 * of the other file. */
static void files_that_take_turns(void **state)
{
    (void)state;
    static const struct asked asked[] = {
        { { { STEP }, { TRAIN_PY }, 1, 0 }, 0 }, { { { STEP }, { MODEL_PY }, 1, 0 }, 0 },
        { { { STEP }, { TRAIN_PY }, 2, 0 }, 0 }, { { { STEP }, { MODEL_PY }, 2, 0 }, 0 },
        { { { STEP }, { MODEL_PY }, 3, 0 }, 4 }, { { { STEP }, { TRAIN_PY }, 3, 0 }, 0 },
        { { { STEP }, { TRAIN_PY }, 4, 0 }, 6 },
    };
    check_twins(asked, sizeof asked / sizeof *asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_line_is_a_twin),
        cmocka_unit_test(a_twin_has_a_twin),
        cmocka_unit_test(the_same_name_elsewhere_is_none),
        cmocka_unit_test(files_that_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
