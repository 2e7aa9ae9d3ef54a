/* trust_fields.h - how far a device can be believed, described for those who show it. */
#ifndef VRS_ANALYSIS_SNAPSHOT_TRUST_TRUST_FIELDS_H
#define VRS_ANALYSIS_SNAPSHOT_TRUST_TRUST_FIELDS_H

#include "base/field.h"

/* Of a struct trust. */
extern const struct row_type trust_row_type;

#endif
