/* site_fields.h - a place in the program, described for those who show it. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_SITE_FIELDS_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_SITE_FIELDS_H

#include "base/field.h"

/* Of a struct site_ref. */
extern const struct row_type site_row_type;
/* The same where the answer lists no stacks: its stack is null. */
extern const struct row_type site_without_stack_row_type;

#endif
