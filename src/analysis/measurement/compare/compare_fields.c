/* compare_fields.c - the members of what changed between two measurements. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/measurement/compare/compare.h"
#include "base/field.h"
#include "base/noise.h"
#include "model/ids.h"

const char *const compared_reason_names[COMPARED_REASONS] = {
    [COMPARED_JUDGED] = NULL, /* there is none */
    [COMPARED_FEW_VALUES] = "few_values",
    [COMPARED_NO_VALUES] = "no_values",
    [COMPARED_ONE_VALUE] = "one_value",
    [COMPARED_BURSTS] = "bursts",
    [COMPARED_UNITS] = "units",
    [COMPARED_CLOCKS] = "clocks",
    [COMPARED_UNKNOWN] = "unknown",
};

/* Rows.  Six decimals of a millisecond are a nanosecond. */

enum { DECIMALS = 6 };

#define REAL(type, name, member)                                                                   \
    { name, NULL, UNIT_NONE, FIELD_REAL, FIELD_AT(type, member), .bounded = true,                  \
      .decimals = DECIMALS, .when = has_##member }
#define HAS(type, member)                                                                          \
    static bool has_##member(const void *row, const void *above)                                   \
    {                                                                                              \
        (void)above;                                                                               \
        return !isnan(((const type *)row)->member);                                                \
    }

HAS(struct compared_value, median)
HAS(struct compared_value, mean)
HAS(struct compared_value, deviation)
HAS(struct compared_value, noise)

static const struct field value_fields[] = {
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct compared_value, count) },
    { "unit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_value, unit) },
    { "clock", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_value, timed_by) },
    REAL(struct compared_value, "median", median),
    REAL(struct compared_value, "mean", mean),
    REAL(struct compared_value, "deviation", deviation),
    REAL(struct compared_value, "noise", noise),
};
static const struct row_type value_row_type =
    LINE_ROW_TYPE("compared_value", struct compared_value, value_fields);

HAS(struct compared_row, change)
HAS(struct compared_row, low)
HAS(struct compared_row, high)
HAS(struct compared_row, ratio)
HAS(struct compared_row, between_runs)

#define CHANGE(name, unit, member)                                                                 \
    { name, NULL, unit, FIELD_REAL, FIELD_AT(struct compared_row, member), .decimals = DECIMALS,   \
      .when = has_##member }

static const struct field line_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_row, name) },
    { "unit", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_row, a.unit) },
    { "verdict", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct compared_row, verdict),
      FIELD_NAMES(noise_verdict_names) },
    { "reason", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct compared_row, reason),
      FIELD_NAMES(compared_reason_names) },
    CHANGE("change", UNIT_NONE, change),
    CHANGE("change_low", UNIT_NONE, low),
    CHANGE("change_high", UNIT_NONE, high),
    CHANGE("change_ratio", UNIT_RATIO, ratio),
    REAL(struct compared_row, "between_runs", between_runs),
    { "repeats", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct compared_row, repeats) },
    { "a", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct compared_row, a),
      .row = &value_row_type },
    { "b", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct compared_row, b),
      .row = &value_row_type },
};
const struct row_type compared_line_row_type =
    LINE_ROW_TYPE("compared_row", struct compared_row, line_fields);

/* Memory. */

static const char *const memory_verdict_names[COMPARED_MEMORY_VERDICTS] = {
    [COMPARED_LESS] = "less",
    [COMPARED_EQUAL] = "equal",
    [COMPARED_MORE] = "more",
    [COMPARED_MEMORY_UNKNOWN] = NULL, /* null */
};

static bool are_peaks_known(const void *of, const void *above)
{
    const struct compared_memory *row = of;
    (void)above;
    return row->a_peak != UNKNOWN_U64 && row->b_peak != UNKNOWN_U64;
}

static bool are_deltas_known(const void *of, const void *above)
{
    const struct compared_memory *row = of;
    (void)above;
    return row->a_delta != UNKNOWN_U64 && row->b_delta != UNKNOWN_U64;
}

