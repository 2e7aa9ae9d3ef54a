/* Traces cut at every byte: the events before the cut are kept, and where it is gets told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/trace.h"

static const char small[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"T4\"}], "
    "\"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\\u00e4\\n\\ud83d\\ude00\", \"pid\": 1, "
    "\"tid\": \"2\", "
    "\"ts\": 5.25, \"dur\": 3e1, \"args\": {\"External id\": 7, \"Input Dims\": [[2, {}], "
    "\"x\"]}},\n"
    "{\"ph\": \"s\", \"id\": 1, \"ts\": 6, \"cat\": \"ac2g\"}, {\"ph\": \"i\", \"name\": "
    "\"[memory]\", \"ts\": 7, "
    "\"args\": {\"Bytes\": -5, \"Addr\": 99}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"\xc3\xa9\", \"ts\": 8, \"dur\": null, \"x\": "
    "true},\n"
    "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"python\"}}\n"
    "], \"traceName\": \"x.json\", \"with_stack\": 1}";

/* Before the first event is whole there is nothing to keep; of blanks nobody knows what they are.
 */
static void check_nothing(const struct text_trace *r, const char *text, size_t len)
{
    bool is_blank = len > 0 && strspn(text, " \n") >= len;
    if (r->status != (is_blank ? VRS_UNSUPPORTED : VRS_CORRUPT) || r->err.message[0] == 0)
        fail_msg("cut at %zu: status %d: %s", len, (int)r->status, r->err.message);
}

static void check_prefix(const struct trace *t, const struct trace *whole, size_t len)
{
    if (!trace_begins(t, whole))
        fail_msg("cut at %zu: what is kept is no beginning of the whole", len);
    const struct damage *d = &t->damage[DAMAGE_TRUNCATED];
    if (d->count != 1 || d->first_offset != len || t->read_bytes != len)
        fail_msg("cut at %zu: %d cuts, the first at %d", len, (int)d->count, (int)d->first_offset);
}

/* Cuts behind each `stride` bytes, the first and the last ones included. */
static void check_cuts(str text, size_t stride)
{
    struct text_trace whole;
    text_trace_read(text.ptr, text.len, 0, &default_limits, &whole);
    assert_int_equal(whole.status, VRS_OK);
    assert_int_equal(whole.trace.damage[DAMAGE_TRUNCATED].count, 0);
    uint64_t events = 0;
    for (size_t len = 0; len < text.len; len += len < 1000 || text.len - len <= 1000 ? 1 : stride) {
        struct text_trace r;
        text_trace_read(text.ptr, len, len % 3, &default_limits, &r);
        if (r.status != VRS_OK) {
            assert_int_equal(events, 0);
            check_nothing(&r, text.ptr, len);
            continue;
        }
        check_prefix(&r.trace, &whole.trace, len);
        assert_true(r.trace.events >= events && r.trace.events <= events + stride);
        events = r.trace.events;
        text_trace_free(&r);
    }
    assert_int_equal(events, whole.trace.events);
    text_trace_free(&whole);
}

static void a_small_trace_may_end_anywhere(void **state)
{
    (void)state;
    check_cuts((str){ small, sizeof small - 1 }, 1);
    const char *list = strchr(small, '[') + 1;
    list = strchr(list, '[');
    check_cuts((str){ list, (size_t)(strrchr(list, ']') + 1 - list) }, 1);
}

/* How many events are kept is told by where each of them ends. */
static void each_event_is_kept_as_soon_as_it_is_whole(void **state)
{
    (void)state;
    uint64_t wanted = 0;
    const char *end = small;
    for (; (end = strstr(end, "},")) != NULL; end++) {
        /* Those of events, and not of what is in them: another one follows. */
        if (strncmp(end, "},\n{", 4) != 0 && strncmp(end, "}, {\"ph\"", 8) != 0)
            continue;
        struct text_trace before, after;
        text_trace_read(small, (size_t)(end - small), 0, &default_limits, &before);
        text_trace_read(small, (size_t)(end - small) + 1, 0, &default_limits, &after);
        assert_int_equal(before.status, wanted == 0 ? VRS_CORRUPT : VRS_OK);
        assert_int_equal(after.status, VRS_OK);
        assert_int_equal(after.trace.events, ++wanted);
        text_trace_free(&before);
        text_trace_free(&after);
    }
    assert_int_equal(wanted, 4);
}

/* A file of the folder with real ones, unpacked; gzread takes what is not packed as it is. */
static struct buf real_trace(const char *name)
{
    char path[1000], portion[4096];
    struct buf text;
    buf_init(&text, 16 << 20);
    snprintf(path, sizeof path, "%s/data/traces/%s", getenv("VRAMSCOPE_TEST_SHARED"), name);
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    int got;
    while ((got = gzread(file, portion, sizeof portion)) > 0)
        buf_bytes(&text, portion, (size_t)got);
    gzclose(file);
    assert_false(text.failed);
    while (text.at[text.len - 1] == '\n')
        text.len--; /* a file without them is whole */
    return text;
}

static void real_traces_may_end_anywhere(void **state)
{
    (void)state;
    static const char *const names[] = { "backward_thread_mini.json",
                                         "minitoy_mi250_rocm62.json.gz" };
    size_t stride = getenv("VRAMSCOPE_TEST_LONG") != NULL ? 1 : 97;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf text = real_trace(names[i]);
        check_cuts(buf_slice(&text), i == 0 ? 1 : stride);
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_trace_may_end_anywhere),
        cmocka_unit_test(each_event_is_kept_as_soon_as_it_is_whole),
    };
    const struct CMUnitTest with_real_ones[] = {
        cmocka_unit_test(a_small_trace_may_end_anywhere),
        cmocka_unit_test(each_event_is_kept_as_soon_as_it_is_whole),
        cmocka_unit_test(real_traces_may_end_anywhere),
    };
    if (getenv("VRAMSCOPE_TEST_SHARED") != NULL)
        return cmocka_run_group_tests(with_real_ones, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
