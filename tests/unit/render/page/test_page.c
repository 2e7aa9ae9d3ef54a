#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "made/answered.h"
#include "made/fault.h"
#include "render/write/base64.h"
#include "vramscope/snapshot.h"

static void check_base64(const char *bytes, size_t len, const char *text)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    base64_put(&b, bytes, len);
    buf_char(&b, '\0');
    assert_false(b.failed);
    assert_string_equal(b.at, text);
    assert_int_equal(base64_length(len), strlen(text));
    buf_free(&b);
}

/* The vectors of RFC 4648. */
static void bytes_become_letters(void **state)
{
    (void)state;
    check_base64("", 0, "");
    check_base64("f", 1, "Zg==");
    check_base64("fo", 2, "Zm8=");
    check_base64("foo", 3, "Zm9v");
    check_base64("foob", 4, "Zm9vYg==");
    check_base64("\xff\xfe\x00", 3, "//4A");
}

static const char *text;
static uint32_t times; /* that the page has the recording */

/* What was written so far, with a NUL behind it; a page has its program in it. */
static struct {
    char at[1 << 20];
    size_t len;
} page;

static bool write_part(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    if (len >= sizeof page.at - page.len)
        return false;
    memcpy(page.at + page.len, bytes, len);
    page.len += len;
    page.at[page.len] = '\0';
    return true;
}

static const struct vrs_sink sink = { write_part, NULL };

static const struct vrs_view_options *options; /* NULL: all defaults */

static enum vrs_status write_page(void *arg)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *r[2] = { NULL, NULL };
    (void)arg;
    page.len = 0;
    enum vrs_status status = vrs_open_bytes(text, strlen(text), "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &r[0], NULL);
    r[1] = r[0];
    if (status == VRS_OK)
        status = vrs_view(r, times, options, &sink, NULL);
    vrs_close(file);
    return status;
}

/* Where memory that is given back early is only a read, the page is the same. */
static void page_is_whole(void *arg)
{
    assert_string_equal(page.at, arg);
}

enum { STEP = 5 };

/* Of the recording and options that are set; `page` is then the page that nothing failed of. */
static void each_allocation_fails(void)
{
    static char whole[sizeof page.at];
    assert_int_equal(write_page(NULL), VRS_OK);
    memcpy(whole, page.at, page.len + 1);
    fault_some(STEP, write_page, page_is_whole, whole);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    text = recording_of_steps("train.py");
    times = 1;
    each_allocation_fails();
    assert_non_null(strstr(page.at, "<title>run.json"));
    assert_non_null(strstr(page.at, "\"schema\": \"vramscope.view/1\""));
}

/* What was reserved, one segment of 2 MiB, and what was free together, the most of them. */
static void failures_tell_the_least_the_card_has(void **state)
{
    (void)state;
    text = recording_of_tensor("load", "");
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"capacity_bytes\": null"));
    text = recording_of_tensor(
        "load", ", {\"action\": \"oom\", \"size\": 4096, \"stream\": 0, \"frames\": []}"
                ", {\"action\": \"oom\", \"device_free\": 1000, \"size\": 4096, \"frames\": []}"
                ", {\"action\": \"oom\", \"device_free\": 9007199254740991, \"size\": 1,"
                " \"frames\": []}"
                ", {\"action\": \"oom\", \"device_free\": 24, \"size\": 4096, \"frames\": []}");
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"capacity_bytes\": 2098152,"));
}

/* Where one line calls two that hold all of it, they are told apart by what it called. */
static void the_answer_says_how_holders_are_grouped(void **state)
{
    (void)state;
    static const char called[] =
        "{\"action\": \"alloc\", \"addr\": %d, \"size\": 1048576, \"frames\": ["
        "{\"name\": \"f\", \"filename\": \"/usr/lib/python3/site-packages/lib/a.py\","
        " \"line\": %d},"
        "{\"name\": \"main\", \"filename\": \"/home/u/train.py\", \"line\": 7}]}";
    char json[2048], first[512], second[512];
    text = recording_of_tensor("load", "");
    times = 1;
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"by\": \"line\""));
    snprintf(first, sizeof first, called, 4096, 1);
    snprintf(second, sizeof second, called, 2097152, 2);
    snprintf(json, sizeof json, "{\"segments\": [], \"device_traces\": [[%s, %s]]}", first,
             second);
    text = json;
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"by\": \"owner\""));
}

