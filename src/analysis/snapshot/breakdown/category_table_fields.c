/* category_table_fields.c - the members of categories, added up. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/breakdown/category_table.h"
#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "base/field.h"

#define RULE_FIELDS                                                                                \
    { "rule", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct category_rule_sum, rule) },             \
        { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct category_rule_sum, bytes) },  \
    {                                                                                              \
        "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct category_rule_sum, count),      \
            .least = 1                                                                             \
    }
static const struct field rule_fields[] = { RULE_FIELDS };
static const struct row_type rule_row_type =
    LINE_ROW_TYPE("rule_sum", struct category_rule_sum, rule_fields);

static const struct field remainder_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct category_rule_sum, category),
      FIELD_NAMES(category_names) },
    RULE_FIELDS,
};
static const struct row_type remainder_row_type =
    LINE_ROW_TYPE("remainder", struct category_rule_sum, remainder_fields);

#define SURE_OF(level) UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct category_row, sure_bytes[level])
static const struct field row_fields[] = {
    { "category", "category", UNIT_NONE, FIELD_NAME, FIELD_AT(struct category_row, category),
      FIELD_NAMES(category_names) },
    { "bytes", "bytes", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct category_row, bytes) },
    { "count", "count", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct category_row, count),
      .least = 1 },
    { "high_bytes", NULL, SURE_OF(CONFIDENCE_HIGH) },
    { "medium_bytes", NULL, SURE_OF(CONFIDENCE_MEDIUM) },
    { "low_bytes", NULL, SURE_OF(CONFIDENCE_LOW) },
    { "rules", "rules", UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct category_row, rule, rules),
      .row = &rule_row_type },
};
const struct row_type category_row_type = ROW_TYPE("by_category", struct category_row, row_fields);

static const struct field size_fields[] = {
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct size_count, bytes), .least = 1 },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct size_count, count), .least = 1 },
};
static const struct row_type size_row_type =
    LINE_ROW_TYPE("size_count", struct size_count, size_fields);

static const struct field copies_fields[] = {
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct category_table, copies) },
    { "parameter_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct category_table, parameter_bytes) },
    { "gradient_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct category_table, gradient_bytes) },
    { "optimizer_state_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct category_table, optimizer_state_bytes) },
    { "parameter_copy_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct category_table, parameter_copy_bytes) },
    { "state_factor_ratio", NULL, UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct category_table, state_factor_ratio), .decimals = 6, .null = NULL_NEGATIVE },
    { "multiset", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct category_table, multiset, multiset_sizes), .row = &size_row_type },
};
static const struct row_type copies_row_type =
    ROW_TYPE("copies", struct category_table, copies_fields);

static bool has_training_need(const void *row, const void *above)
{
    const struct category_table *table = row;
    (void)above;
    return table->has_training_need;
}

static const struct field table_fields[] = {
    { "at_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct category_table, at_event),
      .least = -1, .bounded = true },
    { "total_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct category_table, total_bytes) },
    { "by_category", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct category_table, row, rows),
      .row = &category_row_type, .table = true },
    { "copies", NULL, UNIT_NONE, FIELD_ROW, .row = &copies_row_type },
    { "remainder", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct category_table, remainder, remainders), .row = &remainder_row_type },
    { "estimate", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct category_table, training_need),
      .row = &training_need_row_type, .when = has_training_need },
};
const struct row_type category_table_row_type =
    ROW_TYPE("categories_result", struct category_table, table_fields);
