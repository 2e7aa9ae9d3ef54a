/* trace_check_fields.c - the members of limits of a trace and their values. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/check/trace_check.h"
#include "analysis/trace/report/report.h"
#include "base/field.h"

/* A row has its value in one measure; the members of the others are null. */
#define MEASURED(function, limit_is, condition)                                                    \
    static bool function(const void *of, const void *above)                                        \
    {                                                                                              \
        const struct trace_check_row *row = of;                                                    \
        (void)above;                                                                               \
        return row->measure == (limit_is) && (condition);                                          \
    }
MEASURED(has_limit_ratio, TRACE_RATIO, true)
MEASURED(has_limit_ns, TRACE_NS, true)
MEASURED(has_limit_bytes, TRACE_BYTES, true)
MEASURED(has_value_ratio, TRACE_RATIO, row->known)
MEASURED(has_value_ns, TRACE_NS, row->known)
MEASURED(has_value_bytes, TRACE_BYTES, row->known)

static bool has_steps(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_check_row *)of)->steps > 0;
}

static bool has_time(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_check_row *)of)->of_time != TRACE_TIMES;
}

static bool has_reason(const void *of, const void *above)
{
    (void)above;
    return ((const struct trace_check_row *)of)->reason != NULL;
}

static const struct field reason_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trace_check_row, reason) },
    { "text", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trace_check_row, reason_text) },
};
static const struct row_type reason_row_type =
    LINE_ROW_TYPE("trace_check_reason", struct trace_check_row, reason_fields);

static const struct field limit_fields[] = {
    { "name", "limit", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_check_row, name) },
    { "result", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_check_row, outcome),
      FIELD_NAMES(trace_outcome_names) },
    { "limit_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_check_row, limit_ratio),
      .decimals = 6, .bounded = true, .when = has_limit_ratio },
    { "value_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trace_check_row, value_ratio),
      .decimals = 6, .bounded = true, .when = has_value_ratio },
    { "limit_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_check_row, limit),
      .bounded = true, .when = has_limit_ns },
    { "value_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct trace_check_row, value),
      .when = has_value_ns },
    { "limit_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_check_row, limit),
      .bounded = true, .when = has_limit_bytes },
    { "value_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct trace_check_row, value),
      .when = has_value_bytes },
    { "device", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trace_check_row, device) },
    { "steps", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trace_check_row, steps),
      .when = has_steps },
    { "time", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct trace_check_row, of_time),
      FIELD_NAMES(trace_time_names), .when = has_time },
    { "reason", NULL, UNIT_NONE, FIELD_ROW, .offset = 0, .row = &reason_row_type,
      .when = has_reason },
};
const struct row_type trace_limit_row_type =
    LINE_ROW_TYPE("trace_limit", struct trace_check_row, limit_fields);

static const struct field check_fields[] = {
    { "file", NULL, UNIT_NONE, FIELD_ROW, .offset = offsetof(struct trace_check, file),
      .row = &trace_file_row_type },
    { "limits", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trace_check, row, rows),
      .row = &trace_limit_row_type, .table = true },
    { "exit_code", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct trace_check, exit_code),
      .bounded = true },
};
const struct row_type trace_check_row_type =
    ROW_TYPE("trace_check", struct trace_check, check_fields);
