#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "render/answer/terminal_chart.h"
#include "render/write/human.h"

enum { STATES = 1000 };

static struct buf text;

static const char *area(const struct terminal_chart *picture, uint32_t width, bool ascii)
{
    struct style style = { .width = width, .ascii = ascii };
    buf_init(&text, 1 << 16);
    chart_area(&text, &style, picture);
    buf_char(&text, '\0');
    return text.at;
}

static void the_area_has_eight_rows_and_axes(void **state)
{
    (void)state;
    const int64_t requested[] = { 0, 512, 1024, 256 }, reserved[] = { 1024, 1024, 1024, 1024 };
    const int64_t oom[] = { 2 };
    struct terminal_chart p = {
        .requested = requested,
        .reserved = reserved,
        .spans = 4,
        .states = 4,
        .peak_event = 1,
        .oom_event = oom,
        .ooms = 1,
        .duration_us = 1500,
    };
    assert_string_equal(area(&p, 34, true), "                        v peak\n"
                                            "                             v OOM\n"
                                            "   1.00 KiB |'''''''''''#####'''''\n"
                                            "            |'''''''''''#####'''''\n"
                                            "            |'''''''''''#####'''''\n"
                                            "            |'''''''''''#####'''''\n"
                                            "      512 B |''''''##########'''''\n"
                                            "            |''''''##########'''''\n"
                                            "            |''''''###############\n"
                                            "        0 B |''''''###############\n"
                                            "             event 0 2, after 1.5 ms\n");
    buf_free(&text);
}

/* A spike of one state must be seen at any width, in the column of its flag. */
static void a_spike_is_never_lost(void **state)
{
    (void)state;
    static int64_t requested[STATES], reserved[STATES];
    for (uint32_t i = 0; i < STATES; i++)
        reserved[i] = 1 << 20;
    for (uint32_t width = 34; width < 300; width += 7) {
        for (uint32_t at = 1; at < STATES; at += 53) {
            memset(requested, 0, sizeof requested);
            requested[at] = 1 << 20;
            struct terminal_chart p = {
                .requested = requested,
                .reserved = reserved,
                .spans = STATES,
                .states = STATES,
                .peak_event = (int64_t)at - 1,
                .duration_us = UINT64_MAX,
            };
            const char *flags = area(&p, width, true);
            const char *top = strchr(flags, '\n') + 1;
            const char *spike = strchr(top, '#');
            const char *flag = strchr(flags, 'v');
            assert_non_null(spike);
            assert_int_equal(flag - flags, spike - top);
            buf_free(&text);
        }
    }
}

static void little_is_not_nothing(void **state)
{
    (void)state;
    const int64_t requested[] = { 0, 1, INT64_C(1) << 40, -5 }, reserved[4] = { 0 };
    struct terminal_chart p = {
        .requested = requested, .reserved = reserved, .spans = 4, .states = 4
    };
    struct style style = { .width = 80, .ascii = true };
    buf_init(&text, 1 << 12);
    chart_line(&text, &style, &p, 4);
    buf_char(&text, '\0');
    assert_string_equal(text.at, " .# ");
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_area_has_eight_rows_and_axes),
        cmocka_unit_test(a_spike_is_never_lost),
        cmocka_unit_test(little_is_not_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
