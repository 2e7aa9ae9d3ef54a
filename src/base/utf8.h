/* utf8.h - UTF-8: validation and repair. */
#ifndef VRS_BASE_UTF8_H
#define VRS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* The text behind the byte order mark that some editors put first. */
str utf8_without_mark(str text);

/* Strict: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool utf8_valid(str text);

/* Appends `text` with each byte that is not part of a valid sequence as U+FFFD. */
void utf8_repair(struct buf *to, str text);

/* The code point at the front of valid UTF-8 and its length in bytes (1 to 4). */
size_t utf8_decode(str text, uint32_t *ret);

/* How many code points valid UTF-8 has. */
size_t utf8_count(str text);

/* Appends one code point (a surrogate or one above U+10FFFF as U+FFFD). */
void utf8_encode(struct buf *to, uint32_t point);

/* Appends valid UTF-8, or its first `most` bytes or a few less, then "…", where it is longer. */
void utf8_append_clipped(struct buf *to, str text, size_t most);

#endif
