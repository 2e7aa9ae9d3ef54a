#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/other_events.h"
#include "model/recording.h"

enum { EVENTS = 150 };

static uint32_t slow_from(const uint8_t *action, uint32_t i, uint32_t end)
{
    while (i < end && action[i] >= ACTION_ALLOC && action[i] <= ACTION_FREE)
        i++;
    return i;
}

static uint32_t slow_below(const uint8_t *action, uint32_t begin, uint32_t i)
{
    while (i > begin && action[i - 1] >= ACTION_ALLOC && action[i - 1] <= ACTION_FREE)
        i--;
    return i;
}

/* `expected` is `end` where there is none. */
static void check_next(const uint8_t *action, uint32_t i, uint32_t end, uint32_t expected)
{
    assert_int_equal(other_event_next(action, &i, end), expected < end);
    assert_int_equal(i, expected);
}

/* `expected` is one above it, or `begin`. */
static void check_before(const uint8_t *action, uint32_t begin, uint32_t i, uint32_t expected)
{
    assert_int_equal(other_event_before(action, begin, &i), expected > begin);
    if (expected > begin)
        assert_int_equal(i, expected - 1);
}

/* Actions of blocks, with two others at these places. */
static void fill(uint8_t action[EVENTS], uint32_t first, uint32_t second, uint8_t other)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        action[i] = (uint8_t)(ACTION_ALLOC + i % (ACTION_FREE - ACTION_ALLOC + 1));
    action[first] = action[second] = other;
}

static void every_place_is_found_from_both_sides(void **state)
{
    uint8_t action[EVENTS];
    (void)state;
    for (uint32_t first = 0; first < EVENTS; first += 7) {
        fill(action, first, (first * 5 + 3) % EVENTS, ACTION_OOM);
        for (uint32_t i = 0; i <= EVENTS; i++)
            for (uint32_t end = i; end <= EVENTS; end++) {
                check_next(action, i, end, slow_from(action, i, end));
                check_before(action, i, end, slow_below(action, i, end));
            }
    }
}

static void actions_of_blocks_are_not_rare(void **state)
{
    uint8_t action[EVENTS];
    (void)state;
    for (uint8_t a = 0; a < ACTIONS; a++) {
        fill(action, 77, 77, a);
        bool rare = a < ACTION_ALLOC || a > ACTION_FREE;
        check_next(action, 0, EVENTS, rare ? 77 : EVENTS);
        check_before(action, 0, EVENTS, rare ? 78 : 0);
    }
}

static void an_end_before_the_beginning_holds_none(void **state)
{
    uint8_t action[EVENTS];
    (void)state;
    memset(action, ACTION_OOM, sizeof action);
    check_next(action, 9, 3, 9);
    check_before(action, 9, 3, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_found_from_both_sides),
        cmocka_unit_test(actions_of_blocks_are_not_rare),
        cmocka_unit_test(an_end_before_the_beginning_holds_none),
    };
    return cmocka_run_group_tests_name("rare", tests, NULL, NULL);
}
