/* file_facts_fields.h - a file and a device, described for those who show them. */
#ifndef VRS_MODEL_FILE_FACTS_FIELDS_H
#define VRS_MODEL_FILE_FACTS_FIELDS_H

#include "base/field.h"

/* Of a struct file_facts. */
extern const struct row_type file_row_type;

/* Of a struct device_name, among the members of whatever is about the device: the kind, of pinned
 * memory of the host alone. */
extern const struct row_type device_kind_row_type;

#endif
