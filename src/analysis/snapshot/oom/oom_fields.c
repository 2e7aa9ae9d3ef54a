/* oom_fields.c - the members of why a request failed: the moment, the tests, the evidence. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "allocator/replay/replay.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_measure.h"
#include "analysis/snapshot/oom/oom_message.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/oom/oom_what_if.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/site_fields.h"
#include "base/field.h"

/* The tests. */

static bool is_decided(const void *row, const void *above)
{
    const struct oom_test *test = row;
    (void)above;
    return test->holds != OOM_UNKNOWN;
}

static bool is_known(const void *row, const void *above)
{
    const struct oom_test *test = row;
    (void)above;
    return test->known;
}

static bool is_asked(const void *row, const void *above)
{
    const struct oom_test *test = row;
    (void)above;
    return test->asked;
}

static bool is_too_little(const void *row, const void *above)
{
    const struct oom_test *test = row;
    (void)above;
    return test->asked && !test->enough;
}

static const struct field test_fields[] = {
    { "id", "test", UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom_test, id),
      FIELD_NAMES(oom_verdict_names) },
    { "holds", "holds", UNIT_NONE, FIELD_BOOL, FIELD_AT(struct oom_test, holds),
      .when = is_decided },
    { "bytes", "bytes", UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct oom_test, bytes),
      .when = is_known },
    { "enough", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct oom_test, enough), .when = is_asked,
      .optional = true },
    { "reason", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct oom_test, reason),
      .when = is_too_little, .optional = true },
};
const struct row_type oom_test_row_type = LINE_ROW_TYPE("test", struct oom_test, test_fields);

/* The moment. */

/* Of a text alone it is not known what of the rest was waiting. */
static bool is_measured(const void *row, const void *above)
{
    const struct oom *oom = row;
    (void)above;
    return oom->basis != OOM_TEXT_ALONE;
}

static bool has_short_by(const void *row, const void *above)
{
    const struct oom *oom = row;
    (void)above;
    return oom->has_short_by;
}

#define KNOWN_BYTES(type, member)                                                                  \
    NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(type, member), .null = NULL_ALL_ONES
#define FIGURE(figure) KNOWN_BYTES(struct oom, measured.figures.figure)
static const struct field facts_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct oom, event), .null = NULL_NEGATIVE },
    { "time_us", NULL, UNIT_US, FIELD_UNSIGNED, FIELD_AT(struct oom, time_us),
      .null = NULL_ALL_ONES },
    { "request_bytes", FIGURE(request) },
    { "segment_bytes", FIGURE(segment) },
    { "device_free_bytes", FIGURE(device_free) },
    { "active_bytes", FIGURE(active) },
    { "pending_bytes", FIGURE(pending), .when = is_measured },
    { "reserved_bytes", FIGURE(reserved) },
    { "internal_free_bytes", FIGURE(internal_free) },
    { "free_runs", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom, measured.free_runs),
      .null = NULL_ALL_ONES },
    { "largest_usable_bytes", FIGURE(largest_usable) },
    { "returnable_bytes", FIGURE(returnable) },
    { "private_free_bytes", FIGURE(private_free) },
    { "other_stream_free_bytes", FIGURE(other_stream_free) },
    { "capacity_seen_bytes", KNOWN_BYTES(struct oom, capacity_seen_bytes) },
    { "outside_process_bytes", KNOWN_BYTES(struct oom, outside_process_bytes) },
    { "other_processes_bytes", KNOWN_BYTES(struct oom, other_processes_bytes) },
    { "short_by_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct oom, short_by_bytes),
      .when = has_short_by },
    { "verdict", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom, tests.verdict),
      FIELD_NAMES(oom_verdict_names) },
    { "confidence", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom, confidence),
      FIELD_NAMES(confidence_names) },
    { "exact", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct oom, exact) },
    { "tests", NULL, UNIT_NONE, FIELD_ROWS, FIELD_ARRAY(struct oom, tests.test),
      .row = &oom_test_row_type },
    { "also_true", NULL, UNIT_NONE, FIELD_VALUES,
      FIELD_PLACES(struct oom, tests.also_true, tests.also_trues), .of = FIELD_NAME,
      FIELD_NAMES(oom_verdict_names), .line = true },
};
const struct row_type oom_facts_row_type = ROW_TYPE("oom_facts", struct oom, facts_fields);

/* The evidence. */

static bool site_named(const void *row, const void *above)
{
    const struct oom_site *site = row;
    (void)above;
    return site->names.count > 0;
}

static const struct field site_fields[] = {
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct oom_site, site), .row = &site_row_type },
    { "bytes", "bytes", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_site, bytes) },
    { "count", "count", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom_site, count), .least = 1 },
    HELD_NAMES_FIELDS(struct oom_site, names, site_named),
};
const struct row_type oom_site_row_type = LINE_ROW_TYPE("oom_site", struct oom_site, site_fields);

static const struct field category_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom, category),
      FIELD_NAMES(category_names) },
    { "sites", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct oom, must_go_category.at, must_go_category.count),
      .row = &oom_site_row_type, .limited = true },
};
static const struct row_type category_row_type =
    ROW_TYPE("must_go_category", struct oom, category_fields);

#define SAID(part) KNOWN_BYTES(struct oom_message, part.bytes)
static const struct field text_fields[] = {
    { "try_bytes", SAID(tried) },
    { "device", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct oom_message, device),
      .null = NULL_NEGATIVE },
    { "capacity_bytes", SAID(capacity) },
    { "free_bytes", SAID(free) },
    { "process_bytes", SAID(process) },
    { "allowed_bytes", SAID(allowed) },
    { "allocated_bytes", SAID(allocated) },
    { "private_bytes", SAID(private_pools) },
    { "unallocated_bytes", SAID(unallocated) },
    { "reserved_bytes", SAID(reserved) },
    { "preemptive", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct oom_message, preemptive) },
};
static const struct row_type text_row_type = ROW_TYPE("oom_text", struct oom_message, text_fields);

