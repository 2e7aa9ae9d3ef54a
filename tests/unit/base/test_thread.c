#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

struct seen {
    cpu_set_t allowed;
    int failed;
};

static void see(void *arg)
{
    struct seen *seen = arg;
    seen->failed = sched_getaffinity(0, sizeof seen->allowed, &seen->allowed);
}

static cpu_set_t allowed_here(void)
{
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    return all;
}

/* Lets a thread begin and end; it may go where this one may, which nothing changes. */
static void check(struct thread *t)
{
    struct seen seen = { .failed = -1 };
    cpu_set_t before = allowed_here();
    assert_true(thread_begin(t, see, &seen));
    thread_join(t);
    assert_int_equal(seen.failed, 0);
    assert_true(CPU_EQUAL(&seen.allowed, &before));
    cpu_set_t after = allowed_here();
    assert_true(CPU_EQUAL(&after, &before));
}

static void begins_on_another_processor(void **state)
{
    (void)state;
    cpu_set_t all = allowed_here();
    for (int i = 0; i < 20; i++) {
        struct thread t;
        check(&t);
        assert_true(t.kept_off == -1 || t.began_on != t.kept_off);
#ifdef __GLIBC__
        assert_true(t.kept_off != -1 || CPU_COUNT(&all) == 1);
#endif
    }
}

static void begins_where_there_is_one_processor(void **state)
{
    (void)state;
    cpu_set_t all = allowed_here(), one;
    CPU_ZERO(&one);
    size_t first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct thread t;
    check(&t);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(t.kept_off, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_on_another_processor),
        cmocka_unit_test(begins_where_there_is_one_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
