/* Measurements out of JSON: what is read, and the words for everything that is wrong with one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "base/str.h"
#include "format/input/limits.h"
#include "format/input/source.h"
#include "format/peek.h"
#include "format/read_measurement.h"
#include "made/dribble.h"
#include "made/fault.h"
#include "model/ids.h"
#include "model/measurement.h"

#define SCHEMA "\"schema\": \"vramscope.measurement/1\""
#define TIME                                                                                       \
    "{\"name\": \"step\", \"unit\": \"ms\", \"clock\": \"device\", \"count\": 3, \"first\": 9,\n"  \
    "  \"median\": 2.5, \"values\": [2, 2.5, 3e0]}"
#define OLD                                                                                        \
    "{\"name\": \"data\", \"unit\": \"ms\", \"clock\": \"host\", \"count\": 3, \"median\": null}"
#define FIGURE "{\"name\": \"throughput\", \"unit\": \"samples/s\", \"clock\": null, \"value\": 64}"
#define PHASE                                                                                      \
    "{\"path\": [\"model\", \"forward\"], \"device\": 1, \"peak_bytes\": 4096,\n"                  \
    "  \"peak_delta_bytes\": null, \"states\": {\"exact\": 3}}"
#define UNDER                                                                                      \
    "{\"model\": \"Net\", \"batch_size\": 64, \"input_shape\": [3, 32], \"mode\": null,\n"         \
    "  \"cudnn_benchmark\": true}"
#define DOCUMENT(times, phases, figures, conditions)                                               \
    "{" SCHEMA ", \"tool\": \"1.2.3\", \"what\": \"training\",\n"                                  \
    " \"times\": [" times "], \"phases\": [" phases "], \"figures\": [" figures "],\n"             \
    " \"conditions\": " conditions ", \"notes\": [\"x\"]}"

static const char whole[] = DOCUMENT(TIME ", " OLD, PHASE, FIGURE, UNDER);

struct read {
    enum vrs_status status;
    struct vrs_error err;
    struct measurement m; /* when status is VRS_OK */
};

static void read_bytes(const char *text, size_t len, size_t step, struct read *ret)
{
    struct dribble d = { .at = (const uint8_t *)text, .left = len, .step = step };
    *ret = (struct read){ .err.message = "" };
    ret->status = read_measurement(dribble_source(&d), &default_limits, &ret->m, &ret->err);
}

static void check_is(str text, const char *wanted)
{
    if (wanted == NULL ? text.ptr != NULL : !str_equal(text, str_from(wanted)))
        fail_msg("\"%.*s\", not \"%s\"", (int)text.len, text.ptr, wanted);
}

static void check_whole(const struct measurement *m)
{
    check_is(m->what, "training");
    check_is(m->tool, "1.2.3");
    assert_int_equal(m->time.len, 2);
    check_is(m->time.at[0].name, "step");
    check_is(m->time.at[0].clock, "device");
    assert_true(m->time.at[0].has_values && m->time.at[0].median == 2.5);
    assert_int_equal(m->time.at[0].values, 3);
    assert_true(m->value.at[0] == 2 && m->value.at[1] == 2.5 && m->value.at[2] == 3);
    assert_true(!m->time.at[1].has_values && isnan(m->time.at[1].median));
    assert_int_equal(m->figure.len, 1);
    check_is(m->figure.at[0].clock, NULL);
    assert_true(m->figure.at[0].value == 64);
    assert_int_equal(m->phase.len, 1);
    check_is(m->phase.at[0].path, "model/forward");
    assert_int_equal(m->phase.at[0].device, 1);
    assert_int_equal(m->phase.at[0].peak_bytes, 4096);
    assert_true(m->phase.at[0].peak_delta_bytes == UNKNOWN_U64);
    check_is(m->condition[CONDITION_MODEL], "Net");
    check_is(m->condition[CONDITION_BATCH_SIZE], "64");
    check_is(m->condition[CONDITION_INPUT_SHAPE], "3, 32");
    check_is(m->condition[CONDITION_MODE], NULL);
    check_is(m->condition[CONDITION_CUDNN_BENCHMARK], "true");
    check_is(m->condition[CONDITION_GPU], NULL);
}

