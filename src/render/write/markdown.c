/* markdown.c - text in which Markdown and HTML see no markup. */
#include "render/write/markdown.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "render/write/escape.h"

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || c == ' ' || c == '.' || c == ',' || c == ';' || c == '/' ||
           c == '%' || c == '+';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether a character that can be markup is none where it stands.  `open` counts brackets: the
 * target of a link stands in some, but behind square ones, which are always escaped; one that only
 * closes may be a list's. */
static bool is_harmless(str text, size_t i, uint32_t *open)
{
    char c = text.ptr[i];
    bool between = i > 0 && i + 1 < text.len;
    if (c == '(') {
        ++*open;
        return true;
    }
    if (c == ')' && *open > 0) {
        --*open;
        return true;
    }
    /* Inside a word it is no emphasis. */
    if (c == '_')
        return between && is_word(text.ptr[i - 1]) && is_word(text.ptr[i + 1]);
    /* A dash or colon means something at the front of a line or beside another alone. */
    return i > 0 && (c == '-' || c == ':') && text.ptr[i - 1] != c && is_plain(text.ptr[i - 1]);
}

void markdown_text(struct buf *to, str text, bool ascii)
{
    struct buf plain;
    uint32_t open = 0;
    buf_init(&plain, SIZE_MAX / 2);
    escape_text(&plain, text, ascii);
    for (size_t i = 0; i < plain.len; i++) {
        if (is_plain(plain.at[i]) || is_harmless(buf_slice(&plain), i, &open))
            buf_char(to, plain.at[i]);
        else
            buf_format(to, "&#%u;", (unsigned)(unsigned char)plain.at[i]);
    }
    buf_end(&plain, to);
}

void markdown_code(struct buf *to, str text, bool ascii)
{
    buf_text(to, "<code>");
    markdown_text(to, text, ascii);
    buf_text(to, "</code>");
}
