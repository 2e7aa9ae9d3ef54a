/* layout.h - events as nearly all are written, read at one go: by what stands between their values.
 *
 *     {"ph": "X", "ts": 7, "args": {"bytes": 4}}     {"ph": _ , "ts": _ , "args": { "bytes": _ }}
 *
 * A writer repeats its commas, keys and blanks, so each stretch between two values is taken apart
 * once; from then on it is compared with what stood behind the same stretch before.  An event in
 * which there is anything else - an escape, an exponent, an object in its args, an end of the window
 * - is left to the reader of tokens (reading.h), which makes the same of every event. */
#ifndef VRS_FORMAT_TRACE_LAYOUT_H
#define VRS_FORMAT_TRACE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/input/window.h"
#include "format/trace/event.h"

struct layout;

/* NULL: no memory. */
struct layout *layout_new(uint32_t string_bytes);
void layout_free(struct layout *l);

/* The event at the window's front, which shows its "{", as event_field and event_argument take it;
 * `w` then stands behind its "}", and event_end is to be called.  False: it is left to others, `w`
 * stands anywhere in it, and texts of it may have been counted as damaged. */
bool layout_read_event(struct layout *l, struct events *e, struct window *w);

#endif
