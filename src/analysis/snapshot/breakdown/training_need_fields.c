/* training_need_fields.c - the members of what a training needs, term by term. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/site_fields.h"
#include "base/field.h"

static bool is_known(const void *row, const void *above)
{
    const struct need_term *term = row;
    (void)above;
    return term->known;
}

static bool has_confidence(const void *row, const void *above)
{
    const struct need_term *term = row;
    (void)above;
    return term->confidence != CONFIDENCE_NONE;
}

/* By `estimated`. */
static const char *const source_names[] = { "derived", "estimated" };

static const struct field term_fields[] = {
    { "id", "term", UNIT_NONE, FIELD_NAME, FIELD_AT(struct need_term, id),
      FIELD_NAMES(term_names) },
    { "bytes", "bytes", UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct need_term, bytes),
      .when = is_known },
    { "event", "event", UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct need_term, event), .least = -1,
      .bounded = true, .when = is_known },
    { "source", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct need_term, estimated),
      FIELD_NAMES(source_names) },
    { "confidence", "confidence", UNIT_NONE, FIELD_NAME, FIELD_AT(struct need_term, confidence),
      FIELD_NAMES(confidence_names), .when = has_confidence },
    { "sites", NULL, UNIT_NONE, FIELD_ROWS, FIELD_PLACES(struct need_term, site, sites),
      .row = &site_row_type },
};
const struct row_type need_term_row_type = ROW_TYPE("term", struct need_term, term_fields);

static const struct field item_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct residual_item, id),
      FIELD_NAMES(residual_names) },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct residual_item, bytes) },
};
static const struct row_type item_row_type =
    LINE_ROW_TYPE("residual_item", struct residual_item, item_fields);

static bool has_sides(const void *row, const void *above)
{
    const struct training_need *need = row;
    (void)above;
    return !need->inference;
}

/* By `optimizer_side`. */
static const char *const winner_names[] = { "activation_side", "optimizer_side" };

static const struct field need_fields[] = {
    { "terms", NULL, UNIT_NONE, FIELD_ROWS, FIELD_ARRAY(struct training_need, term),
      .row = &need_term_row_type },
    { "winner", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct training_need, optimizer_side),
      FIELD_NAMES(winner_names), .when = has_sides },
    { "margin_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct training_need, margin_bytes),
      .bounded = true, .when = has_sides },
    { "formula_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct training_need, formula_bytes) },
    { "measured_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct training_need, measured_bytes) },
    { "measured_event", NULL, UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct training_need, measured_event), .least = -1, .bounded = true },
    { "residual_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct training_need, residual_bytes) },
    { "residual_ratio", NULL, UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct training_need, residual_ratio), .decimals = 6 },
    { "residual_items", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_PLACES(struct training_need, item, items), .row = &item_row_type },
    { "unexplained_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct training_need, unexplained_bytes) },
    { "crossing_ratio", NULL, UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct training_need, crossing_ratio), .decimals = 6, .null = NULL_NEGATIVE },
};
const struct row_type training_need_row_type =
    ROW_TYPE("estimate", struct training_need, need_fields);
