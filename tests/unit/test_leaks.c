/* test_leaks.c - from bytes to the answers of leaks and steps, with every allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vramscope/vramscope.h>

#include "fault.h"

enum { STEPS = 5, BLOCK = 2048 };

static char recording_text[1 << 16];

static size_t add(size_t at, const char *format, ...) __attribute__((format(printf, 2, 3)));
static size_t add(size_t at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int len = vsnprintf(recording_text + at, sizeof recording_text - at, format, list);
    va_end(list);
    assert_true(len > 0 && at + (size_t)len < sizeof recording_text);
    return at + (size_t)len;
}

/* Each step computes something and keeps one block more; the last line frees under the collector's
 * frame. */
static size_t make_recording(void)
{
    static const char frames[] =
        "[{\"name\": \"%s\", \"filename\": \"/home/user/%s.py\", \"line\": 7}]";
    size_t at = add(0,
                    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152,"
                    " \"allocated_size\": %d, \"active_size\": %d, \"requested_size\": %d,"
                    " \"stream\": 0, \"segment_type\": \"small\", \"blocks\": [",
                    STEPS * BLOCK, STEPS * BLOCK, STEPS * BLOCK);
    for (int i = 0; i < STEPS; i++)
        at = add(at,
                 "{\"address\": %d, \"size\": 2048, \"requested_size\": 2048,"
                 " \"state\": \"active_allocated\", \"frames\": []}, ",
                 4096 + i * BLOCK);
    at = add(at,
             "{\"address\": %d, \"size\": %d, \"requested_size\": 0, \"state\": \"inactive\","
             " \"frames\": []}]}], \"device_traces\": [[{\"action\": \"segment_alloc\","
             " \"addr\": 4096, \"size\": 2097152, \"stream\": 0, \"frames\": []}",
             4096 + STEPS * BLOCK, 2097152 - STEPS * BLOCK);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 3; k++) {
            static const char *const places[] = { "load", "keep", "work" };
            int address = 4096 + BLOCK * (k == 1 ? i : i + k + 1);
            at = add(at,
                     ", {\"action\": \"alloc\", \"addr\": %d, \"size\": 2048, \"stream\": 0,"
                     " \"frames\": ",
                     address);
            at = add(at, frames, places[k], places[k]);
            at = add(at, "}");
            if (k == 1)
                continue;
            for (int done = 0; done < 2; done++) {
                at = add(at,
                         ", {\"action\": \"%s\", \"addr\": %d, \"size\": 2048, \"stream\": 0,"
                         " \"frames\": ",
                         done ? "free_completed" : "free_requested", address);
                at = add(at, frames, "gc_collect", "work");
                at = add(at, "}");
            }
        }
    return add(at, "]]}");
}

struct sink_text {
    char at[1 << 16];
    size_t len;
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct sink_text *t = arg;
    if (len > sizeof t->at - 1 - t->len)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return true;
}

static enum vrs_status write_both(const struct vrs_result *result, struct sink_text *text)
{
    struct vrs_sink sink = { take, text };
    struct vrs_write_options json = { .size = sizeof json, .format = VRS_JSON };
    enum vrs_status status = vrs_write(result, NULL, &sink, NULL);
    return status == VRS_OK ? vrs_write(result, &json, &sink, NULL) : status;
}

/* The whole way; frees whatever it got. */
static enum vrs_status whole_way(size_t len, struct sink_text *text)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_result *leaks = NULL, *steps = NULL;
    struct vrs_leaks_options options = { .size = sizeof options, .capacity_bytes = 1 << 20 };
    enum vrs_status status = vrs_open_bytes(recording_text, len, "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &recording, NULL);
    if (status == VRS_OK)
        status = vrs_leaks(recording, &options, &leaks, NULL);
    if (status == VRS_OK)
        status = vrs_steps(recording, NULL, &steps, NULL);
    vrs_close(file);
    if (status == VRS_OK)
        status = write_both(leaks, text);
    if (status == VRS_OK)
        status = write_both(steps, text);
    vrs_result_free(leaks);
    vrs_result_free(steps);
    return status;
}

static void the_leak_is_found(void **state)
{
    (void)state;
    static struct sink_text text;
    text.len = 0;
    assert_int_equal(whole_way(make_recording(), &text), VRS_OK);
    assert_non_null(strstr(text.at, "2.00 KiB a step at keep.py:7 keep, alive from 4 steps"));
    assert_non_null(strstr(text.at, "\"class\": \"leak\""));
    assert_non_null(strstr(text.at, "\"boundary_bytes\": [0, 2048, 4096, 6144, 8192]"));
    assert_non_null(strstr(text.at, "\"gc_hint\": { \"kind\": \"collector_frames\""));
    assert_non_null(strstr(text.at, "\"steps_to_full\": 506"));
    assert_non_null(strstr(text.at, "\"schema\": \"vramscope.steps/1\""));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct sink_text whole, text;
    size_t len = make_recording();
    whole.len = 0;
    assert_int_equal(whole_way(len, &whole), VRS_OK);
    for (long n = 0;; n++) {
        text.len = 0;
        fault_left = n;
        enum vrs_status status = whole_way(len, &text);
        bool fired = fault_left < 0;
        fault_left = -1;
        if (!fired) {
            assert_int_equal(status, VRS_OK);
            return;
        }
        assert_true(status == VRS_NOMEM || status == VRS_OK);
        if (status == VRS_OK)
            assert_string_equal(text.at, whole.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leak_is_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
