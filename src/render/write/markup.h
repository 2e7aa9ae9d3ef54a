/* markup.h - text of a stranger's file made harmless inside HTML and XML. */
#ifndef VRS_RENDER_WRITE_MARKUP_H
#define VRS_RENDER_WRITE_MARKUP_H

#include "base/buf.h"
#include "base/str.h"

/* Appends `text` (any bytes) for an element or a quoted attribute: what escape_text would escape
 * becomes that, and then nothing of it is markup. */
void markup_text(struct buf *to, str text);

/* The same of text, perhaps of several lines, whose foreign parts escape_text has seen. */
void markup_escaped(struct buf *to, str text);

#endif
