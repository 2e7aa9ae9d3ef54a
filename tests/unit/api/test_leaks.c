/* test_leaks.c - from bytes to the answers of leaks and steps, with every allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made/answered.h"
#include "vramscope/snapshot.h"

static enum vrs_status ask(const struct vrs_recording *r, struct vrs_result *to[ANSWERS_MOST])
{
    struct vrs_leaks_options options = { .size = sizeof options, .capacity_bytes = 1 << 20 };
    enum vrs_status status = vrs_leaks(r, &options, &to[0], NULL);
    return status == VRS_OK ? vrs_steps(r, NULL, &to[1], NULL) : status;
}

static void the_leak_is_found(void **state)
{
    (void)state;
    struct asking asking = { .recording = recording_of_marked_steps("gc_collect"), .ask = ask };
    const char *text = answered(&asking);
    assert_non_null(
        strstr(text, "2.00 KiB a step at keep.py:7 keep; 10.00 KiB from 5 steps are alive"));
    assert_non_null(strstr(text, "\"class\": \"leak\""));
    assert_non_null(strstr(text, "\"boundary_bytes\": [0, 2048, 4096, 6144, 8192, 10240]"));
    assert_non_null(strstr(text, "\"gc_hint\": { \"kind\": \"collector_frames\""));
    assert_non_null(strstr(text, "\"steps_to_full\": 506"));
    assert_non_null(strstr(text, "\"schema\": \"vramscope.steps/1\""));
}

/* What repeats may be layers: where nothing else tells steps, nothing is more than a suspect. */
static void repetition_makes_no_leak(void **state)
{
    (void)state;
    struct asking asking = { .recording = recording_of_steps("work"), .ask = ask };
    const char *text = answered(&asking);
    assert_non_null(strstr(text, "perhaps 2.00 KiB a step at keep.py:7 keep"));
    assert_non_null(strstr(text, "\"class\": \"suspect\""));
    assert_null(strstr(text, "\"class\": \"leak\""));
    assert_non_null(strstr(text, "\"steps_to_full\": null"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct asking asking = { .recording = recording_of_marked_steps("gc_collect"), .ask = ask };
    answered_without_memory(&asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leak_is_found),
        cmocka_unit_test(repetition_makes_no_leak),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
