/* base64.c - base64: three bytes become four letters. */
#include "render/write/base64.h"

#include <stddef.h>
#include <stdint.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_three(char *to, uint32_t bits)
{
    for (int i = 0; i < 4; i++)
        to[i] = letters[bits >> (18 - 6 * i) & 63];
}

void base64_put(struct buf *to, const void *bytes, size_t len)
{
    enum { AT_ONCE = 768 };
    const uint8_t *at = bytes;
    char text[AT_ONCE / 3 * 4];
    size_t filled = 0;
    for (; len >= 3; at += 3, len -= 3) {
        put_three(text + filled, (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2]);
        filled += 4;
        if (filled == sizeof text) {
            buf_bytes(to, text, filled);
            filled = 0;
        }
    }
    if (len > 0) {
        put_three(text + filled, (uint32_t)at[0] << 16 | (len == 2 ? (uint32_t)at[1] << 8 : 0));
        text[filled + 3] = '=';
        if (len == 1)
            text[filled + 2] = '=';
        filled += 4;
    }
    buf_bytes(to, text, filled);
}