static void a_measurement_is_as_the_file_has_it(void **state)
{
    static const size_t steps[] = { 0, 1, 7 };
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct read r;
        read_bytes(whole, strlen(whole), steps[i], &r);
        if (r.status != VRS_OK)
            fail_msg("%s", r.err.message);
        check_whole(&r.m);
        measurement_free(&r.m);
    }
}

static void a_diagnosis_has_one_inside(void **state)
{
    char text[3000];
    struct read r;
    (void)state;
    snprintf(text, sizeof text,
             "{\"schema\": \"vramscope.diagnosis/1\", \"times\": 7, \"figures\": [[{}]],"
             " \"measurement\": %s, \"what\": null}\n",
             whole);
    read_bytes(text, strlen(text), 0, &r);
    if (r.status != VRS_OK)
        fail_msg("%s", r.err.message);
    check_whole(&r.m);
    measurement_free(&r.m);
}

/* What is wrong, and a part of the words for it, which name the member. */
static void check_wrong(const char *text, enum vrs_status status, const char *words)
{
    struct read r;
    read_bytes(text, strlen(text), 0, &r);
    if (r.status == VRS_OK)
        measurement_free(&r.m);
    if (r.status != status || strstr(r.err.message, words) == NULL)
        fail_msg("%.300s\nis %d, \"%s\", not %d, \"%s\"", text, (int)r.status, r.err.message,
                 (int)status, words);
}

/* The name, the unit, the clock and the count. */
#define STEP "\"name\": \"step\", \"unit\": \"ms\", \"clock\": \"device\", \"count\": 3"
#define TIMES(row) DOCUMENT(row, "", "", "{}")

static void every_member_that_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { TIMES("{" STEP ", \"median\": \"2\"}"),
          "\"times[0].median\" is a text, and should be a number or null" },
        { TIMES("{" STEP ", \"median\": [2]}"), "\"times[0].median\" is a list" },
        { TIMES("{" STEP ", \"median\": {}}"), "\"times[0].median\" is an object" },
        { TIMES("{" STEP ", \"median\": true}"), "\"times[0].median\" is true or false" },
        { TIMES("{" STEP ", \"median\": 1e999}"),
          "\"times[0].median\" is above 1.797e308, the largest number" },
        { TIMES("{" STEP ", \"median\": -1}"), "\"times[0].median\" is below 0" },
        { TIMES("{" STEP ", \"median\": 1, \"median\": 1}"),
          "\"times[0].median\" is given twice" },
        { TIMES("{" STEP "}"), "\"times[0]\" has no member \"median\"" },
        { TIMES("{" STEP ", \"median\": 1, \"values\": [1, NaN]}"),
          "\"times[0].values[1]\" is null, and should be a number" },
        { TIMES("{" STEP ", \"median\": 1, \"values\": [1, -Infinity]}"),
          "\"times[0].values[1]\" is null" },
        { TIMES("{" STEP ", \"median\": 1, \"values\": [1e400]}"),
          "\"times[0].values[0]\" is above 1.797e308, the largest number" },
        { TIMES("{" STEP ", \"median\": 1, \"values\": [[1]]}"),
          "\"times[0].values[0]\" is a list" },
        { TIMES("{" STEP ", \"median\": 1, \"values\": null}"),
          "\"times[0].values\" is null, and should be a list" },
        { TIMES("{" STEP ", \"median\": 1, \"values\": [1], \"values\": [1]}"),
          "\"times[0].values\" is given twice" },
        { TIMES(TIME ", " TIME), "\"times[1]\" has the same name as a row before it" },
        { TIMES(TIME ", 7"), "\"times[1]\" is a number, and should be an object" },
        { TIMES("{\"name\": null}"), "\"times[0].name\" is null, and should be a text" },
        { TIMES("{\"count\": 1.5}"), "\"times[0].count\" is not a whole number of at least 0" },
        { TIMES("{\"count\": -1}"), "\"times[0].count\" is not a whole number of at least 0" },
        { TIMES("{\"count\": 18446744073709551616}"),
          "\"times[0].count\" is not a whole number of at least 0" },
        { DOCUMENT("", "", FIGURE ", " FIGURE, "{}"), "\"figures[1]\" has the same name" },
        { DOCUMENT("", "", "{\"name\": \"x\"}", "{}"), "\"figures[0]\" has no member \"unit\"" },
        { DOCUMENT("", PHASE ", " PHASE, "", "{}"), "\"phases[1]\" has the same name" },
        { DOCUMENT("", "{\"path\": [7]}", "", "{}"),
          "\"phases[0].path[0]\" is a number, and should be a text" },
        { DOCUMENT("", "{\"path\": [], \"peak_bytes\": 1e3}", "", "{}"),
          "\"phases[0].peak_bytes\" is not a whole number of at least 0" },
        { DOCUMENT("", "", "", "[]"), "\"conditions\" is a list, and should be an object" },
        { DOCUMENT("", "", "", "{\"model\": 7}"), "\"conditions.model\" is a number" },
        { DOCUMENT("", "", "", "{\"batch_size\": \"7\"}"),
          "\"conditions.batch_size\" is a text, and should be a number or null" },
        { DOCUMENT("", "", "", "{\"input_shape\": [\"x\"]}"),
          "\"conditions.input_shape[0]\" is a text" },
        { DOCUMENT("", "", "", "{\"gpu\": null, \"gpu\": null}"),
          "\"conditions.gpu\" is given twice" },
        { "{" SCHEMA "}", "the document has no member \"what\"" },
        { "{" SCHEMA ", " SCHEMA "}", "\"schema\" is given twice" },
        { "{" SCHEMA ", \"times\": {}}", "\"times\" is an object, and should be a list" },
        { "{\"what\": \"training\", " SCHEMA "}", "the first member of the document" },
        { "{}", "the document has no member \"schema\"" },
        { "[" TIME "]", "the document is a list, and should be an object" },
        { "{\"schema\": \"vramscope.diagnosis/1\"}", "has no member \"measurement\"" },
        { "{\"schema\": \"vramscope.diagnosis/1\", \"measurement\": null}",
          "\"measurement\" is null, and should be an object" },
        { "{\"schema\": \"vramscope.diagnosis/1\", \"measurement\": {\"times\": []}}",
          "the first member of \"measurement\"" },
        { "{\"schema\": \"vramscope.diagnosis/1\", \"measurement\": {" SCHEMA
          ", \"what\": 7}}",
          "\"measurement.what\" is a number" },
        { TIMES("") " 7", "the measurement ends here, and the file goes on" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_wrong(wrong[i].text, VRS_CORRUPT, wrong[i].words);
}

