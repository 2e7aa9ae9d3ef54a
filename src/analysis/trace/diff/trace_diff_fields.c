/* trace_diff_fields.c - the members of what changed between two traces. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/diff/trace_diff.h"
#include "analysis/trace/report/report.h"
#include "base/field.h"
#include "base/noise.h"
#include "model/trace.h"

/* Rows. */

static bool has_change(const void *row, const void *above)
{
    (void)above;
    return !isnan(((const struct trace_diff_row *)row)->change);
}

static const struct field value_fields[] = {
    { "events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_diff_value, count) },
    { "median_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_diff_value, median_ns) },
    { "std_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct trace_diff_value, std_ns),
      .null = NULL_NEGATIVE },
    { "noise_ns", NULL, UNIT_NS, FIELD_REAL, FIELD_AT(struct trace_diff_value, noise_ns),
      .null = NULL_NEGATIVE },
};
static const struct row_type value_row_type =
    LINE_ROW_TYPE("trace_diff_value", struct trace_diff_value, value_fields);

static const struct field line_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_diff_row, name) },
    { "status", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_diff_row, status),
      FIELD_NAMES(trace_diff_status_names) },
    { "verdict", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_diff_row, verdict),
      FIELD_NAMES(noise_verdict_names) },
    { "change_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_diff_row, change_ns) },
    { "change_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_diff_row, change),
      .decimals = 6, .when = has_change },
    { "a", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_diff_row, a),
      .row = &value_row_type },
    { "b", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_diff_row, b),
      .row = &value_row_type },
};
const struct row_type trace_diff_line_row_type =
    LINE_ROW_TYPE("trace_diff_row", struct trace_diff_row, line_fields);

static const struct field by_fields[] = {
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, .offset = 0, .row = &trace_diff_line_row_type },
    { "shapes", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_diff_row, shapes) },
    { "module", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_diff_row, module) },
    { "phase", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_diff_row, phase) },
    { "stack", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_diff_row, stack) },
};
const struct row_type trace_diff_by_row_type =
    LINE_ROW_TYPE("trace_diff_by_row", struct trace_diff_row, by_fields);

/* Memory. */

static bool is_there(const void *of, int side)
{
    return ((const struct trace_diff_memory *)of)->there[side];
}

static bool has_a(const void *of, const void *above)
{
    (void)above;
    return is_there(of, 0);
}

static bool has_b(const void *of, const void *above)
{
    (void)above;
    return is_there(of, 1);
}

static bool has_both(const void *of, const void *above)
{
    (void)above;
    return is_there(of, 0) && is_there(of, 1);
}

static bool has_memory_change(const void *of, const void *above)
{
    (void)above;
    return !isnan(((const struct trace_diff_memory *)of)->change);
}

static bool has_type(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_diff_memory *)of)->device_type != TRACE_UNKNOWN;
}

static bool has_number(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_diff_memory *)of)->device_number != TRACE_UNKNOWN;
}

static const struct field memory_fields[] = {
    { "device_type", NULL, UNIT_NUMBER, FIELD_SIGNED,
      FIELD_AT(struct trace_diff_memory, device_type), .when = has_type },
    { "device_number", NULL, UNIT_NUMBER, FIELD_SIGNED,
      FIELD_AT(struct trace_diff_memory, device_number), .when = has_number },
    { "lower_bound", NULL, UNIT_NONE, FIELD_BOOL,
      FIELD_AT(struct trace_diff_memory, is_lower_bound) },
    { "a_peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_diff_memory, a_bytes),
      .when = has_a },
    { "b_peak_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_diff_memory, b_bytes),
      .when = has_b },
    { "change_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct trace_diff_memory, change_bytes), .when = has_both },
    { "change_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_diff_memory, change),
      .decimals = 6, .when = has_memory_change },
};
const struct row_type trace_diff_memory_row_type =
    LINE_ROW_TYPE("trace_diff_memory", struct trace_diff_memory, memory_fields);

/* The limit. */

static bool is_ratio(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_diff_limit *)of)->most.is_ratio;
}

static bool is_ns(const void *of, const void *above)
{
    return !is_ratio(of, above);
}

static const struct field limit_fields[] = {
    { "limit_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_diff_limit, most.ns),
      .bounded = true, .when = is_ns },
    { "limit_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_diff_limit, most.ratio),
      .decimals = 6, .bounded = true, .when = is_ratio },
    { "exceeded", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct trace_diff_limit, exceeded) },
};
static const struct row_type limit_row_type =
    LINE_ROW_TYPE("trace_diff_limit", struct trace_diff_limit, limit_fields);

/* The whole. */

static const struct field side_fields[] = {
    { "file", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_diff_side, file),
      .row = &trace_file_row_type },
    { "steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_diff_side, steps),
      .least = 1 },
    { "steps_left_out", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct trace_diff_side, dropped) },
    { "step", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_diff_side, step) },
    { "whole", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct trace_diff_side, is_whole) },
};
static const struct row_type side_row_type =
    ROW_TYPE("trace_diff_side", struct trace_diff_side, side_fields);

static bool is_split(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_diff *)of)->by != 0;
}

#define TABLE(member) FIELD_LIST(struct trace_diff, member.row, member.rows)

static const struct field diff_fields[] = {
    { "a", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_diff, a),
      .row = &side_row_type },
    { "b", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_diff, b),
      .row = &side_row_type },
    { "limit", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_diff, limit),
      .row = &limit_row_type, .pointer = true },
    { "step", NULL, UNIT_NONE, FIELD_ROWS, TABLE(step), .row = &trace_diff_line_row_type },
    { "ops", NULL, UNIT_NONE, FIELD_ROWS, TABLE(op), .row = &trace_diff_line_row_type,
      .limited = true, .table = true },
    { "ops_by", NULL, UNIT_NONE, FIELD_ROWS, TABLE(op_by), .row = &trace_diff_by_row_type,
      .when = is_split, .limited = true },
    { "kernels", NULL, UNIT_NONE, FIELD_ROWS, TABLE(kernel), .row = &trace_diff_line_row_type,
      .limited = true },
    { "gaps", NULL, UNIT_NONE, FIELD_ROWS, TABLE(gap), .row = &trace_diff_line_row_type },
    { "phases", NULL, UNIT_NONE, FIELD_ROWS, TABLE(phase), .row = &trace_diff_line_row_type },
    { "device_phases", NULL, UNIT_NONE, FIELD_ROWS, TABLE(device_phase),
      .row = &trace_diff_line_row_type },
    { "memory", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_diff, memory, memories),
      .row = &trace_diff_memory_row_type },
};
const struct row_type trace_diff_row_type = ROW_TYPE("trace_diff", struct trace_diff, diff_fields);
