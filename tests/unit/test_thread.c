#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

struct seen {
    pthread_mutex_t lock; /* let go once the thread has been begun */
    cpu_set_t allowed;
    int failed;
};

static void *see(void *arg)
{
    struct seen *seen = arg;
    pthread_mutex_lock(&seen->lock);
    seen->failed = sched_getaffinity(0, sizeof seen->allowed, &seen->allowed);
    pthread_mutex_unlock(&seen->lock);
    return NULL;
}

/* Begins a thread; where it may run once it has begun. */
static cpu_set_t begin_and_see(void)
{
    struct seen seen = { .lock = PTHREAD_MUTEX_INITIALIZER, .failed = -1 };
    pthread_t thread;
    pthread_mutex_lock(&seen.lock);
    assert_true(thread_begin(&thread, see, &seen));
    pthread_mutex_unlock(&seen.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen.failed, 0);
    return seen.allowed;
}

static void may_go_where_its_caller_may(void **state)
{
    (void)state;
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int i = 0; i < 20; i++) {
        cpu_set_t allowed = begin_and_see();
        assert_true(CPU_EQUAL(&allowed, &all));
    }
}

static void begins_where_there_is_one_processor(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    size_t first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    cpu_set_t allowed = begin_and_see();
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_true(CPU_EQUAL(&allowed, &one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(may_go_where_its_caller_may),
        cmocka_unit_test(begins_where_there_is_one_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