/* The tensor, and what the process said of it in the key of ours. */
static const char *recording_of_a_name(void)
{
    static char json[1 << 14];
    const char *plain = recording_of_tensor("load", "");
    size_t len = strlen(plain) - 1;
    assert_true(len < sizeof json / 2);
    memcpy(json, plain, len);
    snprintf(json + len, sizeof json - len, "%s",
             ", \"vramscope\": {\"schema\": \"vramscope.extra/1\", \"names\": {\"tensors\": ["
             "{\"device\": 0, \"address\": 4096, \"bytes\": 1000, \"kind\": \"parameter\","
             " \"name\": \"model.0.weight\", \"shape\": [10, 25], \"dtype\": \"float32\","
             " \"of\": \"Model\", \"shared\": [\"head.weight\"]}]}}}");
    return json;
}

/* Names are in the page of a recording that has them, and in no other. */
static void every_allocation_of_names_may_fail(void **state)
{
    (void)state;
    static const char tables[] = "\"tensor_string\": {\n";
    text = recording_of_a_name();
    times = 1;
    each_allocation_fails();
    assert_non_null(strstr(page.at, tables));
    assert_non_null(strstr(page.at, "\"tensor\": {\n      \"rows\": 2,"));
    text = recording_of_tensor("load", "");
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_null(strstr(page.at, tables));
    assert_null(strstr(page.at, "\"tensor\": {"));
}

/* Two recordings are also compared. */
static void every_allocation_of_two_may_fail(void **state)
{
    (void)state;
    text = recording_of_tensor("load", "");
    times = 2;
    each_allocation_fails();
    assert_non_null(strstr(page.at, "\"keyless\""));
    assert_non_null(strstr(page.at, "\"skew_ratio\": 1.000000"));
}

static char noted[256];

static void note(void *arg, const char *line)
{
    (void)arg;
    size_t len = strlen(line);
    assert_true(len < sizeof noted);
    memcpy(noted, line, len + 1);
}

/* It says what it goes without; that may have no memory either. */
static void every_allocation_of_a_small_one_may_fail(void **state)
{
    (void)state;
    struct vrs_view_options small = {
        .size = sizeof small, .most_bytes = 1, .may_be_larger = true, .note = note
    };
    text = recording_of_steps("train.py");
    times = 1;
    options = &small;
    each_allocation_fails();
    options = NULL;
    assert_null(strstr(page.at, "\"left_out\": []"));
    assert_non_null(strstr(noted, "the page goes without "));
    assert_non_null(strstr(noted, "no allocation of these events is left out"));
}

/* Of so many events, all different, that fewer of them are a smaller page. */
static const char *recording_of_noise(void)
{
    enum { ALLOCS = 120 };
    static char json[ALLOCS * 256];
    size_t len = 0;
    uint32_t noise = 1, time = 0;
    len += (size_t)snprintf(json, sizeof json, "{\"segments\": [], \"device_traces\": [[");
    for (uint32_t i = 0; i < 2 * ALLOCS; i++) {
        noise = noise * 1664525 + 1013904223;
        time += noise >> 10;
        len += (size_t)snprintf(json + len, sizeof json - len,
                                "%s{\"action\": \"%s\", \"addr\": %u, \"size\": %u,"
                                " \"stream\": 0, \"time_us\": %u, \"frames\": []}",
                                i == 0 ? "" : ", ", i < ALLOCS ? "alloc" : "free_completed",
                                1000000 + (i * 7 % ALLOCS) * 1000000,
                                512 + i * 7 % ALLOCS * (i * 7 % ALLOCS) * 512, (unsigned)time);
    }
    len += (size_t)snprintf(json + len, sizeof json - len, "]]}");
    assert_true(len < sizeof json);
    return json;
}

static bool is_narrowed(void)
{
    return strstr(noted, "around the peak") != NULL && strstr(noted, "sizes of blocks") == NULL;
}

/* The same where a window is chosen. */
static void every_allocation_of_a_narrow_one_may_fail(void **state)
{
    (void)state;
    struct vrs_view_options narrow = { .size = sizeof narrow, .note = note };
    text = recording_of_noise();
    times = 1;
    options = &narrow;
    assert_int_equal(write_page(NULL), VRS_OK);
    noted[0] = '\0';
    for (narrow.most_bytes = page.len - 1; !is_narrowed(); narrow.most_bytes -= 100)
        assert_int_equal(write_page(NULL), VRS_OK);
    narrow.most_bytes += 100;
    each_allocation_fails();
    options = NULL;
    assert_true(page.len <= narrow.most_bytes);
    assert_non_null(strstr(page.at, "\"window\": { \"first\": "));
}

