#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "format/html.h"
#include "format/input/window.h"
#include "made/dribble.h"
#include "made/fault.h"

/* Appends a line for each entry of the page: its name, "=", its bytes. */
static enum vrs_status list_entries(struct html *h, struct buf *to, struct vrs_error *err)
{
    bool found = true;
    struct buf bytes;
    buf_init(&bytes, 1 << 20);
    enum vrs_status status = VRS_OK;
    for (uint32_t n = 0; status == VRS_OK && found; n++) {
        status = html_next(h, &found, err);
        if (status == VRS_OK && n > 0) {
            buf_str(to, html_name(h));
            buf_char(to, '=');
            buf_str(to, buf_slice(&bytes));
            buf_char(to, '\n');
        }
        bytes.len = 0;
        size_t got = status == VRS_OK && found;
        while (got > 0 && status == VRS_OK) {
            uint8_t some[5];
            status = source_of_html(h).read(h, some, sizeof some, &got, err);
            if (status == VRS_OK)
                buf_bytes(&bytes, some, got);
        }
        if (status == VRS_OK && found && h->cut)
            buf_text(to, "cut:");
    }
    if (status == VRS_OK && (bytes.failed || to->failed))
        status = vrs_no_memory(err);
    buf_free(&bytes);
    return status;
}

static enum vrs_status read_page(const char *page, size_t step, struct buf *to,
                                 struct vrs_error *err)
{
    struct dribble d = { .at = (const uint8_t *)page, .left = strlen(page), .step = step };
    struct window w;
    struct html h;
    enum vrs_status status = window_init(&w, dribble_source(&d), err);
    if (status != VRS_OK)
        return status;
    html_init(&h, &w);
    status = list_entries(&h, to, err);
    html_free(&h);
    window_free(&w);
    return status;
}

static void check(const char *page, const char *wanted)
{
    for (size_t step = 0; step < 5; step++) {
        struct buf found;
        struct vrs_error err = { .message = "" };
        buf_init(&found, 1 << 20);
        if (read_page(page, step, &found, &err) != VRS_OK)
            fail_msg("%s: %s", page, err.message);
        buf_char(&found, '\0');
        assert_string_equal(found.at, wanted);
        buf_free(&found);
    }
}

/* The place of the failure is marked by a caret in the page, which is taken out. */
static void check_corrupt(const char *marked)
{
    char page[200];
    size_t caret = strcspn(marked, "^");
    snprintf(page, sizeof page, "%.*s%s", (int)caret, marked, marked + caret + 1);
    for (size_t step = 0; step < 5; step++) {
        struct buf found;
        struct vrs_error err;
        buf_init(&found, 1 << 20);
        assert_int_equal(read_page(page, step, &found, &err), VRS_CORRUPT);
        assert_int_equal(err.offset, caret);
        buf_free(&found);
    }
}

static void entries_are_found(void **state)
{
    (void)state;
    check("", "");
    check("<html>no entry \"base64\" here", "");
    check("[{\"name\": \"a\", \"base64\": \"aGVsbG8=\"}]", "a=hello\n");
    check("[{\"name\":\"a\",\"base64\":\"aGVsbG8=\"},{\"name\":\"b\",\"base64\":\"Zg==\"}]",
          "a=hello\nb=f\n");
    check("{ \"base64\" \n:\t \"\" }", "=\n");
    check("it's \"odd { \"base64\": \"Zm9v\"", "=foo\n");
}

static void the_name_may_stand_behind(void **state)
{
    (void)state;
    check("[{\"base64\": \"Zm9v\", \"name\": \"x\"}, {\"base64\": \"Zg==\"}]", "x=foo\n=f\n");
    check("{\"base64\": \"Zm9v\"} {\"name\": \"other\"}", "=foo\n");
}

static void a_name_belongs_to_its_own_object(void **state)
{
    (void)state;
    check("{\"name\": \"a\"}, {\"base64\": \"Zm9v\"}", "=foo\n");
    check("{\"name\": \"a\", \"more\": {\"x\": 1}, \"base64\": \"Zm9v\"}", "a=foo\n");
}

