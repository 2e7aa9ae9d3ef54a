/* fragments_fields.c - the members of reserved memory that cannot be used, and of what pins it. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/site_fields.h"
#include "base/field.h"

static bool has_all_metrics(const void *row, const void *above)
{
    const struct fragments *f = above;
    (void)row;
    return f->all_metrics;
}

static const struct field group_fields[] = {
    { "pool", NULL, UNIT_NUMBER, FIELD_VALUES, FIELD_ARRAY(struct fragment_group, pool_ids),
      .of = FIELD_UNSIGNED, .line = true },
    { "stream", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct fragment_group, stream) },
    { "class", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct fragment_group, small),
      FIELD_NAMES(memory_class_names) },
    { "reserved_bytes", "reserved", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, reserved_bytes) },
    { "active_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, active_bytes) },
    { "pending_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, pending_bytes) },
    { "slack_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, slack_bytes) },
    { "free_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct fragment_group, free_bytes) },
    { "returnable_bytes", "cached", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, returnable_bytes) },
    { "stranded_bytes", "stranded", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, stranded_bytes) },
    { "stranded_ratio", "share", UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct fragment_group, stranded_ratio), .decimals = 6, .bounded = true },
    { "largest_free_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, largest_free_bytes) },
    { "servable_bytes", "largest fit", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, servable_bytes) },
    { "naive_ratio", "1-largest/free", UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct fragment_group, naive_ratio), .decimals = 6, .null = NULL_NEGATIVE,
      .when = has_all_metrics, .optional = true },
};
const struct row_type fragment_group_row_type =
    LINE_ROW_TYPE("fragment_group", struct fragment_group, group_fields);

static const struct field pool_fields[] = {
    { "pool", NULL, UNIT_NUMBER, FIELD_VALUES, FIELD_ARRAY(struct fragment_group, pool_ids),
      .of = FIELD_UNSIGNED, .line = true },
    { "reserved_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, reserved_bytes) },
    { "active_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, active_bytes) },
    { "pending_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, pending_bytes) },
    { "slack_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, slack_bytes) },
    { "held_for_graph_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_group, free_bytes) },
};
const struct row_type fragment_pool_row_type =
    LINE_ROW_TYPE("fragment_pool", struct fragment_group, pool_fields);

static bool pin_has_names(const void *row, const void *above)
{
    const struct fragment_pin *pin = row;
    (void)above;
    return pin->names.count > 0;
}

static const struct field pin_fields[] = {
    { "address", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct fragment_pin, address) },
    { "total_bytes", "segment", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_pin, total_bytes) },
    { "free_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct fragment_pin, free_bytes) },
    { "active_bytes", "in use", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_pin, active_bytes) },
    { "blocks", "blocks", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct fragment_pin, blocks) },
    { "leverage_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct fragment_pin, leverage_ratio),
      .decimals = 6, .bounded = true },
    { "stranded_bytes", "pinned", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_pin, stranded_bytes) },
    { "returned_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_pin, returned_bytes) },
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct fragment_pin, by.site),
      .row = &site_row_type },
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct fragment_pin, by.category),
      FIELD_NAMES(category_names) },
    { "expected", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct fragment_pin, by.expected) },
    HELD_NAMES_FIELDS(struct fragment_pin, names, pin_has_names),
};
const struct row_type fragment_pin_row_type =
    LINE_ROW_TYPE("fragment_pin", struct fragment_pin, pin_fields);

static bool move_has_names(const void *row, const void *above)
{
    const struct fragment_move *move = row;
    (void)above;
    return move->names.count > 0;
}

static const struct field move_fields[] = {
    { "address", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct fragment_move, address) },
    { "bytes", "block", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct fragment_move, bytes) },
    { "returned_bytes", "returns", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct fragment_move, returned_bytes) },
    { "age_events", "age", UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct fragment_move, age_events),
      .null = NULL_NEGATIVE },
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct fragment_move, by.site),
      .row = &site_row_type },
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct fragment_move, by.category),
      FIELD_NAMES(category_names) },
    { "expected", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct fragment_move, by.expected) },
    HELD_NAMES_FIELDS(struct fragment_move, names, move_has_names),
};
const struct row_type fragment_move_row_type =
    LINE_ROW_TYPE("fragment_move", struct fragment_move, move_fields);

static const struct field stream_fields[] = {
    { "stream", NULL, UNIT_ADDRESS, FIELD_UNSIGNED, FIELD_AT(struct fragment_stream, stream) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct fragment_stream, bytes) },
    { "last_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct fragment_stream, last_event),
      .null = NULL_NEGATIVE },
};
static const struct row_type stream_row_type =
    LINE_ROW_TYPE("fragment_stream", struct fragment_stream, stream_fields);

static const struct field fragments_fields[] = {
    { "at_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct fragments, at_event), .least = -1,
      .bounded = true },
    { "groups", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct fragments, group, groups),
      .row = &fragment_group_row_type, .table = true },
    { "pins", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct fragments, pin, pins),
      .row = &fragment_pin_row_type, .limited = true },
    { "moves", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct fragments, move, moves),
      .row = &fragment_move_row_type },
    { "private_pools", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct fragments, pool, pools),
      .row = &fragment_pool_row_type },
    { "stream_stranded", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct fragments, stream, streams),
      .row = &stream_row_type },
};
const struct row_type fragments_row_type =
    ROW_TYPE("fragments_result", struct fragments, fragments_fields);