/* The same for a page of some events. */
static void every_allocation_of_some_events_may_fail(void **state)
{
    (void)state;
    struct vrs_view_options some = {
        .size = sizeof some, .from = "3", .to = "9", .most_bytes = 1, .may_be_larger = true
    };
    text = recording_of_steps("train.py");
    times = 1;
    options = &some;
    each_allocation_fails();
    options = NULL;
    assert_non_null(strstr(page.at, "\"window\": { \"first\": 4, \"last\": 10,"));
}

/* Of one file alone. */
static size_t line_text(const void *arg, const char *file, uint32_t line, char *to, size_t room)
{
    assert_true(room > 5 && line == 7);
    memcpy(to, "x = 7", 5);
    return strcmp(file, arg) == 0 ? 5 : 0;
}

static void every_allocation_of_texts_of_lines_may_fail(void **state)
{
    (void)state;
    struct vrs_view_options told = { .size = sizeof told,
                                     .line_text = line_text,
                                     .line_text_arg = "/home/user/keep.py" };
    text = recording_of_steps("train.py");
    times = 1;
    assert_int_equal(write_page(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "\"source\": []"));
    options = &told;
    each_allocation_fails();
    options = NULL;
    assert_non_null(strstr(page.at, "\"file\": \"/home/user/keep.py\", \"line\": 7,"
                                    " \"text\": \"x = 7\" }"));
    assert_null(strstr(strstr(page.at, "x = 7") + 1, "x = 7"));
}

static void every_allocation_of_what_was_not_read_may_fail(void **state)
{
    (void)state;
    static const struct vrs_unread_file unread[] = {
        { "ranks/<b>.pickle", "entry a: \"b\"" },
        { "a/run.json", "\xff" }, /* one folder more tells it from what was read */
    };
    struct vrs_view_options some = { .size = sizeof some, .unread = unread, .unreads = 2 };
    text = recording_of_steps("train.py");
    times = 1;
    options = &some;
    each_allocation_fails();
    options = NULL;
    assert_non_null(strstr(page.at, "NOT READ &lt;b&gt;.pickle: entry a: &quot;b&quot;\n"
                                    "NOT READ a/run.json: "));
    assert_non_null(strstr(page.at, "{ \"file\": \"\\u003cb\\u003e.pickle\", \"why\": "
                                    "\"entry a: \\\"b\\\"\" }"));
}

static void a_page_needs_a_recording(void **state)
{
    (void)state;
    struct vrs_error err;
    assert_int_equal(vrs_view(NULL, 0, NULL, &sink, &err), VRS_USAGE);
}

static struct vrs_error why = { VRS_CORRUPT, UINT64_MAX, "no \"snapshot\" & no\nlist" };

static enum vrs_status write_unread(void *arg)
{
    (void)arg;
    page.len = 0;
    return vrs_view_unread("<b>.json", &why, text, &sink, NULL);
}

static bool refuse_part(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
    return false;
}

/* Nothing of a stranger's file becomes markup. */
static void a_page_that_is_not_made_says_why(void **state)
{
    (void)state;
    text = "./?a&b";
    fault_each(write_unread, NULL, NULL);
    assert_non_null(strstr(page.at, "<p><bdi>&lt;b&gt;.json</bdi>: no &quot;snapshot&quot; &amp; no"
                                    "\\x0alist</p><p><a href=\"./?a&amp;b\">all files</a></p>"));
    text = NULL;
    assert_int_equal(write_unread(NULL), VRS_OK);
    assert_null(strstr(page.at, "<a "));
    why.offset = 7;
    assert_int_equal(write_unread(NULL), VRS_OK);
    assert_non_null(strstr(page.at, "</bdi>: byte 7: no &quot;snapshot"));
    const struct vrs_sink refusing = { refuse_part, NULL };
    struct vrs_error err;
    assert_int_equal(vrs_view_unread("a", &why, NULL, &refusing, &err), VRS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_letters),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_names_may_fail),
        cmocka_unit_test(failures_tell_the_least_the_card_has),
        cmocka_unit_test(the_answer_says_how_holders_are_grouped),
        cmocka_unit_test(every_allocation_of_two_may_fail),
        cmocka_unit_test(every_allocation_of_a_small_one_may_fail),
        cmocka_unit_test(every_allocation_of_a_narrow_one_may_fail),
        cmocka_unit_test(every_allocation_of_some_events_may_fail),
        cmocka_unit_test(every_allocation_of_texts_of_lines_may_fail),
        cmocka_unit_test(every_allocation_of_what_was_not_read_may_fail),
        cmocka_unit_test(a_page_needs_a_recording),
        cmocka_unit_test(a_page_that_is_not_made_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
