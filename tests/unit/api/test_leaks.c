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
    struct asking asking = { .recording = recording_of_steps("gc_collect"), .ask = ask };
    const char *text = answered(&asking);
    assert_non_null(
        strstr(text, "2.00 KiB a step at keep.py:7 keep; 8.00 KiB from 4 steps are alive"));
    assert_non_null(strstr(text, "\"class\": \"leak\""));
    assert_non_null(strstr(text, "\"boundary_bytes\": [0, 2048, 4096, 6144, 8192]"));
    assert_non_null(strstr(text, "\"gc_hint\": { \"kind\": \"collector_frames\""));
    assert_non_null(strstr(text, "\"steps_to_full\": 506"));
    assert_non_null(strstr(text, "\"schema\": \"vramscope.steps/1\""));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct asking asking = { .recording = recording_of_steps("gc_collect"), .ask = ask };
    answered_without_memory(&asking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leak_is_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
