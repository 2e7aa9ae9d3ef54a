/* sarif.h - the parts of SARIF 2.1.0 that results of any kind of file have. */
#ifndef VRS_RENDER_WRITE_SARIF_H
#define VRS_RENDER_WRITE_SARIF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "render/write/json.h"

extern const char sarif_schema[];

/* Members of a result, in this order: that a limit is exceeded, or could not be decided, and the
 * words for it; the file, with a line of code where that is not 0; what tells results apart from
 * one run to the next. */
void sarif_verdict(struct json *j, bool failed, str words);
void sarif_location(struct json *j, str path, uint64_t line);
void sarif_fingerprint(struct json *j, str place, str name);

#endif
