/* step_growth_fields.c - the members of growth from step to step. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/objects/step_growth.h"
#include "base/field.h"

static bool rises(const void *row, const void *above)
{
    const struct step_trend *trend = row;
    (void)above;
    return trend->rises_every != 0;
}

static const struct field kind_fields[] = {
    { "growth_bytes", "growth", UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct grown_kind, growth_bytes) },
    { "first_bytes", "bytes before", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct grown_kind, first_bytes) },
    { "last_bytes", "bytes", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct grown_kind, last_bytes) },
    { "first_count", "before", UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct grown_kind, first_count) },
    { "last_count", "now", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct grown_kind, last_count) },
    { "name", "name", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct grown_kind, name) },
    { "shape", "shape", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct grown_kind, shape) },
    { "dtype", "dtype", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct grown_kind, dtype) },
    { "device", "device", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct grown_kind, device) },
};
const struct row_type grown_kind_row_type = LINE_ROW_TYPE("kind", struct grown_kind, kind_fields);

static const struct field trend_fields[] = {
    { "grows", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct step_trend, grows) },
    { "growth_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct step_trend, growth_bytes) },
    { "slope_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct step_trend, slope_bytes) },
    { "rises_every", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct step_trend, rises_every),
      .least = 1, .when = rises },
};
static const struct row_type trend_row_type = ROW_TYPE("trend", struct step_trend, trend_fields);

static const struct field collection_fields[] = {
    { "growth_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct step_collection, growth_bytes) },
    { "held_by_cycles", NULL, UNIT_NONE, FIELD_BOOL,
      FIELD_AT(struct step_collection, held_by_cycles) },
};
static const struct row_type collection_row_type =
    ROW_TYPE("collection", struct step_collection, collection_fields);

static const struct field census_fields[] = {
    { "from_step", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct step_census, from_step) },
    { "to_step", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct step_census, to_step) },
    { "invisible_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct step_census, invisible_bytes) },
};
static const struct row_type census_row_type =
    ROW_TYPE("census", struct step_census, census_fields);

static const struct field growth_fields[] = {
    { "class", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct step_growth, class),
      FIELD_NAMES(step_growth_class_names) },
    { "first_step", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct step_growth, first_step) },
    { "last_step", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct step_growth, last_step) },
    { "steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct step_growth, steps) },
    { "every", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct step_growth, every), .least = 1 },
    { "bytes", NULL, UNIT_BYTES, FIELD_VALUES, FIELD_LIST(struct step_growth, bytes, moments),
      .of = FIELD_UNSIGNED, .line = true },
    { "min_growth_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct step_growth, least_bytes) },
    { "trend", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct step_growth, trend),
      .row = &trend_row_type, .pointer = true },
    { "freed", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct step_growth, freed) },
    { "collection", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct step_growth, collection),
      .row = &collection_row_type, .pointer = true },
    { "census", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct step_growth, census),
      .row = &census_row_type, .pointer = true },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct step_growth, row, rows),
      .row = &grown_kind_row_type, .limited = true, .table = true },
};
const struct row_type step_growth_row_type =
    ROW_TYPE("growth", struct step_growth, growth_fields);
