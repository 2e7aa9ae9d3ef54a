/* timeline.h - the lists of numbers that export_memory_timeline() writes become states.
 *
 *     [[1718000, 1718002, …], [[0, 4096, 0, …], …]]     times in us, and at each the bytes of the
 *                                                       categories behind a 0
 *     [[-1, 1, 4096, 0], [1718000123, 2, 512, 3], …]    time in ns (-1: before the recording), what
 *                                                       was done, bytes to be added, category */
#ifndef VRS_FORMAT_TRACE_TIMELINE_H
#define VRS_FORMAT_TRACE_TIMELINE_H

#include <stdbool.h>

#include "base/fail.h"
#include "format/input/limits.h"
#include "format/input/window.h"
#include "model/trace.h"

/* Whether `w`, at the first byte of a JSON value, shows the beginning of either: a list in a list
 * with a number in it, or with nothing and another list behind it. */
bool timeline_begins(struct window *w);

/* Reads one JSON value, which begins so, into the timeline of `t`, which trace_init made; `w` is read
 * to the end.  Rows that are not like the others are dropped (DAMAGE_NOT_A_ROW).  Input that ends
 * inside keeps the rows that are whole (DAMAGE_TRUNCATED) or, with none, is an error.  On failure
 * `t` is fit only to be freed. */
enum vrs_status timeline_from_json(struct window *w, const struct limits *limits, struct trace *t,
                                   struct vrs_error *err) MUST_CHECK;

#endif
