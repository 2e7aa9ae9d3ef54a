#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/report/trust_page.h"
#include "analysis/snapshot/trust/trust_checks.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/recording.h"

static const struct line native = { "at::empty", "??", 0 };
static const struct line user = { "step", "/home/user/train.py", 7 };
static const struct line library = { "step", "/e/site-packages/optim.py", 9 };

/* A device with one segment and one block in use, as the events say. */
static void make(struct studied *s, const char *events)
{
    studied_begin(s);
    s->agreement.refusal = REFUSED_ASKED;
    sample_segment(&s->r, 0x1000, 2 << 20);
    sample_block(&s->r, 1024, 600, BLOCK_ALLOCATED);
    sample_block(&s->r, (2 << 20) - 1024, 0, BLOCK_INACTIVE);
    sample_events(&s->r, events);
}

static struct trust_page trust_page_of(struct studied *s)
{
    struct trust_page o;
    studied_make(s, "");
    assert_int_equal(trust_page_compute(&s->proven, &o, NULL), VRS_OK);
    return o;
}

/* The outcomes as letters, in the order of the rows: - not run, h holds, F fails, f a fact. */
static void check_outcomes(const char *events, const char *expected)
{
    struct studied s;
    char got[TRUST_ROWS + 1] = "";
    make(&s, events);
    struct trust_page o = trust_page_of(&s);
    for (uint32_t i = 0; i < TRUST_ROWS; i++) {
        bool fact = o.check[i].outcome == TRUST_HOLDS && o.check[i].found.count != 0;
        got[i] = fact ? 'f' : "-hF"[o.check[i].outcome];
    }
    assert_string_equal(got, expected);
    studied_end(&s);
}

static void each_check_has_an_outcome(void **state)
{
    (void)state;
    /*                                        sums T03 T04 56 T07  T08 910 */
    check_outcomes("", "hh-------------");
    check_outcomes("A 1000 2097152; a 1000 600", "hhhhhhhhhhhhh--");
    check_outcomes("c 1400 500; n 0 0", "hhhhhhhhhfhhh--");
    check_outcomes("A 1000 2097152; a 1000 600; o 77 9", "hhhhhhhhhhhhh-h");
    check_outcomes("A 1000 2097152; a 1000 600; a 1400 7", "hhFhFhhhhhhhh--");
    check_outcomes("A 1000 2097152; a 1000 600; a 400 7; f 400 7", "hhhhhhhFhhhhh--");
    check_outcomes("A 1000 2097152; a 1000 600; a 1400 7; a 1400 7; f 1400 7", "hhhhFhhhFhhhh--");
}

static void cases_are_shown_in_the_order_of_events(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "A 1000 2097152; a 1000 600; a 100 1; a 200 2; a 300 3; a 400 4; a 500 5; a 600 6; "
             "f 100 1; f 200 2; f 300 3; f 400 4; f 500 5; f 600 6");
    struct trust_page o = trust_page_of(&s);
    const struct trust_row *row = &o.check[7];
    assert_string_equal(row->id, "unknown_segment");
    assert_int_equal(row->found.count, 6);
    assert_int_equal(row->found.worst_bytes, 6);
    for (int i = 0; i < BREACH_SHOWN; i++) {
        assert_int_equal(row->found.shown[i].event, 2 + i);
        assert_int_equal(row->found.shown[i].address, 0x100 * (i + 1));
    }
    studied_end(&s);
}

static void facts_are_collected(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "A 1000 2097152; a 1000 600; a 1400 200; a 1800 200; x 0 0; x 0 0; f 1800 200");
    s.r.events.stack[1] = sample_stack(&s.r, (struct line[]){ native, user }, 2).n;
    s.r.events.stack[2] = sample_stack(&s.r, (struct line[]){ library }, 1).n;
    s.r.events.time_us[6] = 500;
    sample_setting(&s.r, "max_split_size", -1);
    sample_setting(&s.r, "max_split_size", 7);
    sample_setting(&s.r, "trace_alloc_max_entries", 100);
    assert_true(tallies_count(&s.r.tallies, TALLY_UNKNOWN_KEY, sample_string(&s.r, "hovercraft")));
    struct trust_page o = trust_page_of(&s);
    assert_int_equal(o.actions, 3);
    assert_true(str_equal(o.action[0].name, S("alloc")));
    assert_int_equal(o.action[0].count, 3);
    assert_int_equal(o.unknown_actions, 1);
    assert_int_equal(o.unknown_action[0].count, 2);
    assert_int_equal(o.unknown_keys, 1);
    assert_true(str_equal(o.unknown_key[0].name, S("hovercraft")));
    assert_int_equal(o.settings, 2);
    assert_int_equal(o.setting[0].integer, -1);
    assert_true(str_equal(o.producer, S("PyTorch 2.12 or later, by trace_alloc_max_entries")));
    assert_string_equal(o.capture_style, "mixed");
    assert_int_equal(o.span_us, 500);
    assert_int_equal(o.gap_us, 495);
    assert_int_equal(o.gap_event, 6);
    assert_int_equal(o.streams, 1);
    assert_int_equal(o.pools, 1);
    /* The peak has 600 of the user, 200 of a library, 200 of nobody; the end lacks the last. */
    assert_true(o.unknown_origin_peak_ratio == 0.2);
    assert_true(o.unknown_origin_end_ratio == 0);
    assert_true(o.explained_peak_ratio == 0.8);
    assert_true(o.no_user_frame_peak_ratio == 0.4);
    studied_end(&s);
}

static void a_replay_is_a_check(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "A 1000 2097152; a 1000 600");
    s.agreement = (struct agreement){ .grade = GRADE_POOR,
                                      .addresses = 10,
                                      .addresses_equal = 7,
                                      .first = { .kind = WRONG_ADDRESS, .event = 3 } };
    struct trust_page o = trust_page_of(&s);
    assert_string_equal(o.check[13].check, "T09");
    assert_int_equal(o.check[13].outcome, TRUST_FAILS);
    assert_int_equal(o.check[13].found.count, 3);
    assert_int_equal(o.check[13].found.first_event, 3);
    studied_end(&s);
}

static enum vrs_status trust_page(struct studied *s)
{
    struct trust_page o;
    return trust_page_compute(&s->proven, &o, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct studied s;
    make(&s, "A 1000 2097152; a 1000 600; x 0 0");
    sample_setting(&s.r, "max_split_size", -1);
    assert_true(tallies_count(&s.r.tallies, TALLY_UNKNOWN_KEY, sample_string(&s.r, "hovercraft")));
    studied_make(&s, "");
    studied_without_memory(&s, trust_page);
    studied_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_check_has_an_outcome),
        cmocka_unit_test(cases_are_shown_in_the_order_of_events),
        cmocka_unit_test(facts_are_collected),
        cmocka_unit_test(a_replay_is_a_check),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
