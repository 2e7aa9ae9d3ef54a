#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fail.h"
#include "format/run_ranks.h"
#include "made/fault.h"

static char path[] = "/tmp/vramscope-run-XXXXXX";

static void write_file(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    for (size_t i = strlen(text); i < bytes; i++)
        fputc(' ', file);
    assert_int_equal(fclose(file), 0);
}

/* "8: 1 2", or the status. */
static void check(const char *text, const char *wanted)
{
    char got[64];
    struct arena arena;
    struct run_ranks read;
    write_file(text, 0);
    arena_init(&arena, SIZE_MAX);
    enum vrs_status status = run_ranks_read(path, &arena, &read, NULL);
    int len = status == VRS_OK ? snprintf(got, sizeof got, "%.*s%u:", (int)read.job.len,
                                          read.job.ptr, (unsigned)read.ranks)
                               : snprintf(got, sizeof got, "%d", (int)status);
    for (uint32_t i = 0; status == VRS_OK && i < read.ranks; i++)
        if (read.silent[i])
            len += snprintf(got + len, sizeof got - (size_t)len, " %u", (unsigned)i);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: %s", text, got);
    arena_free(&arena);
}

static void check_failure(const char *text, enum vrs_status wanted)
{
    char status[16];
    snprintf(status, sizeof status, "%d", (int)wanted);
    check(text, status);
}

static void ranks_are_read_by_their_members(void **state)
{
    (void)state;
    check("{\"schema\": \"vramscope.run/1\", \"world_size\": 8, \"missing_ranks\": [1, 2]}",
          "8: 1 2");
    check("{\"missing_ranks\": [2, 1, 1], \"files\": [7], \"world_size\": 3}", "3: 1 2");
    check("{\"world_size\": 2, \"missing_ranks\": [1, 2, 100000]}", "2: 1");
    check("{\"job\": {\"missing_ranks\": [1], \"world_size\": 9}, \"world_size\": 2}", "2:");
    check("{\"world_size\": null, \"missing_ranks\": []}", "0:");
    check("{\"world_size\": \"8\", \"missing_ranks\": {}}", "0:");
    check("[]", "0:");
    check("{\"job\": \"night \", \"host\": \"a\", \"world_size\": 2}", "night 2:");
    check("{\"job\": {\"job\": \"a\"}, \"files\": [{\"job\": \"b\"}]}", "0:");
    check("{\"job\": null, \"files\": [\"a\"]}", "0:");
}

static void what_is_broken_is_refused(void **state)
{
    (void)state;
    check_failure("", VRS_LIMIT);
    check_failure("{\"world_size\": 8", VRS_CORRUPT);
    check_failure("{\"world_size\": 8,}", VRS_CORRUPT);
    check_failure("{\"world_size\": 100001}", VRS_LIMIT);
    check_failure("{\"world_size\": -1}", VRS_LIMIT);
    check_failure("{\"world_size\": 1.5}", VRS_LIMIT);
    check_failure("{\"missing_ranks\": [18446744073709551615]}", VRS_LIMIT);
}

static void a_large_file_is_not_read(void **state)
{
    (void)state;
    struct arena arena;
    struct run_ranks read;
    arena_init(&arena, SIZE_MAX);
    write_file("{}", 4 << 20);
    assert_int_equal(run_ranks_read(path, &arena, &read, NULL), VRS_OK);
    write_file("{}", (4 << 20) + 1);
    assert_int_equal(run_ranks_read(path, &arena, &read, NULL), VRS_LIMIT);
    assert_int_equal(run_ranks_read("/nonexistent/run.json", &arena, &read, NULL), VRS_IO);
    arena_free(&arena);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool fired = true;
    write_file("{\"job\": \"night\", \"world_size\": 8, \"missing_ranks\": [1, 2]}", 0);
    for (long n = 0; fired; n++) {
        struct arena arena;
        struct run_ranks read;
        arena_init(&arena, SIZE_MAX);
        fault_left = n;
        enum vrs_status status = run_ranks_read(path, &arena, &read, NULL);
        fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(status, fired ? VRS_NOMEM : VRS_OK);
        arena_free(&arena);
    }
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_read_by_their_members),
        cmocka_unit_test(what_is_broken_is_refused),
        cmocka_unit_test(a_large_file_is_not_read),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
