/* diff_fields.c - the members of what changed between two recordings. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "base/field.h"

/* `above` is the struct diff that a row stands in. */
static bool is_divided(const void *row, const void *above)
{
    const struct diff *d = above;
    (void)row;
    return d->per != DIFF_PER_NOTHING;
}

static bool has_byte_events(const void *row, const void *above)
{
    const struct diff *d = above;
    (void)row;
    return d->weight == DIFF_BYTE_EVENTS;
}

/* The same of a struct diff itself. */
static bool result_is_divided(const void *row, const void *above)
{
    (void)above;
    return is_divided(NULL, row);
}

static bool result_has_byte_events(const void *row, const void *above)
{
    (void)above;
    return has_byte_events(NULL, row);
}

/* What both sides have of a row, and the difference. */
#define AMOUNTS(type)                                                                              \
    { "a_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(type, of[0].bytes) },                  \
        { "b_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(type, of[1].bytes) },              \
        { "delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(type, delta.bytes) },            \
        { "a_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(type, of[0].count) },              \
        { "b_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(type, of[1].count) },              \
        { "delta_count", "count", UNIT_COUNT, FIELD_SIGNED, FIELD_AT(type, delta.count) },         \
        { "a_byte_events",                                                                         \
          NULL,                                                                                    \
          UNIT_BYTE_EVENTS,                                                                        \
          FIELD_UNSIGNED,                                                                          \
          FIELD_AT(type, of[0].byte_events),                                                       \
          .when = has_byte_events,                                                                 \
          .optional = true },                                                                      \
        { "b_byte_events",                                                                         \
          NULL,                                                                                    \
          UNIT_BYTE_EVENTS,                                                                        \
          FIELD_UNSIGNED,                                                                          \
          FIELD_AT(type, of[1].byte_events),                                                       \
          .when = has_byte_events,                                                                 \
          .optional = true },                                                                      \
    {                                                                                              \
        "delta_byte_events", NULL, UNIT_BYTE_EVENTS, FIELD_SIGNED,                                 \
            FIELD_AT(type, delta.byte_events), .when = has_byte_events, .optional = true           \
    }

static bool has_stage(const void *row, const void *above)
{
    const struct diff_row *compared = row;
    (void)above;
    return !compared->stages_differ;
}

static bool is_fuzzy(const void *row, const void *above)
{
    const struct diff_row *compared = row;
    return has_stage(row, above) && compared->stage == DIFF_FUZZY;
}

static bool has_a_stack(const void *row, const void *above)
{
    const struct diff_row *compared = row;
    (void)above;
    return compared->has_stack[0];
}

static bool has_b_stack(const void *row, const void *above)
{
    const struct diff_row *compared = row;
    (void)above;
    return compared->has_stack[1];
}

static const struct field row_fields[] = {
    { "name", "line", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, name) },
    { "a_name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, old_name) },
    { "owner", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, owner) },
    { "innermost", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, innermost) },
    { "called_from", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, called_from) },
    { "operator", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, operator_name) },
    { "stage", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct diff_row, stage),
      FIELD_NAMES(diff_stage_names), .when = has_stage },
    { "score_ratio", "score", UNIT_RATIO, FIELD_REAL, FIELD_AT(struct diff_row, score_ratio),
      .decimals = 6, .when = is_fuzzy },
    AMOUNTS(struct diff_row),
    { "delta_per", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct diff_row, delta.per),
      .decimals = 6, .when = is_divided, .optional = true },
    { "status", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct diff_row, change),
      FIELD_NAMES(diff_change_names) },
    { "caller", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_row, caller) },
    { "a_stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct diff_row, stack[0]),
      .when = has_a_stack },
    { "b_stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct diff_row, stack[1]),
      .when = has_b_stack },
};
const struct row_type diff_row_type = LINE_ROW_TYPE("diff_row", struct diff_row, row_fields);

