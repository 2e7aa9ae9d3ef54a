/* escape.h - escapes text of a stranger's file so that it is harmless on a terminal. */
#ifndef VRS_RENDER_WRITE_ESCAPE_H
#define VRS_RENDER_WRITE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Characters that move the cursor, start a terminal's own language, end a line, or turn the
 * direction of the text around them. */
bool escape_needed(uint32_t point);

/* Appends `text` (any bytes) with those characters as \xNN or \u{…}, and bytes that are no UTF-8
 * as \xNN; with `ascii` everything outside ASCII too. */
void escape_text(struct buf *to, str text, bool ascii);

/* Columns that a terminal gives to valid UTF-8: two for wide characters, none for marks that
 * stand on the one before or for colours. */
size_t escape_width(str text);

/* How many bytes of `text`, escaped, fit into `columns`; half an escape would be a lie. */
size_t escape_fit(str text, size_t columns);

/* How many bytes its first character has, or the escape of one; the text is not empty. */
size_t escape_first(str text);

#endif
