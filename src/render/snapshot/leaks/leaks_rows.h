/* leaks_rows.h - the rows of the list of what stays.
 *
 * The text and the page show the same list. */
#ifndef VRS_RENDER_SNAPSHOT_LEAKS_LEAKS_ROWS_H
#define VRS_RENDER_SNAPSHOT_LEAKS_LEAKS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/leaks/leaks.h"
#include "base/buf.h"
#include "base/str.h"

/* What a site holds more after each step, on the average; 0: it does not rise, in most steps and by
 * enough to matter. */
uint64_t leaks_row_rise_bytes(const struct leaks *g, const struct leak_site *site);

/* What grows though nothing is left behind step by step: what replaces it is larger each time. */
bool leaks_row_is_outgrown(const struct leaks *g, const struct leak_site *site);

/* What is as it always was is not worth a row. */
bool leaks_row_is_shown(const struct leaks *g, const struct leak_site *site);

/* As `leak_class_names`, or "grows" of what is outgrown. */
const char *leaks_row_class(const struct leaks *g, const struct leak_site *site);

/* What tells a row from others of the same name: its owner, else the innermost frame, else how
 * large each of its allocations is. */
enum leaks_difference { DIFFERENT, BY_OWNER, BY_INNERMOST, BY_SIZE };
enum leaks_difference leaks_row_difference(const struct leaks *g, const struct leak_site *site);

/* The same in words: "nn_utils.py:12", "4 B each"; nothing where nothing tells them apart. */
void leaks_difference_words(struct buf *to, const struct leaks *g, const struct leak_site *site,
                            enum leaks_difference by, bool ascii);

/* "adam.py:172" of "adam.py:172 _init_group" */
str leaks_file_and_line(str name);

#endif
