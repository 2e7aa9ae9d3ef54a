#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler/bell.h"
#include "profiler/clock.h"

static const uint64_t MS = 1000000, HOUR = 3600 * UINT64_C(1000000000);

static void it_sleeps_until_the_moment(void **state)
{
    (void)state;
    struct bell b;
    bell_set(&b);
    uint64_t due = host_ns(NULL) + 20 * MS;
    bell_sleep(&b, due);
    assert_true(host_ns(NULL) >= due);
    bell_sleep(&b, due); /* over: at once */
    bell_sleep(&b, 0);
    assert_true(host_ns(NULL) < due + HOUR);
}

static void a_ring_before_a_sleep_ends_every_sleep_until_it_is_set(void **state)
{
    (void)state;
    struct bell b;
    bell_set(&b);
    bell_ring(&b);
    uint64_t began = host_ns(NULL);
    bell_sleep(&b, began + HOUR);
    bell_sleep(&b, began + HOUR);
    bell_set(&b);
    bell_sleep(&b, host_ns(NULL) + 5 * MS);
    assert_true(host_ns(NULL) - began >= 5 * MS);
}

static void *ring_later(void *arg)
{
    struct bell never;
    bell_set(&never);
    bell_sleep(&never, host_ns(NULL) + 20 * MS);
    bell_ring(arg);
    return NULL;
}

static void a_ring_wakes_who_sleeps(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        struct bell b;
        pthread_t thread;
        bell_set(&b);
        uint64_t began = host_ns(NULL);
        assert_int_equal(pthread_create(&thread, NULL, ring_later, &b), 0);
        bell_sleep(&b, began + HOUR);
        assert_true(host_ns(NULL) - began < HOUR);
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_sleeps_until_the_moment),
        cmocka_unit_test(a_ring_before_a_sleep_ends_every_sleep_until_it_is_set),
        cmocka_unit_test(a_ring_wakes_who_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
