/* size.h - sizes, shares and durations as people type and read them. */
#ifndef VRS_BASE_SIZE_H
#define VRS_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A number of at most six decimals: `whole` and `part / scale`. */
struct decimal {
    uint64_t whole, part, scale;
};

/* Takes a number off the beginning of `*text`; false where none stands there, or none that fits. */
bool decimal_take(str *text, struct decimal *ret);

/* All of "4096", "512MiB", "24GB", "1.5 GiB"; units of 1,000 where no "i" stands in them, in
 * letters of either case.  False, with `*ret` untouched, where the text is no size or does not
 * fit. */
bool size_read(str text, uint64_t *ret);

/* All of "5%", "2.5%" in millionths; decimals beyond the fourth do not count.  False, with `*ret`
 * untouched, where the text is no share or does not fit. */
bool share_read(str text, uint64_t *ret);

/* All of "120ms", "1.5 s", "5us", "800ns" in nanoseconds.  False, with `*ret` untouched, where the
 * text is no time or does not fit 63 bits. */
bool duration_read(str text, int64_t *ret);

enum { SIZE_TEXT = 32 };

/* "62.31 GiB", of at least 1,024 bytes: the largest unit up to EiB that is not above them, with two
 * decimals, halves to even. */
void size_write(uint64_t bytes, char to[SIZE_TEXT]);

#endif
