/* envelope_fields.h - what every answer has, described: its file, its devices, their trust. */
#ifndef VRS_RENDER_ANSWER_ENVELOPE_FIELDS_H
#define VRS_RENDER_ANSWER_ENVELOPE_FIELDS_H

#include "base/field.h"
#include "render/answer/answer.h"

/* Of a struct answer_reason. */
extern const struct row_type reason_row_type;
extern const char *const answer_status_names[ANSWER_STATUSES];

/* The document of answers of the common form, struct devices_answer: a result for each device, of
 * the kind's own type. */
extern const struct row_type devices_document;

#endif
