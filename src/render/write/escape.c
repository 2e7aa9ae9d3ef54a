/* escape.c - text made harmless, and how wide it is. */
#include "render/write/escape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/utf8.h"

struct range {
    uint32_t first, last;
};

static bool within(const struct range *ranges, size_t count, uint32_t point)
{
    for (size_t i = 0; i < count; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    }
    return false;
}

bool escape_needed(uint32_t point)
{
    static const struct range unsafe[] = {
        { 0x00, 0x1f },                           /* control characters, ESC among them */
        { 0x7f, 0x9f },                           /* DEL and the second set of controls */
        { 0x61c, 0x61c },     { 0x200b, 0x200f }, /* marks of direction, characters of no width */
        { 0x2028, 0x202e },   { 0x2060, 0x206f }, /* line ends, embeddings, isolates */
        { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb }, /* byte order mark, annotations */
        { 0xe0000, 0xe007f },                     /* tags */
    };
    return point < 0x20 || (point >= 0x7f && within(unsafe, sizeof unsafe / sizeof *unsafe, point));
}

void escape_text(struct buf *to, str text, bool ascii)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        size_t len = utf8_decode((str){ text.ptr + at, text.len - at }, &point);
        if (len == 1 && (point == 0xfffd || escape_needed(point)))
            buf_format(to, "\\x%02x", (unsigned)(unsigned char)text.ptr[at]);
        else if (ascii && point == 0x202f)
            buf_char(to, ','); /* between the digits of a count */
        else if (escape_needed(point) || (ascii && point > 0x7f))
            buf_format(to, "\\u{%x}", (unsigned)point);
        else
            buf_bytes(to, text.ptr + at, len);
        at += len;
    }
}

/* The blocks that terminals draw wide; single wide symbols outside them are rare in paths. */
static size_t width_of(uint32_t point)
{
    static const struct range wide[] = {
        { 0x1100, 0x115f },   { 0x2e80, 0xa4cf },   { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
        { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
        { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
    };
    static const struct range none[] = { { 0x300, 0x36f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f } };
    if (point < 0x300)
        return 1;
    if (within(none, sizeof none / sizeof *none, point))
        return 0;
    return within(wide, sizeof wide / sizeof *wide, point) ? 2 : 1;
}

/* Length of a colour at the front of the text.  It can only be our own: in text of a file ESC has
 * been escaped. */
static size_t colour(str text)
{
    size_t at = 0;
    if (text.len > 0 && text.ptr[0] == '\033')
        while (at < text.len && text.ptr[at++] != 'm')
            continue;
    return at;
}

size_t escape_width(str text)
{
    size_t width = 0;
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        size_t skip = colour((str){ text.ptr + at, text.len - at });
        if (skip > 0) {
            at += skip;
            continue;
        }
        at += utf8_decode((str){ text.ptr + at, text.len - at }, &point);
        width += width_of(point);
    }
    return width;
}

static size_t hex_digits(str text, size_t at)
{
    size_t end = at;
    while (end < text.len &&
           (is_digit(text.ptr[end]) || (text.ptr[end] >= 'a' && text.ptr[end] <= 'f')))
        end++;
    return end - at;
}

/* The length of what escape_text made of a character or a byte, at the front of the text; or 0. */
static size_t escape_length(str text)
{
    enum { BEGIN = 2, BRACE = 3, BYTE_DIGITS = 2 };
    if (str_starts(text, S("\\x")))
        return hex_digits(text, BEGIN) >= BYTE_DIGITS ? BEGIN + BYTE_DIGITS : 0;
    size_t end = BRACE;
    if (str_starts(text, S("\\u{")))
        end += hex_digits(text, BRACE);
    return end > BRACE && end < text.len && text.ptr[end] == '}' ? end + 1 : 0;
}

static size_t first_of(str text, size_t *ret_width)
{
    uint32_t point;
    *ret_width = escape_length(text);
    if (*ret_width > 0)
        return *ret_width;
    size_t len = utf8_decode(text, &point);
    *ret_width = width_of(point);
    return len;
}

size_t escape_first(str text)
{
    size_t width;
    return first_of(text, &width);
}

size_t escape_fit(str text, size_t columns)
{
    size_t at = 0, taken = 0;
    while (at < text.len) {
        size_t width, len = first_of((str){ text.ptr + at, text.len - at }, &width);
        taken += width;
        if (taken > columns)
            break;
        at += len;
    }
    return at;
}
