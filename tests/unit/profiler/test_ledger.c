/* test_ledger.c - random programs by the eight invariants: 50,000 steps, and 1,000,000 in a long
 * run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "made/ledger_play.h"
#include "profiler/ledger.h"
#include "vramscope/profiler.h"

enum { PROGRAMS = 50000 / PLAY_STEPS, LONG_TIMES = 20 };

static const struct ledger_calls ours = {
    ledger_init, ledger_free, ledger_read, ledger_open, ledger_mark, ledger_close, ledger_drop,
};

/* The programs met every state that the ledger gives, and as many slots as there can be. */
static void check_tally(const struct play_tally *tally)
{
    for (int state = VRS_EXACT; state <= VRS_STATE_UNKNOWN; state++)
        if (state != VRS_NESTED) /* the meter's */
            assert_in_range(tally->states[state], 100, UINT32_MAX);
    assert_int_equal(tally->most_open, PLAY_USERS);
    assert_in_range(tally->refused, 100, UINT32_MAX);
    assert_in_range(tally->resets, 1000, UINT32_MAX);
}

static void the_invariants_hold(void **state)
{
    (void)state;
    uint32_t programs = PROGRAMS * (getenv("VRAMSCOPE_TEST_LONG") != NULL ? LONG_TIMES : 1);
    struct play_tally tally = { .refused = 0 };
    for (uint32_t i = 0; i < programs; i++) {
        const struct play_scenario *s = &play_scenarios[i % play_scenarios_count];
        const char *breach = ledger_play(&ours, s, i, &tally);
        if (breach != NULL)
            fail_msg("%s, seed %u: %s", s->name, i, breach);
    }
    check_tally(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_invariants_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
