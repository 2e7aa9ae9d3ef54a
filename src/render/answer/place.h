/* place.h - names that programs read, in the words of people. */
#ifndef VRS_RENDER_ANSWER_PLACE_H
#define VRS_RENDER_ANSWER_PLACE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "render/write/cells.h"

/* "optimizer state", of "optimizer_state" */
void category_words(struct buf *to, str category);

/* A line of a program as it is; of what has no stack, "(no stack) optimizer state" for
 * "(no stack) optimizer_state", and "(no stack, 8.12 MiB each)" for "size:8519680". */
void place_words(struct buf *to, str name, bool ascii);
str place_text_cell(struct cells *cells, str name);

#endif
