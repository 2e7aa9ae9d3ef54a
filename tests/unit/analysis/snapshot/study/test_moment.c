#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/sample.h"
#include "model/ids.h"
#include "model/recording.h"

/* The event that `text` means on a device of six events, or the start of what is said against it.
 */
static void check_moment(const char *events, const char *text, int64_t event, const char *refusal)
{
    struct recording r;
    struct moment moment;
    struct vrs_error err = { .message = "" };
    int64_t at = -9;
    sample_init(&r);
    sample_device(&r, 3);
    sample_events(&r, events);
    if (r.events.rows.len > 3)
        r.events.time_us[1] = UNKNOWN_U64;
    for (uint32_t i = 0; i < r.events.rows.len; i++)
        if (i != 1)
            r.events.time_us[i] = 5000000 + i * 500000;
    sample_finish(&r);
    enum vrs_status status = moment_parse(str_from(text), &moment, &err);
    if (status == VRS_OK)
        status = moment_find(&r, 0, moment, &at, &err);
    if (refusal == NULL) {
        assert_string_equal(err.message, "");
        assert_int_equal(at, event);
    } else {
        assert_int_equal(status, VRS_USAGE);
        assert_memory_equal(err.message, refusal, strlen(refusal));
    }
    recording_free(&r);
}

static void moments_are_found(void **state)
{
    (void)state;
    static const char six[] = "a 9000 5; a a000 9; o 4 4; f a000 9; o 4 4; f 9000 5";
    check_moment(six, "peak", 1, NULL);
    check_moment(six, "start", -1, NULL);
    check_moment(six, "-1", -1, NULL);
    check_moment(six, "end", 5, NULL);
    check_moment(six, "0", 0, NULL);
    check_moment(six, "5", 5, NULL);
    check_moment(six, "oom", 4, NULL);
    check_moment(six, "oom:1", 2, NULL);
    check_moment(six, "oom:2", 4, NULL);
    check_moment(six, "0s", 0, NULL);
    check_moment(six, "1s", 2, NULL);
    check_moment(six, "1.75s", 3, NULL);
    check_moment(six, "99.s", 5, NULL);
    check_moment(six, ".5s", 0, NULL);
    check_moment("", "peak", -1, NULL);
    check_moment("", "end", -1, NULL);
    check_moment(six, "6", 0, "device 3 has events 0 to 5, not 6");
    check_moment("", "0", 0, "device 3 has no events, only its final state");
    check_moment(six, "oom:3", 0, "device 3: out-of-memory events: 2; there is no oom:3");
    check_moment("a 1 1", "oom", 0, "device 3 has no out-of-memory event");
    check_moment("", "1s", 0, "the events of device 3 carry no time");
    static const char *const bad[] = {
        "",       "step:0", "step:", "step:x", "phase:", "phase:lunch",
        "-2",     "oom:0",  "oom:",  "oom:x",  "s",      ".s",
        "1.2.3s", "Peak",   "1e3s",  "12m",    " 1",     "99999999999999999999"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_moment(six, bad[i], 0, "no moment is called \"");
}

/* Of a device of six events: two steps, the second with its peak at event 4; forward until event
 * 2, then backward. */
static void check_in_study_of(bool unended, const char *text, int64_t event, const char *refusal)
{
    struct recording r;
    struct arena arena;
    struct moment moment;
    struct vrs_error err = { .message = "" };
    struct step_boundary boundary[2] = { { .event = 0, .peak_event = 1 },
                                         { .event = 3, .peak_event = 4 } };
    struct phase_interval interval[2] = { { .phase = PHASE_FORWARD, .first_event = 0 },
                                          { .phase = PHASE_BACKWARD, .first_event = 3 } };
    int64_t at = -9;
    sample_init(&r);
    sample_device(&r, 3);
    sample_events(&r, "a 9000 5; a a000 9; f a000 9; a b000 3; a c000 7; f b000 3");
    sample_finish(&r);
    arena_init(&arena, 1 << 20);
    struct study study = { .r = &r,
                           .events = 6,
                           .scratch = &arena,
                           .steps = { .count = unended ? 1 : 2,
                                      .boundary = boundary,
                                      .unended = unended },
                           .phases = { .interval = interval, .intervals = 2 } };
    assert_int_equal(lifetimes_make(&r, 0, &arena, &study.lifetimes, &err), VRS_OK);
    assert_int_equal(moment_parse(str_from(text), &moment, &err), VRS_OK);
    enum vrs_status status = moment_in_study(&study, moment, &at, &err);
    if (refusal == NULL) {
        assert_string_equal(err.message, "");
        assert_int_equal(at, event);
    } else {
        assert_int_equal(status, VRS_USAGE);
        assert_string_equal(err.message, refusal);
    }
    arena_free(&arena);
    recording_free(&r);
}

static void check_in_study(const char *text, int64_t event, const char *refusal)
{
    check_in_study_of(false, text, event, refusal);
}

static void moments_of_steps_and_phases(void **state)
{
    (void)state;
    check_in_study("step:1", 1, NULL);
    check_in_study("step:2", 4, NULL);
    check_in_study("phase:forward", 1, NULL);
    check_in_study("phase:backward", 4, NULL);
    check_in_study("end", 5, NULL);
    check_in_study("step:3", 0, "device 3: complete steps: 2; there is no step:3");
    check_in_study_of(true, "step:2", 4, NULL);
    check_in_study_of(true, "step:3", 0,
                      "device 3: complete steps: 1, and one that did not end; there is no step:3");
    check_in_study("phase:optimizer", 0, "device 3 has no phase \"optimizer\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_found),
        cmocka_unit_test(moments_of_steps_and_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
