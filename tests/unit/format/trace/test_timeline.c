/* Memory timelines of both forms: what is kept, what is dropped, and where the input may end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/peek.h"
#include "made/fault.h"
#include "made/text_trace.h"
#include "made/trace_same.h"
#include "model/memory_timeline.h"
#include "model/trace.h"

#define ZEROS "0, 0, 0, 0, 0, 0"

static const char states[] = "[[5, 5, 7.25], [[0, 1, 2, " ZEROS "], [0, 3, 0, " ZEROS "],\n"
                             "[0, -4, 0, 0, 0, 0, 0, 0, 9]]]";
static const char events[] =
    "[[-1, 1, 4096, 0], [-1, 1, 4, 7], [50, 2, 100, 3], [50, 2, 11, 3],\n"
    " [60, 3, -100, 3], [60, 3, 100, 4], [61, 4, -111, 3], [70, 4, -9, 7]]";

/* The state as one text: its time, then the bytes of each category. */
static void check_state(const struct memory_timeline *m, uint32_t row, const char *wanted)
{
    char text[400];
    int64_t bytes[TIMELINE_CATEGORIES];
    assert_in_range(row, 0, m->rows.len - 1);
    (void)memory_timeline_row(m, row, bytes);
    size_t len = (size_t)snprintf(text, sizeof text, "%lld:", (long long)m->time[row]);
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        len += (size_t)snprintf(text + len, sizeof text - len, " %lld", (long long)bytes[c]);
    assert_string_equal(text, wanted);
}

static void states_are_as_the_file_has_them(void **state)
{
    struct text_trace r;
    (void)state;
    const struct trace *t = text_trace_of(states, &r);
    const struct memory_timeline *m = &t->timeline;
    assert_int_equal(m->form, TIMELINE_STATES);
    assert_int_equal(t->events, 3);
    assert_true(m->has_before);
    assert_int_equal(m->before[TIMELINE_PARAMETER], 1);
    assert_int_equal(m->before[TIMELINE_OPTIMIZER_STATE], 2);
    assert_int_equal(m->rows.len, 2);
    check_state(m, 0, "5000: 3 0 0 0 0 0 0 0");
    check_state(m, 1, "7250: -4 0 0 0 0 0 0 9");
    text_trace_free(&r);
}

/* Two equal times at the front are what tells it. */
static void states_may_begin_with_nothing(void **state)
{
    struct text_trace r;
    (void)state;
    const struct memory_timeline *m =
        &text_trace_of("[[5, 6], [[0, 1, 2, " ZEROS "], [0, 3, 0, " ZEROS "]]]", &r)->timeline;
    assert_false(m->has_before);
    assert_int_equal(m->rows.len, 2);
    text_trace_free(&r);
    m = &text_trace_of("[[-1], [[0, 1, 2, " ZEROS "]]]", &r)->timeline;
    assert_true(m->has_before);
    assert_int_equal(m->rows.len, 0);
    text_trace_free(&r);
}

static void events_add_up(void **state)
{
    struct text_trace r;
    (void)state;
    const struct trace *t = text_trace_of(events, &r);
    const struct memory_timeline *m = &t->timeline;
    assert_int_equal(m->form, TIMELINE_EVENTS);
    assert_int_equal(t->events, 8);
    assert_true(m->has_before);
    assert_int_equal(m->before[TIMELINE_PARAMETER], 4096);
    assert_int_equal(m->before[TIMELINE_UNKNOWN], 4);
    assert_int_equal(m->actions[TIMELINE_PRE_EXISTING], 2);
    assert_int_equal(m->actions[TIMELINE_CREATE], 2);
    assert_int_equal(m->actions[TIMELINE_VERSION], 2);
    assert_int_equal(m->actions[TIMELINE_DESTROY], 2);
    assert_int_equal(m->rows.len, 4);
    check_state(m, 0, "50: 4096 0 0 111 0 0 0 4");
    check_state(m, 1, "60: 4096 0 0 11 100 0 0 4");
    check_state(m, 2, "61: 4096 0 0 -100 100 0 0 4");
    check_state(m, 3, "70: 4096 0 0 -100 100 0 0 -5");
    text_trace_free(&r);
}

static void one_event_is_enough(void **state)
{
    struct text_trace r;
    (void)state;
    const struct memory_timeline *m = &text_trace_of("[[50, 2, 100, 3]]", &r)->timeline;
    assert_int_equal(m->form, TIMELINE_EVENTS);
    check_state(m, 0, "50: 0 0 0 100 0 0 0 0");
    text_trace_free(&r);
}

