/* parts.h - a large list of events read in parts, side by side, and put together in order.
 *
 * A part begins at what looks like an event.  Whether it is one the part before tells, which ends
 * there: within the list, behind a comma.  So what is put together is what one reader would have
 * read; where it is not certain to be that, all is given up, and the file is read as one.  A file
 * with damage is such a one, so nothing here is tolerant. */
#ifndef VRS_FORMAT_TRACE_PARTS_H
#define VRS_FORMAT_TRACE_PARTS_H

#include <stdbool.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/json/reader.h"
#include "format/trace/from_json.h"
#include "format/trace/reading.h"

/* Reads the value at the front of `w` into `r`, as json_read does, and `*ret_done`.  Not done, `r`
 * and its trace are fit only to be freed.  A failure is that of the parts' progress, or memory. */
enum vrs_status parts_read(struct window *w, const struct trace_parts *parts,
                           const struct limits *limits, struct reading *r, struct json_end *ret,
                           bool *ret_done, struct vrs_error *err) MUST_CHECK;

#endif
