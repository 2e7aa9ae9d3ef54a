/* test_advise.c - the counterfactual peak against a recount; advice with every allocation failing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vramscope/vramscope.h>

#include "analysis/category_rules.h"
#include "analysis/counterfactual.h"
#include "analysis/site_table.h"
#include "fault.h"
#include "sample.h"

enum { STEPS = 5, BLOCK = 2048, STATES = 40, REMOVALS = 12, ROUNDS = 200 };

static char recording_text[1 << 16];

static size_t add(size_t at, const char *format, ...) __attribute__((format(printf, 2, 3)));
static size_t add(size_t at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int len = vsnprintf(recording_text + at, sizeof recording_text - at, format, list);
    va_end(list);
    assert_true(len > 0 && at + (size_t)len < sizeof recording_text);
    return at + (size_t)len;
}

/* Each step computes something and keeps one block more. */
static size_t make_recording(void)
{
    static const char frames[] =
        "[{\"name\": \"%s\", \"filename\": \"/home/user/%s.py\", \"line\": 7}]";
    size_t at = add(0,
                    "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152,"
                    " \"allocated_size\": %d, \"active_size\": %d, \"requested_size\": %d,"
                    " \"stream\": 0, \"segment_type\": \"small\", \"blocks\": [",
                    STEPS * BLOCK, STEPS * BLOCK, STEPS * BLOCK);
    for (int i = 0; i < STEPS; i++)
        at = add(at,
                 "{\"address\": %d, \"size\": 2048, \"requested_size\": 2048,"
                 " \"state\": \"active_allocated\", \"frames\": []}, ",
                 4096 + i * BLOCK);
    at = add(at,
             "{\"address\": %d, \"size\": %d, \"requested_size\": 0, \"state\": \"inactive\","
             " \"frames\": []}]}], \"device_traces\": [[{\"action\": \"segment_alloc\","
             " \"addr\": 4096, \"size\": 2097152, \"stream\": 0, \"frames\": []}",
             4096 + STEPS * BLOCK, 2097152 - STEPS * BLOCK);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 3; k++) {
            static const char *const places[] = { "load", "keep", "work" };
            int address = 4096 + BLOCK * (k == 1 ? i : i + k + 1);
            at = add(at,
                     ", {\"action\": \"alloc\", \"addr\": %d, \"size\": 2048, \"stream\": 0,"
                     " \"frames\": ",
                     address);
            at = add(at, frames, places[k], places[k]);
            at = add(at, "}");
            if (k == 1)
                continue;
            for (int done = 0; done < 2; done++) {
                at = add(at,
                         ", {\"action\": \"%s\", \"addr\": %d, \"size\": 2048, \"stream\": 0,"
                         " \"frames\": ",
                         done ? "free_completed" : "free_requested", address);
                at = add(at, frames, "free_work", "work");
                at = add(at, "}");
            }
        }
    return add(at, "]]}");
}

struct sink_text {
    char at[1 << 16];
    size_t len;
};

static bool take(void *arg, const char *bytes, size_t len)
{
    struct sink_text *t = arg;
    if (len > sizeof t->at - 1 - t->len)
        return false;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return true;
}

static enum vrs_status write_both(const struct vrs_result *result, struct sink_text *text)
{
    struct vrs_sink sink = { take, text };
    struct vrs_write_options json = { .size = sizeof json, .format = VRS_JSON };
    enum vrs_status status = vrs_write(result, NULL, &sink, NULL);
    return status == VRS_OK ? vrs_write(result, &json, &sink, NULL) : status;
}

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

