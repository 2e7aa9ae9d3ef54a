#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "format/input/queue.h"
#include "made/fault.h"

enum { PLACES = 3, THINGS = 500 };

struct made {
    uint32_t thing[PLACES];
    uint32_t count, most;
};

static bool make(void *arg, uint32_t place)
{
    struct made *m = arg;
    if (m->count == m->most)
        return false;
    m->thing[place] = m->count++;
    return true;
}

/* Takes `wanted` of `most` things; each must be the next. */
static void check(bool own_thread, uint32_t most, uint32_t wanted)
{
    struct made m = { .most = most };
    struct arena arena;
    arena_init(&arena, 1 << 16);
    const struct queue_work work = { make, &m, PLACES };
    struct queue *queue = queue_begin(&arena, &work, own_thread);
    assert_non_null(queue);
    uint32_t place;
    for (uint32_t i = 0; i < wanted; i++) {
        assert_int_equal(queue_take(queue, &place), i < most);
        if (i >= most)
            continue;
        assert_true(place < PLACES);
        assert_int_equal(m.thing[place], i);
        queue_give(queue);
    }
    queue_end(queue);
    assert_true(m.count >= (wanted < most ? wanted : most));
    assert_true(m.count <= wanted + PLACES);
    arena_free(&arena);
}

static void test_things_come_in_order(void **state)
{
    (void)state;
    for (int own_thread = 0; own_thread < 2; own_thread++) {
        check(own_thread, THINGS, THINGS);
        check(own_thread, THINGS, THINGS + 3); /* asking on, after the last */
        check(own_thread, THINGS, 7);          /* ended while more could be made */
        check(own_thread, THINGS, 0);
        check(own_thread, 0, 1);
    }
}

/* The taker then makes them, as without a thread of its own. */
static void test_things_come_where_no_thread_can_be_had(void **state)
{
    (void)state;
    fault_threads_left = 0;
    check(true, THINGS, THINGS + 3);
    check(true, THINGS, 7);
    fault_threads_left = -1;
}

static void test_ended_while_one_is_held(void **state)
{
    (void)state;
    for (int own_thread = 0; own_thread < 2; own_thread++) {
        struct made m = { .most = THINGS };
        struct arena arena;
        arena_init(&arena, 1 << 16);
        const struct queue_work work = { make, &m, PLACES };
        struct queue *queue = queue_begin(&arena, &work, own_thread);
        assert_non_null(queue);
        uint32_t place;
        assert_true(queue_take(queue, &place));
        assert_int_equal(m.thing[place], 0);
        queue_end(queue);
        arena_free(&arena);
    }
    queue_end(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_things_come_in_order),
        cmocka_unit_test(test_things_come_where_no_thread_can_be_had),
        cmocka_unit_test(test_ended_while_one_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
