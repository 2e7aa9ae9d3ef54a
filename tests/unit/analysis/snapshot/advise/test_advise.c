/* test_advise.c - the counterfactual peak against a recount; advice with every allocation failing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/attribution/site.h"
#include "analysis/snapshot/advise/advise.h"
#include "analysis/snapshot/advise/advise_rules.h"
#include "analysis/snapshot/study/counterfactual.h"
#include "analysis/snapshot/study/site_table.h"
#include "analysis/snapshot/study/study.h"
#include "base/buf.h"
#include "base/str.h"
#include "made/answered.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/recording.h"
#include "render/snapshot/advise/advise.h"
#include "vramscope/snapshot.h"

enum { STATES = 40, REMOVALS = 12, ROUNDS = 200 };

/* A small generator of our own: the same numbers everywhere. */
static uint32_t next_number(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % most;
}

static struct counterfactual_peak recount(const int64_t *requested, const struct removal *removal,
                                          uint32_t removals)
{
    struct counterfactual_peak peak = { INT64_MIN, 0 };
    for (int64_t event = -1; event + 1 < STATES; event++) {
        int64_t bytes = requested[event + 1];
        for (uint32_t i = 0; i < removals; i++)
            if (removal[i].from <= event && event < removal[i].to)
                bytes -= (int64_t)removal[i].bytes;
        if (bytes > peak.bytes)
            peak = (struct counterfactual_peak){ bytes, event };
    }
    return peak;
}

/* A curve, as a recording has it. */
struct drawn {
    struct recording r;
    uint8_t action[STATES];
    uint64_t size[STATES];
};

static struct counterfactual draw(const int64_t *requested, struct drawn *to, uint64_t *change)
{
    to->r = (struct recording){ .events = { .action = to->action, .size = to->size } };
    for (int i = 0; i + 1 < STATES; i++) {
        bool rises = requested[i + 1] >= requested[i];
        uint64_t by = (uint64_t)requested[i + 1] - (uint64_t)requested[i];
        to->action[i] = rises ? ACTION_ALLOC : ACTION_FREE_COMPLETED;
        to->size[i] = rises ? by : -by;
    }
    return (struct counterfactual){ &to->r, 0, STATES, requested[0], change };
}

static void the_peak_without_is_that_of_a_recount(void **state)
{
    (void)state;
    int64_t requested[STATES];
    uint64_t change[STATES + 1] = { 0 };
    struct drawn drawn;
    uint32_t seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        struct removal removal[REMOVALS];
        for (int i = 0; i < STATES; i++)
            requested[i] = next_number(&seed, 1000);
        struct counterfactual c = draw(requested, &drawn, change);
        uint32_t removals = next_number(&seed, REMOVALS + 1);
        for (uint32_t i = 0; i < removals; i++) {
            int64_t from = (int64_t)next_number(&seed, STATES + 8) - 4;
            int64_t to = (int64_t)next_number(&seed, STATES + 8) - 4;
            removal[i] = (struct removal){ from, to, next_number(&seed, 300), i };
        }
        struct counterfactual_peak found = counterfactual_without(&c, removal, removals);
        struct counterfactual_peak expected = recount(requested, removal, removals);
        assert_int_equal(found.bytes, expected.bytes);
        assert_int_equal(found.event, expected.event);
    }
}

/* Sums of sizes that lie wrap. */
static void hostile_sizes_do_no_harm(void **state)
{
    (void)state;
    int64_t requested[STATES] = { INT64_MAX, INT64_MIN };
    uint64_t change[STATES + 1] = { 0 };
    struct drawn drawn;
    struct counterfactual c = draw(requested, &drawn, change);
    struct removal removal[] = { { -1, 3, UINT64_MAX, 0 }, { 0, INT64_MAX, (uint64_t)1 << 63, 1 } };
    counterfactual_without(&c, removal, 2);
}