/* Six values whose figures are whole: 2, 4, 4, 4, 8, 14. */
#define VALUES "\"values\": [14, 4, 2, 4, 8, 4]"
#define SIX "\"name\": \"step\", \"unit\": \"ms\", \"clock\": \"device\", \"count\": 6"

static void what_contradicts_itself_is_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { TIMES("{" SIX ", \"median\": 3.5, " VALUES "}"),
          "\"times[0].median\" is 3.5, but its values give 4" },
        { TIMES("{" SIX ", " VALUES ", \"median\": 4.000001}"),
          "\"times[0].median\" is 4.000001, but its values give 4" },
        { TIMES("{" SIX ", \"median\": 4, \"mean\": 7, " VALUES "}"),
          "\"times[0].mean\" is 7, but its values give 6" },
        { TIMES("{" SIX ", \"median\": 4, \"deviation\": 4.4, " VALUES "}"),
          "\"times[0].deviation\" is 4.4, but its values give 4" },
        { TIMES("{" SIX ", \"median\": 4, \"least\": 1, " VALUES "}"),
          "\"times[0].least\" is 1, but its values give 2" },
        { TIMES("{" SIX ", \"median\": 4, \"most\": 15, " VALUES "}"),
          "\"times[0].most\" is 15, but its values give 14" },
        { TIMES("{" SIX ", \"median\": 4, \"p95\": 12, " VALUES "}"),
          "\"times[0].p95\" is 12, but its values give 12.5" },
        { TIMES("{" SIX ", \"median\": 4, \"p99\": 13, " VALUES "}"),
          "\"times[0].p99\" is 13, but its values give 13.7" },
        { TIMES("{" STEP ", \"median\": 4, " VALUES "}"),
          "\"times[0].count\" is 3, but the number of its values is 6" },
        { TIMES("{" SIX ", \"median\": 4, \"values\": []}"),
          "\"times[0].count\" is 6, but the number of its values is 0" },
        { TIMES(TIME ", {" SIX ", \"median\": 4, \"least\": 5}"),
          "\"times[1].least\" is 5, but \"median\", which cannot be less, is 4" },
        { TIMES("{" SIX ", \"median\": 4, \"least\": 3, \"mean\": 2}"),
          "\"times[0].least\" is 3, but \"mean\", which cannot be less, is 2" },
        { TIMES("{" SIX ", \"median\": null, \"least\": 9, \"p95\": 3}"),
          "\"times[0].least\" is 9, but \"p95\", which cannot be less, is 3" },
        { TIMES("{" SIX ", \"median\": null, \"least\": 9, \"p99\": 3}"),
          "\"times[0].least\" is 9, but \"p99\", which cannot be less, is 3" },
        { TIMES("{" SIX ", \"median\": null, \"least\": 3, \"most\": 2}"),
          "\"times[0].least\" is 3, but \"most\", which cannot be less, is 2" },
        { TIMES("{" SIX ", \"median\": 4, \"p95\": 3}"),
          "\"times[0].median\" is 4, but \"p95\", which cannot be less, is 3" },
        { TIMES("{" SIX ", \"median\": 4, \"p99\": 3}"),
          "\"times[0].median\" is 4, but \"p99\", which cannot be less, is 3" },
        { TIMES("{" SIX ", \"median\": 4, \"most\": 3}"),
          "\"times[0].median\" is 4, but \"most\", which cannot be less, is 3" },
        { TIMES("{" SIX ", \"median\": null, \"mean\": 4, \"most\": 3}"),
          "\"times[0].mean\" is 4, but \"most\", which cannot be less, is 3" },
        { TIMES("{" SIX ", \"median\": 4, \"p95\": 6, \"p99\": 5}"),
          "\"times[0].p95\" is 6, but \"p99\", which cannot be less, is 5" },
        { TIMES("{" SIX ", \"median\": 4, \"p95\": 6, \"most\": 5}"),
          "\"times[0].p95\" is 6, but \"most\", which cannot be less, is 5" },
        { TIMES("{" SIX ", \"median\": 4, \"p99\": 6, \"most\": 5}"),
          "\"times[0].p99\" is 6, but \"most\", which cannot be less, is 5" },
        { TIMES("{\"name\": \"\", \"unit\": \"\", \"clock\": \"\", \"count\": 0, \"median\": 4}"),
          "\"times[0].median\" is 4, but \"count\" is 0" },
        { DOCUMENT("", "{\"path\": [], \"device\": 0, \"peak_bytes\": 18446744073709551613, "
                       "\"peak_delta_bytes\": 18446744073709551614}", "", "{}"),
          "\"phases[0].peak_delta_bytes\" is 18446744073709551614, but \"peak_bytes\", which "
          "cannot be less, is 18446744073709551613" },
        { "{\"schema\": \"vramscope.diagnosis/1\", \"measurement\": "
          TIMES("{" SIX ", \"median\": 3.5, " VALUES "}") "}",
          "\"measurement.times[0].median\" is 3.5, but its values give 4" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_wrong(wrong[i].text, VRS_CORRUPT, wrong[i].words);
}

