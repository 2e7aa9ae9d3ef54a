#define _GNU_SOURCE
#include <errno.h>
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

#include "base/fail.h"
#include "base/file.h"

/* A folder of its own for each run; mkdtemp fills in its name. */
static char folder[] = "/tmp/vramscope-test-XXXXXX";
static char path[sizeof folder + 16];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *text)
{
    FILE *f = fopen(in_folder("file"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* Reads all that is left, two bytes at a time. */
static void check_text(struct file *f, const char *wanted)
{
    char text[64] = "";
    size_t len = 0, got = 1;
    while (got > 0) {
        assert_true(len + 2 < sizeof text);
        assert_int_equal(file_read(f, text + len, 2, &got, NULL), VRS_OK);
        len += got;
    }
    text[len] = '\0';
    assert_string_equal(text, wanted);
}

static void a_file_has_its_size(void **state)
{
    (void)state;
    write_file("hello");
    struct file f;
    assert_int_equal(file_open(in_folder("file"), &f, NULL), VRS_OK);
    assert_int_equal(f.size_bytes, 5);
    check_text(&f, "hello");
    file_close(&f);
}

static void a_file_that_shrinks_just_ends(void **state)
{
    (void)state;
    write_file("hello");
    struct file f;
    assert_int_equal(file_open(in_folder("file"), &f, NULL), VRS_OK);
    char two[2];
    size_t got;
    assert_int_equal(file_read(&f, two, 2, &got, NULL), VRS_OK);
    assert_int_equal(truncate(in_folder("file"), 3), 0);
    check_text(&f, "l");
    file_close(&f);
}

static void check_unreadable(const char *name, int code)
{
    struct file f;
    struct vrs_error err = { .message = "" };
    assert_int_equal(file_open(name, &f, &err), VRS_IO);
    assert_int_equal(err.status, VRS_IO);
    if (strstr(err.message, strerror(code)) == NULL)
        fail_msg("no \"%s\" in: %s", strerror(code), err.message);
}

static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    check_unreadable(in_folder("missing"), ENOENT);
    check_unreadable(folder, EISDIR);
    write_file("");
    check_unreadable(in_folder("file/inside"), ENOTDIR);
}

static void a_named_pipe_is_read(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        FILE *f = fopen(path, "wb");
        _exit(f == NULL || fputs("through", f) < 0 || fclose(f) != 0);
    }
    struct file f;
    assert_int_equal(file_open(path, &f, NULL), VRS_OK);
    assert_true(f.size_bytes == UINT64_MAX);
    check_text(&f, "through");
    file_close(&f);
    unlink(path);
}

static void standard_input_is_a_dash(void **state)
{
    (void)state;
    int pipe_ends[2], old = dup(STDIN_FILENO);
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(write(pipe_ends[1], "piped", 5), 5);
    close(pipe_ends[1]);
    assert_true(dup2(pipe_ends[0], STDIN_FILENO) >= 0);
    close(pipe_ends[0]);
    struct file f;
    assert_int_equal(file_open("-", &f, NULL), VRS_OK);
    assert_true(f.size_bytes == UINT64_MAX);
    check_text(&f, "piped");
    file_close(&f);
    char byte;
    assert_int_equal(read(STDIN_FILENO, &byte, 1), 0); /* still open */
    if (old >= 0) {
        dup2(old, STDIN_FILENO);
        close(old);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("file"));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_its_size),
        cmocka_unit_test(a_file_that_shrinks_just_ends),
        cmocka_unit_test(what_cannot_be_read_is_said),
        cmocka_unit_test(a_named_pipe_is_read),
        cmocka_unit_test(standard_input_is_a_dash),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
