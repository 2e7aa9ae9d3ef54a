#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/process.h"

enum { MIB = 1 << 20, BYTES = 64 * MIB };

static void memory_that_is_touched_is_resident(void **state)
{
    (void)state;
    uint64_t before, before_peak, with, with_peak, after, after_peak;
    process_memory(&before, &before_peak);
    assert_in_range(before, 4096, before_peak);
    void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    memset(pages, 1, BYTES);
    process_memory(&with, &with_peak);
    assert_in_range(process_resident(), with - MIB, with + MIB);
    munmap(pages, BYTES);
    process_memory(&after, &after_peak);
    /* The kernel counts by thread and adds up late: some hundred KiB are missing at times. */
    assert_in_range(with - before, BYTES - MIB, BYTES + 32 * MIB);
    assert_in_range(with - after, BYTES - MIB, BYTES + 32 * MIB);
    assert_in_range(after_peak, with - MIB, UINT64_MAX - 1);
}

static void without_a_free_descriptor_it_is_unknown(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t rss = 0, peak = 0;
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 });
        process_memory(&rss, &peak);
        _exit(rss == UINT64_MAX && peak == UINT64_MAX && process_resident() == UINT64_MAX ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void no_descriptor_is_left_open(void **state)
{
    (void)state;
    uint64_t rss, peak;
    int before = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    close(before);
    for (int i = 0; i < 100; i++) {
        process_memory(&rss, &peak);
        rss = process_resident();
    }
    int after = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_is_touched_is_resident),
        cmocka_unit_test(without_a_free_descriptor_it_is_unknown),
        cmocka_unit_test(no_descriptor_is_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
