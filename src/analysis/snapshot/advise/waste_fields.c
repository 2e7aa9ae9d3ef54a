/* waste_fields.c - the members of bytes that live too long, or come and go too often. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/advise/waste.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/site_fields.h"
#include "base/field.h"

#define SITE(type)                                                                                 \
    {                                                                                              \
        "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(type, site), .row = &site_row_type            \
    }

/* How long they live. */

static const struct field bin_fields[] = {
    { "from", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct waste_bin, from) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct waste_bin, bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct waste_bin, count), .least = 1 },
};
static const struct row_type bin_row_type = LINE_ROW_TYPE("bin", struct waste_bin, bin_fields);

#define LIFE(point)                                                                                \
    NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct waste, life_events[point]),                  \
        .null = NULL_ALL_ONES
static const struct field life_fields[] = {
    { "p50", LIFE(LIFE_50) },
    { "p90", LIFE(LIFE_90) },
    { "p99", LIFE(LIFE_99) },
};
static const struct row_type life_row_type =
    LINE_ROW_TYPE("life_events", struct waste, life_fields);

#define BINS(histogram)                                                                            \
    NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct waste, histogram.bin, histogram.bins),        \
        .row = &bin_row_type
static const struct field histogram_fields[] = {
    { "events", BINS(events) },
    { "us", BINS(us) },
    { "steps", BINS(steps) },
    { "life_events", NULL, UNIT_NONE, FIELD_ROW, .row = &life_row_type },
    { "censored_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct waste, censored_bytes) },
    { "censored_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct waste, censored_count) },
};
static const struct row_type histogram_row_type =
    ROW_TYPE("histogram", struct waste, histogram_fields);

/* By site. */

static const struct field byte_time_fields[] = {
    SITE(struct byte_time),
    { "byte_events", NULL, UNIT_BYTE_EVENTS, FIELD_UNSIGNED,
      FIELD_AT(struct byte_time, byte_events) },
    { "share_ratio", "byte-time", UNIT_RATIO, FIELD_REAL, FIELD_AT(struct byte_time, share_ratio),
      .decimals = 6, .bounded = true },
    { "peak_share_ratio", "peak", UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct byte_time, peak_share_ratio), .decimals = 6, .bounded = true },
};
const struct row_type byte_time_row_type =
    LINE_ROW_TYPE("byte_time", struct byte_time, byte_time_fields);

static const struct field long_fields[] = {
    SITE(struct long_temporary),
    { "bytes", "size", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct long_temporary, bytes) },
    { "first_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct long_temporary, first_event),
      .least = -1, .bounded = true },
    { "last_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct long_temporary, last_event),
      .bounded = true },
    { "median_life_events", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct long_temporary, median_life_events) },
};
const struct row_type long_temporary_row_type =
    LINE_ROW_TYPE("long_temporary", struct long_temporary, long_fields);

static bool is_in_step(const void *row, const void *above)
{
    const struct held_over *held = row;
    (void)above;
    return held->step != 0;
}

static const struct field held_fields[] = {
    SITE(struct held_over),
    { "phase", "phase", UNIT_NONE, FIELD_NAME, FIELD_AT(struct held_over, phase),
      FIELD_NAMES(phase_names) },
    { "step", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct held_over, step), .least = 1,
      .when = is_in_step },
    { "bytes", "size", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct held_over, bytes) },
};
const struct row_type held_over_row_type =
    LINE_ROW_TYPE("held_over", struct held_over, held_fields);

static const struct field churn_fields[] = {
    SITE(struct churn),
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct churn, bytes) },
    { "size_bytes", "each", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct churn, size_bytes) },
    { "count", "times", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct churn, count), .least = 2 },
    { "per_step", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct churn, per_step),
      .null = NULL_ALL_ONES },
    { "example_events", NULL, UNIT_EVENT, FIELD_VALUES,
      FIELD_PLACES(struct churn, example_event, example_events), .of = FIELD_SIGNED, .least = -1,
      .bounded = true, .line = true },
};
const struct row_type churn_row_type = LINE_ROW_TYPE("churn", struct churn, churn_fields);

static const struct field slack_fields[] = {
    SITE(struct slack_site),
    { "slack_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct slack_site, slack_bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct slack_site, count) },
};
static const struct row_type slack_row_type =
    LINE_ROW_TYPE("slack_site", struct slack_site, slack_fields);

static const struct field rounding_fields[] = {
    { "slack_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct waste, slack_bytes) },
    { "exact", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct waste, slack_exact) },
    { "sites", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct waste, slack, slacks),
      .row = &slack_row_type },
};
static const struct row_type rounding_row_type =
    ROW_TYPE("rounding", struct waste, rounding_fields);

static const struct field pending_site_fields[] = {
    SITE(struct pending_site),
    { "byte_events", NULL, UNIT_BYTE_EVENTS, FIELD_UNSIGNED,
      FIELD_AT(struct pending_site, byte_events) },
    { "longest_events", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct pending_site, longest_events) },
};
static const struct row_type pending_site_row_type =
    LINE_ROW_TYPE("pending_site", struct pending_site, pending_site_fields);

static const struct field pending_fields[] = {
    { "byte_events", NULL, UNIT_BYTE_EVENTS, FIELD_UNSIGNED,
      FIELD_AT(struct waste, pending_byte_events) },
    { "sites", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct waste, pending, pendings),
      .row = &pending_site_row_type },
};
static const struct row_type pending_row_type = ROW_TYPE("pending", struct waste, pending_fields);

/* Of the device. */

static const struct field device_churn_fields[] = {
    { "mapped_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct waste, mapped_bytes) },
    { "mapped", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct waste, mapped) },
    { "returned_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct waste, returned_bytes) },
    { "returned", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct waste, returned) },
};
static const struct row_type device_churn_row_type =
    LINE_ROW_TYPE("device_churn", struct waste, device_churn_fields);

static const struct field early_free_fields[] = {
    { "peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct waste, early_free.bytes) },
    { "peak_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct waste, early_free.event),
      .least = -1, .bounded = true },
    { "saving_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct waste, early_free_saving_bytes) },
};
static const struct row_type early_free_row_type =
    LINE_ROW_TYPE("early_free", struct waste, early_free_fields);

static const struct field waste_fields[] = {
    { "histogram", NULL, UNIT_NONE, FIELD_ROW, .row = &histogram_row_type },
    { "byte_time", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct waste, byte_time, byte_times),
      .row = &byte_time_row_type },
    { "long_temporaries", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct waste, long_temporary, long_temporaries), .row = &long_temporary_row_type },
    { "held_over_phase", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct waste, held_over, held_overs), .row = &held_over_row_type },
    { "churn", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct waste, churn, churns),
      .row = &churn_row_type },
    { "churn_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct waste, churn_ratio),
      .decimals = 6, .null = NULL_NEGATIVE },
    { "rounding", NULL, UNIT_NONE, FIELD_ROW, .row = &rounding_row_type },
    { "device_churn", NULL, UNIT_NONE, FIELD_ROW, .row = &device_churn_row_type },
    { "pending", NULL, UNIT_NONE, FIELD_ROW, .row = &pending_row_type },
    { "early_free", NULL, UNIT_NONE, FIELD_ROW, .row = &early_free_row_type },
};
const struct row_type waste_row_type = ROW_TYPE("waste", struct waste, waste_fields);
