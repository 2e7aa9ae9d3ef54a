/* cycles_fields.c - the members of what reference cycles hold. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/objects/cycles.h"
#include "base/field.h"

static const struct field cycle_fields[] = {
    { "bytes", "bytes", UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct cycle_row, bytes) },
    { "tensors", "tensors", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct cycle_row, tensors),
      .least = 1 },
    { "objects", "objects", UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct cycle_row, objects),
      .least = 1 },
    { "cycle", NULL, UNIT_NONE, FIELD_VALUES, FIELD_LIST(struct cycle_row, loop, loops),
      .of = FIELD_TEXT },
    { "to_tensor", NULL, UNIT_NONE, FIELD_VALUES, FIELD_LIST(struct cycle_row, way, ways),
      .of = FIELD_TEXT },
    { "text", NULL, UNIT_NONE, FIELD_SENTENCE, .sentence = 0 },
};
const struct row_type cycle_row_type = LINE_ROW_TYPE("cycle", struct cycle_row, cycle_fields);

static const struct field cycles_fields[] = {
    { "bytes", NULL, UNIT_BYTES, FIELD_UNSIGNED, FIELD_AT(struct cycles, bytes) },
    { "rows", NULL, UNIT_NONE, FIELD_ROWS, FIELD_LIST(struct cycles, row, rows),
      .row = &cycle_row_type, .limited = true, .table = true },
};
const struct row_type cycles_row_type = ROW_TYPE("cycles", struct cycles, cycles_fields);