static void names_have_escapes(void **state)
{
    (void)state;
    check("{\"name\": \"a}\\\"\\u00e4{\", \"base64\": \"Zm9v\"}", "a}\"\xc3\xa4{=foo\n");
}

static void names_have_a_limit(void **state)
{
    (void)state;
    char page[2 * HTML_NAME_BYTES], wanted[2 * HTML_NAME_BYTES], name[HTML_NAME_BYTES + 2];
    memset(name, 'n', sizeof name);
    snprintf(page, sizeof page, "{\"name\": \"%.*s\", \"base64\": \"Zg==\"}", HTML_NAME_BYTES,
             name);
    snprintf(wanted, sizeof wanted, "%.*s=f\n", HTML_NAME_BYTES, name);
    check(page, wanted);
    snprintf(page, sizeof page, "{\"name\": \"%.*s\", \"base64\": \"Zg==\"}", HTML_NAME_BYTES + 1,
             name);
    check(page, "=f\n");
}

static void base64_may_have_escapes(void **state)
{
    (void)state;
    check("{\"base64\": \"\\/\\/\\u002F/\"}", "=\xff\xff\xff\n");
    check("{\"base64\": \"\\u002b+++\"}", "=\xfb\xef\xbe\n");
    check("{\"base64\": \"Zm\\n9 v\\r\\n\"}", "=foo\n");
    check("{\"base64\": \"Zg\"}", "=f\n");
    check("{\"base64\": \"Zm8\"}", "=fo\n");
}

static void a_string_without_its_end_is_cut(void **state)
{
    (void)state;
    check("{\"base64\": \"Zm9vZm", "cut:=foof\n");
    check("{\"base64\": \"Zm9vZ", "cut:=foo\n");
    check("{\"base64\": \"", "cut:=\n");
    check("{\"base64\": \"Zm9v\\", "cut:=foo\n");
}

static void what_is_not_base64_is_corrupt(void **state)
{
    (void)state;
    check_corrupt("{\"base64\": \"Zm9^!\"}");
    check_corrupt("{\"base64\": \"Zm9v^}");
    check_corrupt("{\"base64\": \"Z^=\"}");
    check_corrupt("{\"base64\": \"Z^\"}");
    check_corrupt("{\"base64\": \"Zg==^Zg==\"}");
    check_corrupt("{\"base64\": \"Zm9v^\\x\"}");
    check_corrupt("{\"base64\": \"Zm9v^\\u0041\"}");
}

static void an_entry_may_be_skipped(void **state)
{
    (void)state;
    const char *page = "{\"base64\": \"!!\\\"!\"}{\"name\":\"b\",\"base64\":\"Zg\"}";
    struct dribble d = { .at = (const uint8_t *)page, .left = strlen(page) };
    struct window w;
    struct html h;
    bool found;
    assert_int_equal(window_init(&w, dribble_source(&d), NULL), VRS_OK);
    html_init(&h, &w);
    assert_int_equal(html_next(&h, &found, NULL), VRS_OK);
    assert_true(found);
    html_skip(&h);
    assert_false(h.cut);
    assert_int_equal(html_next(&h, &found, NULL), VRS_OK);
    assert_true(found);
    html_skip(&h);
    assert_int_equal(html_next(&h, &found, NULL), VRS_OK);
    assert_false(found);
    assert_true(str_equal(html_name(&h), S("b")));
    html_free(&h);
    window_free(&w);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        struct buf found;
        buf_init(&found, 1 << 20);
        fault_left = n;
        enum vrs_status status =
            read_page("{\"name\": \"a\", \"base64\": \"aGVsbG8=\"}", 0, &found, NULL);
        bool fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        buf_free(&found);
        if (!fired)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found),
        cmocka_unit_test(the_name_may_stand_behind),
        cmocka_unit_test(a_name_belongs_to_its_own_object),
        cmocka_unit_test(names_have_escapes),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(base64_may_have_escapes),
        cmocka_unit_test(a_string_without_its_end_is_cut),
        cmocka_unit_test(what_is_not_base64_is_corrupt),
        cmocka_unit_test(an_entry_may_be_skipped),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
