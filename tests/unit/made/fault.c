#include "made/fault.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Names that the linker's --wrap makes and expects. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __real_pthread_create(pthread_t *ret, const pthread_attr_t *how, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *how, void *(*run)(void *),
                          void *arg);

atomic_long fault_left = -1;
atomic_long fault_threads_left = -1;

static bool fails_now(void)
{
    long left = atomic_load(&fault_left);
    while (left >= 0 && !atomic_compare_exchange_weak(&fault_left, &left, left - 1))
        ;
    return left == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *how, void *(*run)(void *),
                          void *arg)
{
    long left = atomic_load(&fault_threads_left);
    while (left > 0 && !atomic_compare_exchange_weak(&fault_threads_left, &left, left - 1))
        ;
    return left == 0 ? EAGAIN : __real_pthread_create(ret, how, run, arg);
}

void fault_each(enum vrs_status (*work)(void *arg), void (*survived)(void *arg), void *arg)
{
    fault_some(1, work, survived, arg);
}

void fault_some(long step, enum vrs_status (*work)(void *arg), void (*survived)(void *arg),
                void *arg)
{
    bool hit = true;
    if (getenv("VRAMSCOPE_TEST_LONG") != NULL)
        step = 1;
    for (long n = 0; hit; n += step) {
        fault_left = n;
        enum vrs_status status = work(arg);
        hit = fault_left < 0;
        fault_left = -1;
        if (hit && (survived == NULL || status != VRS_OK))
            assert_int_equal(status, VRS_NOMEM);
        else
            assert_int_equal(status, VRS_OK);
        if (survived != NULL && status == VRS_OK)
            survived(arg);
    }
}
