#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made/fault.h"
#include "model/ids.h"
#include "model/stacks.h"

static stack_id push(struct stacks *s, stack_id caller, uint32_t frame)
{
    stack_id id = { UINT32_MAX };
    assert_true(stacks_push(s, caller, (frame_id){ frame }, &id));
    return id;
}

static const stack_id none = { 0 };

static void equal_stacks_have_equal_ids(void **state)
{
    (void)state;
    struct stacks s;
    assert_true(stacks_init(&s));
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 3000; i++) {
            stack_id a = push(&s, none, i % 50 + 1);
            stack_id b = push(&s, a, i % 7 + 1);
            stack_id c = push(&s, b, i % 3 + 1);
            assert_true(a.n < b.n && b.n < c.n);
            assert_int_equal(stacks_caller(&s, c).n, b.n);
            assert_int_equal(stacks_frame(&s, c).n, i % 3 + 1);
            assert_int_equal(stacks_depth(&s, c), 3);
        }
    /* 50 outer lines, 7 in each, 3 in each of those. */
    assert_int_equal(s.rows.len, 1 + 50 + 350 + 1050);
    stacks_free(&s);
}

static void the_empty_stack_is_none(void **state)
{
    (void)state;
    struct stacks s;
    assert_true(stacks_init(&s));
    assert_int_equal(stacks_depth(&s, none), 0);
    assert_int_equal(stacks_caller(&s, none).n, 0);
    assert_int_equal(s.rows.len, 1);
    stacks_free(&s);
}

static void totals_include_callees(void **state)
{
    (void)state;
    struct stacks s;
    assert_true(stacks_init(&s));
    stack_id a = push(&s, none, 1), b = push(&s, a, 2), c = push(&s, a, 3);
    uint64_t bytes[4] = { [0] = 1 };
    bytes[a.n] = 2;
    bytes[b.n] = 10;
    bytes[c.n] = 32;
    stacks_sum_up(&s, bytes);
    assert_int_equal(bytes[b.n], 10);
    assert_int_equal(bytes[c.n], 32);
    assert_int_equal(bytes[a.n], 44);
    assert_int_equal(bytes[0], 45);
    stacks_free(&s);
}

/* Fails each allocation in turn; whatever happens, nothing leaks and the table stays whole. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool fired = true;
    for (long n = 0; fired; n++) {
        struct stacks s;
        uint32_t pushed = 0;
        fault_left = n;
        bool ok = stacks_init(&s);
        while (ok && pushed < 3000) {
            stack_id id = { 0 };
            ok = stacks_push(&s, none, (frame_id){ pushed + 1 }, &id);
            pushed += ok;
            if (!ok)
                assert_int_equal(s.rows.len, pushed + 1); /* exactly the ones that succeeded */
        }
        fired = fault_left < 0;
        fault_left = -1;
        assert_int_equal(ok, !fired);
        stacks_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_have_equal_ids),
        cmocka_unit_test(the_empty_stack_is_none),
        cmocka_unit_test(totals_include_callees),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
