/* string.h - one JSON string out of a window, its escapes resolved. */
#ifndef VRS_FORMAT_JSON_STRING_H
#define VRS_FORMAT_JSON_STRING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/input/window.h"

enum json_string {
    JSON_STRING_WHOLE,
    JSON_STRING_CUT,     /* the input ends, or fails, inside */
    JSON_STRING_ESCAPE,  /* no escape of JSON; the window stands at its backslash */
    JSON_STRING_CONTROL, /* a control character as such; the window stands at it */
    JSON_STRING_LONG,    /* more than `max` bytes */
    JSON_STRING_MEMORY,  /* `to` has failed */
};

/* Makes `to` the string, of at most `max` bytes.  The window stands behind the opening quote, and
 * afterwards, when the string is whole, behind the closing one.  The maximum of `to` must be at
 * least `max` and one character more.  Halves of surrogate pairs become U+FFFD and are counted in
 * `*lone_surrogates`; bytes that are no UTF-8 stay as they are. */
enum json_string json_string_read(struct window *w, struct buf *to, size_t max,
                                  uint64_t *lone_surrogates);

#endif
