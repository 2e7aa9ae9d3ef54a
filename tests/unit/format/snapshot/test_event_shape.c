/* test_event_shape.c - whole numbers as they stand in pickles, by each way of taking one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/pickle/pickle_ops.h"
#include "format/snapshot/event_shape.h"

enum { ROOM = 16 };

struct number {
    uint8_t bytes[ROOM];
    uint8_t len; /* 0: no whole number of up to 64 bits begins so */
    uint64_t value;
    bool negative;
};

static const struct number numbers[] = {
    { { OP_BININT1, 0xff }, 2, 255, false },
    { { OP_BININT2, 0x34, 0x12 }, 3, 0x1234, false },
    { { OP_BININT, 0xff, 0xff, 0xff, 0x7f }, 5, INT32_MAX, false },
    { { OP_BININT, 0xfe, 0xff, 0xff, 0xff }, 5, -UINT64_C(2), true },
    { { OP_LONG1, 1, 0x80 }, 3, -UINT64_C(128), true },
    { { OP_LONG1, 3, 1, 2, 3 }, 5, 0x030201, false },
    { { OP_LONG1, 6, 0, 0, 0, 0, 0, 0x7f }, 8, UINT64_C(0x7f0000000000), false },
    { { OP_LONG1, 8, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 10, UINT64_C(0x8000000000000001), true },
    { { OP_LONG1, 0 }, 0, 0, false },
    { { OP_LONG1, 9 }, 0, 0, false },
    { { OP_LONG1, 0xff }, 0, 0, false },
    { { OP_EMPTY_DICT }, 0, 0, false },
    { { 0xff, 0xff }, 0, 0, false },
    { { 0 }, 0, 0, false },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void check(const struct number *n, bool taken, const uint8_t *at, uint64_t value,
                  bool negative)
{
    assert_int_equal(taken, n->len != 0);
    assert_ptr_equal(at, n->bytes + n->len);
    if (taken) {
        assert_true(value == n->value);
        assert_int_equal(negative, n->negative);
    }
}

static void a_number_is_taken_without_a_guess(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        const uint8_t *at = numbers[i].bytes;
        uint64_t value = 0;
        bool negative = false;
        bool taken = number_take_any(&at, &value, &negative);
        check(&numbers[i], taken, at, value, negative);
    }
}

/* After any other number, and after what is none: that must not be taken for a form. */
static void a_number_is_taken_after_any_other(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < NUMBERS; before++)
        for (uint32_t i = 0; i < NUMBERS; i++) {
            struct number_form form = { .op = 1 }; /* no number begins so */
            for (uint32_t turn = 0; turn < 3; turn++) {
                const struct number *n = &numbers[turn == 1 ? before : i];
                const uint8_t *at = n->bytes;
                uint64_t value = 0;
                bool negative = false;
                bool taken = number_take(&at, &form, &value, &negative);
                check(n, taken, at, value, negative);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_taken_without_a_guess),
        cmocka_unit_test(a_number_is_taken_after_any_other),
    };
    return cmocka_run_group_tests_name("event_shape", tests, NULL, NULL);
}
