#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/host.h"
#include "made/touch.h"

enum { MEBI = 1 << 20, BYTES = 64 * MEBI };

static void memory_that_is_mapped_and_touched_counts(void **state)
{
    (void)state;
    struct host_reading before, mapped, touched;
    host_read(&before);
    char *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    host_read(&mapped);
    touch(pages, BYTES);
    host_read(&touched);
    munmap(pages, BYTES);
    assert_in_range(mapped.mapped - before.mapped, BYTES, BYTES + 32 * MEBI);
    /* The kernel adds up late what threads have touched. */
    assert_in_range(touched.rss - mapped.rss, BYTES - MEBI, BYTES + 32 * MEBI);
    assert_true(touched.used > BYTES && touched.used != UINT64_MAX);
    assert_true(touched.rss < touched.mapped);
}

static void time_goes_on(void **state)
{
    (void)state;
    struct host_reading before, after;
    host_read(&before);
    do
        host_read(&after);
    while (after.cpu_ns - before.cpu_ns < 1000000);
    assert_true(after.cpu_ns < UINT64_MAX);
}

static void without_a_free_descriptor_it_is_unknown(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct host_reading read = { 0, 0, 0, 0 };
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 });
        host_read(&read);
        _exit(read.rss == UINT64_MAX && read.mapped == UINT64_MAX && read.used == UINT64_MAX &&
                      read.cpu_ns != UINT64_MAX
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_is_mapped_and_touched_counts),
        cmocka_unit_test(time_goes_on),
        cmocka_unit_test(without_a_free_descriptor_it_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
