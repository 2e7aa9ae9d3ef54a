#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_line.h"

/* A folder for the whole program, with `src`, `out` of as many letters and `srcs` in it; it is the
 * working directory. */
static char top[] = "/tmp/vramscope-source-XXXXXX";

static void put(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static int make(void **state)
{
    (void)state;
    if (mkdtemp(top) == NULL || chdir(top) != 0 || mkdir("src", 0700) != 0 ||
        mkdir("src/deep", 0700) != 0 || mkdir("out", 0700) != 0 || mkdir("srcs", 0700) != 0)
        return -1;
    put("src/a.py", "one\n\tx = 2 \r\n\n  last", 20);
    put("src/deep/b.py", "deep\n", 5);
    put("srcs/next.py", "next\n", 5);
    put("out/secret.py", "secret\n", 7);
    return symlink("../out/secret.py", "src/out.py") | symlink("../out", "src/folder") |
           symlink("a.py", "src/in.py") | symlink("../src", "out/way") | symlink("src", "same") |
           mkfifo("src/pipe.py", 0600);
}

static int unmake(void **state)
{
    static const char *const files[] = { "src/a.py",     "src/deep/b.py", "out/secret.py",
                                         "srcs/next.py", "src/out.py",    "src/folder",
                                         "src/in.py",    "src/pipe.py",   "src/made.py",
                                         "out/way",      "same" };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    return rmdir("src/deep") | rmdir("src") | rmdir("out") | rmdir("srcs") | rmdir(top);
}

/* Of `src`, by whatever name. */
static void check_in(const char *folder, const char *file, uint32_t line, const char *text)
{
    char found[64];
    size_t len = source_line_read(folder, file, line, found, sizeof found);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(found, text, len);
}

static void check(const char *file, uint32_t line, const char *text)
{
    check_in("src", file, line, text);
}

static void lines_are_found_without_their_blanks(void **state)
{
    (void)state;
    check("a.py", 1, "one");
    check("a.py", 2, "x = 2");
    check("a.py", 3, "");
    check("a.py", 4, "last"); /* no newline behind it */
    check("a.py", 5, "");
    check("a.py", 0, "");
    check("a.py", UINT32_MAX, "");
    check("gone.py", 1, "");
    check("", 1, "");
    check("deep", 1, "");
}

static void files_are_found_by_each_of_their_names(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/src/deep/b.py", top);
    check(path, 1, "deep");
    check("src/deep/b.py", 1, "deep");
    check("deep/b.py", 1, "deep");
    check("/job/src/deep/b.py", 1, "deep");
    check("/src/job/src/deep/b.py", 1, "deep"); /* not behind the first `src` */
    check("/job/mysrc/deep/b.py", 1, "");
    check("/deep/b.py", 1, "");
    check("src/in.py", 1, "one");
    check_in("src/", "src/deep/b.py", 1, "deep");
    check_in("src/../src/deep", "/job/deep/b.py", 1, "deep");
    check_in("gone", "src/deep/b.py", 1, "");
}

static void nothing_outside_is_read(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/out/secret.py", top);
    check(path, 1, "");
    check("out/secret.py", 1, "");
    check("../out/secret.py", 1, "");
    check("/job/src/../out/secret.py", 1, "");
    check("srcs/next.py", 1, "");
    check("out.py", 1, "");
    check("folder/secret.py", 1, "");
    check_in("out", "secret.py", 1, "secret"); /* it is there */
}

/* Only what lies in the folder by its text is resolved: whatever a name leads through may be
 * mounted by that. */
static void what_begins_elsewhere_is_not_resolved(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/out/way/a.py", top);
    check(path, 1, "");
    snprintf(path, sizeof path, "%s/src/../out/way/a.py", top);
    check(path, 1, "");
    check("out/way/a.py", 1, "");
    check("../out/way/a.py", 1, "");
    check("/job/src/../out/way/a.py", 1, "");
    check("/job/src/deep/../../out/way/a.py", 1, "");
    check("src/deep/../a.py", 1, "one");
    /* The folder is, by the name that it is given and by its own. */
    check_in("out/way", "out/way/a.py", 1, "one");
    check_in("same", "same/a.py", 1, "one");
    snprintf(path, sizeof path, "%s/src/a.py", top);
    check_in("same", path, 1, "one");
}

static void names_are_relative_to_the_working_directory_too(void **state)
{
    (void)state;
    assert_int_equal(chdir("src/deep"), 0);
    check_in("..", "b.py", 1, "deep");
    check_in("..", "../a.py", 1, "one");
    check_in("..", "../../src/a.py", 1, "one");
    assert_int_equal(chdir("../.."), 0);
}

/* Each part that is called as the folder costs a look at the disk. */
static void only_the_first_parts_called_as_the_folder_count(void **state)
{
    enum { MOST = 16 };
    char path[128] = "";
    (void)state;
    for (int i = 0; i < MOST; i++)
        memcpy(path + 4 * i, "/src", 5);
    memcpy(path + 4 * MOST, "/a.py", 6);
    check(path, 1, "one");
    memcpy(path + 4 * MOST, "/src/a.py", 10);
    check(path, 1, "");
}

static void names_longer_than_a_path_are_not_looked_for(void **state)
{
    enum { LONGEST = PATH_MAX - 1 };
    static char path[LONGEST + 2];
    (void)state;
    const char *end = "/src/a.py";
    memset(path, 'x', LONGEST);
    path[0] = '/';
    snprintf(path + LONGEST - strlen(end), strlen(end) + 1, "%s", end);
    check(path, 1, "one");
    snprintf(path + LONGEST + 1 - strlen(end), strlen(end) + 1, "%s", end);
    check(path, 1, "");
}

/* At first nobody writes to it: a test that waits for it hangs. */
static void pipes_are_neither_waited_for_nor_read(void **state)
{
    (void)state;
    check("pipe.py", 1, "");
    int fd = open("src/pipe.py", O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "piped\n", 6), 6);
    check("pipe.py", 1, "");
    close(fd);
}

