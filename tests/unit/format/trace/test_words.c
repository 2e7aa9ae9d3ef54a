#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "format/trace/words.h"
#include "model/trace.h"

static void check_key(const char *text, enum trace_key wanted)
{
    if (trace_key_of(str_from(text)) != wanted)
        fail_msg("%s is key %d", text, (int)trace_key_of(str_from(text)));
}

static void keys_are_known_by_their_spelling(void **state)
{
    (void)state;
    check_key("traceEvents", KEY_TRACE_EVENTS);
    check_key("deviceProperties", KEY_DEVICE_PROPERTIES);
    check_key("ph", KEY_PH);
    check_key("ts", KEY_TS);
    check_key("tid", KEY_TID);
    check_key("pid", KEY_PID);
    check_key("External id", KEY_EXTERNAL_ID);
    check_key("external id", KEY_EXTERNAL_ID_LOWER);
    check_key("Bytes", KEY_BYTES);
    check_key("bytes", KEY_BYTES_LOWER);
    check_key("Total Allocated", KEY_TOTAL_ALLOCATED);
    check_key("backend", KEY_BACKEND);
    check_key("", KEY_OTHER);
    check_key("p", KEY_OTHER);
    check_key("phh", KEY_OTHER);
    check_key("Ph", KEY_OTHER);
    check_key("traceEvent", KEY_OTHER);
    check_key("External ID", KEY_OTHER);
    check_key("Input Dims", KEY_INPUT_DIMS);
    check_key("Input type", KEY_OTHER);
    assert_int_equal(trace_key_of((str){ "ts\0", 3 }), KEY_OTHER);
}

static void check_kind(const char *category, enum span_kind wanted)
{
    if (trace_kind_of(str_from(category)) != wanted)
        fail_msg("%s is a %s", category, span_kind_name(trace_kind_of(str_from(category))));
}

static void categories_have_kinds(void **state)
{
    (void)state;
    check_kind("cpu_op", SPAN_OP);
    check_kind("operator", SPAN_OP);
    check_kind("user_annotation", SPAN_ANNOTATION);
    check_kind("gpu_user_annotation", SPAN_GPU_ANNOTATION);
    check_kind("kernel", SPAN_KERNEL);
    check_kind("gpu_memcpy", SPAN_MEMCPY);
    check_kind("memcpy", SPAN_MEMCPY);
    check_kind("gpu_memset", SPAN_MEMSET);
    check_kind("memset", SPAN_MEMSET);
    check_kind("runtime", SPAN_RUNTIME);
    check_kind("cuda_runtime", SPAN_RUNTIME);
    check_kind("mtia_runtime", SPAN_RUNTIME);
    check_kind("driver", SPAN_DRIVER);
    check_kind("cuda_driver", SPAN_DRIVER);
    check_kind("xpu_driver", SPAN_DRIVER);
    check_kind("python_function", SPAN_PYTHON);
    check_kind("python", SPAN_PYTHON);
    check_kind("cuda_sync", SPAN_SYNC);
    check_kind("cuda_event", SPAN_CUDA_EVENT);
    check_kind("overhead", SPAN_OVERHEAD);
    check_kind("trace", SPAN_WINDOW);
    check_kind("", SPAN_OTHER);
    check_kind("async", SPAN_OTHER);
    check_kind("Kernel", SPAN_OTHER); /* the caller makes it lower case */
    check_kind("runtime_", SPAN_OTHER);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    for (int kind = 0; kind < SPAN_KINDS; kind++)
        assert_non_null(span_kind_name((enum span_kind)kind));
    assert_true(span_is_work(SPAN_KERNEL) && span_is_work(SPAN_MEMCPY) &&
                span_is_work(SPAN_MEMSET));
    assert_false(span_is_work(SPAN_OP));
    assert_true(span_is_call(SPAN_RUNTIME) && span_is_call(SPAN_DRIVER));
    assert_true(span_is_range(SPAN_OP) && span_is_range(SPAN_ANNOTATION));
    assert_false(span_is_range(SPAN_GPU_ANNOTATION));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_known_by_their_spelling),
        cmocka_unit_test(categories_have_kinds),
        cmocka_unit_test(every_kind_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
