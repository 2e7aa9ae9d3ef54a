/* tolerant.h - a trace is read past its damage.
 *
 * A file without damage is read by json_read alone.  Where that fails within the list of events,
 * the event at hand is mended (repair.h) and read again; when it cannot be, everything up to the
 * next event, or to the end of the list, is skipped and counted.  So is what stands before the list
 * or behind it, from where it is damaged on: the list is what matters.
 *
 * Damage costs time in proportion to the file: what is looked at in vain is bounded, and when that
 * is used up nothing is looked at twice any more. */
#ifndef VRS_FORMAT_TRACE_TOLERANT_H
#define VRS_FORMAT_TRACE_TOLERANT_H

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "format/json/reader.h"
#include "format/trace/reading.h"

/* Reads the value at the window's front into `r`, as json_read does. */
enum vrs_status tolerant_read(struct window *w, const struct limits *limits, struct reading *r,
                              struct json_end *ret, struct vrs_error *err) MUST_CHECK;

#endif
