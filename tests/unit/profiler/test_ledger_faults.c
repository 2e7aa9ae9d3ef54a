/* test_ledger_faults.c - the invariants catch every fault that `plant` puts into the ledger; each
 * is a copy of ledger.c of its own, whose functions are called FAULT_ledger_init and so on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made/ledger_play.h"
#include "profiler/ledger.h"
#include "vramscope/profiler.h"

#define FAULTS(X)                                                                                  \
    X(no_fold)                                                                                     \
    X(seen_kept)                                                                                   \
    X(taint_ignored)                                                                               \
    X(no_reset)                                                                                    \
    X(resets_always)                                                                               \
    X(keepers_ignored)                                                                             \
    X(keeper_resets)                                                                               \
    X(failed_reset_folds)                                                                          \
    X(loss_not_marked)                                                                             \
    X(loss_not_folded)                                                                             \
    X(readings_not_folded)                                                                         \
    X(race_not_marked)                                                                             \
    X(unknown_forgotten)                                                                           \
    X(keeper_stays)                                                                                \
    X(place_lost)

#define DECLARE(fault)                                                                             \
    void fault##_ledger_init(struct ledger *, uint32_t);                                           \
    void fault##_ledger_free(struct ledger *);                                                     \
    bool fault##_ledger_read(struct ledger *, const struct vrs_backend *, uint32_t,                \
                             struct vrs_stats *);                                                  \
    void fault##_ledger_open(struct ledger *, const struct vrs_backend *, uint32_t, uint32_t,      \
                             struct vrs_slot *);                                                   \
    void fault##_ledger_mark(struct ledger *, const struct vrs_backend *, uint32_t,                \
                             struct vrs_slot *, struct vrs_peaks *);                               \
    void fault##_ledger_close(struct ledger *, const struct vrs_backend *, uint32_t,               \
                              struct vrs_slot *, struct vrs_peaks *);                              \
    void fault##_ledger_drop(struct ledger *, struct vrs_slot *);
FAULTS(DECLARE)

/* One program of each scenario and more are enough to see it. */
enum { PROGRAMS = 200 };

static void check_caught(const struct ledger_calls *faulty)
{
    struct play_tally tally = { .refused = 0 };
    const char *breach = NULL;
    for (uint32_t i = 0; i < PROGRAMS && breach == NULL; i++)
        breach = ledger_play(faulty, &play_scenarios[i % play_scenarios_count], i, &tally);
    assert_non_null(breach);
}

#define IS_CAUGHT(fault)                                                                           \
    static void fault##_is_caught(void **state)                                                    \
    {                                                                                              \
        (void)state;                                                                               \
        check_caught(&(struct ledger_calls){                                                       \
            fault##_ledger_init, fault##_ledger_free, fault##_ledger_read, fault##_ledger_open,    \
            fault##_ledger_mark, fault##_ledger_close, fault##_ledger_drop });                     \
    }
FAULTS(IS_CAUGHT)

int main(void)
{
#define TEST(fault) cmocka_unit_test(fault##_is_caught),
    const struct CMUnitTest tests[] = { FAULTS(TEST) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
