/* test_ledger.c - random programs by the eight invariants: 50,000 steps, and 1,000,000 in a long
 * run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made/ledger_play.h"
#include "profiler/ledger.h"

enum { PROGRAMS = 50000 / PLAY_STEPS, LONG_TIMES = 20 };

static const struct ledger_calls ours = {
    ledger_init, ledger_free, ledger_read, ledger_open, ledger_mark, ledger_close, ledger_drop,
};

static void the_invariants_hold(void **state)
{
    (void)state;
    uint32_t programs = PROGRAMS * (getenv("VRAMSCOPE_TEST_LONG") != NULL ? LONG_TIMES : 1);
    for (uint32_t i = 0; i < programs; i++) {
        const struct play_scenario *s = &play_scenarios[i % play_scenarios_count];
        const char *breach = ledger_play(&ours, s, i);
        if (breach != NULL)
            fail_msg("%s, seed %u: %s", s->name, i, breach);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_invariants_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
