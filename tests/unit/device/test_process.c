#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/process.h"
#include "made/touch.h"

enum { MIB = 1 << 20, BYTES = 64 * MIB };

static void memory_that_is_touched_is_resident(void **state)
{
    (void)state;
    uint64_t before, before_peak, with, with_peak, after, after_peak;
    process_memory(&before, &before_peak);
    assert_in_range(before, 4096, before_peak);
    void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    struct resident r;
    resident_init(&r);
    uint64_t without = resident_read(&r);
    touch(pages, BYTES);
    process_memory(&with, &with_peak);
    assert_in_range(resident_read(&r), with - MIB, with + MIB);
    assert_in_range(resident_read(&r) - without, BYTES - MIB, BYTES + 32 * MIB);
    resident_close(&r);
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
        struct resident r;
        resident_init(&r);
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, 0 });
        process_memory(&rss, &peak);
        _exit(rss == UINT64_MAX && peak == UINT64_MAX && resident_read(&r) == UINT64_MAX ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A program that closes every descriptor, and opens another file, whose number is then the same. */
static void of_a_descriptor_that_is_another_files_nothing_is_read(void **state)
{
    (void)state;
    char name[] = "/tmp/vramscope_process_XXXXXX";
    struct resident r;
    resident_init(&r);
    assert_int_not_equal(resident_read(&r), UINT64_MAX);
    int other = mkstemp(name);
    unlink(name);
    assert_int_equal(write(other, "1 7 1", 5), 5);
    int number = r.file;
    assert_int_equal(dup2(other, number), number);
    assert_in_range(resident_read(&r), MIB, UINT64_MAX - 1);
    assert_int_not_equal(r.file, number);
    resident_close(&r);
    assert_int_equal(fcntl(number, F_GETFD) >= 0, 1); /* another's is left alone */
    close(number);
    close(other);
}

/* The file of /proc is that of the process that opened it. */
static void a_child_of_fork_reads_its_own(void **state)
{
    (void)state;
    struct resident r;
    resident_init(&r);
    uint64_t parent = resident_read(&r);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        resident_close(&r);
        void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        touch(pages, BYTES);
        uint64_t with = resident_read(&r);
        munmap(pages, BYTES);
        uint64_t after = resident_read(&r);
        bool given = with - after >= BYTES - MIB && with - after < 2 * BYTES;
        _exit(with != UINT64_MAX && given ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_in_range(resident_read(&r), parent - MIB, parent + MIB);
    resident_close(&r);
}

static void no_descriptor_is_left_open(void **state)
{
    (void)state;
    uint64_t rss, peak;
    int before = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    close(before);
    for (int i = 0; i < 100; i++) {
        struct resident r;
        process_memory(&rss, &peak);
        resident_init(&r);
        rss = resident_read(&r);
        resident_close(&r);
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
        cmocka_unit_test(of_a_descriptor_that_is_another_files_nothing_is_read),
        cmocka_unit_test(a_child_of_fork_reads_its_own),
        cmocka_unit_test(no_descriptor_is_left_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