/* Two lines, and two sizes without a stack: the number of each is that of its first. */
static void check_sites(const struct study *s)
{
    static const uint32_t expected[] = { 0, 1, 0, 2, 3, 2 };
    struct site_table t;
    assert_int_equal(site_table_make(s, SITE_LINE, &t, NULL), VRS_OK);
    assert_int_equal(s->lifetimes.count, 6);
    assert_int_equal(t.sites, 4);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(t.of[i], expected[i]);
    /* The largest, then the earliest. */
    assert_int_equal(t.lead[0], 2);
    assert_int_equal(t.lead[2], 3);
    struct site_ref site;
    assert_int_equal(site_table_show(s, &t, 1, &site, NULL), VRS_OK);
    assert_true(str_equal(site.culprit, S("b.py:2 work")));
    assert_int_equal(site_table_make(s, SITE_FUNCTION_IN_FILE, &t, NULL), VRS_OK);
    assert_int_equal(t.sites, 4);
}

static void sites_are_numbered_by_first_sight(void **state)
{
    (void)state;
    static const struct stack_letter lines[] = { { 'a', { { "work", "/home/u/a.py", 1 } } },
                                                 { 'b', { { "work", "/home/u/b.py", 2 } } } };
    struct studied s;
    studied_begin(&s);
    sample_segment(&s.r, 0x10000, 2 << 20);
    sample_block(&s.r, 2 << 20, 0, BLOCK_INACTIVE);
    sample_events(&s.r, "a 10000 512; a 10200 512; a 10400 1024; a 10800 512; a 10a00 1024; "
                        "a 10e00 512");
    sample_letters(&s.r, lines, 2, "aba---");
    studied_make(&s, "");
    check_sites(&s.study);
    studied_end(&s);
}

static enum vrs_status ask(const struct vrs_recording *r, struct vrs_result *to[ANSWERS_MOST])
{
    struct vrs_advise_options options = { .size = sizeof options,
                                          .waste = true,
                                          .explain_silent = true };
    return vrs_advise(r, &options, &to[0], NULL);
}

static void every_rule_is_accounted_for(void **state)
{
    (void)state;
    struct asking asking = { .recording = recording_of_marked_steps("free_work"), .ask = ask };
    const char *text = answered(&asking);
    assert_non_null(strstr(text, "\"schema\": \"vramscope.advise/1\""));
    assert_non_null(strstr(text, "\"size_bytes\": 2048"));
    assert_non_null(strstr(text, "vramscope leaks run.json"));
    int rules = 0;
    for (const char *at = strstr(text, "\"id\": \"kv-prealloc\""); at != NULL;
         at = strstr(at + 1, "\"id\": \"kv-prealloc\""))
        rules++;
    assert_int_equal(rules, 1);
}

/* A place in a sentence that nobody fills in would be printed with its braces. */
static void every_sentence_is_filled_in(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < advice_entry_count; i++) {
        const struct advice_entry *entry = &advice_entries[i];
        struct advice advice = { .id = entry->id, .text = entry->text, .cost = entry->cost };
        struct buf words;
        buf_init(&words, 4096);
        advice_words(&words, &advice);
        if (entry->cost != NULL)
            assert_true(advice_cost(&words, &advice));
        buf_char(&words, '\0');
        assert_true(strlen(words.at) > 40);
        assert_null(strpbrk(words.at, "{}@#&%!"));
        buf_free(&words);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 1, 3 };
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct asking asking = { .recording = recording_of_marked_steps("free_work"),
                                 .threads = threads[i],
                                 .ask = ask };
        answered_without_memory(&asking);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_without_is_that_of_a_recount),
        cmocka_unit_test(hostile_sizes_do_no_harm),
        cmocka_unit_test(sites_are_numbered_by_first_sight),
        cmocka_unit_test(every_rule_is_accounted_for),
        cmocka_unit_test(every_sentence_is_filled_in),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
