#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pages.h"

enum { BYTES = 16 << 20 };

/* Whether large pages were asked for at this address, as the kernel tells it. */
static bool asked_for(const char *at)
{
    char line[512], *flags;
    bool inside = false, asked = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            inside = begin <= (uintptr_t)at && (uintptr_t)at < end;
        else if (inside && (flags = strstr(line, "VmFlags:")) != NULL)
            asked = strstr(flags, " hg") != NULL;
    }
    fclose(maps);
    return asked;
}

static char *map(void)
{
    void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    return at;
}

/* A kernel may be built without them. */
static bool can_be_had(void)
{
    char *at = map();
#ifdef MADV_HUGEPAGE
    bool can = madvise(at, BYTES, MADV_HUGEPAGE) == 0;
#else
    bool can = false;
#endif
    munmap(at, BYTES);
    return can;
}

static void all_that_will_be_filled_is_asked_for(void **state)
{
    (void)state;
    char *at = map();
    long page = sysconf(_SC_PAGESIZE);
    memset(at, 7, BYTES);
    /* Begins and ends inside pages. */
    pages_expect_full(at + page + 16, BYTES / 2);
    char *last = at + page + 16 + BYTES / 2 - 1;
    assert_int_equal(asked_for(at + page), can_be_had());
    assert_int_equal(asked_for(last), can_be_had());
    assert_false(asked_for(at));
    assert_false(asked_for(last + page));
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(at[i], 7);
    munmap(at, BYTES);
}

static void little_is_left_as_it_is(void **state)
{
    (void)state;
    char *at = map();
    pages_expect_full(at, 1 << 20);
    pages_expect_full(at, 0);
    pages_expect_full(NULL, 0);
    assert_false(asked_for(at));
    munmap(at, BYTES);
}

static void zeros_are_in_large_pages_where_there_are_enough(void **state)
{
    (void)state;
    static const size_t bytes[] = { 8, 4096, (2 << 20) + 8, 2 << 20, 8 << 20 };
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            char *at = pages_zeroed(bytes[i]);
            assert_non_null(at);
            for (size_t k = 0; k < bytes[i]; k++)
                assert_int_equal(at[k], 0);
            if (bytes[i] == 8 << 20)
                assert_int_equal(asked_for(at + bytes[i] / 2), can_be_had());
            memset(at, 7, bytes[i]);
            free(at);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_will_be_filled_is_asked_for),
        cmocka_unit_test(little_is_left_as_it_is),
        cmocka_unit_test(zeros_are_in_large_pages_where_there_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
