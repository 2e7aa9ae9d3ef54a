/* trace_levels.h - names one inside the other, in the last column of a table. */
#ifndef VRS_RENDER_TRACE_TRACE_LEVELS_H
#define VRS_RENDER_TRACE_TRACE_LEVELS_H

#include <stdint.h>

#include "base/str.h"
#include "render/write/cells.h"
#include "render/write/human.h"
#include "render/write/text.h"

/* At which level the name of a row stands. */
typedef uint32_t level_of_row(const void *from, uint32_t row);

/* Puts blanks before the names in the last column of `cell`, one for each level.  Where that is too
 * wide, a part of the room is for blanks, and deeper names stand behind the number of their level;
 * names that are too long then are shortened, and cut. */
void trace_levels_fill(struct cells *cells, const struct style *style,
                       const struct text_table *table, str *cell, level_of_row *level,
                       const void *from);

#endif
