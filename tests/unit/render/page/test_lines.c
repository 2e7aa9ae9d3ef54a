#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "render/page/lines.h"
#include "render/page/page.h"

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

static const char *answer;
static size_t answer_more; /* than was written */

static size_t give(const void *arg, const char *file, uint32_t line, char *to, size_t room)
{
    size_t len = strlen(answer);
    (void)arg, (void)file, (void)line;
    assert_true(len <= room);
    memcpy(to, answer, len);
    return len + answer_more;
}

/* Asks for the text of lines 1 to `lines` of a file, the first holding most. */
static enum vrs_status read_lines(struct page_lines *ret, uint32_t lines, struct arena *keep,
                                  struct vrs_error *err)
{
    *ret = (struct page_lines){ .of = { .max = UINT32_MAX } };
    for (uint32_t i = 1; i <= lines; i++)
        assert_true(vec_push(&ret->of, (struct page_line){ S("a.py:1 f"), S("/job/a.py"), i,
                                                           lines - i, S("") }));
    return page_lines_read(ret, give, NULL, keep, err);
}

static void more_text_than_there_is_room_for_is_refused(void **state)
{
    struct page_lines lines;
    struct vrs_error err = { .message = "" };
    struct arena keep;
    (void)state;
    arena_init(&keep, SIZE_MAX / 2);
    answer = "x = 1";
    assert_int_equal(read_lines(&lines, 1, &keep, &err), VRS_OK);
    assert_int_equal(lines.of.len, 1);
    assert_string_equal(lines.of.at[0].text.ptr, "x = 1");
    vec_free(&lines.of);
    answer_more = 5 * PAGE_LINE_CHARACTERS;
    assert_int_equal(read_lines(&lines, 1, &keep, &err), VRS_USAGE);
    assert_string_equal(err.message, "line_text gave 1005 bytes for line 1 of /job/a.py, where "
                                     "there was room for 1000");
    answer_more = 0;
    vec_free(&lines.of);
    arena_free(&keep);
}

/* A character that stands as six in the head is counted so. */
static void lines_are_counted_as_they_are_written(void **state)
{
    enum { LINES = 200 };
    char markup[PAGE_LINE_CHARACTERS + 1];
    struct page page = { .tool = "" };
    struct page_lines lines;
    struct arena keep;
    struct buf with, without;
    struct vrs_error err;
    (void)state;
    memset(markup, '<', PAGE_LINE_CHARACTERS);
    markup[PAGE_LINE_CHARACTERS] = '\0';
    answer = markup;
    arena_init(&keep, SIZE_MAX / 2);
    buf_init(&with, SIZE_MAX / 2);
    buf_init(&without, SIZE_MAX / 2);
    assert_int_equal(read_lines(&lines, LINES, &keep, &err), VRS_OK);
    assert_true(lines.of.len > 0 && lines.of.len < LINES);
    page_head(&without, &page);
    page.lines = lines;
    page_head(&with, &page);
    size_t taken = with.len - without.len;
    assert_true(taken <= PAGE_LINES_BYTES);
    assert_true(taken > PAGE_LINES_BYTES - 2 * 6 * PAGE_LINE_CHARACTERS);
    buf_free(&with);
    buf_free(&without);
    vec_free(&lines.of);
    arena_free(&keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(more_text_than_there_is_room_for_is_refused),
        cmocka_unit_test(lines_are_counted_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
