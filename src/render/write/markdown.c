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

void markdown_text(struct buf *to, str text, bool ascii)
{
    struct buf plain;
    buf_init(&plain, SIZE_MAX / 2);
    escape_text(&plain, text, ascii);
    for (size_t i = 0; i < plain.len; i++) {
        /* A dash or colon means something at the front of a line or beside another alone. */
        bool inner = i > 0 && (plain.at[i] == '-' || plain.at[i] == ':') &&
                     plain.at[i - 1] != plain.at[i] && is_plain(plain.at[i - 1]);
        if (is_plain(plain.at[i]) || inner)
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
