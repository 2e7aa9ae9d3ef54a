/* buf.h - a growable byte buffer to write text into.
 *
 * Sticky: it remembers its first failure and ignores later calls; the writer checks once, at
 * the end.  Invariant: len <= cap <= max. */
#ifndef VRS_BASE_BUF_H
#define VRS_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct buf {
    char *at;
    size_t len, cap, max;
    bool failed;
};

void buf_init(struct buf *b, size_t max);
void buf_free(struct buf *b);

/* Frees it; that it failed becomes a failure of `to`. */
void buf_end(struct buf *b, struct buf *to);

void buf_bytes(struct buf *b, const void *bytes, size_t len);
void buf_str(struct buf *b, str text);
void buf_text(struct buf *b, const char *text);
void buf_char(struct buf *b, char c);
void buf_repeat(struct buf *b, str text, size_t times);
void buf_u64(struct buf *b, uint64_t n);
/* As %.*g and %.*f, with a point in every locale. */
void buf_real(struct buf *b, double value, int digits);
void buf_fixed(struct buf *b, double value, int decimals);
/* With a double among its arguments the text depends on the locale. */
void buf_format(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline str buf_slice(const struct buf *b)
{
    return (str){ b->at, b->len };
}

#endif