static const struct field earlier_fields[] = {
    { "event", "event", UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct oom_earlier, event),
      .bounded = true },
    { "request_bytes", "request", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_earlier, request_bytes), .null = NULL_ALL_ONES },
    { "retries", "retries", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom_earlier, retries) },
    { "verdict", "verdict", UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom_earlier, verdict),
      FIELD_NAMES(oom_verdict_names) },
};
const struct row_type oom_earlier_row_type =
    LINE_ROW_TYPE("earlier", struct oom_earlier, earlier_fields);

static const struct field place_fields[] = {
    { "pool", "pool", UNIT_NUMBER, FIELD_VALUES, FIELD_ARRAY(struct oom_place, pool_ids),
      .of = FIELD_UNSIGNED, .line = true },
    { "stream", "stream", UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct oom_place, stream) },
    { "class", "class", UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom_place, small),
      FIELD_NAMES(memory_class_names) },
    { "reserved_bytes", "reserved", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_place, reserved_bytes) },
    { "active_bytes", "active", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_place, active_bytes) },
    { "free_bytes", "free", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_place, free_bytes) },
    { "returnable_bytes", "returnable", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_place, returnable_bytes) },
    { "largest_free_bytes", "largest", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_place, largest_free_bytes) },
};
const struct row_type oom_place_row_type = LINE_ROW_TYPE("place", struct oom_place, place_fields);

static const struct field pin_fields[] = {
    { "address", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct oom_pin, address) },
    { "total_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_pin, total_bytes) },
    { "free_bytes", "free", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_pin, free_bytes) },
    { "active_bytes", "active", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_pin, active_bytes) },
    { "blocks", "blocks", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom_pin, blocks) },
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct oom_pin, site), .row = &site_row_type },
};
const struct row_type oom_pin_row_type = LINE_ROW_TYPE("oom_pin", struct oom_pin, pin_fields);

static const struct field pending_fields[] = {
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct oom_pending, site),
      .row = &site_row_type },
    { "bytes", "waiting", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_pending, bytes) },
    { "count", "count", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom_pending, count) },
    { "oldest_event", "since event", UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct oom_pending, oldest_event), .least = -1, .bounded = true },
};
const struct row_type oom_pending_row_type =
    LINE_ROW_TYPE("oom_pending", struct oom_pending, pending_fields);

static bool serves(const void *row, const void *above)
{
    const struct oom_what_if *what_if = row;
    (void)above;
    return what_if->setting != NULL;
}

static const struct field what_if_fields[] = {
    { "tried", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom_what_if, tried), .least = 1 },
    { "setting", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct oom_what_if, setting) },
    { "reserved_peak_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct oom_what_if, reserved_peak_bytes), .when = serves },
    { "left_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct oom_what_if, left_bytes),
      .when = serves },
    { "runs_out", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct oom_what_if, runs_out) },
    { "agreement", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct oom_what_if, agreement),
      FIELD_NAMES(replay_grade_names) },
};
static const struct row_type what_if_row_type =
    LINE_ROW_TYPE("what_if", struct oom_what_if, what_if_fields);

/* All of it. */

static bool has_category(const void *row, const void *above)
{
    const struct oom *oom = row;
    (void)above;
    return oom->has_category;
}

static bool has_text(const void *row, const void *above)
{
    const struct oom *oom = row;
    (void)above;
    return oom->text.any;
}

static bool asked_what_if(const void *row, const void *above)
{
    const struct oom *oom = row;
    (void)above;
    return oom->what_if.tried > 0;
}

static bool any_named(const void *row, const void *above)
{
    const struct oom *oom = row;
    (void)above;
    return oom->names.count > 0;
}

static const struct field oom_fields[] = {
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, .row = &oom_facts_row_type },
    { "must_go", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct oom, must_go.at, must_go.count),
      .row = &oom_site_row_type, .limited = true, .table = true },
    { "must_go_category", NULL, UNIT_NONE, FIELD_ROW, .row = &category_row_type,
      .when = has_category },
    { "live_bytes", KNOWN_BYTES(struct oom, live_bytes) },
    HELD_NAMES_FIELDS(struct oom, names, any_named),
    { "previous_step_bytes", KNOWN_BYTES(struct oom, previous_step_bytes) },
    { "steps_of_growth", NULL, UNIT_COUNT, FIELD_REAL, FIELD_AT(struct oom, steps_of_growth),
      .decimals = 2, .null = NULL_NEGATIVE },
    { "text", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct oom, text), .row = &text_row_type,
      .when = has_text },
    { "request_stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct oom, request_stack) },
    { "retries", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct oom, retries) },
    { "earlier", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct oom, earlier, earliers),
      .row = &oom_earlier_row_type, .limited = true },
    { "places", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct oom, evidence.place, evidence.places), .row = &oom_place_row_type,
      .limited = true },
    { "pins", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct oom, evidence.pin, evidence.pins),
      .row = &oom_pin_row_type, .limited = true },
    { "pending", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct oom, evidence.pending, evidence.pendings), .row = &oom_pending_row_type,
      .limited = true },
    { "what_if", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct oom, what_if),
      .row = &what_if_row_type, .when = asked_what_if },
};
const struct row_type oom_row_type = ROW_TYPE("oom_result", struct oom, oom_fields);
