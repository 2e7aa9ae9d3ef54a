/* utf8.c - checking, repairing, decoding and encoding UTF-8. */
#include "base/utf8.h"

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Length of the valid sequence at p (`left` bytes there), or 0. */
static size_t sequence(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || left < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    bool beyond = p[0] == 0xf4 && p[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : len;
}

str utf8_without_mark(str text)
{
    return str_starts(text, S("\ufeff")) ? (str){ text.ptr + 3, text.len - 3 } : text;
}

bool utf8_valid(str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    for (size_t at = 0; at < text.len;) {
        size_t len = sequence(p + at, text.len - at);
        if (len == 0)
            return false;
        at += len;
    }
    return true;
}

void utf8_repair(struct buf *to, str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    for (size_t at = 0; at < text.len;) {
        size_t len = sequence(p + at, text.len - at);
        if (len == 0)
            utf8_encode(to, 0xfffd);
        else
            buf_bytes(to, p + at, len);
        at += len == 0 ? 1 : len;
    }
}

size_t utf8_decode(str text, uint32_t *ret)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t len = sequence(p, text.len);
    static const unsigned char lead_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    if (len == 0) {
        *ret = 0xfffd;
        return 1;
    }
    *ret = p[0] & lead_mask[len];
    for (size_t i = 1; i < len; i++)
        *ret = *ret << 6 | (p[i] & 0x3f);
    return len;
}

size_t utf8_count(str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
    return count;
}

void utf8_encode(struct buf *to, uint32_t point)
{
    if ((point >= 0xd800 && point < 0xe000) || point > 0x10ffff)
        point = 0xfffd;
    if (point < 0x80) {
        buf_char(to, (char)point);
    } else if (point < 0x800) {
        buf_char(to, (char)(0xc0 | point >> 6));
        buf_char(to, (char)(0x80 | (point & 0x3f)));
    } else if (point < 0x10000) {
        buf_char(to, (char)(0xe0 | point >> 12));
        buf_char(to, (char)(0x80 | (point >> 6 & 0x3f)));
        buf_char(to, (char)(0x80 | (point & 0x3f)));
    } else {
        buf_char(to, (char)(0xf0 | point >> 18));
        buf_char(to, (char)(0x80 | (point >> 12 & 0x3f)));
        buf_char(to, (char)(0x80 | (point >> 6 & 0x3f)));
        buf_char(to, (char)(0x80 | (point & 0x3f)));
    }
}

void utf8_append_clipped(struct buf *to, str text, size_t most)
{
    if (text.len <= most) {
        buf_str(to, text);
        return;
    }
    /* Back to where a character begins. */
    while (most > 0 && ((unsigned char)text.ptr[most] & 0xc0) == 0x80)
        most--;
    buf_bytes(to, text.ptr, most);
    buf_str(to, S("\u2026"));
}
