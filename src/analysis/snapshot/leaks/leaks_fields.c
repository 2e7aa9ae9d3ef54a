/* leaks_fields.c - the members of what stays after each step. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/site_fields.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "base/field.h"

static const struct field first_step_fields[] = {
    { "category", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct first_step_row, category),
      FIELD_NAMES(category_names) },
    { "bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct first_step_row, bytes) },
};
static const struct row_type first_step_row_type =
    LINE_ROW_TYPE("first_step", struct first_step_row, first_step_fields);

static const struct field survivor_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct survivor, event), .least = -1,
      .bounded = true },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct survivor, bytes) },
    { "stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct survivor, stack) },
};
static const struct row_type survivor_row_type =
    ROW_TYPE("survivor", struct survivor, survivor_fields);

static bool grows(const void *row, const void *above)
{
    (void)above;
    return leak_grows(row);
}

static bool has_names(const void *row, const void *above)
{
    const struct leak_site *site = row;
    (void)above;
    return site->names.count > 0;
}

static const struct field site_fields[] = {
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct leak_site, site), .row = &site_row_type },
    { "category", "category", UNIT_NONE, FIELD_NAME, FIELD_AT(struct leak_site, category),
      FIELD_NAMES(category_names) },
    { "class", "class", UNIT_NONE, FIELD_NAME, FIELD_AT(struct leak_site, class),
      FIELD_NAMES(leak_class_names) },
    { "kind", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct leak_site, kind),
      FIELD_NAMES(leak_kind_names), .when = grows },
    { "slope_bytes", "a step", UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct leak_site, slope_bytes),
      .when = grows },
    { "every_steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct leak_site, every_steps),
      .least = 1, .when = grows },
    { "generations", "of steps", UNIT_NUMBER, FIELD_UNSIGNED,
      FIELD_AT(struct leak_site, generations) },
    { "boundary_bytes", NULL, UNIT_BYTES, FIELD_VALUES,
      FIELD_LIST(struct leak_site, bytes, moments), .of = FIELD_UNSIGNED },
    { "boundary_counts", NULL, UNIT_COUNT, FIELD_VALUES,
      FIELD_LIST(struct leak_site, counts, moments), .of = FIELD_UNSIGNED },
    { "survivors", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct leak_site, survivor, survivors),
      .row = &survivor_row_type },
    HELD_NAMES_FIELDS(struct leak_site, names, has_names),
};
const struct row_type leak_site_row_type =
    LINE_ROW_TYPE("leak_site", struct leak_site, site_fields);

static const struct field hint_fields[] = {
    { "kind", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct gc_hint, kind) },
    { "first_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct gc_hint, first_event) },
    { "last_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct gc_hint, last_event) },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct gc_hint, bytes) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct gc_hint, count), .least = 1 },
    { "confidence", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct gc_hint, confidence),
      FIELD_NAMES(confidence_names) },
};
static const struct row_type hint_row_type = LINE_ROW_TYPE("gc_hint", struct gc_hint, hint_fields);

static bool has_moments(const void *row, const void *above)
{
    const struct leaks *leaks = row;
    (void)above;
    return leaks->moments != 0;
}

static bool has_hint(const void *row, const void *above)
{
    const struct leaks *leaks = row;
    (void)above;
    return leaks->gc_hint.kind != NULL;
}

static const struct field leaks_fields[] = {
    { "steps", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct leaks, steps), .row = &steps_row_type },
    { "first_step_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct leaks, first_step_bytes),
      .when = has_moments },
    { "first_step", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_PLACES(struct leaks, first_step, first_steps), .row = &first_step_row_type },
    { "sites", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct leaks, site, sites),
      .row = &leak_site_row_type, .limited = true, .table = true },
    { "sites_folded", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct leaks, sites_folded) },
    { "floor_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct leaks, floor_bytes),
      .when = has_moments },
    { "slope_total_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct leaks, slope_total_bytes), .when = has_moments },
    { "steps_to_full", NULL, UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct leaks, steps_to_full),
      .null = NULL_NEGATIVE },
    { "gc_hint", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct leaks, gc_hint), .row = &hint_row_type,
      .when = has_hint },
};
const struct row_type leaks_row_type = ROW_TYPE("leaks_result", struct leaks, leaks_fields);