static void the_peak_without_is_that_of_a_recount(void **state)
{
    (void)state;
    int64_t requested[STATES], reserved[STATES], change[STATES + 1];
    struct counterfactual c = { requested, reserved, change, STATES };
    uint32_t seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        struct removal removal[REMOVALS];
        for (int i = 0; i < STATES; i++)
            requested[i] = next_number(&seed, 1000);
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
    int64_t requested[STATES] = { INT64_MAX, INT64_MIN }, reserved[STATES], change[STATES + 1];
    struct counterfactual c = { requested, reserved, change, STATES };
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
    static const struct line lines[] = { { "work", "/home/u/a.py", 1 },
                                         { "work", "/home/u/b.py", 2 } };
    struct recording r;
    struct arena keep, scratch;
    struct category_rules rules;
    struct agreement agreement = { 0 };
    struct naming *naming;
    struct naming_options none = { { "", 0 }, { "", 0 } };
    sample_init(&r);
    sample_device(&r, 0);
    sample_segment(&r, 0x10000, 2 << 20);
    sample_block(&r, 2 << 20, 0, BLOCK_INACTIVE);
    sample_events(&r, "a 10000 512; a 10200 512; a 10400 1024; a 10800 512; a 10a00 1024; a 10e00 "
                      "512");
    stack_id a = sample_stack(&r, &lines[0], 1), b = sample_stack(&r, &lines[1], 1);
    r.events.stack[0] = r.events.stack[2] = a.n;
    r.events.stack[1] = b.n;
    sample_finish(&r);
    arena_init(&keep, SIZE_MAX);
    arena_init(&scratch, SIZE_MAX);
    category_rules_init(&rules);
    assert_int_equal(naming_make(&r, &none, &keep, &naming, NULL), VRS_OK);
    struct study_place place = { &r,
                                 .agreement = &agreement,
                                 .naming = naming,
                                 .rules = &rules,
                                 .keep = &keep,
                                 .scratch = &scratch };
    struct study study = { .r = NULL };
    assert_int_equal(study_place_make(&place, NULL), VRS_OK);
    assert_int_equal(study_make(&place, 0, &study, NULL), VRS_OK);
    check_sites(&study);
    category_rules_free(&rules);
    arena_free(&keep);
    arena_free(&scratch);
    recording_free(&r);
}

/* The whole way; frees whatever it got. */
static enum vrs_status whole_way(size_t len, struct sink_text *text)
{
    struct vrs_file *file = NULL;
    const struct vrs_recording *recording = NULL;
    struct vrs_result *advise = NULL;
    struct vrs_advise_options options = { .size = sizeof options,
                                          .waste = true,
                                          .explain_silent = true };
    enum vrs_status status = vrs_open_bytes(recording_text, len, "run.json", NULL, &file, NULL);
    if (status == VRS_OK)
        status = vrs_recording(file, 0, &recording, NULL);
    if (status == VRS_OK)
        status = vrs_advise(recording, &options, &advise, NULL);
    vrs_close(file);
    if (status == VRS_OK)
        status = write_both(advise, text);
    vrs_result_free(advise);
    return status;
}

static void every_rule_is_accounted_for(void **state)
{
    (void)state;
    static struct sink_text text;
    text.len = 0;
    assert_int_equal(whole_way(make_recording(), &text), VRS_OK);
    assert_non_null(strstr(text.at, "\"schema\": \"vramscope.advise/1\""));
    assert_non_null(strstr(text.at, "\"size_bytes\": 2048"));
    assert_non_null(strstr(text.at, "vramscope leaks run.json"));
    int rules = 0;
    for (const char *at = strstr(text.at, "\"id\": \"kv-prealloc\""); at != NULL;
         at = strstr(at + 1, "\"id\": \"kv-prealloc\""))
        rules++;
    assert_int_equal(rules, 1);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct sink_text whole, text;
    size_t len = make_recording();
    whole.len = 0;
    assert_int_equal(whole_way(len, &whole), VRS_OK);
    for (long n = 0;; n++) {
        text.len = 0;
        fault_left = n;
        enum vrs_status status = whole_way(len, &text);
        bool fired = fault_left < 0;
        fault_left = -1;
        if (!fired) {
            assert_int_equal(status, VRS_OK);
            return;
        }
        assert_true(status == VRS_NOMEM || status == VRS_OK);
        if (status == VRS_OK)
            assert_string_equal(text.at, whole.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_without_is_that_of_a_recount),
        cmocka_unit_test(hostile_sizes_do_no_harm),
        cmocka_unit_test(sites_are_numbered_by_first_sight),
        cmocka_unit_test(every_rule_is_accounted_for),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
