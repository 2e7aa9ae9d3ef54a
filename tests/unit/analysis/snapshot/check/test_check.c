/* test_check.c - values between bounds, what each outcome rests on, and every form of an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/check/check_baseline.h"
#include "analysis/snapshot/curves/curves.h"
#include "base/str.h"
#include "made/answered.h"
#include "made/sample.h"
#include "made/studied.h"
#include "model/ids.h"
#include "model/recording.h"
#include "vramscope/snapshot.h"

enum { ONE_MIB = 1 << 20 };

static struct check checked(struct studied *t, struct check_question q, const char *name,
                            const char *value)
{
    struct budget budget;
    struct check check;
    assert_int_equal(budget_make(&t->keep, &budget, NULL), VRS_OK);
    assert_int_equal(budget_set(&budget, S("capacity"), S("10MiB"), NULL), VRS_OK);
    assert_int_equal(budget_set(&budget, str_from(name), str_from(value), NULL), VRS_OK);
    q.budget = &budget;
    q.user_root = S("");
    assert_int_equal(check_compute(&t->proven, &q, &check, NULL), VRS_OK);
    budget_free(&budget);
    return check;
}

static struct check_row judged(struct studied *t, const char *name, const char *value)
{
    struct check check =
        checked(t, (struct check_question){ .speaks_for_others = true }, name, value);
    assert_int_equal(check.rows, 1);
    return check.row[0];
}

static void comes_out(struct studied *t, const char *name, const char *value,
                      enum check_outcome outcome, const char *reason)
{
    struct check_row row = judged(t, name, value);
    if (row.outcome != outcome)
        fail_msg("%s %s: %s", name, value, check_outcome_names[row.outcome]);
    if (reason != NULL)
        assert_string_equal(row.reason, reason);
    else if (row.reason != NULL)
        fail_msg("%s %s: reason %s", name, value, row.reason);
}

/* One tensor of 1,000 bytes, then one of 600 beside it, which dies; memory from the first event. */
static void small(struct studied *t)
{
    studied_begin(t);
    sample_segment(&t->r, 0x1000, 2 * ONE_MIB);
    sample_block(&t->r, 1024, 1000, BLOCK_ALLOCATED);
    sample_block(&t->r, 2 * ONE_MIB - 1024, 0, BLOCK_INACTIVE);
    sample_events(&t->r, "A 1000 2097152; a 1000 1000; a 1400 600; r 1400 600; c 1400 600");
    studied_make(t, "");
}

static void more_than_the_limit_fails(void **state)
{
    (void)state;
    struct studied t;
    small(&t);
    comes_out(&t, "max-peak", "1600", CHECK_PASS, NULL);
    comes_out(&t, "max-peak", "1599", CHECK_FAIL, NULL);
    comes_out(&t, "max-device-peak", "0=1599", CHECK_FAIL, NULL);
    comes_out(&t, "max-end", "1000", CHECK_PASS, NULL);
    comes_out(&t, "max-end", "999", CHECK_FAIL, NULL);
    comes_out(&t, "max-reserved", "2MiB", CHECK_PASS, NULL);
    comes_out(&t, "max-reserved", "2097151", CHECK_FAIL, NULL);
    comes_out(&t, "max-slack", "448", CHECK_PASS, NULL);
    comes_out(&t, "max-slack", "447", CHECK_FAIL, NULL);
    comes_out(&t, "headroom", "8MiB", CHECK_PASS, NULL);
    comes_out(&t, "headroom", "8388609", CHECK_FAIL, NULL);
    comes_out(&t, "no-oom", "", CHECK_PASS, NULL);
    comes_out(&t, "no-retry", "", CHECK_PASS, NULL);
    comes_out(&t, "max-unknown-share", "100%", CHECK_PASS, NULL);
    comes_out(&t, "max-unknown-share", "99.99%", CHECK_FAIL, NULL);
    comes_out(&t, "max-site", "x=1", CHECK_INCONCLUSIVE, "needs_stacks");
    comes_out(&t, "max-step-peak", "1", CHECK_INCONCLUSIVE, "no_steps");
    struct check_row row = judged(&t, "max-peak", "1");
    assert_int_equal(row.event, 2);
    assert_int_equal(row.sites, 1);
    assert_int_equal(row.site[0].bytes, 1600);
    assert_int_equal(row.source, CHECK_MEASURED);
    studied_end(&t);
}

