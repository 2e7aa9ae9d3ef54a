/* tensor_table_fields.c - the members of the storages under tensors. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/objects/tensor_table.h"
#include "base/field.h"

static const struct field storage_fields[] = {
    { "bytes", "bytes", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct storage_row, bytes),
      .null = NULL_ALL_ONES },
    { "count", "tensors", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct storage_row, count),
      .least = 1 },
    { "kind", "kind", UNIT_NONE, FIELD_NAME, FIELD_AT(struct storage_row, kind),
      FIELD_NAMES(tensor_kind_names) },
    { "name", "name", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct storage_row, name) },
    { "shape", "shape", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct storage_row, shape) },
    { "dtype", "dtype", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct storage_row, dtype) },
    { "device", "device", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct storage_row, device) },
    { "shared_by", NULL, UNIT_NONE, FIELD_VALUES, FIELD_LIST(struct storage_row, shared, shareds),
      .of = FIELD_TEXT },
};
const struct row_type storage_row_type =
    LINE_ROW_TYPE("storage", struct storage_row, storage_fields);

static const struct field device_fields[] = {
    { "device", "device", UNIT_NONE, FIELD_TEXT, FIELD_AT(struct device_row, device) },
    { "storages", "storages", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct device_row, storages) },
    { "unknown", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct device_row, unknown) },
    { "bytes", "of tensors", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct device_row, bytes) },
    { "invisible_bytes", "invisible", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct device_row, invisible_bytes), .null = NULL_ALL_ONES },
    { "rounding_bytes", "rounding", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct device_row, rounding_bytes), .null = NULL_ALL_ONES },
    { "allocated_bytes", "allocated", UNIT_BYTES, FIELD_UNSIGNED,
      FIELD_AT(struct device_row, allocated_bytes), .null = NULL_ALL_ONES },
};
const struct row_type device_row_type = LINE_ROW_TYPE("device", struct device_row, device_fields);

static const struct field table_fields[] = {
    { "devices", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct tensor_table, device, devices),
      .row = &device_row_type },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct tensor_table, row, rows),
      .row = &storage_row_type, .limited = true, .table = true },
};
const struct row_type tensor_table_row_type =
    ROW_TYPE("tensors", struct tensor_table, table_fields);
