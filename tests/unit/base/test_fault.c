#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made/fault.h"

/* Through volatile pointers, or the compiler acts on what it knows of these functions: it
 * removes a block that is only compared and freed. */
static void *(*volatile allocate)(size_t) = malloc;
static void *(*volatile allocate_zeroed)(size_t, size_t) = calloc;
static void *(*volatile resize)(void *, size_t) = realloc;

static void the_counted_allocation_fails_once(void **state)
{
    (void)state;
    for (long n = 0; n < 5; n++) {
        fault_left = n;
        for (long i = 0; i < 8; i++) {
            void *p = allocate(16);
            if (i == n)
                assert_null(p);
            else
                assert_non_null(p);
            free(p);
        }
        assert_int_equal(fault_left, -1);
    }
}

static void calloc_fails_too(void **state)
{
    (void)state;
    fault_left = 0;
    void *p = allocate_zeroed(4, 4);
    assert_null(p);
    p = allocate_zeroed(4, 4);
    assert_non_null(p);
    free(p);
}

static void a_failed_realloc_keeps_the_old_block(void **state)
{
    (void)state;
    char *old = allocate(16);
    assert_non_null(old);
    old[0] = 'x';
    fault_left = 0;
    char *grown = resize(old, 4096);
    assert_null(grown);
    assert_int_equal(old[0], 'x');
    free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counted_allocation_fails_once),
        cmocka_unit_test(calloc_fails_too),
        cmocka_unit_test(a_failed_realloc_keeps_the_old_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