/* A free that waits: asked for at event 2, done at event 4. */
static void frees_that_wait_are_pending(void **state)
{
    (void)state;
    struct studied t;
    studied_begin(&t);
    sample_segment(&t.r, 0x1000, 2 * ONE_MIB);
    sample_block(&t.r, 1024, 1000, BLOCK_ALLOCATED);
    sample_block(&t.r, 2048, 2000, BLOCK_PENDING);
    sample_block(&t.r, 2 * ONE_MIB - 3072, 0, BLOCK_INACTIVE);
    sample_events(&t.r, "a 1000 1000; a 9000 500; r 9000 500; n 0 0; c 9000 500; a 9000 700; "
                        "r 9000 700; c 9000 700");
    studied_make(&t, "");
    struct check_row row = judged(&t, "max-pending", "2559");
    assert_int_equal(row.outcome, CHECK_FAIL);
    assert_int_equal(row.value, 2560);
    assert_int_equal(row.event, 2);
    comes_out(&t, "max-pending", "2560", CHECK_PASS, "recorded_window");
    studied_end(&t);
}

/* A block of unknown size may be 1 MiB larger than the rounding rule says. */
static void a_bound_does_not_decide(void **state)
{
    (void)state;
    struct studied t;
    studied_begin(&t);
    sample_segment(&t.r, 0x1000000, 20 * ONE_MIB);
    sample_block(&t.r, 20 * ONE_MIB, 0, BLOCK_INACTIVE);
    sample_events(&t.r, "A 1000000 20971520; a 1000000 3145728; r 1000000 3145728; "
                        "c 1000000 3145728");
    studied_make(&t, "");
    comes_out(&t, "max-peak-active", "3145727", CHECK_FAIL, "rounded_blocks");
    comes_out(&t, "max-peak-active", "3MiB", CHECK_INCONCLUSIVE, "rounded_blocks");
    comes_out(&t, "max-peak-active", "4194303", CHECK_INCONCLUSIVE, "rounded_blocks");
    comes_out(&t, "max-peak-active", "4MiB", CHECK_PASS, "rounded_blocks");
    comes_out(&t, "max-slack", "1048575", CHECK_INCONCLUSIVE, "rounded_blocks");
    comes_out(&t, "max-slack", "1MiB", CHECK_PASS, "rounded_blocks");
    assert_int_equal(judged(&t, "max-peak-active", "3MiB").upper, 4 * ONE_MIB);
    t.proven.curves.of[CURVE_ACTIVE].exact = true;
    comes_out(&t, "max-peak-active", "3MiB", CHECK_PASS, NULL);
    studied_end(&t);
}

static void without_a_trace_the_end_is_known(void **state)
{
    (void)state;
    struct studied t;
    studied_begin(&t);
    sample_segment(&t.r, 0x1000, 2 * ONE_MIB);
    sample_block(&t.r, 1024, 1000, BLOCK_ALLOCATED);
    sample_block(&t.r, 2 * ONE_MIB - 1024, 0, BLOCK_INACTIVE);
    studied_make(&t, "");
    comes_out(&t, "max-peak", "1GiB", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "max-peak-active", "1GiB", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "max-step-peak", "1GiB", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "no-oom", "", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "no-retry", "", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "max-end", "1000", CHECK_PASS, NULL);
    comes_out(&t, "max-end", "999", CHECK_FAIL, NULL);
    comes_out(&t, "max-reserved", "2MiB", CHECK_PASS, "final_state");
    comes_out(&t, "max-slack", "23", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "max-pending", "1GiB", CHECK_INCONCLUSIVE, "needs_trace");
    comes_out(&t, "max-unknown-share", "99%", CHECK_INCONCLUSIVE, "needs_trace");
    studied_end(&t);
}

