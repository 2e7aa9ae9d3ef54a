/* serve_index.h - the index of view --serve: every file is read once, before anything is served. */
#ifndef CLI_SERVE_INDEX_H
#define CLI_SERVE_INDEX_H

#include "inputs.h"
#include "serve/serve_pages.h"
#include "view.h"

/* The table of all ranks, with the page of input i under the number i + 1; what could not be read
 * is said, and stands in it.  Returns EXIT_DONE, or EXIT_FAILED where nothing could be read. */
int index_make(const struct view_settings *s, const struct inputs *inputs, struct gathered *ret);

/* Reads the only input, to say at once what is wrong with it. */
int index_try(const struct view_settings *s, const struct inputs *inputs);

#endif
