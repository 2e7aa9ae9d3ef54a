/* sizes.h - sizes as people type them. */
#ifndef CLI_SIZES_H
#define CLI_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/* "4096", "512MiB", "24GiB", "24GB", "1.5 GiB"; units of 1,000 where no "i" stands in them.
 * False, with `*ret` untouched, where the text is no size or does not fit. */
bool size_parse(const char *text, uint64_t *ret);

#endif
