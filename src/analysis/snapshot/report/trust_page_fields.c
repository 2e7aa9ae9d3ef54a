/* trust_page_fields.c - the members of the page of trust. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/report/trust_page.h"
#include "base/field.h"
#include "model/recording.h"

static bool was_run(const void *row, const void *above)
{
    const struct trust_row *check = row;
    (void)above;
    return check->outcome != TRUST_NOT_RUN;
}

static void make_ok(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct trust_row *check = row;
    (void)above;
    (void)limit;
    ret->number = check->outcome == TRUST_HOLDS;
}

/* There is a case to show. */
static bool has_case(const void *row, const void *above)
{
    const struct trust_row *check = row;
    return was_run(row, above) && (check->found.count != 0 || check->outcome == TRUST_FAILS);
}

static bool has_bytes(const void *row, const void *above)
{
    const struct trust_row *check = row;
    return has_case(row, above) && check->has_bytes;
}

static const struct field check_fields[] = {
    { "check", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trust_row, check) },
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trust_row, id) },
    { "ok", NULL, UNIT_NONE, FIELD_BOOL, .make = make_ok, .when = was_run },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trust_row, found.count),
      .when = was_run },
    { "worst_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct trust_row, found.worst_bytes), .null = NULL_ALL_ONES, .when = has_bytes },
    { "first_event", NULL, UNIT_EVENT, FIELD_SIGNED, FIELD_AT(struct trust_row, found.first_event),
      .null = NULL_NEGATIVE, .when = has_case },
};
static const struct row_type check_row_type =
    LINE_ROW_TYPE("trust_check", struct trust_row, check_fields);

static const struct field count_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct name_count, name) },
    { "count", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct name_count, count) },
};
static const struct row_type count_row_type = {
    .name = "name_count",
    .field = count_fields,
    .fields = sizeof count_fields / sizeof *count_fields,
    .size = sizeof(struct name_count),
    .keyed = true,
};

static bool is_of_type(const void *row, enum setting_type type)
{
    const struct setting *setting = row;
    return setting->type == type;
}

static bool is_integer(const void *row, const void *above)
{
    (void)above;
    return is_of_type(row, SETTING_INT);
}

static bool is_real(const void *row, const void *above)
{
    (void)above;
    return is_of_type(row, SETTING_FLOAT);
}

static bool is_flag(const void *row, const void *above)
{
    (void)above;
    return is_of_type(row, SETTING_BOOL);
}

static bool is_text(const void *row, const void *above)
{
    (void)above;
    return is_of_type(row, SETTING_TEXT);
}

static void make_flag(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    const struct setting *setting = row;
    (void)above;
    (void)limit;
    ret->number = setting->integer != 0;
}

static const struct field setting_fields[] = {
    { "name", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct setting, name) },
    { "integer", NULL, UNIT_NONE, FIELD_SIGNED, FIELD_AT(struct setting, integer),
      .when = is_integer, .optional = true },
    { "real", NULL, UNIT_NONE, FIELD_REAL, FIELD_AT(struct setting, real), .decimals = 6,
      .when = is_real, .optional = true },
    { "flag", NULL, UNIT_NONE, FIELD_BOOL, .make = make_flag, .when = is_flag, .optional = true },
    { "text", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct setting, text), .when = is_text,
      .optional = true },
};
static const struct row_type setting_row_type = {
    .name = "setting",
    .field = setting_fields,
    .fields = sizeof setting_fields / sizeof *setting_fields,
    .size = sizeof(struct setting),
    .keyed = true,
};

static bool knows_baselines(const void *row, const void *above)
{
    const struct trust_page *page = row;
    (void)above;
    return page->baselines_known;
}

static bool names_pools(const void *row, const void *above)
{
    const struct trust_page *page = row;
    (void)above;
    return page->pools != 0;
}

#define RATIO(member)                                                                              \
    UNIT_RATIO, FIELD_REAL, FIELD_AT(struct trust_page, member), .decimals = 6,                    \
                                                                 .null = NULL_NEGATIVE
#define COUNTS(member, count)                                                                      \
    UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trust_page, member, count), .row = &count_row_type
static const struct field page_fields[] = {
    { "producer", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct trust_page, producer) },
    { "checks", NULL, UNIT_NONE, FIELD_ROWS, FIELD_ARRAY(struct trust_page, check),
      .row = &check_row_type },
    { "actions", NULL, COUNTS(action, actions) },
    { "span_events", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trust_page, span_events) },
    { "span_us", NULL, UNIT_US, FIELD_UNSIGNED, FIELD_AT(struct trust_page, span_us),
      .null = NULL_ALL_ONES },
    { "baseline_forward_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct trust_page, baseline_forward_bytes) },
    { "baseline_backward_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct trust_page, baseline_backward_bytes), .when = knows_baselines },
    { "reserved_baseline_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct trust_page, reserved_baseline_bytes), .when = knows_baselines },
    { "unknown_origin_peak_ratio", NULL, RATIO(unknown_origin_peak_ratio) },
    { "unknown_origin_end_ratio", NULL, RATIO(unknown_origin_end_ratio) },
    { "explained_peak_ratio", NULL, RATIO(explained_peak_ratio) },
    { "no_user_frame_peak_ratio", NULL, RATIO(no_user_frame_peak_ratio) },
    { "capture_style", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct trust_page, capture_style) },
    { "streams", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trust_page, streams) },
    { "pools", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trust_page, pools),
      .when = names_pools, .least = 1 },
    { "annotations", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct trust_page, annotations) },
    { "settings", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct trust_page, setting, settings),
      .row = &setting_row_type },
    { "unknown_keys", NULL, COUNTS(unknown_key, unknown_keys) },
    { "unknown_actions", NULL, COUNTS(unknown_action, unknown_actions) },
};
const struct row_type trust_page_row_type = ROW_TYPE("trust_page", struct trust_page, page_fields);