static void memory_without_a_stack_may_be_of_any_site(void **state)
{
    (void)state;
    static const struct line lines[] = { { "forward", "/home/u/model.py", 7 } };
    struct studied t;
    studied_begin(&t);
    sample_segment(&t.r, 0x1000, 2 * ONE_MIB);
    sample_block(&t.r, 2 * ONE_MIB, 0, BLOCK_INACTIVE);
    sample_events(&t.r, "A 1000 2097152; a 1000 1000; a 1400 600; f 1400 600; f 1000 1000");
    stack_id stack = sample_stack(&t.r, lines, 1);
    t.r.events.stack[1] = stack.n;
    studied_make(&t, "");
    comes_out(&t, "max-site", "model.py:7 =999", CHECK_FAIL, "no_stack");
    comes_out(&t, "max-site", "^model.py:7 forward$=1000", CHECK_INCONCLUSIVE, "no_stack");
    comes_out(&t, "max-site", "model.py:7=1599", CHECK_INCONCLUSIVE, "no_stack");
    comes_out(&t, "max-site", "model.py:7=1600", CHECK_PASS, "no_stack");
    comes_out(&t, "max-site", "no stack|model=1599", CHECK_FAIL, NULL);
    comes_out(&t, "max-unknown-share", "37.5%", CHECK_PASS, NULL);
    comes_out(&t, "max-unknown-share", "37.4999%", CHECK_FAIL, NULL);
    struct check_row row = judged(&t, "max-peak", "1");
    assert_int_equal(row.sites, 2);
    assert_string_equal(row.site[0].site.culprit.ptr, "model.py:7 forward");
    assert_true(str_equal(row.site[0].file, S("model.py")));
    assert_int_equal(row.site[0].line, 7);
    studied_end(&t);
}

static void out_of_memory_is_an_event(void **state)
{
    (void)state;
    struct studied t;
    studied_begin(&t);
    sample_segment(&t.r, 0x1000, 2 * ONE_MIB);
    sample_block(&t.r, 2 * ONE_MIB, 0, BLOCK_INACTIVE);
    sample_events(&t.r,
                  "A 1000 2097152; a 1000 1000; o 200 8192; f 1000 1000; F 90000 512; c 5000 600");
    studied_make(&t, "");
    comes_out(&t, "no-oom", "", CHECK_FAIL, "recorded_window");
    assert_int_equal(judged(&t, "no-oom", "").event, 2);
    /* A release whose stack tells nothing. */
    comes_out(&t, "no-retry", "", CHECK_INCONCLUSIVE, "unknown_cause");
    studied_end(&t);
}

static void limits_of_other_devices_are_not_lost(void **state)
{
    (void)state;
    struct studied t;
    small(&t);
    comes_out(&t, "max-device-peak", "5=1GiB", CHECK_INCONCLUSIVE, "no_such_device");
    struct check_question quiet = { .speaks_for_others = false };
    assert_int_equal(checked(&t, quiet, "max-device-peak", "5=1GiB").rows, 0);
    struct check_question only = { .speaks_for_others = true, .device = 1 };
    assert_int_equal(checked(&t, only, "max-device-peak", "5=1GiB").rows, 1);
    studied_end(&t);
}

static void differences_are_of_the_same_figure(void **state)
{
    (void)state;
    struct studied t, base;
    small(&t);
    studied_begin(&base);
    sample_segment(&base.r, 0x1000, 2 * ONE_MIB);
    sample_block(&base.r, 1024, 1000, BLOCK_ALLOCATED);
    sample_block(&base.r, 2 * ONE_MIB - 1024, 0, BLOCK_INACTIVE);
    sample_events(&base.r, "A 1000 2097152; a 1000 1000; x 0 0; x 0 0");
    studied_make(&base, "");
    struct check_question q = { .base = &base.proven };
    struct check_row row = checked(&t, q, "max-delta", "600").row[0];
    assert_int_equal(row.outcome, CHECK_PASS);
    assert_int_equal(row.value, 600);
    assert_int_equal(row.source, CHECK_DERIVED);
    assert_int_equal(checked(&t, q, "max-delta", "599").row[0].outcome, CHECK_FAIL);
    assert_int_equal(checked(&t, q, "max-delta", "60%").row[0].outcome, CHECK_PASS);
    assert_int_equal(checked(&t, q, "max-delta", "59.9%").row[0].outcome, CHECK_FAIL);
    assert_int_equal(checked(&t, q, "max-peak", "160%").row[0].outcome, CHECK_PASS);
    assert_int_equal(checked(&t, q, "max-peak", "159%").row[0].outcome, CHECK_FAIL);
    q.base = NULL;
    row = checked(&t, q, "max-delta", "1GiB").row[0];
    assert_int_equal(row.outcome, CHECK_INCONCLUSIVE);
    assert_string_equal(row.reason, "no_baseline_device");
    studied_end(&t);
    studied_end(&base);
}