/* All figures as printed with ten digits and more, unknown ones, and numbers at the ends. */
static void what_agrees_is_read(void **state)
{
    static const char *const good[] = {
        TIMES("{" SIX ", \"median\": 4.0000000001, \"mean\": 6, \"deviation\": 4, \"least\": 2, "
              "\"most\": 14, \"p95\": 12.5, \"p99\": 13.700000000000001, " VALUES "}"),
        TIMES("{" SIX ", \"median\": null, \"mean\": null, \"p95\": null, " VALUES "}"),
        TIMES("{" SIX ", \"median\": 4, \"least\": 4, \"most\": 4, \"mean\": 4.000000000000001}"),
        TIMES("{" STEP ", \"median\": 1e308, \"mean\": 1e308, \"deviation\": 0, "
              "\"values\": [1e308, 1e308, 1e308]}"),
        TIMES("{" STEP ", \"median\": 0, \"mean\": 0, \"deviation\": 0, \"least\": 0, \"most\": 0, "
              "\"values\": [0, 0, 0]}"),
        TIMES("{\"name\": \"\", \"unit\": \"\", \"clock\": \"\", \"count\": 0, \"median\": null, "
              "\"values\": []}"),
        DOCUMENT("", "{\"path\": [], \"device\": 0, \"peak_bytes\": 7, \"peak_delta_bytes\": 7}",
                 "", "{}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct read r;
        read_bytes(good[i], strlen(good[i]), 0, &r);
        if (r.status != VRS_OK)
            fail_msg("%s\n%s", good[i], r.err.message);
        measurement_free(&r.m);
    }
}

/* A document of a time with so many values, all of them 5 but the last, 7. */
static const char *many(char *text, size_t room, int values, int count, const char *figures)
{
    size_t len = (size_t)snprintf(text, room,
                                  "{" SCHEMA ", \"what\": \"\", \"phases\": [], \"figures\": [], "
                                  "\"conditions\": {}, \"times\": [{\"name\": \"\", \"unit\": "
                                  "\"\", \"clock\": \"\", \"count\": %d, %s, \"values\": [7",
                                  count, figures);
    for (int i = 1; i < values; i++)
        len += (size_t)snprintf(text + len, room - len, ",5");
    snprintf(text + len, room - len, "]}]}");
    return text;
}

/* Of those that are thinned the figures are of values that are not there, but for the ends. */
static void thinned_values_tell_the_ends(void **state)
{
    static char text[20000];
    struct read r;
    (void)state;
    many(text, sizeof text, 4096, 4097, "\"median\": 6, \"mean\": 5.5, \"least\": 4, \"most\": 8");
    read_bytes(text, strlen(text), 0, &r);
    if (r.status != VRS_OK)
        fail_msg("%s", r.err.message);
    measurement_free(&r.m);
    check_wrong(many(text, sizeof text, 4095, 4096, "\"median\": 5"), VRS_CORRUPT,
                "\"times[0].count\" is 4096, but the number of its values is 4095");
    check_wrong(many(text, sizeof text, 4097, 4096, "\"median\": 5"), VRS_CORRUPT,
                "\"times[0].count\" is 4096, but the number of its values is 4097");
    check_wrong(many(text, sizeof text, 4096, 4096, "\"median\": 6"), VRS_CORRUPT,
                "\"times[0].median\" is 6, but its values give 5");
    check_wrong(many(text, sizeof text, 4096, 9999, "\"median\": 6, \"least\": 6"), VRS_CORRUPT,
                "\"times[0].least\" is 6, but its values give 5");
    check_wrong(many(text, sizeof text, 4096, 9999, "\"median\": 6, \"most\": 6"), VRS_CORRUPT,
                "\"times[0].most\" is 6, but its values give 7");
}

static void what_is_no_measurement_is_refused(void **state)
{
    (void)state;
    check_wrong("{\"schema\": \"vramscope.measurement/2\"}", VRS_UNSUPPORTED,
                "its schema is not one that is compared");
    check_wrong("{\"schema\": \"vramscope.measurement/12\"}", VRS_UNSUPPORTED,
                "its schema is not one that is compared");
    check_wrong("{\"schema\": \"vramscope.leaks/1\"}", VRS_UNSUPPORTED,
                "its schema is not one that is compared");
    check_wrong("{\"schema\": \"vramscope.diagnosis/1\", \"measurement\": {\"schema\": "
                "\"vramscope.diagnosis/1\"}}",
                VRS_UNSUPPORTED, "its schema is not one that is compared");
    check_wrong("<html>", VRS_UNSUPPORTED, "no measurement");
    check_wrong("\x80\x04", VRS_UNSUPPORTED, "no measurement");
    check_wrong("just text", VRS_UNSUPPORTED, "neither JSON nor HTML");
    check_wrong("", VRS_CORRUPT, "empty: the program");
}

/* Each beginning fails, since all of it is needed, but for the blank behind it. */
static void every_cut_is_told(void **state)
{
    (void)state;
    for (size_t len = 0; len < strlen(whole); len++) {
        struct read r;
        read_bytes(whole, len, 0, &r);
        if (r.status == VRS_OK || r.err.message[0] == '\0' || r.err.status != r.status)
            fail_msg("%d of %d bytes: %d", (int)len, (int)strlen(whole), (int)r.status);
        if (len >= 5)
            assert_non_null(strstr(r.err.message, "the file ends inside the measurement"));
    }
}

static void too_much_is_refused(void **state)
{
    static char text[4 << 20];
    size_t len = 0;
    (void)state;
    len += (size_t)snprintf(text, sizeof text, "{" SCHEMA ", \"figures\": [");
    for (int i = 0; i <= MEASURED_ROWS_MOST; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s{\"name\": \"%d\", \"unit\": \"\", \"clock\": null, "
                                "\"value\": 1}",
                                i == 0 ? "" : ", ", i);
    check_wrong(text, VRS_LIMIT, "\"figures[1000]\" is one too many: 1000 rows are read");
    len = (size_t)snprintf(text, sizeof text, "{" SCHEMA ", \"times\": [{\"values\": [0");
    for (int i = 0; i < MEASURED_VALUES_MOST; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ",0");
    snprintf(text + len, sizeof text - len, "]");
    check_wrong(text, VRS_LIMIT, "\"times[0].values[1048576]\" is one too many: ");
    len = (size_t)snprintf(text, sizeof text, "{" SCHEMA ", \"phases\": [{\"path\": [\"\"");
    for (int i = 0; i < 64; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ",\"\"");
    check_wrong(text, VRS_LIMIT, "\"phases[0].path[64]\" is one too many: ");
    len = (size_t)snprintf(text, sizeof text, "{" SCHEMA ", \"phases\": [{\"path\": [\"x\", \"");
    memset(text + len, 'x', 1 << 16);
    snprintf(text + len + (1 << 16), 8, "\"");
    check_wrong(text, VRS_LIMIT, "\"phases[0].path[1]\" is too long");
    len = (size_t)snprintf(text, sizeof text, "{" SCHEMA ", \"other\": ");
    memset(text + len, '[', 4000);
    text[len + 4000] = '\0';
    check_wrong(text, VRS_LIMIT, "value nested deeper than");
}

static enum vrs_status read_whole(void *arg)
{
    struct measurement *m = arg;
    struct memory_bytes memory = { .start = (const uint8_t *)whole,
                                   .end = (const uint8_t *)whole + strlen(whole) };
    enum vrs_status status = read_measurement(source_of_memory(&memory), &default_limits, m, NULL);
    if (status == VRS_OK) {
        check_whole(m);
        measurement_free(m);
    }
    return status;
}

static void every_allocation_may_fail(void **state)
{
    struct measurement m;
    (void)state;
    fault_each(read_whole, NULL, &m);
}

static enum peeked_kind kind_of(const char *text)
{
    struct memory_bytes memory = { .start = (const uint8_t *)text,
                                   .end = (const uint8_t *)text + strlen(text) };
    struct peeked peeked;
    enum peeked_kind kind = PEEKED_OTHER;
    assert_int_equal(peek_kind(source_of_memory(&memory), &peeked, &kind, NULL), VRS_OK);
    peeked_free(&peeked);
    return kind;
}

static void first_bytes_tell(void **state)
{
    (void)state;
    assert_int_equal(kind_of(whole), PEEKED_MEASUREMENT);
    assert_int_equal(kind_of(" {\n\"schema\" :\t\"vramscope.diagnosis/1\""), PEEKED_MEASUREMENT);
    assert_int_equal(kind_of("{\"schema\": \"vramscope.measurement/9\"}"), PEEKED_MEASUREMENT);
    assert_int_equal(kind_of("{\"schema\": \"vramscope.leaks/1\"}"), PEEKED_OTHER);
    assert_int_equal(kind_of("{\"what\": 1, " SCHEMA "}"), PEEKED_OTHER);
    assert_int_equal(kind_of("{\"schema\": 1, \"traceEvents\": []}"), PEEKED_TRACE);
    assert_int_equal(kind_of("{\"traceEvents\": [], " SCHEMA "}"), PEEKED_TRACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measurement_is_as_the_file_has_it),
        cmocka_unit_test(a_diagnosis_has_one_inside),
        cmocka_unit_test(every_member_that_is_wrong_is_named),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(what_agrees_is_read),
        cmocka_unit_test(thinned_values_tell_the_ends),
        cmocka_unit_test(what_is_no_measurement_is_refused),
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(first_bytes_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
