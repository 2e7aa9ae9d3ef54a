/* phase_fields.c - the members of steps, and of the phases in them. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/site_fields.h"
#include "analysis/snapshot/timeline/phase_rows.h"
#include "base/field.h"

static const struct field boundary_fields[] = {
    { "event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct step_boundary, event) },
    { "end_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct step_boundary, end_event) },
    { "kind", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct step_boundary, kind),
      FIELD_NAMES(step_kind_names) },
    { "valley_event", NULL, UNIT_EVENT, FIELD_UNSIGNED,
      FIELD_AT(struct step_boundary, valley_event) },
    { "live_bytes", "at start", UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct step_boundary, live_bytes) },
    { "peak_bytes", "peak", UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct step_boundary, peak_bytes) },
    { "peak_event", "at event", UNIT_EVENT, FIELD_SIGNED,
      FIELD_AT(struct step_boundary, peak_event), .bounded = true },
};
const struct row_type boundary_row_type =
    LINE_ROW_TYPE("boundary", struct step_boundary, boundary_fields);

static const struct field pass_fields[] = {
    { "first_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct step_pass, first_event) },
    { "last_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct step_pass, last_event) },
};
const struct row_type pass_row_type = LINE_ROW_TYPE("pass", struct step_pass, pass_fields);

static const struct field inner_fields[] = {
    { "period_allocs", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct inner_row, loop.period_allocs), .least = 2 },
    { "repeats", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct inner_row, loop.repeats),
      .least = 2 },
    { "similarity_ratio", NULL, UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct inner_row, loop.similarity_ratio), .decimals = 6, .bounded = true },
    { "refused_by", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct inner_row, loop.refused_by) },
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct inner_row, site), .row = &site_row_type },
};
static const struct row_type inner_row_type =
    LINE_ROW_TYPE("inner_loop", struct inner_row, inner_fields);

#define FOUND_BY(source) FIELD_UNSIGNED, FIELD_AT(struct steps, agreement[source])
static const struct field agreement_fields[] = {
    { "marks", NULL, UNIT_COUNT, FOUND_BY(STEPS_MARKS) },
    { "optimizer_marks", NULL, UNIT_COUNT, FOUND_BY(STEPS_OPTIMIZER) },
    { "phases", NULL, UNIT_COUNT, FOUND_BY(STEPS_PHASES) },
    { "annotations", NULL, UNIT_COUNT, FOUND_BY(STEPS_ANNOTATIONS) },
    { "periodicity", NULL, UNIT_COUNT, FOUND_BY(STEPS_PERIOD) },
};
static const struct row_type agreement_row_type =
    LINE_ROW_TYPE("step_agreement", struct steps, agreement_fields);

static bool has_source(const void *row, const void *above)
{
    const struct step_rows *rows = row;
    (void)above;
    return rows->steps.source != STEPS_NONE;
}

static const struct field steps_fields[] = {
    { "source", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct step_rows, steps.source),
      FIELD_NAMES(step_source_names), .when = has_source },
    { "kind", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct step_rows, steps.kind),
      FIELD_NAMES(step_kind_names), .when = has_source },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct step_rows, steps.count) },
    { "micro_steps", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct step_rows, steps.micro_steps) },
    { "boundaries", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct step_rows, steps.boundary, steps.count), .row = &boundary_row_type },
    { "similarity_median_ratio", NULL, UNIT_RATIO, FIELD_REAL,
      FIELD_AT(struct step_rows, steps.similarity_median_ratio), .decimals = 6,
      .null = NULL_NEGATIVE },
    { "agreement", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct step_rows, steps),
      .row = &agreement_row_type },
    { "passes", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct step_rows, steps.pass, steps.passes),
      .row = &pass_row_type },
    { "inner_loops", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct step_rows, inner, inners),
      .row = &inner_row_type },
};
const struct row_type steps_row_type = ROW_TYPE("steps", struct step_rows, steps_fields);

static bool is_in_step(const void *row, const void *above)
{
    const struct phase_row *phase = row;
    (void)above;
    return phase->step != 0;
}

static bool is_in_step_or_pass(const void *row, const void *above)
{
    const struct phase_row *phase = row;
    (void)above;
    return phase->kind != STEP_KINDS;
}

static const struct field phase_fields[] = {
    { "step", "step", UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct phase_row, step), .least = 1,
      .when = is_in_step },
    { "kind", "kind", UNIT_NONE, FIELD_NAME, FIELD_AT(struct phase_row, kind),
      FIELD_NAMES(step_kind_names), .when = is_in_step_or_pass },
    { "phase", "phase", UNIT_NONE, FIELD_NAME, FIELD_AT(struct phase_row, phase),
      FIELD_NAMES(phase_names) },
    { "first_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct phase_row, first_event) },
    { "last_event", NULL, UNIT_EVENT, FIELD_UNSIGNED, FIELD_AT(struct phase_row, last_event) },
    { "allocs", "allocs", UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct phase_row, allocs),
      .least = 1 },
    { "alloc_bytes", "allocated", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct phase_row, alloc_bytes) },
    { "freed_bytes", "freed", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct phase_row, freed_bytes) },
    { "entry_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct phase_row, entry_bytes) },
    { "exit_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct phase_row, exit_bytes) },
    { "peak_bytes", "peak", UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct phase_row, peak_bytes) },
    { "peak_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct phase_row, peak_event),
      .bounded = true },
    { "contribution_bytes", "above start", UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct phase_row, contribution_bytes), .when = is_in_step },
    { "first_stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct phase_row, first_stack) },
    { "largest_stack", NULL, UNIT_NONE, FIELD_STACK, FIELD_AT(struct phase_row, largest.stack) },
};
const struct row_type phase_row_type = LINE_ROW_TYPE("phase", struct phase_row, phase_fields);

static const struct field source_fields[] = {
    { "stacks", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct phase_rows, by_stack) },
    { "annotations", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct phase_rows, by_annotation) },
};
static const struct row_type sources_row_type =
    LINE_ROW_TYPE("phase_sources", struct phase_rows, source_fields);

static const struct field phases_fields[] = {
    { "phases", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct phase_rows, row, rows),
      .row = &phase_row_type, .limited = true, .table = true },
    { "peak_phase", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct phase_rows, peak_phase),
      FIELD_NAMES(phase_names) },
    { "sources", NULL, UNIT_NONE, FIELD_ROW, .row = &sources_row_type },
    { "steps", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct phase_rows, steps),
      .row = &steps_row_type },
};
const struct row_type phases_row_type = ROW_TYPE("phases_result", struct phase_rows, phases_fields);