/* A recording with so many bytes free beside a tensor, which strands them. */
static void stranded(struct studied *t, uint32_t free_bytes)
{
    studied_begin(t);
    sample_segment(&t->r, 0x1000, 2 * ONE_MIB);
    sample_block(&t->r, 2 * ONE_MIB - free_bytes, 2 * ONE_MIB - free_bytes, BLOCK_ALLOCATED);
    sample_block(&t->r, free_bytes, 0, BLOCK_INACTIVE);
    studied_make(t, "");
}

static int64_t limit_beside(struct studied *t, struct parts *parts, struct studied *base)
{
    struct budget budget;
    struct check_baseline baseline = { base->place, &base->proof };
    const struct check *check = NULL;
    assert_int_equal(budget_make(&t->keep, &budget, NULL), VRS_OK);
    assert_int_equal(budget_set(&budget, S("max-stranded"), S("100%"), NULL), VRS_OK);
    const struct check_question q = { .budget = &budget, .parts = parts, .user_root = S("") };
    assert_int_equal(check_beside(&t->proven, &q, &baseline, &check, NULL), VRS_OK);
    budget_free(&budget);
    assert_int_equal(check->rows, 1);
    assert_true(check->row[0].limit_known);
    return check->row[0].limit;
}

/* The baseline's study ends with the call, its place in memory is another's; parts that were made
 * of it are never given to that one. */
static void parts_of_a_baseline_die_with_its_study(void **state)
{
    (void)state;
    struct studied t, few, many;
    struct parts parts = { NULL };
    stranded(&t, 4096);
    stranded(&few, 1024);
    stranded(&many, 8192);
    assert_int_equal(limit_beside(&t, &parts, &few), 1024);
    assert_int_equal(limit_beside(&t, &parts, &many), 8192);
    assert_ptr_equal(parts.first->of, &t.study);
    assert_null(parts.first->next);
    studied_end(&t);
    studied_end(&few);
    studied_end(&many);
}

static void grade_d_is_refused_when_strict(void **state)
{
    (void)state;
    struct studied t;
    small(&t);
    t.proven.trust.grade = 'D';
    struct check_question strict = { .strict = true };
    struct check check = checked(&t, strict, "max-peak", "1");
    assert_string_equal(check.row[0].reason, "grade_d");
    assert_int_equal(check.exit_code, 4);
    check = checked(&t, (struct check_question){ 0 }, "max-peak", "1");
    assert_int_equal(check.exit_code, 1);
    t.proven.trust.grade = 'A';
    check = checked(&t, strict, "max-step-peak", "1");
    assert_int_equal(check.exit_code, 4);
    check = checked(&t, (struct check_question){ 0 }, "max-step-peak", "1");
    assert_int_equal(check.exit_code, 0);
    studied_end(&t);
}

/* The public call, in every form. */

static const char name[] = "for|ward<b>&]]>`@x`\\n";
static const char refused[] = ", {\"action\": \"oom\", \"device_free\": 512, \"size\": 8192,"
                              " \"stream\": 0, \"time_us\": 12, \"frames\": []}";

