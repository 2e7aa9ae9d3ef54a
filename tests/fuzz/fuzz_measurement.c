/* fuzz_measurement.c - measurements: whatever the portions they come in, they are read alike, or refused
 * in words, and compared with themselves nothing changed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/measurement/compare/compare.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/noise.h"
#include "format/input/limits.h"
#include "format/read_measurement.h"
#include "made/dribble.h"
#include "model/measurement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s: that does not hold\n", what);
    abort();
}

static enum vrs_status read_in_steps(const uint8_t *data, size_t size, size_t step,
                                     struct measurement *ret)
{
    struct dribble d = { .at = data, .left = size, .step = step };
    struct vrs_error err = { .message = "" };
    enum vrs_status status = read_measurement(dribble_source(&d), &default_limits, ret, &err);
    require(status == VRS_OK || (err.status == status && err.message[0] != 0),
            "a failure has words");
    return status;
}

static void compare_with_itself(const struct measurement *m)
{
    const struct comparison_question q = { .a = m, .b = m, .again = &m, .repeats = 1 };
    struct comparison c;
    struct arena arena;
    arena_init(&arena, SIZE_MAX / 2);
    require(comparison_make(&q, &arena, &c, NULL) == VRS_OK, "one thing is of one kind");
    require(c.left_out == 0 && c.conditions == 0, "nothing stands on one side alone");
    for (uint32_t i = 0; i < c.timings; i++)
        require(c.timing[i].verdict != NOISE_FASTER && c.timing[i].verdict != NOISE_SLOWER,
                "nothing is faster than itself");
    for (uint32_t i = 0; i < c.timings; i++)
        require(!(c.timing[i].between_runs > 0), "nothing is away from itself");
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct measurement whole, again;
    enum vrs_status status = read_in_steps(data, size, 0, &whole);
    bool is_again = read_in_steps(data, size, 1 + size % 7, &again) == VRS_OK;
    require(is_again == (status == VRS_OK), "portions change no answer");
    if (status != VRS_OK)
        return 0;
    require(whole.time.len == again.time.len && whole.value.len == again.value.len &&
                whole.figure.len == again.figure.len && whole.phase.len == again.phase.len,
            "portions change no row");
    compare_with_itself(&whole);
    measurement_free(&whole);
    measurement_free(&again);
    return 0;
}
