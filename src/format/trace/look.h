/* look.h - what stands further on in a window, which stays where it is.
 *
 * `ahead` counts from the window's front.  Nobody looks further than LOOK_BYTES. */
#ifndef VRS_FORMAT_TRACE_LOOK_H
#define VRS_FORMAT_TRACE_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "format/input/window.h"

enum { LOOK_BYTES = 4096, LOOK_END = -1 };

/* The byte there; LOOK_END behind the end of the input, and too far on. */
int look_byte(struct window *w, size_t ahead);
size_t look_behind_blanks(struct window *w, size_t ahead);

/* Which key stands there, in quotes and with a colon behind it: any, one of an event, one of a
 * file. */
bool look_key(struct window *w, size_t ahead);
bool look_event_key(struct window *w, size_t ahead);
bool look_file_key(struct window *w, size_t ahead);

/* Whether an event begins at the front: an object whose first key is one of an event, and `ph`
 * among them. */
bool look_event(struct window *w);
/* Whether the list of events ends at the front: by a bracket behind which the file ends, or goes on
 * with a key of its own. */
bool look_list_end(struct window *w);
/* Whether the list of events begins at the front, with its key. */
bool look_list(struct window *w);

#endif
