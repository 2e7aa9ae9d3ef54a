/* buf.c - appending to a buf. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){ .max = max };
}

void buf_free(struct buf *b)
{
    free(b->at);
    *b = (struct buf){ .max = b->max };
}

void buf_end(struct buf *b, struct buf *to)
{
    to->failed = to->failed || b->failed;
    buf_free(b);
}

static bool reserve(struct buf *b, size_t more)
{
    if (b->failed)
        return false;
    if (b->cap - b->len >= more)
        return true;
    size_t cap = b->cap + b->cap / 2 + 256;
    if (more > b->max - b->len)
        cap = 0;
    else if (cap - b->len < more)
        cap = b->len + more;
    char *grown = cap == 0 ? NULL : realloc(b->at, cap > b->max ? b->max : cap);
    if (grown == NULL) {
        b->failed = true;
        return false;
    }
    b->at = grown;
    b->cap = cap > b->max ? b->max : cap;
    return true;
}

void buf_bytes(struct buf *b, const void *bytes, size_t len)
{
    if (len == 0 || !reserve(b, len))
        return;
    memcpy(b->at + b->len, bytes, len);
    b->len += len;
}

void buf_str(struct buf *b, str text)
{
    buf_bytes(b, text.ptr, text.len);
}

void buf_text(struct buf *b, const char *text)
{
    buf_bytes(b, text, strlen(text));
}

void buf_char(struct buf *b, char c)
{
    buf_bytes(b, &c, 1);
}

void buf_repeat(struct buf *b, str text, size_t times)
{
    while (times-- > 0)
        buf_str(b, text);
}

void buf_u64(struct buf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    buf_bytes(b, digits + at, sizeof digits - at);
}

enum { REAL_TEXT = 352 }; /* the largest double has 309 digits */

void buf_real(struct buf *b, double value, int digits)
{
    char text[REAL_TEXT];
    snprintf(text, sizeof text, "%.*g", digits, value);
    number_set_point(text);
    buf_text(b, text);
}

void buf_fixed(struct buf *b, double value, int decimals)
{
    char text[REAL_TEXT];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    number_set_point(text);
    buf_text(b, text);
}

void buf_format(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    /* One byte more than the text, for the NUL that vsnprintf insists on. */
    if (len < 0 || !reserve(b, (size_t)len + 1)) {
        b->failed = true;
    } else {
        vsnprintf(b->at + b->len, (size_t)len + 1, format, again);
        b->len += (size_t)len;
    }
    va_end(again);
}
