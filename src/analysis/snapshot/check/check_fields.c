/* check_fields.c - the members of limits, their values and who exceeds them. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/check/check.h"
#include "analysis/snapshot/study/site_fields.h"
#include "base/field.h"

/* A row has its value in one measure; the members of the others are null. */

static bool has_limit_bytes(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->measure == CHECK_BYTES && row->limit_known;
}

static bool has_value_bytes(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->measure == CHECK_BYTES && row->value_known;
}

static bool has_upper_bytes(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->measure == CHECK_BYTES && row->upper_known;
}

static bool has_limit_ratio(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->measure == CHECK_RATIO;
}

static bool has_value(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->value_known;
}

static bool has_value_ratio(const void *of, const void *above)
{
    return has_limit_ratio(of, above) && has_value(of, above);
}

static bool has_value_count(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->measure == CHECK_COUNT && row->value_known;
}

static bool has_event(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->event != CHECK_NO_EVENT;
}

static bool has_reason(const void *of, const void *above)
{
    const struct check_row *row = of;
    (void)above;
    return row->reason != NULL;
}

static const struct field reason_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct check_row, reason) },
    { "text", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct check_row, reason_text) },
};
static const struct row_type reason_row_type =
    LINE_ROW_TYPE("check_reason", struct check_row, reason_fields);

/* Without the stack of the site, which has the paths of the machine that recorded it. */
static const struct field site_fields[] = {
    { "site", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct check_site, site),
      .row = &site_without_stack_row_type },
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct check_site, bytes) },
};
static const struct row_type check_site_row_type =
    LINE_ROW_TYPE("check_site", struct check_site, site_fields);

static const struct field diff_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct check_diff_row, name) },
    { "stage", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct check_diff_row, stage) },
    { "status", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct check_diff_row, status) },
    { "score_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct check_diff_row, score),
      .decimals = 2, .null = NULL_NEGATIVE },
    { "a_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct check_diff_row, a_bytes) },
    { "b_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct check_diff_row, b_bytes) },
    { "delta_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct check_diff_row, delta_bytes) },
};
static const struct row_type diff_row_type =
    LINE_ROW_TYPE("check_diff_row", struct check_diff_row, diff_fields);

static const struct field evidence_fields[] = {
    { "sites", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct check_row, site, sites),
      .row = &check_site_row_type },
    { "diff_rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct check_row, diff, diffs),
      .row = &diff_row_type },
};
static const struct row_type evidence_row_type =
    ROW_TYPE("check_evidence", struct check_row, evidence_fields);

static const struct field row_fields[] = {
    { "name", "limit", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct check_row, name) },
    { "result", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct check_row, outcome),
      FIELD_NAMES(check_outcome_names) },
    { "limit_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct check_row, limit),
      .bounded = true, .when = has_limit_bytes },
    { "value_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct check_row, value),
      .when = has_value_bytes },
    { "upper_bytes", NULL, UNIT_BYTES, FIELD_SIGNED, FIELD_AT(struct check_row, upper),
      .when = has_upper_bytes },
    { "limit_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct check_row, limit_ratio),
      .decimals = 6, .when = has_limit_ratio, .bounded = true },
    { "value_ratio", NULL, UNIT_RATIO, FIELD_REAL, FIELD_AT(struct check_row, value_ratio),
      .decimals = 6, .when = has_value_ratio, .bounded = true },
    { "value_count", NULL, UNIT_COUNT, FIELD_SIGNED, FIELD_AT(struct check_row, value),
      .bounded = true, .when = has_value_count },
    { "source", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct check_row, source),
      FIELD_NAMES(check_source_names), .when = has_value },
    { "event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct check_row, event), .least = -1,
      .bounded = true, .when = has_event },
    { "reason", NULL, UNIT_NONE, FIELD_ROW, .row = &reason_row_type, .when = has_reason },
    { "evidence", NULL, UNIT_NONE, FIELD_ROW, .row = &evidence_row_type },
};
const struct row_type check_row_type = ROW_TYPE("limit", struct check_row, row_fields);

static const struct field check_fields[] = {
    { "limits", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct check, row, rows),
      .row = &check_row_type, .table = true },
    { "exit_code", NULL, UNIT_NUMBER, FIELD_SIGNED, FIELD_AT(struct check, exit_code),
      .bounded = true },
};
const struct row_type check_result_row_type = ROW_TYPE("check_result", struct check, check_fields);
