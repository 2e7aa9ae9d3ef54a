#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "render/page/lines.h"

static void check(const char *bytes, const char *want)
{
    struct arena keep;
    arena_init(&keep, SIZE_MAX / 2);
    str got = page_line_shown(str_from(bytes), &keep);
    assert_non_null(got.ptr);
    assert_string_equal(got.ptr, want);
    assert_int_equal(got.len, strlen(want));
    arena_free(&keep);
}

static void text_is_made_harmless(void **state)
{
    (void)state;
    check("x = 1", "x = 1");
    check("x\t= \x1b[31m\x7f", "x =  [31m ");
    check("\xc2\x85z", " z"); /* a control character of Latin-1 */
    check("\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd");
    check("\xef\xbb\xbfimport torch", "import torch"); /* behind a byte order mark */
    check("", "");
}

static void text_is_cut_between_characters(void **state)
{
    char bytes[2 * PAGE_LINE_CHARACTERS + 8], want[2 * PAGE_LINE_CHARACTERS + 8];
    (void)state;
    for (size_t i = 0; i < PAGE_LINE_CHARACTERS; i++)
        memcpy(bytes + 2 * i, "\xc3\xa9", 2);
    bytes[2 * PAGE_LINE_CHARACTERS] = '\0';
    check(bytes, bytes);
    memcpy(want, bytes, 2 * PAGE_LINE_CHARACTERS);
    memcpy(want + 2 * PAGE_LINE_CHARACTERS, "\xe2\x80\xa6", 4);
    memcpy(bytes + 2 * PAGE_LINE_CHARACTERS, "ab", 3);
    check(bytes, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(text_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
