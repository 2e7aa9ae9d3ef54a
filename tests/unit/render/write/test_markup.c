#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/markup.h"

static void check(str text, const char *wanted)
{
    struct buf b;
    buf_init(&b, 1 << 10);
    markup_text(&b, text);
    buf_char(&b, '\0');
    assert_false(b.failed);
    assert_string_equal(b.at, wanted);
    buf_free(&b);
}

static void nothing_is_markup(void **state)
{
    (void)state;
    check(S(""), "");
    check(S("run_rank3.pickle"), "run_rank3.pickle");
    check(S("</a><img src=x onerror='a(\"&\")'>"),
          "&lt;/a&gt;&lt;img src=x onerror=&#39;a(&quot;&amp;&quot;)&#39;&gt;");
    check(S("&lt;"), "&amp;lt;");
    check(S("größer 語"), "größer 語");
}

static void what_a_terminal_would_obey_is_visible(void **state)
{
    (void)state;
    check(S("a\x1b[31m\n\0b"), "a\\x1b[31m\\x0a\\x00b");
    check(S("a\u202eb"), "a\\u{202e}b");
    check(S("\xff<\xc3"), "\\xff&lt;\\xc3");
}

static void lines_stay_and_what_xml_has_not_is_visible(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 10);
    markup_escaped(&b, S("a<b\n\\x1b \ufffe\uffff\ufffd\xef\xbf"));
    buf_char(&b, '\0');
    assert_string_equal(b.at, "a&lt;b\n\\x1b \\u{fffe}\\u{ffff}\ufffd\xef\xbf");
    buf_free(&b);
}

static void a_full_buffer_fails(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4);
    markup_text(&b, S("<<<<"));
    assert_true(b.failed);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_markup),
        cmocka_unit_test(what_a_terminal_would_obey_is_visible),
        cmocka_unit_test(lines_stay_and_what_xml_has_not_is_visible),
        cmocka_unit_test(a_full_buffer_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
