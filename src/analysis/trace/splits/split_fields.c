/* split_fields.c - the members of a row of the table of operators that is split. */
#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/splits/split.h"
#include "base/field.h"

static bool has_phase(const void *row, const void *above)
{
    (void)above;
    return ((const struct split_row *)row)->phase < TRACE_PHASES;
}

static const struct field split_fields[] = {
    { NULL, NULL, UNIT_NONE, FIELD_INLINE, .offset = offsetof(struct split_row, op),
      .row = &operator_row_type },
    { "shapes", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct split_row, shapes) },
    { "module", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct split_row, module) },
    { "phase", NULL, UNIT_NONE, FIELD_NAME, FIELD_AT(struct split_row, phase),
      .names = trace_phase_names, .name_count = TRACE_PHASES, .when = has_phase },
    { "step", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct split_row, step) },
    { "stack", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct split_row, stack) },
};
const struct row_type split_row_type = LINE_ROW_TYPE("op_by", struct split_row, split_fields);