static const struct field category_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_part, name) },
    AMOUNTS(struct diff_part),
};
static const struct field module_fields[] = {
    { "module", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_part, name) },
    AMOUNTS(struct diff_part),
};
static const struct field phase_fields[] = {
    { "phase", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_part, name) },
    AMOUNTS(struct diff_part),
};
static const struct field size_fields[] = {
    { "size_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct diff_part, number) },
    AMOUNTS(struct diff_part),
};
static const struct row_type category_row_type =
    LINE_ROW_TYPE("diff_category", struct diff_part, category_fields);
static const struct row_type module_row_type =
    LINE_ROW_TYPE("diff_module", struct diff_part, module_fields);
static const struct row_type phase_row_type =
    LINE_ROW_TYPE("diff_phase", struct diff_part, phase_fields);
static const struct row_type size_row_type =
    LINE_ROW_TYPE("diff_size", struct diff_part, size_fields);

static const struct field end_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct diff_end, path) },
    { "at_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct diff_end, at_event), .least = -1,
      .bounded = true },
    { "total_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct diff_end, total.bytes) },
    { "total_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct diff_end, total.count) },
    { "total_byte_events", NULL, UNIT_BYTE_EVENTS, FIELD_UNSIGNED,
      FIELD_AT(struct diff_end, total.byte_events), .when = has_byte_events, .optional = true },
    { "adjust_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct diff_end, adjust_bytes) },
    { "per_count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct diff_end, per),
      .when = is_divided, .least = 1 },
};
static const struct row_type end_row_type = LINE_ROW_TYPE("diff_side", struct diff_end, end_fields);

static bool stranded_known(const void *row, const void *above)
{
    const struct diff_allocator *allocator = row;
    (void)above;
    return allocator->stranded_known;
}

static bool slack_known(const void *row, const void *above)
{
    const struct diff_allocator *allocator = row;
    (void)above;
    return allocator->slack_known;
}

static const struct field allocator_fields[] = {
    { "reserved_delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct diff_allocator, reserved_bytes) },
    { "stranded_delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct diff_allocator, stranded_bytes), .when = stranded_known },
    { "slack_delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct diff_allocator, slack_bytes), .when = slack_known },
};
static const struct row_type allocator_row_type =
    LINE_ROW_TYPE("diff_allocator", struct diff_allocator, allocator_fields);

static bool is_ratio(const void *row, const void *above)
{
    const struct diff_limit *limit = row;
    (void)above;
    return limit->is_ratio;
}

static bool is_bytes(const void *row, const void *above)
{
    return !is_ratio(row, above);
}

static const struct field limit_fields[] = {
    { "ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct diff_limit, ratio), .decimals = 6,
      .when = is_ratio, .optional = true, .bounded = true },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct diff_limit, bytes),
      .when = is_bytes, .optional = true },
    { "exceeded", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct diff_limit, exceeded) },
};
static const struct row_type limit_row_type =
    LINE_ROW_TYPE("diff_limit", struct diff_limit, limit_fields);

static void make_other_rows(const void *row, const void *above, uint32_t limit,
                            struct field_value *ret)
{
    const struct diff *d = row;
    (void)above;
    ret->number = d->rows > limit ? d->rows - limit : 0;
}

static void make_other_bytes(const void *row, const void *above, uint32_t limit,
                             struct field_value *ret)
{
    const struct diff *d = row;
    uint64_t sum = 0;
    (void)above;
    for (uint32_t i = limit; i < d->rows; i++)
        sum += (uint64_t)d->row[i].delta.bytes;
    ret->integer = (int64_t)sum;
}

static void make_other_count(const void *row, const void *above, uint32_t limit,
                             struct field_value *ret)
{
    const struct diff *d = row;
    uint64_t sum = 0;
    (void)above;
    for (uint32_t i = limit; i < d->rows; i++)
        sum += (uint64_t)d->row[i].delta.count;
    ret->integer = (int64_t)sum;
}

/* Of a struct diff: the rows that are not shown. */
static const struct field other_fields[] = {
    { "rows", NULL, UNIT_COUNT, FIELD_UNSIGNED, .make = make_other_rows },
    { "delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, .make = make_other_bytes },
    { "delta_count", NULL, UNIT_COUNT, FIELD_SIGNED, .make = make_other_count },
};
static const struct row_type other_row_type =
    LINE_ROW_TYPE("diff_other", struct diff, other_fields);

static bool is_limited(const void *row, const void *above)
{
    const struct diff *d = row;
    (void)above;
    return d->limit.set;
}

#define OF_DIFF(member) FIELD_AT(struct diff, member)
#define TABLE(table) FIELD_LIST(struct diff, table.at, table.count)
static const struct field result_fields[] = {
    { "a", NULL, UNIT_NONE, FIELD_ROW, OF_DIFF(end[0]), .row = &end_row_type },
    { "b", NULL, UNIT_NONE, FIELD_ROW, OF_DIFF(end[1]), .row = &end_row_type },
    { "by", NULL, UNIT_NONE, FIELD_NAME, OF_DIFF(by), FIELD_NAMES(diff_by_names) },
    { "weight", NULL, UNIT_NONE, FIELD_NAME, OF_DIFF(weight), FIELD_NAMES(diff_weight_names) },
    { "per", NULL, UNIT_NONE, FIELD_NAME, OF_DIFF(per), FIELD_NAMES(diff_per_names),
      .when = result_is_divided },
    { "total_delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, OF_DIFF(total.bytes) },
    { "total_delta_count", NULL, UNIT_COUNT, FIELD_SIGNED, OF_DIFF(total.count) },
    { "total_delta_byte_events", NULL, UNIT_BYTE_EVENTS, FIELD_SIGNED, OF_DIFF(total.byte_events),
      .when = result_has_byte_events, .optional = true },
    { "total_delta_per", NULL, UNIT_RATIO, FIELD_REAL, OF_DIFF(total.per), .decimals = 6,
      .when = result_is_divided, .optional = true },
    { "matched_a_ratio", NULL, UNIT_RATIO, FIELD_REAL, OF_DIFF(matched_ratio[0]), .decimals = 6,
      .null = NULL_NEGATIVE },
    { "matched_b_ratio", NULL, UNIT_RATIO, FIELD_REAL, OF_DIFF(matched_ratio[1]), .decimals = 6,
      .null = NULL_NEGATIVE },
    { "allocator", NULL, UNIT_NONE, FIELD_ROW, OF_DIFF(allocator), .row = &allocator_row_type },
    { "limit", NULL, UNIT_NONE, FIELD_ROW, OF_DIFF(limit), .row = &limit_row_type,
      .when = is_limited },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct diff, row, rows),
      .row = &diff_row_type, .limited = true, .table = true },
    { "other", NULL, UNIT_NONE, FIELD_ROW, .row = &other_row_type },
    { "by_category", NULL, UNIT_NONE, FIELD_ROWS, TABLE(by_category), .row = &category_row_type },
    { "by_module", NULL, UNIT_NONE, FIELD_ROWS, TABLE(by_module), .row = &module_row_type },
    { "by_phase", NULL, UNIT_NONE, FIELD_ROWS, TABLE(by_phase), .row = &phase_row_type },
    { "by_size", NULL, UNIT_NONE, FIELD_ROWS, TABLE(by_size), .row = &size_row_type },
};
const struct row_type diff_result_row_type = ROW_TYPE("diff_result", struct diff, result_fields);