/* All of 64 bits, and the same by way of doubles would be another number. */
static void numbers_are_exact(void **state)
{
    struct text_trace r;
    (void)state;
    const struct memory_timeline *m =
        &text_trace_of("[[1795920879412220.446, 1795920879412221], [[0, 9223372036854775807, "
                       "0, " ZEROS "], [0, -9223372036854775808, 0, " ZEROS "]]]",
                       &r)
             ->timeline;
    check_state(m, 0, "1795920879412220446: 9223372036854775807 0 0 0 0 0 0 0");
    check_state(m, 1, "1795920879412221000: -9223372036854775808 0 0 0 0 0 0 0");
    text_trace_free(&r);
    m = &text_trace_of("[[1795920879412220447, 2, 9007199254740993, 3]]", &r)->timeline;
    check_state(m, 0, "1795920879412220447: 0 0 0 9007199254740993 0 0 0 0");
    text_trace_free(&r);
}

/* A row that is dropped among two that are kept. */
static void check_dropped(const char *before, const char *row, const char *behind)
{
    char text[600];
    struct text_trace r;
    snprintf(text, sizeof text, "%s, %s, %s", before, row, behind);
    const struct trace *t = text_trace_of(text, &r);
    const struct damage *d = &t->damage[DAMAGE_NOT_A_ROW];
    if (d->count != 1 || t->timeline.rows.len != 2 || t->events != 3)
        fail_msg("%s: %d dropped of %d, %d states", row, (int)d->count, (int)t->events,
                 (int)t->timeline.rows.len);
    if (d->first_offset == 0 || text[d->first_offset] != *row)
        fail_msg("%s: at byte %d", row, (int)d->first_offset);
    text_trace_free(&r);
}

static void states_of_other_numbers_are_dropped(void **state)
{
    static const char *const rows[] = {
        "[0, 1, 2, 3, 4, 5, 6, 7]",      "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]",
        "[]",                            "[1, 1, 2, " ZEROS "]",
        "[0, 1, NaN, " ZEROS "]",        "[0, 1, 2.5, " ZEROS "]",
        "[0, 1, \"2\", " ZEROS "]",      "[0, 1, null, " ZEROS "]",
        "[0, [1], 2, " ZEROS "]",        "[0, {\"a\": 1}, 2, " ZEROS "]",
        "[0, 1, 9223372036854775808, " ZEROS "]", /* beyond 64 bits, and so is the sum: */
        "[0, 1, 9223372036854775807, " ZEROS "]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_dropped("[[5, 6, 7], [[0, 1, 2, " ZEROS "]", rows[i], "[0, 3, 0, " ZEROS "]]]");
}

static void what_is_no_state_is_dropped(void **state)
{
    static const char *const rows[] = { "5", "null", "\"x\"", "{\"a\": [1]}" };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[600];
        struct text_trace r;
        snprintf(text, sizeof text, "[[5, 6, 7], [[0, 1, 2, " ZEROS "], %s, [0, 3, 0, " ZEROS "]]]",
                 rows[i]);
        const struct trace *t = text_trace_of(text, &r);
        assert_int_equal(t->damage[DAMAGE_NOT_A_ROW].count, 1);
        assert_int_equal(t->timeline.rows.len, 2);
        check_state(&t->timeline, 1, "7000: 3 0 0 0 0 0 0 0");
        text_trace_free(&r);
    }
}

