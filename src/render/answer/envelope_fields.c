/* envelope_fields.c - the members of the parts that all answers share. */
#include "render/answer/envelope_fields.h"

#include "analysis/snapshot/trust/trust_fields.h"

static const char *const compressions[] = {
    [COMPRESSION_NONE] = "none",
    [COMPRESSION_GZIP] = "gzip",
    [COMPRESSION_ZSTD] = "zstd",
};
static const char *const wrappers[] = { [WRAPPER_NONE] = "none", [WRAPPER_HTML] = "html" };
static const char *const encodings[] = { [ENCODING_PICKLE] = "pickle", [ENCODING_JSON] = "json" };

const char *const answer_status_names[ANSWER_STATUSES] = {
    [ANSWER_OK] = "ok",
    [ANSWER_PARTIAL] = "partial",
    [ANSWER_NOT_APPLICABLE] = "not_applicable",
    [ANSWER_NEEDS_TRACE] = "needs_trace",
    [ANSWER_NEEDS_STACKS] = "needs_stacks",
    [ANSWER_REFUSED] = "refused",
};

static const struct field file_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct file_facts, path) },
    { "size_bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct file_facts, origin.size_bytes) },
    { "compression", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct file_facts, origin.compression),
      FIELD_NAMES(compressions) },
    { "wrapper", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct file_facts, origin.wrapper),
      FIELD_NAMES(wrappers) },
    { "entry", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct file_facts, entry) },
    { "encoding", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct file_facts, origin.encoding),
      FIELD_NAMES(encodings) },
    { "pickle_protocol", NULL, UNIT_NUMBER, FIELD_SIGNED,
      FIELD_AT(struct file_facts, origin.pickle_protocol), .null = NULL_NEGATIVE },
    { "complete", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct file_facts, origin.complete) },
};
const struct row_type file_row_type = LINE_ROW_TYPE("file", struct file_facts, file_fields);

static const struct field reason_fields[] = {
    { "id", NULL, UNIT_NONE, FIELD_WORD, FIELD_AT(struct answer_reason, id) },
    { "text", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct answer_reason, text) },
};
const struct row_type reason_row_type =
    LINE_ROW_TYPE("reason", struct answer_reason, reason_fields);

static bool is_host(const void *row, const void *above)
{
    const struct device_answer *device = row;
    (void)above;
    return device->name.host;
}

static void make_host(const void *row, const void *above, uint32_t limit, struct field_value *ret)
{
    (void)row;
    (void)above;
    (void)limit;
    ret->text = S("host");
}

static const struct field device_fields[] = {
    { "device", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct device_answer, name.number) },
    { "kind", NULL, UNIT_NONE, FIELD_WORD, .make = make_host, .when = is_host, .optional = true },
    { "status", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct device_answer, status),
      FIELD_NAMES(answer_status_names) },
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