static void only_the_beginning_of_a_long_line_is_given(void **state)
{
    enum { LONG = 100000 };
    static char bytes[LONG];
    char found[64], want[64];
    (void)state;
    memset(bytes, ' ', LONG);
    memset(bytes + 40000, 'y', LONG - 40000);
    memset(want, 'y', sizeof want);
    put("src/made.py", bytes, LONG);
    assert_int_equal(source_line_read("src", "made.py", 1, found, sizeof found), sizeof found);
    assert_memory_equal(found, want, sizeof found);
}

static void no_more_than_4_mib_are_read(void **state)
{
    enum { MOST = 4 << 20 };
    char *bytes = malloc(MOST + 8);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'z', MOST + 8);
    memcpy(bytes + MOST - 4, "\nin\n", 4);
    put("src/made.py", bytes, MOST + 8);
    free(bytes);
    check("made.py", 2, "in");
    check("made.py", 3, "");
}

static void binary_lines_have_no_text(void **state)
{
    (void)state;
    put("src/made.py", "a\0b\nplain\n", 10);
    check("made.py", 1, "");
    check("made.py", 2, "plain");
}

/* Whoever made the recording names the files, and might name those with keys in them. */
static void what_is_no_source_or_hidden_is_not_read(void **state)
{
    static const char *const names[] = { "keys.env", "secrets.yaml", "py", ".env", ".hidden.py" };
    char path[64];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "src/%s", names[i]);
        put(path, "key = 1\n", 8);
        check(names[i], 1, "");
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(mkdir("src/.git", 0700), 0);
    put("src/.git/x.py", "key = 1\n", 8);
    check(".git/x.py", 1, "");
    assert_int_equal(unlink("src/.git/x.py") | rmdir("src/.git"), 0);
    assert_int_equal(symlink(".git", "src/open") | mkdir("src/.git", 0700), 0);
    put("src/.git/x.py", "key = 1\n", 8);
    check("open/x.py", 1, "");
    assert_int_equal(unlink("src/.git/x.py") | rmdir("src/.git") | unlink("src/open"), 0);
    put("src/good.cu", "kernel\n", 7);
    check("good.cu", 1, "kernel");
    assert_int_equal(unlink("src/good.cu"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_found_without_their_blanks),
        cmocka_unit_test(files_are_found_by_each_of_their_names),
        cmocka_unit_test(nothing_outside_is_read),
        cmocka_unit_test(what_begins_elsewhere_is_not_resolved),
        cmocka_unit_test(names_are_relative_to_the_working_directory_too),
        cmocka_unit_test(only_the_first_parts_called_as_the_folder_count),
        cmocka_unit_test(names_longer_than_a_path_are_not_looked_for),
        cmocka_unit_test(pipes_are_neither_waited_for_nor_read),
        cmocka_unit_test(only_the_beginning_of_a_long_line_is_given),
        cmocka_unit_test(no_more_than_4_mib_are_read),
        cmocka_unit_test(binary_lines_have_no_text),
        cmocka_unit_test(what_is_no_source_or_hidden_is_not_read),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
