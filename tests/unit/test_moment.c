#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/moment.h"
#include "sample.h"

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
    check_moment("a 1 1", "oom", 0, "device 3 ran out of memory at no recorded event");
    check_moment("", "1s", 0, "the events of device 3 carry no time");
    static const char *const bad[] = {
        "",   "step:1", "-1",   "oom:0", "oom:", "oom:x", "s",
        ".s", "1.2.3s", "Peak", "1e3s",  "12m",  " 1",    "99999999999999999999"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_moment(six, bad[i], 0, "no moment is called \"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
