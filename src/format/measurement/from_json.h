/* from_json.h - the JSON of a Measurement becomes a measurement.
 *
 * A document is a measurement itself ("vramscope.measurement/1") or a diagnosis that has one as its
 * member "measurement"; its first member says which, "schema".  Members that are not known are
 * checked and passed over.  What is there and wrong, twice, missing or against another member
 * (agreement.h) fails, and the message names the member: "times[2].median". */
#ifndef VRS_FORMAT_MEASUREMENT_FROM_JSON_H
#define VRS_FORMAT_MEASUREMENT_FROM_JSON_H

#include <stdbool.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/measurement.h"

/* Whether a window on JSON begins with such a document: it says so in its first member. */
bool measurement_begins(struct window *w);

/* Reads the window to its end into `ret`, which measurement_init has made, and which is to be freed
 * after a failure too. */
enum vrs_status measurement_from_json(struct window *w, const struct limits *limits,
                                      struct measurement *ret, struct vrs_error *err) MUST_CHECK;

#endif
