/* peak_fields.c - the members of what was alive at a moment. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/peak.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/breakdown/peak_moment.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/field.h"

static const struct field size_fields[] = {
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct size_count, bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct size_count, count), .least = 1 },
};
static const struct row_type size_row_type = ROW_TYPE("peak_size", struct size_count, size_fields);

static bool has_sizes(const void *row, const void *above)
{
    const struct peak_row *held = row;
    (void)above;
    return held->sizes > 0;
}

static const struct field owner_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_owner, name) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct peak_owner, bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct peak_owner, count), .least = 1 },
};
static const struct row_type owner_row_type =
    ROW_TYPE("peak_owner", struct peak_owner, owner_fields);

static bool has_owners(const void *row, const void *above)
{
    const struct peak_row *held = row;
    (void)above;
    return held->owners > 0;
}

static bool has_names(const void *row, const void *above)
{
    const struct peak_row *held = row;
    (void)above;
    return held->names.count > 0;
}

static bool is_by_name(const void *row, const void *above)
{
    const struct peak_moment *moment = above;
    (void)row;
    return moment != NULL && peak_is_by_name(moment->peak.by);
}

static const struct field row_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_row, name) },
    { "bytes", "bytes", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct peak_row, bytes) },
    { "count", "count", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct peak_row, count), .least = 1 },
    { "share_ratio", "share", UNIT_RATIO, FIELD_REAL, FIELD_AT(struct peak_row, share_ratio),
      .decimals = 6, .bounded = true },
    { "largest_bytes", "largest", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct peak_row, largest_bytes) },
    { "oldest_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct peak_row, oldest_event),
      .least = -1, .bounded = true },
    { "median_age_events", NULL, UNIT_COUNT, FIELD_REAL,
      FIELD_AT(struct peak_row, median_age_events), .decimals = 1, .null = NULL_NEGATIVE },
    { "slack_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct peak_row, slack_bytes),
      .null = NULL_ALL_ONES },
    { "culprit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_row, culprit) },
    { "owner", "owner", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_row, owner) },
    { "category", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_row, category) },
    { "confidence", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_row, confidence) },
    { "rule", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct peak_row, rule) },
    { "stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct peak_row, stack) },
    { "sizes", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct peak_row, size, sizes),
      .row = &size_row_type, .when = has_sizes, .optional = true },
    { "owners", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct peak_row, owner_rows, owners),
      .row = &owner_row_type, .when = has_owners, .optional = true },
    HELD_NAMES_FIELDS(struct peak_row, names, has_names),
    { "named", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct peak_row, named), .when = is_by_name,
      .optional = true },
};
const struct row_type peak_row_type = LINE_ROW_TYPE("peak_row", struct peak_row, row_fields);

/* What the rows that are not shown hold. */
static void make_other(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct peak_moment *moment = row;
    (void)above;
    for (uint32_t i = limit; i < moment->peak.rows; i++)
        ret->number += moment->peak.row[i].bytes;
}

static bool any_named(const void *row, const void *above)
{
    const struct peak_moment *moment = row;
    (void)above;
    return moment->peak.names.count > 0;
}

static const struct field moment_fields[] = {
    { "by", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct peak_moment, peak.by),
      FIELD_NAMES(peak_by_names) },
    { "at_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct peak_moment, peak.at_event),
      .least = -1, .bounded = true },
    { "total_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct peak_moment, peak.total_bytes) },
    { "adjust_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct peak_moment, peak.adjust_bytes) },
    { "other_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, .make = make_other },
    { "active_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct peak_moment, blocks.active),
      .null = NULL_ALL_ONES },
    { "allocated_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct peak_moment, blocks.allocated), .null = NULL_ALL_ONES },
    { "block_bytes_exact", NULL, UNIT_NONE, FIELD_BOOL,
      FIELD_AT(struct peak_moment, blocks_exact) },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct peak_moment, peak.row, peak.rows),
      .row = &peak_row_type, .limited = true, .table = true },
    { "named_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct peak_moment, peak.names.bytes), .when = any_named, .optional = true },
};
const struct row_type peak_moment_row_type =
    ROW_TYPE("peak_result", struct peak_moment, moment_fields);
