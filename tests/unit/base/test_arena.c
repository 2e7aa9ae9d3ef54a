#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "made/fault.h"

static void what_is_taken_is_zero_and_aligned(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, SIZE_MAX);
    static const size_t sizes[] = { 1, 3, 8, 0, 17, 1000, 70000, 5, 65536, 200000, 2 };
    for (int round = 0; round < 20; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *p = arena_take(&a, sizes[i]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(p[k], 0);
            memset(p, 0xff, sizes[i]);
        }
    arena_free(&a);
    assert_int_equal(a.total, 0);
}

static void limits_hold(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 100000);
    assert_null(arena_take(&a, 100001));
    assert_non_null(arena_take(&a, 60000));
    assert_null(arena_take(&a, 60000));
    assert_int_equal(a.total, 60000);
    assert_non_null(arena_take(&a, 1));
    assert_null(arena_take(&a, 60000));
    assert_int_equal(a.total, 60016);
    assert_null(arena_take(&a, SIZE_MAX));
    assert_null(arena_take_array(&a, SIZE_MAX / 4, 8));
    assert_non_null(arena_take_array(&a, 0, 8));
    arena_free(&a);
}

static void releasing_gives_back_what_came_after(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, SIZE_MAX);
    struct arena_mark nothing = arena_mark(&a);
    char *kept = arena_take(&a, 10);
    assert_non_null(kept);
    memcpy(kept, "recording", 10);
    struct arena_mark mark = arena_mark(&a);
    for (int round = 0; round < 3; round++) {
        assert_non_null(arena_take(&a, 100));
        assert_non_null(arena_take(&a, 300000));
        arena_release(&a, mark);
        assert_int_equal(a.used, mark.used);
        assert_ptr_equal(a.last, mark.block);
        assert_string_equal(kept, "recording");
    }
    arena_release(&a, nothing);
    assert_int_equal(a.total, 0);
    arena_free(&a);
}

static void joining_takes_all_over_below_every_mark(void **state)
{
    (void)state;
    struct arena to, from, empty;
    arena_init(&to, SIZE_MAX);
    arena_init(&from, SIZE_MAX);
    arena_init(&empty, 1000);
    assert_non_null(arena_take(&to, 1));
    struct arena_mark first = arena_mark(&to);
    size_t had = to.total;
    arena_join(&to, &empty);
    assert_int_equal(to.total, had);
    char *given = arena_copy(&from, S("given")).ptr == NULL ? NULL : arena_take(&from, 5000);
    assert_non_null(given);
    size_t total = from.total;
    arena_join(&to, &from);
    assert_int_equal(to.total, had + total);
    assert_int_equal(from.total, 0);
    assert_null(from.last);
    memcpy(given, "given", 6);
    char *own = arena_take(&to, 10);
    assert_non_null(own);
    memcpy(own, "own", 4);
    struct arena_mark mark = arena_mark(&to);
    assert_non_null(arena_take(&to, 300000));
    char *later = arena_take(&from, 10);
    assert_non_null(later);
    memcpy(later, "later", 6);
    arena_join(&to, &from);
    arena_release(&to, mark);
    assert_string_equal(given, "given");
    assert_string_equal(own, "own");
    assert_string_equal(later, "later");
    arena_release(&to, first);
    assert_string_equal(given, "given");
    arena_free(&to);
    assert_int_equal(to.total, 0);
}

static void copies_are_ended_by_a_nul(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, SIZE_MAX);
    str copy = arena_copy(&a, (str){ "abcdef", 3 });
    assert_int_equal(copy.len, 3);
    assert_string_equal(copy.ptr, "abc");
    copy = arena_copy(&a, (str){ NULL, 0 });
    assert_int_equal(copy.len, 0);
    assert_string_equal(copy.ptr, "");
    arena_free(&a);
}

static void a_failed_block_changes_nothing(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, SIZE_MAX);
    fault_left = 0;
    assert_null(arena_take(&a, 10));
    fault_left = 0;
    assert_null(arena_copy(&a, S("text")).ptr);
    assert_int_equal(a.total, 0);
    assert_non_null(arena_take(&a, 10));
    fault_left = 0;
    assert_null(arena_take(&a, 1000000));
    fault_left = -1;
    assert_non_null(arena_take(&a, 10));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_zero_and_aligned),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(releasing_gives_back_what_came_after),
        cmocka_unit_test(joining_takes_all_over_below_every_mark),
        cmocka_unit_test(copies_are_ended_by_a_nul),
        cmocka_unit_test(a_failed_block_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