static void events_of_other_numbers_are_dropped(void **state)
{
    static const char *const rows[] = {
        "[6, 2, 100]",    "[6, 2, 100, 3, 1]",  "[]",
        "[6, 0, 100, 3]", "[6, 5, 100, 3]",     "[6, 2, 100, 8]",
        "[6, 2, 100, -1]", "[6, -9223372036854775808, 1, 3]", "[6.5, 2, 100, 3]",  "[6, 2, NaN, 3]",
        "[6, 2, 1e2, 3]", "[6, [2], 100, 3]",   "[9223372036854775807, 2, 100, 3]",
        "[6, \"2\", 100, 3]", "[6, 2, 9223372036854775807, 3]", "[6, 2, 9223372036854775807, 4]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_dropped("[[5, 2, 100, 3]", rows[i], "[7, 4, -100, 3]]");
}

/* The first list is looked at before it is known what it is. */
static void the_first_event_may_be_dropped(void **state)
{
    struct text_trace r;
    (void)state;
    const struct trace *t = text_trace_of("[[5, 9, 100, 3], [6, 2, 1, 1]]", &r);
    assert_int_equal(t->damage[DAMAGE_NOT_A_ROW].count, 1);
    assert_int_equal(t->damage[DAMAGE_NOT_A_ROW].first_offset, 1);
    assert_int_equal(t->timeline.rows.len, 1);
    text_trace_free(&r);
}

static void times_and_states_may_be_of_other_numbers(void **state)
{
    struct text_trace r;
    (void)state;
    const struct trace *t = text_trace_of("[[5, 6, 7], [[0, 1, 2, " ZEROS "]]]", &r);
    assert_int_equal(t->damage[DAMAGE_NOT_A_ROW].count, 2);
    assert_int_equal(t->timeline.rows.len, 1);
    text_trace_free(&r);
    t = text_trace_of("[[5, \"6\"], [[0, 1, 2, " ZEROS "], [0, 1, 2, " ZEROS "], [0, 1, 2, " ZEROS
                      "]], [3]]",
                      &r);
    assert_int_equal(t->damage[DAMAGE_NOT_A_ROW].count, 3);
    assert_int_equal(t->timeline.rows.len, 1);
    text_trace_free(&r);
}

static void times_never_fall(void **state)
{
    struct text_trace r;
    (void)state;
    const struct trace *t = text_trace_of("[[9, 2, 1, 1], [5, 2, 1, 1], [-1, 1, 1, 0]]", &r);
    assert_int_equal(t->damage[DAMAGE_UNORDERED].count, 2);
    assert_int_equal(t->timeline.rows.len, 1);
    check_state(&t->timeline, 0, "9: 1 2 0 0 0 0 0 0");
    text_trace_free(&r);
    t = text_trace_of("[[9, 5], [[0, 1, 2, " ZEROS "], [0, 3, 0, " ZEROS "]]]", &r);
    assert_int_equal(t->damage[DAMAGE_UNORDERED].count, 1);
    check_state(&t->timeline, 1, "9000: 3 0 0 0 0 0 0 0");
    text_trace_free(&r);
}

static void check_refused(const char *text, enum vrs_status status, const char *words)
{
    struct text_trace r;
    text_trace_read(text, strlen(text), 0, &default_limits, &r);
    if (r.status != status || strstr(r.err.message, words) == NULL)
        fail_msg("%s: status %d: %s", text, (int)r.status, r.err.message);
}

static void what_has_no_row_is_refused(void **state)
{
    (void)state;
    check_refused("[[], []]", VRS_UNSUPPORTED, "without a row");
    check_refused("[[1, 2, 3], [[0]]]", VRS_UNSUPPORTED, "lists of numbers");
    check_refused("[[1, 0, 3, 9]]", VRS_UNSUPPORTED, "lists of numbers");
    check_refused("[[1, 2", VRS_CORRUPT, "before the first whole row");
    check_refused("[[1, 2], [[0, 1]} ", VRS_CORRUPT, "");
    /* What is not recognised has the words of traces. */
    check_refused("[[\"a\"]]", VRS_UNSUPPORTED, "no profiler trace");
    check_refused("[[{}]]", VRS_UNSUPPORTED, "no profiler trace");
}

static void rows_have_a_limit(void **state)
{
    struct limits limits = default_limits;
    struct text_trace r;
    (void)state;
    limits.items = 2;
    static const char three[] = "[[5, 2, 1, 1], [6, 2, 1, 1], [7, 2, 1, 1]]";
    text_trace_read(three, strlen(three), 0, &limits, &r);
    assert_int_equal(r.status, VRS_LIMIT);
}

static void what_stands_behind_is_counted(void **state)
{
    struct text_trace r;
    (void)state;
    const struct trace *t = text_trace_of("[[5, 2, 100, 3]] x [", &r);
    assert_int_equal(t->damage[DAMAGE_BEHIND].count, 1);
    assert_int_equal(t->damage[DAMAGE_BEHIND].first_offset, 17);
    assert_int_equal(t->skipped_bytes, 3);
    text_trace_free(&r);
}

/* What the rows before a cut give: those that are whole. */
static void check_cuts(const char *text)
{
    struct text_trace whole;
    text_trace_of(text, &whole);
    assert_int_equal(whole.trace.damage[DAMAGE_TRUNCATED].count, 0);
    uint64_t kept = 0;
    for (size_t len = 0; len < strlen(text); len++) {
        struct text_trace r;
        text_trace_read(text, len, len % 3, &default_limits, &r);
        if (r.status != VRS_OK) {
            assert_int_equal(kept, 0);
            assert_true(r.err.message[0] != 0);
            continue;
        }
        const struct damage *d = &r.trace.damage[DAMAGE_TRUNCATED];
        if (d->count != 1 || d->first_offset != len || r.trace.events < kept ||
            r.trace.damage[DAMAGE_NOT_A_ROW].count > 0)
            fail_msg("cut at %zu: %d rows behind %d", len, (int)r.trace.events, (int)kept);
        kept = r.trace.events;
        /* Events of the last instant may come behind the cut. */
        if (r.trace.timeline.form == TIMELINE_STATES)
            assert_true(timeline_begins_as(&r.trace.timeline, &whole.trace.timeline));
        text_trace_free(&r);
    }
    assert_int_equal(kept, whole.trace.events);
    text_trace_free(&whole);
}

static void a_timeline_may_end_anywhere(void **state)
{
    (void)state;
    check_cuts(states);
    check_cuts(events);
}

/* However the bytes come. */
static void portions_change_nothing(void **state)
{
    (void)state;
    for (size_t step = 1; step < 9; step++) {
        struct text_trace whole, portions;
        text_trace_of(events, &whole);
        text_trace_read(events, strlen(events), step, &default_limits, &portions);
        assert_int_equal(portions.status, VRS_OK);
        assert_true(trace_same(&whole.trace, &portions.trace));
        text_trace_free(&whole);
        text_trace_free(&portions);
    }
}

static enum vrs_status read_both(void *arg)
{
    uint32_t *rows = arg;
    const char *const texts[] = { states, events };
    *rows = 0;
    for (size_t i = 0; i < 2; i++) {
        struct text_trace r;
        text_trace_read(texts[i], strlen(texts[i]), 0, &default_limits, &r);
        if (r.status != VRS_OK)
            return r.status;
        *rows += r.trace.timeline.rows.len;
        text_trace_free(&r);
    }
    return VRS_OK;
}

/* Memory that could not be given back changes nothing. */
static void all_are_read(void *arg)
{
    const uint32_t *rows = arg;
    assert_int_equal(*rows, 2 + 4);
}

static void every_allocation_may_fail(void **state)
{
    uint32_t rows = 0;
    (void)state;
    fault_each(read_both, all_are_read, &rows);
}

static bool is_taken_for_trace(const char *text)
{
    struct memory_bytes memory = { .start = (const uint8_t *)text,
                                   .end = (const uint8_t *)text + strlen(text) };
    struct peeked peeked;
    enum peeked_kind kind = PEEKED_OTHER;
    assert_int_equal(peek_kind(source_of_memory(&memory), &peeked, &kind, NULL), VRS_OK);
    peeked_free(&peeked);
    return kind == PEEKED_TRACE;
}

static void first_bytes_tell(void **state)
{
    (void)state;
    assert_true(is_taken_for_trace(states));
    assert_true(is_taken_for_trace(events));
    assert_true(is_taken_for_trace(" [\n[ ], []]"));
    assert_false(is_taken_for_trace("[[\"a\"]]"));
    assert_false(is_taken_for_trace("[[{\"segments\": []}]]"));
    assert_false(is_taken_for_trace("[5]"));
    assert_false(is_taken_for_trace("[["));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_as_the_file_has_them),
        cmocka_unit_test(states_may_begin_with_nothing),
        cmocka_unit_test(events_add_up),
        cmocka_unit_test(one_event_is_enough),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(states_of_other_numbers_are_dropped),
        cmocka_unit_test(what_is_no_state_is_dropped),
        cmocka_unit_test(events_of_other_numbers_are_dropped),
        cmocka_unit_test(the_first_event_may_be_dropped),
        cmocka_unit_test(times_and_states_may_be_of_other_numbers),
        cmocka_unit_test(times_never_fall),
        cmocka_unit_test(what_has_no_row_is_refused),
        cmocka_unit_test(rows_have_a_limit),
        cmocka_unit_test(what_stands_behind_is_counted),
        cmocka_unit_test(a_timeline_may_end_anywhere),
        cmocka_unit_test(portions_change_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(first_bytes_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
