/* column.h - columns of tables as the library hands them out. */
#ifndef VRS_API_COLUMN_H
#define VRS_API_COLUMN_H

#include <stdbool.h>

#include "base/str.h"
#include "base/table.h"
#include "vramscope/vramscope.h"

/* The values of a column; the table's struct begins with a `struct table`. */
struct vrs_span column_span(const void *table, const struct column *column);

/* Whether a name as "events.size" means this column of the table. */
bool column_is_named(const struct table_kind *table, const struct column *column, str name);

#endif
