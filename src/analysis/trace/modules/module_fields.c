/* module_fields.c - the members of a module's row. */
#include <stddef.h>

#include "analysis/trace/modules/modules.h"
#include "base/field.h"

static const struct field module_fields[] = {
    { "path", NULL, UNIT_NONE, FIELD_TEXT, FIELD_AT(struct module_row, path) },
    { "depth", NULL, UNIT_NUMBER, FIELD_UNSIGNED, FIELD_AT(struct module_row, depth) },
    { "backward", NULL, UNIT_NONE, FIELD_BOOL, FIELD_AT(struct module_row, backward) },
    { "calls", NULL, UNIT_COUNT, FIELD_UNSIGNED, FIELD_AT(struct module_row, calls) },
    { "host_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct module_row, host_ns) },
    { "self_host_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct module_row, self_host_ns) },
    { "device_ns", NULL, UNIT_NS, FIELD_SIGNED, FIELD_AT(struct module_row, device_ns) },
    { "self_device_ns", NULL, UNIT_NS, FIELD_SIGNED,
      FIELD_AT(struct module_row, self_device_ns) },
    { "allocated_cpu_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct module_row, bytes.cpu) },
    { "allocated_device_bytes", NULL, UNIT_BYTES, FIELD_SIGNED,
      FIELD_AT(struct module_row, bytes.device) },
};
const struct row_type trace_module_row_type =
    LINE_ROW_TYPE("module", struct module_row, module_fields);
