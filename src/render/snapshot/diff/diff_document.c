/* diff_document.c - the members of an answer about two files. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/trust/trust_fields.h"
#include "base/field.h"
#include "model/file_facts_fields.h"
#include "render/answer/envelope_fields.h"
#include "render/snapshot/diff/diff_answer.h"

static bool has_a(const void *row, const void *above)
{
    const struct diff_device *device = row;
    (void)above;
    return device->there[0];
}

static bool has_b(const void *row, const void *above)
{
    const struct diff_device *device = row;
    (void)above;
    return device->there[1];
}

static bool has_both(const void *row, const void *above)
{
    return has_a(row, above) && has_b(row, above);
}

static const struct field device_fields[] = {
    { "a_device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct diff_device, name[0].number),
      .when = has_a, .place = "a_device" },
    { "b_device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct diff_device, name[1].number),
      .when = has_b, .place = "b_device" },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct diff_device, name[0]),
      .row = &device_kind_row_type },
    { "status", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct diff_device, status),
      FIELD_NAMES(answer_status_names), .place = "device.status" },
    { "reasons", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct diff_device, reason, reasons),
      .row = &reason_row_type },
    { "a_trust", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct diff_device, trust[0]),
      .row = &trust_row_type, .when = has_both },
    { "b_trust", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct diff_device, trust[1]),
      .row = &trust_row_type, .when = has_both },
    { "result", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct diff_device, result), .pointer = true,
      .row = &diff_result_row_type },
};
static const struct row_type device_row_type =
    ROW_TYPE("diff_device", struct diff_device, device_fields);

static const struct field document_fields[] = {
    { "a_file", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct diff_answer, file[0]),
      .row = &file_row_type },
    { "b_file", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct diff_answer, file[1]),
      .row = &file_row_type },
    { "devices", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct diff_answer, device, devices),
      .row = &device_row_type },
    { "stacks", NULL, UNIT_NONE, FIELD_STACKS, FIELD_AT(struct diff_answer, stacks) },
};
const struct row_type diff_document = ROW_TYPE("diff", struct diff_answer, document_fields);
