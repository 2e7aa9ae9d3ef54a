/* base64.h - bytes as text that may stand in a page (RFC 4648, with padding). */
#ifndef VRS_RENDER_WRITE_BASE64_H
#define VRS_RENDER_WRITE_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends; a multiple of three bytes may be followed by more. */
void base64_put(struct buf *to, const void *bytes, size_t len);

/* How many letters `len` bytes become. */
static inline uint64_t base64_length(size_t len)
{
    return ((uint64_t)len + 2) / 3 * 4;
}

#endif