static bool has_memory_ratio(const void *row, const void *above)
{
    (void)above;
    return !isnan(((const struct compared_memory *)row)->ratio);
}

#define BYTES(name, member)                                                                        \
    { name, NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct compared_memory, member),            \
      .null = NULL_ALL_ONES }

static const struct field memory_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_memory, path) },
    { "device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct compared_memory, device) },
    { "verdict", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct compared_memory, verdict),
      FIELD_NAMES(memory_verdict_names) },
    BYTES("a_peak_bytes", a_peak),
    BYTES("b_peak_bytes", b_peak),
    { "change_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct compared_memory, change),
      .when = are_peaks_known },
    { "change_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct compared_memory, ratio),
      .decimals = DECIMALS, .when = has_memory_ratio },
    BYTES("a_peak_delta_bytes", a_delta),
    BYTES("b_peak_delta_bytes", b_delta),
    { "change_delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct compared_memory, change_delta), .when = are_deltas_known },
};
const struct row_type compared_memory_row_type =
    LINE_ROW_TYPE("compared_memory", struct compared_memory, memory_fields);

/* Conditions. */

static const struct field condition_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct compared_condition, name) },
    { "a", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_condition, a) },
    { "b", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_condition, b) },
};
const struct row_type compared_condition_row_type =
    LINE_ROW_TYPE("compared_condition", struct compared_condition, condition_fields);

/* The limit. */

static bool is_ratio(const void *of, const void *above)
{
    (void)above;
    return ((const struct compared_limit *)of)->most.is_ratio;
}

static bool is_ns(const void *of, const void *above)
{
    return !is_ratio(of, above);
}

static const struct field limit_fields[] = {
    { "limit_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct compared_limit, most.ns),
      .bounded = true, .when = is_ns },
    { "limit_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct compared_limit, most.ratio),
      .decimals = DECIMALS, .bounded = true, .when = is_ratio },
    { "exceeded", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct compared_limit, exceeded) },
};
static const struct row_type limit_row_type =
    LINE_ROW_TYPE("compared_limit", struct compared_limit, limit_fields);

/* The whole. */

static const struct field side_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_side, path) },
    { "size_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct compared_side, size_bytes),
      .null = NULL_ALL_ONES },
    { "what", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_side, what) },
    { "tool", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_side, tool) },
};
static const struct row_type side_row_type =
    ROW_TYPE("compared_side", struct compared_side, side_fields);

static const struct field repeat_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_repeat, side.path) },
    { "size_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct compared_repeat, side.size_bytes), .null = NULL_ALL_ONES },
    { "tool", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct compared_repeat, side.tool) },
    { "conditions", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct compared_repeat, condition, conditions),
      .row = &compared_condition_row_type },
};
const struct row_type compared_repeat_row_type =
    ROW_TYPE("compared_repeat", struct compared_repeat, repeat_fields);

static const struct field comparison_fields[] = {
    { "a", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct comparison, a),
      .row = &side_row_type },
    { "b", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct comparison, b),
      .row = &side_row_type },
    { "again", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct comparison, again, repeats),
      .row = &compared_repeat_row_type },
    { "verdict", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct comparison, verdict),
      FIELD_NAMES(noise_verdict_names) },
    { "judged", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct comparison, judged) },
    { "limit", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct comparison, limit),
      .row = &limit_row_type, .pointer = true },
    { "conditions", NULL, UNIT_NONE, FIELD_ROWS,
      FIELD_LIST(struct comparison, condition, conditions), .row = &compared_condition_row_type },
    { "times", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct comparison, timing, timings),
      .row = &compared_line_row_type, .limited = true, .table = true },
    { "figures", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct comparison, figure, figures),
      .row = &compared_line_row_type, .limited = true },
    { "memory", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct comparison, memory, memories),
      .row = &compared_memory_row_type, .limited = true },
    { "rows_left_out", NULL, UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct comparison, left_out) },
};
const struct row_type comparison_row_type =
    ROW_TYPE("comparison", struct comparison, comparison_fields);
