/* envelope_fields.c - the members of the parts that all answers share. */
#include "render/answer/envelope_fields.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/trust/trust_fields.h"
#include "base/field.h"
#include "model/file_facts_fields.h"

const char *const answer_status_names[ANSWER_STATUSES] = {
    [ANSWER_OK] = "ok",
    [ANSWER_PARTIAL] = "partial",
    [ANSWER_NOT_APPLICABLE] = "not_applicable",
    [ANSWER_NEEDS_TRACE] = "needs_trace",
    [ANSWER_NEEDS_STACKS] = "needs_stacks",
    [ANSWER_REFUSED] = "refused",
};

static const struct field reason_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct answer_reason, id) },
    { "text", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct answer_reason, text) },
};
const struct row_type reason_row_type =
    LINE_ROW_TYPE("reason", struct answer_reason, reason_fields);

static const struct field device_fields[] = {
    { "device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct device_answer, name.number),
      .place = "device" },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct device_answer, name),
      .row = &device_kind_row_type },
    { "status", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct device_answer, status),
      FIELD_NAMES(answer_status_names), .place = "device.status" },
    { "reasons", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct device_answer, reason, reasons),
      .row = &reason_row_type },
    { "trust", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct device_answer, trust),
      .row = &trust_row_type },
    { "result", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct device_answer, result),
      .pointer = true },
};
static const struct row_type device_row_type =
    ROW_TYPE("device", struct device_answer, device_fields);

static bool is_unread(const void *row, const void *above)
{
    const struct devices_answer *answer = row;
    (void)above;
    return answer->unread.ptr != NULL;
}

static bool is_read(const void *row, const void *above)
{
    return !is_unread(row, above);
}

static const struct field document_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct devices_answer, file.path),
      .when = is_unread, .optional = true },
    { "error", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct devices_answer, unread),
      .when = is_unread, .optional = true },
    { "file", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct devices_answer, file),
      .row = &file_row_type, .when = is_read, .optional = true },
    { "devices", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct devices_answer, device, devices),
      .row = &device_row_type, .when = is_read, .optional = true },
    { "stacks", NULL, UNIT_NONE, FIELD_STACKS, FIELD_AT(struct devices_answer, stacks),
      .when = is_read, .optional = true },
};
const struct row_type devices_document =
    ROW_TYPE("document", struct devices_answer, document_fields);
