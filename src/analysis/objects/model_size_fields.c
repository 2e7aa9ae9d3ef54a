/* model_size_fields.c - the members of the size of a model. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/objects/model_size.h"
#include "base/field.h"

static const struct field sums_fields[] = {
    { "parameters", "parameters", UNIT_COUNT, FIELD_UNSIGNED,
      FIELD_AT(struct model_sums, parameters), .null = NULL_ALL_ONES },
    { "trainable", "trainable", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct model_sums, trainable),
      .null = NULL_ALL_ONES },
    { "parameter_bytes", "in bytes", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct model_sums, parameter_bytes), .null = NULL_ALL_ONES },
    { "buffer_bytes", "buffers", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct model_sums, buffer_bytes), .null = NULL_ALL_ONES },
    { "storage_bytes", "storage", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct model_sums, storage_bytes), .null = NULL_ALL_ONES },
    { "full_bytes", "all shards", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct model_sums, full_bytes), .null = NULL_ALL_ONES },
};
const struct row_type model_sums_row_type =
    LINE_ROW_TYPE("model_sums", struct model_sums, sums_fields);

static const struct field module_fields[] = {
    { "path", "module", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct module_row, path) },
    { "type", "type", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct module_row, type) },
    { "own", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct module_row, own) },
    { "modules", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct module_row, modules),
      .least = 1 },
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, FIELD_AT(struct module_row, sums),
      .row = &model_sums_row_type },
    { "all_bytes", "with all inside", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct module_row, all_bytes), .null = NULL_ALL_ONES },
    { "shared_with", NULL, UNIT_NONE, FIELD_VALUES, FIELD_LIST(struct module_row, shared, shareds),
      .of = FIELD_TEXT },
    { "calls", "calls", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct module_row, calls),
      .null = NULL_ALL_ONES },
    { "output_bytes", "outputs", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct module_row, output_bytes), .null = NULL_ALL_ONES },
};
const struct row_type module_row_type =
    LINE_ROW_TYPE("module_row", struct module_row, module_fields);

static const struct field size_fields[] = {
    { "type", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct model_size, type) },
    { "total", NULL, UNIT_NONE, FIELD_ROW, FIELD_AT(struct model_size, total),
      .row = &model_sums_row_type },
    { "at_least", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct model_size, at_least) },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct model_size, row, rows),
      .row = &module_row_type, .limited = true, .table = true },
};
const struct row_type model_size_row_type = ROW_TYPE("model", struct model_size, size_fields);