static enum vrs_status ask(const struct vrs_recording *r, struct vrs_result *to[ANSWERS_MOST])
{
    static const struct vrs_limit limit[] = {
        { "max-peak", "999" },
        { "max-site", "model.py=10%" },
        { "no-oom", NULL },
        { "max-unknown-share", "25.5%" },
        { "max-category", "input=1" },
        { "max-delta", "0" },
        { "max-device-peak", "4=1GiB" },
        { "max-pending", "0" },
        { "no-retry", NULL },
        { "max-site-delta", "1" },
        { "max-growth-per-step", "1" },
        { "max-stranded", "1" },
    };
    struct vrs_check_options o = {
        .size = sizeof o,
        .about = { .path = "/tmp/folder/run.json" },
        .limit = limit,
        .limits = sizeof limit / sizeof *limit,
        .budget = "max-end = 1\nmax-peak = 5",
        .rules = "rule mine kv_cache low\n  alloc.owner ~* model\n",
        .baseline = r,
    };
    enum vrs_status status = vrs_check(r, &o, &to[0], NULL);
    if (status == VRS_OK)
        assert_int_equal(vrs_verdict(to[0]), VRS_NO);
    return status;
}

static struct asking in_every_form(void)
{
    static const struct vrs_write_options ways[] = {
        { .size = sizeof ways[0], .format = VRS_TEXT },
        { .size = sizeof ways[0], .format = VRS_JSON },
        { .size = sizeof ways[0], .format = VRS_JUNIT },
        { .size = sizeof ways[0], .format = VRS_MARKDOWN },
        { .size = sizeof ways[0], .format = VRS_SARIF },
    };
    return (struct asking){ .recording = recording_of_tensor(name, refused),
                            .ask = ask,
                            .way = ways,
                            .ways = sizeof ways / sizeof *ways };
}

static void every_form_is_escaped(void **state)
{
    (void)state;
    struct asking asking = in_every_form();
    const char *text = answered(&asking);
    assert_null(strstr(text, "/home/user"));
    assert_null(strstr(text, "/tmp/folder"));
    assert_non_null(strstr(text, "FAIL"));
    assert_non_null(strstr(text, "for|ward&lt;b&gt;&amp;]]&gt;`@x`\\x0a"));
    assert_non_null(strstr(text, "for&#124;ward&#60;b&#62;&#38;&#93;&#93;"));
    assert_non_null(strstr(text, "\\\\]\\\\]>`@x`"));
    assert_non_null(strstr(text, "\"uri\": \"model.py\""));
    assert_non_null(strstr(text, "\"startLine\": 7"));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct asking asking = in_every_form();
    answered_without_memory(&asking);
}

/* Without a limit there is no answer; another takes its place. */
static enum vrs_status ask_in_vain(const struct vrs_recording *r,
                                   struct vrs_result *to[ANSWERS_MOST])
{
    struct vrs_check_options none = { .size = sizeof none };
    assert_int_equal(vrs_check(r, &none, &to[0], NULL), VRS_USAGE);
    assert_int_equal(vrs_check_check(&none, false, NULL), VRS_USAGE);
    assert_int_equal(vrs_report(r, NULL, &to[0], NULL), VRS_OK);
    return VRS_OK;
}

static void other_answers_have_no_such_form(void **state)
{
    (void)state;
    static const struct vrs_write_options junit = { .size = sizeof junit, .format = VRS_JUNIT };
    static struct written text;
    struct asking asking = { .recording = recording_of_tensor(name, refused),
                             .ask = ask_in_vain,
                             .way = &junit,
                             .ways = 1 };
    assert_int_equal(answer(&asking, &text), VRS_USAGE);
    assert_int_equal(text.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_limit_fails),
        cmocka_unit_test(frees_that_wait_are_pending),
        cmocka_unit_test(a_bound_does_not_decide),
        cmocka_unit_test(without_a_trace_the_end_is_known),
        cmocka_unit_test(memory_without_a_stack_may_be_of_any_site),
        cmocka_unit_test(out_of_memory_is_an_event),
        cmocka_unit_test(limits_of_other_devices_are_not_lost),
        cmocka_unit_test(differences_are_of_the_same_figure),
        cmocka_unit_test(parts_of_a_baseline_die_with_its_study),
        cmocka_unit_test(grade_d_is_refused_when_strict),
        cmocka_unit_test(every_form_is_escaped),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(other_answers_have_no_such_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
